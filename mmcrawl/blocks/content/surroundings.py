"""What stands around each line of a page: elements, and the words of their class attributes."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.building import TEXT, integers
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
_LETTERS = bytes(code if code in b"abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_MOST_KNOWN = 10_000  # start tags that are remembered
_WORD = re.compile(r"[a-z]{2,}|[A-Z]{2,}(?![a-z])|[A-Z][a-z]+")
_UNSHOWN = re.compile(
    rb"""\shidden(?=[\s=>/])|aria-hidden\s*=\s*["']?true|display\s*:\s*none""", re.IGNORECASE
)
_OUTERMOST = frozenset("html body".split())


class _State(NamedTuple):
    """What stands around the text of an element.

    Attributes:
        bits: The elements and class words.
        depth: How many elements that hold text.
        look: A number for the tags and classes.
        total, least, most, innermost: What the class names say: their sum, …
    """

    bits: int
    depth: int
    look: int
    total: float = 0.0
    least: float = 0.0
    most: float = 0.0
    innermost: float = 0.0


class _StartTag(NamedTuple):
    """What a start tag says: its bits, what its class words say of the text inside, its class."""

    bits: int
    score: float
    names: tuple[bytes, ...]


_BARE = _StartTag(0, 0.0, ())


class Surroundings:
    """What stands around the lines of a page.

    Args:
        tree, measures, lines: The page.
        class_weights: What the words of class attributes say of the text inside.

    Attributes:
        with_text: Of each node, whether it is an element that holds text.
        around_first: Of each line, the innermost of them around its first run of text.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        class_weights: Mapping[str, float],
    ) -> None:
        self._tree = tree
        self._class_weights = class_weights
        self._known_names: dict[bytes, tuple[int, float]] = {}
        held = measures.chars[np.array(tree.after)] > measures.chars[:-1]
        self.with_text: NDArray[np.bool_] = held & ~tree.having((TEXT,))
        self.with_text[0] = False
        parents = np.array(tree.parents, dtype=np.int32)
        around = tree.innermost(self.with_text)
        self.around_first: NDArray[np.int32] = around[parents[np.array(lines.firsts)]]
        self._state_of, states = self._read()
        self._bits = np.array([state.bits for state in states], dtype=np.int64)
        self._depths = np.array([state.depth for state in states], dtype=np.int32)
        self._looks = np.array([state.look for state in states], dtype=np.int32)
        self._scores = np.array([state[3:] for state in states], dtype=np.float64)

    def looks(self, elements: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return numbers of which elements that hold text have the same if they look alike.

        Elements look alike that have the same tag and class names, and whose parents do.
        """
        return self._looks[self._state_of[elements]]

    def depths(self, elements: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return in how many elements each one stands that holds text, counting itself."""
        return self._depths[self._state_of[elements]]

    @property
    def in_comments(self) -> NDArray[np.bool_]:
        """Of each line, whether a class word of comments stands around it."""
        has = (self._bits >> (len(AROUND) + COMMENTS)) & 1 > 0
        return has[self._state_of[self.around_first]]

    def class_shares(
        self, share: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return of each group of class words what share of the text its lines have, and how many.

        Args:
            share: Of each line, its share of the page's text.

        Returns:
            The shares, and the logarithms of one more than the numbers of lines.
        """
        states = self._state_of[self.around_first]
        groups = (self._bits[:, None] >> np.arange(len(AROUND), _BITS)) & 1
        shares = np.bincount(states, share, minlength=len(groups)) @ groups
        return shares, np.log1p(np.bincount(states, minlength=len(groups)) @ groups)

    def columns(self, start: int, end: int) -> Floats:
        """Return what stands around some lines: one row a line, one column a number."""
        states = self._state_of[self.around_first[start:end]]
        columns = (self._bits[states, None] >> np.arange(_BITS + 1)) & 1
        depths = np.log1p(self._depths[states].astype(np.int64))
        return np.hstack([columns, depths[:, None], self._scores[states]]).astype(np.float32)

    def _read(self) -> tuple[NDArray[np.int32], list[_State]]:
        """Read the elements that hold text, each after the one around it.

        Elements that hold none have none of the lines in them, and are passed over. Of those that
        look alike to their tags and class words, and stand in such, one is read.

        Returns:
            Of each node the number of its state, and the states.
        """
        tree = self._tree
        nodes = np.flatnonzero(self.with_text)
        tags, parents = tree.tags, tree.parents
        state_of = array("i", bytes(4 * len(tree)))
        states = [_State(0, 0, 0)]
        known_tags: dict[bytes, _StartTag] = {}
        known_states: dict[tuple[int, str, _StartTag], int] = {}
        known_looks: dict[tuple[int, str, tuple[bytes, ...]], int] = {}
        for node, start_tag in zip(integers(nodes), tree.start_tags(nodes), strict=True):
            tag, written = tags[node], _BARE
            if len(start_tag) > len(tag) + 2 and tag not in _OUTERMOST:
                known = known_tags.get(start_tag)
                if known is None:
                    if len(known_tags) >= _MOST_KNOWN:
                        known_tags.clear()
                    known = known_tags[start_tag] = self._read_start_tag(start_tag)
                written = known
            key = (state_of[parents[node]], tag, written)
            state = known_states.get(key)
            if state is None:
                state = known_states[key] = len(states)
                around = states[key[0]]
                look = known_looks.setdefault(
                    (around.look, tag, written.names), len(known_looks) + 1
                )
                states.append(_below(around, tag, written, look))
            state_of[node] = state
        return np.frombuffer(state_of, dtype=np.int32), states

    def _read_start_tag(self, start_tag: bytes) -> _StartTag:
        if b"=" not in start_tag:
            return _BARE
        found = _NAMES.findall(start_tag)
        if not found:
            bit = _hidden_bit(start_tag)
            return _StartTag(bit, 0.0, ()) if bit else _BARE
        names = _joined_names(found)
        known = self._known_names.get(names)
        if known is None:
            known = self._known_names[names] = self._read_names(names)
        bits, score = known
        return _StartTag(bits | _hidden_bit(start_tag), score, _class_of(found))

    def _read_names(self, names: bytes) -> tuple[int, float]:
        """Return the bits of the class words of an element, and what they say of its text."""
        words = _words(names)
        bits = 0
        for word in words:
            bits |= _CLASS_BIT.get(word, 0)
        weights = [self._class_weights.get(word, 0.0) for word in words]
        return bits, math.fsum(weights) / math.sqrt(len(weights)) if weights else 0.0


def _below(around: _State, tag: str, written: _StartTag, look: int) -> _State:
    """Return the state of an element that stands in another one."""
    bits = around.bits | _AROUND_BIT.get(tag, 0) | written.bits
    score = written.score
    if not score:
        return around._replace(bits=bits, depth=around.depth + 1, look=look)
    return _State(
        bits,
        around.depth + 1,
        look,
        around.total + score,
        min(around.least, score),
        max(around.most, score),
        score,
    )


def class_words(found: Sequence[tuple[bytes, ...]]) -> set[str]:
    """Return the words of the class, id, role and itemprop attributes of an element."""
    return _words(_joined_names(found))


def _joined_names(found: Sequence[tuple[bytes, ...]]) -> bytes:
    return b" ".join([b" ".join(groups[1:]) for groups in found])


def _words(names: bytes) -> set[str]:
    if names.lower() == names:  # as nearly all are; the same, and quicker
        words = names.translate(_LETTERS).decode("ascii").split()
        return {word for word in words if len(word) > 1}
    return {word.lower() for word in _WORD.findall(names.decode("latin-1"))}


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
