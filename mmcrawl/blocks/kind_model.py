"""The kind of each block of a page, by a small model trained on labelled blocks.

Two sets of networks with one hidden layer each, softmax over their outputs, and their means. The
first separates the headline, the topic, links to more on it and readers' comments from everything
else; the second tells the kinds of the rest. Their input is :func:`kind_features` and the verdict
of the rules of :mod:`mmcrawl.blocks.kinds`. Then blocks are weighed with their neighbours: the
model includes how often a block of one kind follows one of another, and the forward-backward
algorithm for hidden Markov models (Rabiner 1989, section III) combines both into probabilities.

The weights are in ``kind_model.npz`` beside this module, arrays of numbers only;
``tools/train_kind_model.py`` makes the file and measures it on sites it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.kind_features import kind_features
from mmcrawl.blocks.kinds import (
    HAN_FACTOR,
    PAPER_KINDS,
    TOPIC_CHARS,
    BlockKind,
    is_byline,
    is_dated,
    judge,
)
from mmcrawl.blocks.layout.features import PageFeatures
from mmcrawl.blocks.page_blocks import PageBlocks
from mmcrawl.text.words import has_han

Floats = NDArray[np.float32]

OWN = ("title", "topic", "related-links", "comments", "else")
"""What the first networks tell apart."""

ELSE = ("navigation", "noise-links", "advertisement", "copyright", "other")
"""What the second ones do. Other text, as bylines and counters, takes the likeliest kind of them
but itself."""

RELATED_ODDS = 4.0
"""What the odds of related links are multiplied by: of 1, 2, 4, 8 … the most at which pages of our
own that the model has not seen, in folds by site, lose .9 of their noise links."""

_ELSE, _RELATED = OWN.index("else"), OWN.index("related-links")
_FARTHEST = 4.0  # standard deviations
_LEAST = 1e-4  # probability
_ROWS = 8  # of a product: of 142 features and 160 units, below OpenBLAS' bound for threads (2^18)


@dataclass(frozen=True, slots=True)
class Networks:
    """Several networks: a hidden layer of rectified linear units each, and a softmax.

    Attributes:
        out, out_bias: Networks by units by outputs, and networks by outputs.
    """

    hidden: Floats  # features by units, the units of one network behind those of the one before
    hidden_bias: Floats  # of each unit
    out: Floats
    out_bias: Floats

    def __call__(self, values: Floats) -> Floats:
        """Return the mean of their probabilities for each row, which sum to 1."""
        networks, units, _ = self.out.shape
        # Of a larger product OpenBLAS has all cores do a part, and they wait for each other in
        # loops: that takes several times the CPU, and much longer where the cores have other work.
        parts = [values[at : at + _ROWS] @ self.hidden for at in range(0, len(values), _ROWS)]
        active = np.maximum(np.concatenate(parts) + self.hidden_bias, 0)
        separated = active.reshape(len(values), networks, units).transpose(1, 0, 2)
        odds = separated @ self.out + self.out_bias[:, None, :]
        odds = np.exp(odds - odds.max(axis=2, keepdims=True))
        result: Floats = (odds / odds.sum(axis=2, keepdims=True)).mean(axis=0)
        return result


@dataclass(frozen=True, slots=True)
class KindModel:
    """The whole model.

    Attributes:
        mean, spread: Of the columns of :func:`network_input`.
        follows: Log-odds of each of :data:`OWN` behind each (rows), against its being there by
            chance; 0 for titles, which may stand anywhere.
        own, other: The networks for :data:`OWN` and for :data:`ELSE`.
    """

    mean: Floats
    spread: Floats
    follows: Floats
    own: Networks
    other: Networks

    def probabilities(self, values: Floats) -> tuple[Floats, Floats]:
        """Return for each block the probabilities of :data:`OWN`, and of :data:`ELSE`."""
        scaled = np.clip((values - self.mean) / self.spread, -_FARTHEST, _FARTHEST)
        return _in_order(self.own(scaled), self.follows), self.other(scaled)

    def save(self, path: str) -> None:
        """Write it to a file, the weights in 16-bit floats."""
        arrays: dict[str, Any] = {
            "mean": self.mean,
            "spread": self.spread,
            "follows": self.follows,
        }
        for name, networks in (("own", self.own), ("other", self.other)):
            for part in fields(Networks):
                values = getattr(networks, part.name)
                arrays[f"{name}_{part.name}"] = values.astype(np.float16)
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, file: str | IO[bytes]) -> KindModel:
        """Read a model from a file that :meth:`save` wrote; nothing in it is executed."""
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: values.astype(np.float32) for name, values in stored.items()}

        own, other = (
            Networks(*(arrays[f"{name}_{part.name}"] for part in fields(Networks)))
            for name in ("own", "other")
        )
        return cls(arrays["mean"], arrays["spread"], arrays["follows"], own, other)


def _in_order(own: Floats, follows: Floats) -> Floats:
    """Return the probabilities of each block among the others."""
    said, odds = np.maximum(own, _LEAST), np.exp(follows)
    steps = said[:, :, None] * odds  # from what a block is to what the next one is
    before, behind = np.ones_like(said), np.ones_like(said)
    before[1:] = _products(steps[:-1]).sum(axis=1)
    back = odds * said[:, None, :]  # from what the next block is to what a block is
    behind[:-1] = _products(back[:0:-1].transpose(0, 2, 1)).sum(axis=1)[::-1]
    found = said * before * behind
    result: Floats = found / found.sum(axis=1, keepdims=True)
    return result


def _products(steps: Floats) -> Floats:
    """Return of each matrix its product behind all before it, but for a factor, by doubling."""
    products, reach = steps.copy(), 1
    while reach < len(products):
        products[reach:] = products[:-reach] @ products[reach:]
        products /= products.max(axis=(1, 2), keepdims=True)
        reach *= 2
    return products


def network_input(blocks: PageBlocks) -> Floats:
    """Return the input of the networks for each block: its features, and the rules' verdict."""
    names = [name for name, _ in judge(blocks)]
    said = np.array([[name == kind for kind in PAPER_KINDS] for name in names], dtype=np.float32)
    return np.hstack([kind_features(blocks), said.reshape(len(names), len(PAPER_KINDS))])


