"""How a segment's head stores the blocks of its versions: by column, without what the body implies.

Neighbouring blocks usually touch, so the end of one gives the start of the next. The words of a
topic occur in their block, so only their positions are stored, counted in words rather than bytes:
leaving out a stop word then looks the same on every page. Of each digest only the first bytes are
stored: enough to find a block without reading pages, and to count different blocks
(:attr:`BlockColumns.marks`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise, takewhile
from typing import NamedTuple

import numpy as np

from mmcrawl.archive.format.columns import read_varints, varints
from mmcrawl.archive.model import StoredBlock, digest_of, leaves
from mmcrawl.errors import StoreError

MARK = 3
"""Bytes of a block's digest that are kept."""

_LAYOUT = 8  # bytes of the layout's digest that are kept
_DEEPEST = 255  # level that fits a byte


class Outline(NamedTuple):
    """What a segment stores of the blocks of a version: readable without the body.

    Attributes:
        marks: The first bytes of their digests, in order: with the size, hardly ever the same for
            blocks that differ.
    """

    marks: list[bytes]
    sizes: list[int]  # in bytes
    levels: bytes  # as `level`
    layout: bytes  # digest of the layout

    @property
    def leaves(self) -> list[int]:
        """The innermost blocks."""
        levels = pairwise([*self.levels, 0])
        return [index for index, (own, behind) in enumerate(levels) if behind <= own]


class BlockColumns(NamedTuple):
    """The blocks of a version, each column as bytes.

    Attributes:
        gaps, sizes: Where each begins behind the end of the one before in the same block, or behind
            the begin of the block that it is the first in; and its bytes.
    """

    gaps: bytes
    sizes: bytes
    levels: bytes  # a byte each
    kinds: bytes  # a line each
    paths: bytes  # what differs from the one before: steps in common, then the rest; a line each
    topics: bytes  # of the topics what is not in the block as it is; a line each
    words: bytes  # of each topic how many pieces it has, and the place of each, see `_Words.place`
    marks: bytes  # `MARK` bytes of each digest, then those of the layout's

    @classmethod
    def of(cls, blocks: Sequence[StoredBlock], body: bytes, encoding: str) -> BlockColumns:
        """Return the columns of the blocks of a body, whose text has an encoding."""
        starts, sizes = [b.start for b in blocks], [b.end - b.start for b in blocks]
        levels = bytes(min(block.level, _DEEPEST) for block in blocks)
        words, left = _written_topics(blocks, body, encoding)
        marks = b"".join(bytes.fromhex(block.digest)[:MARK] for block in blocks)
        return cls(
            _gaps(starts, sizes, levels),
            varints(sizes),
            levels,
            "\n".join(block.kind for block in blocks).encode(),
            _path_column([block.path for block in blocks]),
            "\n".join(left).encode("utf-8", "surrogatepass"),
            words,
            marks + bytes.fromhex(layout_digest(body, blocks)),
        )

    def outline(self) -> Outline:
        """Return the outline of the blocks, without the body; a StoreError if it is damaged."""
        sizes, _ = read_varints(self.sizes)
        if len(self.marks) != MARK * len(sizes) + _LAYOUT or len(self.levels) != len(sizes):
            raise StoreError("a head is damaged (its blocks)")
        marks = [self.marks[at : at + MARK] for at in range(0, MARK * len(sizes), MARK)]
        return Outline(marks, sizes, self.levels, self.marks[-_LAYOUT:])

    def read(self, body: bytes, encoding: str) -> list[StoredBlock]:
        """Return the blocks in order; raises StoreError if the columns are damaged."""
        try:
            return list(self._read(body, encoding))
        except (ValueError, LookupError) as error:  # of lengths, of text, of its encoding
            raise StoreError(f"a head is damaged ({error})") from error

    def _read(self, body: bytes, encoding: str) -> Iterator[StoredBlock]:
        count = len(self.levels)
        sizes = read_varints(self.sizes)[0]
        starts = list(_starts(read_varints(self.gaps)[0], sizes, self.levels))
        left = _lines(self.topics, count)
        rows = zip(
            starts,
            sizes,
            self.levels,
            _lines(self.kinds, count),
            _read_paths(_lines(self.paths, count)),
            _read_topics(self.words, left, starts, body, encoding),
            strict=True,
        )
        for start, size, level, kind, path, topic in rows:
            end = start + size
            yield StoredBlock(start, end, kind, topic, level, path, digest_of(body[start:end]))


