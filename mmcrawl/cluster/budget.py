"""How many pages each worker may fetch, so that all together fetch no more than the crawl may.

* ``budget``: ``JOB/ROUND``; ``pages``, pages that may be fetched in a round, and ``size``, pages of
  a slice; and ``JOB/ROUND/SLICE``, which belongs to the worker that inserted it.

Workers take slices by turns, so that no two try the same one; what a worker's turn did not bring
it to is taken by others in the end.

A round begins when all parts are with somebody, so that it is known how many pages there are, and
nobody fetches any. What a worker does not use of its slices is in the next round.
"""

from __future__ import annotations

from collections.abc import Collection

from mmcrawl.cluster.members import Sign
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import SharedStore

_SLICES = 1_024
_SMALL, _LARGE = 25, 2_000  # pages
_FEWEST = 64  # slices, where these are small


class Budget:
    """The share of one worker.

    Args:
        documents: where it is decided.
        rules: how the crawl is shared.

    Attributes:
        round: its number, 0 before the first.
        granted: pages this worker may fetch in the round.
        spent: whether there are no more slices.
        begun: how often what is granted was counted anew.
    """

    def __init__(self, documents: SharedStore, rules: Rules) -> None:
        self._documents = documents
        self._rules = rules
        self.round = 0
        self.granted = 0
        self.spent = False
        self.begun = 0
        self._left = self._size = 0
        self._free: set[int] = set()

    def keep(self, own: Sign, others: Collection[Sign]) -> bool:
        """Join the newest round; begin the first. Tell whether pages are left.

        One that was begun is gone on with: only when all are at rest is it known to be over.

        Args:
            own: sign of this worker.
            others: signs of others that are alive.
        """
        newest = max((sign.round for sign in others), default=0)
        if newest > self.round:
            self.join(newest)
        elif not self.round and own.number > 2 and self._is_whole([own, *others]):
            if not (last := self.last_round()):
                return self.begin_next(own, others)
            self.join(last)
        return True

    def begin_next(self, own: Sign, others: Collection[Sign]) -> bool:
        """Begin a round with the pages that nobody may fetch yet; tell whether any are left at all.

        Where all that are left were granted to workers that do not use them, the round has none: it
        takes back what was granted, and the one after it has them.
        """
        signs = [own, *others]
        left = self._rules.max_pages - sum(sign.pages for sign in signs)
        if left > 0:
            unused = sum(sign.unused for sign in signs)
            self.begin(self.round + 1, max(left - unused, 0))
        return left > 0

    def _is_whole(self, signs: Collection[Sign]) -> bool:
        """Tell whether all parts are with somebody whose crawl has taken them in."""
        have = {part for sign in signs for part in (*sign.parts, *sign.aside)}
        return all(sign.counted for sign in signs) and len(have) == self._rules.parts

    def last_round(self) -> int:
        """Return the number of the last round that was begun. One round trip."""
        rounds = [row["_id"].split("/")[1] for row in self._documents.all("budget")]
        return max(map(int, rounds), default=0)

    def begin(self, number: int, left: int) -> None:
        """Begin a round, or join it as others began it. Three round trips.

        Args:
            number: of the round.
            left: pages that may be fetched in it.
        """
        size = min(max(min(left // _FEWEST, _SMALL), left // _SLICES, 1), _LARGE)
        name = f"{number:06d}"
        row = {"_id": self._documents.key(name), "pages": left, "size": size}
        self._documents.insert("budget", [row])
        self.join(number)
        if number > 1:
            self._documents.delete_between("budget", "", f"{number - 1:06d}")

    def join(self, number: int) -> None:
        """Join a round that others began. Two round trips."""
        row = self._documents.one("budget", f"{number:06d}")
        if row is None:  # it is over, and this worker has missed it
            return
        self._left, self._size = row["pages"], row["size"]
        self._count_anew(number)
        self._look_for_slices()

    def leave(self) -> None:
        """Give up what was granted: others may have it in a later round by now."""
        self._count_anew(0)

    def take_slice(self, turn: int = 0, workers: int = 1) -> None:
        """Take a slice, if there is one. One round trip, and two for each that others took.

        Args:
            turn: of this worker among them, from 0.
            workers: how many there are.
        """
        while self.round and not self.spent:
            if not self._free:
                self.spent = True
                return
            number = min(self._free, key=lambda number: ((number - turn) % workers, number))
            self._free.remove(number)
            key = self._documents.key(f"{self.round:06d}/{number:06d}")
            if not self._documents.insert("budget", [{"_id": key, "pages": 0, "size": 0}]):
                self.granted += min(self._size, self._left - number * self._size)
                return
            self._look_for_slices()

    def _count_anew(self, number: int) -> None:
        self.round, self.granted, self.spent = number, 0, False
        self.begun += 1

    def _look_for_slices(self) -> None:
        slices = (row["_id"].split("/")[1:] for row in self._documents.all("budget"))
        taken = {int(one[1]) for one in slices if len(one) > 1 and int(one[0]) == self.round}
        self._free = {*range(-(-self._left // self._size))} - taken
