"""The file of parity: what it says of the archive's file, and where each unit of parity is.

It begins and ends with the same summary, so that one of them may be damaged::

    summary, units of parity (group by group), summary, length of the summary

A summary has a mark, its length, a line of JSON, digests of all units of data and of parity, and a
digest of all that. Unit `i` of the file belongs to group ``i % groups``: units that lie side by
side, which damage hits together, are of different groups.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import blake2b, sha256
from pathlib import Path
from typing import BinaryIO

from mmcrawl.errors import StoreError

UNIT = 4_096
"""Bytes that are damaged or mended together: a sector of a disk, a page of SQLite."""

_DIGEST = 8  # bytes
_MARK = b"mmcrawl parity 1\n"
_LENGTH = 8  # bytes of a length
_SUM = 32


def parity_beside(path: Path) -> Path:
    """Return where the parity of a file is kept."""
    return path.with_name(path.name + ".parity")


def digest_of(unit: bytes) -> bytes:
    """Return the digest of a unit, by which damage is found."""
    return blake2b(unit, digest_size=_DIGEST).digest()


@dataclass(frozen=True, slots=True)
class Shape:
    """How a file is divided.

    Attributes:
        size: Of the file in bytes.
        time: At which it was last written to, in nanoseconds.
        percent: Of parity that were asked for.
        groups: Number of groups.
        data, parity: Units in each group.
    """

    size: int
    time: int
    percent: int
    groups: int
    data: int
    parity: int

    @property
    def units(self) -> int:
        """Units of data in all groups; those behind the end of the file are zeros."""
        return self.groups * self.data


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands at begin and end of a file of parity.

    Attributes:
        shape: Of the file it is of.
        digests: Of the units of data.
        parity_digests: Of the units of parity, group by group.
    """

    shape: Shape
    digests: bytes
    parity_digests: bytes

    def digest(self, unit: int) -> bytes:
        """Return the digest of a unit of data."""
        return self.digests[unit * _DIGEST :][:_DIGEST]

    def parity_digest(self, unit: int) -> bytes:
        """Return the digest of a unit of parity."""
        return self.parity_digests[unit * _DIGEST :][:_DIGEST]

    def packed(self) -> bytes:
        """Return it as it is written."""
        line = json.dumps(asdict(self.shape)).encode() + b"\n"
        content = line + self.digests + self.parity_digests
        return _MARK + len(content).to_bytes(_LENGTH) + content + sha256(content).digest()


def summary_in(file: BinaryIO, path: Path) -> tuple[Summary, int]:
    """Return the summary of a file of parity, and where its units begin.

    Raises:
        StoreError: both copies are damaged.
    """
    size = file.seek(0, 2)
    if (found := _summary_at(file, 0)) is not None:
        return found, len(found.packed())
    file.seek(max(size - _LENGTH, 0))
    length = int.from_bytes(file.read(_LENGTH))
    if 0 < length < size and (found := _summary_at(file, size - _LENGTH - length)) is not None:
        return found, length
    raise StoreError(
        f"the parity in '{path}' is damaged: remove it, then write it anew with"
        " `scrapy archive parity`"
    )


def _summary_at(file: BinaryIO, place: int) -> Summary | None:
    file.seek(max(place, 0))
    head = file.read(len(_MARK) + _LENGTH)
    if not head.startswith(_MARK):
        return None
    length = int.from_bytes(head[len(_MARK) :])
    if length > file.seek(0, 2):  # damaged: so much is not read
        return None
    file.seek(max(place, 0) + len(head))
    content, summed = file.read(length), file.read(_SUM)
    if sha256(content).digest() != summed:
        return None
    line, _, digests = content.partition(b"\n")
    shape = Shape(**json.loads(line))
    end = shape.units * _DIGEST
    return Summary(shape, digests[:end], digests[end:])
