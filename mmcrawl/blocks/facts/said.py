"""Where a page says things of itself, read once: meta tags, JSON-LD, microdata, marked elements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import Any

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.building import TEXT
from mmcrawl.page.tree import PageTree

Node = Mapping[str, Any]

_ARTICLES = re.compile(
    r"article$|posting$|^report$|^review(?:newsarticle)?$|^opinion|^scholarly|^learningresource$|"
    r"^course$|^recipe$|^podcastepisode$|^claimreview$|^howto$",
    re.IGNORECASE,
)
_PAGES = re.compile(r"(?:web|item|about|faq|qa|profile|collection|medical)page$", re.IGNORECASE)
_PARTS = re.compile(r"comment|breadcrumb|imageobject|listitem|rating|offer", re.IGNORECASE)
_COMMENTED = re.compile(r"^(?://)?\s*(?:<!\[CDATA\[|<!--)|(?://)?\s{0,99}(?:\]\]>|-->)\s{0,99};?$")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_FIELD = r'"%s"\s*:\s*"((?:[^"\\]|\\.){1,300})"'
_LARGEST = 2_000_000  # characters of a script that are read
_MOST_NODES = 5_000
_LONGEST = 300  # characters of an element that is marked as a date or byline


@dataclass(frozen=True, slots=True)
class Marked:
    """An element that an attribute names the meaning of.

    Attributes:
        node: Index into the tree.
        name: The value of the attribute, lower case.
        text: What it says: its ``content`` or ``datetime``, else its text.
    """

    node: int
    name: str
    text: str


class Said:
    """The places of a page, each read when it is asked for.

    Args:
        tree, measures: The page.

    Attributes:
        metas: Name (or property, itemprop, http-equiv; lower case) and content of its meta tags.
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self.tree = tree
        self._nodes = measures.nodes
        self.metas: list[tuple[str, str]] = []
        for node in self._nodes.get("meta", ()):
            attributes = tree.attributes(node)
            content = " ".join(unescape(attributes.get("content", "")).split())
            if content:
                named = (
                    attributes.get(key, "")
                    for key in ("property", "name", "itemprop", "http-equiv")
                )
                self.metas += ((name.lower().strip(), content) for name in named if name)

    def meta(self, *names: str) -> Iterator[tuple[str, str]]:
        """Yield name and content of the meta tags with these names, in the order of the names."""
        for name in names:
            yield from (meta for meta in self.metas if meta[0] == name)

    @cached_property
    def html_language(self) -> str:
        """What the outermost element says."""
        for node in self._nodes.get("html", ()):
            attributes = self.tree.attributes(node)
            return attributes.get("lang") or attributes.get("xml:lang") or ""
        return ""

    @cached_property
    def graph(self) -> Graph:
        """Its JSON-LD."""
        scripts = (
            self.tree.raw_content(node)[:_LARGEST]
            for node in self._nodes.get("script", ())
            if b"ld+json" in self.tree.start_tag(node).lower()
        )
        return Graph.read(scripts)

    @cached_property
    def links(self) -> list[tuple[int, frozenset[str], str]]:
        """Node, words of ``rel`` and address of its links that have both."""
        found = []
        for node in sorted({*self.tree.mentioning(b"rel=")}):
            attributes = self.tree.attributes(node)
            if attributes.get("href") and attributes.get("rel"):
                found.append(
                    (node, frozenset(attributes["rel"].lower().split()), attributes["href"])
                )
        return found

    @cached_property
    def properties(self) -> list[Marked]:
        """Its microdata: elements with ``itemprop``."""
        return list(self._marked(b"itemprop", ("itemprop",)))

    def marked(self, *words: str) -> Iterator[Marked]:
        """Yield the elements whose class, id or rel has one of these words in it, in order."""
        nodes = {node for word in words for node in self.tree.mentioning(word.encode())}
        for node in sorted(nodes):
            attributes = self.tree.attributes(node)
            name = " ".join(
                attributes.get(key, "") for key in ("class", "id", "rel", "data-testid")
            )
            if self.tree.tags[node] != "meta" and any(word in name.lower() for word in words):
                yield Marked(node, name.lower(), self.text_of(node, attributes))

    def times(self) -> Iterator[Marked]:
        """Yield its ``time`` elements."""
        for node in self._nodes.get("time", ()):
            attributes = self.tree.attributes(node)
            yield Marked(node, attributes.get("class", "").lower(), self.text_of(node, attributes))

    def _marked(self, word: bytes, keys: tuple[str, ...]) -> Iterator[Marked]:
        for node in sorted({*self.tree.mentioning(word)}):
            attributes = self.tree.attributes(node)
            name = " ".join(attributes.get(key, "") for key in keys).lower().strip()
            if name:
                yield Marked(node, name, self.text_of(node, attributes))

    def text_of(self, node: int, attributes: Mapping[str, str]) -> str:
        """Return what an element says; "" for one that says much, which is no date and no name."""
        said = attributes.get("datetime") or attributes.get("content")
        if said:
            return said
        tags, after = self.tree.tags, self.tree.after
        pieces: list[str] = []
        size, inner, stop = 0, node + 1, after[node]
        while inner < stop and size <= _LONGEST:
            if tags[inner] in ("script", "style", "noscript", "svg"):
                inner = after[inner]
                continue
            if tags[inner] == TEXT:
                pieces.append(self.tree.text(inner))
                size += len(pieces[-1])
            inner += 1
        return "" if size > _LONGEST else " ".join(filter(None, pieces))


