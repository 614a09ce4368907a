"""Heads: everything in a segment except the bytes of pages.

An :class:`Entry` is the record of one version or one visit: its time, the headers, the digest of
the body and how it is cut into blocks. A head stores its entries by column: all times, all values
of one header, all sizes of blocks, … Versions of one page differ little, so compressing the head as
a whole acts as delta coding; each entry can still be read alone.

The bodies are in the data of the segment, in the order of their entries, as one frame of zstd.
Equal bodies are stored once.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.columns import (
    NO_FACTS,
    Facts,
    HeaderColumns,
    Like,
    compressed,
    decompressed,
    in_columns,
    packed_numbers,
    unpacked_numbers,
)
from mmcrawl.archive.index import Segment
from mmcrawl.archive.model import StoredBlock
from mmcrawl.errors import StoreError

GONE, VERSION, CUT, VISIT, HEADED = range(5)
"""Kinds of entries: purged; a version without and with blocks; a visit without and with headers."""

_FORMAT = 10
_HEAD = struct.Struct("<BIII")
_SIZES = struct.Struct("<II")  # of the columns, and of their frame; that of the digests is behind
_AS_TIME, _AS_NUMBER = struct.Struct("<d"), struct.Struct("<q")  # the bits of a time
_NOT_CUT = BlockColumns(*[b""] * len(BlockColumns._fields))
# Rows of numbers: these, the lengths of cells, and one for each column of headers.
_URL, _NUMBER, _STATUS, _KIND, _TIME, _SIZE_OF, _REPEAT, _SHAPE = range(8)
_LENGTHS = 8
_CELLS = len(BlockColumns._fields)  # of an entry, the last of them marks
_MARKS = _CELLS - 1
_HEADERS = _LENGTHS + _CELLS
_DIGEST = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """One version or one visit, as a segment keeps it.

    Attributes:
        url, number: Of the URL, and of the version, which a visit found.
        time, status: Of the answer.
        facts: What came with the body, and how it is read; of a visit, what came with that.
        digest, size: Of the body, SHA-256 and bytes.
    """

    kind: int  # One of the five kinds. Of what was purged, URL and number stay while the URL does
    url: int
    number: int
    time: float
    status: int
    facts: Facts = NO_FACTS
    digest: bytes = b""
    size: int = 0
    columns: BlockColumns | None = None  # the blocks, of the kind `CUT`

    @property
    def is_version(self) -> bool:
        """Whether it is that of a version."""
        return self.kind in (VERSION, CUT)

    @property
    def is_visit(self) -> bool:
        """Whether it is that of a visit."""
        return self.kind in (VISIT, HEADED)

    def blocks(self, body: bytes, encoding: str) -> list[StoredBlock] | None:
        """Return the blocks of a body in order, None if they are not kept."""
        return None if self.columns is None else self.columns.read(body, encoding)


@dataclass(frozen=True, slots=True)
class About:
    """The description of a segment in its head.

    Attributes:
        number, first: Of the stream, and of the first entry.
        base: Number of the first entry of the segment of the stream whose bodies are the dictionary
            of these; None if there is no dictionary.
    """

    stream: str  # the name of the stream
    number: int
    first: int
    level: int  # of zstd; 0 in a tail
    urls: Mapping[int, str]  # the URLs of the entries, by number
    base: int | None = None


def written_head(about: About, entries: Sequence[Entry], level: int) -> bytes:
    """Return the head of a segment; it has checksums, as no digest covers the headers."""
    needed = {entry.url for entry in entries if entry.kind != GONE}
    urls = {str(number): url for number, url in sorted(about.urls.items()) if number in needed}
    told = [about.stream, about.number, about.first, about.level, urls, about.base]
    columns, shapes, texts, numbers = in_columns(
        [entry.facts for entry in entries], [entry.time for entry in entries]
    )
    rows = [
        _row(entry, shape, repeat)
        for entry, shape, repeat in zip(entries, shapes, _repeats(entries), strict=True)
    ]
    cells = [entry.columns or _NOT_CUT for entry in entries]
    matrix = np.array(rows, np.int64).reshape(-1, _LENGTHS).T
    lengths = np.array([[len(cell) for cell in one] for one in cells], np.int64)
    of_headers = np.array(numbers, np.int64).reshape(len(numbers), len(entries))
    widths, planes = packed_numbers(
        np.concatenate((matrix, lengths.reshape(-1, _CELLS).T, of_headers))
    )
    what = json.dumps([*told, columns.shapes, columns.names, columns.dates, widths]).encode()
    body = b"".join(
        [
            _HEAD.pack(_FORMAT, len(entries), len(what), len(planes)),
            *(what, planes),
            *(cell for column in zip(*cells, strict=True) for cell in column),
            *(text for column in texts for text in column),
        ]
    )
    digests = b"".join(entry.digest for entry in entries if entry.is_version)
    frame = compressed(body, level, checksum=True)
    # What hardly compresses stands apart: it would spoil the codes of what does.
    apart = compressed(digests, level, checksum=True) if digests else b""
    return _SIZES.pack(len(body), len(frame)) + frame + apart


def _row(entry: Entry, shape: int, repeat: int) -> tuple[int, ...]:
    (time,) = _AS_NUMBER.unpack(_AS_TIME.pack(entry.time))
    size = entry.size if entry.is_version else 0
    return entry.url, entry.number, entry.status, entry.kind, time, size, repeat, shape


def _repeats(entries: Sequence[Entry]) -> Iterator[int]:
    """Yield how far before each entry the one with the same body is, 0 for none."""
    known: dict[bytes, int] = {}
    for index, entry in enumerate(entries):
        yield index - known.setdefault(entry.digest, index) if entry.is_version else 0


class Head:
    """A head that was read, and the bytes of the bodies."""

    def __init__(self, body: bytes, digests: bytes) -> None:
        form, count, what_size, planes_size = _HEAD.unpack_from(body)
        if form != _FORMAT:
            raise StoreError("a segment was written by another version of mmcrawl")
        start = _HEAD.size + what_size
        stream, number, first, level, urls, base, *columns, widths = json.loads(
            body[_HEAD.size : start]
        )
        self.about = About(
            stream, number, first, level, {int(n): url for n, url in urls.items()}, base
        )
        self._count: int = count
        self._body = body
        self._columns = HeaderColumns(*columns)
        rows = unpacked_numbers(body[start : start + planes_size], widths, count)
        self._numbers = rows[:_LENGTHS].copy()
        self._dates = {number: rows[_HEADERS + number].copy() for number in self._columns.dates}
        rows[[_HEADERS + number for number in self._dates]] = 0  # they have no text
        kinds = self._numbers[_KIND]
        is_version = (kinds == VERSION) | (kinds == CUT)
        start += planes_size
        size = _DIGEST * int(np.count_nonzero(is_version))
        self._digests = decompressed(digests, size) if size else b""
        self._digest_ends = _DIGEST * np.cumsum(is_version)
        lengths = rows[_LENGTHS:].ravel()
        ends = start + np.concatenate(([0], np.cumsum(lengths)))
        if int(ends[-1]) != len(body) or lengths.min(initial=0) < 0:
            raise StoreError("a head is damaged (its lengths)")
        self._ends = ends.astype(np.uint32 if len(body) < 1 << 32 else np.uint64)
        repeats = self._numbers[_REPEAT]
        sizes = np.where(repeats == 0, self._numbers[_SIZE_OF], 0)
        self._offsets = (np.cumsum(sizes) - sizes)[np.arange(count) - repeats]
        self.raw = int(sizes.sum())

    def __len__(self) -> int:
        return self._count

    @property
    def weight(self) -> int:
        """The memory it takes, roughly, in bytes."""
        dates = sum(column.nbytes for column in self._dates.values())
        columns = self._numbers.nbytes + self._ends.nbytes + dates
        return int(len(self._body) + len(self._digests) + columns)

    def span(self, index: int, entry: Entry) -> tuple[int, int]:
        """Return where the body of an entry begins and ends."""
        start = int(self._offsets[index])
        return start, start + entry.size

    def entry(self, index: int) -> Entry:
        """Return an entry."""
        url, number, status, kind, bits, size, _, shape = self._numbers[:, index].tolist()
        (time,) = _AS_TIME.unpack(_AS_NUMBER.pack(bits))
        places = np.arange(index, len(self._ends) - 1, self._count)
        spans = zip(self._ends[places].tolist(), self._ends[places + 1].tolist(), strict=True)
        cells = [self._body[start:end] for start, end in spans]
        dates = {column: int(behind[index]) for column, behind in self._dates.items()}
        facts = self._columns.facts(shape, time, cells[_CELLS:], dates)
        end = int(self._digest_ends[index])
        digest = self._digests[end - _DIGEST : end] if kind in (VERSION, CUT) else b""
        columns = BlockColumns(*cells[:_CELLS]) if kind == CUT else None
        return Entry(kind, url, number, time, status, facts, digest, size, columns)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in order."""
        return map(self.entry, range(self._count))

    def kinds(self) -> list[int]:
        """Return the kinds of all entries in order."""
        kinds: list[int] = self._numbers[_KIND].tolist()
        return kinds

    def marked(self, mark: bytes) -> Iterator[int]:
        """Yield the entries that may have a block whose digest begins so, by index."""
        for index in np.flatnonzero(self._numbers[_KIND] == CUT).tolist():
            start, end = self._ends[_MARKS * self._count + index :][:2].tolist()
            if self._body.find(mark, start, end) >= 0:
                yield index


def read_head(frame: bytes) -> Head:
    """Read a head; raises StoreError if it is damaged."""
    try:
        size, length = _SIZES.unpack_from(frame)
        end = _SIZES.size + length
        return Head(decompressed(frame[_SIZES.size : end], size), frame[end:])
    except (struct.error, ValueError, TypeError, IndexError) as error:
        raise StoreError(f"a head is damaged ({error})") from error


def packed(
    about: About,
    entries: Sequence[Entry],
    bodies: Sequence[Any],
    head_level: int,
    level: int,
    *,
    like: Like = b"",
) -> tuple[Segment, bytes, bytes]:
    """Return a segment, its head and its data; the body of a visit is b""."""
    content = bytearray()
    for entry, body, repeat in zip(entries, bodies, _repeats(entries), strict=True):
        if entry.is_version and not repeat:
            content += body
    head = written_head(about, entries, head_level)
    data = compressed(content, level, like=like) if content else b""
    identity = Segment.new_key(about.number, about.first), about.number, about.first
    size = len(head) + len(data)
    return Segment(*identity, len(entries), len(content), about.level, size), head, data
