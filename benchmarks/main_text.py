"""Where the main text of a page is used: is it better than all of its text, or than its blocks?

    python benchmarks/main_text.py FOLDER [--pages 150] [--near 0.8]

FOLDER (or the variable MMCRAWL_CORPORA) holds labelled pages, as for content.py; the model is
trained on them, so main texts are better here than on others. Of each N-th page, told apart by
`page_content`, by the blocks whose kinds are kept (bwap, learnt kinds), and by all visible text:

* near-duplicates: copies made as in duplicates.py, found where the share of runs of four words that
  both have reaches `--near`; and pairs of different pages that reach it, though their labelled
  texts do not;
* change: one word is replaced in a line that is labelled as content, and in one that is not; how
  often each is told;
* snippets: around the first place of a word of the page's title that stands in its labelled text
  and outside of it, too; how many of its words stand there as in the labelled text.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
from content import LabelledPage, load
from duplicates import WAYS, shingles
from labelled_lines import aligned

from mmcrawl.archive.search.hits import snippet_of
from mmcrawl.archive.search.query import Term
from mmcrawl.archive.search.tokens import phrase_runs
from mmcrawl.blocks import page_content
from mmcrawl.blocks.kinds import KEPT
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.partition import partition
from mmcrawl.blocks.tree import PageTree, read_tree

_WORD = re.compile(rb"[A-Za-z]{4,}")
_TITLE_WORD = re.compile(r"[a-z]{5,}")
_LEAST = 20  # characters of a line that is edited


def whole_text(page: LabelledPage, body: bytes) -> str:
    return "\n".join(lines_of(body)[1].texts)


def kept_blocks(page: LabelledPage, body: bytes) -> str:
    cut = partition(body, url=page.url)
    return "\n".join(block.text for block in cut.blocks if block.kind in KEPT)


def main_text(page: LabelledPage, body: bytes) -> str:
    return page_content(body, page.url).text


READ: dict[str, Callable[[LabelledPage, bytes], str]] = {
    "all text": whole_text,
    "kept blocks": kept_blocks,
    "main text": main_text,
}


def lines_of(body: bytes) -> tuple[PageTree, PageLines]:
    tree = read_tree(body)
    return tree, PageLines.of(tree, Measures(tree))


def share_of_both(one: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def print_row(title: str, cells: Iterable[str]) -> None:
    print(f"| {title} |", " | ".join(cells), "|", flush=True)


def near_duplicates(pages: list[LabelledPage], near: float) -> None:
    """Print how many copies are found, and how many pairs of different pages wrongly."""
    own = {name: [shingles(read(page, page.body)) for page in pages] for name, read in READ.items()}
    for way, make in list(WAYS.items())[1:]:
        cells = []
        for name, read in READ.items():
            dice = random.Random(2026)
            copies = [make(page.body, dice) for page in pages]
            found = [
                share_of_both(one, shingles(read(page, copy))) >= near
                for one, page, copy in zip(own[name], pages, copies, strict=True)
            ]
            cells.append(f"{100 * fmean(found):.1f} %")
        print_row(f"copies: {way}", cells)
    truths = [shingles(page.truth) for page in pages]
    wrong = [
        sum(
            share_of_both(texts[i], texts[j]) >= near > 2 * share_of_both(truths[i], truths[j])
            for i in range(len(pages))
            for j in range(i)
        )
        for texts in own.values()
    ]
    print_row("pairs of different pages", map(str, wrong))


def changes(pages: list[LabelledPage]) -> None:
    """Print how often a word that is replaced is told."""
    dice = random.Random(2026)
    told: dict[str, dict[str, list[bool]]] = {
        where: {name: [] for name in READ} for where in ("content", "what is around it")
    }
    for page in pages:
        tree, lines = lines_of(page.body)
        shares, _ = aligned(lines.texts, page.truth)
        before = {name: read(page, page.body) for name, read in READ.items()}
        for where, wanted in zip(told, (shares >= 0.9, shares <= 0.1), strict=True):
            rows = [
                row
                for row in wanted.nonzero()[0].tolist()
                if len(lines.texts[row]) >= _LEAST and tree.tags[lines.firsts[row]] == "#text"
            ]
            if not rows:
                continue
            node = lines.firsts[dice.choice(rows)]
            start, end = tree.starts[node], tree.ends[node]
            part = _WORD.sub(b"swapped", page.body[start:end], count=1)
            body = page.body[:start] + part + page.body[end:]
            if body != page.body:
                for name, read in READ.items():
                    told[where][name].append(read(page, body) != before[name])
    for where, found in told.items():
        number = len(found["main text"])
        cells = (f"{100 * fmean(each):.1f} %" for each in found.values())
        print_row(f"a word in {where} ({number} pages)", cells)


def snippets(pages: list[LabelledPage]) -> None:
    """Print which share of snippets is of the labelled text, and how many there are."""
    found: dict[str, list[float]] = {name: [] for name in READ}
    for page in pages:
        _, lines = lines_of(page.body)
        shares, _ = aligned(lines.texts, page.truth)
        around = " ".join(t for t, s in zip(lines.texts, shares, strict=True) if s <= 0.1).lower()
        said, title = page.truth.lower(), page_content(page.body, page.url).title.lower()
        words = [word for word in _TITLE_WORD.findall(title) if word in said and word in around]
        if not words:
            continue
        term = Term(phrase_runs(words[0]))
        truth = shingles(page.truth)
        for name, read in READ.items():
            runs = shingles(snippet_of(read(page, page.body), [term]).text)
            found[name].append(len(runs & truth) / len(runs) if runs else 0.0)
    number = len(found["main text"])
    cells = (f"{100 * fmean(each):.1f} %" for each in found.values())
    print_row(f"snippets: of the content ({number} pages)", cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("MMCRAWL_CORPORA"))
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--near", type=float, default=0.8)
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of labelled pages, or set MMCRAWL_CORPORA")
    pages = [page for page in load("pages", given.folder) if page.truth.strip()]
    pages = pages[:: max(1, len(pages) // given.pages)][: given.pages]
    print_row("", READ)
    print("|---" * (1 + len(READ)) + "|")
    snippets(pages)
    changes(pages)
    near_duplicates(pages, given.near)
    return 0


if __name__ == "__main__":
    sys.exit(main())
