"""schema.org ``VideoObject`` and ``AudioObject``: as JSON-LD, and the names microdata uses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from mmcrawl.page.media import AUDIO, VIDEO
from mmcrawl.page.scripts import media_literals

URL_PROPERTIES = frozenset({"contenturl", "embedurl"})
_KINDS = {"videoobject": VIDEO, "audioobject": AUDIO}


def schema_kind(type_name: str) -> str | None:
    """Return the kind of media a type describes.

    >>> schema_kind("https://schema.org/VideoObject")
    'video'
    """
    return _KINDS.get(type_name.strip().rstrip("/").rpartition("/")[2].lower())


def json_ld_media(text: str) -> Iterator[tuple[str, str | None]]:
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
                    if name.lower() in URL_PROPERTIES and isinstance(value, str):
                        yield value, kind
            waiting.extend(v for v in reversed(node.values()) if isinstance(v, (dict, list)))


def _node_kind(node: dict[str, Any]) -> str | None:
    types = node.get("@type")
    for name in types if isinstance(types, list) else [types]:
        if isinstance(name, str) and (kind := schema_kind(name)):
            return kind
    return None
