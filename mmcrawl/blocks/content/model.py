"""Which lines of a page are its content: a small model, trained on labelled pages.

Several networks with one hidden layer give each line the probability that it is content, and their
mean counts. A multinomial logistic model of the page's numbers says first what genre the page is
of (a comment is content in a forum and noise below an article); its answer goes in with the line's
features and, multiplied, with some of them.

The weights stand in ``content_model.npz`` beside this module, arrays of numbers and words only;
``tools/train_content_model.py`` makes the file and says how well it does on pages it has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mmcrawl.blocks.content.line_features import CROSSED, LineFeatures

Floats = NDArray[np.float32]

GENRES = ("article", "forum", "product", "collection", "listing", "documentation", "service")
"""Genres of pages (Web Content Extraction Benchmark)."""

_FARTHEST = 4.0  # standard deviations
_SLICE = 2000  # lines whose features are in memory at once


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


@dataclass(frozen=True, slots=True)
class Network:
    """One hidden layer of rectified linear units, one logistic output."""

    hidden: Floats
    hidden_bias: Floats
    out: Floats
    out_bias: Floats


@dataclass(frozen=True, slots=True)
class ContentModel:
    """The whole model; all arrays are of 32-bit floats.

    Attributes:
        class_weights: Log-odds that text inside of elements with a class word is content.
        page_scaling, genre_weights, genre_bias: The model of genres.
        scaling: Of the networks' input.
        networks: Whose mean counts.
    """

    class_weights: Mapping[str, float]
    page_scaling: Scaling
    genre_weights: Floats
    genre_bias: Floats
    scaling: Scaling
    networks: tuple[Network, ...]

    def genres(self, features: LineFeatures) -> Floats:
        """Return the probability of each of :data:`GENRES`."""
        page = self.page_scaling(features.page)
        scores = page @ self.genre_weights + self.genre_bias
        odds = np.exp(scores - scores.max())
        result: Floats = odds / odds.sum()
        return result

    def probabilities(self, features: LineFeatures, genres: Floats) -> Floats:
        """Return for each line the probability that it is content."""
        total = np.zeros(len(features), dtype=np.float32)
        with _threads().limit(limits=1, user_api="blas"):  # a page is too little to share out
            for start in range(0, len(features), _SLICE):
                rows = features.rows(start, start + _SLICE)
                values = self.scaling(network_input(rows, genres))
                for network in self.networks:
                    hidden = np.maximum(values @ network.hidden + network.hidden_bias, 0)
                    score = hidden @ network.out + network.out_bias
                    total[start : start + _SLICE] += 1 / (1 + np.exp(-score))
        total /= len(self.networks)
        return total

    def save(self, path: str) -> None:
        """Write it to a file, in 16-bit floats."""
        arrays: dict[str, Any] = {
            "class_words": np.array(list(self.class_weights)),
            "class_weights": np.array(list(self.class_weights.values()), dtype=np.float16),
            "page_mean": self.page_scaling.mean,
            "page_spread": self.page_scaling.spread,
            "genre_weights": self.genre_weights,
            "genre_bias": self.genre_bias,
            "mean": self.scaling.mean,
            "spread": self.scaling.spread,
        }
        for number, network in enumerate(self.networks):
            arrays[f"hidden_{number}"] = network.hidden.astype(np.float16)
            arrays[f"hidden_bias_{number}"] = network.hidden_bias
            arrays[f"out_{number}"] = network.out
            arrays[f"out_bias_{number}"] = network.out_bias
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
        count = sum(name.startswith("out_bias_") for name in arrays)
        parts = ("hidden", "hidden_bias", "out", "out_bias")
        return cls(
            class_weights=dict(zip(words, arrays["class_weights"].tolist(), strict=True)),
            page_scaling=Scaling(arrays["page_mean"], arrays["page_spread"]),
            genre_weights=arrays["genre_weights"],
            genre_bias=arrays["genre_bias"],
            scaling=Scaling(arrays["mean"], arrays["spread"]),
            networks=tuple(
                Network(*(arrays[f"{part}_{n}"] for part in parts)) for n in range(count)
            ),
        )


def network_input(matrix: Floats, genres: Floats) -> Floats:
    """Return what the networks read of each line: its features, the genres, some products."""
    repeated = np.repeat(genres[None, :], len(matrix), axis=0)
    products = matrix[:, CROSSED][:, :, None] * genres[None, None, :]
    result: Floats = np.hstack([matrix, repeated, products.reshape(len(matrix), -1)])
    return result.astype(np.float32)


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def content_model() -> ContentModel:
    """Return the model that ships with the project."""
    with (files("mmcrawl.blocks.content") / "content_model.npz").open("rb") as file:
        return ContentModel.load(file)
