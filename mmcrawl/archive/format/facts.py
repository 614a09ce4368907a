"""What the archive finds out about a body: whether it is a page, its language and encoding.

And what is kept of a version beside its bytes and its row, and the version made of it again. A
visit that found the same again came with headers of its own, its *head*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mmcrawl.archive.format.columns import Facts
from mmcrawl.archive.format.columns import read as _read
from mmcrawl.archive.format.columns import written as _written
from mmcrawl.archive.format.head import Entry
from mmcrawl.archive.index import VersionRow
from mmcrawl.archive.model import Capture, Version
from mmcrawl.page.encoding import page_encoding
from mmcrawl.page.tree import PageTree, read_tree
from mmcrawl.text.patterns import linear

_PAGES = ("text/html", "application/xhtml+xml")
_UNDECLARED = ("", "application/octet-stream", "text/plain", "unknown/unknown")
_SNIFFED = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<meta")
_SNIFF = 1_024
_HEAD = 4_096  # bytes that are searched for the language
_LARGEST_PAGE = 16 << 20  # a larger one is kept as one block
_WIDE = ("utf-16", "utf-32")  # markup in these is no ASCII

# The start tag of a page, or a comment, in which one does not count; what has no end is read once.
_HTML = linear(
    rb"""<!--.*?(?:-->|\Z)|(<html(?=[\s/>])(?:[^>"']++|"[^"]*+"?+|'[^']*+'?+)*+>)|<html(?=[\s/>]).*""",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """Language and encoding, as in a Version; `is_page` says whether it has blocks."""

    is_page: bool
    language: str
    encoding: str


def facts_of_page(capture: Capture) -> BodyFacts:
    """Find out what a body is, without reading all of it as a tree."""
    declared = capture.header("content-language").partition(",")[0].strip().lower()[:64]
    if not is_page(capture):
        return BodyFacts(False, declared, "")
    encoding = capture.blocks.encoding if capture.blocks is not None else ""
    encoding = encoding or page_encoding(capture.body, capture.media_type or None)
    return BodyFacts(True, _language(capture.body[:_HEAD], encoding) or declared, encoding)


def is_page(capture: Capture) -> bool:
    """Return whether a body is HTML: as declared, or by its first bytes where nothing useful is."""
    if not capture.body or len(capture.body) > _LARGEST_PAGE:
        return False
    declared = capture.media_type.partition(";")[0].strip().lower()
    if declared in _UNDECLARED:
        start = capture.body[:_SNIFF].lstrip(b"\xef\xbb\xbf \t\r\n\x00").lower()
        return start.startswith(_SNIFFED)
    return declared in _PAGES


def _language(head: bytes, encoding: str) -> str:
    tree = _tree_with_start_tag(head, encoding)
    if "html" not in tree.tags:
        return ""
    attributes = tree.attributes(tree.tags.index("html"))
    return (attributes.get("lang") or attributes.get("xml:lang") or "").strip().lower()[:64]


def _tree_with_start_tag(head: bytes, encoding: str) -> PageTree:
    """Return the tree of a page up to its start tag, mostly a tenth of the head."""
    tags = (match for match in _HTML.finditer(head) if match[1])
    if not encoding.startswith(_WIDE) and (tag := next(tags, None)):
        tree = read_tree(head[: tag.end()], encoding=encoding)
        if "html" in tree.tags:
            return tree
    return read_tree(head, encoding=encoding)


def written_facts(capture: Capture, page: BodyFacts, method: str, level: int) -> bytes:
    """Return what an entry keeps of a capture, in the order that :func:`as_version` reads it."""
    facts = [
        capture.reason,
        capture.content_type,
        page.language,
        page.encoding,
        method if page.is_page else "",
        level if page.is_page else 0,
        [list(header) for header in capture.headers],
    ]
    return _written(facts)


def written_head(capture: Capture, facts: bytes) -> bytes:
    """Return what is kept of a capture that found a version again, b"" if it came with the same.

    Args:
        capture: Its body is that of the version.
        facts: Of the version, as :func:`written_facts` wrote them.
    """
    head = [capture.reason, capture.content_type, [list(header) for header in capture.headers]]
    return b"" if head == _head_of(_read(facts)) else _written(head)


def is_read_alike(capture: Capture, facts: bytes) -> bool:
    """Return whether a capture is to be read as the version with the same body was.

    It is not if its headers declare another type, or another encoding and the body none. Headers
    that declare no type, as those of many a revisit record, say nothing against it.
    """
    _, content_type, _, encoding, method, _, headers = _read(facts)
    before = Capture("", b"", 0, headers=_as_headers(headers), content_type=content_type)
    if capture.media_type in ("", before.media_type):
        return True
    page = facts_of_page(capture)
    return (_type_of(capture), page.encoding, page.is_page) == (
        _type_of(before),
        encoding,
        bool(method),
    )


def as_version(url: str, row: VersionRow, entry: Entry, head: bytes | None = None) -> Version:
    """Make a version of its row and its entry.

    Args:
        url: As stored.
        row, entry: Its own.
        head: Of a visit that found it again; what that came with is put in place of what it was
            captured with.
    """
    facts = _read(entry.facts)
    _, _, language, encoding, method, level, _ = facts
    reason, content_type, headers = _read(head) if head else _head_of(facts)
    return Version(
        url=url,
        number=row.number,
        time=row.time,
        status=row.status,
        reason=reason,
        headers=_as_headers(headers),
        content_type=content_type,
        digest=entry.digest.hex(),
        size=entry.size,
        language=language,
        encoding=encoding,
        method=method,
        level=level,
    )


def location_of(capture: Capture) -> str:
    """Return where a redirect leads, "" for what is none."""
    return capture.header("location") if capture.status // 100 == 3 else ""


def target_of(entry: Entry) -> str:
    """Return where a redirect leads that was stored, "" for what is none."""
    headers = _as_headers(_read(entry.facts)[6])
    return location_of(Capture("", b"", entry.time, entry.status, headers))


def cut_by(entry: Entry) -> tuple[str, int]:
    """Return the method and level of a version; "" and 0 if it is no page."""
    facts = _read(entry.facts)
    return facts[4], facts[5]


def encoding_of(entry: Entry) -> str:
    """Return the encoding of a version, "" if it is no page."""
    encoding: str = _read(entry.facts)[3]
    return encoding


def _head_of(facts: Facts) -> Facts:
    return [facts[0], facts[1], facts[6]]


def _as_headers(headers: Facts) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in headers)


def _type_of(capture: Capture) -> str:
    return capture.media_type.partition(";")[0].strip().lower()
