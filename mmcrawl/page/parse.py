"""From the bytes of a page to a :class:`Page`: one tree, and one walk over it."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from mmcrawl.page.collector import PageCollector, names_feed
from mmcrawl.page.groups import LinkRun
from mmcrawl.page.html.encoding import page_encoding, text_of_utf_32
from mmcrawl.page.html.tree import PageTree, read_tree
from mmcrawl.page.model import FEED, MOVE, Link, LinkGroup, MediaResource, Page
from mmcrawl.page.references import (
    Reference,
    Resolved,
    kind_of_reference,
    media_resources,
    said_kind,
)
from mmcrawl.page.scripts.moves import Move
from mmcrawl.page.structured import Declared
from mmcrawl.page.urls import Resolver, Target
from mmcrawl.text.media_kinds import DOCUMENT, SIMULATION

_BASE = re.compile(rb"<base\s[^>]{1,2000}>", re.IGNORECASE)

_FEED_WORDS = "feed", "rss", "atom", "rdf", "opml", ".xml"
_FEED_PATH = re.compile(
    r"(?:\.(?:rss|atom|rdf|opml)|/(?:rss|feeds?|atom|podcast|sitemap|index|news)[\w-]*\.xml"
    r"|/(?:rss2?|feed|atom)/?|/(?:rss|feed|atom)\w{0,9}\.(?:php|aspx?|json)|/feeds/posts/default)"
    r"(?:\?|\Z)|[?&](?:feed|type|format)=(?:rss2?|atom|feed)(?:&|\Z)",
    re.IGNORECASE,
)

LONGEST_TEXT = 100_000
_LONGEST_SAID = 2_000  # characters of title, keywords, description


def parse_page(body: bytes, url: str, content_type: str | None = None, refresh: str = "") -> Page:
    """Parse a page; never raises, whatever the bytes.

    Args:
        body: As received, without content encoding (gzip, …). It is read to its end, in time
            proportional to its length.
        url: Absolute URL of the page, from which relative references start.
        content_type: The ``Content-Type`` header, if any.
        refresh: The ``Refresh`` header.

    Source: what is extracted follows Yang 2009, sections 2.1.2 and 2.1.3.

    >>> page = parse_page(b'<title>Levers</title><a href="b.htm">Next</a>', "http://h.test/a.htm")
    >>> page.title, page.links[0].url, page.links[0].anchor
    ('Levers', 'http://h.test/b.htm', 'Next')
    """
    return page_of(page_tree(body, content_type), url, refresh)


def page_tree(body: bytes, content_type: str | None = None) -> PageTree:
    """Return the tree that a page is parsed from: of the body, but without NULs, or UTF-32."""
    encoding = page_encoding(body, content_type)
    if (text := text_of_utf_32(body)) is not None:
        body, encoding = text.encode("utf-8", "replace"), "utf-8"
    elif b"\0" in body and not encoding.startswith("utf-16"):
        body = body.replace(b"\0", b"")
    return PageTree(body, encoding)


def page_of(tree: PageTree, url: str, refresh: str = "") -> Page:
    """Return a page from its tree: see :func:`parse_page`."""
    encoding = tree.encoding
    collector, said = PageCollector(), Declared(tree)
    collector.read(said)
    fallbacks, collector.fallbacks = collector.fallbacks, []
    for fallback in fallbacks:  # those within one are none
        collector.read(Declared(PageTree(fallback.encode("utf-8", "replace"), "utf-8")))
    collector.moves.refresh(refresh)
    title, robots, headings = _short(said.title), said.robots, _collapse(collector.headings)
    resolve = said.resolver(url)
    references = chain(collector.references, collector.relations)  # a link in the page tells more
    resolved = [(r, t) for r in references if (t := resolve(r.href)) is not None]
    own = (Resolver(url, encoding) if said.base else resolve)("")
    own_url, host = (own.url, own.host) if own is not None else (url, "")
    if own is not None and collector.simulation.say_so(title, headings):
        itself = Reference("", "script", kind=SIMULATION, only_kind=True, is_page=True)
        resolved.append((itself, own))
    named = [(kind, t.url) for kind, href in collector.named if (t := resolve(href)) is not None]
    named += ((FEED, t.url) for reference, t in resolved if _leads_to_feed(reference, t))
    moves = collector.moves.all(tree, own_url)
    resolved[:0] = list(_moves(moves, resolved, resolve, own_url))
    links, groups = page_links(resolved, own_url, host)
    return Page(
        url=url,
        encoding=encoding,
        title=title,
        keywords=_short(said.keywords),
        description=_short(next(said.meta("description"), "")),
        language=next(filter(None, (said.language.strip(), *said.meta("content-language"))), "")
        .lower()
        .partition(",")[0],
        links=links,
        groups=groups,
        media=media_resources(resolved, resolve, own_url, host),
        text=_collapse(collector.text)[:LONGEST_TEXT],
        headings=headings[:LONGEST_TEXT],
        nofollow=not robots.isdisjoint(("nofollow", "none")),
        noindex=not robots.isdisjoint(("noindex", "none")),
        named=tuple(dict.fromkeys(named)),
    )


def _leads_to_feed(reference: Reference, target: Target) -> bool:
    """Whether the type or the address of a link says that it leads to a feed."""
    if reference.tag != "a":
        return False
    if reference.mime and names_feed(reference.mime.lower()):
        return True
    # Of each link: words are found many times as fast as what they are in.
    path = target.url.lower()
    return any(word in path for word in _FEED_WORDS) and _FEED_PATH.search(path) is not None


def _moves(
    moves: Iterable[Move], others: Iterable[Resolved], resolve: Resolver, own_url: str
) -> Iterator[Resolved]:
    """Yield the references that moves are; one that is not certain is a link where others are."""
    has_links = any(r.may_be_page and t.is_page and t.url != own_url for r, t in others)
    for move in moves:
        target = resolve(move.href)
        if target is not None and not _only_grows(target.url, own_url):
            tag = MOVE if move.is_certain or not has_links else "script"
            yield Reference(move.href, tag, tag_path=tag, may_be_page=True), target


def _only_grows(url: str, own: str) -> bool:
    """Return whether a script endlessly adds a piece of its query to a page's own address."""
    more = url.removeprefix(own)
    return more[:1] in ("?", "&") and more[1:] in re.split(r"[?&]", own)[1:]


