"""What the link-graph algorithms share: the growing graph, when it is ranked again, the scores.

Nodes are the crawled pages and the links on them; edges lead from a crawled page to its links. A
waiting link is a node without links of its own.

* *Batch.* When nodes and edges have grown by `growth` (5 %), and while the graph is small at least
  every 10 pages, all nodes are ranked again, starting from the previous ranks, and all waiting
  links are scored.
* *In between* a crawled page passes its rank on to its links, new and old, and these are scored.
  The change travels one step: its effect on the links of those links, or on other pages' shares,
  waits for the next batch.

Structure is normalised (4.8) by the largest rank of a waiting link at the last batch. A link may
exceed it until the next batch; when one has twice as much, all are scored by the new maximum.

Seeds, targets of redirects and requests of the spider are no nodes until they are crawled or a
crawled page links to them. Until then they count as twice the best, so that they are fetched at
once (the target of a redirect replaces a link that was the best). A replay learns of such links at
another time than the crawl did; since they are outside the graph, it arrives at the same ranks. For
the same reason a link counts as waiting here until it is crawled or has failed; the start of a
request changes nothing.

A failed link stays a node without links: the pages that link to it still do. No rank depends on
whether pages are relevant, so taking that back changes nothing.

Cost: a batch takes time in proportion to the edges: 20 to 100 multiplications of a sparse matrix,
and one score for each waiting link. A batch is due each time the graph has grown by a share g, so
the edges of all batches together are less than (1 + 1/g) times the final edges: 21 times, with 5 %.
RAM: 4 bytes an edge, and 18 bytes a link (22 with content, `topicrank` 34); up to 60 bytes an edge
during a batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from mmcrawl.frontier.records import LinkScores
from mmcrawl.scoring.base import NO_SCORES, CrawledPage, LinkSource, Scorer, scores_of
from mmcrawl.scoring.similarity import LinkSimilarity

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

_SMALL = 20_000  # nodes and edges that are ranked in a few milliseconds
_PAGES_WHILE_SMALL = 10  # between two batches of a small graph: each page tells much of it
_OUTGROWN = 2.0  # times the largest rank, above which all links are scored by the new largest


class Column:
    """Numbers of one kind, one a link (or edge, or page), that grow in number.

    Args:
        kind: the numpy type of the numbers; new ones are 0.
    """

    def __init__(self, kind: npt.DTypeLike) -> None:
        self._room = np.zeros(16, dtype=kind)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> npt.NDArray[Any]:
        """The numbers, to read and to change; a view that is good until the column grows."""
        return self._room[: self._size]

    def reserve(self, size: int) -> None:
        """Grow to at least `size` numbers."""
        if size > len(self._room):
            room = np.zeros(max(size, len(self._room) * 3 // 2), dtype=self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._size = max(self._size, size)

    def extend(self, numbers: npt.ArrayLike) -> None:
        """Append some numbers."""
        added = np.asarray(numbers)
        start = self._size
        self.reserve(start + len(added))
        self._room[start : self._size] = added


class LinkGraph:
    """The links of crawled pages, in compact arrays. Nodes are named by link ids.

    Attributes:
        nodes: how many links are in the graph.
        pages: how many of them are crawled pages.
        known: for each link id whether it is in the graph.
        indegree: for each link id how many crawled pages link to it.
        outdegree: for each link id how many links its page holds, 0 if it is not crawled.
        sources: the pages that hold links, in the order they were crawled.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self.pages = 0
        self.known = Column(np.bool_)
        self.indegree = Column(np.int32)
        self.outdegree = Column(np.int32)
        self.sources = Column(np.int32)
        self._starts = Column(np.int64)
        self._starts.extend([0])
        self._targets = Column(np.int32)

    def __contains__(self, link: int) -> bool:
        return link < len(self.known) and bool(self.known.values[link])

    @property
    def edges(self) -> int:
        """The number of links on all crawled pages."""
        return len(self._targets)

    @property
    def targets(self) -> npt.NDArray[np.int32]:
        """The links of all pages in `sources`, page after page."""
        return self._targets.values

    @property
    def starts(self) -> Ids:
        """The positions in `targets` where each page's links begin, and the end of the last."""
        return self._starts.values

    def admit(self, links: Ids) -> Ids:
        """Make links nodes; return those that were none. Each link may be named once."""
        if len(links):
            for column in (self.known, self.indegree, self.outdegree):
                column.reserve(int(links.max()) + 1)
        new: Ids = links[~self.known.values[links]]
        self.known.values[new] = True
        self.nodes += len(new)
        return new

    def add_page(self, page: int, links: Ids) -> None:
        """Record a crawled page and the links on it, all of them nodes, each once."""
        self.pages += 1
        if not len(links):
            return
        self.indegree.values[links] += 1
        self.outdegree.values[page] = len(links)
        self.sources.extend([page])
        self._targets.extend(links)
        self._starts.extend([len(self._targets)])

    def matrix(self, weights: Numbers) -> csr_array:
        """Return a sparse matrix of the edges.

        Args:
            weights: one number for each of `targets`.

        Returns:
            One row for each of `sources`, one column for each link id.
        """
        shape = (len(self.sources), len(self.known))
        return csr_array((weights, self.targets, self.starts), shape=shape)


