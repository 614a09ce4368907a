"""What stands around each line of a page: elements, and the words of their class attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree

Floats = NDArray[np.float32]

# Elements and roles around a line.
AROUND = (
    "article", "main", "nav", "aside", "header", "footer", "form", "table", "list", "figure",
    "section", "blockquote", "a", "button", "details", "dialog",
)  # fmt: skip
_AROUND_BIT = {name: 1 << i for i, name in enumerate(AROUND)} | dict.fromkeys(
    ("ul", "ol", "dl"), 1 << AROUND.index("list")
)
# Words of class, id, role and itemprop attributes, in groups of one meaning.
CLASS_GROUPS = (
    "comment comments commentlist disqus respond livefyre spotim discussion",
    "review reviews rating ratings testimonial testimonials stars",
    "related recommend recommended recommendations recirc more trending popular similar upsell "
    "crosssell suggested latest also outbrain taboola readmore",
    "share social sharing facebook twitter follow addthis",
    "sidebar widget rail aside secondary complementary",
    "footer foot colophon bottom legal disclaimer contentinfo",
    "header masthead top topbar banner hero",
    "nav menu breadcrumb breadcrumbs navigation navbar pagination pager pages skip toc menubar",
    "promo ad ads advert advertisement sponsor sponsored promotion cta",
    "newsletter subscribe signup subscription email optin",
    "modal popup dialog alertdialog overlay cookie consent gdpr privacy drawer offcanvas tooltip "
    "toast lightbox",
    "author byline bio meta date time timestamp published posted credits info",
    "caption credit figcaption figure image img photo gallery media slide slideshow thumbnail",
    "product description details detail specs specification specifications spec features feature "
    "overview about",
    "card cards tile grid item items teaser list listing result results row",
    "faq faqs accordion question questions answer tab tabs panel tabpanel",
    "filter filters facet facets sort sorting search select option options variant swatch dropdown",
    "cart price pricing buy add checkout shipping delivery stock quantity wishlist",
    "content body post entry article text story main prose copy richtext markdown paragraph "
    "message bbcode",
    "tags tag category categories topics label labels badge",
    "user login account signature sig avatar profile member username",
    "quote blockquote quoted",
    "code highlight pre snippet codehilite",
)
COMMENTS = 0  # column of the group of comments
_CLASS_BIT = {
    word: 1 << (len(AROUND) + i) for i, group in enumerate(CLASS_GROUPS) for word in group.split()
}
_BITS = len(AROUND) + len(CLASS_GROUPS)
_HIDDEN_BIT = 1 << _BITS

AROUND_COLUMNS = _BITS + 1 + 1 + 4
"""Elements, groups of class words, hidden; depth; what the class words say."""

_NAMES = re.compile(
    rb"""\s(class|id|role|itemprop)\s*=\s*(?:"([^"]{0,400})|'([^']{0,400})|([^\s"'>]{1,400}))""",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{2,}|[A-Z]{2,}(?![a-z])|[A-Z][a-z]+")
_UNSHOWN = re.compile(
    rb"""\shidden(?=[\s=>/])|aria-hidden\s*=\s*["']?true|display\s*:\s*none""", re.IGNORECASE
)
_OUTERMOST = frozenset("html body".split())


class _Scores(NamedTuple):
    """What the class names around a node say: their sum, least, most and innermost."""

    total: float
    least: float
    most: float
    innermost: float

    def below(self, score: float) -> _Scores:
        return _Scores(self.total + score, min(self.least, score), max(self.most, score), score)


_NO_SCORES = _Scores(0.0, 0.0, 0.0, 0.0)


class Surroundings:
    """What stands around the lines of a page.

    Args:
        tree, measures, lines: The page.
        class_weights: What the words of class attributes say of the text inside.

    Attributes:
        elements: The elements that hold text, in order.
        around_first: Of each line, the innermost of them around its first run of text.
        depths: Of these elements, by their index into the tree.
        looks: Likewise: a number for each tag and class, with those around it.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        class_weights: Mapping[str, float],
    ) -> None:
        self._tree = tree
        self._chars = measures.chars
        self._class_weights = class_weights
        self._known_names: dict[tuple[tuple[bytes, ...], ...], tuple[int, float]] = {}
        self.elements = self._elements_with_text()
        self.around_first = [self._element_with_text(first) for first in lines.firsts]
        self._flags, self.depths, self.looks = ([0] * len(tree) for _ in range(3))
        self._scores: list[_Scores] = [_NO_SCORES] * len(tree)
        self._read()
        self._bits = np.array([self._flags[node] for node in self.around_first], dtype=np.int64)

    @property
    def in_comments(self) -> NDArray[np.bool_]:
        """Of each line, whether a class word of comments stands around it."""
        return self._has(len(AROUND) + COMMENTS)

    def class_shares(self, share: NDArray[np.float64]) -> tuple[list[float], list[float]]:
        """Return of each group of class words what share of the text its lines have, and how many.

        Args:
            share: Of each line, its share of the page's text.

        Returns:
            The shares, and the logarithms of one more than the numbers of lines.
        """
        groups = [self._has(bit) for bit in range(len(AROUND), _BITS)]
        return (
            [float(share @ group) for group in groups],
            [math.log1p(np.count_nonzero(group)) for group in groups],
        )

    def columns(self, start: int, end: int) -> Floats:
        """Return what stands around some lines: one row a line, one column a number."""
        nodes = self.around_first[start:end]
        columns = (self._bits[start:end, None] >> np.arange(_BITS + 1)) & 1
        depths = np.log1p([self.depths[node] for node in nodes])
        each = chain.from_iterable(self._scores[node] for node in nodes)
        scores = np.fromiter(each, dtype=np.float64, count=4 * len(nodes)).reshape(-1, 4)
        return np.hstack([columns, depths[:, None], scores]).astype(np.float32)

    def _has(self, bit: int) -> NDArray[np.bool_]:
        return (self._bits >> bit) & 1 > 0

    def _element_with_text(self, node: int) -> int:
        """Return the innermost element around a node that holds more than white space."""
        node = self._tree.parents[node]
        while node and self._chars[self._tree.after[node]] == self._chars[node]:
            node = self._tree.parents[node]
        return node

    def _elements_with_text(self) -> list[int]:
        tags = self._tree.tags
        held = self._chars[np.array(self._tree.after)] > self._chars[:-1]
        return [node for node in np.flatnonzero(held).tolist() if node and tags[node] != TEXT]

    def _read(self) -> None:
        """Read the elements that hold text, each after the one around it.

        Elements that hold none have none of the lines in them, and are passed over.
        """
        tree = self._tree
        tags, parents = tree.tags, tree.parents
        flags, depths, looks, scores = self._flags, self.depths, self.looks, self._scores
        no_class: tuple[bytes, ...] = ()
        known_tags: dict[bytes, tuple[int, float, tuple[bytes, ...]]] = {}
        known_looks: dict[tuple[int, str, tuple[bytes, ...]], int] = {}
        starts, inner_starts = tree.starts, tree.inner_starts
        for node in self.elements:
            parent, tag = parents[node], tags[node]
            bits = flags[parent] | _AROUND_BIT.get(tag, 0)
            score, own_class = 0.0, no_class
            if inner_starts[node] - starts[node] > len(tag) + 2 and tag not in _OUTERMOST:
                start_tag = tree.start_tag(node)
                known = known_tags.get(start_tag)
                if known is None:
                    known = known_tags[start_tag] = self._read_start_tag(start_tag)
                named, score, own_class = known
                bits |= named
            depths[node] = depths[parent] + 1
            flags[node] = bits
            scores[node] = scores[parent].below(score) if score else scores[parent]
            look = (looks[parent], tag, own_class)
            looks[node] = known_looks.setdefault(look, len(known_looks) + 1)

    def _read_start_tag(self, start_tag: bytes) -> tuple[int, float, tuple[bytes, ...]]:
        """Return the bits of a start tag, what its class words say, and its class."""
        if b"=" not in start_tag:
            return 0, 0.0, ()
        found = _NAMES.findall(start_tag)
        if not found:
            return _hidden_bit(start_tag), 0.0, ()
        names_found = tuple(groups[1:] for groups in found)
        known = self._known_names.get(names_found)
        if known is None:
            known = self._known_names[names_found] = self._read_names(found)
        named, score = known
        return named | _hidden_bit(start_tag), score, _class_of(found)

    def _read_names(self, found: Sequence[tuple[bytes, ...]]) -> tuple[int, float]:
        """Return the bits of the class words of an element, and what they say of its text."""
        words = class_words(found)
        bits = 0
        for word in words:
            bits |= _CLASS_BIT.get(word, 0)
        weights = [self._class_weights.get(word, 0.0) for word in words]
        return bits, math.fsum(weights) / math.sqrt(len(weights)) if weights else 0.0


def class_words(found: Sequence[tuple[bytes, ...]]) -> set[str]:
    """Return the words of the class, id, role and itemprop attributes of an element."""
    names_found = b" ".join(b" ".join(groups[1:]) for groups in found).decode("latin-1")
    return {word.lower() for word in _WORD.findall(names_found)}


def _hidden_bit(start_tag: bytes) -> int:
    named = b"idden" in start_tag or b"none" in start_tag
    return _HIDDEN_BIT if named and _UNSHOWN.search(start_tag) else 0


def _class_of(found: Sequence[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    return next((groups[1:] for groups in found if groups[0].lower() == b"class"), ())


def words_around(tree: PageTree, node: int) -> set[str]:
    """Return the class words of the elements around a node, for learning their weights."""
    words: set[str] = set()
    node = tree.parents[node]
    while node > 0:
        if tree.tags[node] not in ("html", "body"):
            words |= class_words(tuple(_NAMES.findall(tree.start_tag(node))))
        node = tree.parents[node]
    return words
