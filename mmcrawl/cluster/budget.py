"""How many pages each worker may fetch, so that all together fetch no more than the crawl may.

* ``budget``: ``JOB/left``, one document: ``round``, its number; ``pages`` that nobody may fetch yet
  in that round; ``size``, how many of them a worker takes at once.

A round begins when all parts are with somebody, so that it is known how many pages there are, and
nobody fetches any. What a worker does not use of what it took is in the next round, and so is what
nobody has because a worker died, or never heard that it was taken.
"""

from __future__ import annotations

from collections.abc import Collection

from mmcrawl.cluster.members import Sign
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import Row, SharedStore

_NAME = "left"
_SHARES = 1_024
_SMALL, _LARGE = 25, 2_000  # pages
_FEWEST = 64  # shares, where these are small


class Budget:
    """The share of one worker.

    Args:
        documents: where it is decided.
        rules: how the crawl is shared.

    Attributes:
        round: its number, 0 before the first.
        granted: pages this worker may fetch in the round.
        spent: whether none are left to take.
        begun: how often what is granted was counted anew.
    """

    def __init__(self, documents: SharedStore, rules: Rules) -> None:
        self._documents = documents
        self._rules = rules
        self.round = 0
        self.granted = 0
        self.spent = False
        self.begun = 0

    def keep(self, own: Sign, others: Collection[Sign]) -> bool:
        """Join the newest round; begin the first. Tell whether pages are left.

        One that was begun is gone on with: only when all are at rest is it known to be over.

        Args:
            own: sign of this worker.
            others: signs of others that are alive.
        """
        if max((sign.round for sign in others), default=0) > self.round:
            self.join()
            return True
        is_first = not self.round and own.number > 2 and self._is_whole([own, *others])
        return not is_first or self.join() or self.begin_next(own, others)

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

    def begin(self, number: int, left: int) -> None:
        """Begin a round, or join the newest one if others have begun it.

        Args:
            number: of the round.
            left: pages that may be fetched in it.
        """
        size = min(max(min(left // _FEWEST, _SMALL), left // _SHARES, 1), _LARGE)
        fresh = {"_id": self._documents.key(_NAME), "round": 0, "pages": 0, "size": 0}
        self._documents.insert("budget", [fresh])
        begun = {"round": number, "pages": left, "size": size}
        self._documents.change_one(
            "budget", _NAME, lambda row: begun if row["round"] < number else None
        )
        self.join()

    def join(self) -> bool:
        """Join the newest round; tell whether there is one."""
        row = self._documents.one("budget", _NAME)
        if row is not None and row["round"] > self.round:
            self._count_anew(row["round"])
        return bool(self.round)

    def leave(self) -> None:
        """Give up what was granted: others may have it in a later round by now."""
        self._count_anew(0)

    def take(self) -> None:
        """Take some of the pages that are left in the round."""

        def taken(row: Row) -> Row | None:
            if row["round"] != self.round or not row["pages"]:
                return None
            return {"pages": row["pages"] - min(row["size"], row["pages"])}

        before, after = self._documents.change_one("budget", _NAME, taken)
        if before["round"] > self.round:
            self._count_anew(before["round"])
        elif after is None:
            self.spent = True
        else:
            self.granted += before["pages"] - after["pages"]

    def _count_anew(self, number: int) -> None:
        self.round, self.granted, self.spent = number, 0, False
        self.begun += 1
