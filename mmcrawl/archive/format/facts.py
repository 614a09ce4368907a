"""What the archive derives from a body (whether it is a page, its language and encoding), and a
version restored from what is stored.

A visit that found an unchanged page has headers of its own, called its *head*.
"""

from __future__ import annotations

import re

from mmcrawl.archive.format.columns import Facts
from mmcrawl.archive.format.head import Entry
from mmcrawl.archive.model import Capture, Headers, Version, first_header
from mmcrawl.page.html.encoding import page_encoding
from mmcrawl.page.html.tree import PageTree, read_tree
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


def facts_of(capture: Capture) -> Facts:
    """Return what is kept of a capture beside its body; a page has an encoding, no blocks yet."""
    declared = capture.header("content-language").partition(",")[0].strip().lower()[:64]
    encoding = ""
    if is_page(capture):
        encoding = capture.blocks.encoding if capture.blocks is not None else ""
        encoding = encoding or page_encoding(capture.body, capture.media_type or None)
        declared = _language(capture.body[:_HEAD], encoding) or declared
    came = capture.reason, capture.content_type
    return Facts(*came, declared, encoding, headers=capture.headers)


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


def is_read_alike(capture: Capture, facts: Facts) -> bool:
    """Return whether a capture is to be read as the version with the same body was.

    It is not if its headers declare another type, or another encoding and the body none. Headers
    that declare no type, as those of many a revisit record, say nothing against it.
    """
    before = Capture("", b"", 0, headers=facts.headers, content_type=facts.content_type)
    if capture.media_type in ("", before.media_type):
        return True
    encoding = facts_of(capture).encoding
    return (_type_of(capture), encoding) == (_type_of(before), facts.encoding)


def as_version(url: str, entry: Entry, head: Facts | None = None) -> Version:
    """Make a version of its entry; `head` is what a visit that found it again came with."""
    facts = entry.facts
    came = head if head is not None else facts
    return Version(
        url=url,
        number=entry.number,
        time=entry.time + 0.0,
        status=entry.status,
        reason=came.reason,
        headers=came.headers,
        content_type=came.content_type,
        digest=entry.digest.hex(),
        size=entry.size,
        language=facts.language,
        encoding=facts.encoding,
        method=facts.method,
        level=facts.level,
    )


def location_of(status: int, headers: Headers) -> str:
    """Return the target of a redirect, "" if it is none."""
    return first_header(headers, "location") if status // 100 == 3 else ""


def _type_of(capture: Capture) -> str:
    return capture.media_type.partition(";")[0].strip().lower()
