"""`scrapy seeds find --from START…` and `scrapy seeds check FILE`: where to begin, and whether."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar, TextIO

from rich.table import Table
from scrapy.commands import ScrapyCommand

from mmcrawl.commands.base import (
    MmcrawlCommand,
    Option,
    Subcommand,
    console_of,
    output,
    output_to,
    whole,
    write_rows,
)
from mmcrawl.commands.terminal.tables import folded, literal, plain_table
from mmcrawl.crawl.candidates import Candidate, Candidates, CheckedSeed, Source, open_source
from mmcrawl.crawl.seeds import read_seeds
from mmcrawl.crawl.spider_params import parse_kinds
from mmcrawl.engine.seed_check import SeedCheckSpider
from mmcrawl.errors import MmcrawlError, SeedError
from mmcrawl.frontier.urls import host_of
from mmcrawl.replay.handler import replay_settings
from mmcrawl.replay.opening import open_web
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.topic.loading import load_topics, topic_from_keywords
from mmcrawl.topic.topic import Topic

_SHOWN = 20
_FORMATS = ("table", "seeds", "jsonl")
_ALL_BAD = 1


class Command(MmcrawlCommand, ScrapyCommand):
    """Find seeds in what is stored, and check seeds before a long crawl."""

    requires_crawler_process = True
    name = "seeds"
    subcommands: ClassVar[Sequence[Subcommand]] = (
        Subcommand(
            "find",
            "rank hosts by how promising they are for a topic, with reasons, from archives, crawls"
            " (FILE.db), WARC files, folders of them, CDX files and text lists; nothing is fetched",
            options=(
                Option(
                    "--from",
                    nargs="+",
                    action="extend",
                    default=[],
                    dest="sources",
                    metavar="START",
                    help="crawls, archives, WARC or CDX files, folders of WARC files, lists",
                ),
                Option("--known", metavar="FILE", help="a seed list whose hosts are left out"),
                Option(
                    "--limit",
                    type=partial(whole, least=0),
                    default=_SHOWN,
                    metavar="N",
                    help=f"maximum number of hosts, 0 for all (default: {_SHOWN})",
                ),
                *output(*_FORMATS),
            ),
            takes=("topic", "keywords", "media"),
        ),
        Subcommand(
            "check",
            "request each seed of a list once, with robots.txt and first sitemaps: status,"
            " redirect, language and size of its site",
            "FILE",
            output(*_FORMATS),
            takes=("web",),
        ),
    )
    details = (
        "Where to begin, and whether that is good. Exit code 1: nothing was found, or no seed is"
        " good."
    )
    arguments = ("topic", "keywords", "media", "web")

    def prepared(self, words: list[str], opts: argparse.Namespace) -> Callable[[], int]:
        if self.chosen.name == "find":
            return self._finding(opts)
        seeds = [seed.url for seed in read_seeds(words[0])]
        return lambda: self._check(seeds, opts)

    # -- find -----------------------------------------------------------------------------------

    def _finding(self, opts: argparse.Namespace) -> Callable[[], int]:
        if not opts.sources:
            raise ValueError("--from is missing: name crawls, archives, WARC or CDX files, lists")
        if bool(opts.topic) == bool(opts.keywords):
            raise ValueError("give --topic NAME (see `scrapy topic list`) or --keywords WORDS")
        known = {host_of(seed.url) for seed in read_seeds(opts.known)} if opts.known else set()
        candidates = Candidates(self._test(opts), known)
        sources = [open_source(name) for name in opts.sources]
        return lambda: self._find(sources, candidates, opts.limit, opts)

    def _find(
        self,
        sources: Iterable[Source],
        candidates: Candidates,
        limit: int,
        opts: argparse.Namespace,
    ) -> int:
        for source in sources:
            for problem in source.tell(candidates):
                self.say(problem)
        if candidates.left_out:
            self.say(f"too many hosts: {candidates.left_out} pages and links were not counted")
        found = candidates.ranked(limit)
        if not found:
            self.say("no promising host was found for this topic")
            return 1
        with output_to(opts.output) as stream:
            _write_found(found, opts, stream)
        return 0

    def _test(self, opts: argparse.Namespace) -> TopicTest:
        topic: Topic
        topic = topic_from_keywords(opts.keywords) if opts.keywords else load_topics(opts.topic)
        kinds = parse_kinds(opts.media or ",".join(MEDIA_KINDS))
        threshold = self.setting("MMCRAWL_TOPIC_THRESHOLD")
        return TopicTest(topic, kinds, threshold)

    # -- check ----------------------------------------------------------------------------------

    def _check(self, seeds: Sequence[str], opts: argparse.Namespace) -> int:
        web = opts.web or self.setting("MMCRAWL_WEB")
        if web:
            open_web(web)
        settings = {**SeedCheckSpider.custom_settings, **(replay_settings(web) if web else {})}
        checked: dict[str, CheckedSeed] = {}
        spider = type("SeedCheck", (SeedCheckSpider,), {"custom_settings": settings})
        process: Any = self.crawler_process
        process.crawl(spider, seeds=seeds, checked=checked)
        process.start()
        if len(checked) < len(seeds):
            raise SeedError("stopped before all seeds were checked")
        results = [checked[seed] for seed in seeds]
        with output_to(opts.output) as stream:
            _write_checked(results, opts, stream)
        return 0 if any(seed.is_good for seed in results) else _ALL_BAD

    def code_of(self, error: MmcrawlError) -> int:
        return 2 if isinstance(error, SeedError) else 1


def _write_found(found: Sequence[Candidate], opts: argparse.Namespace, stream: TextIO) -> None:
    if opts.format == "jsonl":
        write_rows(map(asdict, found), "jsonl", stream, ())
    elif opts.format == "seeds":
        for one in found:
            print(f"{one.url}    # {one.score:.2f}: {'; '.join(one.reasons)}", file=stream)
    else:
        table = _table("score", "where to begin", "why")
        for one in found:
            table.add_row(f"{one.score:.2f}", literal(one.url), literal("; ".join(one.reasons)))
        _print(table, opts, stream)


def _write_checked(
    results: Sequence[CheckedSeed], opts: argparse.Namespace, stream: TextIO
) -> None:
    if opts.format == "jsonl":
        write_rows(map(asdict, results), "jsonl", stream, ())
    elif opts.format == "seeds":
        for seed in results:
            line = f"{seed.target or seed.url}    # {_told(seed)}"
            print(line if seed.is_good else f"# {line}", file=stream)
    else:
        table = _table("seed", "state", "language", "pages by sitemap", "links", "media")
        for seed in results:
            table.add_row(literal(seed.url), literal(_state(seed)), literal(seed.language),
                          _size(seed), str(seed.links), str(seed.media))  # fmt: skip
        _print(table, opts, stream)


def _state(seed: CheckedSeed) -> str:
    told = f"{seed.state}: {seed.reason}" if seed.reason else seed.state
    if seed.target:
        told += f" to {seed.target}"
    return told + (f", asks for {seed.delay:g} s between requests" if seed.delay else "")


def _size(seed: CheckedSeed) -> str:
    return "" if seed.listed is None else f"{seed.listed:,}{' and more' if seed.more else ''}"


def _told(seed: CheckedSeed) -> str:
    pages = f"{_size(seed)} pages by sitemap" if seed.listed is not None else ""
    return "; ".join(filter(None, (_state(seed), seed.language, pages, seed.title[:60])))


def _table(*columns: str) -> Table:
    return plain_table(*map(folded, columns))


def _print(table: Table, opts: argparse.Namespace, stream: TextIO) -> None:
    console = console_of(140)
    if opts.output not in (None, "", "-"):
        console.file = stream
    console.print(table)
