"""Which pages of a host web archives know: the answers of CDX servers.

Both forms are read: lines of fields parted by spaces (`urlkey timestamp original mimetype
statuscode digest length`), and lines that end in a JSON object (CDXJ).
"""

import json
from itertools import islice
from urllib.parse import urlencode

from mmcrawl.discovering.listings import MOST_BYTES, Listing, listed_link
from mmcrawl.errors import ListingError
from mmcrawl.page.model import IN_CDX, Link, Page
from mmcrawl.page.urls import Resolver

MOST_LINES = 10_000
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "warc/revisit", "unk", "-", ""})
_GOOD = frozenset({"200", "-", ""})


def cdx_query(server: str, host: str) -> str:
    """Return the address at which a CDX server tells the captures of a host.

    >>> cdx_query("http://archive.test/cdx", "h.test")
    'http://archive.test/cdx?url=h.test&matchType=host&limit=10000'
    """
    query = urlencode({"url": host, "matchType": "host", "limit": MOST_LINES})
    return f"{server}{'&' if '?' in server else '?'}{query}"


def read_cdx(body: bytes, url: str) -> Listing:
    """Return the pages that a CDX server names, each address once.

    Captures of files that are no pages, and of errors and redirects, are left out.

    Args:
        body: what the server answered.
        url: asked for.

    Raises:
        ListingError: it is no CDX, is too large, or names no page.
    """
    if len(body) > MOST_BYTES:
        raise ListingError(f"CDX: more than {MOST_BYTES // 2**20} MB")
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    for line in islice(body.splitlines(), MOST_LINES):
        address, kind, status = _capture(line.decode("utf-8", "replace"))
        if not address.startswith(("http://", "https://")):
            continue
        target = resolve(address)
        if target is not None and target.is_page and kind in _PAGE_TYPES and status in _GOOD:
            links.setdefault(target.url, listed_link(target.url, "", IN_CDX))
    if not links:
        raise ListingError("CDX: no page can be read from it")
    return Listing(Page(url, links=tuple(links.values())))


def _capture(line: str) -> tuple[str, str, str]:
    """Return address, media type and status of a capture; "" for what is not told."""
    fields = line.split(" ", 2)
    if len(fields) == 3 and fields[2].startswith("{"):
        try:
            told = json.loads(fields[2])
        except (ValueError, RecursionError):
            return "", "", ""
        return str(told.get("url", "")), str(told.get("mime", "")), str(told.get("status", ""))
    words = line.split()
    return (words[2], words[3], words[4]) if len(words) >= 5 else ("", "", "")
