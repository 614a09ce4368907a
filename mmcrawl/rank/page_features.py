"""What a page is told by, when its class is asked for: numbers of its content and its blocks."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks import page_content, partition
from mmcrawl.blocks.content import PAGE_TYPES
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.page import parse_page
from mmcrawl.text import has_han

__all__ = ["FEATURES", "page_features"]

_HAN_FACTOR = 3  # Latin characters that say what a Chinese one says
_BY_LINK = frozenset({"a", "area", "og", "schema"})
_PRICE = re.compile(r"[$€£¥￥₹]\s?\d|\d\s?(?:€|元|USD|EUR)")
_TAGS = ("img", "input", "iframe", "li", "td", "p", "time", "pre")

FEATURES = (
    "content_chars",
    "content_paragraphs",
    "paragraph_chars",
    "content_share",
    "page_chars",
    "links",
    "link_share",
    "own_link_share",
    "media_playing",
    "media_linked",
    "is_frameset",
    "is_start",
    "path_depth",
    "has_query",
    "prices",
    "password",
    *(f"type_{name}" for name in PAGE_TYPES),
    *(f"kind_{kind}" for kind in KINDS),
    *(f"tag_{tag}" for tag in _TAGS),
)
"""Of each number, its name. Counts and lengths are log(1 + n); ``…_share`` and ``kind_…`` are
shares of the page's visible characters, in [0, 1]; ``tag_…`` are elements; ``type_…`` is 1 for what
:attr:`mmcrawl.blocks.PageContent.page_type` says, whose rules know the first three classes well."""

_OWN = ("title", "topic", "small", "related-links", "image")


def page_features(
    body: bytes, url: str | None = None, *, encoding: str | None = None
) -> NDArray[np.float64]:
    """Return the numbers of a page, in the order of :data:`FEATURES`.

    Args:
        body: The page as received.
        url: Of the page.
        encoding: Python codec name of the body, where it is known.
    """
    content = page_content(body, url, encoding=encoding)
    cut = partition(body, encoding=encoding, url=url)
    chars, link_chars = cut.measures.chars, cut.measures.link_chars
    kinds = dict.fromkeys(KINDS, 0)
    own = own_linked = 0
    for block in cut:
        size = int(chars[block.nodes.stop] - chars[block.nodes.start])
        kinds[block.kind] += size
        if block.kind in _OWN:
            own += size
            own_linked += int(link_chars[block.nodes.stop] - link_chars[block.nodes.start])
    whole, linked = max(1, int(chars[-1])), int(link_chars[-1])
    said = sum(map(len, content.paragraphs))
    weight = _HAN_FACTOR if has_han(content.text) else 1
    media = parse_page(body, url or "http://page.invalid/").media
    playing = sum(item.tag not in _BY_LINK for item in media)
    tags = cut.tree.tags
    text = " ".join(block.text for block in cut)
    parts = urlsplit(url or "")
    path = [name for name in parts.path.split("/") if name]
    values = (
        np.log1p(said * weight),
        np.log1p(len(content.paragraphs)),
        np.log1p(said * weight / max(1, len(content.paragraphs))),
        min(1.0, said / whole),
        np.log1p(whole * weight),
        np.log1p(sum(tag in ("a", "area") for tag in tags)),
        linked / whole,
        own_linked / max(1, own),
        np.log1p(playing),
        np.log1p(len(media) - playing),
        float("frameset" in tags),
        float(not path or path[-1].startswith(("index.", "default."))),
        float(min(len(path), 6)),
        float(bool(parts.query)),
        np.log1p(len(_PRICE.findall(text))),
        float(b'type="password"' in body.lower()),
        *(float(content.page_type == name) for name in PAGE_TYPES),
        *(kinds[kind] / whole for kind in KINDS),
        *(np.log1p(tags.count(tag)) for tag in _TAGS),
    )
    return np.array(values, dtype=np.float64)
