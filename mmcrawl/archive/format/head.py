"""Heads: what stands in a segment besides the bytes of pages.

An :class:`Entry` is the record of one version or one visit: when it was made, what came with it,
the digest of its body and how that is cut into blocks. The head of a segment keeps the entries by
column: all headers, then all sizes of blocks, … Versions of one page differ little, so that the
compression of the head as a whole is the delta coding; each entry can still be read by itself.

The bodies stand in the data of the segment, in the order of their entries, as one frame of zstd.
Equal ones stand there once.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.frames import Like, all_varints, compressed, decompressed, varints
from mmcrawl.archive.index import Segment
from mmcrawl.archive.model import StoredBlock
from mmcrawl.errors import StoreError

GONE, VERSION, CUT, VISIT, HEADED = range(5)
"""Kinds of entries: purged; a version without and with blocks; a visit without and with headers."""

_FORMAT = 7
_HEAD = struct.Struct("<BIII")
_SIZE = struct.Struct("<I")
_IDENTITY = struct.Struct("<QIHBd")
_NOT_CUT = BlockColumns(*[b""] * 8)
_CELLS = 4 + len(_NOT_CUT)
_DIGESTS, _LEVELS, _MARKS = 2, 6, -1


@dataclass(frozen=True, slots=True)
class Entry:
    """One version or one visit, as a segment keeps it.

    Attributes:
        kind: One of the five kinds. Of what was purged, URL and number stay while the URL does.
        url, number: Of the URL, and of the version, which a visit found.
        time, status: Of the answer.
        facts: As :mod:`mmcrawl.archive.format.facts` writes them; of a visit, its headers.
        digest, size: Of the body, SHA-256 and bytes.
        columns: The blocks, of the kind `CUT`.
    """

    kind: int
    url: int
    number: int
    time: float
    status: int
    facts: bytes = b""
    digest: bytes = b""
    size: int = 0
    columns: BlockColumns | None = None

    @property
    def is_version(self) -> bool:
        """Whether it is that of a version."""
        return self.kind in (VERSION, CUT)

    @property
    def is_visit(self) -> bool:
        """Whether it is that of a visit."""
        return self.kind in (VISIT, HEADED)

    def blocks(self, body: bytes, encoding: str) -> list[StoredBlock] | None:
        """Return the blocks in order, None if they are not kept.

        Args:
            body, encoding: Of the version.
        """
        return None if self.columns is None else self.columns.read(body, encoding)


@dataclass(frozen=True, slots=True)
class About:
    """What a head says of its segment.

    Attributes:
        stream: The name of the stream.
        number, first: Of the stream, and of the first entry.
        level: Of zstd; 0 in a tail.
        urls: The URLs of the entries, by number.
        base: Number of the first entry of the segment of the stream whose bodies are the dictionary
            of these; None if there is no dictionary.
    """

    stream: str
    number: int
    first: int
    level: int
    urls: Mapping[int, str]
    base: int | None = None


def written_head(about: About, entries: Sequence[Entry], level: int) -> bytes:
    """Return the head of a segment.

    Args:
        about: What it says of the segment; of URLs without entries nothing is kept.
        entries: In order.
        level: Of zstd. The frame has a checksum: no digest covers the headers.
    """
    needed = {entry.url for entry in entries if entry.kind != GONE}
    urls = {str(number): url for number, url in sorted(about.urls.items()) if number in needed}
    told = [about.stream, about.number, about.first, about.level, urls, about.base]
    what = json.dumps(told).encode()
    rows = [_cells(entry) for entry in entries]
    columns = [b"".join(column) for column in zip(*rows, strict=True)]
    lengths = varints(len(cell) for row in rows for cell in row)
    head = _HEAD.pack(_FORMAT, len(rows), len(lengths), len(what))
    body = b"".join([head, lengths, what, *columns])
    return _SIZE.pack(len(body)) + compressed(body, level, checksum=True)


def _cells(entry: Entry) -> tuple[bytes, ...]:
    identity = _IDENTITY.pack(entry.url, entry.number, entry.status, entry.kind, entry.time)
    size = varints([entry.size]) if entry.is_version else b""
    return (identity, entry.facts, entry.digest, size, *(entry.columns or _NOT_CUT))


class Head:
    """A head that was read.

    Attributes:
        about: What it says of its segment.
        raw: Bytes of the bodies.
    """

    def __init__(self, body: bytes) -> None:
        form, count, lengths_size, what_size = _HEAD.unpack_from(body)
        self._count: int = count
        if form != _FORMAT:
            raise StoreError("a segment was written by another version of mmcrawl")
        position = _HEAD.size + lengths_size
        lengths = all_varints(body[_HEAD.size : position]).reshape(self._count, _CELLS).T
        self.about = _read_about(body[position : position + what_size])
        position += what_size
        self._body = body
        ends = np.concatenate(([position], position + np.cumsum(lengths.ravel())))
        if int(ends[-1]) != len(body):
            raise StoreError("a head is damaged (its lengths)")
        self._cells = [
            ends[column * self._count : (column + 1) * self._count + 1] for column in range(_CELLS)
        ]
        self._offsets, self.raw = self._places()

    def _places(self) -> tuple[list[int], int]:
        """Return where bodies begin, and all their bytes; equal ones stand there once."""
        offsets, known, at = [], dict[bytes, int](), 0
        body, digests, sizes = self._body, self._cells[_DIGESTS], self._cells[_DIGESTS + 1]
        written = all_varints(body[int(sizes[0]) : int(sizes[-1])]).tolist()
        of_versions = iter(written)
        for index in range(self._count):
            digest = body[digests[index] : digests[index + 1]]
            if sizes[index] == sizes[index + 1]:
                offsets.append(at)
                continue
            size = next(of_versions)
            offsets.append(known.setdefault(digest, at))
            if offsets[-1] == at:
                at += size
        return offsets, at

    def __len__(self) -> int:
        return self._count

    @property
    def weight(self) -> int:
        """Bytes that it takes in memory, roughly."""
        return len(self._body) + (40 + 8 * _CELLS) * self._count

    def span(self, index: int, entry: Entry) -> tuple[int, int]:
        """Return where the body of an entry begins and ends."""
        return self._offsets[index], self._offsets[index] + entry.size

    def entry(self, index: int) -> Entry:
        """Return an entry."""
        cells = [self._body[ends[index] : ends[index + 1]] for ends in self._cells]
        url, number, status, kind, time = _IDENTITY.unpack(cells[0])
        size = int(all_varints(cells[3])[0]) if cells[3] else 0
        columns = BlockColumns(*cells[4:]) if kind == CUT else None
        return Entry(kind, url, number, time, status, cells[1], cells[2], size, columns)

    def entries(self) -> Iterator[Entry]:
        """Yield all entries in order."""
        return (self.entry(index) for index in range(self._count))

    def kinds(self) -> list[int]:
        """Return the kinds of all entries in order."""
        size = _IDENTITY.size
        start = int(self._cells[0][0])
        return [
            _IDENTITY.unpack_from(self._body, start + size * index)[3]
            for index in range(self._count)
        ]

    def marked(self, mark: bytes) -> Iterator[int]:
        """Yield the entries that may have a block whose digest begins so, by index."""
        for index, kind in enumerate(self.kinds()):
            if kind == CUT:
                first, end = self._cells[_MARKS][index : index + 2]
                if self._body.find(mark, first, end) >= 0:
                    yield index


def _read_about(written: bytes) -> About:
    stream, number, first, level, urls, base = json.loads(written)
    return About(stream, number, first, level, {int(n): url for n, url in urls.items()}, base)


def read_head(frame: bytes) -> Head:
    """Read a head.

    Raises:
        StoreError: it is damaged.
    """
    try:
        (size,) = _SIZE.unpack_from(frame)
        return Head(decompressed(frame[_SIZE.size :], size))
    except (struct.error, ValueError, TypeError, IndexError, StopIteration) as error:
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
    """Return a segment, its head and its data.

    Args:
        about: What it says of itself.
        entries: In order.
        bodies: Of each entry; b"" for a visit.
        head_level, level: Of zstd, for the head and the bodies.
        like: The dictionary of these.
    """
    known: set[bytes] = set()
    content = bytearray()
    for entry, body in zip(entries, bodies, strict=True):
        if entry.is_version and entry.digest not in known:
            known.add(entry.digest)
            content += body
    head = written_head(about, entries, head_level)
    data = compressed(content, level, like=like) if content else b""
    segment = Segment(
        Segment.new_key(about.number, about.first),
        about.number,
        about.first,
        len(entries),
        len(content),
        about.level,
        len(head) + len(data),
    )
    return segment, head, data
