"""The ranks: of pages by their links, and of pages and blocks by the blocks of links.

All of them come from power iteration, :func:`converge`. They sum to 1, and do not depend on the
order of pages, blocks or links but for rounding. A link of a page to itself counts for nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mmcrawl.errors import RankError, did_you_mean
from mmcrawl.rank.graph import (
    KIND_WEIGHTS,
    ArchiveGraph,
    Matrix,
    Numbers,
    block_importance,
    blocks_to_pages,
    normalised,
    page_links,
    pages_to_blocks,
)

TOLERANCE = 1e-12
"""Sum of the changes of all ranks in a step, below which they are taken to have settled."""

MOST_STEPS = 1_000

Step = Callable[[Numbers], Numbers]

Progress = Callable[[int, float], None]
"""Called after each step with its number and its change."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Ranks that sum to 1, one for each node; empty for an empty graph.

    Attributes:
        change: Sum of the changes in the last one.
    """

    scores: Numbers  # of each node, not negative
    steps: int
    change: float
    settled: bool


def converge(
    step: Step,
    nodes: int,
    *,
    tolerance: float = TOLERANCE,
    most_steps: int = MOST_STEPS,
    progress: Progress | None = None,
) -> Ranking:
    """Repeat a step, beginning with equal ranks, until they change no more."""
    if not nodes:
        return Ranking(np.zeros(0), 0, 0.0, True)
    ranks = np.full(nodes, 1.0 / nodes)
    change, taken = 1.0, 0
    while change > tolerance and taken < most_steps:
        following = step(ranks)
        change = float(np.abs(following - ranks).sum())
        ranks = following
        taken += 1
        if progress is not None:
            progress(taken, change)
    return Ranking(ranks / ranks.sum(), taken, change, change <= tolerance)


def random_surfer(
    passed_on: Step,
    nodes: int,
    *,
    epsilon: float,
    progress: Progress | None = None,
) -> Ranking:
    """Solve (εU + (1−ε)M)ᵀ p = p, U being 1/n everywhere (Cai et al. 2004).

    What nodes without links would pass on goes to all alike.

    Args:
        passed_on: p ↦ Mᵀ p; rows of M sum to 1, or to 0 for a node without links.
        epsilon: ε, the share of jumps to any node, in (0, 1): 1 − d of PageRank.
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"the share of jumps must be above 0 and below 1, not {epsilon:g}")

    def step(ranks: Numbers) -> Numbers:
        following = passed_on(ranks)
        following *= 1 - epsilon
        following += (1 - following.sum()) / nodes
        return following

    return converge(step, nodes, progress=progress)


def pagerank(graph: ArchiveGraph, *, d: float = 0.85, progress: Progress | None = None) -> Ranking:
    """Return PR(p) = (1−d)/N + d Σ_{T→p} PR(T)/C(T) (Brin & Page 1998; Yang 2009, 3.4)."""
    return _over(normalised(page_links(graph)), 1 - d, progress)


def topic_pagerank(
    graph: ArchiveGraph,
    content: Numbers,
    *,
    d: float = 0.8,
    omega: float = 0.5,
    lambda_: float = 0.85,
    progress: Progress | None = None,
) -> Ranking:
    """Return Topic-PageRank over a finished crawl (Yang 2009, 3.6–3.11).

    ::

        TPR(p)  = (1−d)/N + d Σ_{T→p} TPR(T) · P(T, p)                                  (3.6)
        P(T, p) = ω · content(p)/Σ_{i∈out(T)} content(i)
                  + (1−ω) · link(p)/Σ_{i∈out(T)} link(i)                                (3.7)
        link(p) = (1−λ) · mean_{q→p} content(q) + λ · mean_{p→b} content(b)             (3.11)

    A zero denominator shares evenly; a mean over nothing is 0.

    Args:
        content: Similarity of each page to the topic, not negative; see
            :class:`mmcrawl.rank.records.TopicContent`. Only ratios matter.
        d: Damping, in (0, 1).
        omega: ω, weight of content against neighbours, in [0, 1]; the paper leaves it open.
        lambda_: λ, weight of the links a page holds against those to it, in [0, 1].
    """
    if not (0 <= omega <= 1 and 0 <= lambda_ <= 1):
        raise ValueError("omega and lambda_ must be from 0 to 1")
    if len(content) != graph.pages or (np.asarray(content) < 0).any():
        raise ValueError("content must be a number from 0 for each page")
    links = page_links(graph)
    linked = (1 - lambda_) * (normalised(links.T.tocsr()) @ content)
    linked += lambda_ * (normalised(links) @ content)
    shares = omega * _shares(links, content) + (1 - omega) * _shares(links, linked)
    matrix = links.copy()
    matrix.data = shares
    return _over(matrix, 1 - d, progress)


