"""`fish`: fish-search (De Bra and Post 1994), a comparator; yes or no is all it asks of a page.

Links are fish, and live as long as they find food. The links of a relevant page get the full depth
and go to the front of the list, before the links of pages that were relevant earlier. The links of
an irrelevant page get the depth of their page less 1 and queue behind. A page of depth 0 that is
irrelevant has no offspring: its links are held, never to be fetched unless they are found on a
page that lets them live. What cannot be fetched (missing, slow) dies without offspring.

How the description is read:

* A link found on several pages has the best of what they offer: the front if any is relevant, in
  the place of the last such page; otherwise the greatest depth.
* Held is what a list from which links are dropped comes to: a crawl ends when only held links are
  left, and a dropped link that turns up on a relevant page lives.
* Links that come from no page (seeds) have the full depth and stand between the links of relevant
  pages and those of others. The target of a redirect counts as found where the link stood that led
  to it.
* The original also has a width, the number of links it takes of a page; all are taken here, as in
  Yang (2009), section 3.4.2.

Scores: 1 + n · 2⁻³², n counting the pages up to the last relevant one that holds the link; 1 for
seeds; 1/2 behind. Cost: a page costs its links, however many pages hold them. A revision costs the
links of the revised pages, and of those that had their depth from them, times the pages that hold
each. RAM: 21 bytes a link, 4 to 8 for each page that holds it, 5 a page.
"""

from array import array
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import ClassVar

from mmcrawl.frontier.records import HELD, LinkScores
from mmcrawl.scoring.base import (
    NO_SCORES,
    CrawledPage,
    LinkSource,
    Ranges,
    Scorer,
    check_ranges,
)
from mmcrawl.scoring.graph.inlinks import InLinks
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _WAITING, _CRAWLED, _FAILED = range(4)
_NO_PAGE = -1
_DEAD = -1
_BEHIND, _FRONT = 0.5, 1.0
_STEP = 2.0**-32


class Fish(Scorer):
    """Order links by whether their page was relevant, as far as `depth` lets them swim.

    Args:
        depth: how many irrelevant pages in a row may be crossed after a relevant one, from 0.
    """

    name: ClassVar[str] = "fish"
    ranges: ClassVar[Ranges] = {"depth": (0, 1_000_000)}

    def __init__(self, source: LinkSource, similarity: LinkSimilarity, *, depth: int = 3) -> None:
        check_ranges(self.ranges, locals())
        self._source = source
        self._depth = depth
        self._state = bytearray()
        self._page = array("i")
        self._left = array("i")
        self._front = array("I")
        self._inlinks = InLinks()
        self._links = array("I")
        self._relevant = bytearray()

    def added(self, links: Iterable[int]) -> LinkScores:
        """Queue links that come from no page."""
        ids = list(links)
        for link in ids:
            if self._register(link):
                self._judge(link)
        return self._scores_of(ids)

    def started(self, link: int) -> LinkScores:
        """Change nothing."""
        self.added([link])
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Let the links of a page live on, if it is relevant or has depth left."""
        self.added([page.id])
        self._state[page.id] = _CRAWLED
        number = self._page[page.id] = len(self._links)
        self._links.append(page.id)
        self._relevant.append(page.relevant)
        new = {link for link in page.links if self._register(link)}
        living = [link for link in page.links if self._state[link] == _WAITING]
        self._inlinks.add(living, number)
        changed = []
        for link in living:
            if link in new:
                self._judge(link)
                changed.append(link)
            elif self._offer(link, number):
                changed.append(link)
        return self._scores_of(changed)

    def failed(self, link: int) -> LinkScores:
        """Let a link die that could not be fetched."""
        self.added([link])
        self._state[link] = _FAILED
        return NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Take back what pages gave their links that turned out not to be relevant.

        Depth is handed on from a page to later ones only, so they are gone through in that order.
        """
        pages = sorted({self._page[link] for link in links if self._state[link] == _CRAWLED})
        for page in pages:
            self._relevant[page] = False
        due, touched = set(pages), set()
        while pages:
            page = heappop(pages)
            for link in self._source.outlinks(self._links[page]):
                if self._state[link] == _WAITING:
                    touched.add(link)
                elif self._state[link] == _CRAWLED and self._page[link] > page:
                    before, child = self._left[link], self._page[link]
                    self._judge(link)
                    if self._left[link] != before and child not in due:
                        due.add(child)
                        heappush(pages, child)
        for link in touched:
            self._judge(link)
        return self._scores_of(sorted(touched))

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, link: int) -> bool:
        """Make a link known; return whether it is new."""
        missing = link + 1 - len(self._state)
        if missing > 0:
            self._state.extend(bytes(missing))
            self._page.extend([_NO_PAGE] * missing)
            self._left.extend([_DEAD] * missing)
            self._front.extend([0] * missing)
            self._inlinks.reserve(link + 1)
        if self._state[link] != _UNKNOWN:
            return False
        self._state[link] = _WAITING
        origin = self._source.known(link).parent
        if origin is not None and self._is_redirect(origin):
            for page in self._inlinks.of(origin).tolist():
                self._inlinks.add((link,), page)
        return True

    def _is_redirect(self, link: int) -> bool:
        """Return whether a link that another came from led to no page."""
        return link < len(self._state) and self._state[link] == _FAILED

    def _judge(self, link: int) -> None:
        """Find out again what a link has, from the pages that hold it."""
        pages = self._inlinks.of(link).tolist()
        origin = self._source.known(link).parent
        while origin is not None and self._is_redirect(origin):
            origin = self._source.known(origin).parent
        on_page = origin is not None and origin < len(self._page) and self._page[origin] in pages
        self._front[link] = 0
        self._left[link] = _DEAD if on_page else self._depth
        for page in pages:
            self._offer(link, page)

    def _offer(self, link: int, page: int) -> bool:
        """Let a page give a link what it has; return whether the link is better off."""
        before = self._left[link], self._front[link]
        if self._relevant[page]:
            self._left[link] = self._depth
            self._front[link] = max(self._front[link], page + 1)
        else:
            self._left[link] = max(self._left[link], self._left[self._links[page]] - 1)
        return (self._left[link], self._front[link]) != before

    def _score(self, link: int) -> float:
        if self._left[link] == _DEAD:
            return HELD
        if not self._front[link] and self._left[link] < self._depth:
            return _BEHIND
        return _FRONT + self._front[link] * _STEP

    def _scores_of(self, links: Iterable[int]) -> LinkScores:
        ids = [link for link in links if self._state[link] == _WAITING]
        return LinkScores(ids, [self._score(link) for link in ids], [0.0] * len(ids))
