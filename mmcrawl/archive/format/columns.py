"""The columns of a head: numbers as differences, headers by name; and the frames around them.

Values that differ little between entries cost almost nothing once compressed, so all values of one
header stand together, and so do the corresponding bytes of numbers. Frames are Zstandard's; single
numbers are integers of variable length.
"""

from __future__ import annotations

import json
from calendar import timegm
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate
from math import inf
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import zstandard

from mmcrawl.archive.model import Headers
from mmcrawl.errors import StoreError

Numbers = npt.NDArray[np.int64]

_FEW = 8  # entries that have too little in common to be worth it
_SHARE = 8  # a header has a column if one entry in so many has it
_LATEST = 1e12
_DATE = len("Sun, 06 Nov 1994 08:49:37 GMT")

LARGEST_WINDOW = 27  # log2: 128 MB; the decoder has to opt in to larger ones

Like = bytes | zstandard.ZstdCompressionDict
"""What something is compressed with as dictionary; b"" for none."""


class Facts(NamedTuple):
    """What is stored of a response besides its body; of a visit, reason, type and headers."""

    reason: str = ""
    content_type: str = ""
    language: str = ""
    encoding: str = ""
    method: str = ""
    level: int = 0
    headers: Headers = ()


NO_FACTS = Facts()


def packed_numbers(rows: Numbers) -> tuple[list[int], bytes]:
    """Return for each row of numbers the bytes that one takes, and the rows, byte by byte."""
    deltas = np.diff(rows, axis=1, prepend=0)
    unsigned = ((deltas << 1) ^ (deltas >> 63)).astype("<u8")  # small ones of either sign
    widths = [(int(most).bit_length() + 7) // 8 for most in unsigned.max(axis=1, initial=0)]
    planes = np.ascontiguousarray(unsigned).view(np.uint8).reshape(*rows.shape, 8)
    parts = (planes[row, :, :width].T.tobytes() for row, width in enumerate(widths) if width)
    return widths, b"".join(parts)


def unpacked_numbers(content: bytes, widths: Sequence[int], count: int) -> Numbers:
    """Return rows of so many numbers each."""
    rows = np.zeros((len(widths), count), np.int64)
    at = 0
    for row, width in enumerate(widths):
        if width:
            planes = np.zeros((count, 8), np.uint8)
            stored = np.frombuffer(content, np.uint8, width * count, at)
            planes[:, :width] = stored.reshape(width, count).T
            unsigned = planes.view("<u8").ravel()
            deltas = (unsigned >> 1).astype(np.int64) ^ -(unsigned & 1).astype(np.int64)
            rows[row] = np.cumsum(deltas)
            at += width * count
    if at != len(content):
        raise StoreError("a head is damaged (its numbers)")
    return rows


@dataclass(frozen=True, slots=True)
class HeaderColumns:
    """The facts of entries, in columns.

    Attributes:
        shapes: Kinds of facts that differ: all but the headers in columns, of which it has the
            number of the column.
        dates: Those of these columns that hold dates of HTTP, as seconds behind the entry's time.
    """

    shapes: list[list[Any]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)  # of the headers that have a column
    dates: list[int] = field(default_factory=list)

    def facts(
        self, shape: int, time: float, cells: Sequence[bytes], dates: Mapping[int, int]
    ) -> Facts:
        """Return the facts of an entry again, given its texts and its dates by column."""
        *rest, headers = self.shapes[shape]
        whole = []
        for one in headers:
            if not isinstance(one, int):
                whole.append(tuple(one))
            elif one in dates:
                seconds = _second(time) + dates[one]
                whole.append((self.names[one], formatdate(seconds, usegmt=True)))
            else:
                whole.append((self.names[one], cells[one].decode("utf-8", "surrogatepass")))
        return Facts._make((*rest, tuple(whole)))


def in_columns(
    facts: Sequence[Facts], times: Sequence[float]
) -> tuple[HeaderColumns, list[int], list[list[bytes]], list[list[int]]]:
    """Take facts apart: return what they have in common, and for each its shape; and for each
    column its texts, and its numbers: the length of each, or a date.
    """
    named = [_named(one.headers) for one in facts]
    counts = Counter(name for one in named for name in one)
    least = len(facts) / _SHARE if len(facts) > _FEW else inf
    common = [name for name, count in counts.items() if count >= least]
    numbers = {name: number for number, name in enumerate(common)}
    columns = HeaderColumns(names=[name for name, _ in common])
    values: list[list[str | None]] = [[None] * len(facts) for _ in common]
    known: dict[str, int] = {}
    shapes = []
    for place, (one, names) in enumerate(zip(facts, named, strict=True)):
        headers: list[Any] = []
        for name, header in zip(names, one.headers, strict=True):
            if name in numbers:
                values[numbers[name]][place] = header[1]
            headers.append(numbers.get(name, header))
        shape = [*one[:-1], headers]
        shapes.append(known.setdefault(json.dumps(shape), len(known)))
        if shapes[-1] == len(columns.shapes):
            columns.shapes.append(shape)
    texts, told = [], []
    for number, column in enumerate(values):
        dates = [_date_of(value) if value is not None else 0 for value in column]
        if None in dates:
            texts.append([(value or "").encode("utf-8", "surrogatepass") for value in column])
            told.append([len(text) for text in texts[-1]])
        else:
            columns.dates.append(number)
            texts.append([b""] * len(column))
            told.append(
                [
                    (date or 0) - _second(time) if value is not None else 0
                    for value, date, time in zip(column, dates, times, strict=True)
                ]
            )
    return columns, shapes, texts, told


def _second(time: float) -> int:
    """Return the origin from which dates are counted, for a time of any size."""
    return int(time) if abs(time) < _LATEST else 0


def _named(headers: Headers) -> list[tuple[str, int]]:
    """Return the names of headers, each with how often it came before."""
    met: Counter[str] = Counter()
    named = []
    for name, _ in headers:
        named.append((name, met[name]))
        met[name] += 1
    return named


def _date_of(value: str) -> int | None:
    """Return a date of HTTP in seconds, None for any text that would not be written so again."""
    if len(value) != _DATE or not value.endswith(" GMT"):
        return None
    parts = parsedate(value)
    try:
        seconds = timegm(parts) if parts is not None else -1
        return seconds if formatdate(seconds, usegmt=True) == value else None
    except (ValueError, OverflowError, OSError):
        return None


def compressed(
    data: bytes | bytearray, level: int, *, checksum: bool = False, like: Like = b""
) -> bytes:
    """Return a frame whose window covers all of the data (up to 128 MB).

    Args:
        checksum: Whether damage is to be noticed where no digest of the data is kept.
        like: What the data repeats much of, and will be there when it is read.
    """
    window = max(10, min(LARGEST_WINDOW, len(data).bit_length()))
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level,
        source_size=len(data) + len(like),
        window_log=window,
        write_checksum=checksum,
        write_content_size=True,
        write_dict_id=False,
    )
    known = _dictionary(like)
    return zstandard.ZstdCompressor(dict_data=known, compression_params=parameters).compress(data)


