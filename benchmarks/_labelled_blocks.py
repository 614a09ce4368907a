"""Pages labelled by part, as they are cut into blocks: what each block holds of each label.

The sets, and what each is for:

* `news`: L3S-GN1, see `_gn1_pages.py`; licensed for research use, so all of it is kept aside;
* `sites`: the 78 pages of stored sites in `tests/blocks/labels`, of which half are kept aside;
* `own`: the 79 pages of ten types in `data/block_kinds`;
* `shipped`: the 60 pages that ship for `scrapy experiment`, all kept aside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from _gn1_pages import gn1_pages, site_of
from blocks import load

from mmcrawl.blocks.kind_model import network_input
from mmcrawl.blocks.page_blocks import PageBlocks
from mmcrawl.blocks.partition import Partition, partition
from mmcrawl.experiment.presets.labelled_pages import LabelledPage, NodeLabels, pages_in
from mmcrawl.page.html.tree import read_tree

OWN_PAGES = Path(__file__).parent / "data" / "block_kinds"


@dataclass(frozen=True)
class Source:
    """A labelled page, the set it is of, and its site."""

    set: str
    site: str
    page: LabelledPage

    @cached_property
    def labels(self) -> NodeLabels:
        return NodeLabels.of(self.page, read_tree(self.page.body))


@dataclass
class CutPage:
    """A page cut by one method.

    Attributes:
        chars, links: Of each block, how many characters and links of each label it holds.
        labels: Of each block the label of most of it, "" where none is.
        lost_chars, lost_links: What stands in no block.
    """

    source: Source
    cut: Partition
    chars: list[Counter[str]] = field(default_factory=list)
    links: list[Counter[str]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    lost_chars: Counter[str] = field(default_factory=Counter)
    lost_links: Counter[str] = field(default_factory=Counter)

    @property
    def ranges(self) -> list[range]:
        return [block.nodes for block in self.cut.blocks]

    @cached_property
    def values(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """What the model of kinds reads of each block."""
        return network_input(self.page_blocks)

    @cached_property
    def page_blocks(self) -> PageBlocks:
        return PageBlocks(self.cut.facts, self.ranges)


def sources(gn1: Path | None, corpora: Path | None) -> Iterator[Source]:
    """Yield the labelled pages of all sets that are at hand."""
    if gn1:
        yield from (Source("news", site_of(page.url), page) for page in gn1_pages(gn1))
    if corpora:
        for page in load(corpora):
            yield Source("sites", page.url.split("/")[2], page)
    yield from (Source("own", page.name, page) for page in pages_in(OWN_PAGES))
    yield from (Source("shipped", page.name, page) for page in pages_in(None))


def cut_page(source: Source, method: str) -> CutPage:
    """Cut a page and tell what its blocks hold."""
    page, labels = source.page, source.labels
    found = CutPage(source, partition(page.body, method=method, url=page.url))
    firsts = [nodes.start for nodes in found.ranges]
    found.chars = [Counter() for _ in firsts]
    found.links = [Counter() for _ in firsts]
    for node in np.flatnonzero(labels.kinds != "").tolist():
        kind, index = str(labels.kinds[node]), bisect_right(firsts, node) - 1
        inside = index >= 0 and node in found.ranges[index]
        if labels.chars[node]:
            chars = found.chars[index] if inside else found.lost_chars
            chars[kind] += int(labels.chars[node])
        if labels.links[node]:
            (found.links[index] if inside else found.lost_links)[kind] += 1
    for block, chars, links in zip(found.cut.blocks, found.chars, found.links, strict=True):
        most = (chars or links or _region(page, block.start, block.end)).most_common(1)
        found.labels.append(most[0][0] if most else "")
    return found


def _region(page: LabelledPage, start: int, end: int) -> Counter[str]:
    """Return how many bytes of a range have each label: of a picture, which has no text."""
    found: Counter[str] = Counter()
    for first, after, kind in page.regions:
        if first < end and after > start:
            found[kind] += min(after, end) - max(first, start)
    return found
