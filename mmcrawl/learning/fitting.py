"""What a classifier sees of a page; fitting one, leaving pages out, and calibrating it."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.learning.examples import Example
from mmcrawl.scoring.page_features import page_numbers, page_terms
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.topic.loading import load_topic, topic_names
from mmcrawl.topic.page_model import PageModel, dampened

Floats = NDArray[np.float64]

_MOST_TERMS = 20_000
_NUMBERS = 0.1  # what a number one standard deviation off counts, beside a text of length 1
_LEAST_WEIGHT = 0.1  # of the largest, below which a topic is not looked at: each takes time
_LEAST_SITES = 3  # from so many on, a term of one site only is its name or its menu


@dataclass(frozen=True, slots=True)
class Seen:
    """What is learnt from an example: its terms, numbers, and nearness to topics."""

    site: str
    terms: Mapping[str, float]
    numbers: Mapping[str, float]
    topics: Mapping[str, float]


@cache
def _tests() -> dict[str, TopicTest]:
    return {name: TopicTest(load_topic(name), MEDIA_KINDS) for name in topic_names()}


def seen_of(example: Example) -> Seen:
    """Return what a classifier sees of an example."""
    page = example.page
    near = {name: test.judge(page, page.media).score for name, test in _tests().items()}
    return Seen(example.site, page_terms(page), page_numbers(page), near)


class Design:
    """Which terms, numbers and topics make the columns, as some pages tell."""

    def __init__(self, seen: Sequence[Seen]) -> None:
        counts, sites = Counter[str](), defaultdict[str, set[str]](set)
        for one in seen:
            counts.update(one.terms.keys())
            for term in one.terms:
                sites[term].add(one.site)
        several = len({one.site for one in seen}) >= _LEAST_SITES
        terms = [
            term
            for term, count in counts.most_common()
            if count > 1 and (not several or len(sites[term]) > 1)
        ][:_MOST_TERMS]
        self.terms = {term: column for column, term in enumerate(terms)}
        self.idf = np.array([math.log((1 + len(seen)) / (1 + counts[t])) + 1 for t in terms])
        self.numbers = sorted(seen[0].numbers)
        self.topics = sorted(seen[0].topics)
        values = self._values(seen)
        self.mean, self.spread = values.mean(axis=0), values.std(axis=0) + 1e-6

    def _values(self, seen: Sequence[Seen]) -> Floats:
        return np.array([[one.numbers[name] for name in self.numbers] for one in seen])

    def matrix(self, seen: Sequence[Seen]) -> Any:
        """Return the pages as rows of a sparse matrix."""
        from scipy.sparse import csr_matrix, hstack

        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for row, one in enumerate(seen):
            known = {self.terms[t]: dampened(n) for t, n in one.terms.items() if t in self.terms}
            if not known:
                continue
            where = np.array(list(known))
            found = np.array(list(known.values())) * self.idf[where]
            rows += [row] * len(where)
            columns += where.tolist()
            values += (found / np.linalg.norm(found)).tolist()
        text = csr_matrix((values, (rows, columns)), (len(seen), len(self.terms)))
        scaled = np.clip((self._values(seen) - self.mean) / self.spread, -3.0, 3.0) * _NUMBERS
        near = np.array([[one.topics[name] for name in self.topics] for one in seen])
        return hstack([text, csr_matrix(scaled), csr_matrix(near)]).tocsr()

    def model(self, name: str, fitted: Any) -> PageModel:
        """Return the model of what was fitted to the matrix; not calibrated yet."""
        weights = fitted.coef_[0]
        text, numbers, near = np.split(
            weights, [len(self.terms), len(self.terms) + len(self.numbers)]
        )
        least = _LEAST_WEIGHT * np.abs(near).max(initial=0.0)
        return PageModel(
            name=name,
            words={term: (float(self.idf[at]), float(text[at])) for term, at in self.terms.items()},
            numbers={
                number: (float(mean), float(spread), float(weight * _NUMBERS))
                for number, mean, spread, weight in zip(
                    self.numbers, self.mean, self.spread, numbers, strict=True
                )
            },
            topics={
                topic: float(weight)
                for topic, weight in zip(self.topics, near, strict=True)
                if abs(weight) > least
            },
            bias=float(fitted.intercept_[0]),
            slope=1.0,
            offset=0.0,
        )


FLAT = 0.05
"""Slope of the calibration of a classifier that tells nothing apart."""

Labels = NDArray[np.int64]
"""1 for a good page, 0 for a bad one."""

Fold = tuple[Labels, Labels]
"""Rows to train on, and rows left out."""

_FOLDS = 5
_INVERSE_REGULARISATION = 10.0


def fitted(matrix: Any, labels: Labels) -> Any:
    """Return logistic regression fitted to the rows of a matrix."""
    from sklearn.linear_model import LogisticRegression  # takes a second to load

    return LogisticRegression(
        C=_INVERSE_REGULARISATION, class_weight="balanced", solver="liblinear", random_state=0
    ).fit(matrix, labels)


def folds_of(labels: Labels, sites: Sequence[str]) -> tuple[list[Fold], bool]:
    """Return rows to train on and rows left out, several times; and whether whole sites are."""
    of_good = len({site for site, label in zip(sites, labels, strict=True) if label})
    of_bad = len({site for site, label in zip(sites, labels, strict=True) if not label})
    for shuffled in range(3):
        folds = _by_site(labels, sites, min(_FOLDS, of_good, of_bad), shuffled)
        if folds:
            return folds, True
    order = random.Random(0)  # noqa: S311 - no secret
    places = np.zeros(len(labels), dtype=np.int64)
    for label in (0, 1):
        rows = np.flatnonzero(labels == label).tolist()
        order.shuffle(rows)
        places[rows] = np.arange(len(rows)) % _FOLDS
    numbers = sorted(set(places.tolist()))
    return [(np.flatnonzero(places != n), np.flatnonzero(places == n)) for n in numbers], False


def _by_site(labels: Labels, sites: Sequence[str], count: int, seed: int) -> list[Fold]:
    """Return folds of whole sites, none if that leaves nothing good or bad to train on."""
    if count < 2:
        return []
    sizes = Counter(sites)
    names = sorted(sizes)
    random.Random(seed).shuffle(names)  # noqa: S311 - no secret
    totals = np.zeros((count, 2))
    goods = Counter(site for site, label in zip(sites, labels, strict=True) if label)
    whole = np.array([max(1, (labels == 0).sum()), max(1, (labels == 1).sum())])
    place = {}
    for site in sorted(names, key=lambda one: -sizes[one]):
        adding = np.array([sizes[site] - goods[site], goods[site]]) / whole
        fold = int(np.argmin(((totals + adding) ** 2).sum(axis=1) - (totals**2).sum(axis=1)))
        totals[fold] += adding
        place[site] = fold
    places = np.array([place[site] for site in sites])
    folds = [
        (np.flatnonzero(places != n), np.flatnonzero(places == n))
        for n in sorted(set(places.tolist()))
    ]
    usable = len(folds) > 1 and all(len(set(labels[train].tolist())) == 2 for train, _ in folds)
    return folds if usable else []


def left_out(seen: Sequence[Seen], labels: Labels, folds: Sequence[Fold]) -> Floats:
    """Return the weighted sum of each page by a model that was trained without it."""
    sums = np.zeros(len(seen))
    for train, test in folds:
        trained = [seen[row] for row in train]
        design = Design(trained)
        classifier = fitted(design.matrix(trained), labels[train])
        sums[test] = classifier.decision_function(design.matrix([seen[row] for row in test]))
    return sums


def calibrated(sums: Floats, labels: Labels) -> tuple[float, float]:
    """Return slope and offset that turn sums into probabilities (Platt 1999)."""
    from sklearn.linear_model import LogisticRegression

    good, bad = int((labels == 1).sum()), int((labels == 0).sum())
    targets = np.where(labels == 1, (good + 1) / (good + 2), 1 / (bad + 2))
    weights = np.concatenate([targets, 1 - targets])
    twice = np.concatenate([sums, sums]).reshape(-1, 1)
    both = np.array([1] * len(sums) + [0] * len(sums))
    line = LogisticRegression(C=100.0).fit(twice, both, sample_weight=weights)
    return max(FLAT, float(line.coef_[0][0])), float(line.intercept_[0])


def average_precision(labels: Labels, scores: Floats) -> float:
    """Return the mean of the precisions at the places of the good pages."""
    from sklearn.metrics import average_precision_score

    return float(average_precision_score(labels, scores))