def shares_within(values: npt.NDArray[Any], starts: Ids) -> Numbers:
    """Return each value's share of the sum of its run; of a run that sums to 0, even shares.

    Args:
        values: numbers from 0, run after run.
        starts: where each run begins, and where the last one ends; no run is empty.
    """
    numbers = values.astype(np.float64)
    sizes = np.diff(starts)
    totals = np.add.reduceat(numbers, starts[:-1])
    nothing = totals == 0
    if nothing.any():
        numbers[np.repeat(nothing, sizes)] = 1.0
        totals = np.where(nothing, sizes, totals)
    numbers /= np.repeat(totals, sizes)
    return numbers


def converge(
    step: Callable[[Numbers], Numbers], start: Numbers, *, tolerance: float, most: int
) -> Numbers:
    """Return what `step`, taken again and again from `start`, comes to.

    Args:
        step: gives the next ranks.
        start: the first ranks; the nearer they are, the fewer steps it takes (*warm start*).
        tolerance: stop when the sum of all changes of a step is no more.
        most: stop after so many steps.
    """
    ranks = start
    for _ in range(most):
        before, ranks = ranks, step(ranks)
        if np.abs(ranks - before).sum() <= tolerance:
            break
    return ranks


class RescoreSchedule:
    """Says when all links are to be ranked again; depends on nothing but the graph.

    Args:
        growth: share by which nodes and edges must have grown; 0 for after every page.
    """

    def __init__(self, growth: float) -> None:
        self._growth = growth
        self._size = 0
        self._pages = 0

    def due(self, graph: LinkGraph) -> bool:
        """Return whether it is time; if so, count from here."""
        size = graph.nodes + graph.edges
        late = self._size < _SMALL and graph.pages - self._pages >= _PAGES_WHILE_SMALL
        if size < self._size * (1 + self._growth) and not late:
            return False
        self._size, self._pages = size, graph.pages
        return True


