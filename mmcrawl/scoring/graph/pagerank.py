"""`pagerank` and `weighted-pagerank`: links of highest rank in the graph seen so far first.

Comparators, as published (Yang 2009, 3.4; Xing & Ghorbani 2004): structure alone orders. When, and
at what cost, ranks are computed anew is said in `link_graph.py`.
"""

from math import inf
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mmcrawl.scoring.base import LinkSource, Ranges, check_ranges
from mmcrawl.scoring.graph.link_graph import GraphScorer, Ids, Numbers, converge, shares_within
from mmcrawl.scoring.similarity import LinkSimilarity

_TOLERANCE = 1e-9
_MOST_STEPS = 200


class PageRank(GraphScorer):
    """Order links by PR(p) = (1−d)/N + d Σ_{T→p} PR(T)/C(T) (3.4).

    What pages without links, and links that wait, would pass on goes to all nodes alike, so that
    the ranks sum to 1. Other ranks differ from this one in what share of its rank a page passes to
    which link, and give `shares` their own way.

    Args:
        d: damping, in (0, 1).
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "pagerank"
    ranges: ClassVar[Ranges] = {"d": (0, 0.999), "growth": (0, inf)}

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        d: float = 0.85,
        growth: float = 0.05,
    ) -> None:
        check_ranges(self.ranges, locals())
        super().__init__(source, similarity, alpha=0.0, growth=growth)
        self._d = d

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return the share of its page's rank that each link gets, 1/C(T).

        Args:
            targets: the links of some pages, page after page.
            starts: where each page's links begin, and where the last one's end.
        """
        return shares_within(np.ones(len(targets)), starts)

    def _rank_all(self) -> Numbers:
        graph, d = self.graph, self._d
        start = self._rank.values / self._rank.values.sum()
        everyone = graph.known.values / graph.nodes
        if not graph.edges:
            return everyone
        passed_on = graph.matrix(self.shares(graph.targets, graph.starts)).T
        sources = graph.sources.values

        def step(ranks: Numbers) -> Numbers:
            following: Numbers = passed_on @ (d * ranks[sources])
            following += (1 - following.sum()) * everyone
            return following

        ranks = converge(step, start, tolerance=_TOLERANCE, most=_MOST_STEPS)
        self._unlinked = float(1 - (passed_on @ (d * ranks[sources])).sum()) / graph.nodes
        return ranks

    def _spread(self, page: int, links: Ids) -> None:
        shares = self.shares(links, np.array([0, len(links)]))
        self._rank.values[links] += self._d * self._rank.values[page] * shares


class WeightedPageRank(PageRank):
    """Order links by PR(u) = (1−d)/N + d Σ_{v→u} PR(v) · W_in(v, u) · W_out(v, u).

    W_in(v, u) is the in-degree of u as a share of the in-degrees of all links of v, W_out(v, u) the
    same of out-degrees. The products sum to less than 1 over the links of v. As with pages without
    links, the rest goes to all nodes alike; this only scales the published ranks, so that they sum
    to 1.

    The out-degree of a link that is not fetched is not known, and with the 0 that the graph has
    for it no waiting link would get anything: the mean of the crawled pages is taken. A link that
    could not be had has 0.

    Args:
        d: damping, in (0, 1).
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "weighted-pagerank"

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return W_in · W_out of each link; the arguments are those of `PageRank.shares`."""
        graph = self.graph
        outdegree = np.where(
            self._settled.values[targets],
            graph.outdegree.values[targets],
            graph.edges / graph.pages,
        )
        shares = shares_within(graph.indegree.values[targets], starts)
        shares *= shares_within(outdegree, starts)
        return shares
