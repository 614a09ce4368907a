"""Columns that a head is made of: numbers as differences, headers by name.

What differs little from one entry to the next costs next to nothing in the compression behind: the
same header of all entries stands together, and so does each byte of their numbers.
"""

from __future__ import annotations

import json
from calendar import timegm
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate
from typing import Any

import numpy as np
import numpy.typing as npt

from mmcrawl.errors import StoreError

Numbers = npt.NDArray[np.int64]
Facts = list[Any]
"""What is kept of an answer beside its body, the headers last: a list of names and values."""

_FEW = 8  # entries that have too little in common to be worth it
_SHARE = 8  # a header has a column if one entry in so many has it
_LATEST = 1e12
_DATE = len("Sun, 06 Nov 1994 08:49:37 GMT")


def written(facts: Facts) -> bytes:
    """Return facts as an entry has them."""
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def read(content: bytes) -> Facts:
    """Return what :func:`written` wrote.

    Raises:
        StoreError: it is something else.
    """
    try:
        facts: Facts = json.loads(content.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise StoreError(f"a head is damaged ({error})") from error
    return facts


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
    """The facts of entries, taken apart.

    Attributes:
        shapes: Kinds of facts that differ: all but the headers in columns, of which it has the
            number of the column.
        names: Of the headers that have a column.
        dates: Those of these columns that hold dates of HTTP, as seconds behind the entry's time.
    """

    shapes: list[Facts] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    dates: list[int] = field(default_factory=list)

    def facts(
        self, shape: int, time: float, cells: Sequence[bytes], dates: Mapping[int, int]
    ) -> bytes:
        """Return the facts of an entry again, given its texts and its dates by column."""
        *rest, headers = self.shapes[shape]
        whole = []
        for one in headers:
            if not isinstance(one, int):
                whole.append(one)
            elif one in dates:
                seconds = _second(time) + dates[one]
                whole.append([self.names[one], formatdate(seconds, usegmt=True)])
            else:
                whole.append([self.names[one], cells[one].decode("utf-8", "surrogatepass")])
        return written([*rest, whole])


def in_columns(
    facts: Sequence[bytes], times: Sequence[float]
) -> tuple[HeaderColumns, list[int], list[list[bytes]], list[list[int]]]:
    """Take facts apart: return what they have in common, and for each its shape, -1 for one that is
    kept as it is; and for each column its texts, and its numbers: the length of each, or a date.
    """
    plain = [_plain(one) if len(facts) > _FEW else None for one in facts]
    named = [_named(one[-1]) if one is not None else [] for one in plain]
    counts = Counter(name for one in named for name in one)
    common = [name for name, count in counts.items() if count * _SHARE >= len(facts)]
    numbers = {name: number for number, name in enumerate(common)}
    columns = HeaderColumns(names=[name for name, _ in common])
    values: list[list[str | None]] = [[None] * len(facts) for _ in common]
    known: dict[str, int] = {}
    shapes = []
    for place, (one, names) in enumerate(zip(plain, named, strict=True)):
        if one is None:
            shapes.append(-1)
            continue
        headers: list[Any] = []
        for name, header in zip(names, one[-1], strict=True):
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
    """Return a time as what dates are counted from, which no time is too large for."""
    return int(time) if abs(time) < _LATEST else 0


def _plain(facts: bytes) -> Facts | None:
    """Return facts if they are written as :func:`written` writes them, with headers."""
    try:
        found = read(facts)
    except StoreError:
        return None
    if not isinstance(found, list) or not found or not isinstance(found[-1], list):
        return None
    are_headers = all(
        isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
        for one in found[-1]
    )
    return found if are_headers and written(found) == facts else None


def _named(headers: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
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
