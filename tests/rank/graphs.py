"""Small graphs, made of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mmcrawl.blocks import KINDS
from mmcrawl.rank import ArchiveGraph, BlockRecord, GraphBuilder, LinkRecord, PageRecord, ReadPage

Block = tuple[int, str, Sequence[int]]
"""Characters, kind, and the pages that a block links to."""


def read_page(number: int, blocks: Sequence[Block]) -> ReadPage:
    url = f"http://h.test/{number}"
    page = PageRecord(number, url, "h.test", 1, 0.0, 200, "", "", sum(b[0] for b in blocks))
    records = tuple(
        BlockRecord(number, place, 1, kind, 1.0, chars, place, place + 1, "")
        for place, (chars, kind, _) in enumerate(blocks)
    )
    links = tuple(
        LinkRecord(number, place, target, f"http://h.test/{target}", "")
        for place, (_, _, targets) in enumerate(blocks)
        for target in targets
    )
    return ReadPage(page, records, links)


def graph_of(*pages: Sequence[Block]) -> ArchiveGraph:
    """Return the graph of pages, each given as its blocks."""
    return GraphBuilder.of(read_page(number, blocks) for number, blocks in enumerate(pages))


def simple(*links: Sequence[int]) -> ArchiveGraph:
    """Return the graph of pages of one block each, given as the pages they link to."""
    return graph_of(*([(100, "topic", targets)] for targets in links))


@st.composite
def webs(draw: st.DrawFn, least: int = 1) -> list[list[Block]]:
    """Pages as :func:`graph_of` takes them: dangling ones, self-links and repeated links too."""
    count = draw(st.integers(least, 7))
    targets = st.lists(st.integers(-1, count - 1), max_size=4)
    block = st.tuples(st.integers(0, 400), st.sampled_from(KINDS), targets)
    return draw(st.lists(st.lists(block, max_size=4), min_size=count, max_size=count))


def dense_ranks(matrix: Any, epsilon: float) -> np.ndarray[Any, Any]:
    """Solve (εU + (1−ε)M)ᵀ p = p directly, M being row-normalised, empty rows made even."""
    size = len(matrix)
    sums = matrix.sum(axis=1, keepdims=True)
    rows = np.where(sums > 0, matrix / np.where(sums > 0, sums, 1), 1 / size)
    system = np.eye(size) - (1 - epsilon) * rows.T
    return np.linalg.solve(system, np.full(size, epsilon / size))
