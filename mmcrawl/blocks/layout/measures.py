"""How much text, link text, images and controls each element holds.

Everything is counted in one pass over the nodes of a page and kept as running sums, so that any
subtree, and any range of nodes, is measured by one subtraction.

Text is visible unless an element hides it by its tag (script, style, template, …); furigana are not
counted. Text hidden by the attribute ``hidden`` or an inline ``display:none`` counts as visible,
because scripts often reveal it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

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
