"""Structured data of a page: JSON-LD and microdata, read into one form; and its meta tags.

Only what describes works is read of it: names, texts and addresses of properties. Contexts are not
resolved, as no search engine resolves those of pages: names are schema.org's, whatever the prefix.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mmcrawl.page.tree import PageTree

_LONGEST_SCRIPT = 1_000_000  # characters of JSON-LD
_LONGEST_TEXT = 2_000
_MOST_ITEMS = 1_000
# Of microdata: the attribute that has the value, by element; others have it as their text.
_VALUES = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **{"object": "data", "data": "value", "meter": "value", "time": "datetime", "meta": "content"},
}


@dataclass(slots=True)
class Item:
    """A thing that a page describes.

    Attributes:
        types: Names in lower case, without prefix: ``videoobject``.
        source: ``json-ld`` or ``microdata``.
        properties: Values by name in lower case; a thing in a thing is an `Item`.
        node: Of microdata, its element.
    """

    types: frozenset[str]
    source: str
    properties: dict[str, list["str | Item"]] = field(default_factory=lambda: defaultdict(list))
    node: int = 0

    def text(self, *names: str) -> str:
        """Return the first text of some properties; of a thing, its name; "" for none."""
        for name in names:
            for value in self.properties.get(name, ()):
                text = value.text("name", "@id", "url") if isinstance(value, Item) else value
                if text := " ".join(text.split())[:_LONGEST_TEXT]:
                    return text
        return ""

    def texts(self, *names: str) -> list[str]:
        """Return all texts of some properties."""
        values = (value for name in names for value in self.properties.get(name, ()))
        return [value for value in values if isinstance(value, str)]

    def inner(self) -> Iterator["Item"]:
        """Yield the things in it."""
        for values in self.properties.values():
            yield from (value for value in values if isinstance(value, Item))


def structured_items(tree: PageTree) -> list[tuple[Item, tuple[Item, ...]]]:
    """Return the things that a page describes, each with those it stands in, outermost first."""
    found: list[tuple[Item, tuple[Item, ...]]] = []
    stack: list[tuple[Item, tuple[Item, ...]]] = [
        (item, ()) for item in reversed([*_json_ld(tree), *_microdata(tree)])
    ]
    while stack and len(found) < _MOST_ITEMS:
        item, around = stack.pop()
        found.append((item, around))
        stack.extend((inner, (*around, item)) for inner in item.inner() if len(around) < 20)
    return found


def _json_ld(tree: PageTree) -> Iterator[Item]:
    for node, tag in enumerate(tree.tags):
        if tag != "script" or b"ld+json" not in tree.start_tag(node).lower():
            continue
        try:
            data = json.loads(tree.raw_content(node)[:_LONGEST_SCRIPT], strict=False)
        except (ValueError, RecursionError):
            continue  # a template, or broken: what stands on the page remains
        for value in _flat(data):
            if isinstance(value, dict):
                yield _item(value)


def _flat(value: Any) -> Iterator[Any]:
    """Yield the members of lists in lists, and of graphs."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict) and isinstance(value.get("@graph"), list):
            waiting.extend(reversed(value["@graph"]))
        else:
            yield value


def _item(data: dict[str, Any]) -> Item:
    """Return a thing of JSON-LD; json has bounded its depth."""
    item = Item(_types(data.get("@type")), "json-ld")
    for name, values in data.items():
        for value in _flat(values):
            if isinstance(value, dict):
                inner: str | Item = str(value["@value"]) if "@value" in value else _item(value)
                item.properties[_name(name)].append(inner)
            elif isinstance(value, str | int | float) and not isinstance(value, bool):
                item.properties[_name(name)].append(str(value))
    return item


def _types(value: Any) -> frozenset[str]:
    return frozenset(_name(one) for one in _flat(value) if isinstance(one, str))


def _name(name: str) -> str:
    if name.startswith("@"):
        return name.lower()
    return name.rstrip("/").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2].lower()


def _microdata(tree: PageTree) -> Iterator[Item]:
    """Yield the outermost items; what is nested in them is among their properties."""
    open_items: list[tuple[int, Item]] = []  # with the node behind each
    marked = sorted({*tree.mentioning(b"itemscope"), *tree.mentioning(b"itemprop")})
    for node in marked:
        while open_items and open_items[-1][0] <= node:
            open_items.pop()
        attributes = tree.attributes(node)
        item = None
        if "itemscope" in attributes:
            types = frozenset(_name(one) for one in attributes.get("itemtype", "").split())
            item = Item(types, "microdata", node=node)
        names = attributes.get("itemprop", "").split()
        if names and open_items:
            value = item if item is not None else _value(tree, node)
            for name in names:
                open_items[-1][1].properties[_name(name)].append(value)
        elif item is not None:
            yield item
        if item is not None:
            open_items.append((tree.after[node], item))


def _value(tree: PageTree, node: int) -> str:
    attributes, name = tree.attributes(node), _VALUES.get(tree.tags[node], "")
    for given in ("content", name):
        if attributes.get(given):
            return attributes[given]
    texts = (tree.text(inner) for inner in range(node, min(tree.after[node], node + 200)))
    return " ".join(filter(None, texts))[:_LONGEST_TEXT]


def meta_tags(tree: PageTree) -> dict[str, list[str]]:
    """Return what the meta tags of a page say, by name or property in lower case."""
    found: dict[str, list[str]] = defaultdict(list)
    for node, tag in enumerate(tree.tags):
        if tag == "meta":
            attributes = tree.attributes(node)
            content = " ".join(attributes.get("content", "").split())[:_LONGEST_TEXT]
            for given in ("property", "name", "http-equiv"):
                if content and (name := attributes.get(given, "").strip().lower()):
                    found[name].append(content)
    return found
