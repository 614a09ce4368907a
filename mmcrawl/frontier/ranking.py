"""The number that orders a waiting link: its priority first, then its rule, then score and block.

Score, priority and kind of block are stored as given, and the rank is computed from them whenever a
link is scored or loaded. So a new score overwrites nothing, and rules or followed kinds of links
that were edited between two runs apply at once. RAM: one byte a link for each of blocks off topic,
rules and priorities, where there are any.
"""

from array import array
from collections.abc import Callable
from typing import Final

from mmcrawl.frontier.records import HELD

WeightOf = Callable[[str], int | None]
"""Returns the weight of the rule for an address: 0 for never, at most `MOST_WEIGHT`; None for no
rule."""
MOST_WEIGHT = 99

OFF_TOPIC = ("navigation", "comments", "noise-links", "copyright", "advertisement")
"""The kinds of blocks off the topic of their page, the best first."""

ALL, RELATED = "all", "related"
IN_PLACE, BEHIND, LEFT = range(3)
LINKS: Final = {
    ALL: (IN_PLACE, IN_PLACE, IN_PLACE, BEHIND, BEHIND),
    RELATED: (BEHIND, LEFT, LEFT, LEFT, LEFT),
}
"""What becomes of links in blocks of each of these kinds, by which links are to be followed: they
stand where their score says, behind all others of equal score, or are left waiting."""

_WEIGHT_STEP = 1_000.0  # scores are below it
PRIORITY_STEP = _WEIGHT_STEP * (MOST_WEIGHT + 1)
_BEHIND_EQUALS = 1e-6
_GREAT = -128  # in place of a priority that is no byte
_NEVER = 1  # noted for a link is its weight and this; 0 for no rule


class Ranking:
    """Where links stand.

    Args:
        links: which are to be followed, one of `LINKS`.
        weight_of: returns the weight of the rule for an address; None if there are no rules.
    """

    def __init__(self, links: str, weight_of: WeightOf | None) -> None:
        self._places = (IN_PLACE, *LINKS[links])
        self._weight_of = weight_of
        self._block, self._weight, self._priority = array("b"), array("b"), array("b")
        self._great_priority: dict[int, int] = {}

    @property
    def is_plain(self) -> bool:
        """Whether every link stands where its score says."""
        return not (self._priority or self._block or self._weight_of)

    def note(self, link: int, url: str, priority: int, block: str) -> None:
        """Add a waiting link."""
        self.set_priority(link, priority)
        if block in OFF_TOPIC:
            _put(self._block, link, 1 + OFF_TOPIC.index(block))
        if self._weight_of is not None and (weight := self._weight_of(url)) is not None:
            _put(self._weight, link, weight + _NEVER)

    def improve(self, link: int, block: str) -> bool:
        """Record another block that holds a link; return whether it is a better one."""
        known = self._block[link] if link < len(self._block) else 0
        number = 1 + OFF_TOPIC.index(block) if block in OFF_TOPIC else 0
        if not block or number >= known:
            return False
        self._block[link] = number
        return True

    def priority(self, link: int) -> int:
        """Return the priority of a link."""
        priority = self._priority[link] if link < len(self._priority) else 0
        return self._great_priority[link] if priority == _GREAT else priority

    def set_priority(self, link: int, priority: int) -> None:
        """Give a link another priority."""
        small = priority if abs(priority) < -_GREAT else _GREAT
        if small or link < len(self._priority):
            _put(self._priority, link, small)
        if small == _GREAT:
            self._great_priority[link] = priority

    def rank(self, link: int, score: float) -> float:
        """Return the number that orders a link, `HELD` for none to fetch; a rule outweighs all."""
        weight = self._weight[link] if link < len(self._weight) else 0
        place = self._places[self._block[link]] if link < len(self._block) else IN_PLACE
        if weight == _NEVER or (not weight and (score == HELD or place == LEFT)):
            return HELD
        score = max(score, 0.0)
        if place != IN_PLACE:
            score -= _BEHIND_EQUALS
        if weight:
            score += _WEIGHT_STEP * (weight - _NEVER)
        return score + PRIORITY_STEP * self.priority(link)


def place_by_block(links: str, block: str) -> int:
    """Return what becomes of a link in a block of a kind: `IN_PLACE`, `BEHIND` or `LEFT`."""
    return LINKS[links][OFF_TOPIC.index(block)] if block in OFF_TOPIC else IN_PLACE


def _put(values: "array[int]", link: int, value: int) -> None:
    missing = link + 1 - len(values)
    if missing > 0:
        values.frombytes(bytes(missing))
    values[link] = value
