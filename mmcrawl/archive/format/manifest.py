"""Manifests: what stands in a pack besides the bytes of pages.

An :class:`Entry` says of one version how its body is put together, how it was cut into blocks, and
what came with it. The manifest of a pack keeps the entries by column: all headers, then all sizes
of blocks, … Versions of one page differ little, so that the compression of the manifest as a whole
is the delta coding; each entry can still be read by itself.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mmcrawl.archive.format.blocks import BlockColumns
from mmcrawl.archive.format.frames import (
    all_varints,
    compressed,
    decompressed,
    read_varints,
    varints,
)
from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.rows import SHIFT
from mmcrawl.errors import StoreError

Run = tuple[int, int]
"""Place of a chunk, and how many stand in a row from there."""

_FORMAT = 5
_HEAD = struct.Struct("<BIII")
_SIZE = struct.Struct("<I")
_IDENTITY = struct.Struct("<QIHBd")


@dataclass(frozen=True, slots=True)
class Entry:
    """One version, as a pack keeps it.

    Attributes:
        url, number, time, status: As in the version's row, to prove that row.
        facts: As :mod:`mmcrawl.archive.format.facts` writes them.
        runs: The chunks that are the body, in order.
        columns: The blocks; None for a page that was not cut yet, and for what is no page.
    """

    url: int
    number: int
    time: float
    status: int
    facts: bytes
    runs: tuple[Run, ...]
    columns: BlockColumns | None = None

    def blocks(self, body: bytes, encoding: str) -> list[StoredBlock] | None:
        """Return the blocks in order, None if they are not kept.

        Args:
            body, encoding: Of the version.
        """
        return None if self.columns is None else self.columns.read(body, encoding)


def runs_of(places: Iterable[int]) -> list[Run]:
    """Return places in order as runs.

    >>> runs_of([7, 8, 9, 4])
    [(7, 3), (4, 1)]
    """
    runs: list[Run] = []
    for place in places:
        if runs and sum(runs[-1]) == place:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((place, 1))
    return runs


def _run_column(runs: Iterable[Run]) -> bytes:
    numbers: list[int] = []
    after = 0
    for start, count in runs:
        step = start - after
        numbers += (step << 1 if step >= 0 else (-step << 1) - 1, count)
        after = start + count
    return varints(numbers)


def _read_runs(column: bytes) -> tuple[Run, ...]:
    numbers, _ = read_varints(column)
    runs = []
    after = 0
    for step, count in zip(numbers[::2], numbers[1::2], strict=True):
        start = after + (-((step + 1) >> 1) if step & 1 else step >> 1)
        runs.append((start, count))
        after = start + count
    return tuple(runs)


def pack_manifest(
    entries: Sequence[Entry], sizes: Sequence[int], level: int, like: Iterable[Run] = ()
) -> bytes:
    """Return the manifest of a pack.

    Args:
        entries: In order; a blank one stands for what was purged.
        sizes: Of the pack's chunks, in bytes.
        level: Of zstd. The frame has a checksum: no digest covers the headers.
        like: The chunks of other packs that these were compressed with, in order.
    """
    rows = [_cells(entry) for entry in entries]
    columns = [b"".join(column) for column in zip(*rows, strict=True)]
    lengths = varints(len(cell) for row in rows for cell in row)
    planes = np.array(sizes, dtype="<u4").view(np.uint8).reshape(-1, 4).T.tobytes()
    head = _HEAD.pack(_FORMAT, len(rows), len(sizes), len(lengths))
    body = b"".join([head, lengths, *columns, planes, _run_column(like)])
    return _SIZE.pack(len(body)) + compressed(body, level, checksum=True)


def _cells(entry: Entry) -> tuple[bytes, ...]:
    cut = entry.columns is not None
    identity = _IDENTITY.pack(entry.url, entry.number, entry.status, cut, entry.time)
    return (identity, entry.facts, _run_column(entry.runs), *(entry.columns or _NOT_CUT))


_NOT_CUT = BlockColumns(*[b""] * 8)
_CELLS = 3 + len(_NOT_CUT)
_RUNS, _LEVELS = 2, 5


class Manifest:
    """A manifest that was read.

    Attributes:
        offsets: Where the chunks begin and end in the bytes of the pack: one more than chunks.
        like: The chunks of other packs that must be known to decompress these.
    """

    def __init__(self, body: bytes) -> None:
        form, count, chunks, lengths_size = _HEAD.unpack_from(body)
        self._count: int = count
        if form != _FORMAT:
            raise StoreError(f"a manifest has format {form}, which this version does not know")
        position = _HEAD.size + lengths_size
        lengths = all_varints(body[_HEAD.size : position]).reshape(self._count, _CELLS).T
        self._body = body
        ends = np.concatenate(([position], position + np.cumsum(lengths.ravel())))
        self._cells = [
            ends[column * self._count : (column + 1) * self._count + 1] for column in range(_CELLS)
        ]
        position = int(ends[-1])
        end = position + 4 * chunks
        if end > len(body):
            raise StoreError("a manifest is damaged (its lengths)")
        self.like: tuple[Run, ...] = _read_runs(body[end:])
        planes = np.frombuffer(body[position:end], np.uint8).reshape(4, chunks)
        sizes = np.ascontiguousarray(planes.T).view("<u4").ravel()
        self._written: list[int] | None = None
        self.offsets: list[int] = [0, *np.cumsum(sizes, dtype=np.int64).tolist()]

    def __len__(self) -> int:
        return self._count

    @property
    def weight(self) -> int:
        """Bytes that it takes in memory, roughly."""
        return len(self._body) + 36 * len(self.offsets) + 8 * _CELLS * self._count

    @property
    def blocks(self) -> int:
        """How many blocks its versions have together."""
        levels = self._cells[_LEVELS]
        return int(levels[-1] - levels[0])

    def uncut(self) -> Iterator[Entry]:
        """Yield the entries without blocks: pages that were not cut yet, and what is no page."""
        for index, start in enumerate(self._cells[0][:-1]):
            _, number, _, cut, _ = _IDENTITY.unpack_from(self._body, start)
            if number and not cut:
                yield self.entry(index)

    def entry(self, index: int) -> Entry:
        """Return an entry; a blank one has number 0."""
        cells = [self._body[ends[index] : ends[index + 1]] for ends in self._cells]
        url, number, status, cut, time = _IDENTITY.unpack(cells[0])
        columns = BlockColumns(*cells[3:]) if cut else None
        return Entry(url, number, time, status, cells[1], _read_runs(cells[2]), columns)

    def marked(self, mark: bytes) -> Iterator[int]:
        """Yield the entries that may have a block whose digest begins so, by index."""
        for index, start in enumerate(self._cells[0][:-1]):
            _, number, _, cut, _ = _IDENTITY.unpack_from(self._body, start)
            if number and cut:
                first, end = self._cells[-1][index : index + 2]
                if self._body.find(mark, first, end) >= 0:
                    yield index

    def written(self, first: int) -> list[int]:
        """Return for each entry the bytes of the chunks that were stored with it.

        Chunks are numbered as they come: these stand behind all that entries before refer to.

        Args:
            first: Place of the pack's first chunk.
        """
        if self._written is None:
            self._written = list(self._read_written(first))
        return self._written

    def _read_written(self, first: int) -> Iterator[int]:
        behind = 0
        for start, end in pairwise(self._cells[_RUNS]):
            runs = _read_runs(self._body[start:end])
            ends = (at + count - first for at, count in runs if at >> SHIFT == first >> SHIFT)
            last = min(max(ends, default=0), len(self.offsets) - 1)
            yield self.offsets[max(behind, last)] - self.offsets[behind]
            behind = max(behind, last)

    def entries(self) -> list[Entry]:
        """Return all entries in order."""
        return [self.entry(index) for index in range(self._count)]


def read_manifest(frame: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        StoreError: it is damaged.
    """
    try:
        (size,) = _SIZE.unpack_from(frame)
        return Manifest(decompressed(frame[_SIZE.size :], size))
    except (struct.error, ValueError, IndexError) as error:
        raise StoreError(f"a manifest is damaged ({error})") from error
