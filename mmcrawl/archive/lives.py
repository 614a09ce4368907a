"""The life of a block: on which pages it stood, in which versions, from when to when.

And what is new in each version of a page, in the terms of Song et al. 2008: blocks and layout
that no version before had.

Heads tell which versions may have a block; of these alone the pages are read. No index is kept:
one of whole digests would be a quarter of an archive of pages that were stored once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mmcrawl.archive.format.blocks import MARK
from mmcrawl.archive.format.head import VERSION, Entry
from mmcrawl.archive.format.reading import GoneError, Reader, live_versions
from mmcrawl.archive.index import Index, Segment, UrlRow
from mmcrawl.archive.lookup import line_of
from mmcrawl.archive.model import StoredBlock
from mmcrawl.errors import StoreError, UnreachableError
from mmcrawl.text.writing import counted

LEAST_DIGITS = 2 * MARK
"""Hex digits that a digest may be shortened to."""

_DIGEST = re.compile(rf"[0-9a-f]{{{LEAST_DIGITS},16}}")
_SHOWN = 5  # digests that are named where several begin alike


@dataclass(frozen=True, slots=True)
class BlockPage:
    """A page that has or had a block.

    Attributes:
        gone: When the page was first seen without it after that; None if it is still there.
    """

    url: str  # as stored
    host: str
    versions: tuple[int, ...]  # numbers of the versions that have it, in order
    since: float  # when it was seen first, in Unix seconds
    until: float  # when it was seen last
    gone: float | None
    block: StoredBlock  # as it is in the last of these versions


@dataclass(frozen=True, slots=True)
class BlockLife:
    """The pages of a block, now and before.

    Attributes:
        kinds: What it is, the most common first: it may be another among other blocks.
    """

    digest: str  # whole, 16 hex digits
    size: int  # in bytes
    kinds: tuple[str, ...]
    pages: tuple[BlockPage, ...]  # by URL
    unsegmented: int  # pages of which no blocks are kept: it may be on these too

    @property
    def hosts(self) -> int:
        """The number of sites that have or had it."""
        return len({page.host for page in self.pages})

    @property
    def versions(self) -> int:
        """The number of versions that have it."""
        return sum(len(page.versions) for page in self.pages)


@dataclass(frozen=True, slots=True)
class StoredAnew:
    """What is new in a version: in no earlier version of its page.

    Attributes:
        blocks: How many it has that have none inside them; None where its blocks, or those of a
            version before, are not kept, and if it is no page.
        new: Which of its blocks were in no version before, by their place in
            :meth:`Archive.blocks_of`; of equal ones the first. Empty where `blocks` is None.
        new_bytes: Of these blocks.
    """

    version: int
    blocks: int | None
    new: tuple[int, ...]
    new_bytes: int
    new_layout: bool | None  # whether no version before had its layout; None where `blocks` is


_Found = tuple[str, Entry, StoredBlock]  # URL and record of a version, and its block


def life_of(index: Index, reader: Reader, digits: str) -> BlockLife:
    """Return the life of the block whose digest begins so, see :meth:`Archive.block`."""
    if not _DIGEST.fullmatch(digits):
        raise StoreError(
            f"{digits!r} is no digest of a block; give {LEAST_DIGITS} to 16 hex digits, as"
            " `scrapy archive show URL --blocks` shows them"
        )
    blocks: dict[str, list[_Found]] = {}
    unsegmented = 0
    for stream in index.streams():
        some, left = _blocks_in(index, reader, stream, digits)
        unsegmented += left
        for one in some:
            blocks.setdefault(one[2].digest, []).append(one)
    if len(blocks) != 1:
        raise StoreError(_not_one(index, digits, sorted(blocks), unsegmented))
    ((digest, found),) = blocks.items()
    block = found[0][2]
    kinds = Counter(block.kind for _, _, block in found)
    pages = _pages(index, found)
    known = tuple(kind for kind, _ in kinds.most_common())
    return BlockLife(digest, block.end - block.start, known, pages, unsegmented)


def _blocks_in(index: Index, reader: Reader, stream: int, digits: str) -> tuple[list[_Found], int]:
    """Return the blocks of a stream whose digests begin so, and how many pages are not cut."""
    found: list[_Found] = []
    unsegmented = 0
    try:
        for segment in index.segments([stream]).get(stream, []):
            unsegmented += _search(index, reader, segment, digits, found)
    except GoneError:  # replaced by another process meanwhile
        return _blocks_in(index, reader, stream, digits)
    return found, unsegmented


def _search(
    index: Index, reader: Reader, segment: Segment, digits: str, found: list[_Found]
) -> int:
    head = reader.head(segment)
    marked = set(head.marked(bytes.fromhex(digits[:LEAST_DIGITS])))
    if not marked and VERSION not in head.kinds():
        return 0
    unsegmented = 0
    for n, entry in live_versions(index, segment, head).items():
        if entry.columns is None:
            unsegmented += bool(entry.facts.method)
        elif n in marked:
            body = reader.body(segment, n, entry)
            blocks = entry.columns.read(body, entry.facts.encoding)
            url = head.about.urls[entry.url]
            found += [(url, entry, block) for block in blocks if block.digest.startswith(digits)]
    return unsegmented


def _not_one(index: Index, digits: str, digests: Sequence[str], unsegmented: int) -> str:
    if digests:
        more = ", …" if len(digests) > _SHOWN else ""
        return (
            f"{len(digests)} blocks begin so: {', '.join(digests[:_SHOWN])}{more}; give more digits"
        )
    missing = f"there is no block {digits} in archive {index.name}"
    if not unsegmented:
        return missing
    pages = counted(unsegmented, "page")
    return f"{missing}; the blocks of {pages} are not kept: `scrapy archive seal` keeps them"


def _pages(index: Index, found: Sequence[_Found]) -> tuple[BlockPage, ...]:
    """Return the pages that a block was found on, by URL."""
    of_url: dict[str, dict[int, StoredBlock]] = {}
    for url, version, block in found:
        of_url.setdefault(url, {})[version.number] = block
    rows = index.urls_named(sorted(of_url))
    return tuple(_page(index, rows[url], of_url[url]) for url in sorted(rows))


def _page(index: Index, url: UrlRow, having: dict[int, StoredBlock]) -> BlockPage:
    line = line_of(index.versions(url.id), index.visits(url.id))
    times = [seen.time for seen in line if seen.version.number in having]
    until = max(times)
    gone = (seen.time for seen in line if seen.time > until)
    numbers = tuple(sorted(having))
    return BlockPage(
        url.url, url.host, numbers, min(times), until, next(gone, None), having[numbers[-1]]
    )


def stored_anew(index: Index, reader: Reader, url: UrlRow) -> Iterator[StoredAnew]:
    """Yield what is new in each version of a URL, in the order of storing; reads no page.

    What was new after a version that cannot be read is not known.
    """
    rows = index.versions(url.id)
    reader.fetch(row.at for row in rows)
    keys: set[tuple[bytes, int]] = set()
    layouts: set[bytes] = set()
    is_known = True  # of all versions before
    for row in rows:
        try:
            entry = reader.entry(row)
            outline = entry.columns.outline() if entry.columns is not None else None
            is_known = is_known and (outline is not None or not entry.facts.method)
        except UnreachableError:
            raise
        except StoreError:
            is_known, outline = False, None
        if outline is None or not is_known:
            yield StoredAnew(row.number, None, (), 0, None)
            continue
        new = []
        new_bytes = 0
        for n in outline.leaves:
            key = outline.marks[n], outline.sizes[n]
            if key not in keys:
                keys.add(key)
                new.append(n)
                new_bytes += key[1]
        is_new = outline.layout not in layouts
        layouts.add(outline.layout)
        yield StoredAnew(row.number, len(outline.leaves), tuple(new), new_bytes, is_new)
