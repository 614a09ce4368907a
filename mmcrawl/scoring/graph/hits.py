"""`hits`: links of highest authority in the graph seen so far first (Kleinberg; Yang 2009, 3.5).

A comparator, as published: structure alone orders.
"""

from math import inf
from typing import ClassVar

import numpy as np

from mmcrawl.scoring.base import LinkSource, Ranges, check_ranges
from mmcrawl.scoring.graph.link_graph import GraphScorer, Ids, Numbers, converge
from mmcrawl.scoring.similarity import LinkSimilarity

_TOLERANCE = 1e-8
_MOST_STEPS = 100
_NEWCOMERS = 0.1  # share of the start that goes to all who are linked to


class Hits(GraphScorer):
    """Order links by authority: a(p) = Σ_{q→p} h(q), h(q) = Σ_{q→p} a(p) (3.5).

    Authorities are scaled to sum to 1. They are those of the whole graph, of which the most densely
    linked region takes nearly all: links elsewhere have 0 or next to it and come in the order they
    were found. A batch takes at most 100 steps, which does not settle a tie between two regions.

    In between batches a crawled page is a hub of the authority its links have, and adds it to each
    as (3.5) has it, divided by the largest eigenvalue as that stood at the last batch.

    Args:
        growth: share by which the graph grows between two batches, from 0 (slow).
    """

    name: ClassVar[str] = "hits"
    ranges: ClassVar[Ranges] = {"growth": (0, inf)}

    def __init__(
        self, source: LinkSource, similarity: LinkSimilarity, *, growth: float = 0.05
    ) -> None:
        check_ranges(self.ranges, locals())
        super().__init__(source, similarity, alpha=0.0, growth=growth)
        self._unlinked = 0.0
        self._eigenvalue = 0.0

    def _rank_all(self) -> Numbers:
        graph = self.graph
        if not graph.edges:
            return np.zeros(len(graph.known))
        links = graph.matrix(np.ones(graph.edges))
        linked_to = links.T
        # A region of rank 0 would stay so for ever: everyone who is linked to begins with a little.
        start = (graph.indegree.values > 0).astype(np.float64)
        start /= start.sum()
        before = self._rank.values.sum()
        if before:
            start = _NEWCOMERS * start + (1 - _NEWCOMERS) / before * self._rank.values

        def step(authority: Numbers) -> Numbers:
            following: Numbers = linked_to @ (links @ authority)
            following /= following.sum()
            return following

        authority = converge(step, start, tolerance=_TOLERANCE, most=_MOST_STEPS)
        self._eigenvalue = float((linked_to @ (links @ authority)).sum())
        return authority

    def _spread(self, page: int, links: Ids) -> None:
        if self._eigenvalue:
            hub = self._rank.values[links].sum()
            self._rank.values[links] += hub / self._eigenvalue
