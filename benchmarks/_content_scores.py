"""Scores of extracted text beside a text somebody labelled by hand; see `content.py`.

Two definitions, each that of the benchmark its pages come from:

* shingles, of scrapinghub/article-extraction-benchmark: of the multisets of four neighbouring
  tokens of text and truth, TP is what they share, FP what only the text holds, FN what only the
  truth holds. A token is a run of word characters, case kept; for Chinese, which parts no words,
  it is one word character. A page of fewer tokens has one shingle of them all. Precision and
  recall of a set are means of the pages', F1 is the harmonic mean of these two means; a page
  without text has no precision and is left out of that mean, so it costs recall alone.
* words, of WCXB: precision, recall and F1 of the multisets of lower-case words of a page; the F1 of
  a set is the mean of the pages' F1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

Unit = Literal["words", "characters"]

SHINGLE = 4
_TOKENS = {"words": re.compile(r"\w+"), "characters": re.compile(r"\w")}


class Scores(NamedTuple):
    """Agreement of a text with the truth, from 0 to 1, and the shingles or words of both."""

    precision: float
    recall: float
    f1: float
    in_text: int
    in_truth: int


@dataclass(frozen=True)
class PageScore:
    """What one extractor made of one page.

    `found` is the share of the snippets the text must hold that it holds, `kept_out` of those it
    must not hold that it does not; None where the page names no such snippet.
    """

    key: str
    url: str | None
    kind: str
    text: str
    truth: str
    scores: Scores
    found: float | None = None
    kept_out: float | None = None


def tokens(text: str, unit: Unit = "words") -> list[str]:
    return _TOKENS[unit].findall(text)


def shingles(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    if not words:
        return Counter()
    last = max(1, len(words) - SHINGLE + 1)
    return Counter(tuple(words[start : start + SHINGLE]) for start in range(last))


def shingle_scores(text: str, truth: str, unit: Unit = "words") -> Scores:
    """Compare by shingles of four tokens.

    >>> shingle_scores("a b c d e", "b c d e f")[:3]
    (0.5, 0.5, 0.5)
    """
    return _agreement(shingles(tokens(text, unit)), shingles(tokens(truth, unit)))


def word_f1(text: str, truth: str) -> Scores:
    """Compare by words, in whatever order.

    >>> word_f1("Red, green", "green red blue red")[:2]
    (1.0, 0.5)
    """
    return _agreement(Counter(tokens(text.lower())), Counter(tokens(truth.lower())))


def _agreement(text: Counter, truth: Counter) -> Scores:
    in_text, in_truth, common = text.total(), truth.total(), (text & truth).total()
    if not in_text and not in_truth:
        return Scores(1.0, 1.0, 1.0, 0, 0)
    precision = common / in_text if in_text else 0.0
    recall = common / in_truth if in_truth else 0.0
    return Scores(precision, recall, harmonic(precision, recall), in_text, in_truth)


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def set_scores(pages: Iterable[PageScore]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a set by shingles: F1 of the means."""
    scores = [page.scores for page in pages]
    precision = mean(score.precision for score in scores if score.in_text)
    recall = mean(score.recall for score in scores if score.in_truth)
    return precision, recall, harmonic(precision, recall)


def mean_f1(pages: Iterable[PageScore]) -> float:
    """Return F1 of a set by words: the mean of the pages'."""
    return mean(page.scores.f1 for page in pages)


def mean(values: Iterable[float | None]) -> float:
    """Return the mean of the values there are, 0 if there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else 0.0


def share_held(text: str, snippets: Sequence[str]) -> float | None:
    """Return the share of snippets the text holds, whatever their case and white space."""
    if not snippets:
        return None
    flat = _flat(text)
    return sum(_flat(snippet) in flat for snippet in snippets) / len(snippets)


def _flat(text: str) -> str:
    return " ".join(text.lower().split())
