"""Ranks of what pages are made of: their blocks, and the media they name.

Blocks are ranked over the block graph Z·X (Cai et al. 2004). For media there is no graph, and the
definition is our own: a page gives each medium it shows or links to its rank
times the importance of the blocks that name it, ::

    M(m) ∝ Σ_p R(p) · Σ_{b of p that names m} f_p(b)

with f_p as in QuarkRank, and the ranks of all media summing to 1. What stands outside of the
blocks of a page weighs what its rest does, or where that has neither text nor links, as much as a
block of the page on average.
"""

from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.graph import KIND_NAMES, KIND_WEIGHTS, ArchiveGraph, Numbers, block_importance
from mmcrawl.rank.pages import Collected, Ranked, RankJob, step_progress
from mmcrawl.rank.ranks import block_ranks, method_named
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.records import ReadPage

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
    """Rank the blocks of an archive.

    Args:
        job: What and how; the method is one of :data:`BLOCK_METHODS`.
        archive: Open.
        progress: As :func:`mmcrawl.rank.rank_pages` takes it.

    Raises:
        RankError: the method ranks no blocks, or the archive holds none.
        StoreError: the archive fails.
    """
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
    """Rank the media that the pages of an archive show or link to.

    Args:
        job: What and how; the method is that of the pages' ranks.
        archive: Open.
        progress: As :func:`mmcrawl.rank.rank_pages` takes it.

    Raises:
        RankError: as :func:`mmcrawl.rank.rank_pages` does, or no page with a rank names media.
        StoreError: the archive fails.
    """
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
    """Which blocks name which media.

    Attributes:
        kinds: Of each medium, in the order they were met.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self._ids: dict[str, int] = {}
        self._rows = 0
        self._media, self._pages, self._blocks = array("q"), array("q"), array("q")

    def add(self, read: ReadPage) -> None:
        """Take in the media of a page; pages come in the order the graph has them."""
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
        """Return for each medium the sum, how many pages name it, and the one that gives most."""
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
