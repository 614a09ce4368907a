"""Train the model that tells the content of a page from its noise (needs ``pip install catboost``).

    python tools/train_content_model.py FOLDER [--check-only] [--last] [--curve] [--groups]
        [--sources]

FOLDER holds labelled pages, as benchmarks/content.py reads them: ``articles/`` (scrapinghub's
article-extraction-benchmark), ``pages/`` (WCXB, CC BY 4.0, and the Chinese Web Content Extraction
Dataset, MIT), ``fundus/`` (test pages of flairNLP/fundus, MIT, half of its publishers) and
``article-extraction-dataset/`` (AndyTheFactory's, Apache 2.0, half of its sites). What is kept of
them is numbers: weights of features, and words of class attributes with their weights.

First the pages are parted by site, sites that have a page in common together, into five folds, and
a model trained on four of them extracts the pages of the fifth: these are the figures printed, of
pages whose sites the model has not seen.
What class words weigh on a site is always learnt from the other sites. Sites of 15 % of the pages
are in no fold: nothing is chosen on them, and ``--last`` prints what a model of the others makes of
them. ``--curve`` trains on fewer sites of the folds, ``--groups`` without each group of features,
on two of the folds, as there are many. ``--sources`` leaves whole sets and kinds of pages out, and
prints what is made of them by how much the log-odds of articles are shifted: what is fit for a set
that no model has seen is chosen there. Without an option a model is trained
on all pages and written to mmcrawl/blocks/content/content_model.npz.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from pathlib import Path
from statistics import fmean

import numpy as np
from catboost import CatBoostClassifier, Pool
from labelled_lines import (
    Page,
    Votes,
    class_weights,
    known_elsewhere,
    parts,
    read_page,
    small_pages,
    totals,
    votes,
)
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from _content_scores import shingle_scores, word_f1
from content import TRAINED, load

from mmcrawl.blocks.content import content
from mmcrawl.blocks.content import model as content_model
from mmcrawl.blocks.content.line_features import PAGE_COLUMNS, LineFeatures
from mmcrawl.blocks.content.model import GENRES, ContentModel, Scaling, Trees
from mmcrawl.blocks.content.surroundings import StartTags

FOLDS = 5
MODEL = Path(content_model.__file__).with_name("content_model.npz")
_LAST = 0.15  # of the sites, which are in no fold
_TREES = {
    "iterations": 400,
    "depth": 6,
    "learning_rate": 0.12,
    "l2_leaf_reg": 3,
    "rsm": 0.15,  # share of the features that a level chooses from
    "bootstrap_type": "Bernoulli",
    "subsample": 0.6,
    "boosting_type": "Plain",
    "border_count": 64,
    "loss_function": "CrossEntropy",  # a line may be content in part
    "random_seed": 0,
    "verbose": 0,
    "allow_writing_files": False,
}
SHIFTS = (0.0, -0.25, -0.5, -0.75, -1.0)
CURVE = (0.2, 0.4, 0.7)  # and all of them, as the folds do
FOLDS_OF_GROUPS = 2
_WORST = 20  # pages that are named
_MOST_LINES = 300  # of a page, drawn, that a model learns from


def feature_groups(body: bytes) -> dict[str, slice]:
    """Return which columns of a line's features belong to each group, as those of a page say."""
    groups = LineFeatures(*parts(body), StartTags({})).groups(0, 1)
    ends = accumulate(group.shape[1] for group in groups.values())
    return {
        name: slice(end - group.shape[1], end)
        for (name, group), end in zip(groups.items(), ends, strict=True)
    }


