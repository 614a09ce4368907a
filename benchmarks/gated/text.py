"""Main text and kinds of blocks of labelled pages, and the CPU time that reading a page takes.

F1 of main text is on 200 pages that the shipped model was trained on, so it says whether something
changed, and nothing of quality: for that see `tools/train_content_model.py --check-only`. Kinds are
told on all labelled pages that are here; those "kept aside" no model was trained on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from _labelled_blocks import CutPage, cut_page, sources
from block_kinds import KINDS, f1_by_kind, links_kept
from content import load, mean_f1, page_score
from content_speed import parse

from gated.row import Row
from mmcrawl.blocks import page_content, partition
from mmcrawl.blocks.kind_model import learnt_kinds
from mmcrawl.page import parse_page

PAGES = 200
TIMED, ROUNDS = 50, 5
LARGE = 1_000_000  # bytes: one such page would take more time than all others
SPEED_BOUND = 0.05  # see the README
_KINDS = ("topic", "related-links", "comments", "navigation")


def rows(corpora: Path | None) -> Iterator[Row]:
    """Read the pages, and measure those that ship where there are no others."""
    yield from _main_text(corpora)
    yield from _kinds(corpora)
    yield from _speed(corpora)


def _labelled(corpora: Path | None) -> list:
    if corpora is None or not any((corpora / name).exists() for name in ("pages", "pages.tar.zst")):
        return []
    pages = load("pages", corpora)
    return pages[:: len(pages) // PAGES][:PAGES]


def _main_text(corpora: Path | None) -> Iterator[Row]:
    scored = [
        page_score(page, page_content(page.body, page.url).text, "pages")
        for page in _labelled(corpora)
    ]
    yield Row("F1 of main text, pages of the model", mean_f1(scored) if scored else None)
    for kind in ("article", "forum", "product", "listing"):
        own = [page for page in scored if page.kind == kind]
        yield Row(f"F1 of main text, {kind}", mean_f1(own) if own else None, bound=0.03)


def _kinds(corpora: Path | None) -> Iterator[Row]:
    found = list(sources(None, corpora)) if corpora and (corpora / "web").is_dir() else []
    aside = [s.set == "shipped" or s.page.half == "judge" for s in found]
    for title, wanted in (("kept aside", True), ("pages of the model", False)):
        own = [s for s, is_aside in zip(found, aside, strict=True) if is_aside is wanted]
        pages = [cut_page(source, "bwap") for source in own]
        yield from _kinds_of(title, pages)


def _kinds_of(title: str, pages: Sequence[CutPage]) -> Iterator[Row]:
    told = [[kind.name for kind in learnt_kinds(p.cut.facts, p.ranges)] for p in pages]
    f1 = dict(zip(KINDS, f1_by_kind(pages, told), strict=True)) if pages else {}
    known = [value for value in f1.values() if value is not None]
    yield Row(f"F1 of kinds, mean, {title}", fmean(known) if known else None)
    for kind in _KINDS:
        yield Row(f"F1 of kinds, {kind}, {title}", f1.get(kind), bound=0.03)
    related, noise, _ = links_kept(pages, told) if pages else (None, None, None)
    yield Row(f"related links kept, {title}", related, bound=0.03)
    yield Row(f"noise links removed, {title}", noise, bound=0.03)


def _speed(corpora: Path | None) -> Iterator[Row]:
    pages = _labelled(corpora)
    pages = [page for page in pages if len(page.body) < LARGE][:: max(1, len(pages) // TIMED)]
    ways: dict[str, Callable[[bytes, str | None], object]] = {
        "lxml": parse,
        "parse_page": lambda body, url: parse_page(body, url or "http://pages.test/"),
        "partition with kinds": lambda body, url: [
            block.kind for block in partition(body, url=url).blocks
        ],
        "page_content": page_content,
    }
    least = {name: [float("inf")] * len(pages) for name in ways}  # what else runs only adds
    for _ in range(ROUNDS):
        for place, page in enumerate(pages):
            for name, read in ways.items():
                start = time.process_time()
                read(page.body, page.url)
                least[name][place] = min(least[name][place], time.process_time() - start)
    for name in list(ways)[1:]:
        value = sum(least[name]) / sum(least["lxml"]) if pages else None
        yield Row(f"CPU / bare lxml parse, {name}", value, "less", SPEED_BOUND)
