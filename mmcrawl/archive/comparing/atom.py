"""Watched changes as an Atom feed (RFC 4287), an entry for each change of a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from textwrap import shorten
from urllib.parse import urlencode
from uuid import NAMESPACE_URL, uuid5

from lxml import etree
from lxml.builder import ElementMaker

from mmcrawl.archive.comparing.changes import BlockChange
from mmcrawl.archive.comparing.watching import WatchedChange

MEDIA_TYPE = "application/atom+xml"

_ATOM = "http://www.w3.org/2005/Atom"
_A = ElementMaker(namespace=_ATOM, nsmap={None: _ATOM})
_STEERING = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_SIGNS = {"removed": "−", "added": "+"}
_LONGEST = 4_000  # characters of a run of words


def atom_feed(
    changes: Sequence[WatchedChange], *, title: str, archive: str, browser: str, own: str = ""
) -> bytes:
    """Return a feed.

    Args:
        changes: The newest first.
        title: What is watched, as :func:`feed_title` puts it. Ids are derived from it.
        archive: How the archive is called, likewise.
        browser: Address of the web browser of the archive, with a slash at the end.
        own: Address of the feed, "" if it has none.
    """
    name = f"{archive} {title}"
    feed = _A.feed(
        _A.id(_id(name)),
        _A.title(_clean(title)),
        _A.updated(_date(changes[0].time if changes else 0.0)),
        _A.author(_A.name("mmcrawl")),
        _A.link(rel="alternate", type="text/html", href=browser),
    )
    if own:
        feed.append(_A.link(rel="self", type=MEDIA_TYPE, href=own))
    feed.extend(_entry(change, name, browser) for change in changes)
    written: bytes = etree.tostring(feed, xml_declaration=True, encoding="utf-8")
    return written


def feed_title(where: str, kinds: str, css: str) -> str:
    """Return what is watched: where (a URL, a host), which kinds, which elements; "" for all."""
    return ": ".join(filter(None, ("Changes", where, kinds, css)))


def _entry(change: WatchedChange, name: str, browser: str) -> etree._Element:
    numbers = {"old": change.old.number, "new": change.new.number}
    where = urlencode({"url": change.url, **numbers}, errors="replace")
    key = " ".join((name, change.url, change.old.digest, change.new.digest, _date(change.time)))
    return _A.entry(
        _A.id(_id(key)),
        _A.title(_clean(f"{summary(change.blocks)}: {change.url}")),
        _A.updated(_date(change.time)),
        _A.link(rel="alternate", type="text/html", href=f"{browser}diff?{where}"),
        _A.content(_clean("\n".join(_told(change.blocks))), type="text"),
    )


def summary(blocks: Iterable[BlockChange]) -> str:
    """Return what became of blocks, as ``topic changed, 2 image added``."""
    names = [f"{block.kind or 'page'} {block.change}" for block in blocks]
    counts = {name: names.count(name) for name in names}
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def _told(blocks: Iterable[BlockChange]) -> Iterator[str]:
    for change in blocks:
        yield f"{change.kind or 'page'} {change.change}: {change.block.topic}"
        for word in change.words:
            if word.change in _SIGNS:
                yield f"{_SIGNS[word.change]} {shorten(word.text, _LONGEST, placeholder=' …')}"


def _clean(text: str) -> str:
    """Return a text without what XML cannot hold, or what steers the direction of writing."""
    return _STEERING.sub("\ufffd", text)


def _date(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return "1970-01-01T00:00:00+00:00"


def _id(name: str) -> str:
    return uuid5(NAMESPACE_URL, name.encode("utf-8", "replace").decode()).urn
