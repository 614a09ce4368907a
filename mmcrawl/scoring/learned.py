"""`learned`: an online model of which links lead to media on topic, trained by the crawl itself.

Two things are predicted of a link from what can be known before it is fetched (`link_features`:
host, directories, the shape of its address, the page and list it stands in and what that page was,
words of anchor and address, how well they fit the topic): that its page is *relevant*, and that the
pages first found on it are, that it *leads* on. Either is a logistic model over hashed features
that learns from every fetch (`OnlineLogisticModel`). A link is worth

    P(relevant) + lookahead · P(a page found there is relevant) + novelty / √(1 + n)

with n the pages fetched from its directory so far, and both probabilities at the optimistic end of
what the model holds possible. So where nothing promises much, what was tried least is tried, and
tunnels are crossed; where something was found, that decides. There is no probing stage and nothing
is left to chance: the same crawl goes the same way twice. Nothing is known beforehand but that
words of the topic in anchor and address are a good sign.

It stands on: links scored by an online classifier while crawling (Meusel, Mika & Blanco, CIKM
2014, who choose hosts by a bandit); optimism in the face of uncertainty, by counts (Auer,
Cesa-Bianchi & Fischer 2002) and for linear models (Li et al., WWW 2010); worth that lies further on
(Rennie & McCallum, ICML 1999); siblings and URL patterns as evidence (Yang 2009, 4.1), which are
features here.

Cost: a fetch updates both models and scores the links first found; all waiting links are scored
anew, with numpy, once for every 2 % of them that were fetched, and those whose score changed
noticeably are passed on. 150 bytes of RAM a link, twice that while the columns grow, and 16 MB for
the models.
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
from mmcrawl.scoring.link_features import BITS, WIDTH, directory_of, fit_features, link_features
from mmcrawl.scoring.similarity import LinkSimilarity

_UNKNOWN, _WAITING, _TAKEN = 0, 1, 2
_SEED_SCORE = 10.0  # above all that a model can promise: seeds come first
_NONE = -2  # no link; -1 is the parent of a seed
_NO_PAGE = 0  # outcome of a link that is no page (yet)
_NOTICEABLE = 0.01  # change of a score that is passed on

Rows = NDArray[np.uint32]
Values = NDArray[np.float64]


class OnlineLogisticModel:
    """Predicts a probability from the features of a thing, and tells how sure it is.

    Every weight is a normal variable of its own, with a mean and a variance; an example moves the
    weights of its features, the uncertain ones most, and makes them surer. There is no step size.

    Args:
        bits: features are numbers in [1, 2**bits); 0 stands for no feature.
        bias: log-odds of a thing nothing is known of.
        variance: of a weight nothing is known of, > 0.

    Notes:
        The update is that of an extended Kalman filter with diagonal covariance for the logistic
        likelihood, close to the Bayesian probit of Graepel et al. (2010) and the diagonal Laplace
        approximation of Chapelle & Li (2011). An example costs time in the number of its features.
    """

    def __init__(self, bits: int, *, bias: float, variance: float) -> None:
        self._bias = bias
        self._mean = np.zeros(1 << bits, dtype=np.float32)
        self._variance = np.full(1 << bits, variance, dtype=np.float32)
        self._variance[0] = 0.0

    def expect(self, feature: int, weight: float) -> None:
        """Set what the weight of a feature is held to be before anything is learnt."""
        self._mean[feature] = weight

    def predict(self, rows: Rows, *, optimism: float = 0.0) -> Values:
        """Return the probability for each row of features, shape (n, width) → (n,).

        Args:
            rows: features, padded with 0.
            optimism: how many standard deviations are added to the log-odds; above 0 the unknown
                looks better than it is expected to be.
        """
        logit = self._bias + self._mean[rows].sum(axis=-1, dtype=np.float64)
        if optimism:
            logit += optimism * np.sqrt(self._variance[rows].sum(axis=-1, dtype=np.float64))
        probability: Values = 1 / (1 + np.exp(-logit))
        return probability

    def learn(self, row: Rows, outcome: bool) -> None:
        """Learn from a thing with the features `row`, shape (width,), and what it was."""
        row = np.unique(row[row > 0])
        variance = self._variance[row].astype(np.float64)
        total = float(variance.sum())
        logit = self._bias + float(self._mean[row].sum(dtype=np.float64))
        expected = 1 / (1 + exp(-max(min(logit, 30.0), -30.0)))
        information = expected * (1 - expected)
        gain = variance / (1 + total * information)
        self._mean[row] += gain * (outcome - expected)
        self._variance[row] = variance * (1 - gain * information)


class Learned(Scorer):
    """Order links by what an online model expects of them.

    Args:
        explore: optimism, in standard deviations of the model's log-odds, at least 0.
        lookahead: weight of what a page leads to, at least 0.
        novelty: what a link is worth more in a directory of which nothing was fetched, at least 0.
        variance: of a weight before anything was learnt, above 0; more learns faster.
        bias: log-odds of a link nothing is known of.
        fit: what a perfect fit of the link's words to the topic adds to the log-odds, until learnt.
        beta: weight of the anchor against the URL words in that fit (4.7), in [0, 1].
    """

    name: ClassVar[str] = "learned"
    ranges: ClassVar[Ranges] = {
        "explore": (0, 100),
        "lookahead": (0, 100),
        "novelty": (0, 100),
        "variance": (1e-6, 100),
        "bias": (-100, 100),
        "fit": (-100, 100),
        "beta": (0, 1),
    }

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        explore: float = 0.5,
        lookahead: float = 0.5,
        novelty: float = 0.5,
        variance: float = 0.3,
        bias: float = -2.0,
        fit: float = 3.0,
        beta: float = 0.8,
    ) -> None:
        check_ranges(self.ranges, locals())
        self._source, self._similarity = source, similarity
        self._explore, self._lookahead, self._novelty = explore, lookahead, novelty
        self._beta = beta
        self._relevant = OnlineLogisticModel(BITS, bias=bias, variance=variance)
        for number, share in fit_features().items():
            self._relevant.expect(number, fit * share)
        self._leads = OnlineLogisticModel(BITS, bias=bias, variance=variance)
        self._state = np.zeros(1024, dtype=np.uint8)
        self._features = np.zeros((1024, WIDTH), dtype=np.uint32)
        self._score = np.zeros(1024, dtype=np.float32)
        self._directory = np.zeros(1024, dtype=np.int32)
        self._directories: dict[str, int] = {}
        self._fetched = array("i")
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
        self._fetched[self._directory[link]] += 1
        self._state[link] = _TAKEN
        return NO_SCORES

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Learn from the page, and score the links first found on it."""
        self._learn_failure()
        self._outcome[page.id] = _outcome(page)
        self._learn(page.id, page.relevant)
        new = [link for link in page.links if self._register(link)]
        if not page.links:
            self._leads.learn(self._features[page.id], False)
        return self._rescore(new) if self._is_due() else self._scores_of(new)

    def failed(self, link: int) -> LinkScores:
        """Learn that a link like this, and the page it stood on, lead to nothing.

        Unless it redirects: then its target is the next that is `added`.
        """
        self._learn_failure()
        self._failure = link
        return self._rescore([]) if self._is_due() else NO_SCORES

    def revised(self, links: Iterable[int]) -> LinkScores:
        """Learn the contrary of what was learnt from pages that turned out not to be relevant."""
        self._learn_failure()
        for link in links:
            self._learn(link, False)
        return self._rescore([])

    # -- inside ---------------------------------------------------------------------------------

    def _register(self, link: int) -> bool:
        """Make a link known; tell whether it is new."""
        self._reserve(link)
        if self._state[link] != _UNKNOWN:
            return False
        known = self._source.known(link)
        found_on = "" if known.parent is None else str(self._outcome[known.parent])
        self._state[link] = _WAITING
        self._parent[link] = -1 if known.parent is None else known.parent
        self._features[link] = link_features(known, found_on)
        self._directory[link] = self._number(directory_of(known.url))
        self._waiting += 1
        return True

    def _number(self, directory: str) -> int:
        number = self._directories.setdefault(directory, len(self._fetched))
        if number == len(self._fetched):
            self._fetched.append(0)
        return number

    def _reserve(self, link: int) -> None:
        missing = link + 1 - len(self._outcome)
        if missing > 0:
            self._outcome.extend(bytes(missing))
            self._parent.extend([-1] * missing)
        while link >= len(self._state):
            self._state = _doubled(self._state)
            self._features = _doubled(self._features)
            self._score = _doubled(self._score)
            self._directory = _doubled(self._directory)

    def _is_due(self) -> bool:
        """Count a fetch, and tell whether it is time to score all waiting links anew."""
        self._fetched_since_rescore += 1
        return self._fetched_since_rescore > self._waiting // 50

    def _learn_failure(self) -> None:
        link, self._failure = self._failure, _NONE
        if link != _NONE:
            self._learn(link, False)

    def _learn(self, link: int, relevant: bool) -> None:
        self._relevant.learn(self._features[link], relevant)
        parent = self._parent[link]
        while parent >= 0 and self._outcome[parent] == _NO_PAGE:
            self._relevant.learn(self._features[parent], relevant)
            parent = self._parent[parent]
        if parent >= 0:
            self._leads.learn(self._features[parent], relevant)

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

    def _evaluate(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return score and P(leads on) of links, both of shape (len(ids),)."""
        rows = self._features[ids]
        relevant = self._relevant.predict(rows, optimism=self._explore)
        leads = self._leads.predict(rows, optimism=self._explore)
        score = relevant + self._lookahead * leads
        fetched = np.frombuffer(self._fetched, dtype=np.int32)[self._directory[ids]]
        score += self._novelty / np.sqrt(1 + fetched)
        parents = np.frombuffer(self._parent, dtype=np.int32)[ids]
        score += _SEED_SCORE * (parents < 0)
        self._score[ids] = score
        return score, leads


def _outcome(page: CrawledPage) -> int:
    """Return what a page was as a number in [1, 24]: relevant, with media, how much on topic."""
    return 1 + 12 * page.relevant + 6 * page.contains_media + min(int(page.topic_score * 5), 5)


def _doubled(column: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([column, np.zeros_like(column)])
