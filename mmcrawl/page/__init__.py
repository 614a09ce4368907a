"""One parsed page: links in their groups, media, metadata and text.

Bytes become a tree of byte ranges (:mod:`.html`), so that every node can be found in the page as
received. The result is a :class:`Page`. :mod:`.parse` is in charge: the collector walks over the
tree once and notes references as written, with their group and tag path (:mod:`.groups`); players,
scripts and attributes add media (:mod:`.players`, :mod:`.described`), structured data add theirs
(:mod:`.structured`), scripts that move a browser add a link (:mod:`.scripts`). Then references are
resolved (:mod:`.urls`), and those of one medium are joined (:mod:`.references`). :mod:`.lists`
reads sitemaps, feeds and the like.

Whatever the bytes, nothing here raises, and time is proportional to their number. Blocks, main text
and comparison walk over the same tree. Begin with :func:`mmcrawl.page.parse.page_of`.
"""

from mmcrawl.lazy import lazy_imports

with lazy_imports(__name__):
    from mmcrawl.page.described import described_in, described_media
    from mmcrawl.page.headers import bound_headers, header_text
    from mmcrawl.page.html.building import ROOT, TEXT
    from mmcrawl.page.html.encoding import decode_page, page_encoding
    from mmcrawl.page.html.tags import HIDDEN, START_TAG, TOKEN, VOID
    from mmcrawl.page.html.tree import PageTree, codec_name, markup_view, read_tree
    from mmcrawl.page.lists.xml_entries import xml_entries
    from mmcrawl.page.looks import declarations
    from mmcrawl.page.media import hosted_kind, kind_by_headers, media_in_values, media_kind
    from mmcrawl.page.model import (
        IN_FEED_WITH_MEDIA,
        IN_SITEMAP,
        LISTED_PATHS,
        MOVE,
        Link,
        LinkGroup,
        MediaResource,
        Page,
        may_be_media,
        with_dynamic_media,
    )
    from mmcrawl.page.parse import media_in, page_of, parse_page
    from mmcrawl.page.requisites import page_requisites, rewrite_css, sheet_requisites
    from mmcrawl.page.structured import Declared, Thing
    from mmcrawl.page.urls import Resolver, physical_layer, resource_key

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

# Loaded on first use: finding the encoding of a page does not load the parser.