def hits(graph: ArchiveGraph, *, progress: Progress | None = None) -> tuple[Ranking, Ranking]:
    """Return authorities and hubs: a(p) = Σ_{q→p} h(q), h(q) = Σ_{q→p} a(p) (Kleinberg 1999).

    Both sum to 1. In a graph in several parts, the one that is linked most densely takes all; of
    two that tie, each keeps its share. Without a single link all are alike.
    """
    links = page_links(graph)
    if not links.nnz:
        return converge(lambda ranks: ranks, graph.pages), converge(lambda r: r, graph.pages)
    linked_to = links.T.tocsr()

    def step(authority: Numbers) -> Numbers:
        following: Numbers = linked_to @ (links @ authority)
        following /= following.sum()
        return following

    authorities = converge(step, graph.pages, progress=progress)
    hubs = links @ authorities.scores
    return authorities, Ranking(
        hubs / hubs.sum(), authorities.steps, authorities.change, authorities.settled
    )


def block_pagerank(
    graph: ArchiveGraph,
    *,
    epsilon: float = 0.15,
    kind_weights: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Ranking:
    """Return block-level PageRank of pages, over W_P = X·Z (Cai et al. 2004).

    A page passes its rank to its blocks by their importance, and each block to the pages it links
    to. Blocks without links take no part: rows of W_P are normalised.
    """
    to_blocks = pages_to_blocks(graph, block_importance(graph, kind_weights=kind_weights))
    return _over(normalised(to_blocks @ blocks_to_pages(graph)), epsilon, progress)


def quarkrank(
    graph: ArchiveGraph, *, epsilon: float = 0.15, progress: Progress | None = None
) -> Ranking:
    """Return QuarkRank of pages: block-level PageRank in which kinds of blocks weigh in."""
    return block_pagerank(graph, epsilon=epsilon, kind_weights=KIND_WEIGHTS, progress=progress)


def block_ranks(
    graph: ArchiveGraph,
    *,
    epsilon: float = 0.15,
    kind_weights: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Ranking:
    """Return ranks of blocks, over W_B = Z·X (Cai et al. 2004).

    A block passes its rank to the pages it links to, and each of these to its blocks by their
    importance. W_B, which has an entry for each link and each block behind it, is never formed.
    Arguments are those of :func:`block_pagerank`.
    """
    to_blocks = pages_to_blocks(graph, block_importance(graph, kind_weights=kind_weights))
    has_blocks = (np.diff(to_blocks.indptr) > 0).astype(np.float64)
    to_pages = blocks_to_pages(graph)
    to_pages.data *= has_blocks[to_pages.indices]
    from_blocks, from_pages = normalised(to_pages).T.tocsr(), to_blocks.T.tocsr()
    return random_surfer(
        lambda ranks: from_pages @ (from_blocks @ ranks),
        graph.blocks,
        epsilon=epsilon,
        progress=progress,
    )


def _over(matrix: Matrix, epsilon: float, progress: Progress | None) -> Ranking:
    transposed = matrix.T.tocsr()
    return random_surfer(
        lambda ranks: transposed @ ranks, matrix.shape[0], epsilon=epsilon, progress=progress
    )


def _shares(links: Matrix, values: Numbers) -> Numbers:
    """Return for each link the share of its target's value in that of all links of its page."""
    counts = np.diff(links.indptr)
    rows = np.repeat(np.arange(links.shape[0]), counts)
    own = values[links.indices]
    sums = np.bincount(rows, weights=own, minlength=links.shape[0])[rows]
    even = 1.0 / counts[rows]
    shares: Numbers = np.divide(own, sums, out=even, where=sums > 0)
    return shares


@dataclass(frozen=True, slots=True)
class Method:
    """A rank of pages.

    Attributes:
        rank: From a graph, the content of its pages (None if the method needs none), and what is
            called after each step.
    """

    name: str
    title: str  # what a page's rank says
    rank: Callable[[ArchiveGraph, Numbers | None, Progress | None], Ranking]
    needs_topic: bool = False  # whether it needs content


def _topic_pagerank(
    graph: ArchiveGraph, content: Numbers | None, progress: Progress | None
) -> Ranking:
    if content is None:
        raise RankError("topic-pagerank needs a topic: name one with --topic")
    return topic_pagerank(graph, content, progress=progress)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            "quarkrank",
            "links by the importance and the kind of the blocks they stand in",
            lambda graph, _, progress: quarkrank(graph, progress=progress),
        ),
        Method(
            "block-pagerank",
            "links by the importance of the blocks they stand in",
            lambda graph, _, progress: block_pagerank(graph, progress=progress),
        ),
        Method(
            "pagerank",
            "links, all of a page alike",
            lambda graph, _, progress: pagerank(graph, progress=progress),
        ),
        Method(
            "topic-pagerank",
            "links by how near they and their neighbours are to a topic",
            _topic_pagerank,
            needs_topic=True,
        ),
        Method(
            "hits",
            "authorities: pages that good hubs link to",
            lambda graph, _, progress: hits(graph, progress=progress)[0],
        ),
        Method(
            "hubs",
            "hubs: pages that link to good authorities",
            lambda graph, _, progress: hits(graph, progress=progress)[1],
        ),
    )
}
"""All methods, by name; the first is the default."""


def method_named(name: str) -> Method:
    """Return a method; raises RankError if there is none of that name."""
    if name not in METHODS:
        hint = did_you_mean(name, METHODS) or f"; there are {', '.join(METHODS)}"
        raise RankError(f"there is no method {name!r}{hint}")
    return METHODS[name]
