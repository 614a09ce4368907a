"""Kinds of blocks: how often each is right, by the rules of the paper and by the model.

    python benchmarks/block_kinds.py [--gn1 FOLDER] [--corpora FOLDER] [--methods spcola,bwap]

The pages are those of `_labelled_blocks.py`: 548 news pages that others labelled (L3S-GN1, in a
folder of its own; left out without one), 78 pages of stored sites (likewise), our 79 pages of ten
types, and the 60 that ship. The model was trained on the rows marked *: what it says of them is
known by heart, and `tools/train_kind_model.py --check-only` prints what it says in folds by site.

* related: of links labelled as related, the share that stands in blocks of the topic or of related
  links; noise: of links that are neither those nor of the topic, the share that does not. Both are
  means over the pages that have such links;
* precision: the share of related links among the labelled links in blocks called so;
* under the rows of news: what the links right under a heading "Related …" are labelled as;
* then F1 of characters by kind. News pages have one label for all that is no content, "else".
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from _labelled_blocks import CutPage, cut_page, sources

from mmcrawl.blocks.kind_model import ELSE, learnt_kinds
from mmcrawl.blocks.kinds import KEPT, block_kinds

METHODS = ("bwap", "spcola", "quark")
KINDS = ("title", "topic", "related-links", "comments", "else", *ELSE[:-1])
JUDGES = {"rules": block_kinds, "learnt": learnt_kinds}
_TOPIC = ("small", "image")  # of which no labels are told from the topic
_WIDTH = 11
_RELATED = re.compile(r"\W*related\b", re.IGNORECASE)


def print_head(title: str) -> None:
    names = ("related", "noise", "precision", *KINDS)
    print(f"\n{title:<34}{'pages':>6}" + "".join(f"{name[:9]:>{_WIDTH}}" for name in names))


def print_row(title: str, pages: Sequence[CutPage], told: Sequence[Sequence[str]]) -> None:
    """Print a row of figures: kinds that were told of the blocks of pages, against their labels."""
    figures = (*links_kept(pages, told), *f1_by_kind(pages, told))
    cells = "".join(f"{'-' if value is None else f'{value:.3f}':>{_WIDTH}}" for value in figures)
    print(f"{title:<34}{len(pages):>6}{cells}")


def links_kept(
    pages: Sequence[CutPage], told: Sequence[Sequence[str]]
) -> tuple[float | None, float | None, float | None]:
    """Return shares: related links kept, noise links removed, and precision of related links."""
    related, noise, called = [], [], Counter[str]()
    for page, kinds in zip(pages, told, strict=True):
        kept, whole = Counter[str](), Counter(page.lost_links)
        for kind, links in zip(kinds, page.links, strict=True):
            whole.update(links)
            if kind in KEPT:
                kept.update(links)
            if kind == "related-links":
                called.update(links)
        if whole["related-links"]:
            related.append(kept["related-links"] / whole["related-links"])
        others = [label for label in whole if label in ELSE or label == "else"]
        if others:
            noise.append(1 - sum(kept[k] for k in others) / sum(whole[k] for k in others))
    precise = called["related-links"] / called.total() if called else None
    return _mean(related), _mean(noise), precise


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def f1_by_kind(pages: Sequence[CutPage], told: Sequence[Sequence[str]]) -> list[float | None]:
    """Return F1 of the characters of each of `KINDS`, None where none is labelled so."""
    right, said, labelled = Counter[str](), Counter[str](), Counter[str]()
    for page, kinds in zip(pages, told, strict=True):
        is_news = page.source.set == "news"
        for label, size in page.lost_chars.items():
            labelled[_label(label)] += size
        for kind, chars in zip(kinds, page.chars, strict=True):
            name = "topic" if kind in _TOPIC else "else" if is_news and kind in ELSE else kind
            for label, size in chars.items():
                if label == "supplement":
                    continue
                labelled[_label(label)] += size
                said[name] += size
                right[name] += size if name == _label(label) else 0
    return [2 * right[k] / (said[k] + labelled[k]) if labelled[k] else None for k in KINDS]


def links_under_related(pages: Sequence[CutPage]) -> Counter[str]:
    """Return how many links that begin right under a heading "Related …" have each label."""
    found = Counter[str]()
    for page in pages:
        is_under = False
        for nodes, links in zip(page.ranges, page.links, strict=True):
            is_under = is_under or _RELATED.match(page.cut.facts.texts.of(nodes)) is not None
            if is_under and links:
                found.update(links)
                is_under = False
    return found


def _label(label: str) -> str:
    return "topic" if label == "image" else label


def main() -> None:
    corpora = os.environ.get("MMCRAWL_CORPORA")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gn1", type=Path, help="folder of L3S-GN1")
    parser.add_argument("--corpora", type=Path, default=corpora and Path(corpora))
    parser.add_argument("--methods", default="spcola,bwap", help="that cut, parted by ,")
    given = parser.parse_args()
    known = list(sources(given.gn1, given.corpora))
    for name, half in dict.fromkeys((s.set, s.page.half) for s in known):
        own = [s for s in known if (s.set, s.page.half) == (name, half)]
        by_heart = "" if half == "judge" or name == "shipped" else " *"
        print_head(f"{name} {half}{by_heart}")
        for method in given.methods.split(","):
            pages = [cut_page(source, method) for source in own]
            for judge, kinds_of in JUDGES.items():
                told = [[k.name for k in kinds_of(p.cut.facts, p.ranges)] for p in pages]
                print_row(f"{method}, {judge}", pages, told)
        if name == "news":
            print("labels of links right under “Related …”:", dict(links_under_related(pages)))


if __name__ == "__main__":
    main()
