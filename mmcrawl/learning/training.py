"""Training a page model, and measuring it on pages that it has not seen.

Logistic regression (L2) over term weights scaled to unit length, standardised numbers of the page's
shape, and its scores for the topics that ship. The last know words in Chinese and English for one
concept: what was learnt from pages in one language so finds pages in the other.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmcrawl.errors import TopicError
from mmcrawl.learning.examples import Example, TellingWord, telling_words
from mmcrawl.learning.fitting import (
    FLAT,
    Design,
    Seen,
    average_precision,
    calibrated,
    fitted,
    folds_of,
    left_out,
    seen_of,
)
from mmcrawl.text.segmentation import Lexicon
from mmcrawl.topic.page_model import PageModel

LEAST = 3
"""Good pages, and bad ones, without which nothing is learnt."""

_ENOUGH = 15  # of each; with fewer, chance decides much
_HARDLY = 0.6  # precision or recall below which good and bad pages are hardly told apart
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
    """What came of the examples.

    Attributes:
        precision, recall: At a probability of 0.5, on pages left out in training.
        average_precision: Likewise, over all thresholds.
        by_site: Whether whole sites were left out, rather than pages.
        folds: How often that was done.
        taken_as_bad: Whether the bad pages are unlabelled ones.
        words: That stand on good pages rather than on bad ones.
    """

    model: PageModel
    precision: Rate
    recall: Rate
    average_precision: float
    by_site: bool
    folds: int
    good: int
    bad: int
    good_sites: int
    bad_sites: int
    taken_as_bad: bool
    words: Sequence[TellingWord]
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
        good, bad: Pages that are right, and that are wrong.
        unlabelled: Pages of which nothing is known; used if there are no bad ones.
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
