"""`scrapy seeds find --from START…` and `scrapy seeds check FILE`: finds seeds, and checks them."""

import argparse
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from mmcrawl.commands.base import (
    MmcrawlCommand,
    Option,
    Subcommand,
    output,
    output_to,
    whole,
    write_rows,
)
from mmcrawl.crawl.candidates import (
    ALIVE,
    DEAD,
    FORBIDDEN,
    REDIRECTS,
    Candidate,
    Candidates,
    CheckedSeed,
    Source,
    open_source,
)
from mmcrawl.crawl.seeds import read_seeds
from mmcrawl.crawl.spider_params import parse_kinds
from mmcrawl.engine.components import WELL_BEHAVED
from mmcrawl.engine.hosts import LIMIT, RobotsTxtParser, reason_of
from mmcrawl.errors import ListingError, MmcrawlError, SeedError
from mmcrawl.frontier.urls import PrivateHosts, canonical, host_of
from mmcrawl.page.headers import header_text
from mmcrawl.page.lists.listings import listing_kind, unpacked
from mmcrawl.page.lists.sitemaps import read_sitemap, sitemaps_of_robots
from mmcrawl.page.parse import parse_page
from mmcrawl.page.urls import joined_url
from mmcrawl.replay.handler import replay_settings
from mmcrawl.replay.opening import open_web
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.settings import value_of
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.writing import printable
from mmcrawl.topic.loading import load_topics, topic_from_keywords
from mmcrawl.topic.topic import Topic

_SHOWN = 20
_SEEDS = "seeds"
_FORMATS = (_SEEDS, "jsonl")


class Command(MmcrawlCommand, ScrapyCommand):
    """Find seeds in what is stored, and check seeds before a long crawl."""

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
            fetches=True,
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
        _write(found, _candidate_line, opts)
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
        _write(results, _checked_line, opts)
        return 0 if any(seed.is_good for seed in results) else 1

    def code_of(self, error: MmcrawlError) -> int:
        return 2 if isinstance(error, SeedError) else 1


def _candidate_line(one: Candidate) -> str:
    return printable(f"{one.url}    # {one.score:.2f}: {'; '.join(one.reasons)}")


def _checked_line(seed: CheckedSeed) -> str:
    """Return a seed for a seed list, as a remark if it is not good."""
    state = f"{seed.state}: {seed.reason}" if seed.reason else seed.state
    if seed.delay:
        state += f", asks for {seed.delay:g} s between requests"
    more = " and more" if seed.more else ""
    pages = "" if seed.listed is None else f"{seed.listed:,}{more} pages by sitemap"
    facts = (state, seed.language, pages, seed.title[:60])
    line = f"{seed.target or seed.url}    # {'; '.join(filter(None, facts))}"
    return printable(line if seed.is_good else f"# {line}")


def _write(found: Iterable[Any], line: Callable[[Any], str], opts: argparse.Namespace) -> None:
    with output_to(opts.output) as stream:
        if opts.format == _SEEDS:
            stream.writelines(f"{line(one)}\n" for one in found)
        else:
            write_rows(map(asdict, found), opts.format, stream, ())


MOST_SITEMAPS = 5
"""Sitemaps of a seed that are counted."""

_FORBIDDEN = "forbidden by robots.txt"


