"""What a classifier sees of a page, and the columns of its matrix."""

import math
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