def genre_model(pages: Sequence[Page], matrices: Sequence[np.ndarray]) -> tuple:
    """Fit the model of genres to the pages that have one: few lines alone have none."""
    known = [i for i, page in enumerate(pages) if page.labelled.kind]
    pages, matrices = [pages[i] for i in known], [matrices[i] for i in known]
    values = np.array([matrix[0, -PAGE_COLUMNS:] for matrix in matrices])
    scaling = Scaling.of(values)
    model = LogisticRegression(C=0.03, max_iter=500)
    model.fit(scaling(values), [page.genre for page in pages])
    weights = np.zeros((PAGE_COLUMNS, len(GENRES)), dtype=np.float32)
    bias = np.full(len(GENRES), -20, dtype=np.float32)
    weights[:, model.classes_] = model.coef_.T
    bias[model.classes_] = model.intercept_
    return scaling, weights, bias


@dataclass(frozen=True)
class Training:
    """Labelled pages with the features of their lines; class words weigh what other sites say."""

    pages: list[Page]
    by_site: dict[str, Votes]
    known: dict[str, Mapping[str, float]]
    matrices: list[np.ndarray]

    @classmethod
    def of(cls, pages: list[Page]) -> Training:
        by_site = votes(pages)
        known = known_elsewhere(by_site)
        matrices: dict[int, np.ndarray] = {}
        order = sorted(range(len(pages)), key=lambda i: pages[i].site)
        for site, which in groupby(order, key=lambda i: pages[i].site):
            start_tags = StartTags(known[site])  # takes longer than a page
            for i in which:
                matrices[i] = LineFeatures(*parts(pages[i].labelled.body), start_tags).matrix
        return cls(pages, by_site, known, [matrices[i] for i in range(len(pages))])

    def train(self, which: Sequence[int], without: slice = slice(0)) -> ContentModel:
        """Train a model on some of the pages, and on no feature of a group."""
        pages, matrices = [self.pages[i] for i in which], [self.matrices[i] for i in which]
        page_scaling, genre_weights, genre_bias = genre_model(pages, matrices)
        return ContentModel(
            class_weights=class_weights(totals(self.by_site)),
            page_scaling=page_scaling,
            genre_weights=genre_weights,
            genre_bias=genre_bias,
            trees=boosted_trees(pages, matrices, without),
        )

    def texts(self, model: ContentModel, which: Iterable[int]) -> Iterator[str]:
        """Extract pages by the code under test."""
        for page in (self.pages[i] for i in which):
            mine = replace(model, class_weights=self.known[page.site])
            content.content_model = lambda mine=mine: mine
            yield content.page_content(page.labelled.body, page.labelled.url).text

    def folds(self) -> tuple[list[list[int]], list[int]]:
        """Part the pages by site: into folds, and into those that are in none."""
        sites = sorted({page.site for page in self.pages})
        np.random.RandomState(7).shuffle(sites)
        place = {site: i - int(_LAST * len(sites)) for i, site in enumerate(sites)}
        places = [place[page.site] for page in self.pages]
        folds = [
            [i for i, at in enumerate(places) if at >= 0 and at % FOLDS == f] for f in range(FOLDS)
        ]
        return folds, [i for i, at in enumerate(places) if at < 0]


def boosted_trees(
    pages: Sequence[Page],
    matrices: Sequence[np.ndarray],
    without: slice = slice(0),
) -> Trees:
    chance = np.random.RandomState(0)
    drawn, weights = [], []
    for page in pages:
        count = len(page.shares)
        rows = np.sort(chance.permutation(count)[:_MOST_LINES])
        drawn.append(rows)
        weights.append(page.weight[rows] * count / len(rows))
    values = np.vstack([matrix[rows] for matrix, rows in zip(matrices, drawn, strict=True)])
    values[:, without] = 0
    shares = np.concatenate([p.shares[rows] for p, rows in zip(pages, drawn, strict=True)])
    model = CatBoostClassifier(**_TREES)
    model.fit(Pool(values, shares, weight=np.concatenate(weights)))
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        model.save_model(file.name, format="json")
        return trees_of(json.load(file))


