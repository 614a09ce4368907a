"""From the bytes of a page to a :class:`Page`, in one pass."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from mmcrawl.page.collector import PageCollector
from mmcrawl.page.encoding import decode_page
from mmcrawl.page.links import media_resources, page_links
from mmcrawl.page.model import Page
from mmcrawl.page.urls import Resolver, base_url

LONGEST_TEXT = 100_000

# libxml2 searches its stack of open elements for each end tag that matches none: with depth
# unbounded the time is quadratic. A parser found deeper than this after a slice is replaced by
# a new one, which reads on. Pages nested that deeply have no structure to lose.
_DEEPEST = 512
_SLICE = 16 * 1024


def parse_page(body: bytes, url: str, content_type: str | None = None) -> Page:
    """Parse a page; never raises, whatever the bytes.

    Args:
        body: As received, without content encoding (gzip, …). It is read to its end, in time
            proportional to its length.
        url: Absolute URL of the page, from which relative references start.
        content_type: The ``Content-Type`` header, if any.

    Source: what is extracted follows Yang 2009, sections 2.1.2 and 2.1.3.

    >>> page = parse_page(b'<title>Levers</title><a href="b.htm">Next</a>', "http://h.test/a.htm")
    >>> page.title, page.links[0].url, page.links[0].anchor
    ('Levers', 'http://h.test/b.htm', 'Next')
    """
    encoding, utf8 = decode_page(body, content_type)
    collector = PageCollector()
    _feed(utf8, collector)
    for fallback in collector.take_fallbacks():
        _feed(fallback.encode("utf-8"), collector)
    head = collector.head
    resolve = Resolver(base_url(head.base, url, encoding), encoding)
    resolved = [(r, t) for r in collector.references if (t := resolve(r.href)) is not None]
    own = Resolver(url, encoding)("")
    own_url, host = (own.url, own.host) if own is not None else (url, "")
    links, groups = page_links(resolved, own_url, host)
    return Page(
        url=url,
        encoding=encoding,
        title=head.title,
        keywords=head.keywords,
        description=head.description,
        language=head.language,
        links=links,
        groups=groups,
        media=media_resources(resolved, resolve, own_url, host),
        text=_collapse(collector.text)[:LONGEST_TEXT],
        headings=_collapse(collector.headings)[:LONGEST_TEXT],
        nofollow=head.nofollow,
        noindex=head.noindex,
    )


def _feed(utf8: bytes, collector: PageCollector) -> None:
    parser = _parser(collector)
    start = 0
    while start < len(utf8):
        # A slice ends before a tag, so that a parser can be replaced between two slices.
        end = start + _SLICE
        end = utf8.rfind(b"<", start + 1, end) if end < len(utf8) else end
        end = end if end > start else start + _SLICE
        parser.feed(utf8[start:end])
        start = end
        if collector.depth > _DEEPEST:
            _close(parser)
            parser = _parser(collector)
    _close(parser)


def _parser(collector: PageCollector) -> etree.HTMLParser:
    return etree.HTMLParser(target=collector, encoding="utf-8", huge_tree=True)


def _close(parser: etree.HTMLParser) -> None:
    try:
        parser.close()
    except etree.XMLSyntaxError:
        return  # no element at all: an empty page


def _collapse(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())
