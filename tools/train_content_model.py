"""Train the model that tells the content of a page from its noise.

    python tools/train_content_model.py FOLDER [--check-only]

FOLDER holds labelled pages, as benchmarks/content.py reads them: ``articles/`` (scrapinghub's
article-extraction-benchmark) and ``pages/`` (WCXB, CC BY 4.0, and the Chinese Web Content
Extraction Dataset, MIT). What is kept of them is numbers: weights of features, and words of class
attributes with their weights.

First the pages are parted by site into five folds, and a model trained on four of them extracts
the pages of the fifth: these are the figures printed, of pages whose sites the model has not seen.
Then a model is trained on all pages and written to mmcrawl/blocks/content/content_model.npz.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import sys
import warnings
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from statistics import fmean
from urllib.parse import urlsplit

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from _content_scores import shingle_scores, word_f1
from content import SETS, LabelledPage, Set, load
from small_pages import small_page

from mmcrawl.blocks.content import content
from mmcrawl.blocks.content import model as content_model
from mmcrawl.blocks.content.line_features import PAGE_COLUMNS, LineFeatures
from mmcrawl.blocks.content.metadata import page_metadata
from mmcrawl.blocks.content.model import GENRES, ContentModel, Network, Scaling, network_input
from mmcrawl.blocks.content.surroundings import words_around
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import read_tree

FOLDS = 5
MODEL = Path(content_model.__file__).with_name("content_model.npz")
# (hidden units, penalty, passes over the data, share of the pages it sees) of each network
NETWORKS = [(32, 0.2, 6, 0.8)] * 3 + [(32, 0.3, 4, 0.6)] * 3
_WEIGHS = {"articles": 1.5, "small": 0.3}  # the labels of articles are the most careful
_SMALL = 1  # small pages made of each page, more of the few articles and Chinese pages
_LEAST_SITES = 3
_PRIOR, _PRIOR_SITES = 0.45, 2.0
_TOKEN = re.compile(r"[぀-ヿ㐀-鿿]|[^\W_]+")
_LONG_PAGE = 60_000_000  # tokens of page times tokens of truth

Votes = dict[str, tuple[float, float]]
"""By class word: how many sites have it around content, and around noise; a site votes once."""


@dataclass
class Page:
    """A labelled page, read as far as it is the same for all folds."""

    set: Set
    labelled: LabelledPage
    site: str
    genre: int
    content: np.ndarray  # of each line, whether it is content
    weight: np.ndarray  # of each line
    around: list[set[str]]  # class words around each line


def tokens(text: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(text)]


def parts(body: bytes) -> tuple:
    tree = read_tree(body)
    measures = Measures(tree)
    return tree, measures, PageLines.of(tree, measures), page_metadata(tree)


def aligned(texts: Sequence[str], truth: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each line's tokens that stand in the truth, and how many it has."""
    found, line_of = [], []
    for row, text in enumerate(texts):
        line = tokens(text)
        found += line
        line_of += [row] * len(line)
    counts = np.bincount(line_of, minlength=len(texts)) if line_of else np.zeros(len(texts))
    wanted = tokens(truth)
    hit = np.zeros(len(found))
    if wanted:
        quick = len(found) * len(wanted) > _LONG_PAGE
        matcher = SequenceMatcher(None, found, wanted, autojunk=quick)
        for at, _, size in matcher.get_matching_blocks():
            if size >= 2 or (size == 1 and counts[line_of[at]] == 1):
                hit[at : at + size] = 1
        runs = set(zip(*(wanted[i:] for i in range(5)), strict=False))
        for at in range(len(found) - 4):
            if tuple(found[at : at + 5]) in runs:
                hit[at : at + 5] = 1
    shares = np.zeros(len(texts))
    if line_of:
        shares = np.bincount(line_of, hit, minlength=len(texts)) / np.maximum(counts, 1)
    return shares, counts


def small_pages(name: Set, labelled: LabelledPage) -> list[LabelledPage]:
    """Return small pages made of a page's lines; they belong to its site."""
    _, _, lines, _ = parts(labelled.body)
    shares, _ = aligned(lines.texts, labelled.truth)
    content = [text for text, share in zip(lines.texts, shares, strict=True) if share > 0.9]
    noise = [text for text, share in zip(lines.texts, shares, strict=True) if share < 0.1]
    chance = random.Random(f"{name} {labelled.key}")  # noqa: S311 - the same each time
    made = (small_page(content, noise, chance) for _ in range(_SMALL if name == "pages" else 4))
    return [
        LabelledPage(labelled.key, body, labelled.url, kind, truth)
        for body, truth, kind in filter(None, made)
    ]