def trees_of(model: dict) -> Trees:
    """Return the trees of a model of CatBoost's, written as JSON."""
    found = model["oblivious_trees"]
    levels = max(len(tree["splits"] or ()) for tree in found)
    features = np.zeros((len(found), levels), dtype=np.int64)
    borders = np.full((len(found), levels), np.inf, dtype=np.float32)  # nothing is above
    leaves = np.zeros((len(found), 2**levels), dtype=np.float32)
    for number, tree in enumerate(found):
        for level, split in enumerate(tree["splits"] or ()):
            features[number, level] = split["float_feature_index"]
            borders[number, level] = split["border"]
        leaves[number, : len(tree["leaf_values"])] = tree["leaf_values"]
    scale, (bias,) = model["scale_and_bias"]
    return Trees(features, borders, (scale * leaves).astype(np.float16).astype(np.float32), bias)


def score(page: Page, text: str) -> tuple[float, float, float]:
    truth = page.labelled.truth
    if page.set in {"pages", "small"}:
        return word_f1(text, truth)[:3]
    return shingle_scores(text, truth, "characters" if page.set == "zh" else "words")[:3]


def print_scores(title: str, rows: Sequence[tuple[str, str, float, float, float]]) -> None:
    """Print what models that have not seen a site make of its pages."""
    print(f"\n{title:24} {'number':>6} {'precision':>9} {'recall':>7} {'F1':>7}")
    groups = [(row[:2], row[2:]) for row in rows]
    groups += [(("pages", "all"), row[2:]) for row in rows if row[0] == "pages"]
    for key in sorted({key for key, _ in groups}):
        scores = [score for other, score in groups if other == key]
        precision, recall, f1 = (fmean(column) for column in zip(*scores, strict=True))
        if key[0] not in {"pages", "small"}:
            f1 = 2 * precision * recall / (precision + recall)
        name = " ".join(key)
        print(f"{name:24} {len(scores):6} {precision:9.3f} {recall:7.3f} {f1:7.3f}", flush=True)


def print_genres(training: Training, rows: Sequence[tuple[int, ContentModel]]) -> None:
    """Print which genre the pages of each are taken for."""
    counts: Counter[tuple[str, str]] = Counter()
    for i, model in rows:
        page = training.pages[i]
        if page.set == "pages":
            found = int(np.argmax(model.genres_of(training.matrices[i][0, -PAGE_COLUMNS:])))
            counts[page.labelled.kind, GENRES[found]] += 1
    print(f"\n{'genre: taken for':16}" + "".join(f"{genre[:8]:>9}" for genre in GENRES))
    for genre in GENRES:
        print(f"{genre:16}" + "".join(f"{counts[genre, other]:>9}" for other in GENRES))


def print_worst(
    training: Training,
    rows: Sequence[tuple[str, str, float, float, float]],
    which: Iterable[int],
) -> None:
    """Print the pages of seven types that are extracted worst."""
    print(f"\nworst pages: F1, precision, recall{'':12}")
    pages = [(row, training.pages[i].labelled) for row, i in zip(rows, which, strict=True)]
    pages = [(row, page) for row, page in pages if row[0] == "pages" and page.truth.strip()]
    for (_, kind, precision, recall, f1), page in sorted(pages, key=lambda one: one[0][4])[:_WORST]:
        print(f"{f1:.3f} {precision:.3f} {recall:.3f}  {kind} {page.key} {page.url or ''}")


def check(
    training: Training, part: float = 1.0, without: slice = slice(0), count: int = FOLDS
) -> tuple[list[tuple[str, str, float, float, float]], list[tuple[int, ContentModel]]]:
    """Return how models do on the pages of the fold that they have not seen.

    Args:
        part: Share of the sites of the other folds that they learn from.
        without: A group of features that the models learn without.
        count: How many folds are left out in turn.
    """
    folds, _ = training.folds()
    scores, models = [], []
    for fold in folds[:count]:
        others = [other for other in folds if other is not fold]
        sites = sorted({training.pages[i].site for other in others for i in other})
        np.random.RandomState(3).shuffle(sites)
        used = set(sites[: round(part * len(sites))])
        model = training.train(
            [i for other in others for i in other if training.pages[i].site in used], without
        )
        scores += scored(training, model, fold)
        models += [(i, model) for i in fold]
    return scores, models


