"""Trains a page model, and measures it on pages that it has not seen.

Logistic regression (L2) over term weights scaled to unit length, standardised numbers of the page's
shape, and its scores for the topics that ship. Those topics have words in Chinese and English for
one concept, so what was learnt from pages in one language also finds pages in the other.
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.errors import TopicError
from mmcrawl.learning.examples import Example, TellingWord, telling_words
from mmcrawl.scoring.page_features import page_numbers, page_terms
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS
from mmcrawl.text.segmentation import Lexicon
from mmcrawl.topic.loading import load_topic, topic_names
from mmcrawl.topic.page_model import PageModel, dampened

Floats = NDArray[np.float64]

_MOST_TERMS = 20_000
_NUMBERS = 0.1  # what a number one standard deviation off counts, beside a text of length 1
_LEAST_WEIGHT = 0.1  # of the largest, below which a topic is not looked at: each takes time
_LEAST_SITES = 3  # from so many on, a term of one site only is its name or its menu


@dataclass(frozen=True, slots=True)
class Seen:
    """The features of an example: its terms, numbers, and similarity to topics."""

    site: str
    terms: Mapping[str, float]
    numbers: Mapping[str, float]
    topics: Mapping[str, float]


@cache
def _tests() -> dict[str, TopicTest]:
    return {name: TopicTest(load_topic(name), MEDIA_KINDS) for name in topic_names()}


def seen_of(example: Example) -> Seen:
    """Return the features of an example."""
    page = example.page
    near = {name: test.judge(page, page.media).score for name, test in _tests().items()}
    return Seen(example.site, page_terms(page), page_numbers(page), near)


class Design:
    """The terms, numbers and topics of the columns, chosen from some pages."""

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
        """Return the model fitted to the matrix; not calibrated yet."""
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


LEAST = 3
"""Good pages, and bad ones, without which nothing is learnt."""

_ENOUGH = 15  # of each; with fewer, chance decides much
_HARDLY = 0.6  # precision or recall below which the model hardly separates good and bad pages
_SPIES = 0.1  # share of good pages that may look less good than an unlabelled page taken as bad
_MOST_BAD = 5  # unlabelled pages taken as bad, for each good one


@dataclass(frozen=True, slots=True)
class Rate:
    """A share that was measured, and the bounds of its 95 % interval (Wilson 1927)."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, part: int, whole: int) -> Rate:
        if not whole:
            return cls(0.0, 0.0, 1.0)
        z, share = 1.96, part / whole
        middle = share + z * z / (2 * whole)
        reach = z * math.sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
        scale = 1 + z * z / whole
        low, high = (middle - reach) / scale, (middle + reach) / scale
        return cls(share, min(share, max(0.0, low)), max(share, min(1.0, high)))


CAUTIONS = {
    "few_good": "only {n} good pages: chance decides much; give {enough} or more",
    "few_bad": "only {n} bad pages: chance decides much; give {enough} or more",
    "one_site_good": "all good pages are of one site: what is learnt may be the site, and the"
    " figures say nothing about others; add pages of other sites",
    "one_site_bad": "all bad pages are of one site: what is learnt may be the site, and the"
    " figures say nothing about others; add pages of other sites",
    "taken_as_bad": "no bad pages were given: precision is against pages that were taken for bad"
    " because they look least like the good ones, and is too high",
    "alike": "good and bad pages are hardly told apart: add examples, or see whether the two differ"
    " in words at all",
}
"""Why figures may not hold, by the name under which a file and an interface know it."""


@dataclass(frozen=True, slots=True)
class Caution:
    """Why the figures of a lesson may not hold."""

    name: str
    number: int = 0

    def __str__(self) -> str:
        return CAUTIONS[self.name].format(n=self.number, enough=_ENOUGH)


@dataclass(frozen=True)
class Lesson:
    """The result of learning.

    Attributes:
        precision, recall: At a probability of 0.5, on pages left out in training.
        average_precision: Likewise, over all thresholds.
    """

    model: PageModel
    precision: Rate
    recall: Rate
    average_precision: float
    by_site: bool  # whether whole sites were left out, rather than pages
    folds: int  # how often that was done
    good: int
    bad: int
    good_sites: int
    bad_sites: int
    taken_as_bad: bool  # whether the bad pages are unlabelled ones
    words: Sequence[TellingWord]  # that stand on good pages rather than on bad ones
    against: Sequence[TellingWord]
    cautions: tuple[Caution, ...] = ()


