"""`learned`: which links lead to media on topic, judged by what the crawl has found so far.

Two things are predicted of a link before it is fetched: that its page is *relevant*, and how much
it *leads* to. Both begin with evidence (`evidence.py`): how the pages turned out that share with
it a directory, a place on the page, an anchor, the page it was found on and so on. What each kind
of evidence is worth was learnt on other webs. What that gets wrong here is learnt by an online
model over hashed features: words of anchor and address, directories, how well the words fit the
topic. A link is worth

    P(relevant) + lookahead · what it leads to

There is no probing stage and nothing is left to chance: the same crawl goes the same way twice.

It stands on: links scored by an online classifier while crawling (Meusel, Mika & Blanco, CIKM
2014); tag paths as the unit in which links are alike (Gauquier, Manolescu & Senellart 2026); worth
that lies further on (Rennie & McCallum, ICML 1999); siblings and URL patterns as evidence (Yang
2009, 4.1).

Cost: all waiting links are scored anew, with numpy, once for every 2 % of them that were fetched,
and those whose score changed noticeably are passed on. 180 bytes of RAM a link, twice that while
the columns grow, and 20 MB for the tables.
"""

from array import array
from collections.abc import Iterable, Sequence
from math import exp
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
from mmcrawl.scoring.evidence import Evidence, Prior, Rows, shipped_prior
from mmcrawl.scoring.link_features import (
    BITS,
    WIDTH,
    Origin,
    fit_features,
    link_features,
    link_flags,
)
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _WAITING, _TAKEN = 0, 1, 2
_SEED_SCORE = 10.0  # above all that can be promised: seeds come first
_NONE = -2  # no link; -1 is the parent of a seed
_NO_PAGE = 0  # outcome of a link that is no page (yet)
_RELEVANT, _HAS_MEDIA = 12, 6
_NOTICEABLE = 0.01  # change of a score that is passed on

Values = NDArray[np.float64]


class OnlineLogisticModel:
    """Learns how far the log-odds of an outcome differ from what was expected, by features.

    Every weight is a normal variable of its own, with a mean and a variance; an example moves the
    weights of its features, the uncertain ones most, and makes them surer. There is no step size.

    Args:
        bits: features are numbers in [1, 2**bits); 0 stands for no feature.
        variance: of a weight nothing is known of, > 0.

    Notes:
        The update is that of an extended Kalman filter with diagonal covariance for the logistic
        likelihood, close to the Bayesian probit of Graepel et al. (2010) and the diagonal Laplace
        approximation of Chapelle & Li (2011). An example costs time in the number of its features.
    """

    def __init__(self, bits: int, *, variance: float) -> None:
        self._mean = np.zeros(1 << bits, dtype=np.float32)
        self._variance = np.full(1 << bits, variance, dtype=np.float32)
        self._variance[0] = 0.0

    def expect(self, feature: int, weight: float) -> None:
        """Set what the weight of a feature is held to be before anything is learnt."""
        self._mean[feature] = weight

    def log_odds(self, rows: Rows) -> Values:
        """Return what the features add to the log-odds of each row, shape (n, width) → (n,).

        Args:
            rows: features, padded with 0.
        """
        added: Values = self._mean[rows].sum(axis=-1, dtype=np.float64)
        return added

    def learn(self, row: Rows, expected: float, outcome: bool) -> None:
        """Learn from a thing what it was.

        Args:
            row: its features, shape (width,).
            expected: its log-odds by what else is known of it.
            outcome: what it was.
        """
        row = np.unique(row[row > 0])
        variance = self._variance[row].astype(np.float64)
        total = float(variance.sum())
        logit = expected + float(self._mean[row].sum(dtype=np.float64))
        probability = 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))
        information = probability * (1 - probability)
        gain = variance / (1 + total * information)
        self._mean[row] += gain * (outcome - probability)
        self._variance[row] = variance * (1 - gain * information)


