"""What a page is there for: its own text, the pages it leads to, its media, or something else.

A multinomial logistic model over :data:`mmcrawl.rank.page_features.FEATURES`. It stands in
``page_class_model.json`` beside this module, a format that docs/page_classes.md describes: names
and numbers only. ``tools/train_page_classes.py`` makes the file from labelled pages, and says how
often it is right about pages of sites it has not seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.page_bodies import over_bodies
from mmcrawl.rank.page_features import FEATURES, page_features
from mmcrawl.rank.parquet import Body
from mmcrawl.rank.reading import Reading

__all__ = [
    "PAGE_CLASSES",
    "PageClass",
    "PageClassModel",
    "classes_of",
    "page_class",
    "page_class_model",
]

PAGE_CLASSES = ("topic", "hub", "media", "other")
"""A page with a text of its own; one that leads to other pages; one that shows or plays media; one
that sells, serves or signs in."""

FORMAT = 1
_FARTHEST = 4.0  # standard deviations

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PageClass:
    """What a page is there for.

    Attributes:
        name: The likeliest of :data:`PAGE_CLASSES`.
        probabilities: Of each; they sum to 1.
    """

    name: str
    probabilities: dict[str, float]


@dataclass(frozen=True, eq=False)
class PageClassModel:
    """The model.

    Attributes:
        mean, spread: Of each feature, among the pages it was trained on.
        weights: Features × classes.
        bias: Of each class.
    """

    mean: Floats
    spread: Floats
    weights: Floats
    bias: Floats

    def probabilities(self, values: Floats) -> Floats:
        """Return the probability of each class.

        Args:
            values: As :func:`mmcrawl.rank.page_features.page_features` returns them; also a row for
                each of several pages.
        """
        scaled = np.clip((values - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        odds = scaled @ self.weights + self.bias
        odds = np.exp(odds - odds.max(axis=-1, keepdims=True))
        result: Floats = odds / odds.sum(axis=-1, keepdims=True)
        return result

    def save(self, path: str | Path) -> None:
        """Write the model."""
        facts = {"format": FORMAT, "classes": PAGE_CLASSES, "features": FEATURES}
        arrays = {
            name: np.round(getattr(self, name), 6).tolist()
            for name in ("mean", "spread", "weights", "bias")
        }
        text = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(value)}" for key, value in (facts | arrays).items()
        )
        Path(path).write_text(f"{{\n{text}\n}}\n", encoding="utf-8")

    @classmethod
    def load(cls, text: str, name: str = "the model") -> PageClassModel:
        """Read a model that :meth:`save` wrote.

        Args:
            text: Of the file.
            name: Of the file, for what is wrong with it.

        Raises:
            RankError: it is none, or one of other features or classes.
        """
        try:
            facts: dict[str, Any] = json.loads(text)
            known = (facts["format"], tuple(facts["classes"]), tuple(facts["features"]))
            arrays = [np.array(facts[key], dtype=np.float64) for key in _SHAPES]
        except (ValueError, KeyError, TypeError) as error:
            raise RankError(f"{name} is no model of page classes; train one anew") from error
        if known != (FORMAT, PAGE_CLASSES, FEATURES):
            raise RankError(f"{name} is of another version of mmcrawl; train one anew")
        shapes = [array.shape for array in arrays]
        if shapes != list(_SHAPES.values()) or not all(np.isfinite(a).all() for a in arrays):
            raise RankError(f"{name} is damaged; train one anew")
        return cls(*arrays)


_SHAPES = {
    "mean": (len(FEATURES),),
    "spread": (len(FEATURES),),
    "weights": (len(FEATURES), len(PAGE_CLASSES)),
    "bias": (len(PAGE_CLASSES),),
}


@cache
def page_class_model() -> PageClassModel:
    """Return the model that comes with mmcrawl."""
    path = files("mmcrawl.rank") / "page_class_model.json"
    return PageClassModel.load(path.read_text(encoding="utf-8"), str(path))


def page_class(
    body: bytes,
    url: str | None = None,
    *,
    encoding: str | None = None,
    model: PageClassModel | None = None,
) -> PageClass:
    """Return what a page is there for.

    Args:
        body: The page as received.
        url: Of the page.
        encoding: Python codec name of the body, where it is known.
        model: By default that of mmcrawl.
    """
    model = model or page_class_model()
    found = model.probabilities(page_features(body, url, encoding=encoding)).tolist()
    return PageClass(
        PAGE_CLASSES[int(np.argmax(found))], dict(zip(PAGE_CLASSES, found, strict=True))
    )


def classes_of(archive: Archive, reading: Reading) -> Iterator[tuple[str, int, PageClass]]:
    """Yield URL, number of the version, and class of each page of an archive.

    Args:
        archive: Where they are.
        reading: Of it: says which pages.

    Raises:
        StoreError: the archive fails.
    """
    return over_bodies(_class_of, archive, reading)


def _class_of(body: Body) -> PageClass:
    return page_class(body.body, body.url, encoding=body.encoding or None)
