"""`scrapy rules show|export|test URL…`: rules for addresses, a crawl's own and a file's."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.console import Group
from rich.table import Column
from rich.text import Text
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import (
    JSON,
    OVERWRITE,
    MmcrawlCommand,
    Option,
    Subcommand,
    as_json,
    console_of,
    output_to,
    store_named,
    web_address,
)
from mmcrawl.commands.terminal.tables import folded, literal, plain_table
from mmcrawl.crawl.rules_file import learnt_rules, read_rules, rules_text
from mmcrawl.frontier.findings import Findings, PatternRecord
from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.frontier.store import open_store
from mmcrawl.scoring.pinned_rules import REGEX, PinnedRule, PinnedRules, glob_of, glob_regex


@dataclass(frozen=True, slots=True)
class _Learnt:
    """What a crawl has learnt of addresses."""

    job: str
    topic: str
    patterns: list[PatternRecord]
    rate: float


class Command(MmcrawlCommand, ScrapyCommand):
    """Show, export and try rules for addresses."""

    name = "rules"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand(
            "show",
            "patterns that a crawl has learnt, as globs and regular expressions, with hits and"
            " misses",
            options=(JSON,),
            takes=("store", "job"),
        ),
        Subcommand(
            "export",
            "the same as a rules file for scrapy crawl focused -a rules=FILE",
            options=(
                Option("-o", "--output", target=True, help="where to (default: shown)"),
                OVERWRITE,
            ),
            takes=("store", "job"),
        ),
        Subcommand(
            "test",
            "which rules of a file or of a crawl match a URL, and what follows",
            "URL…",
            (JSON,),
        ),
    )
    arguments = ("store", "job", "rules")

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], None]:
        if opts.rules and (opts.store or opts.job):
            raise ValueError("give either a file, with -a rules=, or a crawl, with -a store=")
        if self.chosen.name == "test":
            urls = [web_address(url) for url in words]
            pinned = read_rules(opts.rules) if opts.rules else learnt_rules(_learnt(opts).patterns)
            return lambda: _test(urls, pinned, for_programs=opts.json)
        if self.chosen.name == "show":
            return lambda: _show(_learnt(opts), for_programs=opts.json)
        return lambda: _export(_learnt(opts), opts.output)


# -- what a crawl has learnt ------------------------------------------------------------------


def _learnt(opts: argparse.Namespace) -> _Learnt:
    """Return what a crawl has learnt so far; it may be running."""
    from mmcrawl.cluster.store import is_shared  # slow to load
    from mmcrawl.cluster.views.looking import chosen_job

    uri = store_named(opts.store)
    if is_shared(uri):
        return _shared_learnt(uri, opts.job)
    with open_store(uri, read_only=True) as store:
        jobs = {job.name: job for job in store.jobs()}
        job = jobs[chosen_job(list(jobs), opts.job, store.name)]
        findings = Findings(store, job)
        pages = "SELECT count(*) FROM page WHERE id >> ? = ?"
        fetched = store.db.execute(pages, (JOB_SHIFT, job.number)).fetchone()[0]
        found = findings.counts()["pages"]
        return _of(job.name, job.arguments, findings.patterns(), found, fetched)


def _shared_learnt(uri: str, wanted: str) -> _Learnt:
    from mmcrawl.cluster.learnt import learnt_patterns
    from mmcrawl.cluster.store import open_shared_store
    from mmcrawl.cluster.views.looking import chosen_job
    from mmcrawl.cluster.views.observing import Observation, Observer

    with Observer(uri) as observer:
        job = chosen_job(observer.jobs(), wanted, observer.name)
        observation = Observation(job)
        observer.look(observation, 0.0)
    totals = observation.view.totals
    with closing(open_shared_store(uri, job=job, arguments=None)) as shared:
        numbers = totals.media_pages, totals.pages
        return _of(job, shared.job.arguments, learnt_patterns(shared), *numbers)


def _of(
    job: str, arguments: dict[str, Any], patterns: list[PatternRecord], found: int, pages: int
) -> _Learnt:
    topics = {str(arguments.get("topic", "")), *(topic for _, topic in arguments.get("seeds", ()))}
    topic = "".join(topics) if len(topics - {""}) == 1 else ""
    one = topic and not set(topic) & set(", \t")
    best = sorted(patterns, key=lambda record: (-record.hits, record.pattern))
    return _Learnt(job, topic if one else "", best, found / pages if pages else 0.0)


# -- what is shown ----------------------------------------------------------------------------


def _show(learnt: _Learnt, *, for_programs: bool) -> None:
    if for_programs:
        for record in learnt.patterns:
            glob = glob_of(record.pattern)
            told = {"host": record.host, "glob": glob, "regex": glob_regex(glob)}
            numbers = {"pages": record.urls, "hits": record.hits, "misses": record.misses}
            print(as_json(told | numbers | {"rate": round(record.rate, 4)}))
        return
    names = ("pages", "hits", "misses", "rate")
    columns = (Column(name, justify="right", no_wrap=True) for name in names)
    table = plain_table(*columns, folded("glob, regular expression"))
    for record in learnt.patterns:
        glob = glob_of(record.pattern)
        cells = (f"{record.urls:,}", f"{record.hits:,}", f"{record.misses:,}")
        both = Text("\n").join(
            [literal(glob), Text(literal(REGEX + glob_regex(glob)).plain, "dim")]
        )
        table.add_row(*cells, f"{record.rate:.0%}", both)
    last = (
        f"Crawl {learnt.job}: {learnt.rate:.0%} of its pages are media pages. Pages: those that a"
        " pattern was made of; hits and misses: fetched pages it led to, with and without media."
    )
    none = f"Crawl {learnt.job} has learnt no patterns; algorithms with urlrule in their name do."
    console_of().print(Group(table, Text(last, "dim")) if learnt.patterns else literal(none))


def _export(learnt: _Learnt, output: str | None) -> None:
    text = rules_text(learnt.patterns, learnt.rate, learnt.topic)
    with output_to(output) as stream:
        stream.write(text)


def _test(urls: list[str], rules: PinnedRules, *, for_programs: bool) -> None:
    for url in urls:
        matching = list(rules.matching(url))
        follows = _follows(matching)
        if for_programs:
            found = [
                {"pattern": one.pattern, "weight": one.weight, "place": one.place}
                for one in matching
            ]
            print(as_json({"url": url, "rules": found, "follows": follows}))
            continue
        lines = [literal(url), literal(f"  {follows}")]
        lines += [literal(f"{one.place}: {one.pattern}") for one in matching]
        for number, line in enumerate(lines):
            console_of().print(Text("  " * (number > 0)).append_text(line), soft_wrap=True)


def _follows(matching: list[PinnedRule]) -> str:
    """Return what follows for an address from the rules that match it."""
    if not matching:
        return "no rule matches: the algorithm decides, after all links that match a rule"
    first = matching[0]
    where = f", in crawls for {first.topic}" if first.topic else ""
    if not first.weight:
        return f"never fetched{where}"
    return f"comes before links without a rule, with weight {first.weight}{where}"
