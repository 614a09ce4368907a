"""Ranks of an archive's pages: read, made into a graph, ranked with scipy."""

import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.content import TopicContent
from mmcrawl.rank.graph import ArchiveGraph, GraphBuilder, Numbers, page_links
from mmcrawl.rank.ranks import Method, Ranking, method_named
from mmcrawl.rank.ranks import Progress as StepProgress
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.records import ReadPage
from mmcrawl.rank.results.ranks import RankedPages
from mmcrawl.topic.topic import Topic

RANK_COLUMNS: Mapping[str, str] = {"place": "int64", "score": "double", "times_average": "double"}
"""First columns of whatever is ranked: place from 1; score; score for each one's equal share."""

_COLUMNS = {"in_links": "int64", "version": "int64", "url": "string"}


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
    """Pages, blocks or media, and their ranks.

    Attributes:
        of: ``pages``, ``blocks`` or ``media``.
        method: Its name.
        scores: They sum to 1.
        columns: Of the rows behind :data:`RANK_COLUMNS`, with their types in Parquet.
        facts: From the index of a score to the values of these columns.
        ranking: How the ranks settled, those of the pages for media.
        graph: What was read.
        reading: Tells which URLs are no pages, and which are damaged.
        pages: Ranks of pages as they are kept; None for blocks and media, whose are not.
    """

    of: str
    method: str
    scores: Numbers
    columns: Mapping[str, str]
    facts: Callable[[int], tuple[Any, ...]]
    ranking: Ranking
    graph: ArchiveGraph
    reading: Reading
    pages: RankedPages | None = None

    def rows(self, top: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the first `top` or all, from the highest rank on, equal ones as they were read."""
        names = (*RANK_COLUMNS, *self.columns)
        order = np.argsort(-self.scores, kind="stable")[:top]
        for place, one in enumerate(order.tolist(), start=1):
            score = float(self.scores[one])
            values = (place, score, score * len(self.scores), *self.facts(one))
            yield dict(zip(names, values, strict=True))


def rank_pages(job: RankJob, archive: Archive, progress: Progress | None = None) -> Ranked:
    """Rank the pages of an archive.

    Args:
        job: What and how.
        archive: Open.
        progress: Called with ``listing``, ``reading`` (pages) and ``ranking`` (steps).

    Raises:
        RankError: there is no such method, it needs a topic, or the archive holds no page.
        StoreError: the archive fails.
    """
    method = method_named(job.method)
    counts = archive.counts()  # before reading: what comes meanwhile makes the ranks stale
    started = time.time()
    reading = Reading(archive, at=job.at, topics=method.needs_topic, progress=progress)
    collected = Collected(job, method, reading)
    graph = collected.graph()
    ranking = method.rank(graph, collected.content(), step_progress(progress))
    urls, versions = collected.urls, collected.versions
    pages = RankedPages(
        method=method.name,
        computed=started,
        at=job.at,
        topic=job.topic.name if job.topic is not None and method.needs_topic else "",
        archive_urls=counts["urls"],
        archive_versions=counts["versions"],
        urls=urls,
        versions=np.array(versions, dtype=np.int64),
        scores=ranking.scores,
    )
    in_links = np.bincount(page_links(graph).indices, minlength=graph.pages)

    def facts(page: int) -> tuple[Any, ...]:
        return int(in_links[page]), versions[page], urls[page]

    return Ranked(
        "pages", method.name, ranking.scores, _COLUMNS, facts, ranking, graph, reading, pages
    )


class Collected:
    """What is kept of the pages of an archive while they are read.

    Args:
        job: Says whether there is a topic.
        method: Says whether it is needed.
        reading: Of the archive.
        seen: Called with each page.

    Attributes:
        urls, versions: Of the pages.

    Raises:
        RankError: the method needs a topic, or there is no page.
        StoreError: the archive fails.
    """

    def __init__(
        self,
        job: RankJob,
        method: Method,
        reading: Reading,
        seen: Callable[[ReadPage], None] | None = None,
    ) -> None:
        if method.needs_topic and job.topic is None:
            raise RankError(f"{method.name} needs a topic: name one with --topic")
        near = TopicContent(job.topic) if method.needs_topic and job.topic is not None else None
        self._builder = GraphBuilder()
        self.urls: list[str] = []
        self.versions = array("q")
        self._content = array("d") if near is not None else None
        for read in reading:
            self._builder.add(read)
            self.urls.append(read.page.url)
            self.versions.append(read.page.version)
            if self._content is not None and near is not None:
                self._content.append(near.of(read))
            if seen is not None:
                seen(read)
        if not self.urls:
            raise RankError(_nothing_to_rank(reading))

    def graph(self) -> ArchiveGraph:
        """Return the graph of the pages."""
        return self._builder.graph()

    def content(self) -> Numbers | None:
        """Return how near each page is to the topic, if the method needs one."""
        return np.array(self._content) if self._content is not None else None


def step_progress(progress: Progress | None) -> StepProgress | None:
    """Return what tells of the steps of ranking."""
    return None if progress is None else lambda step, _: progress("ranking", step, 0)


def _nothing_to_rank(reading: Reading) -> str:
    """Return a sentence that says why there is no page."""
    why = ", ".join(f"{count} × {reason}" for reason, count in reading.skipped.most_common(3))
    if why:
        return f"the archive holds no page to rank ({why})"
    return "the archive is empty: crawl, or `scrapy archive import-warc`, and rank then"
