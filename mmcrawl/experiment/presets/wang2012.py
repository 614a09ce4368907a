"""The experiment of Wang & Zhu 2012: what methods remove and keep of pages, and a crawl by blocks.

Its six measures are those of section 4, table 1. Noise is everything on a page that is not its
topic: the share of it that is removed; of the topic, the shares that are kept and lost; each in
characters of text, and in links. Links to more on the topic, related links, count as links of the
topic. The text of a list of them counts as neither, since it stays with the links.

The filters that the method is compared with return the nodes whose text is kept and those whose
links are kept. They cut no blocks, so they are no partitioners: only the paper's table needs them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console

from mmcrawl.blocks.layout.features import PageAreas
from mmcrawl.blocks.layout.measures import Measures, Run, content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import LINE_HEIGHT, PAGE_WIDTH, node_sizes
from mmcrawl.blocks.merging import merge_blocks
from mmcrawl.blocks.partition import partition
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.experiment.laboratory import run_experiment
from mmcrawl.experiment.plan import Algorithm, Plan
from mmcrawl.experiment.presets.labelled_pages import (
    RELATED,
    TOPIC,
    LabelledPage,
    NodeLabels,
    Ranges,
    mask,
    pages_in,
)
from mmcrawl.experiment.presets.tables import PaperTable, Told, percent
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS
from mmcrawl.page.html.tree import PageTree, read_tree
from mmcrawl.text.words import HAN

_REMOVED = frozenset(
    """
    img image map area input button select textarea label iframe frame object embed applet video
    audio canvas svg script style link meta
    """.split()
)
_REMOVED_UNLESS_MOST = frozenset("form noscript".split())
CELLS = "td th"
"""The elements whose links are counted against their words in the paper."""

BOXES = f"{CELLS} div section article aside main header footer nav"
"""The same on pages of today, which are laid out with boxes and not with tables."""

_ADVERTISER = re.compile(
    r"https?://(?:[\w-]+\.)*?(?:ads?\d*|adserver|adclick|banners?|doubleclick|googlesyndication|"
    r"adnxs|taboola|outbrain)\.",
    re.IGNORECASE,
)
_HAN_LETTER = re.compile(rf"[{HAN}]")
_LETTER = re.compile(rf"[^\W\d_{HAN}]")
_HAN_WORD = 2  # characters of a Chinese word

_CELLS = frozenset("td th".split())

_BODY, _HEADER, _FOOTER, _LEFT, _RIGHT = range(5)

_DIVIDED = frozenset(
    """
    html body div table tbody thead tfoot tr td th center form section article main aside header
    footer nav frameset noframes
    """.split()
)
_PLACED = _DIVIDED | frozenset("ul ol dl dir menu fieldset".split())
"""The elements that may be a part; a single paragraph at the top or the bottom is none."""

_WHOLE = BLOCK_TAGS - _DIVIDED

_AT_THE_SIDE = frozenset({"side", "navigation"})
_NAMED = {"head": _HEADER, "foot": _FOOTER}

CUTTING = ("spcola", "bwap", "quark")
"""The methods that cut a page: what is kept is what `merge_blocks` makes of their blocks."""

MEASURES = (
    "noise text removed",
    "noise links removed",
    "topic text kept",
    "related links kept",
    "topic text lost",
    "related links lost",
)
PUBLISHED = {
    "NOM": (0.0, 0.0, 1.0, 1.0, 0.0, 0.0),
    "YPM": (0.802, 0.783, 0.923, 0.917, 0.077, 0.083),
    "GDOM": (0.883, 0.777, 0.937, 0.941, 0.063, 0.059),
    "SPCOLA": (0.915, 0.931, 0.963, 0.971, 0.037, 0.029),
}
"""Table 1, on 1,000 pages of CWT200G, which were judged by people and are not published."""

_BY_MODEL = tuple(f"{name}:kinds=learnt" for name in CUTTING)

_NOTE = (
    "Published: 1,000 other pages. Here: means over the pages that have such text, or such links."
    " gdom-cells counts links in table cells only, as its authors print it; gdom-links gives back"
    " the links it removed, as their program does; bwap, quark and the model of kinds"
    " (kinds=learnt) are not in the paper."
)
_LINKS = {"all links": {}, "links of related blocks": {"links": "related"}}
_ALGORITHMS = tuple(
    Algorithm(f"{name}, {links}", name, arguments)
    for name in ("breadth", "shark-improved", "urlrule")
    for links, arguments in _LINKS.items()
)
_BUDGET = 0.4
Keep = Callable[[LabelledPage], tuple[Ranges, Ranges]]
"""Returns the ranges of nodes whose text, and whose links, a method keeps."""


class Gdom:
    """Filters the tree of a page; what remains is its content.

    Scripts, pictures, forms and their controls, embedded things and links to advertisers go. (A
    form that holds most of the page's text, as those of ASP.NET do, stays.) So does, from the
    innermost on, every cell that has more than `link_text_ratio` links for each word outside of
    links, counting what is still there: the paper's list of links. Words are not counted but
    estimated, as letters by `word_length`; a Chinese word has two characters. Tables that are left
    empty are no content.

    Args:
        link_text_ratio: Links for each word that is not in a link; 0.25 is the paper's.
        containers: Names of the elements that are looked at as cells; :data:`CELLS` is the paper's.
        word_length: Letters of a word, the paper's 5.
        retain_links: Whether to give back the links with text that were removed, as the
            paper's program lists them at the end of the page, so that one can still get around.
    """

    def __init__(
        self,
        *,
        link_text_ratio: float = 0.25,
        containers: str = BOXES,
        word_length: float = 5.0,
        retain_links: bool = False,
    ) -> None:
        self.link_text_ratio = link_text_ratio
        self.word_length = word_length
        self.retain_links = retain_links
        self._containers = frozenset(containers.split())

    def __call__(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links."""
        runs = self._content(tree, measures)
        content = [run.nodes for run in runs if not run.owner]
        if not self.retain_links:
            return content, content
        lost = [run.nodes for run in runs if run.owner]
        links = (node for nodes in lost for node in nodes if tree.tags[node] == "a")
        texts = (node for node in links if measures.total(measures.chars, node))
        return content, content + [range(node, tree.after[node]) for node in texts]

    def _content(self, tree: PageTree, measures: Measures) -> list[Run]:
        """Return what a reader sees: owner 0 for what is left, owner 1 for what was removed."""
        removed = self._removed(tree, measures)
        for node in range(1, len(tree)):
            removed[node] = removed[node] or removed[tree.parents[node]]
        pieces = shown_nodes(tree, measures)
        return content_runs(tree, pieces, [removed[piece] for piece in pieces])

    def _removed(self, tree: PageTree, measures: Measures) -> list[bool]:
        """Return the nodes that are removed by themselves, not by a parent."""
        tags, parents, hidden, in_link = tree.tags, tree.parents, measures.hidden, measures.in_link
        count = len(tree)
        removed = [False] * count
        links, words = [0] * count, [0.0] * count
        for node in range(count - 1, 0, -1):
            tag, parent = tags[node], parents[node]
            if tag == TEXT:
                if not hidden[node] and not in_link[node]:
                    words[parent] += self._words(tree.text(node))
                continue
            if tag == "a" and not hidden[node]:
                links[node] += 1
            removed[node] = (
                self._is_list_of_links(tag, links[node], words[node])
                or tag in _REMOVED
                or (tag in _REMOVED_UNLESS_MOST and not _holds_most(tree, measures, node))
                or (tag == "a" and _is_advertisement(tree, node))
            )
            if not removed[node]:
                links[parent] += links[node]
                words[parent] += words[node]
        return removed

    def _words(self, text: str) -> float:
        letters, characters = len(_LETTER.findall(text)), len(_HAN_LETTER.findall(text))
        return letters / self.word_length + characters / _HAN_WORD

    def _is_list_of_links(self, tag: str, links: int, words: float) -> bool:
        return tag in self._containers and links > self.link_text_ratio * words


def _holds_most(tree: PageTree, measures: Measures, node: int) -> bool:
    return 2 * measures.total(measures.chars, node) > int(measures.chars[-1])


def _is_advertisement(tree: PageTree, node: int) -> bool:
    return _ADVERTISER.match(tree.attributes(node).get("href", "").strip()) is not None


def node_places(
    tree: PageTree, widths: Sequence[float], heights: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return how far from the left and from the top of the page each node begins, in CSS pixels.

    Elements stand below each other in the order of the text, and at the left of what they stand
    in; the cells of a row stand side by side. What fills less than a line takes no height.
    """
    count = len(tree)
    lefts, tops = [0.0] * count, [0.0] * count
    across, below = [0.0] * count, [0.0] * count  # how far the children so far fill an element
    tags, parents = tree.tags, tree.parents
    for node in range(1, count):
        tag, parent = tags[node], parents[node]
        lefts[node], tops[node] = lefts[parent], tops[parent]
        if tag in _CELLS:
            lefts[node] += across[parent]
            across[parent] += widths[node]
            continue
        tops[node] += below[parent]
        if heights[node] > LINE_HEIGHT or tag in BLOCK_TAGS:
            below[parent] += heights[node]
    return lefts, tops


class Ypm:
    """Tells the header, footer, side bars and body of a page; the body is what it keeps.

    The papers ask a browser where each element is. Here nothing is rendered: places are estimated
    from the order of the text and the declared sizes (:mod:`~mmcrawl.blocks.layout.sizes`); and
    since today's sizes are declared in style sheets that are not at hand, an element whose tag,
    role, class or id says that it is a head, a foot, a side bar or a menu
    (:class:`~mmcrawl.blocks.layout.features.PageAreas`) is taken to be where it says. A side bar or
    menu is at the left or at the right by the half of the page's text that it is in.

    An element that lies in a part as a whole is of that part; else its children are looked at, if
    it is no paragraph, list or heading; what is of no part is of the body.

    Args:
        edge: Pixels from the top, or the bottom, within which an element is of the header, or the
            footer. Flat ones may reach further: for height / width = r, by 40 / (20 r + 1) pixels.
            On a short page it is a quarter of the height.
        side: Share of the page's width that a side bar takes at most.
    """

    def __init__(self, *, edge: float = 160.0, side: float = 0.3) -> None:
        self.edge = edge
        self.side = side

    def __call__(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links: the body, for both."""
        page = _Page(tree, measures)
        regions = self._regions(page)
        runs = content_runs(tree, page.shown, [regions[piece] for piece in page.shown])
        nodes = [run.nodes for run in runs if run.owner == _BODY]
        return nodes, nodes

    def _regions(self, page: _Page) -> list[int]:
        """Return the index of the part that each node is in."""
        tree = page.tree
        regions = [_BODY] * len(tree)
        node = 1
        while node < len(tree):
            tag, after = tree.tags[node], tree.after[node]
            region = self._region(page, node) if tag in _PLACED else _BODY
            if region == _BODY and tag not in _WHOLE:
                node += 1
                continue
            regions[node:after] = [region] * (after - node)
            node = after
        return regions

    def _region(self, page: _Page, node: int) -> int:
        width, height, page_height = page.widths[node], page.heights[node], page.heights[0]
        if height == 0 or width == 0:
            return _BODY
        named = self._named(page, node)
        if named != _BODY:
            return named
        edge = min(self.edge + 40 / (20 * height / width + 1), page_height / 4)
        if page.tops[node] + height <= edge:
            return _HEADER
        if page.tops[node] >= page_height - edge:
            return _FOOTER
        if page.lefts[node] + width <= self.side * PAGE_WIDTH:
            return _LEFT
        return _RIGHT if page.lefts[node] >= (1 - self.side) * PAGE_WIDTH else _BODY

    def _named(self, page: _Page, node: int) -> int:
        area = page.areas.of(node)
        if area in _AT_THE_SIDE:
            return _LEFT if page.is_in_first_half(node) else _RIGHT
        return _NAMED.get(area, _BODY)


class _Page:
    """The place, size and declared look of each node of a page."""

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self.tree = tree
        self._chars = measures.chars
        self.areas = PageAreas(tree, measures)
        self.shown = shown_nodes(tree, measures)
        self.widths, self.heights = node_sizes(tree, measures)
        self.lefts, self.tops = node_places(tree, self.widths, self.heights)

    def is_in_first_half(self, node: int) -> bool:
        return 2 * int(self._chars[node]) < int(self._chars[-1])


def nom(tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
    """Keep all text and all links: no method at all (NOM)."""
    page = range(len(tree))
    return [page], [page]


FILTERS: dict[str, Callable[[PageTree, Measures], tuple[list[range], list[range]]]] = {
    "nom": nom,
    "ypm": Ypm(),
    "gdom": Gdom(),
    "gdom-cells": Gdom(containers=CELLS),
    "gdom-links": Gdom(retain_links=True),
}
"""The methods that say themselves what they keep, by the names of their rows.

`gdom-cells` counts the links of table cells only, as printed by its authors; `gdom-links` gives
back the links it removed, as their program does.
"""


_ROWS = (*FILTERS, *CUTTING, *_BY_MODEL)


def tables(data: Path | None, progress: Told) -> Iterator[PaperTable]:
    """Yield table 1 for each half of the pages, and, where no data is given, the crawls."""
    pages = pages_in(data)
    kept: dict[str, list[Kept]] = {}
    for number, name in enumerate(_ROWS):
        progress(number, len(_ROWS), f"{name} on {len(pages)} pages")
        keep = method_of(name)
        kept[name] = [kept_of(page, keep(page)) for page in pages]
    for half in dict.fromkeys(page.half for page in pages):
        yield _measures(
            half, {n: [k for k in own if k.page.half == half] for n, own in kept.items()}
        )
    if data is None:
        yield crawls("demo", {}, progress)


# ---------------------------------------------------------------- what a method keeps


def method_of(name: str) -> Keep:
    """Return a function of which nodes of a page a method keeps."""
    if name in FILTERS:
        return _kept_by_filter(name)
    make_partitioner(name)
    return kept_by_kinds(name)


def kept_by_kinds(method: str) -> Keep:
    """Return a function of which nodes are in blocks of the topic, and of related links."""
    method = method if ":" in method else f"{method}:kinds=rules"

    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        merged = merge_blocks(partition(page.body, method=method, url=page.url))
        topic = [block.nodes for block in merged.topic_blocks]
        return topic, topic + [block.nodes for block in merged.related_links]

    return kept


def _kept_by_filter(name: str) -> Keep:
    keep = FILTERS[name]

    def kept(page: LabelledPage) -> tuple[Ranges, Ranges]:
        tree = read_tree(page.body)
        return keep(tree, Measures(tree))

    return kept


# ---------------------------------------------------------------- measuring


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept part of a page: (kept, all) characters or links."""

    page: LabelledPage
    noise_text: tuple[int, int]
    noise_links: tuple[int, int]
    topic_text: tuple[int, int]
    topic_links: tuple[int, int]


def kept_of(page: LabelledPage, kept: tuple[Ranges, Ranges], *, strict: bool = False) -> Kept:
    """Compare what a method kept of a page with its labels."""
    labels = NodeLabels.of(page, read_tree(page.body))
    text, links = (mask(ranges, len(labels.chars)) for ranges in kept)
    topic, related = np.isin(labels.kinds, TOPIC), np.isin(labels.kinds, RELATED)
    labelled = labels.kinds != ""

    def share(values: Any, chosen: Any, wanted: Any) -> tuple[int, int]:
        return int(values[chosen & wanted].sum()), int(values[wanted].sum())

    return Kept(
        page,
        noise_text=share(labels.chars, text, labelled & ~(topic if strict else related)),
        noise_links=share(labels.links, links, labelled & ~related),
        topic_text=share(labels.chars, text, topic),
        topic_links=share(labels.links, links, related),
    )


def six_measures(results: Sequence[Kept], *, pooled: bool = False) -> tuple[float, ...]:
    """Return `MEASURES` in order, over all pages if `pooled`, else a mean; NaN where none."""
    noise_text = _mean_share((r.noise_text for r in results), pooled)
    noise_links = _mean_share((r.noise_links for r in results), pooled)
    text = _mean_share((r.topic_text for r in results), pooled)
    links = _mean_share((r.topic_links for r in results), pooled)
    return 1 - noise_text, 1 - noise_links, text, links, 1 - text, 1 - links


def _mean_share(pairs: Iterable[tuple[int, int]], pooled: bool) -> float:
    held = [(kept, total) for kept, total in pairs if total]
    if not held:
        return float("nan")
    if pooled:
        return sum(kept for kept, _ in held) / sum(total for _, total in held)
    return sum(kept / total for kept, total in held) / len(held)


def _measures(half: str, kept: dict[str, list[Kept]]) -> PaperTable:
    """Table 1, the published line of a method before its own."""
    rows = []
    for name, own in kept.items():
        if name.upper() in PUBLISHED:
            rows.append((f"{name.upper()}, published", *map(percent, PUBLISHED[name.upper()])))
        rows.append((name, *map(percent, six_measures(own))))
    pages = f"{len(kept[_ROWS[0]])} pages" + (f", half {half}" if half else "")
    return PaperTable(
        f"Table 1: noise removed and topic kept, {pages}", ("method", *MEASURES), tuple(rows), _NOTE
    )


# ---------------------------------------------------------------- crawling


class _Lines(io.StringIO):
    """Tells each line that crawls say, and counts those that are done."""

    def __init__(self, progress: Told) -> None:
        super().__init__()
        self._progress, self._done = progress, 0

    def write(self, text: str) -> int:
        self._done += text.count(": done")
        if text.strip():
            self._progress(self._done, 1 + len(_ALGORITHMS), text.strip())
        return len(text)


def crawls(web: str, arguments: dict[str, str], progress: Told) -> PaperTable:
    """Crawl a web with all links, and without those of blocks off topic."""
    plan = Plan(web, arguments, _ALGORITHMS, _BUDGET, settings={"MMCRAWL_BLOCKS": "spcola"})
    plan.check()
    with TemporaryDirectory(prefix="mmcrawl-") as folder:
        outcome = run_experiment(
            plan,
            Path(folder, "crawls"),
            cache=Path(folder, "truth"),
            parallel=2,
            console=Console(file=_Lines(progress)),
        )
    found: dict[str, tuple[str, ...]] = {}
    for row in outcome.results["algorithms"]:
        shares = (row[name]["mean"] for name in ("precision", "recall", "area_share"))
        found[row["label"]] = (f"{row['fetched']['mean']:g}", *map(percent, shares))
    rows = [(algorithm.label, *found[algorithm.label]) for algorithm in _ALGORITHMS]
    return PaperTable(
        f"Section 4: crawls of the web {web}, with and without links of blocks off topic",
        ("crawl", "pages", "precision", "recall", "area"),
        tuple(rows),
        "Published: no figures; the paper says that the crawl becomes markedly better. It drops the"
        " blocks that are off topic, and keeps navigation; so does -a links=related with the blocks"
        f" of spcola. After {_BUDGET:.0%} of the pages; area is that under recall, as a share of an"
        " oracle's.",
    )
