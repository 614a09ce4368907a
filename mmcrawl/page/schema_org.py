"""schema.org's descriptions of media, as JSON-LD and as microdata."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mmcrawl.page.described import Described, kind_of_address
from mmcrawl.page.references import Reference
from mmcrawl.page.scripts import media_literals
from mmcrawl.text.media_kinds import AUDIO, DOCUMENT, VIDEO

URL_PROPERTIES = frozenset({"contenturl", "embedurl"})
_KINDS = {
    "videoobject": VIDEO,
    "audioobject": AUDIO,
    "presentationdigitaldocument": DOCUMENT,
}
_ANY_KIND = frozenset({"mediaobject"})  # the address tells of what kind it is


@dataclass(slots=True)
class Item:
    """An open item of microdata.

    Attributes:
        kind: Of the medium that it describes; None if it describes none.
        medium: What the references to its addresses have in common.
        name: What it is called.
        references: To its addresses.
    """

    kind: str | None
    medium: int
    name: str = ""
    references: list[Reference] = field(default_factory=list)


def schema_kind(type_name: str) -> str | None:
    """Return the kind of media a type describes.

    >>> schema_kind("https://schema.org/VideoObject")
    'video'
    """
    return _KINDS.get(_name(type_name))


def json_ld_media(text: str) -> Iterator[Described]:
    """Yield the media described in a JSON-LD script, each with its name, or that of what has it.

    Text that is no JSON is searched for literal file names instead; their kind is None.
    """
    try:
        data = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        for literal in media_literals(text):
            yield Described((literal,))
        return
    waiting: list[tuple[Any, str]] = [(data, "")]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, list):
            waiting.extend((one, around) for one in reversed(node))
        elif isinstance(node, dict):
            name = next(
                filter(None, (_text(node.get(key)) for key in ("name", "headline"))), around
            )
            yield from _medium_of(node, name)
            inner = (value for value in reversed(node.values()) if isinstance(value, (dict, list)))
            waiting.extend((value, name) for value in inner)


def _medium_of(node: dict[str, Any], name: str) -> Iterator[Described]:
    kinds = [schema_kind(one) or one for one in _types(node)]
    kind = next((one for one in kinds if one in _KINDS.values()), None)
    addresses = {
        key.lower(): value
        for key, value in node.items()
        if isinstance(value, str) and value.strip()
    }
    # The file before its player.
    found = [addresses[key] for key in sorted(URL_PROPERTIES & addresses.keys())]
    if kind is None:
        if _ANY_KIND.isdisjoint(map(_name, _types(node))):
            return
        found = [one for one in found if kind_of_address(one)]
    if found:
        yield Described(tuple(found), name, kind)


def _types(node: dict[str, Any]) -> list[str]:
    types = node.get("@type")
    return [one for one in (types if isinstance(types, list) else [types]) if isinstance(one, str)]


def _name(type_name: str) -> str:
    return type_name.strip().rstrip("/").rpartition("/")[2].lower()


def _text(value: object) -> str:
    return " ".join(value.split())[:200] if isinstance(value, str) else ""
