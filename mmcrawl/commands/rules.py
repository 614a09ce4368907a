"""`scrapy rules export` and `test URL…`: URL rules, a crawl's own and a file's."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import (
    OVERWRITE,
    MmcrawlCommand,
    Option,
    Subcommand,
    console_of,
    output_to,
    store_named,
    web_address,
)
from mmcrawl.commands.terminal.tables import literal
from mmcrawl.crawl.params import learnt_rules, read_rules, rules_text
from mmcrawl.frontier.findings import Findings, PatternRecord
from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.scoring.pinned_rules import PinnedRule, PinnedRules


@dataclass(frozen=True, slots=True)
class _Learnt:
    """The URL rules that a crawl has learnt."""

    job: str
    topic: str
    patterns: list[PatternRecord]
    rate: float


class Command(MmcrawlCommand, ScrapyCommand):
    """Export and try rules for addresses."""

    name = "rules"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand(
            "export",
            "patterns that a crawl has learnt, with hits and misses, as a rules file for scrapy"
            " crawl focused -a rules=FILE",
            options=(
                Option("-o", "--output", target=True, help="where to (default: shown)"),
                OVERWRITE,
            ),
            takes=("store", "job"),
        ),
        Subcommand(
            "test", "which rules of a file or of a crawl match a URL, and what follows", "URL…"
        ),
    )
    arguments = ("store", "job", "rules")

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        if opts.rules and (opts.store or opts.job):
            raise ValueError("give either a file, with -a rules=, or a crawl, with -a store=")
        if self.chosen.name == "test":
            urls = [web_address(url) for url in words]
            pinned = read_rules(opts.rules) if opts.rules else learnt_rules(_learnt(opts).patterns)
            return lambda: _test(urls, pinned)
        return lambda: self._export(_learnt(opts), opts.output)

    def _export(self, learnt: _Learnt, output: str | None) -> None:
        if not learnt.patterns:
            self.say(
                f"crawl {learnt.job} has learnt no patterns; algorithms with urlrule in their name"
                " do"
            )
        with output_to(output) as stream:
            stream.write(rules_text(learnt.patterns, learnt.rate, learnt.topic))


# -- what a crawl has learnt ------------------------------------------------------------------


def _learnt(opts: argparse.Namespace) -> _Learnt:
    """Return the rules learnt so far; the crawl may be running."""
    from mmcrawl.cluster.views.looking import opened_to_look  # MongoDB's driver loads slowly

    with opened_to_look(store_named(opts.store), opts.job, scored=False) as (store, job):
        pages = "SELECT count(*), coalesce(sum(relevant), 0) FROM page WHERE id >> ? = ?"
        [(fetched, found)] = store.db.execute(pages, (JOB_SHIFT, job.number))
        patterns = Findings(store, job).patterns()
        return _of(job.name, job.arguments, patterns, found, fetched)


def _of(
    job: str, arguments: dict[str, Any], patterns: list[PatternRecord], found: int, pages: int
) -> _Learnt:
    topics = {str(arguments.get("topic", "")), *(topic for _, topic in arguments.get("seeds", ()))}
    topic = "".join(topics) if len(topics - {""}) == 1 else ""
    one = topic and not set(topic) & set(", \t")
    return _Learnt(job, topic if one else "", patterns, found / pages if pages else 0.0)


def _test(urls: list[str], rules: PinnedRules) -> None:
    for url in urls:
        matching = list(rules.matching(url))
        lines = [literal(url), literal(f"  {_follows(matching)}")]
        lines += [literal(f"  {one.place}: {one.pattern}") for one in matching]
        for line in lines:
            console_of().print(line, soft_wrap=True)


def _follows(matching: list[PinnedRule]) -> str:
    """Return the consequence for an address of the rules that match it."""
    if not matching:
        return "no rule matches: the algorithm decides, after all links that match a rule"
    first = matching[0]
    where = f", in crawls for {first.topic}" if first.topic else ""
    if not first.weight:
        return f"never fetched{where}"
    return f"comes before links without a rule, with weight {first.weight}{where}"
