"""`learned`: which links lead to media on topic, judged by what the crawl has found so far.

Of each link is predicted that its page is *relevant*, and how much it *leads* to; that and how new
it is make up what it is worth (`prospects.py`). There is no probing stage and nothing is left to
chance: the same crawl goes the same way twice.

It stands on: links scored by an online classifier while crawling (Meusel, Mika & Blanco, CIKM
2014); tag paths as the unit in which links are alike (Gauquier, Manolescu & Senellart 2026); worth
that lies further on (Rennie & McCallum, ICML 1999); siblings and URL patterns as evidence (Yang
2009, 4.1).

Cost: all waiting links are scored again, with numpy, once for every 2 % of them that were fetched,
and those whose score changed noticeably are passed on. 11 bytes of RAM a link, 160 of a temporary
file (`prospects.py`), and 50 MB for the tables and the features of the first links.
"""

from collections.abc import Iterable, Mapping, Sequence
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
    join,
    scores_of,
)
from mmcrawl.scoring.link_model import LinkModel
from mmcrawl.scoring.prospects import FIT, NOVELTY, VARIANCE, Prospects, grown
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _WAITING, _TAKEN = 0, 1, 2
_NOTICEABLE = 0.01  # change of a score that is passed on
_RANGE = 1 << 18  # links that are gone through at once


class Learned(Scorer):
    """Order links by what the crawl's own finds make probable.

    Args:
        lookahead: weight of what a page leads to, at least 0.
        novelty: bonus of a link in a directory of which nothing was fetched, until something is
            found, at least 0.
        variance: prior variance of the weights of the online model, above 0; more learns faster.
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

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        lookahead: float = 1.0,
        novelty: float = NOVELTY,
        variance: float = VARIANCE,
        fit: float = FIT,
        beta: float = 0.8,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._similarity = similarity
        self._lookahead, self._novelty, self._beta = lookahead, novelty, beta
        self._prospects = Prospects(source, fit=fit, variance=variance, kinds=similarity.kinds)
        self._state = np.zeros(1024, dtype=np.uint8)
        self._score = np.zeros(1024, dtype=np.float32)
        self._waiting = 0
        self._fetched_since_rescore = 0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return the similarity of a link's words to the topic (4.7)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Add seeds, redirects and requests of the spider; seeds come first."""
        links = list(links)
        new = self._register(links)
        self._prospects.learn_failure()
        if self.silent:
            return NO_SCORES
        waiting = [link for link in links if self._state[link] == _WAITING]
        known = np.setdiff1d(waiting, new).astype(np.int64)
        passed_on = self._score[known]
        scores = self._scores_of(waiting)
        self._score[known] = passed_on  # a crawl that continues keeps them in place of these
        return scores

    def started(self, link: int) -> LinkScores:
        """Record that a link waits no more."""
        self._prospects.learn_failure()
        self._register([link])
        self._waiting -= self._state[link] == _WAITING
        self._state[link] = _TAKEN
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Learn from the page, and score the links first found on it."""
        self._prospects.crawled(page)
        new = self._register(page.links)
        self._prospects.linked(page.links)
        if self.silent:
            return NO_SCORES
        return self._rescore(new) if self._is_due() else self._scores_of(new)

    def failed(self, link: int) -> LinkScores:
        """Learn that a link like this leads to nothing.

        Unless it redirects: then its target is the next that is `added`.
        """
        self._prospects.failed(link)
        return self._rescore([]) if not self.silent and self._is_due() else NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Learn the contrary of what was learnt from pages that turned out not to be relevant."""
        for link in links:
            self._prospects.revised(link)
        return self._rescore([])

    def parts(self, link: int) -> Mapping[str, float]:
        """Return the worth of a waiting link, term by term."""
        return self._prospects.parts(link, lookahead=self._lookahead, novelty=self._novelty)

    @property
    def link_model(self) -> LinkModel:
        """What was learnt apart from single links."""
        return self._prospects.link_model

    def load_model(self, link_model: LinkModel) -> None:
        """Learn into the model of another part of the crawl."""
        self._prospects.load_model(link_model)

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, links: Sequence[int]) -> list[int]:
        """Make links known; return those that are new."""
        ids = np.array(links, dtype=np.int64)
        while len(ids) and ids.max() >= len(self._state):
            self._state, self._score = grown(self._state), grown(self._score)
        new = list(dict.fromkeys(ids[self._state[ids] == _UNKNOWN].tolist()))
        for link in new:
            self._prospects.register(link)
        self._state[new] = _WAITING
        self._waiting += len(new)
        return new

    def _is_due(self) -> bool:
        """Count a fetch, and tell whether it is time to score all waiting links again."""
        self._fetched_since_rescore += 1
        return self._fetched_since_rescore > self._waiting // 50

    def _scores_of(self, links: Sequence[int]) -> LinkScores:
        ids = np.array(links, dtype=np.int64)
        score, leads = self._prospects.worth(ids, lookahead=self._lookahead, novelty=self._novelty)
        self._score[ids] = score
        return scores_of(ids, score, leads)

    def _rescore(self, new: Sequence[int]) -> LinkScores:
        """Score all waiting links; return new ones and those whose score changed noticeably."""
        self._fetched_since_rescore = 0
        ranges = range(0, len(self._state), _RANGE)
        return join([self._rescore_some(first, new) for first in ranges])

    def _rescore_some(self, first: int, new: Sequence[int]) -> LinkScores:
        """Do so with the waiting links of a range of numbers."""
        ids = first + np.flatnonzero(self._state[first : first + _RANGE] == _WAITING)
        score, leads = self._prospects.worth(ids, lookahead=self._lookahead, novelty=self._novelty)
        told = (np.abs(score - self._score[ids]) > _NOTICEABLE) | np.isin(ids, new)
        self._score[ids[told]] = score[told]
        return scores_of(ids[told], score[told], leads[told])
