"""Train the model that tells what a page is there for.

    python tools/train_page_classes.py FOLDER [--check-only]

FOLDER holds ``web/`` (stored sites, and ``web/media/<host>.jsonl`` with the pages that hold media)
and ``pages/`` (WCXB, CC BY 4.0, and the Chinese Web Content Extraction Dataset, MIT, with
``truth.json``). Labels come from three places: tests/blocks/labels (topic, hub and media, by hand);
the types of ``pages/`` (article, documentation and forum are topic, collection and listing are hub,
product and service are other); pages on which an independent scan found media (media; at most
``_MOST`` a site, and none that is labelled by hand). What is kept of them is numbers.

First the pages are parted by site into folds, and a model trained on all but one tells the pages of
the last: these are the figures printed. Beside them what `page_content(…).page_type` says, which
has no class `other`. Two cautions: `page_content`, whose answer is among the features, has itself
been trained on ``pages/``, and the rules of its `page_type` were made with half of the pages
labelled by hand in view. Then a model is trained on all pages and written.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from sklearn.linear_model import LogisticRegression

from mmcrawl.blocks import page_content
from mmcrawl.rank import page_class as room
from mmcrawl.rank.page_class import PAGE_CLASSES, PageClassModel, page_features
from mmcrawl.replay import DemoWeb

FOLDS = 10
MODEL = Path(room.__file__).with_name("page_class_model.json")
LABELS = Path(__file__).parents[1] / "tests" / "blocks" / "labels" / "pages.json"
CLASS_OF = {
    "article": "topic",
    "documentation": "topic",
    "forum": "topic",
    "collection": "hub",
    "listing": "hub",
    "product": "other",
    "service": "other",
}
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3)
_MOST = 12  # pages of media of a site
_HAND = 2.0  # weight of what was labelled by hand


@dataclass(frozen=True)
class Labelled:
    """A labelled page; `source` says who labelled it."""

    source: str
    site: str
    url: str
    label: str
    body: bytes


@dataclass(frozen=True)
class Seen:
    """What is kept of a page."""

    source: str
    site: str
    label: int
    by_rule: str
    values: np.ndarray


def by_hand(folder: Path) -> Iterator[Labelled]:
    web = DemoWeb()
    for page in json.loads(LABELS.read_text("utf-8"))["pages"]:
        kind, _, rest = page["source"].partition("/")
        if kind == "web":
            site, url = rest.partition("/")[0], f"http://{rest}"
            body = (folder / page["source"]).read_bytes()
        else:
            url = page["source"].removeprefix("demo:")
            site, body = "demo", web.get(url).body
        yield Labelled("by hand", site, url, page["type"], body)


def by_type(folder: Path) -> Iterator[Labelled]:
    for key, facts in json.loads((folder / "pages" / "truth.json").read_text("utf-8")).items():
        path = next((folder / "pages" / Path(key).parent).glob(f"{Path(key).name}.htm*"))
        url = facts.get("url") or f"http://{key.replace('/', '-')}.invalid/page"
        site = str(urlsplit(url).hostname)
        yield Labelled("by type", site, url, CLASS_OF[facts["type"]], path.read_bytes())


def by_media(folder: Path, known: set[str]) -> Iterator[Labelled]:
    for path in sorted((folder / "web" / "media").glob("*.jsonl")):
        pages = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        names = sorted({page["page"] for page in pages if page["content"]})
        found = [
            (folder / "web" / path.stem / name, f"http://{path.stem}/{name}") for name in names
        ]
        found = [(file, url) for file, url in found if url not in known and file.is_file()]
        for file, url in found[:: -(-len(found) // _MOST)]:
            yield Labelled("by media", path.stem, url, "media", file.read_bytes())


def seen(page: Labelled) -> Seen:
    return Seen(
        page.source,
        page.site,
        PAGE_CLASSES.index(page.label),
        page_content(page.body, page.url).page_type,
        page_features(page.body, page.url),
    )


def train(pages: Sequence[Seen], penalty: float) -> PageClassModel:
    """Train a model; each class weighs alike."""
    values = np.array([page.values for page in pages])
    labels = np.array([page.label for page in pages])
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    counts = np.bincount(labels, minlength=len(PAGE_CLASSES))
    weigh = 1 / counts[labels]
    weigh *= [_HAND if page.source == "by hand" else 1.0 for page in pages]
    model = LogisticRegression(C=penalty, max_iter=2_000)
    scaled = np.clip((values - mean) / spread, -4, 4)
    model.fit(scaled, labels, sample_weight=weigh * len(pages) / weigh.sum())
    return PageClassModel(mean, spread, model.coef_.T, model.intercept_)


def folds_of(pages: Sequence[Seen]) -> list[int]:
    """Return the fold of each page: all of a site are in one."""
    sizes = Counter(page.site for page in pages)
    fold_of: dict[str, int] = {}
    load = [0] * FOLDS
    for site in sorted(sizes, key=lambda site: (-sizes[site], site)):
        fold_of[site] = load.index(min(load))
        load[fold_of[site]] += sizes[site]
    return [fold_of[page.site] for page in pages]


def told(pages: Sequence[Seen], penalty: float | None) -> list[int]:
    """Return what models that have not seen its site say of each page.

    Without a penalty, each fold chooses its own, by folds of the other pages.
    """
    folds = folds_of(pages)
    found = [0] * len(pages)
    for fold in range(FOLDS):
        others = [page for page, other in zip(pages, folds, strict=True) if other != fold]
        chosen = penalty if penalty is not None else best_penalty(others)
        model = train(others, chosen)
        for row, page in enumerate(pages):
            if folds[row] == fold:
                found[row] = int(np.argmax(model.probabilities(page.values)))
    return found


def best_penalty(pages: Sequence[Seen]) -> float:
    truth = np.array([page.label for page in pages])
    return max(PENALTIES, key=lambda penalty: mean_f1(truth, np.array(told(pages, penalty))))


def f1s(truth: np.ndarray, found: np.ndarray) -> list[tuple[float, float, float]]:
    """Return precision, recall and F1 of each class."""
    rows = []
    for code in range(len(PAGE_CLASSES)):
        hit = float(((truth == code) & (found == code)).sum())
        precision = hit / max(1, int((found == code).sum()))
        recall = hit / max(1, int((truth == code).sum()))
        rows.append(
            (precision, recall, 2 * hit / max(1, ((truth == code).sum() + (found == code).sum())))
        )
    return rows


def mean_f1(truth: np.ndarray, found: np.ndarray) -> float:
    return float(np.mean([row[2] for row in f1s(truth, found)]))


def print_figures(pages: Sequence[Seen]) -> None:
    truth = np.array([page.label for page in pages])
    ours = np.array(told(pages, None))
    rule = np.array([PAGE_CLASSES.index(page.by_rule) for page in pages])
    print("\nclass    pages precision  recall     F1  F1 of page_type")
    for code, name in enumerate(PAGE_CLASSES):
        precision, recall, f1 = f1s(truth, ours)[code]
        other, count = f1s(truth, rule)[code][2], int((truth == code).sum())
        print(f"{name:8} {count:5} {precision:9.3f} {recall:7.3f} {f1:6.3f} {other:16.3f}")
    means = mean_f1(truth, ours), mean_f1(truth, rule)
    print(f"{'mean':8} {len(pages):5} {'':17} {means[0]:6.3f} {means[1]:16.3f}")
    print("\nright, of the pages labelled: model, page_type")
    for source in ("by hand", "by type", "by media"):
        rows = np.array([page.source == source for page in pages])
        shares = (ours == truth)[rows].mean(), (rule == truth)[rows].mean()
        print(f"{source:9} {int(rows.sum()):4} {shares[0]:6.3f} {shares[1]:6.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="stored sites and labelled pages")
    parser.add_argument("--check-only", action="store_true", help="train no model on all pages")
    arguments = parser.parse_args()
    labelled = [*by_hand(arguments.folder), *by_type(arguments.folder)]
    labelled += by_media(arguments.folder, {page.url for page in labelled})
    with ProcessPoolExecutor(3) as pool:
        pages = list(pool.map(seen, labelled, chunksize=4))
    counts = Counter(PAGE_CLASSES[page.label] for page in pages)
    print(f"{len(pages)} pages of {len({page.site for page in pages})} sites: {dict(counts)}")
    print_figures(pages)
    if not arguments.check_only:
        penalty = best_penalty(pages)
        train(pages, penalty).save(MODEL)
        print(f"\n{MODEL}: {MODEL.stat().st_size / 1000:.1f} kB, C={penalty:g}")


if __name__ == "__main__":
    main()
