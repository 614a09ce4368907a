"""The two tasks of SEWM-2008 on the hand-labelled pages of `tests/blocks/labels/pages.json`.

    python benchmarks/sewm.py FOLDER [--half judge]

FOLDER (or the variable MMCRAWL_CORPORA) holds the stored sites, as for benchmarks/blocks.py.

Task 1, topic pages: which pages have a content of their own (labelled topic or media), and which
are there for their links (hub), as `PageContent.page_type` says; beside it the rule of Wang & Zhu
2012 (link text less than other text) and "all pages are topic pages". Three ways: topic, hub, media
told apart.

Task 2, blocks of content: of the pages that have a text labelled title or topic, what share of the
text found is such text (precision), and what share of such text is found (recall), in bytes of
visible text; means over the pages, F1 page by page. Found is, for each partition method, what
`merge_blocks` joins; `page_content` are its lines; `all text` is the whole page.

Rules were made on the half "develop"; "judge" is for measuring.
"""

from __future__ import annotations

import argparse
import os
import sys
from bisect import bisect_left
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from blocks import CUTTING, TOPIC, LabelledPage, Truth, kept_by_kinds, load, mask

from mmcrawl.blocks import PageTree, page_content, read_tree
from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.content.page_type import PAGE_TYPES
from mmcrawl.blocks.layout.features import is_topic_page
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.page_blocks import LINK_TEXT_RATIO


class Scores(NamedTuple):
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, right: float, found: float, wanted: float) -> Scores:
        """What is right, among what was found and what was wanted."""
        precision, recall = right / max(found, 1), right / max(wanted, 1)
        return cls(precision, recall, 2 * right / max(found + wanted, 1))


# ---------------------------------------------------------------- task 1


def by_content(page: LabelledPage) -> str:
    return page_content(page.body, page.url).page_type


def by_link_text(page: LabelledPage) -> str:
    is_topic = is_topic_page(Measures(read_tree(page.body)), LINK_TEXT_RATIO)
    return "topic" if is_topic else "hub"


TYPING: dict[str, Callable[[LabelledPage], str]] = {
    "page_type": by_content,
    "link text": by_link_text,
    "all topic": lambda page: "topic",
}


def print_types(pages: list[LabelledPage], types: dict[str, list[str]]) -> None:
    names = ("accuracy", "precision", "recall", "F1", "three ways")
    print(f"task 1{'':<8}" + "".join(f"{name:>12}" for name in names))
    wanted = [page.type != "hub" for page in pages]
    for method, found in types.items():
        own = [name != "hub" for name in found]
        right = sum(a and b for a, b in zip(own, wanted, strict=True))
        accuracy = fmean(a == b for a, b in zip(own, wanted, strict=True))
        three = fmean(a == page.type for a, page in zip(found, pages, strict=True))
        values = (accuracy, *Scores.of(right, sum(own), sum(wanted)), three)
        print(f"{method:<14}" + "".join(f"{value:>12.1%}" for value in values))
    pairs = list(zip((page.type for page in pages), types["page_type"], strict=True))
    cells = (f"{a} as {b} {pairs.count((a, b))}" for a in PAGE_TYPES for b in PAGE_TYPES)
    print("page_type: " + ", ".join(cells))


# ---------------------------------------------------------------- task 2


def nodes_of_content(page: LabelledPage, tree: PageTree) -> list[range]:
    found = page_content(page.body, page.url).ranges
    starts = tree.starts
    return [range(bisect_left(starts, a, 1), bisect_left(starts, b, 1)) for a, b in found]


def nodes_of_kinds(method: str) -> Callable[[LabelledPage, PageTree], list[range]]:
    kept = kept_by_kinds(method)
    return lambda page, tree: kept(page)[0]


FINDING: dict[str, Callable[[LabelledPage, PageTree], list[range]]] = {
    **{method: nodes_of_kinds(method) for method in CUTTING},
    "page_content": nodes_of_content,
    "all text": lambda page, tree: [range(len(tree))],
}


def content_scores(page: LabelledPage) -> dict[str, Scores] | None:
    """Score each way to find the content of a page; None if it is labelled to have none."""
    tree = read_tree(page.body)
    truth = Truth.of(page, tree)
    is_text = (truth.chars > 0) & np.array([tag == TEXT for tag in tree.tags])
    sizes = np.where(is_text & (truth.kinds != ""), np.array(tree.ends) - np.array(tree.starts), 0)
    wanted = np.isin(truth.kinds, TOPIC)
    total = int(sizes[wanted].sum())
    if not total:
        return None
    scores = {}
    for method, find in FINDING.items():
        found = mask(find(page, tree), len(tree))
        scores[method] = Scores.of(sizes[found & wanted].sum(), sizes[found].sum(), total)
    return scores


def print_contents(scores: list[dict[str, Scores]]) -> None:
    print(f"\ntask 2, {len(scores)} pages{'precision':>13}{'recall':>12}{'F1':>12}")
    for method in FINDING:
        means = (fmean(row[method][i] for row in scores) for i in range(3))
        print(f"{method:<14}" + "".join(f"{value:>12.1%}" for value in means))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    default = os.environ.get("MMCRAWL_CORPORA")
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="stored sites")
    parser.add_argument("--half", choices=("develop", "judge"), help="one half (default: both)")
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of stored sites, or set MMCRAWL_CORPORA")
    try:
        pages = load(Path(given.folder))
    except (FileNotFoundError, ValueError) as error:
        print(f"{error}.", file=sys.stderr)
        return 2
    for half in [given.half] if given.half else ["develop", "judge"]:
        part = [page for page in pages if page.half == half]
        print(f"\n{half}, {len(part)} pages")
        print_types(part, {name: [tell(page) for page in part] for name, tell in TYPING.items()})
        print_contents([scores for scores in map(content_scores, part) if scores])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
