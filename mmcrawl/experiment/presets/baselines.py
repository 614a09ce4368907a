"""The filters that Wang & Zhu (2012, section 4) compare their method with.

Each takes a page's tree and its measures, and returns the nodes whose text is kept and those whose
links are kept. They cut no blocks, so they are no partitioners: only the paper's table needs them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import Run, content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import LINE_HEIGHT, PAGE_WIDTH, node_sizes
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS
from mmcrawl.page.html.tree import PageTree
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


_CELLS = frozenset("td th".split())


def node_places(
    tree: PageTree, widths: Sequence[float], heights: Sequence[float]
) -> tuple[list[float], list[float]]:
    """Return how far from the left and from the top of the page each node begins, in CSS pixels.

    Elements stand below each other in the order of the text, and at the left of what they stand
    in; the cells of a row stand side by side. What fills less than a line takes no height.

    Args:
        tree: The page.
        widths, heights: Of its nodes (see :func:`~mmcrawl.blocks.layout.sizes.node_sizes`).
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


class Ypm:
    """Tells the header, footer, side bars and body of a page; the body is what it keeps.

    The papers ask a browser where each element is. Here nothing is rendered: places are estimated
    from the order of the text and the declared sizes (:mod:`~mmcrawl.blocks.layout.sizes`); and
    since today's sizes are declared in style sheets that are not at hand, an element whose tag,
    role, class or id says that it is a head, a foot, a side bar or a menu
    (:mod:`~mmcrawl.blocks.layout.areas`) is taken to be where it says. A side bar or menu is at the
    left or at the right by the half of the page's text that it is in.

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
