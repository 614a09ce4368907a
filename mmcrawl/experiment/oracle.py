"""The yardstick: how fast recall could rise for a crawler that knew the whole web.

The oracle fetches relevant pages only, and the pages that must be crossed to reach them. It always
goes for the relevant page that costs the fewest new pages from where it has been: Prim's algorithm
on distances that are relaxed after every step. That is greedy and not optimal (to reach many pages
cheaply is a Steiner tree, which is hard), so an algorithm's share of the oracle's area may in
principle lie slightly above 1.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["LinkGraph", "oracle_order"]

_Ints = np.ndarray[Any, np.dtype[np.int64]]
_FAR = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class LinkGraph:
    """Pages 0 … n−1 and the links between them, in compressed rows.

    Attributes:
        starts: shape (n + 1,); the links of page p are `targets[starts[p]:starts[p + 1]]`.
        targets: shape (links,), page numbers.
        seeds: pages where a crawl begins.
    """

    starts: _Ints
    targets: _Ints
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, outlinks: Sequence[Sequence[int]], seeds: Sequence[int]) -> "LinkGraph":
        """Return the graph in which page p links to `outlinks[p]`."""
        counts = np.fromiter((len(row) for row in outlinks), np.int64, len(outlinks))
        starts = np.zeros(len(outlinks) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        links = (target for row in outlinks for target in row)
        return cls(starts, np.fromiter(links, np.int64, int(starts[-1])), tuple(seeds))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def links(self, page: int) -> _Ints:
        """Return the pages that a page links to."""
        return self.targets[self.starts[page] : self.starts[page + 1]]


def oracle_order(graph: LinkGraph, kinds: Sequence[int], wanted: set[int]) -> list[int]:
    """Return the pages in the order in which the oracle fetches them.

    Args:
        graph: the link graph of the whole web.
        kinds: for each page what it is a copy of; copies are worth no second fetch.
        wanted: the kinds to find.

    Returns:
        Pages until every wanted kind that can be reached was fetched. Of targets equally near the
        one with the lower number comes first.
    """
    return _Oracle(graph, kinds, wanted).run()


class _Oracle:
    """The state of one run: how far each page is from those that were fetched.

    `distance` counts the pages to fetch until a page is had, itself included; `before` is the page
    from which that way comes, −1 for a seed. `open` is a heap of pages by distance, as in
    Dijkstra's algorithm; entries that are outdated are dropped when they come up. The search goes
    no further than to the nearest target and is taken up from there, so that distances are exact
    as far as they are needed and each page is looked at a few times only.
    """

    def __init__(self, graph: LinkGraph, kinds: Sequence[int], wanted: set[int]) -> None:
        self._graph = graph
        self._kinds = kinds
        self._wanted = set(wanted)
        self._distance = np.full(len(graph), _FAR, np.int64)
        self._before = np.full(len(graph), -1, np.int64)
        self._open: list[tuple[int, int]] = []
        self._improve(np.array(graph.seeds, np.int64), 1, -1)

    def run(self) -> list[int]:
        order: list[int] = []
        while self._open and self._wanted:
            distance, page = heapq.heappop(self._open)
            if distance != self._distance[page]:
                continue
            if distance > 0 and self._kinds[page] in self._wanted:
                order += self._fetch(page)
            else:
                links = self._graph.links(page)
                nearer = links[self._distance[links] > distance + 1]
                self._improve(nearer, distance + 1, page)
        return order

    def _fetch(self, page: int) -> list[int]:
        """Fetch a page and what must be crossed on the way; return them in order."""
        way = []
        while page >= 0 and self._distance[page] > 0:
            way.append(page)
            page = int(self._before[page])
        way.reverse()
        self._wanted.difference_update(self._kinds[step] for step in way)
        self._improve(np.array(way, np.int64), 0, -1)
        return way

    def _improve(self, pages: _Ints, distance: int, before: int) -> None:
        self._distance[pages] = distance
        self._before[pages] = before
        for page in pages.tolist():
            heapq.heappush(self._open, (distance, page))
