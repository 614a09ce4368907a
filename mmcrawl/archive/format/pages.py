"""What the archive finds out about a body: whether it is a page, its encoding, its blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from mmcrawl.archive.model import Capture, StoredBlock
from mmcrawl.blocks import PageTree, Partition, partition, read_tree
from mmcrawl.page.encoding import page_encoding

__all__ = ["PageFacts", "blocks_of_page", "digest_of", "facts_of_page", "whole_body"]

_PAGES = ("text/html", "application/xhtml+xml")
_UNDECLARED = ("", "application/octet-stream", "text/plain", "unknown/unknown")
_SNIFFED = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<meta")
_SNIFF = 1_024
_HEAD = 4_096  # bytes that are searched for the language
_LARGEST_PAGE = 16 << 20  # a larger one is kept as one block
_WIDE = ("utf-16", "utf-32")  # markup in these is no ASCII

# The start tag of a page, or a comment, in which one does not count.
_HTML = re.compile(
    rb"""<!--.*?(?:-->|\Z)|(<html(?=[\s/>])(?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+>)""",
    re.DOTALL | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Language and encoding, as in a Version; `is_page` says whether it has blocks."""

    is_page: bool
    language: str
    encoding: str


def facts_of_page(capture: Capture) -> PageFacts:
    """Find out what a body is, without reading all of it as a tree."""
    declared = capture.header("content-language").partition(",")[0].strip().lower()[:64]
    if not _is_page(capture):
        return PageFacts(False, declared, "")
    encoding = page_encoding(capture.body, capture.media_type or None)
    return PageFacts(True, _language(capture.body[:_HEAD], encoding) or declared, encoding)


def _is_page(capture: Capture) -> bool:
    """Whether a body is HTML: as declared, or by its first bytes where nothing useful is."""
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


def blocks_of_page(
    body: bytes,
    *,
    url: str,
    encoding: str,
    method: str,
    level: int,
    known: Mapping[str, StoredBlock] | None = None,
) -> list[StoredBlock]:
    """Cut a page into labelled blocks, each before those inside of it.

    Args:
        body, url, encoding, method, level: As :func:`mmcrawl.blocks.partition` takes them.
        known: Blocks of the version before, by digest: equal ones are labelled as they were.
    """
    page = partition(body, method=method, level=level, encoding=encoding, url=url)
    return _labelled(page, known or {})


def _labelled(page: Partition, known: Mapping[str, StoredBlock]) -> list[StoredBlock]:
    blocks = []
    for block in page:
        digest = digest_of(block.content)
        before = known.get(digest)
        kind = before.kind if before is not None else block.kind
        topic = before.topic if before is not None else " ".join(block.topic.split())
        blocks.append(
            StoredBlock(block.start, block.end, kind, topic, block.level, block.path, digest)
        )
    return blocks


def whole_body(body: bytes) -> list[StoredBlock]:
    """Return what is no page as one block, or none if it is empty."""
    return [StoredBlock(0, len(body), "", "", 1, "", digest_of(body))] if body else []


def digest_of(content: bytes) -> str:
    """Return the digest of a block."""
    return sha256(content).hexdigest()[:16]
