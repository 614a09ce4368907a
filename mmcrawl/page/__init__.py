"""One parsed page: links in their groups, media, metadata and text.

A body is read once, by :func:`parse_page`, and everything after shares the :class:`Page`. No
crawl needs to be running.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmcrawl.page.dynamic import kind_by_headers, may_be_media, with_dynamic_media
    from mmcrawl.page.media import media_kind
    from mmcrawl.page.model import Link, LinkGroup, MediaResource, Page
    from mmcrawl.page.parse import parse_page
    from mmcrawl.page.urls import physical_layer

__all__ = [
    "Link",
    "LinkGroup",
    "MediaResource",
    "Page",
    "kind_by_headers",
    "may_be_media",
    "media_kind",
    "parse_page",
    "physical_layer",
    "with_dynamic_media",
]

# Loaded when they are asked for: who needs the encoding of a page does not load the parser.
_HOMES = {
    "kind_by_headers": "dynamic",
    "may_be_media": "dynamic",
    "with_dynamic_media": "dynamic",
    "media_kind": "media",
    "Link": "model",
    "LinkGroup": "model",
    "MediaResource": "model",
    "Page": "model",
    "parse_page": "parse",
    "physical_layer": "urls",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
