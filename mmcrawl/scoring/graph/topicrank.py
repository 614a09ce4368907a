"""Ranks whose shares go by the topic, as published.

* `topic-centric-pagerank` (TCPageRank): pages pass more of their rank to links on topic. A
  comparator, in which structure alone orders and content enters by the shares.
* `topicrank`: PageRank that goes by words and by neighbours (Topic-PageRank; Yang 2009, 3.6–3.11).
  One of the paper's three algorithms, so content and structure are combined by (4.8).

How the paper is read:

* content(p) is (3.8) for every p: what a link's own words said when it was found, fetched or not.
* The mean over no links is 0: a waiting link has no links of its own yet, a seed no parents.
* λ weighs links a page holds (the formula and 5.2.5), not those that lead to it (one sentence).
* "λ must be adjusted in time", since pages at the bottom of a site hold hardly any links and those
  at its top hold many more than lead to them, comes without a formula; with `lambda_=auto` it is,
  for each page, the share of its links that it holds: out / (in + out), of the links seen so far.
* N in (3.6) is the number of pages on topic. It is in the one term that is the same for all
  pages, so all ranks are in proportion to 1/N, and (4.8) divides them by the largest: whatever N
  is, S is the same. Here N is the number of all nodes, with which ranks sum to 1.
"""

from math import inf
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mmcrawl.scoring.base import AUTO, LinkSource, LinkText, Ranges, Words, check_ranges
from mmcrawl.scoring.graph.link_graph import (
    Column,
    GraphScorer,
    Ids,
    Numbers,
    converge,
    shares_within,
)
from mmcrawl.scoring.similarity import LinkSimilarity

# -- `pagerank` and `weighted-pagerank`: links of highest rank in the graph seen so far first -----
# Comparators, as published (Yang 2009, 3.4; Xing & Ghorbani 2004): structure alone orders. When,
# and at what cost, ranks are computed again is said in `link_graph.py`.

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
    could not be fetched has 0.

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


# -- Ranks whose shares go by the topic, as published ---------------------------------------------


class TopicCentricPageRank(PageRank):
    """Order links by TC(p) = (1−d)/N + d Σ_{T→p} TC(T) · content(p) / Σ_{i ∈ out(T)} content(i).

    content is (3.8), from the words of the link, which a link keeps once it is fetched. A page none
    of whose links is on topic shares evenly.

    Args:
        d: damping, in (0, 1).
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "topic-centric-pagerank"
    needs_content: ClassVar[bool] = True

    def content(self, text: LinkText) -> float:
        """Return the content score of a link (3.8)."""
        return self._similarity.topicrank(text)

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return each link's share of content; the arguments are those of `PageRank.shares`."""
        return shares_within(self._content.values[targets], starts)


class TopicRank(TopicCentricPageRank):
    """Order links by S (4.8) of content (3.8) and TPR (3.6).

    ::

        TPR(p)  = (1−d)/N + d Σ_{T→p} TPR(T) · P(T, p)                                  (3.6)
        P(T, p) = ω · content(p)/Σ_{i∈out(T)} content(i)
                  + (1−ω) · link(p)/Σ_{i∈out(T)} link(i)                                (3.7)
        link(p) = (1−λ) · mean_{q→p} content(q) + λ · mean_{p→b} content(b)             (3.11)

    A zero denominator shares evenly, so P(T, ·) sums to 1.

    Args:
        d: damping, in (0, 1).
        omega: weight of content against neighbours in (3.7), in [0, 1]; the paper leaves it open.
        lambda_: weight of the links a page holds against those to it in (3.11), in [0, 1]; `auto`
            for the share of a page's links seen that it holds.
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "topicrank"
    ranges: ClassVar[Ranges] = {
        **TopicCentricPageRank.ranges,
        "omega": (0, 1),
        "lambda_": (0, 1),
        "alpha": (0, 1),
    }
    words: ClassVar[Words] = {"lambda_": AUTO}

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        d: float = 0.8,
        omega: float = 0.5,
        lambda_: float | str = 0.85,
        alpha: float = 0.4,
        growth: float = 0.05,
    ) -> None:
        check_ranges(self.ranges, locals(), self.words)
        super().__init__(source, similarity, d=d, growth=growth)
        self._alpha = alpha
        self._omega, self._lambda = omega, lambda_
        self._content_to = Column(np.float64)
        self._content_from = Column(np.float32)

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return P(T, p) of each link (3.7); the arguments are those of `PageRank.shares`."""
        shares = self._omega * super().shares(targets, starts)
        shares += (1 - self._omega) * shares_within(self._link(targets), starts)
        return shares

    def _link(self, links: npt.NDArray[Any]) -> Numbers:
        """link(p) of some nodes (3.11)."""
        parents = self.graph.indegree.values[links]
        mean_to = self._content_to.values[links] / np.maximum(parents, 1)
        weight = self._held_weight(links, parents)
        return np.asarray((1 - weight) * mean_to + weight * self._content_from.values[links])

    def _held_weight(self, links: npt.NDArray[Any], parents: npt.NDArray[Any]) -> Numbers | float:
        """λ of some nodes."""
        if self._lambda != AUTO:
            return float(self._lambda)
        held = self.graph.outdegree.values[links]
        return np.asarray(held / np.maximum(parents + held, 1))

    def _take_in(self, links: Ids) -> None:
        super()._take_in(links)
        self._content_to.reserve(len(self.graph.known))
        self._content_from.reserve(len(self.graph.known))

    def _spread(self, page: int, links: Ids) -> None:
        self._content_to.values[links] += self._content.values[page]
        self._content_from.values[page] = self._content.values[links].mean(dtype=np.float64)
        super()._spread(page, links)