def scored(
    training: Training, model: ContentModel, which: Sequence[int]
) -> list[tuple[str, str, float, float, float]]:
    pages = [training.pages[i] for i in which]
    return [
        (page.set, page.labelled.kind, *score(page, text))
        for page, text in zip(pages, training.texts(model, which), strict=True)
    ]


def print_sources(training: Training) -> None:
    """Print what models make of whole sets and kinds of pages that they have not seen."""
    sources: dict[str, list[int]] = {}
    for i, page in enumerate(training.pages):
        if page.set != "small":
            kind = f" {page.labelled.kind}" if page.set == "pages" else ""
            sources.setdefault(page.set + kind, []).append(i)
    print(f"\n{'shift':16}" + "".join(f"{shift:>8}" for shift in SHIFTS))
    for source, out in sorted(sources.items()):
        sites, shift = {training.pages[i].site for i in out}, content.SHIFT_OF_ARTICLES
        left = set(out)
        model = training.train(
            [i for i, p in enumerate(training.pages) if i not in left and p.site not in sites]
        )
        figures = []
        for content.SHIFT_OF_ARTICLES in SHIFTS:
            figures.append(fmean(row[4] for row in scored(training, model, out)))
        content.SHIFT_OF_ARTICLES = shift
        print(f"{source:16}" + "".join(f"{f1:8.4f}" for f1 in figures), flush=True)


def _root(tied: Mapping[str, str], site: str) -> str:
    while site in tied:
        site = tied[site]
    return site


def all_pages(folder: Path) -> list[Page]:
    labelled = [(name, page) for name in TRAINED for page in load(name, folder)]
    with ProcessPoolExecutor(2) as pool:
        small = pool.map(small_pages, *zip(*labelled, strict=True), chunksize=4)
        labelled += [("small", page) for of_page in list(small) for page in of_page]
        read = list(pool.map(read_page, *zip(*labelled, strict=True), chunksize=4))
    pages = [page for page in read if page is not None]
    first: dict[bytes, str] = {}  # the same page stands under two names, of one site or of two
    tied: dict[str, str] = {}
    for page in pages:
        site = first.setdefault(page.labelled.body, page.site)
        if _root(tied, site) != _root(tied, page.site):
            tied[_root(tied, page.site)] = _root(tied, site)
    for page in pages:
        page.site = _root(tied, page.site)
    print(f"{len(read) - len(pages)} pages without a line of text are left out")
    return pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="labelled pages")
    add = parser.add_argument
    add("--check-only", action="store_true", help="train no model on all pages")
    add("--last", action="store_true", help="the sites that are in no fold")
    add("--curve", action="store_true", help="folds with fewer sites")
    add("--groups", action="store_true", help="two folds without groups of features")
    add("--sources", action="store_true", help="without each set and kind of pages")
    given = parser.parse_args()
    training = Training.of(all_pages(Path(given.folder)))
    print(f"{len(training.pages)} pages, {sum(map(len, training.matrices))} lines", flush=True)
    asked = given.last or given.curve or given.groups or given.sources
    if given.last:
        folds, last = training.folds()
        model = training.train([i for fold in folds for i in fold])
        print_scores("sites of no fold", scored(training, model, last))
    if given.curve:
        for part in CURVE:
            print_scores(f"{part:.0%} of the sites", check(training, part)[0])
    if given.groups:
        groups = {"nothing": slice(0), **feature_groups(training.pages[0].labelled.body)}
        for name, columns in groups.items():
            rows, _ = check(training, without=columns, count=FOLDS_OF_GROUPS)
            print_scores(f"without {name}", rows)
    if given.sources:
        print_sources(training)
    if given.check_only or not asked:
        scores, models = check(training)
        print_scores("folds", scores)
        print_genres(training, models)
        print_worst(training, scores, [i for i, _ in models])
    if not (given.check_only or asked):
        model = training.train(range(len(training.pages)))
        model.save(str(MODEL))
        print(f"{MODEL}: {MODEL.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
