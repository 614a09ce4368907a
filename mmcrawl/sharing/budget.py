"""How many pages each worker may fetch, so that all together fetch no more than the crawl may.

* ``budget``: ``JOB/ROUND``; ``left``, pages that may be fetched in a round, and ``size``, pages of
  a slice; and ``JOB/ROUND/SLICE``, which belongs to the worker that inserted it.

A round begins when all parts are with somebody, so that it is known how many pages there are, and
nobody fetches any. What a worker does not use of its slices is in the next round.
"""

from __future__ import annotations

from mmcrawl.sharing.server import Documents

_SLICES = 256
_LARGEST = 100


class Budget:
    """The share of one worker.

    Args:
        documents: where it is decided.

    Attributes:
        round: its number, 0 before the first.
        granted: pages this worker may fetch in the round.
        spent: whether there are no more slices.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.round = 0
        self.granted = 0
        self.spent = False
        self._left = self._size = self._next = 0

    def last_round(self) -> int:
        """Return the number of the last round that was begun. One round trip."""
        rounds = [row["_id"].split("/")[1] for row in self._documents.all("budget")]
        return max(map(int, rounds), default=0)

    def begin(self, number: int, left: int) -> None:
        """Begin a round, or join it as others began it. Two round trips.

        Args:
            number: of the round.
            left: pages that may be fetched in it.
        """
        size = min(max(left // _SLICES, 1), _LARGEST)
        name = f"{number:06d}"
        row = {"_id": self._documents.key(name), "left": left, "size": size}
        self._documents.insert("budget", [row])
        self.join(number)
        if number > 1:
            self._documents.delete_between("budget", "", f"{number - 1:06d}")

    def join(self, number: int) -> None:
        """Join a round that others began. Two round trips."""
        row = self._documents.one("budget", f"{number:06d}")
        if row is None:  # it is over, and this worker has missed it
            return
        self._left, self._size = row["left"], row["size"]
        slices = [row["_id"].split("/")[1:] for row in self._documents.all("budget")]
        taken = [int(one[1]) for one in slices if len(one) > 1 and int(one[0]) == number]
        self._next = max(taken, default=-1) + 1
        self.round, self.granted, self.spent = number, 0, False

    def take_slice(self) -> None:
        """Take a slice, if there is one. One round trip, and one for each that others took."""
        while self.round and not self.spent:
            first = self._next * self._size
            if first >= self._left:
                self.spent = True
                return
            key = self._documents.key(f"{self.round:06d}/{self._next:06d}")
            self._next += 1
            if not self._documents.insert("budget", [{"_id": key}]):
                self.granted += min(self._size, self._left - first)
                return