def media_in(
    content: bytes, encoding: str, url: str, page: bytes = b""
) -> tuple[MediaResource, ...]:
    """Return the media that a part of a page shows or links to.

    Without `page`, whose ``base`` counts, kinds are right, addresses may not be.
    """
    base = _BASE.search(page)
    before = base[0] if base is not None else b""
    return page_of(read_tree(before + content, encoding=encoding), url).media


def _short(text: str) -> str:
    return text[:_LONGEST_SAID].rstrip()


def _collapse(pieces: Iterable[str]) -> str:
    return " ".join("".join(pieces).split())


def page_links(
    references: Iterable[Resolved], page_url: str, page_host: str
) -> tuple[tuple[Link, ...], tuple[LinkGroup, ...]]:
    """Return links to other pages, in document order, each URL once, and their groups."""
    occurrences: dict[str, list[Reference]] = {}
    for reference, target in references:
        if not (reference.may_be_page and target.is_page):
            continue
        if said_kind(reference, target):
            continue
        kind = None if target.hosted is None else kind_of_reference(reference, target, page_host)
        # A document on a host is one page among others there, and looked for by few crawls.
        if kind in (None, DOCUMENT):
            occurrences.setdefault(target.url, []).append(reference)
    occurrences.pop(page_url, None)
    groups: dict[LinkRun, int] = {}
    links = tuple(_link(url, found, groups) for url, found in occurrences.items())
    sizes = [0] * len(groups)
    for link in links:
        if link.group >= 0:
            sizes[link.group] += 1
    return links, tuple(LinkGroup(run.title(), sizes[i]) for run, i in groups.items())


def _link(url: str, occurrences: list[Reference], groups: dict[LinkRun, int]) -> Link:
    """Merge the occurrences of one URL; a place in the page tells more than a script."""
    best = occurrences[0]
    if len(occurrences) > 1:
        best = _best(occurrences)
    group = groups.setdefault(best.run.final(), len(groups)) if best.run is not None else -1
    nofollow = best.nofollow and all(reference.nofollow for reference in occurrences)
    if occurrences[0].tag == MOVE:
        return Link(url, best.text, MOVE, group, nofollow, MOVE)
    return Link(url, best.text, best.tag, group, nofollow, best.tag_path)


def _best(occurrences: list[Reference]) -> Reference:
    plain = [reference for reference in occurrences if reference.tag != "script"]
    named = [reference for reference in plain or occurrences if reference.text]
    return (named or plain or occurrences)[0]