@dataclass(frozen=True, slots=True)
class Graph:
    """The JSON-LD of a page.

    Attributes:
        nodes: Its objects in document order, those inside of others behind them.
        by_id: Those that have an ``@id``.
        broken: Scripts that are no JSON, as text.
    """

    nodes: list[Node] = field(default_factory=list)
    by_id: dict[str, Node] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, scripts: Iterable[str]) -> Graph:
        """Read scripts; one that is no JSON is kept as text."""
        graph = cls()
        for script in scripts:
            data = _json(script)
            if data is None:
                graph.broken.append(script)
            else:
                graph._take(data)
        return graph

    def _take(self, data: object) -> None:
        waiting: list[object] = [data]
        while waiting and len(self.nodes) < _MOST_NODES:
            one = waiting.pop()
            if isinstance(one, list):
                waiting += reversed(one)
            elif isinstance(one, dict):
                if one.get("@type"):
                    self.nodes.append(one)
                name = one.get("@id")
                if isinstance(name, str) and len(one) > 1:
                    self.by_id.setdefault(name, one)
                waiting += [
                    value for value in reversed(one.values()) if isinstance(value, (dict, list))
                ]

    def main(self) -> list[Node]:
        """Return what describes the page itself: articles before pages before other things."""
        articles = [node for node in self.nodes if any(map(_ARTICLES.search, types_of(node)))]
        pages = [node for node in self.nodes if any(map(_PAGES.search, types_of(node)))]
        return articles[:1] + pages[:1] + articles[1:2]

    def others(self) -> list[Node]:
        """Return what else has a date or an author, but for comments and parts of pages."""
        return [node for node in self.nodes if not any(map(_PARTS.search, types_of(node)))]

    def texts(self, name: str) -> list[str]:
        """Return what broken scripts give for a key."""
        pattern = re.compile(_FIELD % re.escape(name))
        return [found[1] for script in self.broken for found in pattern.finditer(script)]

    def resolved(self, value: object) -> object:
        """Return the object that a reference names, else the value."""
        if isinstance(value, dict) and isinstance(value.get("@id"), str) and "name" not in value:
            return self.by_id.get(value["@id"], value)
        return value


def types_of(node: Node) -> list[str]:
    """Return the names of a node's types, without their vocabulary."""
    types = node.get("@type")
    named = types if isinstance(types, list) else [types]
    return [one.rstrip("/").rpartition("/")[2] for one in named if isinstance(one, str)]


def first_text(value: object) -> str:
    """Return the first text of a value of JSON-LD, "" for none; white space is collapsed."""
    for _ in range(4):
        if isinstance(value, list):
            value = value[0] if value else ""
        elif isinstance(value, dict):
            value = value.get("@value") or value.get("name") or value.get("url") or value.get("@id")
    return " ".join(unescape(value).split()) if isinstance(value, str) else ""


def _json(text: str) -> object:
    for attempt in (text, _TRAILING_COMMA.sub(r"\1", _COMMENTED.sub("", text.strip()))):
        try:
            data: object = json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
        return data
    return None
