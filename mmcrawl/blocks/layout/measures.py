"""How much text, link text, images and controls each element holds, and runs of content.

Everything is counted in one pass over the nodes of a page and kept as running sums, so that any
subtree, and any range of nodes, is measured by one subtraction.

Text is visible unless an element hides it by its tag (script, style, template, …); furigana are not
counted. Text hidden by the attribute ``hidden`` or an inline ``display:none`` counts as visible,
because scripts often reveal it.

A partitioner assigns an owner to each piece of content (a run of text, an image, a control).
Consecutive pieces of one owner are one run. The byte range of a run is as wide as whole elements
allow, so that a heading keeps its tags and bare markup between runs stays out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import HIDDEN
from mmcrawl.page.html.tree import PageTree

# Most start tags of a page differ by an address alone. Each is read for the attributes that look
# and size are found from, and elements whose tags say the same share one object: what follows from
# it has to be found but once.
_READ = ("class", "id", "style", "bgcolor", "width", "height", "color", "size")
_ANY_READ = b"(?i:" + "|".join(_READ).encode() + b")"
# A start tag about which no two readings differ: each attribute that is read stands in it once, in
# ASCII, without references; and each value is quoted, or plain.
_VALUE = (
    rb"""(?:"[^"%(but)b]*+"(?=[\s/>])|'[^'%(but)b]*+'(?=[\s/>])"""
    rb"""|[^\s"'>%(but)b][^\s>%(but)b]*+(?=[\s>]))"""
)
_OTHER = (
    rb"(?!" + _ANY_READ + rb"[\s=/>])[\w:.@-]++(?:=" + _VALUE % {b"but": b""} + rb"|(?=[\s/>]))"
)
_ONCE = b"|".join(
    rb"(?(%d)(?!)|(?i:%b)=(%b))" % (group, name.encode(), _VALUE % {b"but": rb"&\x00\x80-\xff"})
    for group, name in enumerate(_READ, start=1)
)
_PLAIN = re.compile(rb"<[^\s/>]++(?:\s++(?:" + _OTHER + b"|" + _ONCE + rb"))*\s*+/?>")

Sums = NDArray[np.int32]

_LEAST_THREAD = 500  # characters: many sentences, in any language

SHOWN_TAGS = frozenset(
    """
    img image svg math canvas video audio object embed applet iframe frame select textarea button
    meter progress isindex input a area
    """.split()
)
"""Elements that a reader may see although they hold no text; see `is_shown_element`."""

_LINKS = frozenset("a area".split())


class DrawnTag:
    """How start tags say their elements are drawn; equal only to itself.

    Attributes:
        name: Lower case.
        attributes: Class, id, style, bgcolor, width, height, color and size, as far as they stand
            in the tag, and perhaps others.
    """

    __slots__ = ("attributes", "name")

    def __init__(self, name: str, attributes: Mapping[str, str]) -> None:
        self.name = name
        self.attributes = attributes


def drawn_tags(tree: PageTree) -> list[DrawnTag]:
    """Return the start tag of each node; of a run of text, one without attributes."""
    text = DrawnTag(TEXT, {})
    found = [text] * len(tree)
    by_bytes: dict[bytes, DrawnTag] = {}
    by_values: dict[tuple[str, tuple[bytes | None, ...]], DrawnTag] = {}
    body, starts, inner_starts = tree.body, tree.starts, tree.inner_starts
    in_utf8 = tree.encoding == "utf-8"
    for node, name in enumerate(tree.tags):
        if name == TEXT:
            continue
        written = body[starts[node] : inner_starts[node]]
        known = by_bytes.get(written)
        if known is None:
            # In other encodings a quote may be part of a character, or go with one cut short.
            readable = in_utf8 or (written.isascii() and tree.start_tag(node) == written)
            plain = _PLAIN.fullmatch(written) if readable else None
            if plain is None:
                known = DrawnTag(name, tree.attributes(node))
            else:
                key = name, plain.groups()
                known = by_values.get(key)
                if known is None:
                    known = by_values[key] = DrawnTag(name, _attributes(key[1]))
            by_bytes[written] = known
        found[node] = known
    return found


def _attributes(values: tuple[bytes | None, ...]) -> dict[str, str]:
    """Return the attributes of a plain start tag, whose values may be in quotes."""
    return {
        name: (value[1:-1] if value[0] in b"\"'" else value).decode("ascii")
        for name, value in zip(_READ, values, strict=True)
        if value is not None
    }


