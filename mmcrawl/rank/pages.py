"""Ranks of an archive's pages: read, made into a graph, ranked with scipy."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.content import TopicContent
from mmcrawl.rank.graph import ArchiveGraph, GraphBuilder, Numbers, page_links
from mmcrawl.rank.methods import Method, method_named
from mmcrawl.rank.ranks import Ranking
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.records import ReadPage
from mmcrawl.rank.results import RankedPages
from mmcrawl.topic.topic import Topic


@dataclass(frozen=True, slots=True)
class RankJob:
    """What is to be ranked, and how.

    Attributes:
        uri: Of the archive.
        method: Name of the method.
        at: Unix seconds: the archive as of then; None for the newest versions.
        topic: For methods that need one.
    """

    uri: str
    method: str
    at: float | None = None
    topic: Topic | None = None


@dataclass(frozen=True, eq=False)
class Ranked:
    """What ranking came to.

    Attributes:
        pages: The pages and their ranks.
        ranking: How the ranks settled.
        in_links: How many other pages link to each page.
        blocks, links: How many were read, links to what is not stored left out.
        skipped: URLs that are no pages, by the reason.
        unreadable: A sentence for each damaged version.
    """

    pages: RankedPages
    ranking: Ranking
    in_links: np.ndarray[tuple[int], np.dtype[np.int64]]
    blocks: int
    links: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()


def rank_pages(job: RankJob, archive: Archive, progress: Progress | None = None) -> Ranked:
    """Rank the pages of an archive.

    Args:
        job: What and how.
        archive: Open.
        progress: Told of ``listing``, ``reading`` (pages) and ``ranking`` (steps).

    Raises:
        RankError: there is no such method, it needs a topic, or the archive holds no page.
        StoreError: the archive fails.
    """
    method = method_named(job.method)
    counts = archive.counts()  # before reading: what comes meanwhile makes the ranks stale
    started = time.time()
    reading = Reading(archive, at=job.at, topics=method.needs_topic, progress=progress)
    collected = collect(job, reading)
    graph = collected.builder.graph()
    ranking = page_ranking(method, graph, collected.numbers, progress)
    pages = RankedPages(
        method=method.name,
        computed=started,
        at=job.at,
        topic=job.topic.name if job.topic is not None and method.needs_topic else "",
        archive_urls=counts["urls"],
        archive_versions=counts["versions"],
        urls=collected.urls,
        versions=np.array(collected.versions, dtype=np.int64),
        scores=ranking.scores,
    )
    links = page_links(graph)
    in_links = np.bincount(links.indices, minlength=graph.pages).astype(np.int64)
    return Ranked(
        pages,
        ranking,
        in_links,
        graph.blocks,
        graph.links,
        dict(reading.skipped),
        tuple(reading.unreadable),
    )


def collect(
    job: RankJob, reading: Reading, seen: Callable[[ReadPage], None] | None = None
) -> Collected:
    """Read all pages.

    Args:
        job: Whose method says whether a topic is needed.
        reading: Of an archive.
        seen: Told of each page.

    Raises:
        RankError: the method needs a topic, or there is no page.
        StoreError: the archive fails.
    """
    method = method_named(job.method)
    if method.needs_topic and job.topic is None:
        raise RankError(f"{method.name} needs a topic: name one with --topic")
    collected = Collected(job.topic if method.needs_topic else None)
    for read in reading:
        collected.add(read)
        if seen is not None:
            seen(read)
    if not collected.urls:
        raise RankError(_nothing_to_rank(reading))
    return collected


class Collected:
    """What is kept of the pages that were read."""

    def __init__(self, topic: Topic | None) -> None:
        self.builder = GraphBuilder()
        self.urls: list[str] = []
        self.versions = array("q")
        self._content = TopicContent(topic) if topic is not None else None
        self._values = array("d")

    @property
    def numbers(self) -> Numbers | None:
        """Content of the pages, if there is a topic."""
        return np.array(self._values) if self._content is not None else None

    def add(self, read: ReadPage) -> None:
        """Keep what ranks need of a page."""
        self.builder.add(read)
        self.urls.append(read.page.url)
        self.versions.append(read.page.version)
        if self._content is not None:
            self._values.append(self._content.of(read))


def page_ranking(
    method: Method, graph: ArchiveGraph, content: Numbers | None, progress: Progress | None
) -> Ranking:
    """Rank the pages of a graph, and tell of each step."""

    def tell(step: int, _: float) -> None:
        if progress is not None:
            progress("ranking", step, 0)

    return method.rank(graph, content, tell)


def _nothing_to_rank(reading: Reading) -> str:
    """Return a sentence that says why there is no page."""
    why = ", ".join(f"{count} × {reason}" for reason, count in reading.skipped.most_common(3))
    if why:
        return f"the archive holds no page to rank ({why})"
    return "the archive is empty: crawl, or `scrapy archive import-warc`, and rank then"
