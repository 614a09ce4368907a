"""A file is compared with its parity, and mended."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mmcrawl.archive.parity.erasures import add_row, lost_rows
from mmcrawl.archive.parity.sidecar import (
    UNIT,
    Shape,
    Summary,
    digest_of,
    parity_beside,
    summary_in,
)
from mmcrawl.archive.parity.state import is_at_rest, time_of
from mmcrawl.archive.parity.writing import units_at
from mmcrawl.errors import StoreError

_AT_ONCE = 256  # units that are read at once


@dataclass(frozen=True, slots=True)
class ParityCheck:
    """What a comparison of a file with its parity came to.

    Attributes:
        percent: Of parity that are kept.
        is_old: Whether the file was written to since, or is now; then nothing else is known.
        damaged: Units of 4 KB that are not as they were.
        mendable: Those of them that the parity suffices for.
        mended: Whether these were mended.
    """

    percent: int
    is_old: bool = False
    damaged: int = 0
    mendable: int = 0
    mended: bool = False

    @property
    def clean(self) -> bool:
        """Whether the parity is that of the file, and nothing is damaged any more."""
        return not self.is_old and self.damaged == (self.mendable if self.mended else 0)


def examine(path: Path, *, repair: bool) -> ParityCheck | None:
    """Compare a file with its parity, before it is opened; None if it has none.

    Each unit that is mended has the digest that it had, or is not written. A file that was written
    to since, as its time of modification says, is left as it is: copies need to keep that time.

    Args:
        path: The file.
        repair: Whether to mend it.

    Raises:
        StoreError: its parity is damaged, or a file cannot be read or written.
    """
    beside = parity_beside(path)
    if not beside.exists() or not path.exists():
        return None
    try:
        with beside.open("rb") as parity, path.open("r+b" if repair else "rb") as file:
            summary, begin = summary_in(parity, beside)
            if time_of(file) != summary.shape.time or not is_at_rest(path):
                return ParityCheck(summary.shape.percent, is_old=True)
            damaged = _damaged(file, summary)
            mended = _Mending(file, parity, summary, begin).units(damaged)
            if repair and mended:
                _write(file, mended, summary.shape)
            count = sum(map(len, damaged.values()))
            done = repair and bool(mended)
            return ParityCheck(summary.shape.percent, False, count, len(mended), done)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"'{path}' cannot be compared with its parity: {reason}") from error


def _damaged(file: BinaryIO, summary: Summary) -> dict[int, list[int]]:
    """Return the units that are damaged, by group."""
    shape = summary.shape
    found: dict[int, list[int]] = defaultdict(list)
    for first in range(0, shape.units, _AT_ONCE):
        count = min(_AT_ONCE, shape.units - first)
        data = units_at(file, first, count, shape)
        for place in range(count):
            unit = first + place
            if digest_of(data[place * UNIT :][:UNIT]) != summary.digest(unit):
                found[unit % shape.groups].append(unit)
    return found


def _write(file: BinaryIO, mended: dict[int, bytes], shape: Shape) -> None:
    for unit, content in sorted(mended.items()):
        file.seek(unit * UNIT)
        file.write(content[: shape.size - unit * UNIT])
    file.flush()
    os.fsync(file.fileno())
    os.utime(file.fileno(), ns=(shape.time, shape.time))  # it is that file again


class _Mending:
    """Finds again what units were.

    Args:
        file: The archive's.
        parity: That of the parity.
        summary: What it says.
        begin: Where its units begin.
    """

    def __init__(self, file: BinaryIO, parity: BinaryIO, summary: Summary, begin: int) -> None:
        self._file, self._parity, self._summary, self._begin = file, parity, summary, begin

    def units(self, damaged: dict[int, list[int]]) -> dict[int, bytes]:
        """Return those that the parity suffices for."""
        found: dict[int, bytes] = {}
        for group, units in damaged.items():
            found |= self._of_group(group, units)
        return found

    def _of_group(self, group: int, lost: list[int]) -> dict[int, bytes]:
        shape = self._summary.shape
        whole = self._whole_parity(group)
        rows = list(whole)[: len(lost)]
        if len(rows) < len(lost):
            return {}
        syndromes = np.stack([np.frombuffer(whole[row], np.uint8) for row in rows])
        for column in range(shape.data):
            unit = column * shape.groups + group
            if unit not in lost:
                data = units_at(self._file, unit, 1, shape)
                add_row(syndromes, rows, column, np.frombuffer(data, np.uint8))
        columns = [unit // shape.groups for unit in lost]
        rebuilt = [row.tobytes() for row in lost_rows(syndromes, rows, columns)]
        return {
            unit: content
            for unit, content in zip(lost, rebuilt, strict=True)
            if digest_of(content) == self._summary.digest(unit)
        }

    def _whole_parity(self, group: int) -> dict[int, bytes]:
        """Return the rows of parity of a group that are not damaged themselves."""
        count = self._summary.shape.parity
        self._parity.seek(self._begin + group * count * UNIT)
        units = {row: self._parity.read(UNIT) for row in range(count)}
        return {
            row: unit
            for row, unit in units.items()
            if digest_of(unit) == self._summary.parity_digest(group * count + row)
        }
