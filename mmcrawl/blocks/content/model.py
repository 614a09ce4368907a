"""Which lines of a page are its content: a small model, trained on labelled pages.

Boosted trees give each line log-odds that it is content. The trees are symmetric (all nodes of a
level ask the same question), so that a line's leaf in a tree is a number of as many bits as the
tree has levels, and all lines of a page are put into all trees by a few operations on arrays. A
multinomial logistic model of the page's numbers says what genre the page is of.

The weights stand in ``content_model.npz`` beside this module, arrays of numbers and words only;
``tools/train_content_model.py`` makes the file and says how well it does on pages it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.line_features import LineFeatures
from mmcrawl.blocks.content.surroundings import StartTags

Floats = NDArray[np.float32]

GENRES = ("article", "forum", "product", "collection", "listing", "documentation", "service")
"""Genres of pages (Web Content Extraction Benchmark)."""

_FARTHEST = 4.0  # standard deviations
_SLICE = 500  # lines whose features are in memory at once


@dataclass(frozen=True, slots=True)
class Scaling:
    """Mean and spread of each feature."""

    mean: Floats
    spread: Floats

    @classmethod
    def of(cls, values: Floats) -> Scaling:
        """Measure the columns of a matrix."""
        spread = values.std(axis=0)
        return cls(values.mean(axis=0), np.where(spread > 0, spread, 1).astype(np.float32))

    def __call__(self, values: Floats) -> Floats:
        """Return the values as standard deviations from the mean, at most four."""
        result: Floats = np.clip((values - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        return result


@dataclass(frozen=True)
class Trees:
    """Boosted symmetric trees; a line's log-odds are the bias and the sum of one leaf of each.

    Attributes:
        leaves: Log-odds; the answer at level i is bit i of a leaf's number. Trees × 2 ** levels.
    """

    features: NDArray[np.int64]  # column that each level of each tree asks for, trees × levels
    borders: Floats  # what the column must be above, trees × levels
    leaves: Floats
    bias: float  # log-odds to begin with

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Trees:
        """Return the trees in a file's arrays."""
        features, borders, leaves, bias = (
            arrays[key] for key in ("features", "borders", "leaves", "bias")
        )
        return cls(features.astype(np.int64), borders, leaves, float(bias))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return them as a file keeps them."""
        return {
            "features": self.features.astype(np.uint16),
            "borders": self.borders,
            "leaves": self.leaves.astype(np.float16),
            "bias": np.array(self.bias, dtype=np.float32),
        }

    @cached_property
    def _questions(self) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
        """Columns and borders that are asked for, each once; and which each level asks."""
        pairs = np.empty(self.features.shape, dtype=[("feature", np.int64), ("border", np.float32)])
        pairs["feature"], pairs["border"] = self.features, self.borders
        each, which = np.unique(pairs.T, return_inverse=True)
        return each["feature"], each["border"][:, None], which.reshape(pairs.T.shape)

    def log_odds(self, values: Floats) -> Floats:
        """Return the log-odds of each row of a matrix."""
        features, borders, which = self._questions
        columns = np.ascontiguousarray(values.T)
        answers = (columns.take(features, axis=0) > borders).view(np.uint8)
        leaf = answers.take(which[-1], axis=0)
        for asked in which[-2::-1]:
            leaf <<= 1
            leaf |= answers.take(asked, axis=0)
        trees, size = self.leaves.shape
        found = self.leaves.take(leaf + size * np.arange(trees)[:, None])
        result: Floats = found.sum(axis=0) + np.float32(self.bias)
        return result

    def of_page(self, features: LineFeatures) -> Floats:
        """Return the log-odds of each line of a page."""
        result = np.zeros(len(features), dtype=np.float32)
        for start in range(0, len(features), _SLICE):
            result[start : start + _SLICE] = self.log_odds(features.rows(start, start + _SLICE))
        return result


@dataclass(frozen=True)
class ContentModel:
    """The whole model; all arrays are of 32-bit floats.

    Attributes:
        class_weights: Log-odds that text inside elements with a class word is content.
        page_scaling, genre_weights, genre_bias: The model of genres.
    """

    class_weights: Mapping[str, float]
    page_scaling: Scaling
    genre_weights: Floats
    genre_bias: Floats
    trees: Trees  # the model of lines

    @cached_property
    def start_tags(self) -> StartTags:
        """What start tags say by the weights of their class words."""
        return StartTags(self.class_weights)

    def genres(self, features: LineFeatures) -> Floats:
        """Return the probability of each of :data:`GENRES`."""
        return self.genres_of(features.page)

    def genres_of(self, page: Floats) -> Floats:
        """Return the probability of each genre, by the numbers of a page."""
        scores = self.page_scaling(page) @ self.genre_weights + self.genre_bias
        odds = np.exp(scores - scores.max())
        result: Floats = odds / odds.sum()
        return result

    def probabilities(self, features: LineFeatures, shift: float = 0.0) -> Floats:
        """Return for each line the probability that it is content, its log-odds shifted."""
        log_odds = self.trees.of_page(features) + np.float32(shift)
        result: Floats = np.float32(1) / (np.float32(1) + np.exp(-log_odds))
        return result

    def save(self, path: str) -> None:
        """Write it to a file, the most of it in 16-bit floats."""
        arrays: dict[str, Any] = {
            "class_words": np.array(list(self.class_weights)),
            "class_weights": np.array(list(self.class_weights.values()), dtype=np.float16),
            "page_mean": self.page_scaling.mean,
            "page_spread": self.page_scaling.spread,
            "genre_weights": self.genre_weights,
            "genre_bias": self.genre_bias,
            **self.trees.arrays(),
        }
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, file: str | IO[bytes]) -> ContentModel:
        """Read a model from a file that :meth:`save` wrote; nothing in it is executed."""
        with np.load(file, allow_pickle=False) as stored:
            arrays = {
                name: values.astype(np.float32) if values.dtype.kind == "f" else values
                for name, values in stored.items()
            }
        words = arrays["class_words"].tolist()
        return cls(
            class_weights=dict(zip(words, arrays["class_weights"].tolist(), strict=True)),
            page_scaling=Scaling(arrays["page_mean"], arrays["page_spread"]),
            genre_weights=arrays["genre_weights"],
            genre_bias=arrays["genre_bias"],
            trees=Trees.of(arrays),
        )


@cache
def content_model() -> ContentModel:
    """Return the model that ships with the project."""
    with (files("mmcrawl.blocks.content") / "content_model.npz").open("rb") as file:
        return ContentModel.load(file)
