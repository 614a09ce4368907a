"""From the bytes of a page to a :class:`Page`, in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from mmcrawl.page.collector import PageCollector
from mmcrawl.page.encoding import decode_page
from mmcrawl.page.groups import Run
from mmcrawl.page.media import (
    ANIMATION,
    is_frame_of_a_site,
    is_of_no_media,
    is_player,
    media_in_values,
    media_kind,
)
from mmcrawl.page.model import Link, LinkGroup, MediaResource, Page
from mmcrawl.page.references import Reference
from mmcrawl.page.urls import Resolver, Target, base_url, resource_key

_BASE = re.compile(rb"<base\s[^>]{1,2000}>", re.IGNORECASE)
_LINK_TAGS = frozenset({"a", "area", "frame"})

LONGEST_TEXT = 100_000

# libxml2 searches its stack of open elements for each end tag that matches none: with depth
# unbounded the time is quadratic. A parser found deeper than this after a slice is replaced by
# a new one, which reads on. Pages nested that deeply have no structure to lose.
_DEEPEST = 512
_SLICE = 16 * 1024

Resolved = tuple[Reference, Target]


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


def media_in(
    content: bytes, encoding: str, url: str, page: bytes = b""
) -> tuple[MediaResource, ...]:
    """Return the media that a part of a page shows or links to.

    Args:
        content: The part.
        encoding: Python codec name.
        url: Of the page.
        page: The page, whose ``base`` element counts; without it, kinds are right, addresses may
            not be.
    """
    base = _BASE.search(page)
    before = base[0] if base is not None else b""
    return parse_page(before + content, url, f"text/html; charset={encoding}").media


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


def media_resources(
    references: Iterable[Resolved], resolve: Resolver, page_url: str, page_host: str
) -> tuple[MediaResource, ...]:
    """Return what the page plays or links to as a media file, each resource once.

    Two URLs with the same :func:`resource_key` are one resource, under the first of them; the first
    text that any of its references has is the resource's. The page itself is none, nor is Flash
    that frames a page: banners, menus, players of other files.
    """
    found: dict[str, MediaResource] = {}
    own_key = resource_key(page_url)
    candidates = [
        (reference, target)
        for reference, target in references
        if target.media or target.hosted or reference.tag not in _LINK_TAGS
    ]
    banners = {target.url for reference, target in candidates if reference.is_banner}
    for reference, target in candidates:
        for url, kind in _media_of(reference, target, resolve, page_host, banners):
            key = resource_key(url)
            if key == own_key:
                continue
            known = found.get(key)
            if known is None:
                found[key] = MediaResource(url, kind, reference.tag, reference.text)
            elif not known.text and reference.text:
                found[key] = MediaResource(known.url, known.kind, known.tag, reference.text)
    return tuple(found.values())


def _media_of(
    reference: Reference, target: Target, resolve: Resolver, page_host: str, banners: set[str]
) -> Iterator[tuple[str, str]]:
    kind = _kind(reference, target, page_host)
    if kind is not None and not (kind == ANIMATION and _is_frame(reference, target, banners)):
        yield target.url, kind
    if not reference.is_player or "?" not in target.url:
        return
    for value in media_in_values(target.url.partition("?")[2]):
        inner = resolve(value)
        if inner is not None and inner.media:
            yield inner.url, inner.media


def _is_frame(reference: Reference, target: Target, banners: set[str]) -> bool:
    """Whether Flash on a page is a banner, a menu, or a player that tells what it plays, if any."""
    if reference.tag in _LINK_TAGS or target.hosted:
        return False
    if is_player(target.url):
        told = (target.url.partition("?")[2], reference.variables)
        variables = "&".join(filter(None, told))
        return not variables or any(media_in_values(variables))
    return target.url in banners or is_frame_of_a_site(target.url)


def _kind(reference: Reference, target: Target, page_host: str) -> str | None:
    kind = None if is_of_no_media(reference.mime) else reference.kind
    if reference.only_kind and kind:
        return kind
    if target.hosted and not _is_navigation(reference, target, page_host):
        return target.hosted
    if reference.may_be_page:
        return target.media
    return target.media or media_kind("", reference.mime) or kind


def _is_navigation(reference: Reference, target: Target, page_host: str) -> bool:
    """On a media host itself the links between its items are its navigation."""
    return reference.tag != "iframe" and reference.may_be_page and target.host == page_host


def page_links(
    references: Iterable[Resolved], page_url: str, page_host: str
) -> tuple[tuple[Link, ...], tuple[LinkGroup, ...]]:
    """Return the links to other pages, each URL once, and the groups they stand in.

    Args:
        references: In document order.
        page_url: As the resolver writes it; links to it are left out.
        page_host: Of page_url.
    """
    occurrences: dict[str, list[Reference]] = {}
    for reference, target in references:
        if not (reference.may_be_page and target.is_page):
            continue
        if target.hosted is None or _kind(reference, target, page_host) is None:
            occurrences.setdefault(target.url, []).append(reference)
    occurrences.pop(page_url, None)
    groups: dict[Run, int] = {}
    links = tuple(_link(url, found, groups) for url, found in occurrences.items())
    sizes = [0] * len(groups)
    for link in links:
        if link.group >= 0:
            sizes[link.group] += 1
    return links, tuple(LinkGroup(run.title(), sizes[i]) for run, i in groups.items())


def _link(url: str, occurrences: list[Reference], groups: dict[Run, int]) -> Link:
    """Merge the occurrences of one URL; a place in the page tells more than a script."""
    best = occurrences[0]
    if len(occurrences) > 1:
        best = _best(occurrences)
    group = groups.setdefault(best.run.final(), len(groups)) if best.run is not None else -1
    nofollow = best.nofollow and all(reference.nofollow for reference in occurrences)
    return Link(url, best.text, best.tag, group, nofollow, best.tag_path)


def _best(occurrences: list[Reference]) -> Reference:
    plain = [reference for reference in occurrences if reference.tag != "script"]
    named = [reference for reference in plain or occurrences if reference.text]
    return (named or plain or occurrences)[0]
