"""The interface between a fetcher and a crawl: reports of fetched pages, and the state of a crawl.

A report holds plain values: everything that can be computed from the page alone. So the process
that parses a page need not be the one that adds it to the frontier.
"""

import json
import logging
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from mmcrawl.errors import ItemError
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.findings import BarrenDirectory, MediaPageRecord, NearMiss, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job
from mmcrawl.page.model import Linking, Page
from mmcrawl.scoring.relevance import Signs, TopicTest, Verdict
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

HARVEST_PAGES = 500


@dataclass(slots=True)
class FetchedPage:
    """A page on its way from the fetcher to the frontier.

    Attributes:
        extra: what pipelines added for the feeds, plain values by name.
    """

    page: Page
    http_status: int = 200  # status it came with
    digest: int = 0  # `page_digest` of its body, 0 if that is not known
    verdict: Verdict | None = None  # what the topic test says of it, None if it was not asked
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageReport:
    """A page that was fetched and parsed, as the frontier records it."""

    page: Page  # the page, its links under the real names of their hosts
    visited_at: float  # Unix time
    http_status: int  # status it came with
    digest: int  # its `page_digest`, 0 if that is not known
    words: list[str]  # its words, for the similarity of links
    signs: Signs  # what of the topic stands on it apart from its media
    links_left: int = 0  # how many more links it has, which are left out
    extra: str = ""  # what pipelines added for the feeds, a JSON object; "" for nothing


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes the reports of one crawl.

    Attributes:
        aliases: other names of hosts; links to them are reported under the main name.
    """

    test: TopicTest  # tells whether a page is relevant
    similarity: LinkSimilarity  # knows what counts as a word of a page
    aliases: Mapping[str, str] = field(default_factory=dict)
    most_links: int = 0  # most links of a page that are reported, the first ones; 0 for all

    def report(self, fetched: FetchedPage, visited_at: float) -> PageReport:
        """Return the report of a page; an ItemError if pipelines added what is no plain value."""
        page, verdict = fetched.page, fetched.verdict
        # A list is bounded by what reads it.
        links = page.links if page.is_listing else page.links[: self.most_links or None]
        if self.aliases:
            links = tuple(replace(link, url=self.real(link.url)) for link in links)
        return PageReport(
            page=page if links is page.links else replace(page, links=links),
            visited_at=visited_at,
            http_status=fetched.http_status,
            digest=fetched.digest,
            words=self.similarity.page_words(page),
            signs=self.test.signs(page) if verdict is None else verdict.signs,
            links_left=len(page.links) - len(links),
            extra=_as_json(fetched.extra),
        )

    def real(self, url: str) -> str:
        """Return `url` under the real name of its host."""
        if not self.aliases:
            return url
        parts = urlsplit(url)
        host = self.aliases.get(parts.netloc)
        return parts._replace(netloc=host).geturl() if host else url


def _as_json(extra: Mapping[str, Any]) -> str:
    try:
        return json.dumps(extra, ensure_ascii=False) if extra else ""
    except (TypeError, ValueError) as error:
        raise ItemError(f"a pipeline added a value that is not plain: {error}"[:200]) from error


class RecentHarvest:
    """Which of the last 500 pages were relevant."""

    def __init__(self) -> None:
        self._pages: deque[tuple[int, bool]] = deque(maxlen=HARVEST_PAGES)

    @property
    def rate(self) -> float:
        """Share of relevant pages, in [0, 1]."""
        found = sum(relevant for _, relevant in self._pages)
        return found / len(self._pages) if self._pages else 0.0

    def recall(self, pages: Iterable[tuple[int, bool]]) -> None:
        """Add pages of an earlier run, the last one last."""
        self._pages.extend(pages)

    def add(self, link: int, *, relevant: bool) -> None:
        """Add a page."""
        self._pages.append((link, relevant))

    def revise(self, links: Container[int]) -> None:
        """Record that pages reported as relevant are not."""
        recent = ((link, relevant and link not in links) for link, relevant in self._pages)
        self._pages = deque(recent, maxlen=HARVEST_PAGES)


@dataclass(frozen=True, slots=True)
class Totals:
    """Where a crawl stands.

    Attributes:
        refused: links that were not followed, by reason.
    """

    pages: int = 0  # pages crawled, earlier runs of the job included
    media_pages: int = 0  # relevant pages found
    media: Mapping[str, int] = field(default_factory=dict)  # distinct resources by kind
    harvest_rate: float = 0.0  # share of relevant pages among the last 500, in [0, 1]
    waiting: int = 0  # links that may be fetched
    held: int = 0  # links that may not be fetched for now, e.g. until they match a pattern
    patterns: int = 0  # learnt patterns
    errors: int = 0  # links that could not be fetched
    refused: Mapping[str, int] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return the numbers as plain data, for `Totals(**plain)`."""
        return asdict(self)


