"""`shark-improved`: shark-search with live feedback from what was fetched (Yang 2009, 3.12–3.17).

A waiting link is worth S = ∂ · content + (1 − ∂) · structure (4.8), and its structure is what the
pages that hold it have led to so far::

    structure(u) = mean of λ(d) · P(d) over the t known pages d that hold u         (3.15)
    λ(d)         = (n' + θ)/(n + θ)        n crawled children of d, n' of them good (3.16)
    P(d)         = (1 − σ) · R(d) + σ · mean of P over the crawled children of d    (3.17)

Each page that is fetched changes λ and P of every page that holds it, P of the pages that hold
those, and so on; the waiting links of all of them are scored again.

How the paper is read:

* R is the topic score of a page, with media or without. The paper's n' counts children on topic
  (`with_media=false`); those that hold media as well lead to more of them on stored sites.
* As long as no child is crawled, R stands for their mean: P = R, as λ = 1. No news, no doubt.
* A page's link to itself counts nowhere. Children that could not be had are no crawled ones. A page
  that a redirect led to is a child of the pages the redirecting link had been found on by then.
* P is the solution of (3.17) for all crawled pages at once, circles included; it exists and is one,
  since σ < 1.
* "Normalised" structure is divided by the largest of a link that waits or is being fetched.
* Links that come from no page (seeds, and targets of redirects) have structure 1.

How far news travels: a page tells the pages that hold it, and the waiting links on it, of a change
only when it adds up to more than `tolerance` since it last told. So P is at most
σ/(1 − σ) · `tolerance` from (3.17), and a structure, before it is normalised, at most
`tolerance`/(1 − σ) from (3.15); n, n' and t are exact.

Cost: the sum of the parents' λ · P is kept for each link; n, n' and the sum of the children's P for
each page; so a piece of news costs one addition for each place it goes to. The k-th crawled child
moves λ and P of a page by at most 1/k each: a page with D links has O(lg D / `tolerance`) changes
to tell over the whole crawl, not D, and each place a link stands in costs no more additions than
that. The whole is linear up to the logarithm. A page with 10,000 links, or one that 50,000 pages
hold, costs that many additions only on the few occasions when it has something to tell. The largest
structure is looked up when 2 % of the waiting links were dealt with, or at once when one exceeds it
by a quarter; if it has moved by more than 1 %, all waiting links are scored anew: 50 for each page.

RAM: 29 bytes a link, 4 to 8 for each page that holds it, 45 a page.
"""

from array import array
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, ClassVar

import numpy as np

from mmcrawl.frontier.records import LinkScores
from mmcrawl.scoring.base import (
    NO_SCORES,
    CrawledPage,
    LinkSource,
    LinkText,
    Ranges,
    Scorer,
    check_ranges,
    join,
    scores_of,
)
from mmcrawl.scoring.graph.inlinks import InLinks
from mmcrawl.scoring.similarity import LinkSimilarity

_Numbers = np.ndarray[Any, np.dtype[Any]]

_UNKNOWN, _WAITING, _SEED, _CRAWLED, _FAILED = range(5)
_NO_PAGE = -1
_SHARE_BETWEEN_LOOKS = 50  # of the waiting links one part is dealt with between two looks
_OUTGROWN = 1.25  # times the largest structure, above which it is looked for at once
_MOVED = 0.01  # change of the largest structure for which all links are scored again
_NONE = np.empty(0, dtype=np.uint32)


