"""Parity of a file is written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import BinaryIO

import numpy as np

from mmcrawl.archive.parity.erasures import Bytes, add_row
from mmcrawl.archive.parity.sidecar import UNIT, Shape, Summary, digest_of, parity_beside
from mmcrawl.archive.parity.state import is_at_rest, time_of
from mmcrawl.errors import StoreError

_ROWS = 100  # units of data in a group
_LEAST = 2  # units of parity in one: a small file survives more than one hit
_BAND = 256  # groups at once


def write_parity(path: Path, percent: int = 5) -> Path:
    """Write the parity of an archive's file beside it, in place of what is there.

    Of each 100 units of 4 KB as many may be damaged as percent were asked for. It costs that share
    of the file and 0.2 %, and is of the file as it stands: what is written afterwards is not
    covered until it is written anew.

    Args:
        path: The file.
        percent: From 1 to 100.

    Returns:
        The file of parity.

    Raises:
        StoreError: the file is being written to, or a file cannot be read or written.
    """
    if not 1 <= percent <= 100:
        raise ValueError(f"{percent} percent of parity: give a number from 1 to 100")
    if not is_at_rest(path):
        raise StoreError(
            f"'{path}' is being written to, or a process ended while it did: wait for it, or run"
            " `scrapy archive check --repair` once, then try again"
        )
    beside = parity_beside(path)
    part = beside.with_name(beside.name + ".part")
    try:
        with path.open("rb") as source, part.open("wb") as target:
            time = time_of(source)
            shape = _shape_of(os.fstat(source.fileno()).st_size, time, percent)
            _write(source, target, shape)
            if time_of(source) != time:
                raise StoreError(f"'{path}' was written to meanwhile: try again")
            target.flush()
            os.fsync(target.fileno())
        part.replace(beside)
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"the parity of '{path}' cannot be written: {reason}") from error
    finally:
        part.unlink(missing_ok=True)
    return beside


def _shape_of(size: int, time: int, percent: int) -> Shape:
    units = max(ceil(size / UNIT), 1)
    groups = ceil(units / _ROWS)
    data = ceil(units / groups)
    parity = max(ceil(data * percent / 100), _LEAST)
    return Shape(size, time, percent, groups, data, parity)


def _write(source: BinaryIO, target: BinaryIO, shape: Shape) -> None:
    digests = bytearray(shape.units * len(digest_of(b"")))
    sums = bytearray()
    # The summary has the same length whatever the digests are.
    parities = shape.groups * shape.parity
    empty = Summary(shape, bytes(digests), bytes(parities * len(digest_of(b""))))
    target.seek(len(empty.packed()))
    for parity in _bands(source, shape, digests):
        for group in range(parity.shape[1] // UNIT):
            for row in parity:
                unit = row[group * UNIT :][:UNIT].tobytes()
                sums += digest_of(unit)
                target.write(unit)
    packed = Summary(shape, bytes(digests), bytes(sums)).packed()
    target.write(packed + len(packed).to_bytes(8))
    target.seek(0)
    target.write(packed)


def _bands(source: BinaryIO, shape: Shape, digests: bytearray) -> Iterator[Bytes]:
    """Yield the parity of some groups after the other; digests of data are put in their places."""
    rows, wide = list(range(shape.parity)), len(digest_of(b""))
    for first in range(0, shape.groups, _BAND):
        count = min(_BAND, shape.groups - first)
        parity = np.zeros((shape.parity, count * UNIT), np.uint8)
        for column in range(shape.data):
            begin = column * shape.groups + first
            data = units_at(source, begin, count, shape)
            for place in range(count):
                at = (begin + place) * wide
                digests[at : at + wide] = digest_of(data[place * UNIT :][:UNIT])
            add_row(parity, rows, column, np.frombuffer(data, np.uint8))
        yield parity


def units_at(source: BinaryIO, first: int, count: int, shape: Shape) -> bytes:
    """Return units of data; what is behind the end of the file is zeros."""
    source.seek(first * UNIT)
    wanted = max(min(count * UNIT, shape.size - first * UNIT), 0)
    return source.read(wanted).ljust(count * UNIT, b"\0")
