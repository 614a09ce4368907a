"""Train the model that tells the kinds of blocks.

    python tools/train_kind_model.py --gn1 FOLDER --corpora FOLDER [--check-only]

The pages are those of benchmarks/_labelled_blocks.py; trained is on what is not kept aside: news,
sites and our own pages. What is kept of them is numbers, the weights of features.

First the pages are parted by site into five folds, and a model trained on four of them judges the
blocks of the fifth: these are the figures printed, of pages whose sites the model has not seen.
Then a model is trained on all and written to mmcrawl/blocks/kind_model.npz.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from _labelled_blocks import CutPage, cut_page, sources
from block_kinds import METHODS, print_head, print_row

from mmcrawl.blocks import kind_model
from mmcrawl.blocks.kind_model import ELSE, OWN, KindModel, Network, kinds_of

MODEL = Path(kind_model.__file__).with_name("kind_model.npz")
FOLDS = 5
NETWORKS, HIDDEN, PASSES, PENALTY, STEP, BATCH = 5, 32, 14, 0.6, 2e-3, 128
TRAINED_ON = ("news", "sites", "own")
_WEIGHS = {"news": 1.0, "sites": 1.5, "own": 2.0}
# What is rare, and what is asked for.
_COUNTS = {
    "related-links": 3.0,
    "title": 2.0,
    "advertisement": 4.0,
    "noise-links": 1.5,
    "comments": 1.5,
}
_COUNTS_OF_NEWS = {**_COUNTS, "related-links": 8.0}
_ORDER = 0.3  # share of the log-odds of transitions that counts
_FARTHEST = 4.0


def train(pages: Sequence[CutPage]) -> KindModel:
    """Train a model on some pages."""
    values = np.vstack([page.values for page in pages])
    weights = np.concatenate([_weights(page) for page in pages])
    labels = [label for page in pages for label in page.labels]
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread == 0] = 1
    scaled = np.clip((values - mean) / spread, -_FARTHEST, _FARTHEST)
    own = np.array([_own(label) for label in labels])
    other = np.array([ELSE.index(label) if label in ELSE else -1 for label in labels])
    dice = np.random.default_rng(0)
    return KindModel(
        mean.astype(np.float32),
        spread.astype(np.float32),
        _follows(pages),
        *(
            tuple(_network(scaled, target, weights, dice, number) for number in range(NETWORKS))
            for target in (own, other)
        ),
    )


def _own(label: str) -> int:
    """Return the number of a label among OWN, -1 if it is not to be learnt."""
    if label in ELSE or label == "else":
        return len(OWN) - 1
    label = "topic" if label == "image" else label
    return OWN.index(label) if label in OWN else -1


def _weights(page: CutPage) -> np.ndarray:
    """Return what each block counts: by its text and links, by set and label, a page by its root."""
    counts = _COUNTS_OF_NEWS if page.source.set == "news" else _COUNTS
    weights = [
        (1 + np.log1p(chars.total()) / 2 + np.log1p(links.total())) * counts.get(label, 1.0)
        for chars, links, label in zip(page.chars, page.links, page.labels, strict=True)
    ]
    return _WEIGHS[page.source.set] * np.array(weights) / np.sqrt(max(len(weights), 1))


def _network(scaled, target, weights, dice, number) -> Network:
    """Train one network on blocks drawn with their weights."""
    known = np.flatnonzero(target >= 0)
    drawn = dice.choice(known, len(known), p=weights[known] / weights[known].sum())
    model = MLPClassifier(
        (HIDDEN,),
        alpha=PENALTY,
        max_iter=PASSES,
        learning_rate_init=STEP,
        batch_size=BATCH,
        random_state=number,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scaled[drawn], target[drawn])
    (hidden, out), (hidden_bias, out_bias) = model.coefs_, model.intercepts_
    return Network(*(part.astype(np.float32) for part in (hidden, hidden_bias, out, out_bias)))


def _follows(pages: Sequence[CutPage]) -> np.ndarray:
    """Return the log-odds of one kind behind another, against its share of all."""
    count = len(OWN)
    found = np.full((count, count), 0.5)
    for page in pages:
        order = [own for own in map(_own, page.labels) if own >= 0]
        for before, behind in zip(order, order[1:], strict=False):
            found[before, behind] += 1 / np.sqrt(len(order))
    found /= found.sum(axis=1, keepdims=True)
    share = np.full(count, 1 / count)
    for _ in range(200):  # until it stays what it is
        share = share @ found
    odds = _ORDER * (np.log(found) - np.log(share)[None, :])
    odds[0, :] = odds[:, 0] = 0  # titles
    return odds.astype(np.float32)


def check(pages: Sequence[CutPage]) -> None:
    """Print what models say of sites they have not seen."""
    told = {}
    for fold in range(FOLDS):
        model = train([page for page in pages if _fold(page) != fold])
        for page in pages:
            if _fold(page) == fold:
                found = kinds_of(page.page_blocks, *model.probabilities(page.values))
                told[id(page)] = [kind.name for kind in found]
    print_head(f"{FOLDS} folds by site")
    for name in TRAINED_ON:
        for method in METHODS:
            own = [p for p in pages if p.source.set == name and p.cut.method == method]
            print_row(f"{name}, {method}", own, [told[id(page)] for page in own])


def _fold(page: CutPage) -> int:
    return int(sha1(f"f{page.source.site}".encode()).hexdigest(), 16) % FOLDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gn1", type=Path, required=True, help="folder of L3S-GN1")
    parser.add_argument("--corpora", type=Path, required=True, help="folder of the stored sites")
    parser.add_argument("--check-only", action="store_true", help="write no model")
    given = parser.parse_args()
    pages = [
        cut_page(source, method)
        for source in sources(given.gn1, given.corpora)
        if source.set in TRAINED_ON and source.page.half != "judge"
        for method in METHODS
    ]
    pages = [page for page in pages if page.labels]
    check(pages)
    if not given.check_only:
        train(pages).save(str(MODEL))
        print(f"{MODEL}: {MODEL.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