class _Pages:
    """The crawled pages, by number in the order they were crawled.

    Attributes:
        link: the link that led to a page.
        is_good: whether it counts among the n' of the pages that hold it.
        relevance: R, its topic score.
        children: n, how many of its links are crawled pages.
        good: n', how many of those are good.
        total: sum of P over those, as far as they have told of it.
        told: P as its parents were told.
        passed: λ · P as its waiting links were told.
    """

    def __init__(self, sigma: float, theta: float) -> None:
        self._sigma, self._theta = sigma, theta
        self.link = array("I")
        self.is_good = bytearray()
        self.relevance = array("d")
        self.children = array("i")
        self.good = array("i")
        self.total = array("d")
        self.told = array("d")
        self.passed = array("d")

    def add(self, link: int, is_good: bool, relevance: float) -> int:
        """Add a page; return its number."""
        self.link.append(link)
        self.is_good.append(is_good)
        self.relevance.append(relevance)
        for counts in (self.children, self.good):
            counts.append(0)
        for sums in (self.total, self.told, self.passed):
            sums.append(0.0)
        return len(self.link) - 1

    def add_children(self, page: int, children: _Numbers) -> None:
        """Let a new page know of those of its links that were crawled before."""
        self.children[page] = len(children)
        self.good[page] = int(np.frombuffer(self.is_good, dtype=np.uint8)[children].sum())
        self.total[page] = float(np.frombuffer(self.told)[children].sum())

    def add_child(self, pages: _Numbers, child: int) -> None:
        """Update the parents of a new child, once its P is known."""
        np.frombuffer(self.children, dtype=np.int32)[pages] += 1
        np.frombuffer(self.good, dtype=np.int32)[pages] += self.is_good[child]
        np.frombuffer(self.total)[pages] += self.told[child]

    def tell(self, pages: _Numbers, change: float) -> None:
        """Let pages know that P of a child of theirs has changed."""
        np.frombuffer(self.total)[pages] += change

    def potential(self, pages: _Numbers) -> _Numbers:
        """P of some pages (3.17)."""
        relevance = np.frombuffer(self.relevance)[pages]
        children = np.frombuffer(self.children, dtype=np.int32)[pages]
        total = np.frombuffer(self.total)[pages]
        mean = np.where(children > 0, total / np.maximum(children, 1), relevance)
        return np.asarray((1 - self._sigma) * relevance + self._sigma * mean)

    def factor(self, pages: _Numbers) -> _Numbers:
        """λ of some pages (3.16)."""
        children = np.frombuffer(self.children, dtype=np.int32)[pages]
        good = np.frombuffer(self.good, dtype=np.int32)[pages]
        return np.asarray((good + self._theta) / (children + self._theta))