def dictionary(content: bytes | memoryview) -> zstandard.ZstdCompressionDict:
    """Return a dictionary, made once for many frames."""
    return zstandard.ZstdCompressionDict(content, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _dictionary(like: Like) -> zstandard.ZstdCompressionDict | None:
    return dictionary(like) if isinstance(like, bytes) and like else like or None


def decompressed(frame: bytes, size: int, *, up_to: int | None = None, like: Like = b"") -> bytes:
    """Return what was compressed, or its first bytes.

    Args:
        size: Of all that was compressed.
        up_to: How many bytes are needed, or a few more; the rest may be damaged.

    Raises:
        StoreError: the frame is damaged.
    """
    known = _dictionary(like)
    decompressor = zstandard.ZstdDecompressor(known, max_window_size=1 << LARGEST_WINDOW)
    try:
        if zstandard.frame_content_size(frame) != size:
            raise StoreError("a compressed frame is damaged (its size)")
        if up_to is None or up_to >= size:
            return decompressor.decompress(frame)
        if 2 * up_to > size:  # as fast as what is needed alone
            with suppress(zstandard.ZstdError):  # it may be damaged behind what is needed
                return decompressor.decompress(frame)
        with decompressor.stream_reader(frame) as reader:
            found = reader.read(up_to)
    except zstandard.ZstdError as error:
        raise StoreError(f"a compressed frame is damaged ({error})") from error
    if len(found) != up_to:
        raise StoreError("a compressed frame is damaged (cut off)")
    return found


def varints(numbers: Iterable[int]) -> bytes:
    """Return numbers, none negative, in groups of seven bits, the lowest first (LEB128)."""
    out = bytearray()
    for number in numbers:
        rest = number
        while rest > 127:
            out.append(rest & 127 | 128)
            rest >>= 7
        out.append(rest)
    return bytes(out)


def read_varints(data: bytes, start: int = 0, count: int | None = None) -> tuple[list[int], int]:
    """Return numbers and where they end, by default all; a StoreError if there are too few."""
    numbers: list[int] = []
    number = shift = 0
    position, end = start, len(data)
    while position < end and len(numbers) != count:
        byte = data[position]
        position += 1
        if byte > 127:
            number |= (byte & 127) << shift
            shift += 7
            continue
        numbers.append(number | byte << shift)
        number = shift = 0
    if shift or (count is not None and len(numbers) != count):
        raise StoreError("a head is damaged (cut off)")
    return numbers, position
