"""`learned`: which links lead to media on topic, judged by what the crawl has found so far.

Of each link is predicted that its page is *relevant*, and how much it *leads* to (`prospects.py`).
It is worth

    P(relevant) + lookahead · what it leads to + novelty · 5 / (5 + r) / √(1 + n)

with r the relevant pages found so far and n the pages fetched from its directory: before anything
was found, what was tried least is tried. There is no probing stage and nothing is left to chance:
the same crawl goes the same way twice.

It stands on: links scored by an online classifier while crawling (Meusel, Mika & Blanco, CIKM
2014); tag paths as the unit in which links are alike (Gauquier, Manolescu & Senellart 2026); worth
that lies further on (Rennie & McCallum, ICML 1999); siblings and URL patterns as evidence (Yang
2009, 4.1).

Cost: all waiting links are scored anew, with numpy, once for every 2 % of them that were fetched,
and those whose score changed noticeably are passed on. 180 bytes of RAM a link, twice that while
the columns grow, and 20 MB for the tables.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

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
)
from mmcrawl.scoring.evidence import Prior
from mmcrawl.scoring.prospects import VARIANCE, Ids, Prospects, Values, doubled
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _WAITING, _TAKEN = 0, 1, 2
_SEED_SCORE = 10.0  # above all that can be promised: seeds come first
_NOTICEABLE = 0.01  # change of a score that is passed on


class Learned(Scorer):
    """Order links by what the crawl's own finds make probable.

    Args:
        lookahead: weight of what a page leads to, at least 0.
        novelty: what a link is worth more in a directory of which nothing was fetched, as long as
            nothing was found, at least 0.
        variance: of a weight of the online model before anything was learnt, above 0; more learns
            faster.
        fit: what a perfect fit of the link's words to the topic adds to the log-odds, until learnt.
        beta: weight of the anchor against the URL words in that fit (4.7), in [0, 1].
    """

    name: ClassVar[str] = "learned"
    ranges: ClassVar[Ranges] = {
        "lookahead": (0, 100),
        "novelty": (0, 100),
        "variance": (1e-6, 100),
        "fit": (-100, 100),
        "beta": (0, 1),
    }
    prior: ClassVar[Prior | None] = None
    """Other weights of the evidence than those shipped, for who trains them."""

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        lookahead: float = 1.0,
        novelty: float = 0.5,
        variance: float = VARIANCE,
        fit: float = 3.0,
        beta: float = 0.8,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._similarity = similarity
        self._lookahead, self._novelty, self._beta = lookahead, novelty, beta
        self._prospects = Prospects(source, fit=fit, variance=variance, prior=self.prior)
        self._state = np.zeros(1024, dtype=np.uint8)
        self._score = np.zeros(1024, dtype=np.float32)
        self._waiting = 0
        self._fetched_since_rescore = 0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return how well a link's words fit the topic (4.7)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Take in seeds, redirects and requests of the spider; seeds come first."""
        links = list(links)
        for link in links:
            self._register(link)
        self._prospects.learn_failure()
        return self._scores_of([link for link in links if self._state[link] == _WAITING])

    def started(self, link: int) -> LinkScores:
        """Note that a link waits no more."""
        self._prospects.learn_failure()
        self._register(link)
        self._waiting -= self._state[link] == _WAITING
        self._state[link] = _TAKEN
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Learn from the page, and score the links first found on it."""
        self._prospects.crawled(page)
        new = [link for link in page.links if self._register(link)]
        self._prospects.linked(page.links)
        return self._rescore(new) if self._is_due() else self._scores_of(new)

    def failed(self, link: int) -> LinkScores:
        """Learn that a link like this leads to nothing.

        Unless it redirects: then its target is the next that is `added`.
        """
        self._prospects.failed(link)
        return self._rescore([]) if self._is_due() else NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Learn the contrary of what was learnt from pages that turned out not to be relevant."""
        for link in links:
            self._prospects.revised(link)
        return self._rescore([])

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, link: int) -> bool:
        """Make a link known; tell whether it is new."""
        while link >= len(self._state):
            self._state, self._score = doubled(self._state), doubled(self._score)
        if self._state[link] != _UNKNOWN:
            return False
        self._prospects.register(link)
        self._state[link] = _WAITING
        self._waiting += 1
        return True

    def _is_due(self) -> bool:
        """Count a fetch, and tell whether it is time to score all waiting links anew."""
        self._fetched_since_rescore += 1
        return self._fetched_since_rescore > self._waiting // 50

    def _scores_of(self, links: Sequence[int]) -> LinkScores:
        ids = np.array(links, dtype=np.int64)
        score, leads = self._evaluate(ids)
        return LinkScores(ids.tolist(), score.tolist(), leads.tolist())

    def _rescore(self, new: Sequence[int]) -> LinkScores:
        """Score all waiting links; return new ones and those whose score changed noticeably."""
        self._fetched_since_rescore = 0
        ids = np.flatnonzero(self._state == _WAITING)
        before = self._score[ids]
        score, leads = self._evaluate(ids)
        told = (np.abs(score - before) > _NOTICEABLE) | np.isin(ids, new)
        self._score[ids[~told]] = before[~told]
        return LinkScores(ids[told].tolist(), score[told].tolist(), leads[told].tolist())

    def _evaluate(self, ids: Ids) -> tuple[Values, Values]:
        """Return score and what they lead to of links, both of shape (len(ids),)."""
        relevant, leads = self._prospects.of(ids)
        score = relevant + self._lookahead * leads + _SEED_SCORE * self._prospects.are_seeds(ids)
        score += self._novelty * self._prospects.novelty(ids)
        self._score[ids] = score
        return score, leads
