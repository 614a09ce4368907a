"""Train the model that tells the kinds of blocks.

    python tools/train_kind_model.py --corpora FOLDER [--check-only]

The pages are those of benchmarks/_labelled_blocks.py; trained is on what is not kept aside: half
of the pages of stored sites, and our own. What is kept of them is numbers, the weights of features.

First the pages are parted by site into five folds, and a model trained on four of them judges the
blocks of the fifth: these are the figures printed, of pages whose sites the model has not seen.
Then a model is trained on all and written to mmcrawl/blocks/kind_model.npz.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha1
from html import escape, unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from _labelled_blocks import CutPage, Source, cut_page, sources
from block_kinds import METHODS, print_head, print_row

from mmcrawl import blocks
from mmcrawl.blocks.kind_model import ELSE, OWN, KindModel, Networks, kinds_of
from mmcrawl.experiment.presets.labelled_pages import LabelledPage
from mmcrawl.page.html.tree import read_tree

MODEL = Path(blocks.__file__).with_name("kind_model.npz")
FOLDS = 5
NETWORKS, HIDDEN, PASSES, PENALTY, STEP, BATCH = 5, 32, 14, 0.6, 2e-3, 128
TRAINED_ON = ("sites", "own")
_WEIGHS = {"sites": 1.5, "own": 2.0, "small": 0.5}
_SMALL_OF_EACH = 3  # small pages made of each of our own
_BANNERS = ((468, 60), (728, 90), (300, 250), (160, 600), (234, 60))  # pixels
# What is rare, and what is asked for.
_COUNTS = {
    "related-links": 3.0,
    "title": 2.0,
    "advertisement": 4.0,
    "noise-links": 1.5,
    "comments": 1.5,
}
_TAG = re.compile(r"<[^>]*>")
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
            _networks([_network(scaled, target, weights, dice, n) for n in range(NETWORKS)])
            for target in (own, other)
        ),
    )


def _networks(models: Sequence[MLPClassifier]) -> Networks:
    return Networks(
        np.hstack([model.coefs_[0] for model in models]).astype(np.float32),
        np.hstack([model.intercepts_[0] for model in models]).astype(np.float32),
        np.stack([model.coefs_[1] for model in models]).astype(np.float32),
        np.stack([model.intercepts_[1] for model in models]).astype(np.float32),
    )


def _own(label: str) -> int:
    """Return the number of a label among OWN, -1 if it is not to be learnt."""
    if label in ELSE or label == "else":
        return len(OWN) - 1
    label = "topic" if label == "image" else label
    return OWN.index(label) if label in OWN else -1


def _weights(page: CutPage) -> np.ndarray:
    """Return what each block counts: by text and links, set and label; a page by its root."""
    weights = [
        (1 + np.log1p(chars.total()) / 2 + np.log1p(links.total())) * _COUNTS.get(label, 1.0)
        for chars, links, label in zip(page.chars, page.links, page.labels, strict=True)
    ]
    return _WEIGHS[page.source.set] * np.array(weights) / np.sqrt(max(len(weights), 1))


def _network(scaled, target, weights, dice, number) -> MLPClassifier:
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
    return model


def _follows(pages: Sequence[CutPage]) -> np.ndarray:
    """Return the log-odds of one kind behind another, against its share of all."""
    count = len(OWN)
    found = np.full((count, count), 0.5)
    for page in pages:
        order = [own for own in map(_own, page.labels) if own >= 0]
        for before, behind in pairwise(order):
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
    for name in (*TRAINED_ON, "small"):
        for method in METHODS:
            own = [p for p in pages if p.source.set == name and p.cut.method == method]
            print_row(f"{name}, {method}", own, [told[id(page)] for page in own])


def small_pages(source: Source) -> Iterator[Source]:
    """Yield pages of a few parts each, as people write them by hand, made of those of a page.

    Pages of large sites have dozens of blocks; a model that saw no others takes the three
    paragraphs of a school's page for noise.
    """
    texts = defaultdict(list)
    for start, end, kind in source.page.regions:
        raw = source.page.body[start:end].decode(_codec(source.page.body), "replace")
        pieces = (" ".join(unescape(piece).split()) for piece in _TAG.split(raw))
        texts[kind] += [piece for piece in pieces if len(piece) > 1]
    chance = random.Random(source.site)  # noqa: S311 - the same each time
    for number in range(_SMALL_OF_EACH if len(texts["topic"]) > 2 and texts["title"] else 0):
        body, regions = f"<title>{escape(texts['title'][0])}</title>", []
        for kind, html in _parts(texts, chance):
            start = len(body.encode())
            body += html
            regions.append((start, len(body.encode()), kind))
        url = f"{source.page.url.rstrip('/')}/{number}.htm"
        page = LabelledPage(source.page.name, "", "topic", url, body.encode(), tuple(regions))
        yield Source("small", source.site, page)


def _parts(texts: dict[str, list[str]], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield the parts of a small page in order: kind and HTML."""
    bare = chance.random() < 0.5
    if texts["navigation"] and chance.random() < 0.6:
        yield "navigation", _list(texts["navigation"], chance, "p" if bare else "nav")
    if chance.random() < 0.4:
        yield "advertisement", _banners(chance)
    if chance.random() < 0.8:
        yield "title", f"<h1>{escape(texts['title'][0])}</h1>"
    paragraphs = [text for text in texts["topic"] if len(text) > 20] or texts["topic"]
    first = chance.randrange(len(paragraphs))
    chosen = paragraphs[first : first + chance.randint(1, 4)]
    yield "topic", "".join(f"<p>{escape(text)}</p>" for text in chosen)
    for kind, heading, share in (
        ("related-links", chance.choice(("Related", "See also", "相关阅读", "More")), 0.5),
        ("comments", chance.choice(("Comments", "评论", "2 replies")), 0.3),
        ("noise-links", chance.choice(("Share", "Links", "友情链接", "Most read")), 0.2),
    ):
        if len(texts[kind]) > 1 and chance.random() < share:
            if kind == "comments":
                html = "".join(f"<p>{escape(text)}</p>" for text in texts[kind][1:5])
            else:
                html = _list(texts[kind], chance, "div")
            yield kind, f"<h2>{heading}</h2>{html}"
    if texts["copyright"] and chance.random() < 0.5:
        tag = "p" if bare else "footer"
        yield "copyright", f"<{tag}>{escape(texts['copyright'][0])}</{tag}>"