def _gaps(starts: Sequence[int], sizes: Sequence[int], levels: bytes) -> bytes:
    """Return the distances of blocks from where they are expected to begin."""
    expected = _Expected()
    gaps = []
    for start, size, level in zip(starts, sizes, levels, strict=True):
        gap = start - expected.at[level]
        gaps.append(gap << 1 if gap >= 0 else (-gap << 1) - 1)
        expected.note(start, size, level)
    return varints(gaps)


def _starts(gaps: Sequence[int], sizes: Sequence[int], levels: bytes) -> Iterator[int]:
    """Yield where blocks begin."""
    expected = _Expected()
    for number, size, level in zip(gaps, sizes, levels, strict=True):
        start = expected.at[level] + (-((number + 1) >> 1) if number & 1 else number >> 1)
        expected.note(start, size, level)
        yield start


class _Expected:
    """Where the next block probably begins: behind the one before, or at the begin of its own."""

    def __init__(self) -> None:
        self.at = [0] * (_DEEPEST + 2)  # by level

    def note(self, start: int, size: int, level: int) -> None:
        self.at[level] = start + size
        self.at[level + 1] = start


def layout_of(blocks: Sequence[StoredBlock], size: int) -> list[tuple[int, int]]:
    """Return the byte ranges between the blocks of a page: one more than it has innermost ones."""
    innermost = leaves(blocks)
    ends = [0, *(block.end for block in innermost)]
    starts = [*(block.start for block in innermost), size]
    return list(zip(ends, starts, strict=True))


def layout_digest(body: bytes, blocks: Sequence[StoredBlock]) -> str:
    """Return the digest of a layout, 16 hex digits: equal for equal pieces in the same order."""
    digest = sha256()
    for start, end in layout_of(blocks, len(body)):
        digest.update((end - start).to_bytes(8, "little"))
        digest.update(body[start:end])
    return digest.digest()[:_LAYOUT].hex()


def _path_column(paths: Sequence[str]) -> bytes:
    """Keep of each path what differs from the one before: steps in common, then the rest."""
    lines = []
    before: list[str] = []
    for path in paths:
        steps = path.split("/")
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(steps, before, strict=False))
        common = sum(1 for _ in pairs)
        lines.append(f"{common}/" + "/".join(steps[common:]))
        before = steps
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _read_paths(lines: Iterable[str]) -> Iterator[str]:
    before: list[str] = []
    for line in lines:
        common, _, rest = line.partition("/")
        before = [*before[: int(common)], *(rest.split("/") if rest else [])]
        yield "/".join(before)


def _lines(column: bytes, count: int) -> list[str]:
    """Return the lines of a column that has some for so many blocks."""
    return column.decode("utf-8", "surrogatepass").split("\n") if count else []


# ---------------------------------------------------------------- topics


_IN_BYTES = 0
"""A place that is told in bytes: how many are before the piece, and in it."""

_MOST = 7  # words before a piece that are told together with its own
_OPENS, _CLOSES = b"<>"
_OF_WORDS = np.array([chr(byte).isalnum() or byte > 127 for byte in range(256)])


def _written_topics(
    blocks: Sequence[StoredBlock], body: bytes, encoding: str
) -> tuple[bytes, list[str]]:
    """Return the places of the words of all topics, and what is not in its block."""
    numbers: list[int] = []
    left: list[str] = []
    encoded, counted = _encoder(encoding), _Words(body)
    for block in blocks:
        pieces = list(_pieces(block, body, encoded)) if block.topic else []
        numbers.append(len(pieces))
        at = block.start
        for gap, size, text in pieces:
            if size:
                numbers += counted.place(at, at + gap, size)
                at += gap + size
            else:
                numbers += (_IN_BYTES, 0, 0)
                left.append(text)
    return varints(numbers), left