class Learned(Scorer):
    """Order links by what the crawl's own finds make probable.

    Args:
        lookahead: weight of what a page leads to, at least 0.
        variance: of a weight of the online model before anything was learnt, above 0; more learns
            faster.
        fit: what a perfect fit of the link's words to the topic adds to the log-odds, until learnt.
        beta: weight of the anchor against the URL words in that fit (4.7), in [0, 1].
    """

    name: ClassVar[str] = "learned"
    ranges: ClassVar[Ranges] = {
        "lookahead": (0, 100),
        "variance": (1e-6, 100),
        "fit": (-100, 100),
        "beta": (0, 1),
    }
    prior: ClassVar[Prior | None] = None
    """Other weights of the evidence than the shipped ones."""

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        lookahead: float = 0.5,
        variance: float = 0.03,
        fit: float = 3.0,
        beta: float = 0.8,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._source, self._similarity = source, similarity
        self._lookahead, self._beta = lookahead, beta
        self._evidence = Evidence()
        self._for_relevance, self._for_yield = self.prior or shipped_prior()
        self._model = OnlineLogisticModel(BITS, variance=variance)
        for number, share in fit_features().items():
            self._model.expect(number, fit * share)
        self._state = np.zeros(1024, dtype=np.uint8)
        self._features = np.zeros((1024, WIDTH), dtype=np.uint32)
        self._flags = np.zeros(1024, dtype=np.uint8)
        self._score = np.zeros(1024, dtype=np.float32)
        self._parent = array("i")
        self._outcome = bytearray()
        self._failure = _NONE
        self._waiting = 0
        self._fetched_since_rescore = 0

    # -- the protocol ---------------------------------------------------------------------------

    def content(self, text: LinkText) -> float:
        """Return how well a link's words fit the topic (4.7)."""
        return self._similarity.shark(text, self._beta)

    def added(self, links: Iterable[int]) -> LinkScores:
        """Take in seeds, redirects and requests of the spider; seeds come first."""
        links = list(links)
        new = [link for link in links if self._register(link)]
        if any(self._parent[link] == self._failure for link in new):
            self._failure = _NONE
        self._learn_failure()
        return self._scores_of([link for link in links if self._state[link] == _WAITING])

    def started(self, link: int) -> LinkScores:
        """Note that a link waits no more."""
        self._learn_failure()
        self._register(link)
        self._waiting -= self._state[link] == _WAITING
        self._state[link] = _TAKEN
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Learn from the page, and score the links first found on it."""
        self._learn_failure()
        self._outcome[page.id] = _outcome(page)
        self._learn(page.id, page.relevant)
        new = [link for link in page.links if self._register(link)]
        return self._rescore(new) if self._is_due() else self._scores_of(new)

    def failed(self, link: int) -> LinkScores:
        """Learn that a link like this leads to nothing.

        Unless it redirects: then its target is the next that is `added`.
        """
        self._learn_failure()
        self._failure = link
        return self._rescore([]) if self._is_due() else NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Learn the contrary of what was learnt from pages that turned out not to be relevant."""
        self._learn_failure()
        for page in links:
            self._outcome[page] -= _RELEVANT
            link, parent = page, self._page_above(page)
            led = None if parent < 0 else self._features[parent]
            while link != parent:
                self._evidence.take_back(self._features[link], led)
                self._model.learn(self._features[link], self._expected(link), False)
                link, led = self._parent[link], None
        return self._rescore([])

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, link: int) -> bool:
        """Make a link known; tell whether it is new."""
        self._reserve(link)
        if self._state[link] != _UNKNOWN:
            return False
        known, origin = self._source.known(link), Origin()
        if known.parent is not None:
            outcome = self._outcome[known.parent]
            origin = Origin(
                self._source.known(known.parent).url,
                str(outcome),
                relevant=outcome > _RELEVANT,
                has_media=outcome > 0 and (outcome - 1) // _HAS_MEDIA % 2 == 1,
            )
        self._state[link] = _WAITING
        self._parent[link] = -1 if known.parent is None else known.parent
        self._features[link] = link_features(known, origin)
        self._flags[link] = link_flags(known, origin)
        self._waiting += 1
        return True

    def _reserve(self, link: int) -> None:
        missing = link + 1 - len(self._outcome)
        if missing > 0:
            self._outcome.extend(bytes(missing))
            self._parent.extend([-1] * missing)
        while link >= len(self._state):
            self._state = _doubled(self._state)
            self._features = _doubled(self._features)
            self._flags = _doubled(self._flags)
            self._score = _doubled(self._score)

    def _is_due(self) -> bool:
        """Count a fetch, and tell whether it is time to score all waiting links anew."""
        self._fetched_since_rescore += 1
        return self._fetched_since_rescore > self._waiting // 50

    def _learn_failure(self) -> None:
        link, self._failure = self._failure, _NONE
        if link != _NONE:
            self._learn(link, False)

    def _learn(self, link: int, relevant: bool) -> None:
        """Learn what a link led to, and so did those that redirected to it."""
        parent = self._page_above(link)
        while link != parent:
            self._model.learn(self._features[link], self._expected(link), relevant)
            self._evidence.fetched(self._features[link], relevant)
            link = self._parent[link]
        if parent >= 0 and relevant:
            self._evidence.led(self._features[parent])

    def _page_above(self, link: int) -> int:
        """Return the page that a link or its redirects stand on, -1 for none."""
        parent = self._parent[link]
        while parent >= 0 and self._outcome[parent] == _NO_PAGE:
            parent = self._parent[parent]
        return parent

    def _expected(self, link: int) -> float:
        """Return the log-odds that a link is relevant, by the evidence."""
        columns = self._evidence.columns(self._features[[link]], self._flags[[link]])
        return float((columns @ self._for_relevance)[0])

    def _scores_of(self, links: Sequence[int]) -> LinkScores:
        ids = np.array(links, dtype=np.int64)
        score, leads = self._evaluate(ids)
        return LinkScores(ids.tolist(), score.tolist(), leads.tolist())

    def _rescore(self, new: Sequence[int]) -> LinkScores:
        """Score all waiting links; return new ones and those whose score changed noticeably."""
        self._fetched_since_rescore = 0
        ids = np.flatnonzero(self._state[: len(self._outcome)] == _WAITING)
        before = self._score[ids]
        score, leads = self._evaluate(ids)
        told = (np.abs(score - before) > _NOTICEABLE) | np.isin(ids, new)
        self._score[ids[~told]] = before[~told]
        return LinkScores(ids[told].tolist(), score[told].tolist(), leads[told].tolist())

    def _evaluate(self, ids: NDArray[np.int64]) -> tuple[Values, Values]:
        """Return score and what they lead to of links, both of shape (len(ids),)."""
        rows, flags = self._features[ids], self._flags[ids]
        columns = self._evidence.columns(rows, flags)
        log_odds = columns @ self._for_relevance + self._model.log_odds(rows)
        leads = np.clip(columns @ self._for_yield, 0, 1).astype(np.float64)
        score = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30))) + self._lookahead * leads
        score += _SEED_SCORE * (flags & 1)
        self._score[ids] = score
        return score, leads


def _outcome(page: CrawledPage) -> int:
    """Return what a page was as a number in [1, 24]: relevant, with media, how much on topic."""
    media = _RELEVANT * page.relevant + _HAS_MEDIA * page.contains_media
    return 1 + media + min(int(page.topic_score * 5), 5)


def _doubled(column: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([column, np.zeros_like(column)])
