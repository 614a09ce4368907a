"""The start tags of a page, as far as they say how an element is drawn.

Most start tags of a page differ by an address alone. Here each is read for the attributes that look
and size are found from, and elements whose tags say the same share one object: what follows from
it has to be found but once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mmcrawl.page.building import TEXT
from mmcrawl.page.tree import PageTree

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


class DrawnTag:
    """What start tags say of how their elements are drawn; equal only to itself.

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