def read_page(name: Set, labelled: LabelledPage) -> Page | None:
    tree, _, lines, _ = parts(labelled.body)
    if not len(lines):
        return None
    shares, counts = aligned(lines.texts, labelled.truth)
    weight = np.sqrt(counts + 0.5)
    weight *= 30 / weight.sum() * _WEIGHS.get(name, 1)
    genre = GENRES.index(labelled.kind if labelled.kind in GENRES else "article")
    host = urlsplit(labelled.url or "").hostname or labelled.key
    return Page(
        set=name,
        labelled=labelled,
        site=host,
        genre=genre,
        content=shares >= 0.5,
        weight=weight,
        around=[words_around(tree, first) for first in lines.firsts],
    )


def votes(pages: Iterable[Page]) -> dict[str, Votes]:
    """Return by site and class word: shares of the text around which it stands, content or not.

    Every site has one vote for a word.
    """
    sums: dict[str, dict[str, list[float]]] = {}
    for page in pages:
        on_page: dict[str, list[float]] = {}
        for words, is_content, weight in zip(page.around, page.content, page.weight, strict=True):
            for word in words:
                on_page.setdefault(word, [0.0, 0.0])[0 if is_content else 1] += weight
        site = sums.setdefault(page.site, {})
        for word, (content_weight, noise) in on_page.items():
            total = content_weight + noise
            entry = site.setdefault(word, [0.0, 0.0])
            entry[0] += content_weight / total
            entry[1] += noise / total
    return {
        site: {word: (a / (a + b), b / (a + b)) for word, (a, b) in words.items()}
        for site, words in sums.items()
    }


def totals(by_site: dict[str, Votes]) -> Votes:
    """Return the votes of all sites, by word."""
    sums: dict[str, list[float]] = {}
    for words in by_site.values():
        for word, (a, b) in words.items():
            entry = sums.setdefault(word, [0.0, 0.0])
            entry[0] += a
            entry[1] += b
    return {word: (a, b) for word, (a, b) in sorted(sums.items())}


def class_weights(votes_of: Votes) -> dict[str, float]:
    """Return the log-odds of the class words that stand on enough sites."""
    base = math.log(_PRIOR / (1 - _PRIOR))
    return {
        word: math.log((a + _PRIOR_SITES * _PRIOR) / (b + _PRIOR_SITES * (1 - _PRIOR))) - base
        for word, (a, b) in votes_of.items()
        if round(a + b) >= _LEAST_SITES
    }


def known_elsewhere(by_site: dict[str, Votes]) -> dict[str, Mapping[str, float]]:
    """Return for each site the weights of class words that the other sites give."""
    all_votes = totals(by_site)
    everywhere = class_weights(all_votes)
    known: dict[str, Mapping[str, float]] = {}
    for site, words in by_site.items():
        others = {w: (all_votes[w][0] - a, all_votes[w][1] - b) for w, (a, b) in words.items()}
        known[site] = ChainMap({**dict.fromkeys(words, 0.0), **class_weights(others)}, everywhere)
    return known


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


def train(pages: Sequence[Page]) -> ContentModel:
    """Train a model. What it reads of a page comes from pages of other sites."""
    by_site = votes(pages)
    sites = sorted(by_site)
    known = known_elsewhere(by_site)
    matrices = [LineFeatures(*parts(page.labelled.body), known[page.site]).matrix for page in pages]
    genres = np.zeros((len(pages), len(GENRES)), dtype=np.float32)
    for fold in range(4):
        inside = [i for i, page in enumerate(pages) if sites.index(page.site) % 4 == fold]
        outside = [i for i in range(len(pages)) if i not in set(inside)]
        scaling, weights, bias = genre_model(
            [pages[i] for i in outside], [matrices[i] for i in outside]
        )
        for i in inside:
            scores = scaling(matrices[i][0, -PAGE_COLUMNS:]) @ weights + bias
            odds = np.exp(scores - scores.max())
            genres[i] = odds / odds.sum()
    inputs = np.vstack([network_input(m, g) for m, g in zip(matrices, genres, strict=True)])
    scaling = Scaling.of(inputs)
    page_scaling, genre_weights, genre_bias = genre_model(pages, matrices)
    return ContentModel(
        class_weights=class_weights(totals(by_site)),
        page_scaling=page_scaling,
        genre_weights=genre_weights,
        genre_bias=genre_bias,
        scaling=scaling,
        networks=tuple(networks(pages, scaling(inputs))),
    )


