"""What stands around each line of a page: elements, and the words of their class attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree

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

# An attribute behind white space, or the end of a start tag.
_NAMES = re.compile(
    rb"""[ \t\n\r\f\v\0](?:(?<=\0)|(?=[cCiIrR])((?i:class|id|role|itemprop))\s*=\s*"""
    rb"""(?:"([^"\0]{0,400})|'([^'\0]{0,400})|([^\s"'>\0]{1,400})))"""
)
_LETTERS = bytes(code if code in b"abcdefghijklmnopqrstuvwxyz" else 32 for code in range(256))
_SLICE = 10_000  # elements whose start tags are in memory at once
_WORD = re.compile(rb"[a-z]{2,}|[A-Z]{2,}(?![a-z])|[A-Z][a-z]+")
# Of a start tag in lower case.
_HIDDEN = re.compile(rb"""hidden(?:(?<=\shidden)(?=[\s=>/])|(?<=aria-hidden)\s*=\s*["']?true)""")
_UNDISPLAYED = re.compile(rb"display\s*:\s*none")
_OUTERMOST = frozenset("html body".split())


# What a start tag says: the bits of its class words, what these say of the text inside, its class.
_Said = tuple[int, float, tuple[bytes, ...]]
_NOTHING: _Said = (0, 0.0, ())
_KNOWN = 4_096  # attributes of start tags that are remembered from page to page
_FEW = 4  # of a start tag; of more they are not remembered: each may have 400 bytes
# What stands around the text of an element: the bits of elements and class words; how many elements
# that hold text; a number for their tags and classes; of what the class words say the sum, the
# least, the most and the innermost.
_State = tuple[int, int, int, float, float, float, float]


class Surroundings:
    """The surroundings of the lines of a page.

    Attributes:
        with_text: Of each node, whether it is an element that holds text.
        around_first: Of each line, the innermost of them around its first run of text.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        start_tags: StartTags,
    ) -> None:
        self._tree = tree
        held = measures.chars[np.asarray(tree.after)] > measures.chars[:-1]
        self.with_text: NDArray[np.bool_] = held & ~tree.having((TEXT,))
        self.with_text[0] = False
        parents = np.asarray(tree.parents, dtype=np.int32)
        around = tree.innermost(self.with_text)
        self.around_first: NDArray[np.int32] = around[parents[np.asarray(lines.firsts)]]
        self._state_of, states = self._read(start_tags)
        table = np.array(states, dtype=np.float64)
        self._bits = table[:, 0].astype(np.int64)
        self._depths, self._looks = table[:, 1:3].T.astype(np.int32)
        self._scores = table[:, 3:]

    def looks(self, elements: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return numbers, the same for elements with the same tag and class, and such parents."""
        looks: NDArray[np.int32] = self._looks[self._state_of[elements]]
        return looks

    def depths(self, elements: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return in how many elements each one stands that holds text, counting itself."""
        depths: NDArray[np.int32] = self._depths[self._state_of[elements]]
        return depths

    @property
    def in_comments(self) -> NDArray[np.bool_]:
        """Of each line, whether a class word of comments stands around it."""
        has = (self._bits >> (len(AROUND) + COMMENTS)) & 1 > 0
        return has[self._state_of[self.around_first]]

    def class_shares(
        self, share: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return per group of class words the share of text in its lines, and log(1 + their
        number).
        """
        states = self._state_of[self.around_first]
        groups = (self._bits[:, None] >> np.arange(len(AROUND), _BITS)) & 1
        shares = np.bincount(states, share, minlength=len(groups)) @ groups
        return shares, np.log1p(np.bincount(states, minlength=len(groups)) @ groups)

    def columns(self, start: int, end: int) -> Floats:
        """Return the surroundings of some lines: one row a line, one column a number."""
        states = self._state_of[self.around_first[start:end]]
        columns = (self._bits[states, None] >> np.arange(_BITS + 1)) & 1
        depths = np.log1p(self._depths[states].astype(np.int64))
        return np.hstack([columns, depths[:, None], self._scores[states]]).astype(np.float32)

    def _read(self, start_tags: StartTags) -> tuple[NDArray[np.int32], list[_State]]:
        """Read the elements that hold text, each after the one around it.

        Elements that hold none have none of the lines in them, and are skipped. Of those that
        look alike to their tags and class words, and stand in such, one is read.

        Returns:
            Of each node the number of its state, and the states.
        """
        tags = self._tree.tags
        nodes = np.flatnonzero(self.with_text)
        places = np.cumsum(self.with_text)  # of each element among them, from 1 on
        around = places[np.asarray(self._tree.parents)[nodes]].tolist()
        state_at = [0]
        states: list[_State] = [(0, 0, 0, 0.0, 0.0, 0.0, 0.0)]
        known: dict[tuple[int, str, int], int] = {}
        looks: dict[tuple[int, str, tuple[bytes, ...]], int] = {}
        said, said_of = start_tags.of(self._tree, nodes)
        for parent, node, number in zip(around, nodes.tolist(), said_of, strict=True):
            key = (state_at[parent], tags[node], number)
            state = known.get(key)
            if state is None:
                state = known[key] = len(states)
                bits, depth, look, total, least, most, innermost = states[key[0]]
                own, score, its_class = said[number]
                look = looks.setdefault((look, key[1], its_class), len(looks) + 1)
                bits |= own | _AROUND_BIT.get(key[1], 0)
                if score:
                    total, innermost = total + score, score
                    least, most = min(least, score), max(most, score)
                states.append((bits, depth + 1, look, total, least, most, innermost))
            state_at.append(state)
        state_of = np.array(state_at, dtype=np.int32)[np.where(self.with_text, places, 0)]
        return state_of, states


class StartTags:
    """What start tags say about the text inside them; one object reads many pages of a site."""

    def __init__(self, class_weights: Mapping[str, float]) -> None:
        self._of_word = {
            word.encode(): (_CLASS_BIT.get(word, 0), class_weights.get(word, 0.0))
            for word in (*_CLASS_BIT, *class_weights)
        }
        self._said = lru_cache(maxsize=_KNOWN)(self._say)

    def of(self, tree: PageTree, nodes: NDArray[np.integer]) -> tuple[list[_Said], list[int]]:
        """Return what start tags say, each once, nothing first, and what each element says."""
        numbers: list[int] = []
        number_of = {_NOTHING: 0}
        for first in range(0, len(nodes), _SLICE):
            start_tags = list(tree.start_tags(nodes[first : first + _SLICE]))
            each = list(dict.fromkeys(start_tags))
            number_by = {
                tag: number_of.setdefault(said, len(number_of))
                for tag, said in zip(each, self._read(each), strict=True)
            }
            numbers += map(number_by.__getitem__, start_tags)
        for place in np.flatnonzero(tree.having(_OUTERMOST)[nodes]).tolist():
            numbers[place] = 0
        return list(number_of), numbers

    def _read(self, start_tags: list[bytes]) -> Iterator[_Said]:
        """Yield what each start tag says."""
        tags = iter(start_tags)
        attributes: list[tuple[bytes, ...]] = []
        # One call finds the attributes of all of them, and the NUL behind each.
        joined = b"\0".join(start_tags)
        if joined.count(b"\0") >= len(start_tags):
            joined = b"\0".join([tag.replace(b"\0", b"\1") for tag in start_tags])
        for attribute in _NAMES.findall(joined + b"\0"):
            if attribute[0]:
                attributes.append(attribute)
                continue
            tag = next(tags)
            hidden = _hidden_bit(tag) if b"none" in tag or b"idden" in tag else 0
            say = self._said if len(attributes) <= _FEW else self._say
            yield say(hidden, *attributes) if hidden or attributes else _NOTHING
            attributes.clear()

    def _say(self, hidden: int, *attributes: tuple[bytes, ...]) -> _Said:
        """Return the statement of a start tag with some attributes."""
        words = _words(b" ".join([a or b or c for _, a, b, c in attributes]))
        bits, score = hidden, 0.0
        for bit, weight in filter(None, map(self._of_word.get, words)):
            bits |= bit
            score += weight
        its_class = (tuple(value) for name, *value in attributes if name.lower() == b"class")
        return bits, score and score / math.sqrt(len(words)), next(its_class, ())


def _words(names: bytes) -> list[bytes]:
    if names.islower():  # as nearly all are; the same, and quicker
        words = names.translate(_LETTERS).split()
        return [word for word in dict.fromkeys(words) if len(word) > 1]
    return list(dict.fromkeys(map(bytes.lower, _WORD.findall(names))))


def _hidden_bit(start_tag: bytes) -> int:
    lowered = start_tag.lower()
    shown = b"=" not in lowered or not (_HIDDEN.search(lowered) or _UNDISPLAYED.search(lowered))
    return 0 if shown else _HIDDEN_BIT


def words_around(tree: PageTree, node: int) -> set[str]:
    """Return the class words of the elements around a node, for learning their weights."""
    words: set[str] = set()
    node = tree.parents[node]
    while node > 0:
        if tree.tags[node] not in ("html", "body"):
            names = (b" ".join(found[1:]) for found in _NAMES.findall(tree.start_tag(node)))
            words.update(word.decode() for word in _words(b" ".join(names)))
        node = tree.parents[node]
    return words
