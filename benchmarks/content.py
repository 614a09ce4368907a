"""Main content of pages: how much of it `mmcrawl.blocks.page_content` finds, and how fast.

    python benchmarks/content.py FOLDER [--set articles] [--only ours,trafilatura]

Beside it trafilatura (also its fast mode), rs-trafilatura, readability-lxml, resiliparse, jusText
and boilerpy3, as far as they are installed. FOLDER (or the variable MMCRAWL_CORPORA) holds labelled
pages:

* `articles/`: news and blog pages, `html/KEY.html.gz`, `truth.json` with `articleBody`; scored by
  shingles of four words, as scrapinghub/article-extraction-benchmark does;
* `pages/` or `pages.tar.zst` (read through the program zstd), `truth.json` with `main_content`:
  `wcxb/`, seven types of page, scored by words as WCXB does, with the snippets a text must and must
  not hold; `zh/`, Chinese pages, scored by shingles of four characters;
* `repositories/`: clones of the repositories in `data/content_ja_ru_ar.json`, with pages in
  Japanese (shingles of four characters), Russian and Arabic (of four words), see
  `_language_pages.py`. No model is trained on these;
* `article-extraction-dataset/`: a checkout of that repository of AndyTheFactory (Apache 2.0):
  English news and magazines, cleaned by hand. A model is trained on half of the sites
  (`newspapers`), none on the others (`newspapers-aside`); scored as `articles/`;
* `fundus/`: a checkout of flairNLP/fundus, news pages in 20 languages, see `_news_pages.py`. A
  model is trained on one half (`news`), none on the other (`news-aside`).

All extractors start from bytes, and each has read a page before the clock starts. Pages/s is of CPU
time on one core, the median of rounds in which the extractors take turns. Rows ending in
`+comments` are the same peer told to keep comments, `justext-any` is jusText without a stop list.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import logging
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Literal

from _content_peers import METHODS, Extract
from _content_scores import (
    PageScore,
    Unit,
    mean,
    mean_f1,
    set_scores,
    share_held,
    shingle_scores,
    word_f1,
)
from _language_pages import language_pages
from _news_pages import news_pages, newspaper_pages

__all__ = ["evaluate", "mean_f1", "set_scores", "shingle_scores", "word_f1"]

Set = Literal[
    "articles", "pages", "zh", "news", "newspapers", "ja", "ru", "ar", "news-aside",
    "newspapers-aside",
]  # fmt: skip
SETS: tuple[Set, ...] = ("articles", "pages", "zh")
TRAINED: tuple[Set, ...] = (*SETS, "news", "newspapers")  # those the model is trained on
LANGUAGES: tuple[Set, ...] = ("ja", "ru", "ar", "news-aside", "newspapers-aside")  # those none is
KINDS = ("article", "forum", "product", "collection", "listing", "documentation", "service")


@dataclass(frozen=True)
class LabelledPage:
    key: str
    body: bytes
    url: str | None
    kind: str
    truth: str
    must_hold: tuple[str, ...] = ()
    must_not_hold: tuple[str, ...] = ()


@cache
def load(name: Set, folder: Path) -> list[LabelledPage]:
    """Read a set of pages.

    Raises FileNotFoundError if the folder does not hold it.
    """
    if name == "articles":
        place = folder / "articles"
        truth = json.loads((place / "truth.json").read_bytes())
        return [
            LabelledPage(
                key, gzip.decompress(body), labels["url"], "article", labels["articleBody"]
            )
            for key, labels in truth.items()
            for body in [(place / "html" / f"{key}.html.gz").read_bytes()]
        ]
    if name.startswith("news"):
        read = newspaper_pages if name.startswith("newspapers") else news_pages
        return [LabelledPage(*page) for page in read(folder, aside=name.endswith("-aside"))]
    if name in LANGUAGES:
        return [LabelledPage(*page) for page in language_pages(name, folder)]
    files = stored_files(folder)
    truth = json.loads(files["truth.json"])
    return [
        LabelledPage(
            key=key,
            body=files[f"{key}.html"],
            url=labels.get("url"),
            kind=labels["type"],
            truth=labels["main_content"],
            must_hold=tuple(labels.get("with", ())),
            must_not_hold=tuple(labels.get("without", ())),
        )
        for key, labels in truth.items()
        if key.startswith("zh/") == (name == "zh")
    ]


@cache
def stored_files(folder: Path) -> dict[str, bytes]:
    """Return the files of `pages/` by name, from the folder or from the archive."""
    place, archive = folder / "pages", folder / "pages.tar.zst"
    if place.is_dir():
        files = (file for file in place.rglob("*") if file.is_file())
        return {file.relative_to(place).as_posix(): file.read_bytes() for file in files}
    if not archive.is_file():
        raise FileNotFoundError(f"there is neither {place} nor {archive}")
    with subprocess.Popen(["zstd", "-dcq", str(archive)], stdout=subprocess.PIPE) as zstd:
        return dict(members(tarfile.open(fileobj=zstd.stdout, mode="r|")))


def members(archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    with archive:
        for member in archive:
            file = archive.extractfile(member)
            if file:
                yield member.name.removeprefix("pages/"), file.read()


def evaluate(extract: Extract, name: Set, folder: Path | str | None = None) -> list[PageScore]:
    """Score an extractor on a set, one of SETS or LANGUAGES, in a folder or MMCRAWL_CORPORA.

    The extractor is given a page's bytes and its URL, None where that is not known. Raises
    FileNotFoundError if the set is not there.
    """
    pages = load(name, Path(folder or os.environ.get("MMCRAWL_CORPORA", ".")))
    return [
        page_score(page, text, name)
        for page, text in zip(pages, texts_of(extract, pages), strict=True)
    ]


def texts_of(extract: Extract, pages: Iterable[LabelledPage]) -> list[str | Exception]:
    """Run an extractor over pages; a page it fails on has the error for its text."""
    texts: list[str | Exception] = []
    for page in pages:
        try:
            texts.append(extract(page.body, page.url))
        except Exception as error:  # noqa: BLE001 - others' code raises anything; page_score tells
            texts.append(error)
    return texts


def page_score(page: LabelledPage, text: str | Exception, name: Set) -> PageScore:
    """Score one text; an error counts as no text, and is told."""
    if isinstance(text, Exception):
        print(f"{page.key}: {type(text).__name__}: {text}", file=sys.stderr)
        text = ""
    if name == "pages":
        scores = word_f1(text, page.truth)
    else:
        scores = shingle_scores(text, page.truth, unit_of(name))
    unwanted = share_held(text, page.must_not_hold)
    return PageScore(
        key=page.key,
        url=page.url,
        kind=page.kind,
        text=text,
        truth=page.truth,
        scores=scores,
        found=share_held(text, page.must_hold),
        kept_out=None if unwanted is None else 1 - unwanted,
    )


def unit_of(name: Set) -> Unit:
    return "characters" if name in ("zh", "ja") else "words"


@dataclass(frozen=True)
class Result:
    """Of one extractor on one set."""

    method: str
    pages: list[PageScore]
    speed: float


def measure(extractors: dict[str, Extract], name: Set, folder: Path, rounds: int) -> list[Result]:
    """Time and score extractors on a set, in turns; the scores are of the first round."""
    pages = load(name, folder)
    seconds: dict[str, list[float]] = {method: [] for method in extractors}
    scores: dict[str, list[PageScore]] = {}
    for extract in extractors.values():
        texts_of(extract, pages[:1])
    for number in range(rounds):
        order = list(extractors) if number % 2 == 0 else list(reversed(extractors))
        for method in order:
            gc.collect()
            start = time.process_time()
            texts = texts_of(extractors[method], pages)
            seconds[method].append(time.process_time() - start)
            if number == 0:
                print(f"{name}: {method}", file=sys.stderr)
                pairs = zip(pages, texts, strict=True)
                scores[method] = [page_score(page, text, name) for page, text in pairs]
    return [
        Result(method, scores[method], len(pages) / median(seconds[method]))
        for method in extractors
    ]


def print_shingle_table(title: str, results: list[Result]) -> None:
    print(f"\n{title}, {len(results[0].pages)} pages")
    print(f"{'':<22}{'precision':>10}{'recall':>8}{'F1':>8}{'pages/s':>9}")
    for result in results:
        precision, recall, f1 = set_scores(result.pages)
        figures = f"{precision:>10.3f}{recall:>8.3f}{f1:>8.3f}"
        print(f"{result.method:<22}{figures}{result.speed:>9.0f}")


def print_kind_table(title: str, results: list[Result]) -> None:
    counts = ", ".join(
        f"{sum(page.kind == kind for page in results[0].pages)} {kind}" for kind in KINDS
    )
    print(f"\n{title}, {len(results[0].pages)} pages ({counts})")
    widths = [max(9, len(kind) + 2) for kind in KINDS]
    heads = "".join(f"{kind:>{width}}" for kind, width in zip(KINDS, widths, strict=True))
    print(f"{'':<22}{heads}{'all':>7}{'with':>7}{'without':>9}{'pages/s':>9}")
    for result in results:
        kinds = [mean_f1(page for page in result.pages if page.kind == kind) for kind in KINDS]
        found = mean(page.found for page in result.pages)
        kept_out = mean(page.kept_out for page in result.pages)
        cells = "".join(f"{f1:>{width}.3f}" for f1, width in zip(kinds, widths, strict=True))
        cells += f"{mean_f1(result.pages):>7.3f}"
        print(f"{result.method:<22}{cells}{found:>7.1%}{kept_out:>9.1%}{result.speed:>9.0f}")
    print("with: snippets that must be in the text and are; without: must not be and are not")


TABLES: dict[Set, tuple[str, Callable[[str, list[Result]], None]]] = {
    "articles": ("Articles, by shingles of four words", print_shingle_table),
    "pages": ("Types of page, F1 by words", print_kind_table),
    "zh": ("Chinese, by shingles of four characters", print_shingle_table),
    "ja": ("Japanese, by shingles of four characters", print_shingle_table),
    "ru": ("Russian, by shingles of four words", print_shingle_table),
    "ar": ("Arabic, by shingles of four words", print_shingle_table),
    "news": ("News, by shingles of four words", print_shingle_table),
    "news-aside": ("News kept aside, by shingles of four words", print_shingle_table),
    "newspapers": ("Newspapers, by shingles of four words", print_shingle_table),
    "newspapers-aside": ("Newspapers kept aside, by shingles of four words", print_shingle_table),
}


def load_extractors(names: Iterable[str]) -> dict[str, Extract]:
    """Import the extractors named and tell which cannot be."""
    extractors = {}
    for name in names:
        try:
            extractors[name] = METHODS[name]()
        except ImportError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return extractors


def names_of(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"no extractor is called {', '.join(unknown)}; there are {', '.join(METHODS)}"
        )
    return names


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=os.environ.get("MMCRAWL_CORPORA"),
        help="folder of labelled pages (default: the variable MMCRAWL_CORPORA)",
    )
    parser.add_argument("--only", type=names_of, default=list(METHODS), help="names, parted by ,")
    parser.add_argument("--set", choices=TRAINED + LANGUAGES, help="one set (default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of labelled pages, or set MMCRAWL_CORPORA")
    return given


def main() -> int:
    given = arguments()
    logging.disable(logging.CRITICAL)
    extractors = load_extractors(given.only)
    if not extractors:
        print("No extractor can be imported: install one.", file=sys.stderr)
        return 2
    for name in [given.set] if given.set else TRAINED + LANGUAGES:
        try:
            load(name, given.folder)
        except FileNotFoundError as error:
            print(f"No set {name}: {error}.", file=sys.stderr)
            continue
        title, print_table = TABLES[name]
        print_table(title, measure(extractors, name, given.folder, given.rounds))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
