"""OPML: lists of feeds, as readers of feeds exchange them and sites publish their blogrolls."""

from itertools import islice

from mmcrawl.discovering.listings import MOST_BYTES, Listing, listed_link
from mmcrawl.errors import ListingError
from mmcrawl.page.model import IN_OPML, Link, Page
from mmcrawl.page.urls import Resolver
from mmcrawl.page.xml_events import START, as_utf8, xml_events

_MOST_OUTLINES = 10_000
_ADDRESSES = ("xmlurl", "htmlurl", "url")


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
    outlines = (
        event.attributes
        for event in xml_events(as_utf8(body))
        if event.kind == START and event.name == "outline"
    )
    for said in islice(outlines, _MOST_OUTLINES):
        title = " ".join((said.get("title") or said.get("text") or "").split())
        for name in _ADDRESSES:
            target = resolve(said.get(name, "").strip() or url)
            if target is not None and target.url != url:
                links.setdefault(target.url, listed_link(target.url, title, IN_OPML))
    if not links:
        raise ListingError("OPML: no address can be read from it")
    return Listing(Page(url, links=tuple(links.values())))
