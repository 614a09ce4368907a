"""The media found by the crawls of a store, of either kind."""

import re
import sys
from collections.abc import Container, Iterator
from contextlib import closing, contextmanager
from typing import Any

from mmcrawl.cluster.store import is_shared, open_shared_store
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import BoilerplateMedia, Findings, MediaPageRecord, NearMiss
from mmcrawl.frontier.store import Job, open_store


class FoundMedia:
    """Reads a store in which crawls may be running; nothing is written.

    Args:
        uri: of the store.
        job: name of a crawl, "" for all.

    Attributes:
        jobs: the crawls that are looked at.

    Raises:
        StoreError: the store cannot be read, or has no such crawl.
    """

    def __init__(self, uri: str, job: str = "") -> None:
        self._uri = uri
        self.jobs = [each for each in _jobs(uri) if job in ("", each.name)]
        if not self.jobs:
            which = f"job {job!r}" if job else "crawl"
            raise StoreError(f"there is no {which} in the store; `scrapy crawl focused` begins one")

    @property
    def seeds(self) -> Iterator[str]:
        """The addresses that the crawls began at."""
        for job in self.jobs:
            yield from (str(seed[0]) for seed in job.arguments.get("seeds", ()))

    @property
    def webs(self) -> set[str]:
        """The stored webs that were crawled instead of the network, "" for the network."""
        return {str(job.arguments.get("web", "")) for job in self.jobs}

    def since(self, time: float) -> Iterator[tuple[str, str, str]]:
        """Yield address, kind and page of media on pages that were visited from a time on.

        Those of the pages that are best on topic come first; an address may come several times.
        """
        for _, page in self.pages():
            if page.visited_at >= time:
                for each in page.resources:
                    yield from (
                        (address, each.kind, page.url) for address in (each.url, *each.others)
                    )

    def best(self, first: int, most: int) -> list[MediaPageRecord]:
        """Return pages with media of the first of the crawls, those best on topic first.

        Args:
            first: how many of the best are left out; on a server these are read as well.
            most: how many follow.
        """
        return list(self._pages(self.jobs[0], first, most))

    @property
    def near_name(self) -> str:
        """Name under which the near misses of the first of the crawls are marked."""
        arguments = self.jobs[0].arguments
        said = arguments.get("topic") or arguments.get("keywords") or "any"
        return re.sub(r"[^\w.]+", "-", str(said)).strip("-.")[:50] + "-near"

    def near_misses(self, threshold: float, but_for: Container[str] = ()) -> list[NearMiss]:
        """Return pages with media a little below the threshold.

        Args:
            but_for: addresses of pages that are left out, as somebody took or refused them.
        """
        found: list[NearMiss] = []
        for job in self.jobs:
            with self._opened(job) as media:
                found += media.near_misses(threshold)
        return [one for one in found if one.url not in but_for]

    def take(self, page: MediaPageRecord) -> None:
        """Keep a near miss of the first of the crawls, which does not run, as a page on topic.

        Its media of other kinds, and those that belong to its site, are left out; of a shared
        store, nobody knows the latter.
        """
        kinds = str(self.jobs[0].arguments["media"]).split(",")
        wanted = tuple(one for one in page.resources if one.kind in kinds)
        if is_shared(self._uri):
            with self._opened(self.jobs[0]) as shared:
                shared.publish([page.with_resources(wanted)])
            return
        with open_store(self._uri) as store:
            site_wide = BoilerplateMedia(store, self.jobs[0])
            own = (one for one in wanted if one.url not in site_wide)
            Findings(store, self.jobs[0]).take_near_miss(page.with_resources(tuple(own)))
            store.commit()

    def pages(self) -> Iterator[tuple[Job, MediaPageRecord]]:
        """Yield the pages with media of each crawl, those best on topic first."""
        for job in self.jobs:
            yield from ((job, page) for page in self._pages(job, 0, sys.maxsize))

    def _pages(self, job: Job, first: int, most: int) -> Iterator[MediaPageRecord]:
        with self._opened(job) as media:
            yield from media.media_pages(first, most)

    @contextmanager
    def _opened(self, job: Job) -> Iterator[Any]:
        """Open what a crawl found to look at it: a `SharedStore`, or `Findings`."""
        if is_shared(self._uri):
            with closing(open_shared_store(self._uri, job=job.name, arguments=None)) as shared:
                yield shared
        else:
            with open_store(self._uri, read_only=True) as store:
                yield Findings(store, job)


def _jobs(uri: str) -> list[Job]:
    from mmcrawl.cluster.views.observing import Observer  # slow to load

    with Observer(uri) if is_shared(uri) else open_store(uri, read_only=True) as store:
        return store.jobs()
