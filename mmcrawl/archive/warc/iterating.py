"""warcio's iterator over records, within bounds and without words of its own.

As it is, it reads a head of any length into memory, reads a file to its end for a record that
claims to be longer than that, and writes to standard error what it wonders at.
"""

from __future__ import annotations

import os
import zlib
from math import inf
from typing import BinaryIO

from warcio.archiveiterator import WARCIterator
from warcio.bufferedreaders import DecompressingBufferedReader

__all__ = ["LONGEST_HEAD", "RecordIterator"]

LONGEST_HEAD = 1 << 20
"""Bytes of a record's named fields."""


class RecordIterator(WARCIterator):  # type: ignore[misc]
    """The records of a file from where it stands; their blocks are not parsed.

    Raises what warcio raises, ValueError for a head of more than :data:`LONGEST_HEAD` bytes.
    """

    INC_RECORD = ""  # what is said, on standard error, of a record without blank lines behind it

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True)
        self.reader = _Reader(file)
        self._size = os.fstat(file.fileno()).st_size

    @property
    def rest(self) -> float:
        """Bytes between what was read and the end of the file; infinite for a compressed one."""
        if self.reader.decompressor:
            return inf
        return self._size - (int(self.fh.tell()) - int(self.reader.rem_length()))


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]
    """Reads the heads of records line by line, up to a bound."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._head = 0

    def readline(self, length: int | None = None) -> bytes:
        line = bytes(super().readline(length or LONGEST_HEAD))
        self._head = self._head + len(line) if line.strip() else 0
        if self._head >= LONGEST_HEAD:
            raise ValueError(f"its head has more than {LONGEST_HEAD} bytes")
        return line

    def _decompress(self, data: bytes) -> bytes:
        if self.decompressor is None or self.num_block_read == 0:
            return bytes(super()._decompress(data))
        try:
            return bytes(self.decompressor.decompress(data))
        except zlib.error:
            return b""  # so that the record is too short