class SharkImproved(Scorer):
    """Order links by their words and by what the pages that hold them have led to so far.

    Args:
        beta: weight of the anchor against the URL words in (3.12), in [0, 1].
        sigma: weight of a page's children against its own relevance in (3.17), in [0, 1).
        theta: how slowly λ trusts the first children (3.16), greater than 0.
        alpha: weight of content against structure in (4.8), in [0, 1]; the paper's ∂.
        with_media: n' in (3.16) counts children on topic that hold media; false, as printed, counts
            all on topic.
        tolerance: least change of P or λ · P, both in [0, 1], to pass on; greater than 0.

    Raises:
        MmcrawlError: `sigma`, `theta` or `tolerance` is out of range.
    """

    name: ClassVar[str] = "shark-improved"
    ranges: ClassVar[Ranges] = {
        "beta": (0, 1),
        "sigma": (0, 0.999),
        "theta": (1e-6, inf),
        "alpha": (0, 1),
        "tolerance": (1e-12, 1),
    }

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        beta: float = 0.8,
        sigma: float = 0.6,
        theta: float = 0.5,
        alpha: float = 0.4,
        with_media: bool = True,
        tolerance: float = 0.005,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._source = source
        self._similarity = similarity
        self._beta, self._alpha, self._tolerance = beta, alpha, tolerance
        self._with_media = with_media
        self._state = bytearray()
        self._content = array("f")
        self._page = array("i")
        self._sum = array("d")
        self._inlinks = InLinks()
        self._pages = _Pages(sigma, theta)
        self._open = array("I")
        self._waiting = 0
        self._settled = 0
        self._largest = 0.0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return the content score of a link (3.12)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Add seeds, redirects and requests of the spider."""
        ids = list(links)
        for link in ids:
            self._register(link)
        return self._scores_of(np.array(ids, dtype=np.uint32))

    def started(self, link: int) -> LinkScores:
        """Change nothing: what counts is what comes of it."""
        self._register(link)
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Add a page, and update its parents and their parents."""
        for link in (page.id, *page.links):
            self._register(link)
        self._settle(page.id, _CRAWLED)
        self._inherit_parents(page.id)
        is_good = page.relevant if self._with_media else page.on_topic
        number = self._pages.add(page.id, is_good, page.topic_score)
        self._page[page.id] = number
        own = self._take_in(number, _without(page.links, page.id))
        parents = self._inlinks.of(page.id)
        self._pages.add_child(parents, number)
        return self._answer([own, *self._spread(parents)])

    def failed(self, link: int) -> LinkScores:
        """Record that a link leads to no page."""
        self._register(link)
        self._settle(link, _FAILED)
        return self._answer([])

    def repeated(self, link: int) -> LinkScores:
        """Record that a link leads to no page of its own."""
        return self.failed(link)

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Lower n' of the pages that hold pages which turned out to hold no media of their own."""
        if not self._with_media:
            return NO_SCORES
        touched = []
        for link in links:
            page = self._page[link]
            if page == _NO_PAGE or not self._pages.is_good[page]:
                continue
            self._pages.is_good[page] = False
            parents = self._inlinks.of(link)
            np.frombuffer(self._pages.good, dtype=np.int32)[parents] -= 1
            touched.append(parents)
            self._settled += 1
        return self._answer(self._spread(_union(touched)))

    def parts(self, link: int) -> Mapping[str, float]:
        """Return the terms of S (4.8) of a waiting link."""
        [structure] = self._scores_of(np.array([link], dtype=np.uint32)).structure
        content = self._alpha * self._content[link]
        return {"content": content, "structure": (1 - self._alpha) * structure}

    # -- taking in links ------------------------------------------------------------------------

    def _register(self, link: int) -> None:
        missing = link + 1 - len(self._state)
        if missing > 0:
            self._state.extend(bytes(missing))
            self._content.extend([0.0] * missing)
            self._page.extend([_NO_PAGE] * missing)
            self._sum.extend([0.0] * missing)
            self._inlinks.reserve(link + 1)
        if self._state[link] == _UNKNOWN:
            known = self._source.known(link)
            self._state[link] = _SEED if known.parent is None else _WAITING
            self._content[link] = known.content

    def _settle(self, link: int, state: int) -> None:
        """Record the outcome of a waiting link."""
        if self._state[link] == _WAITING and self._inlinks.count(link):
            self._waiting -= 1
        self._state[link] = state
        self._settled += 1

    def _inherit_parents(self, link: int) -> None:
        """Make a page that a redirect led to a child of the pages that hold the redirect."""
        origin = self._source.known(link).parent
        if origin is None or self._state_of(origin) != _FAILED:
            return
        for page in np.setdiff1d(self._inlinks.of(origin), self._inlinks.of(link)).tolist():
            self._inlinks.add((link,), page)

    def _state_of(self, link: int) -> int:
        return self._state[link] if link < len(self._state) else _UNKNOWN

    def _take_in(self, number: int, links: _Numbers) -> _Numbers:
        """Connect a new page with its links; return those that wait."""
        states = np.frombuffer(self._state, dtype=np.uint8)[links]
        waiting: _Numbers = links[states == _WAITING]
        crawled = np.frombuffer(self._page, dtype=np.int32)[links[states == _CRAWLED]]
        pages, itself = self._pages, np.array([number], dtype=np.uint32)
        pages.add_children(number, crawled)
        potential = pages.potential(itself)
        pages.told[number] = float(potential[0])
        pages.passed[number] = float((potential * pages.factor(itself))[0])
        first = waiting[self._inlinks.counts(waiting) == 0]
        self._open.extend(first.tolist())
        self._waiting += len(first)
        self._inlinks.add(links[states != _FAILED].tolist(), number)
        np.frombuffer(self._sum)[waiting] += pages.passed[number]
        return waiting

    # -- news -----------------------------------------------------------------------------------

    def _spread(self, pages: _Numbers) -> list[_Numbers]:
        """Propagate changes at `pages`; return the waiting links that are affected."""
        reached = []
        while len(pages):
            reached.append(pages)
            potential = self._pages.potential(pages)
            change = potential - np.frombuffer(self._pages.told)[pages]
            far = np.abs(change) > self._tolerance
            np.frombuffer(self._pages.told)[pages[far]] = potential[far]
            informed = []
            for page, moved in zip(pages[far].tolist(), change[far].tolist(), strict=True):
                parents = self._inlinks.of(self._pages.link[page])
                self._pages.tell(parents, moved)
                informed.append(parents)
            pages = _union(informed)
        return self._pass_on(_union(reached))

    def _pass_on(self, pages: _Numbers) -> list[_Numbers]:
        """Update the waiting links of those of `pages` whose λ · P has changed; return them."""
        if not len(pages):
            return []
        passed = self._pages.factor(pages) * self._pages.potential(pages)
        change = passed - np.frombuffer(self._pages.passed)[pages]
        far = np.abs(change) > self._tolerance
        np.frombuffer(self._pages.passed)[pages[far]] = passed[far]
        informed = []
        for page, moved in zip(pages[far].tolist(), change[far].tolist(), strict=True):
            link = self._pages.link[page]
            links = _without(self._source.outlinks(link), link)
            links = links[np.frombuffer(self._state, dtype=np.uint8)[links] == _WAITING]
            np.frombuffer(self._sum)[links] += moved
            informed.append(links)
        return informed

    # -- scores ---------------------------------------------------------------------------------

    def _answer(self, touched: list[_Numbers]) -> LinkScores:
        """Score the links that learnt something, or all if the largest structure has moved."""
        links = _union(touched)
        structure = self._structure(links)
        outgrown = len(links) and structure.max() > _OUTGROWN * self._largest
        if outgrown or self._settled * _SHARE_BETWEEN_LOOKS >= self._waiting:
            self._settled = 0
            opened = np.frombuffer(self._open, dtype=np.uint32)
            opened = opened[np.frombuffer(self._state, dtype=np.uint8)[opened] == _WAITING]
            self._open = array("I", opened.tobytes())
            everywhere = self._structure(opened)
            largest = float(everywhere.max()) if len(opened) else self._largest
            if abs(largest - self._largest) > _MOVED * self._largest:
                self._largest = largest
                return self._scores(opened, everywhere)
        return self._scores(links, structure)

    def _structure(self, links: _Numbers) -> _Numbers:
        """(3.15) for links on pages."""
        return np.asarray(np.frombuffer(self._sum)[links] / self._inlinks.counts(links))

    def _scores(self, links: _Numbers, structure: _Numbers) -> LinkScores:
        """(4.8) for waiting links and their structures."""
        share = np.minimum(structure / self._largest, 1.0) if self._largest else structure
        content = np.frombuffer(self._content, dtype=np.float32)[links].astype(np.float64)
        score = self._alpha * content + (1 - self._alpha) * share
        return scores_of(links, score, share)

    def _scores_of(self, links: _Numbers) -> LinkScores:
        """Score links of any state that were not scored yet, or may not have been."""
        states = np.frombuffer(self._state, dtype=np.uint8)[links]
        counts = self._inlinks.counts(links)
        found = links[(states == _WAITING) & (counts > 0)]
        others = links[(states == _SEED) | ((states == _WAITING) & (counts == 0))]
        ids = others.tolist()
        scores = [self._alpha * self._content[link] + 1 - self._alpha for link in ids]
        asked_for = LinkScores(ids, scores, [1.0] * len(ids))
        return join([self._scores(found, self._structure(found)), asked_for])


def _without(links: Iterable[int], link: int) -> _Numbers:
    others: _Numbers = np.array(links, dtype=np.uint32)
    return np.asarray(others[others != link])


def _union(parts: list[_Numbers]) -> _Numbers:
    return np.unique(np.concatenate(parts)) if parts else _NONE
