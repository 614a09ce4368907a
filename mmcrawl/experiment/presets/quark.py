"""The two tasks of SEWM-2008, which the thesis on Quark (2008) was measured with.

Task 1, topic pages: which pages have a content of their own, labelled topic or media, and which
are there for their links, hubs. Task 2, blocks of content: of the pages that have a text labelled
title or topic, what share of the text found is such text (precision), and what share of such text
is found (recall), in bytes of visible text; means over the pages, F1 page by page.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from mmcrawl.blocks.content.content import page_content
from mmcrawl.blocks.content.page_type import PAGE_TYPES
from mmcrawl.blocks.layout.features import is_topic_page
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.page_blocks import LINK_TEXT_RATIO
from mmcrawl.experiment.presets.labelled_pages import (
    TOPIC,
    LabelledPage,
    NodeLabels,
    Ranges,
    mask,
    pages_in,
)
from mmcrawl.experiment.presets.tables import PaperTable, Told, percent
from mmcrawl.experiment.presets.wang2012 import CUTTING, kept_by_kinds
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree, read_tree

_NOTE = (
    "Published: the copy of the thesis that this project has ends in section 3.1, before its"
    " figures and the definition of the measures; its abstract calls both very high."
)


class Scores(NamedTuple):
    """Precision, recall and F1, in [0, 1]."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, right: float, found: float, wanted: float) -> "Scores":
        precision, recall = right / max(found, 1), right / max(wanted, 1)
        return cls(precision, recall, 2 * right / max(found + wanted, 1))


def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]:
    yield from tables_of(pages_in(data), progress)


def tables_of(pages: Sequence[LabelledPage], progress: Told) -> Iterator[PaperTable]:
    types, contents = [], []
    for number, page in enumerate(pages):
        progress(number, len(pages), page.name)
        types.append({name: tell(page) for name, tell in TYPING.items()})
        contents.append(content_scores(page))
    for half in dict.fromkeys(page.half for page in pages):
        chosen = [n for n, page in enumerate(pages) if page.half == half]
        name = f"{len(chosen)} pages" + (f", half {half}" if half else "")
        yield _types([pages[n] for n in chosen], [types[n] for n in chosen], name)
        yield _contents([found for n in chosen if (found := contents[n])], half)


# ---------------------------------------------------------------- task 1


def _by_content(page: LabelledPage) -> str:
    return page_content(page.body, page.url).page_type


def _by_link_text(page: LabelledPage) -> str:
    is_topic = is_topic_page(Measures(read_tree(page.body)), LINK_TEXT_RATIO)
    return "topic" if is_topic else "hub"


TYPING: Mapping[str, Callable[[LabelledPage], str]] = {
    "page_type": _by_content,
    "link text": _by_link_text,
    "all topic": lambda page: "topic",
}
"""Ways to tell the type of a page: ours, the rule of Wang & Zhu 2012, and no rule at all."""


def type_scores(wanted: Sequence[str], found: Sequence[str]) -> tuple[float, ...]:
    """Return accuracy, precision, recall and F1 of "no hub", and the share of the same type."""
    own, told = [name != "hub" for name in wanted], [name != "hub" for name in found]
    right = sum(a and b for a, b in zip(own, told, strict=True))
    accuracy = fmean(a == b for a, b in zip(own, told, strict=True))
    same = fmean(a == b for a, b in zip(wanted, found, strict=True))
    return accuracy, *Scores.of(right, sum(told), sum(own)), same


def _types(
    pages: Sequence[LabelledPage], found: Sequence[Mapping[str, str]], name: str
) -> PaperTable:
    wanted = [page.type for page in pages]
    rows = tuple(
        (way, *map(percent, type_scores(wanted, [types[way] for types in found]))) for way in TYPING
    )
    pairs = list(zip(wanted, (types["page_type"] for types in found), strict=True))
    mistaken = [
        f"{a} as {b} {pairs.count((a, b))}" for a in PAGE_TYPES for b in PAGE_TYPES if a != b
    ]
    return PaperTable(
        f"SEWM-2008, task 1: topic pages, {name}",
        ("way", "accuracy", "precision", "recall", "F1", "three types"),
        rows,
        f"{_NOTE} “Link text” is the rule of Wang & Zhu 2012, step 4. Mistakes of page_type:"
        f" {', '.join(mistaken)}.",
    )


# ---------------------------------------------------------------- task 2

Find = Callable[[LabelledPage, PageTree], Ranges]
"""Returns the ranges of nodes that are the content of a page."""


def _nodes_of_content(page: LabelledPage, tree: PageTree) -> Ranges:
    found = page_content(page.body, page.url).ranges
    starts = tree.starts
    return [range(bisect_left(starts, a, 1), bisect_left(starts, b, 1)) for a, b in found]


def _nodes_of_kinds(method: str) -> Find:
    kept = kept_by_kinds(method)
    return lambda page, tree: kept(page)[0]


FINDING: Mapping[str, Find] = {
    **{method: _nodes_of_kinds(method) for method in ("quark", *CUTTING)},
    "page_content": _nodes_of_content,
    "all text": lambda page, tree: [range(len(tree))],
}
"""Ways to find content: blocks that `merge_blocks` joins, lines that a model tells, everything."""


def content_scores(page: LabelledPage) -> dict[str, Scores] | None:
    """Score each way to find the content of a page; None if it is labelled to have none."""
    tree = read_tree(page.body)
    labels = NodeLabels.of(page, tree)
    is_text = (labels.chars > 0) & np.array([tag == TEXT for tag in tree.tags])
    lengths = np.array(tree.ends) - np.array(tree.starts)
    sizes = np.where(is_text & (labels.kinds != ""), lengths, 0)
    wanted = np.isin(labels.kinds, TOPIC)
    total = int(sizes[wanted].sum())
    if not total:
        return None
    scores = {}
    for way, find in FINDING.items():
        found = mask(find(page, tree), len(tree))
        scores[way] = Scores.of(sizes[found & wanted].sum(), sizes[found].sum(), total)
    return scores


def _contents(scores: Sequence[Mapping[str, Scores]], half: str) -> PaperTable:
    rows = tuple(
        (way, *(percent(fmean(row[way][i] for row in scores)) for i in range(3)))
        for way in (FINDING if scores else ())
    )
    return PaperTable(
        f"SEWM-2008, task 2: blocks of content, {len(scores)} pages with content"
        + (f", half {half}" if half else ""),
        ("way", "precision", "recall", "F1"),
        rows,
        f"{_NOTE} In bytes of visible text, means over pages.",
    )
