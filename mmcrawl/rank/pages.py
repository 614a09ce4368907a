"""Ranks of an archive's pages: read, made into a graph, ranked with scipy."""

import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.graph import (
    KIND_NAMES,
    KIND_WEIGHTS,
    ArchiveGraph,
    GraphBuilder,
    Numbers,
    block_importance,
    page_links,
)
from mmcrawl.rank.ranks import Method, Ranking, block_ranks, method_named
from mmcrawl.rank.ranks import Progress as StepProgress
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.records import ReadPage, TopicContent
from mmcrawl.rank.results import RankedPages
from mmcrawl.topic.topic import Topic

RANK_COLUMNS: Mapping[str, str] = {"place": "int64", "score": "double", "times_average": "double"}
"""First columns of whatever is ranked: place from 1; score; score for each one's equal share."""

_COLUMNS = {"in_links": "int64", "version": "int64", "url": "string"}


@dataclass(frozen=True, slots=True)
class RankJob:
    uri: str
    method: str
    at: float | None = None
    topic: Topic | None = None


@dataclass(frozen=True, eq=False)
class Ranked:
    """Pages, blocks or media, and their ranks.

    Attributes:
        facts: From the index of a score to the values of these columns.
        pages: Ranks of pages as they are kept; None for blocks and media, whose are not.
    """

    of: str  # `pages`, `blocks` or `media`
    method: str
    scores: Numbers  # they sum to 1
    columns: Mapping[str, str]  # of the rows behind `RANK_COLUMNS`, with their types in Parquet
    facts: Callable[[int], tuple[Any, ...]]
    ranking: Ranking
    graph: ArchiveGraph
    reading: Reading  # tells which URLs are no pages, and which are damaged
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
    method = method_named(job.method)
    counts = archive.counts()  # before reading: versions stored from now on make the ranks stale
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
    """The facts of an archive's pages that are kept while reading."""

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
        return self._builder.graph()

    def content(self) -> Numbers | None:
        """Return how near each page is to the topic, if the method needs one."""
        return np.array(self._content) if self._content is not None else None


def step_progress(progress: Progress | None) -> StepProgress | None:
    return None if progress is None else lambda step, _: progress("ranking", step, 0)


def _nothing_to_rank(reading: Reading) -> str:
    """Return a sentence that says why there is no page."""
    why = ", ".join(f"{count} × {reason}" for reason, count in reading.skipped.most_common(3))
    if why:
        return f"the archive holds no page to rank ({why})"
    return "the archive is empty: crawl, or `scrapy archive import-warc`, and rank then"


BLOCK_METHODS: Mapping[str, Mapping[str, float] | None] = {
    "quarkrank": KIND_WEIGHTS,
    "block-pagerank": None,
}
"""The methods that rank blocks: what a block of a kind counts in each."""

_BLOCK_COLUMNS = {
    "kind": "string",
    "topic": "string",
    "start": "int64",
    "end": "int64",
    "version": "int64",
    "url": "string",
}
_MEDIA_COLUMNS = {"kind": "string", "pages": "int64", "best_page": "string", "url": "string"}


def rank_blocks(job: RankJob, archive: Archive, progress: Progress | None = None) -> Ranked:
    if job.method not in BLOCK_METHODS:
        known = " and ".join(BLOCK_METHODS)
        raise RankError(f"{job.method} does not rank blocks; {known} do")
    reading = Reading(archive, at=job.at, topics=True, progress=progress)
    ranges, topics = array("q"), list[str]()

    def keep(read: ReadPage) -> None:
        for block in read.blocks:
            ranges.extend((block.start, block.end))
            topics.append(block.topic)

    collected = Collected(job, method_named(job.method), reading, keep)
    graph = collected.graph()
    if not graph.blocks:
        raise RankError("the pages of the archive have no blocks to rank")
    kinds = BLOCK_METHODS[job.method]
    ranking = block_ranks(graph, kind_weights=kinds, progress=step_progress(progress))

    def facts(block: int) -> tuple[Any, ...]:
        page = int(graph.block_page[block])
        kind = KIND_NAMES[graph.block_kind[block]]
        place = (ranges[2 * block], ranges[2 * block + 1])
        return (kind, topics[block], *place, collected.versions[page], collected.urls[page])

    return Ranked(
        "blocks", job.method, ranking.scores, _BLOCK_COLUMNS, facts, ranking, graph, reading
    )


def rank_media(job: RankJob, archive: Archive, progress: Progress | None = None) -> Ranked:
    """Rank the media that the pages of an archive show or link to."""
    method = method_named(job.method)
    reading = Reading(archive, at=job.at, topics=method.needs_topic, media=True, progress=progress)
    naming = _Naming()
    collected = Collected(job, method, reading, naming.add)
    graph = collected.graph()
    if not naming.kinds:
        raise RankError("no page of the archive shows or links to media")
    ranking = method.rank(graph, collected.content(), step_progress(progress))
    scores, pages, best = naming.ranked(graph, ranking.scores)
    if not scores.sum() > 0:
        raise RankError(f"all pages that name media have rank 0 by {method.name}; take another")
    names = list(naming.kinds)

    def facts(one: int) -> tuple[Any, ...]:
        url = names[one]
        return naming.kinds[url], int(pages[one]), collected.urls[int(best[one])], url

    shares = scores / scores.sum()
    return Ranked("media", method.name, shares, _MEDIA_COLUMNS, facts, ranking, graph, reading)


PARTS: Mapping[str, Callable[[RankJob, Archive, Progress | None], Ranked]] = {
    "blocks": rank_blocks,
    "media": rank_media,
}
"""What is ranked besides pages, by name."""


class _Naming:
    """The media that each block names."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self._ids: dict[str, int] = {}
        self._rows = 0
        self._media, self._pages, self._blocks = array("q"), array("q"), array("q")

    def add(self, read: ReadPage) -> None:
        """Add the media of a page; pages come in the order of the graph."""
        rows = {block.number: row for row, block in enumerate(read.blocks, start=self._rows)}
        self._rows += len(read.blocks)
        for one in read.media:
            self.kinds.setdefault(one.url, one.kind)
            self._media.append(self._ids.setdefault(one.url, len(self._ids)))
            self._pages.append(read.page.id)
            self._blocks.append(rows.get(one.block, -1))

    def ranked(
        self, graph: ArchiveGraph, ranks: Numbers
    ) -> tuple[Numbers, NDArray[np.int64], NDArray[np.int64]]:
        named = (self._media, self._pages, self._blocks)
        media, page, block = (np.array(ids, dtype=np.int64) for ids in named)
        importance = block_importance(graph, kind_weights=KIND_WEIGHTS)
        counts = np.bincount(graph.block_page, minlength=graph.pages)
        weight = 1.0 / np.maximum(counts[page], 1)
        inside = block >= 0
        weight[inside] = importance[block[inside]]
        pairs, pair = np.unique(media * graph.pages + page, return_inverse=True)
        given = np.bincount(pair, weights=ranks[page] * weight)
        medium, source = pairs // graph.pages, pairs % graph.pages
        order = np.lexsort((source, -given, medium))
        first = np.searchsorted(medium[order], np.arange(len(self.kinds)))
        sums = np.bincount(medium, weights=given).astype(np.float64)
        return sums, np.bincount(medium).astype(np.int64), source[order][first]
