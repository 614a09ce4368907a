"""`shark`: shark-search (Hersovici et al. 1998), a comparator; relevance by degrees.

A link is worth γ · inherited + (1 − γ) · neighbourhood:

* inherited = δ · R of the page it was found on, if that has any relevance; otherwise δ · what that
  page had inherited itself. So good news fades with every click away from it.
* neighbourhood = β · sim(anchor) + (1 − β) · context, the context being 1 beside an anchor on topic
  and otherwise the similarity of the words around it. It is known when a link is found.

How the paper is read:

* R is the topic score of a page, in [0, 1), with media or without.
* The words around a link are its group title and the words of its URL.
* A link found on several pages inherits the most that any offers. A page inherits what it had when
  it was fetched.
* Links that come from no page (seeds) are worth 1 and have inherited nothing: an irrelevant seed
  passes nothing on. The target of a redirect takes the place of the link that led to it.

Whether pages are relevant, yes or no, is not asked for; so taking that back changes nothing.
Missing pages pass nothing on.

Cost: a page costs its links. 13 bytes of RAM a link.
"""

from array import array
from collections.abc import Iterable
from typing import ClassVar

from mmcrawl.frontier.records import LinkScores
from mmcrawl.scoring.base import (
    NO_SCORES,
    CrawledPage,
    LinkSource,
    LinkText,
    Ranges,
    Scorer,
    check_ranges,
)
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _FOUND, _ASKED_FOR, _CRAWLED, _LED_ON, _ASKED_FOR_LED_ON = range(6)
_WAITING = (_FOUND, _ASKED_FOR)
_REDIRECTS = (_LED_ON, _ASKED_FOR_LED_ON)


class Shark(Scorer):
    """Order links by their words and by how relevant the pages on the way to them were.

    Args:
        gamma: weight of inheritance against neighbourhood, in [0, 1].
        beta: weight of the anchor against its context, in [0, 1].
        delta: share of a page's relevance that is left one click on, in [0, 1].
    """

    name: ClassVar[str] = "shark"
    ranges: ClassVar[Ranges] = {"gamma": (0, 1), "beta": (0, 1), "delta": (0, 1)}

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        gamma: float = 0.5,
        beta: float = 0.8,
        delta: float = 0.5,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._source = source
        self._similarity = similarity
        self._gamma, self._beta, self._delta = gamma, beta, delta
        self._state = bytearray()
        self._content = array("f")
        self._inherited = array("d")

    def content(self, text: LinkText) -> float:
        """Return the neighbourhood score of a link."""
        return self._similarity.neighborhood(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Queue links that come from no page."""
        ids = list(links)
        for link in ids:
            self._register(link)
        return self._scores_of(ids)

    def started(self, link: int) -> LinkScores:
        """Change nothing."""
        self._register(link)
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Pass on to a page's links its relevance, or what it has inherited."""
        self._register(page.id)
        self._state[page.id] = _CRAWLED
        offer = self._delta * (page.topic_score or self._inherited[page.id])
        changed = []
        for link in page.links:
            new = self._register(link, page.id)
            if self._state[link] in _WAITING and (new or offer > self._inherited[link]):
                self._inherited[link] = max(offer, self._inherited[link])
                changed.append(link)
        return self._scores_of(changed)

    def failed(self, link: int) -> LinkScores:
        """Record that a link has nothing to pass on, unless it leads to another."""
        self._register(link)
        asked_for = self._state[link] == _ASKED_FOR
        self._state[link] = _ASKED_FOR_LED_ON if asked_for else _LED_ON
        return NO_SCORES

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, link: int, page: int | None = None) -> bool:
        """Make a link known, found on `page` if any; return whether it is new."""
        missing = link + 1 - len(self._state)
        if missing > 0:
            self._state.extend(bytes(missing))
            self._content.extend([0.0] * missing)
            self._inherited.extend([0.0] * missing)
        if self._state[link] != _UNKNOWN:
            return False
        known = self._source.known(link)
        self._content[link] = known.content
        origin = -1 if known.parent is None else known.parent
        before = self._state[origin] if 0 <= origin < len(self._state) else _UNKNOWN
        if before in _REDIRECTS:
            self._inherited[link] = self._inherited[origin]
        found = before == _LED_ON or (origin == page and before == _CRAWLED)
        self._state[link] = _FOUND if found else _ASKED_FOR
        return True

    def _score(self, link: int) -> float:
        if self._state[link] == _ASKED_FOR:
            return 1.0
        return self._gamma * self._inherited[link] + (1 - self._gamma) * self._content[link]

    def _scores_of(self, links: Iterable[int]) -> LinkScores:
        ids = [link for link in links if self._state[link] in _WAITING]
        inherited = [self._inherited[link] for link in ids]
        return LinkScores(ids, [self._score(link) for link in ids], inherited)