class Measures:
    """Running sums over the nodes of a page, and where its elements stand.

    Each array has one entry more than the page has nodes: ``sums[j] - sums[i]`` is what the nodes
    from i up to, not including, j hold. Characters are those of the text as read (entities
    resolved, white space collapsed), so that they do not depend on the encoding.
    """

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree
        chars = np.zeros(len(tree), dtype=np.int32)
        chars[tree.runs] = tree.texts.lengths()
        hidden = self._hidden(chars)
        chars[hidden] = 0
        in_link = tree.inside(tree.having(("a",)))
        self.hidden: bytes = hidden.tobytes()
        """Of each node: 1 if its text is none that a reader sees, else 0."""
        self.in_link: bytes = in_link.tobytes()
        """Of each node: 1 if it is a link or stands inside of one, else 0."""
        self.chars: Sums = _running(chars)
        """Characters of visible text."""
        self.link_chars: Sums = _running(np.where(in_link, chars, 0))
        """Characters of visible text inside links."""

    @cached_property
    def drawn(self) -> Sequence[DrawnTag]:
        """The start tag of each node."""
        return drawn_tags(self.tree)

    def _hidden(self, chars: Sums) -> NDArray[np.bool_]:
        """Return of each node whether its text is hidden, given how many characters it has.

        What is for readers without scripts is, unless it is a text, and most of the page's. Forums
        that are drawn by a script carry their whole thread in a noscript element; the empty shell
        of an application, a sentence that asks for scripts.
        """
        tree = self.tree
        hidden = tree.inside(tree.having(HIDDEN))
        furigana = tree.having(("rt", "rp"))  # readings above characters: the text said twice
        if furigana.any():
            hidden |= tree.inside(furigana) & tree.inside(tree.having(("ruby",)))
        fallbacks = tree.having(("noscript",)) & ~hidden
        if not fallbacks.any():
            return hidden
        inside = tree.inside(fallbacks) & ~hidden
        visible = int(chars[~hidden].sum())
        fallback = int(chars[inside].sum())
        if fallback >= _LEAST_THREAD and 2 * fallback > visible:
            return hidden
        return hidden | inside

    def total(self, sums: Sums, node: int) -> int:
        """Return the measures of a node and its subtree."""
        return int(sums[self.tree.after[node]] - sums[node])


def _running(values: NDArray[np.int32]) -> Sums:
    sums = np.zeros(len(values) + 1, dtype=np.int32)
    np.cumsum(values, out=sums[1:])
    return sums


class Run(NamedTuple):
    """Neighbouring pieces of content of one owner, and their byte range."""

    owner: int
    node: int  # the innermost element that the run lies in, or is
    nodes: range  # the nodes of the run
    start: int
    end: int


def is_shown_element(tree: PageTree, measures: Measures, node: int) -> bool:
    """Whether an element without text is seen: an image, a control, a link drawn by a style."""
    tag = tree.tags[node]
    if tag not in SHOWN_TAGS:
        return False
    around = tree.parents[node]
    if tag == "area" and tree.tags[around] == "map":
        around = tree.parents[around]  # a map's text is hidden, its links lie over a picture
    if measures.hidden[around]:
        return False
    if tag in _LINKS:
        return bool(tree.attributes(node).get("href"))
    return tag != "input" or tree.attributes(node).get("type", "").lower() != "hidden"


def shown_nodes(tree: PageTree, measures: Measures) -> list[int]:
    """Return the pieces of content of a page in order, none inside another."""
    tags, after = tree.tags, tree.after
    is_text = measures.chars[1:] > measures.chars[:-1]
    found: list[int] = []
    for node in range(len(tree) - 1, 0, -1):
        if tags[node] == TEXT:
            if is_text[node]:
                found.append(node)
        elif not (found and found[-1] < after[node]) and is_shown_element(tree, measures, node):
            found.append(node)
    found.reverse()
    return found


def content_runs(
    tree: PageTree, pieces: Sequence[int], owners: Sequence[int], *, within_owners: bool = False
) -> list[Run]:
    """Cut content into runs.

    Args:
        pieces: Nodes in order, none inside another.
        owners: Of each piece, any number.
        within_owners: The owners are nodes around the pieces, or the pieces themselves, and no run
            reaches beyond its owner; else it reaches as far as the page lets it.

    Returns:
        The runs in order; their byte ranges do not overlap.
    """
    bounds = [i for i in range(1, len(pieces)) if owners[i] != owners[i - 1]]
    runs = []
    for start, stop in pairwise([0, *bounds, len(pieces)] if pieces else []):
        before = pieces[start - 1] if start else -1
        behind = pieces[stop] if stop < len(pieces) else len(tree)
        top = owners[start] if within_owners else 0
        first, last = pieces[start], pieces[stop - 1]
        left = right = _widest(tree, first, top, before, behind)
        if tree.after[left] <= last:
            right = _widest(tree, last, top, before, behind)
        runs.append(_run(tree, owners[start], left, right))
    return runs


def _widest(tree: PageTree, piece: int, top: int, before: int, behind: int) -> int:
    """Return the outermost element around a piece, up to a top, without foreign content."""
    parents, after = tree.parents, tree.after
    node = piece
    while node != top:
        parent = parents[node]
        if parent <= before or after[parent] > behind:
            break
        node = parent
    return node


def _run(tree: PageTree, owner: int, left: int, right: int) -> Run:
    after = tree.after[right]
    node = left
    while tree.after[node] < after:
        node = tree.parents[node]
    return Run(owner, node, range(left, after), tree.starts[left], tree.ends[right])