def kinds_of(blocks: PageBlocks, own: Floats, other: Floats) -> list[BlockKind]:
    """Return the kinds that follow from probabilities, see :meth:`KindModel.probabilities`.

    Short text is small, as the paper has it; what is seen and has no text is a picture; the line
    with author and date is no list of links.
    """
    weighed = own.copy()
    weighed[:, _RELATED] *= RELATED_ODDS
    weighed[_without_links(blocks, weighed.argmax(axis=1).tolist()), _RELATED] = 0
    weighed /= weighed.sum(axis=1, keepdims=True)
    found = []
    for index, number in enumerate(weighed.argmax(axis=1).tolist()):
        score = float(weighed[index, number])
        if number == _ELSE:
            name = ELSE[int(other[index, :-1].argmax())]
            # Its label is none of the kinds. Here it takes .010 from the F1 of navigation and gives
            # .021 to that of noise-links; called small, .0045 of the noise links would be kept.
            if name == "noise-links" and is_byline(blocks, index):
                name = "navigation"
        else:
            name = OWN[number]
            if name == "topic":
                name = _of_text(blocks, index)
        found.append(BlockKind(name, score))
    return found


def _without_links(blocks: PageBlocks, best: Sequence[int]) -> list[int]:
    """Return the blocks called related links that are no part of a list of links.

    A list may have headings and words between its links. Where blocks called so stand together and
    none has a link, none is one; nor is the line with a date that comes before them all.
    """
    found = []
    for number, together in groupby(range(len(best)), key=best.__getitem__):
        run = list(together)
        if number == _RELATED and not any(blocks.links[index] for index in run):
            found += run
        elif number == _RELATED and not blocks.levels[run[0]] and is_dated(blocks, run[0]):
            found.append(run[0])
    return found


def _of_text(blocks: PageBlocks, index: int) -> str:
    if not blocks.chars[index]:
        return "image" if blocks.counts("images")[index] else "topic"
    weight = HAN_FACTOR if has_han(blocks.texts[index]) else 1
    return "topic" if blocks.text_chars[index] * weight >= TOPIC_CHARS else "small"


def learnt_kinds(page: PageFeatures, ranges: Sequence[range]) -> list[BlockKind]:
    """Return the kind of each block, given as ranges of nodes, in order and not overlapping."""
    if not ranges:
        return []
    blocks = PageBlocks(page, ranges)
    return kinds_of(blocks, *kind_model().probabilities(network_input(blocks)))


@cache
def kind_model() -> KindModel:
    """Return the model that ships with the project."""
    with (files("mmcrawl.blocks") / "kind_model.npz").open("rb") as file:
        return KindModel.load(file)