def learn(
    name: str,
    good: Sequence[Example],
    bad: Sequence[Example] = (),
    unlabelled: Sequence[Example] = (),
) -> Lesson:
    """Learn a topic.

    Where there are no bad pages, unlabelled ones are taken for bad that look less good than nine in
    ten good ones do, judged by a classifier that has seen neither (the spies of Liu, Lee, Yu & Li
    2002, "Partially supervised classification of text documents").

    Args:
        unlabelled: Pages without a label; used if there are no bad ones.
    """
    taken_as_bad = not bad
    if taken_as_bad:
        known = {example.likeness for example in good}
        unlabelled = [example for example in unlabelled if example.likeness not in known]
    _check(good, bad or unlabelled)
    good_seen = [seen_of(example) for example in good]
    if taken_as_bad:
        bad = _reliably_bad(good_seen, good, unlabelled)
    seen = [*good_seen, *map(seen_of, bad)]
    labels = np.array([1] * len(good) + [0] * len(bad))
    folds, by_site = folds_of(labels, [one.site for one in seen])
    sums = left_out(seen, labels, folds)
    slope, offset = calibrated(sums, labels)
    probabilities = 1 / (1 + np.exp(-(slope * sums + offset)))
    found = probabilities >= 0.5
    right = int((found & (labels == 1)).sum())
    words = telling_words(good, bad)
    against = telling_words(bad, good, 15)
    design = Design(seen)
    model = design.model(name, fitted(design.matrix(seen), labels))
    lesson = Lesson(
        model=model,
        precision=Rate.of(right, int(found.sum())),
        recall=Rate.of(right, len(good)),
        average_precision=average_precision(labels, probabilities),
        by_site=by_site,
        folds=len(folds),
        good=len(good),
        bad=len(bad),
        good_sites=len({example.site for example in good}),
        bad_sites=len({example.site for example in bad}),
        taken_as_bad=taken_as_bad,
        words=words,
        against=against,
    )
    return _completed(lesson, slope, offset, good, () if taken_as_bad else bad)


def _completed(
    lesson: Lesson, slope: float, offset: float, good: Sequence[Example], bad: Sequence[Example]
) -> Lesson:
    cautions = tuple(_cautions(lesson, slope))
    measured: dict[str, Any] = {
        "learnt_at": round(time.time()),
        "precision": round(lesson.precision.value, 3),
        "recall": round(lesson.recall.value, 3),
        "average_precision": round(lesson.average_precision, 3),
        "left_out": "sites" if lesson.by_site else "pages",
        "good": lesson.good,
        "bad": lesson.bad,
        "taken_as_bad": lesson.taken_as_bad,
        "words": [word.word for word in lesson.words[:30]],
        "against": [word.word for word in lesson.against[:15]],
        "cautions": {one.name: one.number for one in cautions},
    }
    model = replace(
        lesson.model,
        slope=slope,
        offset=offset,
        guide=_guide(lesson.words),
        good=tuple(example.name for example in good),
        bad=tuple(example.name for example in bad),
        measured=measured,
    )
    return replace(lesson, model=model, cautions=cautions)


def _guide(words: Sequence[TellingWord]) -> tuple[tuple[str, ...], ...]:
    """Return the words as concepts; none that a lexicon does not take."""
    key, found = Lexicon(()).key, []
    for word in words:
        with suppress(TopicError):
            key(word.word)
            found.append((word.word,))
    return tuple(found)


def _check(good: Sequence[Example], others: Sequence[Example]) -> None:
    both = {example.likeness for example in good} & {example.likeness for example in others}
    if both:
        named = next(e.name for e in good if e.likeness in both)
        raise TopicError(f"{named} is among the good pages and the bad ones; take it from one")
    for pages, what in ((good, "good"), (others, "bad")):
        if len(pages) < LEAST:
            raise TopicError(
                f"{len(pages)} {what} page{'s' if len(pages) != 1 else ''}: too few to learn from;"
                f" give at least {LEAST}, better {_ENOUGH} and more, of several sites"
            )


def _cautions(lesson: Lesson, slope: float) -> Iterator[Caution]:
    for kind, pages, sites in (
        ("good", lesson.good, lesson.good_sites),
        ("bad", lesson.bad, lesson.bad_sites),
    ):
        if pages < _ENOUGH:
            yield Caution(f"few_{kind}", pages)
        if sites == 1:
            yield Caution(f"one_site_{kind}")
    if lesson.taken_as_bad:
        yield Caution("taken_as_bad")
    if slope <= FLAT or min(lesson.precision.value, lesson.recall.value) < _HARDLY:
        yield Caution("alike")


def _reliably_bad(
    good_seen: Sequence[Seen], good: Sequence[Example], unlabelled: Sequence[Example]
) -> list[Example]:
    """Return unlabelled pages that look less good than nearly all good ones."""
    seen = [*good_seen, *map(seen_of, unlabelled)]
    labels = np.array([1] * len(good) + [0] * len(unlabelled))
    folds, _ = folds_of(labels, [one.site for one in seen])
    sums = left_out(seen, labels, folds)
    bound = np.quantile(sums[: len(good)], _SPIES)
    rest = sums[len(good) :]
    order = np.argsort(rest)
    below = [int(row) for row in order if rest[row] < bound]
    rows = below if len(below) >= LEAST else order[: max(LEAST, len(unlabelled) // 2)].tolist()
    random.Random(0).shuffle(rows)  # noqa: S311 - no secret
    return [unlabelled[row] for row in rows[: _MOST_BAD * len(good)]]