class GraphScorer(Scorer, ABC):
    """A scorer that orders links by a rank in the link graph.

    S = ∂ · content + (1 − ∂) · structure (4.8); with ∂ = 0 the rank alone orders.

    Args:
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        growth: share by which the graph grows between two batches, from 0 (exact, slow).

    Attributes:
        needs_content: whether the content score of each link is looked up.
    """

    name: ClassVar[str]
    needs_content: ClassVar[bool] = False

    def __init__(
        self, source: LinkSource, similarity: LinkSimilarity, *, alpha: float, growth: float
    ) -> None:
        self.graph = LinkGraph()
        self._source = source
        self._similarity = similarity
        self._alpha = alpha
        self._schedule = RescoreSchedule(growth)
        self._rank = Column(np.float64)
        self._content = Column(np.float32)
        self._settled = Column(np.bool_)
        self._unlinked = 1.0
        """Rank of a link that no page is known to hold."""
        self._largest = 0.0

    @property
    def ranks(self) -> Numbers:
        """The rank of every link by its id, 0 for those that are not in the graph.

        After a batch they sum to 1; in between they are estimates.
        """
        return self._rank.values.copy()

    # -- what an algorithm is -----------------------------------------------------------------

    @abstractmethod
    def _rank_all(self) -> Numbers:
        """Return the ranks of all nodes, which sum to 1, by link id."""

    @abstractmethod
    def _spread(self, page: int, links: Ids) -> None:
        """Estimate what a page that was just crawled adds to the ranks of its links."""

    # -- the protocol -------------------------------------------------------------------------

    def added(self, links: Iterable[int]) -> LinkScores:
        """Put links that come from no page at the head."""
        ids = [link for link in links if link not in self.graph]
        scores = [(1 - self._alpha) * _OUTGROWN] * len(ids)
        if self._alpha:
            words = (self._source.known(link).content for link in ids)
            scores = [score + self._alpha * own for score, own in zip(scores, words, strict=True)]
        return LinkScores(ids, scores, [1.0] * len(ids))

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Pass the page's rank on to its links, or rank all again if that is due."""
        links = np.array(page.links, dtype=np.int64)
        self._take_in(np.array([page.id]))
        self._take_in(links)
        self._settle(page.id)
        self.graph.add_page(page.id, links)
        if len(links):
            self._spread(page.id, links)
        if self._schedule.due(self.graph):
            self._rank.values[:] = self._rank_all()
            return self._score_all()
        return self._scores_of(links[~self._settled.values[links]])

    def failed(self, link: int) -> LinkScores:
        """Record that a link waits no more."""
        self._settle(link)
        return NO_SCORES

    def repeated(self, link: int) -> LinkScores:
        """Record that a link waits no more."""
        return self.failed(link)

    def parts(self, link: int) -> Mapping[str, float]:
        """Return the terms of S (4.8) of a waiting link."""
        if link in self.graph:
            structure = float(self._rank.values[link]) / (self._largest or 1.0)
        else:  # as `added` scores it
            structure = _OUTGROWN
        if not self._alpha:
            return {"structure": structure}
        own = self._content.values[link] if link in self.graph else self._source.known(link).content
        return {"content": self._alpha * float(own), "structure": (1 - self._alpha) * structure}

    # -- inside -------------------------------------------------------------------------------

    def _take_in(self, links: Ids) -> None:
        new = self.graph.admit(links)
        size = len(self.graph.known)
        self._rank.reserve(size)
        self._settled.reserve(size)
        self._rank.values[new] = self._unlinked
        if self.needs_content:
            self._content.reserve(size)
            self._content.values[new] = [self._source.known(link).content for link in new.tolist()]

    def _settle(self, link: int) -> None:
        self._settled.reserve(link + 1)
        self._settled.values[link] = True

    def _score_all(self) -> LinkScores:
        """Score all waiting links by the largest rank among them."""
        known = self.graph.known.values
        waiting = np.flatnonzero(known & ~self._settled.values[: len(known)])
        ranks = self._rank.values[waiting]
        self._largest = float(ranks.max(initial=0.0))
        return self._scores(waiting, ranks)

    def _scores_of(self, links: Ids) -> LinkScores:
        """Score some waiting links, or all if one of these has left all others far behind."""
        ranks = self._rank.values[links]
        if ranks.max(initial=0.0) > _OUTGROWN * self._largest:
            return self._score_all()
        return self._scores(links, ranks)

    def _scores(self, links: Ids, ranks: Numbers) -> LinkScores:
        """S of (4.8)."""
        structure = score = ranks / self._largest if self._largest else ranks
        if self._alpha:
            content = self._content.values[links].astype(np.float64)
            score = self._alpha * content + (1 - self._alpha) * structure
        return scores_of(links, score, structure)
