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
_ANY_READ = re.compile("|".join(_READ).encode(), re.IGNORECASE)


class DrawnTag:
    """What start tags say of how their elements are drawn; equal only to itself.

    Attributes:
        name: Lower case.
        attributes: Class, id, style, bgcolor, width, height, color and size, as far as they stand
            in the tag.
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
    by_values: dict[tuple[str, tuple[str | None, ...]], DrawnTag] = {}
    for node, name in enumerate(tree.tags):
        if name == TEXT:
            continue
        written = tree.written(node)
        known = by_bytes.get(written)
        if known is None:
            said = tree.attributes(node) if _ANY_READ.search(tree.start_tag(node)) else {}
            key = name, tuple(map(said.get, _READ))
            known = by_values.get(key)
            if known is None:
                drawn = {name: said[name] for name in _READ if name in said}
                known = by_values[key] = DrawnTag(name, drawn)
            by_bytes[written] = known
        found[node] = known
    return found
