"""One parsed page: links in their groups, media, metadata and text.

A body is read once, by :func:`parse_page`, and everything after shares the :class:`Page`. No
crawl needs to be running.
"""

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
