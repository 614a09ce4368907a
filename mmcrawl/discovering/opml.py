"""OPML: lists of feeds, as readers of feeds exchange them and sites publish their blogrolls."""

from io import BytesIO
from itertools import islice
from typing import Any

from lxml import etree

from mmcrawl.discovering.listings import MOST_BYTES, Listing, listed_link
from mmcrawl.errors import ListingError
from mmcrawl.page.model import IN_OPML, Link, Page
from mmcrawl.page.urls import Resolver

_MOST_OUTLINES = 10_000
_ADDRESSES = ("xmlUrl", "htmlUrl", "url")


def read_opml(body: bytes, url: str) -> Listing:
    """Return the feeds and the sites that a list of feeds names, with their titles.

    Args:
        body: of the list.
        url: its address.

    Raises:
        ListingError: it is too large, or names nothing.
    """
    if len(body) > MOST_BYTES:
        raise ListingError(f"OPML: more than {MOST_BYTES // 2**20} MB")
    resolve = Resolver(url, "utf-8")
    links: dict[str, Link] = {}
    events = etree.iterparse(
        BytesIO(body), events=("end",), recover=True, resolve_entities=False, no_network=True
    )
    try:
        for _, element in islice(_outlines(events), _MOST_OUTLINES):
            title = " ".join((element.get("title") or element.get("text") or "").split())
            for name in _ADDRESSES:
                target = resolve((element.get(name) or "").strip() or url)
                if target is not None and target.url != url:
                    links.setdefault(target.url, listed_link(target.url, title, IN_OPML))
            element.clear(keep_tail=False)
    except etree.XMLSyntaxError:  # with `recover`: nothing of it could be read
        pass
    if not links:
        raise ListingError("OPML: no address can be read from it")
    return Listing(Page(url, links=tuple(links.values())))


def _outlines(events: Any) -> Any:
    return (
        event
        for event in events
        if isinstance(event[1].tag, str) and event[1].tag.rpartition("}")[2].lower() == "outline"
    )