def networks(pages: Sequence[Page], values: np.ndarray) -> Iterable[Network]:
    owner = np.concatenate([np.full(len(p.content), i) for i, p in enumerate(pages)])
    wanted = np.concatenate([page.content for page in pages])
    weight = np.concatenate([page.weight for page in pages])
    chance = np.random.RandomState(0)
    for seed, (units, penalty, passes, share) in enumerate(NETWORKS):
        drawn = chance.choice(len(pages), int(share * len(pages)), replace=False)
        rows = np.isin(owner, drawn)
        network = MLPClassifier(
            (units,), alpha=penalty, learning_rate_init=1e-3, max_iter=passes, batch_size=256,
            random_state=seed,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is stopped early on purpose
            network.fit(values[rows], wanted[rows], sample_weight=weight[rows])
        (hidden, out), (hidden_bias, out_bias) = network.coefs_, network.intercepts_
        yield Network(*(a.astype(np.float32) for a in (hidden, hidden_bias, out[:, 0], out_bias)))


def extracted(model: ContentModel, page: Page) -> str:
    content.content_model = lambda: model  # the code under test, with another model
    return content.page_content(page.labelled.body, page.labelled.url).text


def check_fold(pages: Sequence[Page], fold: int) -> list[tuple[str, str, float, float, float]]:
    sites = sorted({page.site for page in pages})
    np.random.RandomState(0).shuffle(sites)
    inside = {site for i, site in enumerate(sites) if i % FOLDS == fold}
    model = train([page for page in pages if page.site not in inside])
    rows = []
    for page in pages:
        if page.site in inside:
            scores = score(page, extracted(model, page))
            rows.append((page.set, page.labelled.kind, *scores))
    return rows


def score(page: Page, text: str) -> tuple[float, float, float]:
    truth = page.labelled.truth
    if page.set in {"pages", "small"}:
        return word_f1(text, truth)[:3]
    return shingle_scores(text, truth, "characters" if page.set == "zh" else "words")[:3]


def check(pages: Sequence[Page], run: Callable) -> None:
    """Print what models that have not seen a site make of its pages."""
    rows = [row for fold in run(check_fold, [pages] * FOLDS, range(FOLDS)) for row in fold]
    print(f"{'pages':24} {'number':>6} {'precision':>9} {'recall':>7} {'F1':>7}")
    for key in sorted({row[:2] for row in rows}):
        scores = [row[2:] for row in rows if row[:2] == key]
        precision, recall = (fmean(s[i] for s in scores) for i in (0, 1))
        f1 = fmean(s[2] for s in scores)
        if key[0] not in {"pages", "small"}:
            f1 = 2 * precision * recall / (precision + recall)
        name = " ".join(key)
        print(f"{name:24} {len(scores):6} {precision:9.3f} {recall:7.3f} {f1:7.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="labelled pages")
    parser.add_argument("--check-only", action="store_true", help="train no model on all pages")
    arguments = parser.parse_args()
    folder = Path(arguments.folder)
    labelled = [(name, page) for name in SETS for page in load(name, folder)]
    with ProcessPoolExecutor(3) as pool:
        small = pool.map(small_pages, *zip(*labelled, strict=True), chunksize=4)
        labelled += [("small", page) for of_page in list(small) for page in of_page]
        pages = [
            page
            for page in pool.map(read_page, *zip(*labelled, strict=True), chunksize=4)
            if page is not None
        ]
        print(f"{len(pages)} pages, {sum(len(page.content) for page in pages)} lines")
        check(pages, pool.map)
    if not arguments.check_only:
        model = train(pages)
        model.save(str(MODEL))
        print(f"{MODEL}: {MODEL.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