class _Words:
    """The words of a page that are in no tag, to count in: their byte ranges."""

    def __init__(self, body: bytes) -> None:
        codes = np.frombuffer(body, np.uint8)
        opens = codes == _OPENS
        edges = opens | (codes == _CLOSES)
        in_tag = np.concatenate([[False], opens[edges]])[np.cumsum(edges)]
        bounds = np.flatnonzero(np.diff(_OF_WORDS[codes] & ~in_tag, prepend=False, append=False))
        self.starts: list[int] = bounds[::2].tolist()
        self.ends: list[int] = bounds[1::2].tolist()

    def place(self, at: int, start: int, size: int) -> tuple[int, ...]:
        """Return the place of a piece behind `at`, in words if it is some whole ones, or in bytes.

        One number from 1: the words before it, up to :data:`_MOST`, and its own; then more before
        it.
        """
        first = bisect_left(self.starts, start)
        last = bisect_left(self.ends, start + size, first)
        if last == len(self.ends) or self.starts[first] != start or self.ends[last] != start + size:
            return _IN_BYTES, start - at, size
        before = first - bisect_left(self.starts, at)
        number = 1 + (last - first) * (_MOST + 1) + min(before, _MOST)
        return (number,) if before < _MOST else (number, before - _MOST)

    def read(self, numbers: Iterator[int], at: int) -> tuple[int, int]:
        """Return where a piece begins, and its bytes; 0 if it is not in the block."""
        number = next(numbers, 0)
        if number == _IN_BYTES:
            gap, size = next(numbers, 0), next(numbers, 0)
            return at + gap, size
        within, before = divmod(number - 1, _MOST + 1)
        if before == _MOST:
            before += next(numbers, 0)
        first = bisect_left(self.starts, at) + before
        if first + within >= len(self.starts):
            raise ValueError("a topic is not where it is told to be")
        return self.starts[first], self.ends[first + within] - self.starts[first]


def _encoder(encoding: str) -> Callable[[str], bytes]:
    """Return an encoder of texts, which gives b"" for a text that would not decode again."""

    def encoded(text: str) -> bytes:
        try:
            found = text.encode(encoding)
            return found if found.decode(encoding) == text else b""
        except (UnicodeError, LookupError):
            return b""

    return encoded


def _pieces(
    block: StoredBlock, body: bytes, encoded: Callable[[str], bytes]
) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces of a topic, joined by spaces: bytes before, own, and text if not there."""
    whole = encoded(block.topic)
    if whole and (at := body.find(whole, block.start, block.end)) >= 0:
        yield at - block.start, len(whole), ""
        return
    space = encoded(" ")
    end = begin = start = block.start  # the piece at hand is from `start` to `end`
    for word in block.topic.split(" "):
        found = encoded(word)
        if end > start and found and body.startswith(space + found, end, block.end):
            end += len(space + found)
            continue
        if end > start:
            yield start - begin, end - start, ""
            begin = start = end
        at = body.find(found, end, block.end) if found else -1
        if at < 0:
            yield 0, 0, word
        else:
            start, end = at, at + len(found)
    if end > start:
        yield start - begin, end - start, ""


def _read_topics(
    words: bytes, texts: Iterable[str], starts: Iterable[int], body: bytes, encoding: str
) -> Iterator[str]:
    numbers, left, counted = iter(read_varints(words)[0]), iter(texts), _Words(body)
    for start, count in zip(starts, numbers, strict=False):
        pieces = []
        at = start
        for _ in range(count):
            first, size = counted.read(numbers, at)
            if size:
                pieces.append(body[first : first + size].decode(encoding))
                at = first + size
            else:
                pieces.append(next(left, ""))
        yield " ".join(pieces)
