"""The interface between a fetcher and a crawl."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from mmcrawl.crawl.reports import FetchedPage, Totals
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.findings import BarrenDirectory, MediaPageRecord, NearMiss, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job
from mmcrawl.page.model import Linking, Page
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.topic.topic import Topic


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
        """Record a fetched page, and links the spider asked for; return whether it is relevant.

        Raises:
            ItemError: what pipelines added cannot be stored; nothing was recorded.
        """

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
        """Commit, and note why the crawl stopped and whether the job is done.

        Raises:
            StoreError: the store has failed.
        """

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
