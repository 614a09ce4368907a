"""What the archive derives from the bytes of a version: facts, and blocks.

Facts are read when a page is stored: whether it is a page, its language and encoding. A visit that
found an unchanged page has headers of its own, called its *head*.

Cutting a page into labelled blocks takes several times as long as storing it. The result depends
only on the bytes, the encoding, the method and the level, all of which are stored. So blocks can be
cut later, when somebody asks for them, or for good when the archive is packed.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.columns import Facts
from mmcrawl.archive.format.head import CUT, Entry
from mmcrawl.archive.format.reading import Reader, live_versions
from mmcrawl.archive.index import Index, Segment
from mmcrawl.archive.model import Capture, Headers, StoredBlock, Version, digest_of, first_header
from mmcrawl.blocks.partition import Block, Partition, partition, partition_of
from mmcrawl.errors import BlockError, StoreError, raise_if_fatal
from mmcrawl.page.html.encoding import page_encoding
from mmcrawl.page.html.tree import PageTree, read_tree
from mmcrawl.text.patterns import linear

logger = logging.getLogger(__name__)

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


@dataclass(frozen=True, eq=False)
class ArchivedPage:
    """A version with its bytes. Tree, blocks and texts are made once, on demand.

    Attributes:
        kept: Its blocks, if they are kept; None if they are to be cut.
    """

    version: Version
    body: bytes = field(repr=False)
    kept: Sequence[StoredBlock] | None = field(default=None, repr=False)

    @cached_property
    def blocks(self) -> list[StoredBlock]:
        """The blocks in order, each before those inside it; one, if it is no page. BlockError
        likewise.
        """
        if self.kept is not None:
            return [*self.kept]
        return stored_blocks(self.parsed) if self.version.method else _whole_body(self.body)

    def text(self, block: StoredBlock) -> str:
        """Return the visible text of one of the blocks; "" of a body that is no page."""
        if not self.version.method:
            return ""
        return Block(self.parsed, block.start, block.end, block.level, node=0).text

    @cached_property
    def main_text(self) -> str:
        """What :func:`mmcrawl.blocks.page_content` takes it to say, line by line; "" if no page."""
        if not self.version.method:
            return ""
        from mmcrawl.blocks.content.content import content_of

        return "\n".join(content_of(self.tree, self.version.url).paragraphs)

    @cached_property
    def tree(self) -> PageTree:
        """The tree of the page."""
        return read_tree(self.body, encoding=self.version.encoding)

    @cached_property
    def parsed(self) -> Partition:
        """The page in blocks, or in none if those are kept already: then only texts are asked."""
        version = self.version
        if self.kept is not None:
            return Partition(self.tree, (), method=version.method, level=version.level)
        return partition_of(self.tree, method=version.method, level=version.level, url=version.url)


def stored_blocks(page: Partition) -> list[StoredBlock]:
    """Return the blocks of a page that was cut, as an archive keeps them."""
    return [
        StoredBlock(b.start, b.end, b.kind, topic, b.level, b.path, digest_of(b.content))
        for b in page
        for topic in [" ".join(b.topic.split())]
    ]


def columns_of(capture: Capture, encoding: str, method: str, level: int) -> BlockColumns | None:
    """Return the blocks of a page to be stored, its own if they are of this method and level.

    None if it cannot be cut.
    """
    body, given = capture.body, capture.blocks
    if given is not None:
        if given.blocks is None:
            return None
        if (given.method, given.level) == (method, level):
            if _are_of(given.blocks, body):
                return BlockColumns.of(given.blocks, body, encoding)
            logger.warning(
                "The blocks delivered with %s do not match; it is cut again", capture.url
            )
    try:
        page = partition(body, method=method, level=level, encoding=encoding, url=capture.url)
        return BlockColumns.of(stored_blocks(page), body, encoding)
    except BlockError as error:
        logger.warning("The blocks of %s are not kept: %s", capture.url, error)
    except Exception as error:
        raise_if_fatal(error)
        logger.exception("The blocks of %s are not kept", capture.url)
    return None


def _are_of(blocks: Sequence[StoredBlock], body: bytes) -> bool:
    """Return whether blocks are in order, properly nested, and match their digests."""
    open_ = [StoredBlock(0, len(body), "", "", 0, "", "")]
    end = 0
    for block in blocks:
        while open_[-1].level >= block.level:
            end = max(end, open_.pop().end)
            if not open_:
                return False
        around = open_[-1]
        is_inside = max(around.start, end) <= block.start < block.end <= around.end
        label = block.kind + block.path
        if not is_inside or block.level != around.level + 1 or "\n" in label:
            return False
        if block.digest != digest_of(body[block.start : block.end]):
            return False
        if block.topic != " ".join(block.topic.split()):
            return False
        open_.append(block)
    return True


def are_blocks_of(columns: BlockColumns, body: bytes, encoding: str) -> bool:
    """Return whether blocks, as kept, are blocks of a body, with the digests that are kept."""
    try:
        blocks = columns.read(body, encoding)
    except StoreError:
        return False
    marks = BlockColumns.of(blocks, body, encoding).marks
    return _are_of(blocks, body) and columns.marks == marks


def cut_entries(index: Index, reader: Reader, segment: Segment) -> list[Entry] | None:
    """Return a segment's entries with blocks, as far as they can be cut here; None if all have."""
    head = reader.head(segment)
    found = {}
    for n, entry in live_versions(index, segment, head).items():
        version = as_version(head.about.urls[entry.url], entry)
        if entry.kind == CUT or not version.method:
            continue
        body = reader.body(segment, n, entry)
        try:
            columns = BlockColumns.of(ArchivedPage(version, body).blocks, body, version.encoding)
        except BlockError as error:
            logger.warning("The blocks of %s are not kept: %s", version.url, error)
            continue
        found[n] = replace(entry, kind=CUT, columns=columns)
    return [found.get(n, entry) for n, entry in enumerate(head.entries())] if found else None


def _whole_body(body: bytes) -> list[StoredBlock]:
    """Return a body that is no page as one block, or none if it is empty."""
    return [StoredBlock(0, len(body), "", "", 1, "", digest_of(body))] if body else []


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