def _banners(chance: random.Random) -> str:
    """Return one or two linked pictures in a box that says that it is for advertisements."""
    name = chance.choice(("ad", "ads", "banner", "advert", "sponsor", "adbox"))
    host = chance.choice(("", "http://ads.test"))
    width, height = chance.choice(_BANNERS)
    image = f"<img src={name}.gif width={width} height={height}>"
    links = [f"<a href={host}/{number}>{image}</a>" for number in range(chance.randint(1, 2))]
    return f"<div {chance.choice(('class', 'id'))}={name}>{''.join(links)}</div>"


def _list(texts: list[str], chance: random.Random, tag: str) -> str:
    chosen = chance.sample(texts, min(len(texts), chance.randint(1, 5)))
    items = [f"<a href=/{len(text)}.htm>{escape(text)}</a>" for text in chosen]
    inner = " ".join(items) if tag == "p" else f"<ul>{''.join(f'<li>{i}</li>' for i in items)}</ul>"
    return f"<{tag}>{inner}</{tag}>"


def _codec(body: bytes) -> str:
    return read_tree(body).encoding


def _fold(page: CutPage) -> int:
    digest = sha1(f"f{page.source.site}".encode())  # noqa: S324 - nothing is kept secret by it
    return int(digest.hexdigest(), 16) % FOLDS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--corpora", type=Path, required=True, help="folder of the stored sites")
    parser.add_argument("--check-only", action="store_true", help="write no model")
    given = parser.parse_args()
    chosen = [
        source
        for source in sources(None, given.corpora)
        if source.set in TRAINED_ON and source.page.half != "judge"
    ]
    small = [page for source in chosen if source.set == "own" for page in small_pages(source)]
    pages = [cut_page(source, method) for source in (*chosen, *small) for method in METHODS]
    pages = [page for page in pages if page.labels]
    check(pages)
    if not given.check_only:
        train(pages).save(str(MODEL))
        print(f"{MODEL}: {MODEL.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
