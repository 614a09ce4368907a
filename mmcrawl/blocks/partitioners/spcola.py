"""spcola: cuts a page at its tags, wherever content, look and size of the parts differ enough.

After W. Wang and J. Zhu 2012, 数字图书馆 Web 学术资源信息的分块采集研究, section 2.2.3.

Everything that a rule asks about an element is a difference of running sums over its subtree, so a
page costs time proportional to its nodes, however they are nested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import itemgetter

from mmcrawl.blocks.layout.features import is_topic_page
from mmcrawl.blocks.layout.measures import Measures, content_runs, shown_nodes
from mmcrawl.blocks.layout.sizes import NodeSizes
from mmcrawl.blocks.layout.styles import Sheets, Style, node_styles
from mmcrawl.blocks.partitioners.base import Cut, number
from mmcrawl.page.html.tags import BLOCK_TAGS
from mmcrawl.page.html.tree import PageTree

_SECTION_TAGS = frozenset(
    """
    table div section article main aside header footer nav form fieldset center blockquote figure
    details dialog address hgroup search
    """.split()
)
_LIST_TAGS = frozenset("ul ol menu dir dl".split())
SPLIT_TAGS = _SECTION_TAGS | _LIST_TAGS | frozenset("tr p pre h1 h2 h3 h4 h5 h6 hr".split())
"""The tags that part a page, all passes together."""

_FLASH = frozenset("object embed applet".split())
_PICTURES = frozenset("img image".split())
_OTHER_CONTENT = frozenset("iframe frame video audio input select textarea button canvas".split())
_ITEMS = frozenset("li dt dd".split())

_LONGEST_LINK = 1000  # characters
_LINK_LIST = 0.8  # from this share of link text on, links are all there is
_LINKED_ITEMS = 0.5  # in a list with a link in nearly each item, from this share on


class ElementRules:
    """Tells which elements of a page are not split further.

    Args:
        min_width, min_height: An element below both is no part of the layout (rule 2).
        merges_links: Whether an element with links in it may be merged by rule 1.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        *,
        min_width: float,
        min_height: float,
        merges_links: bool,
        sheets: Sheets,
    ) -> None:
        self._tree, self._after = tree, tree.after
        self._sizes = NodeSizes(tree, measures)
        self._min_width, self._min_height = min_width, min_height
        self._merges_links = merges_links
        self._chars = measures.chars.tolist()
        self._link_chars = measures.link_chars.tolist()

        def shown(tags: Iterable[str]) -> list[int]:
            return [
                node for node in tree.elements(*tags) if not measures.hidden[tree.parents[node]]
            ]

        def sums(nodes: Iterable[int]) -> list[int]:
            counts = [0] * (len(tree) + 1)
            for node in nodes:
                counts[node + 1] = 1
            return list(accumulate(counts))

        pictures = shown(_PICTURES)
        self._pictures = sums(pictures)
        self._bare_pictures = sums(node for node in pictures if not measures.in_link[node])
        self._flash = sums(tree.elements(*_FLASH))
        self._other = sums(shown(_OTHER_CONTENT))
        self._links = sums(shown(("a",)))
        self._split_tags = sums(tree.elements(*SPLIT_TAGS))
        self._items = sums(tree.elements(*_ITEMS))
        boxes = tree.elements(*_SECTION_TAGS, *_LIST_TAGS)
        self._crowded = sums(node for node in boxes if self._in(self._links, node) > 1)
        self._styles = node_styles(tree, measures, sheets)
        self._texts = _Changes(_text_looks(tree, measures, self._styles))
        self._boxes = _Changes(_box_keys(measures))

    def is_whole(self, node: int) -> bool:
        """Whether an element is not split, by any of the three rules."""
        return self.is_plain(node) or self.is_small(node) or self.looks_alike(node)

    def is_link_around_blocks(self, node: int) -> bool:
        """Whether an ``a`` is a teaser: a heading, picture or text in a link that was not left
        open.
        """
        if not self._in(self._split_tags, node):
            return False
        is_short = self._in(self._chars, node) <= _LONGEST_LINK
        return is_short and bool(self._tree.attributes(node).get("href"))

    def looks_alike(self, node: int) -> bool:
        """Rule 1: all that is in the element looks alike, and like the element itself.

        What is in an element are its pieces of text, each with the background, colour, size and
        weight that most of it has, links being of a colour of their own, and the boxes in it.
        A box looks like another if it has the same tag and class: a class is the key of a look,
        also of one that is declared in a sheet not at hand.
        """
        if self._in(self._links, node) and not self._merges_links:
            return False
        if self._in(self._pictures, node) or self._in(self._flash, node):
            return False
        if self._in(self._other, node):
            return False
        after = self._after[node]
        look = self._texts.key_of(node, after)
        return look in (None, (self._styles[node], False)) and self._boxes.alike(node + 1, after)

    def is_small(self, node: int) -> bool:
        """Rule 2: the element is too small to be part of the layout."""
        sizes = self._sizes  # most elements are wide, and no height is asked for
        return sizes.widths[node] < self._min_width and sizes.heights[node] < self._min_height

    def is_plain(self, node: int) -> bool:
        """Rule 3: a list of links, or only pictures or flash; plain text has no tag to split at."""
        if self._in(self._other, node):
            return False
        chars = self._in(self._chars, node)
        if not chars:
            return bool(self._in(self._pictures, node) or self._in(self._flash, node))
        if self._in(self._flash, node) or self._in(self._bare_pictures, node):
            return False
        return self._is_link_list(node, chars)

    def _is_link_list(self, node: int, chars: int) -> bool:
        links = self._in(self._links, node)
        if not links:
            return False
        share = self._in(self._link_chars, node) / chars
        if self._tree.tags[node] in _LIST_TAGS:
            items = self._in(self._items, node)
            return share >= _LINK_LIST or (share >= _LINKED_ITEMS and links >= items)
        crowded = self._crowded
        return share >= _LINK_LIST and crowded[self._after[node]] == crowded[node + 1]

    def _in(self, sums: list[int], node: int) -> int:
        """Return the measures of a node and its subtree."""
        return sums[self._after[node]] - sums[node]


