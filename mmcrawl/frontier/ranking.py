"""The number that orders a waiting link: its priority first, then its rule, then score and block.

Stored are score, priority and kind of block as they were given; where a link stands follows from
them whenever it is scored or loaded, so that a new score undoes nothing, and rules that were edited
between two runs count at once. A byte of RAM a link where blocks come later, and one where there
are rules; nothing otherwise.
"""

from collections.abc import Callable, Mapping

from mmcrawl.frontier.records import HELD

WeightOf = Callable[[str], int | None]
"""Returns the weight of the rule for an address: 0 for never, at most `MOST_WEIGHT`; None for no
rule."""
MOST_WEIGHT = 99

_WEIGHT_STEP = 1_000.0  # scores are below it
PRIORITY_STEP = _WEIGHT_STEP * (MOST_WEIGHT + 1)
_BEHIND_EQUALS = 1e-6
_NEVER = 1  # noted for a link is its weight and this; 0 for no rule


class Ranking:
    """Where links stand.

    Args:
        later_blocks: kinds of blocks whose links come behind others of equal score, and what their
            scores are multiplied with, from 0 to 1.
        weight_of: tells the rule for an address; None where there are no rules.
    """

    def __init__(self, later_blocks: Mapping[str, float], weight_of: WeightOf | None) -> None:
        self._later = {block: number for number, block in enumerate(later_blocks, 1)}
        self._factors = (1.0, *later_blocks.values())
        self._weight_of = weight_of
        self._block = bytearray()
        self._weight = bytearray()
        self._priority: dict[int, int] = {}

    @property
    def is_plain(self) -> bool:
        """Whether every link stands where its score says."""
        return not (self._priority or self._later or self._weight_of)

    def note(self, link: int, url: str, priority: int, block: str) -> None:
        """Take in a link that waits."""
        self.set_priority(link, priority)
        if number := self._later.get(block, 0):
            _put(self._block, link, number)
        if self._weight_of is not None and (weight := self._weight_of(url)) is not None:
            _put(self._weight, link, weight + _NEVER)

    def priority(self, link: int) -> int:
        """Return the priority of a link."""
        return self._priority.get(link, 0)

    def set_priority(self, link: int, priority: int) -> None:
        """Give a link another priority."""
        if priority:
            self._priority[link] = priority
        else:
            self._priority.pop(link, None)

    def rank(self, link: int, score: float) -> float:
        """Return the number that orders a link, `HELD` for one that is not to be fetched.

        A rule lets a link go that the algorithm holds, or holds it whatever its score.
        """
        weight = self._weight[link] if link < len(self._weight) else 0
        if weight == _NEVER or (score == HELD and not weight):
            return HELD
        score = max(score, 0.0)
        if link < len(self._block) and self._block[link]:
            score = score * self._factors[self._block[link]] - _BEHIND_EQUALS
        if weight:
            score += _WEIGHT_STEP * (weight - _NEVER)
        return score + PRIORITY_STEP * self._priority.get(link, 0)


def _put(values: bytearray, link: int, value: int) -> None:
    missing = link + 1 - len(values)
    if missing > 0:
        values.extend(bytes(missing))
    values[link] = value
