"""oEmbed (oembed.com): what a site tells others to show of a page, which its players' scripts hide.

Only what is embedded counts: the frame, or the player, in `html`, and the title.
"""

import json

from mmcrawl.errors import ListingError
from mmcrawl.page.model import Page
from mmcrawl.page.parse import parse_page

_MOST_BYTES = 1024 * 1024
_TOLD = ("html", "title")
_TYPES = frozenset({"video", "rich"})


def read_oembed(body: bytes, url: str) -> Page:
    """Return what is embedded of a page: its media, with the title.

    Args:
        body: of the answer, JSON.
        url: its address.

    Raises:
        ListingError: it is no oEmbed, or embeds no medium.
    """
    if len(body) > _MOST_BYTES:
        raise ListingError("oEmbed: more than 1 MB")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ListingError("oEmbed: it is no JSON") from error
    if not isinstance(told, dict) or told.get("type") not in _TYPES:
        raise ListingError("oEmbed: it embeds no medium")
    html, title = (value if isinstance(value := told.get(name), str) else "" for name in _TOLD)
    shown = parse_page(html.encode("utf-8", "replace"), url, "text/html; charset=utf-8")
    if not shown.media:
        raise ListingError("oEmbed: it embeds no medium")
    return Page(url, title=" ".join(title.split())[:2_000], media=shown.media, text=title[:2_000])