class _Changes:
    """A sequence of keys at nodes, that tells whether all keys in a range of nodes are the same."""

    def __init__(self, keys: Iterable[tuple[int, Hashable]]) -> None:
        pairs = sorted(keys, key=itemgetter(0))
        self._places = [place for place, _ in pairs]
        self._keys = [key for _, key in pairs]
        changes = (before != key for before, key in pairwise(self._keys))
        self._runs = list(accumulate(changes, initial=0))

    def alike(self, first: int, after: int) -> bool:
        """Whether no two keys in a range differ."""
        i, j = bisect_left(self._places, first), bisect_left(self._places, after)
        return i == j or self._runs[i] == self._runs[j - 1]

    def key_of(self, first: int, after: int) -> Hashable:
        """Return the key of a range: None if it has none, ``...`` if it has several."""
        if not self.alike(first, after):
            return ...
        i = bisect_left(self._places, first)
        return self._keys[i] if i < bisect_left(self._places, after) else None


def _text_looks(
    tree: PageTree, measures: Measures, styles: Sequence[Style]
) -> Iterator[tuple[int, Hashable]]:
    """Yield the look that most text directly inside each block-level element has."""
    hidden, in_link = measures.hidden, measures.in_link
    containers = tree.innermost(tree.having(BLOCK_TAGS))[tree.runs].tolist()
    runs: dict[int, list[int]] = defaultdict(list)
    for node, container in zip(tree.runs.tolist(), containers, strict=True):
        if not hidden[node]:
            runs[container].append(node)
    for found in runs.values():
        first = found[0]
        if len(found) == 1:
            yield first, (styles[first], in_link[first])
            continue
        looks: dict[Hashable, int] = defaultdict(int)
        for node in found:
            looks[styles[node], in_link[node]] += len(tree.text(node))
        yield first, max(looks, key=looks.__getitem__)


def _box_keys(measures: Measures) -> Iterator[tuple[int, Hashable]]:
    for node in measures.tree.elements(*_SECTION_TAGS):
        start_tag = measures.drawn[node]
        yield node, (start_tag.name, start_tag.attributes.get("class", ""))


class Spcola:
    """Cuts a page at an ordered list of tags until no block holds any of them.

    The paper's list is TABLE and DIV, TR, P, HR, UL, DIR, DL; TD is not in it, for its cells would
    be too small. Counted with DIV are today's sections (``section``, ``article``, ``main``,
    ``aside``, ``header``, ``footer``, ``nav``, …) and ``form``; with P the headings and ``pre``;
    with UL ``ol`` and ``menu``. Each tag has its turn on the blocks that the former ones left.
    Since the rules of :class:`ElementRules`, which keep an element whole, look at that element
    alone, the blocks left in the end do not depend on the order, and they are found in one walk
    over the page.

    What stands between two elements that were split off, loose text above all, is a block too, so
    that nothing visible is in no block. A link is not split, whatever it holds. Elements that carry
    no layout (``font``, ``span``, …), and what no reader sees, neither part blocks nor make any.
    There are no levels.

    Args:
        min_width, min_height: Pixels; an element narrower and lower is not split (rule 2).
        link_text_ratio: Characters of link text for each character of other text, below which a
            page is there for its text, not for its links (step 4). On a page of links, text with
            links in it is not merged by rule 1: its links are distinguished.
        styles: Linked style sheets, as far as the caller has them: texts, or texts by href.

    Raises:
        ValueError: a number is none, or negative.
    """

    def __init__(
        self,
        *,
        min_width: float | str = 100.0,
        min_height: float | str = 30.0,
        link_text_ratio: float | str = 1.0,
        styles: Sheets = (),
    ) -> None:
        self._min_width = number("min_width", min_width, float, 0)
        self._min_height = number("min_height", min_height, float, 0)
        self._link_text_ratio = number("link_text_ratio", link_text_ratio, float, 0)
        self._styles = styles

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the blocks of a page, without levels."""
        measures = Measures(tree)
        rules = ElementRules(
            tree,
            measures,
            min_width=self._min_width,
            min_height=self._min_height,
            merges_links=is_topic_page(measures, self._link_text_ratio),
            sheets=self._styles,
        )
        return _cuts(tree, measures, _boundaries(tree, rules))


def _boundaries(tree: PageTree, rules: ElementRules) -> list[int]:
    """Return the nodes before which a block may begin, in order."""
    found = {1, len(tree)}
    tags, after = tree.tags, tree.after
    node = 1
    while node < len(tree):
        if tags[node] in SPLIT_TAGS:
            found |= {node, after[node]}
            node = after[node] if rules.is_whole(node) else node + 1
        elif tags[node] == "a" and rules.is_link_around_blocks(node):
            found |= {node, after[node]}
            node = after[node]
        else:
            node += 1
    return sorted(found)


def _cuts(tree: PageTree, measures: Measures, boundaries: list[int]) -> list[Cut]:
    """Return a cut of everything shown between two boundaries."""
    pieces = shown_nodes(tree, measures)
    places = [bisect_right(boundaries, piece) for piece in pieces]
    runs = content_runs(tree, pieces, places)
    return [Cut(run.node, run.start, run.end) for run in runs if run.end > run.start]
