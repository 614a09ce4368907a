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


def _normalised(matrix: Any) -> Any:
    """Make rows sum to 1, empty ones evenly."""
    sums = matrix.sum(axis=1, keepdims=True)
    return np.where(sums > 0, matrix / np.where(sums > 0, sums, 1), 1 / len(matrix))


def dense_ranks(matrix: Any, epsilon: float) -> np.ndarray[Any, Any]:
    """Solve (εU + (1−ε)M)ᵀ p = p directly, M being the matrix with rows that sum to 1."""
    size = len(matrix)
    system = np.eye(size) - (1 - epsilon) * _normalised(matrix).T
    return np.linalg.solve(system, np.full(size, epsilon / size))


def dense_steps(matrix: Any, epsilon: float, steps: int) -> np.ndarray[Any, Any]:
    """Return what equal ranks are after some steps p ↦ (εU + (1−ε)M)ᵀ p."""
    ranks = np.full(len(matrix), 1 / len(matrix))
    for _ in range(steps):
        ranks = epsilon / len(matrix) + (1 - epsilon) * _normalised(matrix).T @ ranks
    return ranks


def links_of(web: list[Any]) -> np.ndarray[Any, Any]:
    """Return the page graph of a web, link by link."""
    matrix = np.zeros((len(web), len(web)))
    for page, blocks in enumerate(web):
        for _, _, targets in blocks:
            for target in targets:
                if target >= 0 and target != page:
                    matrix[page, target] = 1
    return matrix


def walks_of(web: list[Any], weights: dict[str, float] | None) -> tuple[Any, Any]:
    """Return X and Z of a web as dense matrices, from their definition, block by block."""
    rows = [(page, place) for page, blocks in enumerate(web) for place in range(len(blocks))]
    to_blocks = np.zeros((len(web), len(rows)))
    to_pages = np.zeros((len(rows), len(web)))
    for row, (page, place) in enumerate(rows):
        sizes = [max(chars, 20) for chars, _, _ in web[page]]
        _, kind, targets = web[page][place]
        middle = (sum(sizes[:place]) + sizes[place] / 2) / sum(sizes)
        weight = weights[kind] if weights else 1.0
        to_blocks[page, row] = weight * sizes[place] / max(abs(middle - 0.5), 0.1)
        linked = {target for target in targets if target >= 0 and target != page}
        for target in linked:
            to_pages[row, target] = 1 / len(linked)
    sums = to_blocks.sum(axis=1, keepdims=True)
    return to_blocks / np.where(sums > 0, sums, 1), to_pages


def topic_shares_of(web: Sequence[Sequence[Block]], content: Any) -> np.ndarray[Any, Any]:
    """Return P(T, p) of Topic-PageRank as a dense matrix, by its formulas (Yang 2009)."""
    links, count = links_of(web), len(web)

    def mean(found: Any) -> float:
        return float(np.mean(content[found])) if len(found) else 0.0

    linked = [
        0.15 * mean(np.flatnonzero(links[:, p])) + 0.85 * mean(np.flatnonzero(links[p]))
        for p in range(count)
    ]
    shares = np.zeros((count, count))
    for page in range(count):
        out = np.flatnonzero(links[page])
        for share, value in ((0.5, content), (0.5, np.array(linked))):
            for target in out:
                total = value[out].sum()
                shares[page, target] += share * (value[target] / total if total else 1 / len(out))
    return shares
