"""The graph of an archive in arrays, and the sparse matrices from which ranks are computed.

Cai, He, Wen & Ma, "Block-level link analysis", SIGIR 2004: Z leads from blocks to the pages they
link to, X from pages to their blocks by importance; X·Z is a graph of pages in which a link counts
as much as the block it is in, Z·X one of blocks. In the paper a page is rendered, and a block's
importance depends on its area and its distance from the middle of the screen. Nothing is rendered
here: size is characters of text, and position is the block's place in the text of its page.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.kinds import KINDS
from mmcrawl.rank.records import ReadPage

Ids = NDArray[np.int32]
Numbers = NDArray[np.float64]
Matrix = Any
"""A scipy.sparse CSR array of float64."""

KIND_NAMES = ("", *KINDS)
"""Of the codes that graphs keep for kinds; the first is the rest of a page."""

KIND_WEIGHTS: Mapping[str, float] = {
    "title": 1.0,
    "topic": 1.0,
    "related-links": 1.0,
    "image": 1.0,
    "small": 0.5,
    "navigation": 0.1,
    "comments": 0.1,
    "noise-links": 0.05,
    "copyright": 0.05,
    "advertisement": 0.01,
}
"""What a block of a kind counts in QuarkRank; 0.5 for the rest of a page. The paper has no figures:
these say that who writes a text recommends what it links to, and who builds a site hardly does."""

REST_WEIGHT = 0.5

LEAST_CHARS = 20
"""Size of a block with less text: pictures are worth a word or two as well. The paper's sizes are
areas, and never 0."""

LEAST_DISTANCE = 0.1
"""Distance of a block that is nearer: the paper leaves open what one in the middle is worth."""


@dataclass(frozen=True, eq=False)
class ArchiveGraph:
    """Pages, blocks and links by number, in parallel arrays.

    Attributes:
        block_page, block_number, block_chars: Of each block, as in BlockRecord, in any order.
    """

    pages: int
    block_page: Ids
    block_number: Ids
    block_chars: Ids
    block_kind: NDArray[np.int8]  # of each block, an index into `KIND_NAMES`
    link_block: Ids  # of each link to a page that is stored: its block, an index into the blocks
    link_target: Ids  # of each such link: the id of the page

    @property
    def blocks(self) -> int:
        return len(self.block_page)

    @property
    def links(self) -> int:
        return len(self.link_block)


class GraphBuilder:
    """Makes a graph of records, page by page: 17 bytes a block and 8 a link."""

    def __init__(self) -> None:
        self._pages = 0
        self._columns = {name: array("i") for name in ("page", "number", "chars", "from", "to")}
        self._kinds = array("b")
        self._codes = {kind: code for code, kind in enumerate(KIND_NAMES)}

    def add(self, read: ReadPage) -> None:
        columns = self._columns
        first = len(columns["page"])
        rows = {block.number: row for row, block in enumerate(read.blocks, start=first)}
        self._pages = max(self._pages, read.page.id + 1)
        for block in read.blocks:
            columns["page"].append(block.page)
            columns["number"].append(block.number)
            columns["chars"].append(block.text_chars)
            self._kinds.append(self._codes[block.kind])
        for link in read.links:
            if link.target >= 0:
                columns["from"].append(rows[link.block])
                columns["to"].append(link.target)

    def graph(self) -> ArchiveGraph:
        page, number, chars, source, target = (
            np.array(column, dtype=np.int32) for column in self._columns.values()
        )
        kinds = np.array(self._kinds, dtype=np.int8)
        return ArchiveGraph(self._pages, page, number, chars, kinds, source, target)

    @classmethod
    def of(cls, pages: Iterable[ReadPage]) -> ArchiveGraph:
        builder = cls()
        for page in pages:
            builder.add(page)
        return builder.graph()


def page_links(graph: ArchiveGraph) -> Matrix:
    """Return the page graph, pages × pages: 1 where a page links to another, however often."""
    source = graph.block_page[graph.link_block]
    return _ones(graph, source, graph.pages)


def blocks_to_pages(graph: ArchiveGraph) -> Matrix:
    """Return Z, blocks × pages: Z_ij = 1/s_i if block i links to page j.

    s_i is the number of pages block i links to, its own page not counted (Cai et al. 2004).
    """
    return normalised(_ones(graph, graph.link_block, graph.blocks))


def pages_to_blocks(graph: ArchiveGraph, importance: Numbers) -> Matrix:
    """Return X, pages × blocks: X_ij = f_i(b_j), the importance of block j of page i."""
    from scipy import sparse  # slow to load, and every command loads this module

    blocks = np.arange(graph.blocks, dtype=np.int32)
    shape = (graph.pages, graph.blocks)
    return sparse.csr_array((importance, (graph.block_page, blocks)), shape=shape)


def block_importance(
    graph: ArchiveGraph, *, kind_weights: Mapping[str, float] | None = None
) -> Numbers:
    """Return f_p(b) of each block, α · size(b) / distance(b); of one page's they sum to 1.

    Size is the block's characters, :data:`LEAST_CHARS` at least; distance that of its middle from
    the middle of the page's text, as a share of the text, in [:data:`LEAST_DISTANCE`, 0.5]. α makes
    the sum 1 (Cai et al. 2004).

    Args:
        kind_weights: Factor of each kind of block, :data:`KIND_WEIGHTS` for QuarkRank; without, all
            kinds are alike, as in the paper.
    """
    order = np.lexsort((graph.block_number, graph.block_page))
    page = graph.block_page[order]
    size = np.maximum(graph.block_chars[order], LEAST_CHARS).astype(np.float64)
    # Sizes are whole numbers: their running sums are exact, whatever the order of pages.
    total = np.bincount(page, weights=size, minlength=graph.pages)
    before = np.cumsum(size) - size
    starts = np.concatenate(([0.0], np.cumsum(total)[:-1])) if graph.pages else total
    middle = (before - starts[page] + size / 2) / total[page]
    value = size / np.maximum(np.abs(middle - 0.5), LEAST_DISTANCE)
    if kind_weights is not None:
        weights = np.array([kind_weights.get(kind, REST_WEIGHT) for kind in KIND_NAMES])
        if not (weights > 0).all():
            raise ValueError("the weight of a kind must be above 0")
        value *= weights[graph.block_kind[order]]
    importance = np.empty(graph.blocks)
    importance[order] = value / np.bincount(page, weights=value, minlength=graph.pages)[page]
    return importance


def normalised(matrix: Matrix) -> Matrix:
    """Return a matrix whose rows sum to 1, those of zeros excepted."""
    sums = np.asarray(matrix.sum(axis=1)).ravel()
    scale = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    result = matrix.copy()
    result.data *= np.repeat(scale, np.diff(result.indptr))
    return result


def _ones(graph: ArchiveGraph, rows: Ids, height: int) -> Matrix:
    """Return 1 for each pair of a row and a target, links of a page to itself left out."""
    from scipy import sparse

    other = graph.block_page[graph.link_block] != graph.link_target
    places = (rows[other], graph.link_target[other])
    ones = np.ones(int(other.sum()))
    matrix = sparse.csr_array((ones, places), shape=(height, graph.pages))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix
