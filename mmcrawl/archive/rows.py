"""What a database keeps of an archive, row by row; places of entries and chunks.

Places are absolute and never change: ``stream << 32 | number`` (:func:`place`), whatever packs a
number moves between. For streams, entries, chunks and packs see :mod:`mmcrawl.archive.backend`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHIFT = 32
CHUNK_DIGEST = 16  # bytes
SEGMENT = 14 << 20
"""Bytes from which on a segment is full: closed, never compressed again by itself."""

SCHEMA_VERSION = 1


def place(stream: int, number: int) -> int:
    """Return the absolute number of an entry or a chunk."""
    return stream << SHIFT | number


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A URL.

    Attributes:
        id: Its number.
        url: As given.
        host: Lower case, "" if it has none.
        stream: Number of its own stream, or None while its versions go to that of the host.
        last: No greater than the greatest number that a version of it ever had.
        late: Whether an older version was stored after a newer one. If not, times ascend with
            numbers, and each visit found the version before it or the one behind it.
    """

    id: int
    url: str
    host: str
    stream: int | None
    last: int = 0
    late: bool = False


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version; what else is known of it stands in its entry.

    Attributes:
        url: Number of the URL.
        number: From 1; (url, number) is unique.
        time: Unix seconds.
        status: HTTP status.
        digest: SHA-256 of the body, 32 bytes.
        size: Of the body.
        entry: Place of its entry.
        method, level: How it is cut into blocks; "" and 0 for what is no page.
        location: Where a redirect leads; "" for what is none. These three stand in the entry too;
            they are here so that the next version can be stored without reading that.
    """

    url: int
    number: int
    time: float
    status: int
    digest: bytes
    size: int
    entry: int
    method: str = ""
    level: int = 0
    location: str = ""


@dataclass(frozen=True, slots=True)
class VisitRow:
    """A visit that found what was known; (url, time) is unique.

    Attributes:
        url: Number of the URL.
        time: Unix seconds.
        number: Of the version that it found, which may have been captured later.
        status: HTTP status of the answer.
        head: What the answer came with, as
            :func:`mmcrawl.archive.format.facts.written_head` writes it; None if it came with
            nothing, so that what was known before holds on.
    """

    url: int
    time: float
    number: int
    status: int
    head: bytes | None = None


@dataclass(frozen=True, slots=True)
class Disproved:
    """A group of rows that are not those that were written.

    Attributes:
        table: "host", "stream", "url", "version", "visit", "pack" or "change".
        first, end: From which number on, and up to which, the hosts, streams or URLs are whose rows
            these are.
        missing: How many rows fewer there are than were written; less than 0 if there are more.
        was: The values of the one row that was altered or is gone, as they were written; None if it
            cannot be told.
        now: What stands in its place; None for nothing, or if that cannot be told.
        unproved: Whether the rows are whole, and only what proved them is gone or altered.
    """

    table: str
    first: int
    end: int
    missing: int
    was: tuple[Any, ...] | None = None
    now: tuple[Any, ...] | None = None
    unproved: bool = False


@dataclass(frozen=True, slots=True)
class PackRow:
    """What a pack holds; (stream, entry, entries) is unique.

    Attributes:
        stream: Its stream.
        entry, entries: The first entry and how many.
        chunk, chunks: The first chunk and how many, maybe none.
        raw: Bytes of the chunks before compression.
        level: zstd level; 0 for a pack of the tail, which is still to be sealed.
        size: Bytes of the manifest and the chunks as stored.
    """

    stream: int
    entry: int
    entries: int
    chunk: int
    chunks: int
    raw: int
    level: int
    size: int

    @property
    def sealed(self) -> bool:
        """Whether it is a segment, not of the tail."""
        return self.level > 0


def is_closed(pack: PackRow) -> bool:
    """Return whether a pack is a full segment."""
    return pack.sealed and pack.raw >= SEGMENT
