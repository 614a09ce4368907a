"""Fitting a classifier, leaving pages out, and calibrating it; all by scikit-learn."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.learning.design import Design, Floats, Seen

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
