"""References to media in elements that play them, in meta tags and in schema.org's data."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mmcrawl.page.looks import Attributes
from mmcrawl.page.media import (
    ANIMATION,
    AUDIO,
    VIDEO,
    is_banner,
    media_in_values,
    media_kind,
)
from mmcrawl.page.references import Reference
from mmcrawl.page.scripts import media_literals

Closer = Callable[[], object]

# <object classid="clsid:…">: what the ActiveX control plays when the file name does not tell.
_CLASS_KINDS = {
    "d27cdb6e": ANIMATION,  # Shockwave Flash
    "6bf52a52": VIDEO,  # Windows Media Player 7 and later
    "22d6f312": VIDEO,  # Windows Media Player 6
    "05589fa1": VIDEO,  # ActiveMovie
    "cfcdaa03": VIDEO,  # RealPlayer
    "02bf25d5": VIDEO,  # QuickTime
}
_FILE_PARAMETERS = frozenset(
    """
    movie src url filename file source media video audio mp3 flv soundfile fileurl
    """.split()
)
_GRAPH_KINDS = {"og:video": VIDEO, "og:audio": AUDIO}
_GRAPH_URLS = frozenset({"", "url", "secure_url"})
# schema.org's VideoObject and AudioObject, as JSON-LD and as microdata.
_URL_PROPERTIES = frozenset({"contenturl", "embedurl"})
_KINDS = {"videoobject": VIDEO, "audioobject": AUDIO}
_VARIABLES = re.compile(r"\w+=")  # of a player that a script writes
_BACKGROUND = frozenset({"autoplay", "loop", "muted"})


@dataclass
class _Object:
    """An open `<object>`, with what it refers to."""

    kind: str | None
    attributes: Attributes
    references: list[Reference]
    variables: str = ""


class MediaElements:
    """Notes what embedded players show, in document order.

    Each method takes the element's tag and attributes, and returns what is to be done when the
    element ends, or None.
    """

    def __init__(self, references: list[Reference]) -> None:
        self._references = references
        self._objects: list[_Object] = []
        # The open <audio>, <video>; None for <picture> and for a background.
        self._players: list[str | None] = []
        self._items: list[str | None] = []  # kinds of the open microdata items

    def embed(self, tag: str, attributes: Attributes) -> None:
        variables = attributes.get("flashvars", "")
        for reference in self._add(attributes.get("src"), tag, attributes, is_player=True):
            reference.variables = variables
        self._add_variables(variables, tag, attributes)

    def object(self, tag: str, attributes: Attributes) -> Closer:
        class_id = attributes.get("classid", "").lower().removeprefix("clsid:").strip("{ ")
        kind = _CLASS_KINDS.get(class_id[:8]) or media_kind("", attributes.get("type"))
        references = self._add(attributes.get("data"), tag, attributes, kind=kind, is_player=True)
        self._objects.append(_Object(kind, attributes, references))
        return self._close_object

    def _close_object(self) -> None:
        closed = self._objects.pop()
        for reference in closed.references:
            reference.variables = closed.variables

    def param(self, tag: str, attributes: Attributes) -> None:
        if not self._objects:
            return
        parent = self._objects[-1]
        name = attributes.get("name", "").strip().lower()
        value = attributes.get("value", "")
        if name == "flashvars":
            parent.variables = value
            self._add_variables(value, "object", {"title": _text_of(parent.attributes)})
        elif name in _FILE_PARAMETERS:
            shown = {key: value for key, value in parent.attributes.items() if key != "type"}
            parent.references += self._add(value, "object", shown, kind=parent.kind, is_player=True)

    def player(self, tag: str, attributes: Attributes) -> Closer:
        if _is_background(attributes):
            return self.picture(tag, attributes)
        self._players.append(tag)
        self._add_played(_source_of(attributes), tag, attributes)
        return self._players.pop

    def picture(self, tag: str, attributes: Attributes) -> Closer:
        self._players.append(None)
        return self._players.pop

    def source(self, tag: str, attributes: Attributes) -> None:
        if not self._players or self._players[-1] is not None:
            self._add_played(_source_of(attributes), tag, attributes)

    def _add_played(self, href: str | None, tag: str, attributes: Attributes) -> None:
        kind = self._players[-1] if self._players else None
        # One container format for sound and film: the element tells which.
        either = bool(href) and str(href).lower().endswith(".ogg")
        only = kind == AUDIO or (kind == VIDEO and either)
        self._add(href, tag, attributes, kind=kind, only_kind=only)

    def frame(self, tag: str, attributes: Attributes) -> None:
        player = tag == "iframe"
        self._add(_source_of(attributes), tag, attributes, may_be_page=True, is_player=player)

    def meta(self, name: str, content: str) -> None:
        """Take an Open Graph property; structured ones such as ``og:video:type`` name no file."""
        family, _, detail = name[3:].partition(":")
        kind = _GRAPH_KINDS.get(f"og:{family}")
        if kind and detail in _GRAPH_URLS:
            self._add(content, "og", {}, kind=kind)

    def item(self, tag: str, attributes: Attributes) -> Closer | None:
        """Take the microdata attributes of any element."""
        if self._items and self._items[-1] and "itemprop" in attributes:
            properties = attributes["itemprop"].lower().split()
            if not _URL_PROPERTIES.isdisjoint(properties):
                sources = (attributes.get(name) for name in ("href", "src", "content"))
                value = next(filter(None, sources), None)
                self._add(value, "schema", attributes, kind=self._items[-1])
        if "itemscope" not in attributes:
            return None
        self._items.append(_schema_kind(attributes.get("itemtype", "")))
        return self._items.pop

    def script(self, code: str, mime: str) -> None:
        """Take the text of an inline script."""
        if mime == "application/ld+json":
            for url, kind in _json_ld_media(code):
                self._add(url, "schema", {}, kind=kind)
            return
        for literal in media_literals(code):
            if _VARIABLES.match(literal):
                self._add_variables(literal, "script", {})
            else:
                self._add(literal, "script", {}, is_player=True)

    def _add_variables(self, variables: str, tag: str, attributes: Attributes) -> None:
        for value in media_in_values(variables):
            self._add(value, tag, attributes)

    def _add(
        self,
        href: str | None,
        tag: str,
        attributes: Attributes,
        *,
        kind: str | None = None,
        only_kind: bool = False,
        may_be_page: bool = False,
        is_player: bool = False,
    ) -> list[Reference]:
        """Note a reference; return it, or nothing if it is none."""
        # "#" and "?" are what scripts put in later, or nothing.
        if href is None or not href.partition("#")[0].strip("? \t\r\n"):
            return []
        reference = Reference(
            href,
            tag,
            _text_of(attributes),
            mime=attributes.get("type"),
            kind=kind,
            only_kind=only_kind,
            may_be_page=may_be_page,
            is_player=is_player,
            is_banner=is_banner(attributes.get("width", ""), attributes.get("height", "")),
        )
        self._references.append(reference)
        return [reference]


def _is_background(attributes: Attributes) -> bool:
    """Whether a video moves without end and sound, and cannot be stopped; nothing names it."""
    return (
        attributes.keys() >= _BACKGROUND
        and "controls" not in attributes
        and not _text_of(attributes)
    )


def _source_of(attributes: Attributes) -> str | None:
    # Pages that load players late keep the address in data-src.
    return attributes.get("src") or attributes.get("data-src")


def _text_of(attributes: Attributes) -> str:
    for name in ("title", "alt", "aria-label", "standby"):
        if text := attributes.get(name):
            return " ".join(text.split())[:200]
    return ""


def _schema_kind(type_name: str) -> str | None:
    """Return the kind of media a type describes.

    >>> _schema_kind("https://schema.org/VideoObject")
    'video'
    """
    return _KINDS.get(type_name.strip().rstrip("/").rpartition("/")[2].lower())


def _json_ld_media(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (URL, kind) of the media described in a JSON-LD script.

    Text that is no JSON is searched for literal file names instead; their kind is None.
    """
    try:
        data = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        for literal in media_literals(text):
            yield literal, None
        return
    yield from _objects_media(data)


def _objects_media(data: Any) -> Iterator[tuple[str, str | None]]:
    waiting = [data]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(reversed(node))
        elif isinstance(node, dict):
            if kind := _node_kind(node):
                for name, value in node.items():
                    if name.lower() in _URL_PROPERTIES and isinstance(value, str):
                        yield value, kind
            waiting.extend(v for v in reversed(node.values()) if isinstance(v, (dict, list)))


def _node_kind(node: dict[str, Any]) -> str | None:
    types = node.get("@type")
    for name in types if isinstance(types, list) else [types]:
        if isinstance(name, str) and (kind := _schema_kind(name)):
            return kind
    return None
