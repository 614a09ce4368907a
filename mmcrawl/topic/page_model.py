"""A topic learnt from pages: its parameters, how it judges, and its file.

The model is logistic regression over three kinds of evidence: the words of a page (stems of words,
and pairs of Han characters), numbers that describe its shape, and its similarity to the topics that
ship. The file is JSON, names and numbers only, so reading a stranger's file runs none of their
code. `mmcrawl.learning` trains it; `mmcrawl.scoring` takes words and numbers from a page.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from mmcrawl.errors import TopicError
from mmcrawl.store.durable import make_folder, put_in_place

if TYPE_CHECKING:
    from mmcrawl.topic.topic import Concept

FORMAT = "mmcrawl page model"
VERSION = 1
_LARGEST = 32 << 20  # bytes of a file
_FARTHEST = 3.0  # standard deviations that a number counts
_SUREST = 0.99  # no page is more certain: it may not outweigh all else


@dataclass(frozen=True, eq=False)
class PageModel:
    """A classifier of pages.

    Attributes:
        words: Of each term, its inverse document frequency among the examples, and its weight.
        numbers: Of each number of a page, its mean and spread among the examples, and its weight.
        slope, offset: Of Platt's calibration: p = 1 / (1 + exp(-(slope · sum + offset))), fitted on
            sums of pages that the classifier had not seen.
        measured: What was found by cross-validation, as plain values; shown, not reckoned with.
        stamp: Of that file, to see that it was rewritten.
    """

    name: str
    words: Mapping[str, tuple[float, float]]
    numbers: Mapping[str, tuple[float, float, float]]
    topics: Mapping[str, float]  # weights of the scores of topics that ship, by name
    bias: float  # what is added to the weighted sum, by which a page that has nothing is judged
    slope: float
    offset: float
    guide: tuple[Concept, ...] = ()
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    stamp: tuple[int, int] = (0, 0)

    def probability(
        self, words: Mapping[str, float], numbers: Mapping[str, float], topics: Mapping[str, float]
    ) -> float:
        """Return how probable it is that a page is like the good ones, in [0.01, 0.99]."""
        total = self.bias + sum(self.contributions(words, numbers, topics).values())
        exponent = max(-50.0, min(50.0, self.slope * total + self.offset))
        return min(_SUREST, max(1 - _SUREST, 1 / (1 + math.exp(-exponent))))

    def contributions(
        self, words: Mapping[str, float], numbers: Mapping[str, float], topics: Mapping[str, float]
    ) -> dict[str, float]:
        """Return what each term, number and topic adds to the sum; arguments as `probability`."""
        found = self._text(words)
        for name, (mean, spread, weight) in self.numbers.items():
            scaled = (numbers.get(name, 0.0) - mean) / spread
            found[f"#{name}"] = weight * max(-_FARTHEST, min(_FARTHEST, scaled))
        for name, weight in self.topics.items():
            found[f"topic:{name}"] = weight * topics.get(name, 0.0)
        return found

    def _text(self, words: Mapping[str, float]) -> dict[str, float]:
        known = {}
        for term, count in words.items():
            if (entry := self.words.get(term)) is not None:
                known[term] = dampened(count) * entry[0]
        length = math.sqrt(sum(value * value for value in known.values())) or 1.0
        return {term: value / length * self.words[term][1] for term, value in known.items()}

    # -- its file ---------------------------------------------------------------------------

    def save(self, path: Path) -> None:
        """Write the model atomically: a reader sees the old file or the new one."""
        facts = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "measured": self.measured,
            "guide": self.guide,
            "bias": _rounded(self.bias),
            "slope": _rounded(self.slope),
            "offset": _rounded(self.offset),
            "topics": {name: _rounded(weight) for name, weight in self.topics.items()},
            "numbers": {name: list(map(_rounded, row)) for name, row in self.numbers.items()},
            "examples": {"good": self.good, "bad": self.bad},
            "words": {term: list(map(_rounded, row)) for term, row in self.words.items()},
        }
        text = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in facts.items()
        )
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            make_folder(path.parent)
            beside.write_text(f"{{\n{text}\n}}\n", encoding="utf-8", errors="backslashreplace")
            put_in_place(beside, path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise TopicError(f"{path} cannot be written: {error.strerror}") from error

    @property
    def facts(self) -> dict[str, Any]:
        """The measurements as numbers, texts, and counts of cautions, whatever the file holds."""
        said = self.measured

        def of_kind(name: str, kind: Any, default: Any) -> Any:
            return value if isinstance(value := said.get(name), kind) else default

        def number(name: str) -> float:
            with suppress(ValueError, OverflowError):
                return _number(said.get(name))
            return 0.0

        numbers = "precision", "recall", "average_precision", "good", "bad", "learnt_at"
        return {
            **{name: number(name) for name in numbers},
            **{name: [*map(str, of_kind(name, list, ()))] for name in ("words", "against")},
            "left_out": str(said.get("left_out", "pages")),
            "cautions": {
                str(name): number
                for name, number in of_kind("cautions", dict, {}).items()
                if isinstance(number, int)
            },
        }

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            stat = path.stat()
            if stat.st_size > _LARGEST:
                raise TopicError(f"{path} is too large for a learnt topic; learn it again")
            facts = json.loads(path.read_bytes())
        except OSError as error:
            raise TopicError(f"learnt topic {path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError):
            raise _none(path) from None
        return cls._of(facts, path, (stat.st_mtime_ns, stat.st_size))

    @classmethod
    def _of(cls, facts: Any, path: Path, stamp: tuple[int, int]) -> Self:
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise _none(path)
        if facts.get("version") != VERSION:
            raise TopicError(f"{path} is of another version of mmcrawl; learn it again")
        try:
            model = cls(
                name=str(facts["name"]),
                words={str(key): _two(row) for key, row in facts["words"].items()},
                numbers={str(key): _three(row) for key, row in facts["numbers"].items()},
                topics={str(key): _number(value) for key, value in facts["topics"].items()},
                bias=_number(facts["bias"]),
                slope=_number(facts["slope"]),
                offset=_number(facts["offset"]),
                guide=tuple(tuple(map(str, words)) for words in facts["guide"]),
                good=tuple(map(str, facts["examples"]["good"])),
                bad=tuple(map(str, facts["examples"]["bad"])),
                measured=dict(facts["measured"]),
                path=path,
                stamp=stamp,
            )
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise TopicError(f"learnt topic {path} is damaged; learn it again") from None
        if not model.name or any(spread <= 0 for _, spread, _ in model.numbers.values()):
            raise TopicError(f"learnt topic {path} is damaged; learn it again")
        return model


def dampened(count: float) -> float:
    """Return the weight of a term that occurs `count` times on a page: 1 + ln(count) from 1 on.

    >>> dampened(0.5), dampened(1.0)
    (0.5, 1.0)
    """
    return 1 + math.log(count) if count >= 1 else count


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _two(row: Any) -> tuple[float, float]:
    first, second = map(_number, row)
    return first, second


def _three(row: Any) -> tuple[float, float, float]:
    first, second, third = map(_number, row)
    return first, second, third


def _none(path: Path) -> TopicError:
    return TopicError(f"{path} is no learnt topic; `scrapy topic learn` makes one")
