"""Which waiting link comes next: best score first, hosts that are busy left aside.

One binary heap of link numbers for each host, and a small heap of the hosts' best links over them.
Three arrays, indexed by link number, hold the score, the host and the place in the host's heap, so
that a score can change where the link stands. 16 bytes for every link ever seen and 4 more for
every waiting one; no Python object for a link. Of equal scores the lower number, which was seen
earlier, comes first. A held link is known to wait, but stands in no heap.

The heap of hosts is lazy: an entry is only true if it still is its host's best link. A change of a
best link adds an entry; the false ones fall out when they surface.
"""

from array import array
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

_NOWHERE = -1
_HELD = -2


class PendingOrder:
    """The order of waiting links. Link and host numbers are small non-negative integers."""

    def __init__(self) -> None:
        self._score = array("d")
        self._host = array("i")
        self._place = array("i")
        self._heaps: dict[int, array[int]] = {}
        self._best: list[tuple[float, int, int]] = []
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting

    def __contains__(self, link: int) -> bool:
        return link < len(self._place) and self._place[link] >= 0

    def is_held(self, link: int) -> bool:
        """Tell whether `link` waits without a place in the order."""
        return link < len(self._place) and self._place[link] == _HELD

    def stands(self, link: int) -> int:
        """Return 1 if `link` is in the order, −1 if it is held, 0 if it does not wait."""
        place = self._place[link] if link < len(self._place) else _NOWHERE
        return 1 if place >= 0 else -1 if place == _HELD else 0

    def score(self, link: int) -> float:
        """Return the score that `link` was last given."""
        return self._score[link]

    def host(self, link: int) -> int:
        """Return the host that `link` was last noted with."""
        return self._host[link]

    def hosts(self) -> dict[int, int]:
        """Return how many links wait for each host that has any."""
        return {host: len(heap) for host, heap in self._heaps.items() if heap}

    def hold(self, link: int, host: int) -> None:
        """Note a link that must not be popped yet; take it out if it was to be."""
        self._reserve(link)
        if self._place[link] >= 0:
            self.remove(link)
        self._host[link] = host
        self._place[link] = _HELD

    def release(self, link: int, score: float) -> None:
        """Give a held link its place."""
        self.push(link, self._host[link], score)

    def push(self, link: int, host: int, score: float) -> None:
        """Add a link that is not waiting."""
        self._reserve(link)
        heap = self._heaps.setdefault(host, array("i"))
        self._score[link] = score
        self._host[link] = host
        heap.append(link)
        self._waiting += 1
        self._rise(heap, len(heap) - 1, link)
        if heap[0] == link:
            self._announce(host, heap)

    def rescore(self, link: int, score: float) -> None:
        """Move a waiting link to where its new score puts it."""
        old, self._score[link] = self._score[link], score
        heap = self._heaps[self._host[link]]
        place = self._place[link]
        if score > old:
            self._rise(heap, place, link)
        elif score < old:
            self._sink(heap, place, link)
        if place == 0 or heap[0] == link:
            self._announce(self._host[link], heap)

    def rescore_many(self, links: Sequence[int], scores: Sequence[float]) -> None:
        """Re-score waiting links; many at once are sorted instead of moved one by one."""
        if len(links) * 8 < self._waiting:
            for link, score in zip(links, scores, strict=True):
                self.rescore(link, score)
            return
        for link, score in zip(links, scores, strict=True):
            self._score[link] = score
        for host in {self._host[link] for link in links}:
            self._sort(host)

    def remove(self, link: int) -> None:
        """Take a waiting link out."""
        host = self._host[link]
        heap = self._heaps[host]
        place = self._place[link]
        last = heap.pop()
        self._place[link] = _NOWHERE
        self._waiting -= 1
        if last != link:
            self._place[last] = place
            heap[place] = last
            self._rise(heap, place, last)
            self._sink(heap, self._place[last], last)
        if heap:
            if place == 0:
                self._announce(host, heap)
        else:
            del self._heaps[host]

    def take(self, link: int) -> None:
        """Take a link out, whether it has a place in the order or is held."""
        if self.stands(link) > 0:
            self.remove(link)
        else:
            self._reserve(link)
            self._place[link] = _NOWHERE

    def pop(self, ready: Callable[[int], bool] = lambda host: True) -> int | None:
        """Take out and return the best link of a host that is `ready`; None if there is none."""
        aside: list[tuple[float, int, int]] = []
        found = None
        while self._best and found is None:
            entry = heappop(self._best)
            _, link, host = entry
            heap = self._heaps.get(host)
            if not heap or heap[0] != link or self._score[link] != -entry[0]:
                continue
            if ready(host):
                found = link
            else:
                aside.append(entry)
        for entry in aside:
            heappush(self._best, entry)
        if found is not None:
            self.remove(found)
        return found

    def _reserve(self, link: int) -> None:
        missing = link + 1 - len(self._place)
        if missing > 0:
            self._score.extend([0.0] * missing)
            self._host.extend([0] * missing)
            self._place.extend([_NOWHERE] * missing)

    def _announce(self, host: int, heap: "array[int]") -> None:
        """Tell the heap of hosts that `host` has a new best link."""
        link = heap[0]
        heappush(self._best, (-self._score[link], link, host))
        if len(self._best) > 64 + 4 * len(self._heaps):
            self._best = [
                (-self._score[heap[0]], heap[0], host) for host, heap in self._heaps.items() if heap
            ]
            heapify(self._best)

    def _sort(self, host: int) -> None:
        """Order a whole host anew: a sorted list is a heap."""
        heap = self._heaps[host]
        links = np.array(heap, dtype=np.int32)
        scores = np.frombuffer(self._score, dtype=np.float64)[links]
        links = links[np.lexsort((links, -scores))]
        ordered = self._heaps[host] = array("i", links.tobytes())
        places = np.frombuffer(self._place, dtype=np.int32)
        places[links] = np.arange(len(links), dtype=np.int32)
        self._announce(host, ordered)

    def _rise(self, heap: "array[int]", place: int, link: int) -> None:
        """Move `link` up from `place` until its parent comes before it."""
        scores, places = self._score, self._place
        score = scores[link]
        while place > 0:
            above = (place - 1) >> 1
            other = heap[above]
            other_score = scores[other]
            if other_score > score or (other_score == score and other < link):
                break
            heap[place] = other
            places[other] = place
            place = above
        heap[place] = link
        places[link] = place

    def _sink(self, heap: "array[int]", place: int, link: int) -> None:
        """Move `link` down from `place` until it comes before both its children."""
        scores, places = self._score, self._place
        score, size = scores[link], len(heap)
        while (below := 2 * place + 1) < size:
            other = heap[below]
            other_score = scores[other]
            if below + 1 < size:
                right = heap[below + 1]
                right_score = scores[right]
                if right_score > other_score or (right_score == other_score and right < other):
                    below, other, other_score = below + 1, right, right_score
            if score > other_score or (score == other_score and link < other):
                break
            heap[place] = other
            places[other] = place
            place = below
        heap[place] = link
        places[link] = place