class SeedCheckSpider(Spider):
    """Checks seeds; what it learns is in `checked`, by the seed."""

    name = "seed-check"
    custom_settings = {  # noqa: RUF012 - as Scrapy has it
        **WELL_BEHAVED,
        "AUTOTHROTTLE_ENABLED": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "RETRY_TIMES": 1,
        "METAREFRESH_ENABLED": False,
    }
    seeds: Sequence[str]  # addresses, each once
    checked: dict[str, CheckedSeed]  # what is known of each, filled while it runs

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sitemaps: dict[str, set[str]] = {}  # asked for, of each seed

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked: the seeds' own."""
        return PrivateHosts.of(self.seeds, all=value_of(self.settings, "MMCRAWL_PRIVATE_NETWORKS"))

    async def start(self) -> AsyncIterator[Request]:
        """Ask for each seed."""
        for seed in self.seeds:
            self.checked[seed] = CheckedSeed(seed, DEAD, reason="no answer")
            yield self._request(seed, seed, self.parse, self.fail)

    def parse(self, response: Response, seed: str) -> Iterator[Request]:
        """Handle the page of a seed; request what describes its site."""
        moved = canonical(response.url) != canonical(seed)
        found = CheckedSeed(
            seed,
            REDIRECTS if moved else ALIVE,
            target=response.url if moved else "",
            status=response.status,
        )
        if isinstance(response, TextResponse):
            declared = header_text(response.headers, "Content-Type")
            page = parse_page(response.body, response.url, declared)
            found = replace(
                found,
                language=page.language,
                title=page.title,
                links=len(page.links),
                media=len(page.media),
            )
        self.checked[seed] = found
        robots = joined_url(response.url, "/robots.txt")
        yield self._request(robots, seed, self.parse_robots, self.without_robots)

    def parse_robots(self, response: Response, seed: str) -> Iterator[Request]:
        """Handle a robots.txt; request the sitemaps it names, and the usual one."""
        named: tuple[str, ...] = ()
        if response.status == 200:
            rules = RobotsTxtParser(response.body[:LIMIT])
            delay = rules.crawl_delay(str(self.settings["USER_AGENT"]))
            self.checked[seed] = replace(self.checked[seed], delay=delay)
            named = sitemaps_of_robots(response.body, response.url)
        yield from self._further(seed, (*named, joined_url(response.url, "/sitemap.xml")))

    def without_robots(self, failure: Failure) -> Iterator[Request]:
        """Ask for the usual sitemap where there is no robots.txt."""
        request: Request = failure.request  # type: ignore[attr-defined]
        usual = joined_url(request.url, "/sitemap.xml")
        yield from self._further(request.cb_kwargs["seed"], (usual,))

    def parse_sitemap(self, response: Response, seed: str) -> Iterator[Request]:
        """Count the addresses in a sitemap."""
        try:
            body = unpacked(response.body)
            if response.status != 200 or listing_kind(body) != "sitemap":
                return
            listing = read_sitemap(body, response.url)
        except ListingError:
            return
        found = self.checked[seed]
        pages = (found.listed or 0) + len(listing.page.links)
        self.checked[seed] = replace(found, listed=pages)
        yield from self._further(seed, listing.sitemaps)

    def fail(self, failure: Failure) -> None:
        """Record why a seed cannot be fetched."""
        reason = reason_of(failure)
        seed: str = failure.request.cb_kwargs["seed"]  # type: ignore[attr-defined]
        status = getattr(getattr(failure.value, "response", None), "status", 0)
        if reason == _FORBIDDEN:
            self.checked[seed] = CheckedSeed(seed, FORBIDDEN)
        else:
            self.checked[seed] = CheckedSeed(seed, DEAD, reason=reason, status=status)

    def without_sitemap(self, failure: Failure) -> None:
        """Leave a sitemap alone that cannot be fetched."""

    def _further(self, seed: str, urls: Sequence[str]) -> Iterator[Request]:
        """Ask for the sitemaps of a seed that were not asked for, up to the bound."""
        asked = self._sitemaps.setdefault(seed, set())
        for url in dict.fromkeys(urls):
            if url in asked or host_of(url) == "":
                continue
            if len(asked) == MOST_SITEMAPS:
                self.checked[seed] = replace(self.checked[seed], more=True)
                break
            asked.add(url)
            yield self._request(url, seed, self.parse_sitemap, self.without_sitemap)

    @staticmethod
    def _request(url: str, seed: str, callback: Any, errback: Any) -> Request:
        return Request(
            url,
            callback=callback,
            errback=errback,
            cb_kwargs={"seed": seed},
            dont_filter=True,  # seeds may share a robots.txt
        )