class Crawl(Protocol):
    """A crawl: `CrawlJob` is one of this process alone, `SharedJob` one by several processes.

    After `watch`, `next` gives links one by one. Each ends with one report: `crawled`,
    `redirected`, `retry` or `failed`. What was reported is durable after the `commit` that follows.
    `stop` says why the crawl ends; what was found can be asked for until `close`.
    """

    interrupted: bool
    """Whether the last `next` gave up although there are links."""

    @property
    def job(self) -> Job: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def topic(self) -> Topic: ...
    @property
    def kinds(self) -> frozenset[str]:
        """The media kinds it looks for."""

    @property
    def sites(self) -> Sites:
        """The hosts that it keeps to, and those in private networks that may be asked."""

    @property
    def kept(self) -> bool:
        """Whether another process can continue it."""

    @property
    def pages(self) -> int:
        """How many pages were crawled, by all processes, earlier runs included."""

    @property
    def ready(self) -> int:
        """How many links wait here and may be fetched."""

    @property
    def more_may_come(self) -> bool:
        """Whether links may come from other processes."""

    @property
    def round_trips(self) -> int:
        """How many commands this process has sent to a shared store."""

    def watch(
        self,
        *,
        updated: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[Any], object],
        left_alone: Callable[[], bool],
        contents: Mapping[int, str],
    ) -> None:
        """Join the other processes, if there are any; they call back from another thread.

        Args:
            updated: there may be links.
            stopped: the crawl is over, for that reason.
            failed: the store has, with that StoreError.
            left_alone: returns whether all waiting links are of hosts that need not be asked soon.
            contents: what pages without links and media consist of, by their links.
        """

    def next(self, ready: Callable[[str], bool]) -> WaitingLink | None:
        """Take the best link of a host that is `ready` (given its origin) to be fetched."""

    def is_full(self, most: int, under_way: int) -> bool:
        """Whether this process keeps the bound of pages, and they are as many; 0 for no bound."""

    def linking(self, link: int) -> Linking:
        """Return the links that led to a link, over redirects too."""

    def with_listed_media(self, page: Page, urls: Sequence[str]) -> Page:
        """Return a page with the media that sitemaps and feeds say its addresses show."""

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        """Return whether a page is relevant, and why; `digest` is its `page_digest`."""

    def is_running(self, link: int) -> bool:
        """Return whether a link is being fetched here."""

    def referrer(self, link: WaitingLink) -> str | None:
        """Return the address of the page a link was found on, None for a seed."""

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        """Record a page and links; return if it is relevant; an ItemError records nothing."""

    def redirected(self, link: int, target: NewLink) -> bool:
        """Record that a link only leads on; return whether its target is new and admitted."""

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Record that a link has failed, and why; `requests` as for `crawled`."""

    def add(self, links: Sequence[NewLink]) -> bool:
        """Add links that come from no page; return whether any of them is new here."""

    def request_before(self, link: NewLink) -> bytes | None:
        """Return the request that precedes a link's own, see `SqliteFrontier.request_before`."""

    def commit(self) -> None:
        """Make the reports durable, or pass them on to be made durable."""

    def roll_back(self) -> None:
        """Discard what was not committed."""

    def stop(self, reason: str, *, finished: bool) -> None:
        """Commit, and note why the crawl stopped and if the job is done; StoreError if it fails."""

    def close(self) -> None:
        """Release the store."""

    def totals(self) -> Totals:
        """Return where the crawl stands, all processes together."""

    def best(self, most: int) -> list[MediaPageRecord]:
        """Return the media pages with the best topic scores."""

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages, best topic score first."""

    def near_misses(self) -> Sequence[NearMiss]:
        """Return the pages with media a little below the threshold, the best first."""

    def barren_directories(self) -> Sequence[BarrenDirectory]:
        """Return the directories that took many of the last pages and yielded nothing."""

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns."""

    def error_reasons(self) -> Counter[str]:
        """Return how many links ended in error, by reason."""

    def silent(self) -> list[str] | None:
        """Return why each seed yielded nothing; None if one did, or other workers know."""
