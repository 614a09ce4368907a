"""warcio's iterator over records, within bounds and without words of its own.

As it is, it reads a head of any length into memory, reads a file to its end for a record that
claims to be longer than that, takes the first line of a record for the rest of one that has no
blank lines behind it, and writes to standard error what it wonders at.
"""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from typing import Any, BinaryIO

from warcio.archiveiterator import WARCIterator
from warcio.bufferedreaders import DecompressingBufferedReader
from warcio.statusandheaders import StatusAndHeadersParser

LONGEST_HEAD = 1 << 20
"""Bytes of a record's named fields."""

_VERSIONS = [f"WARC/{one}" for one in ("1.0", "1.1", "1.2", "0.17", "0.18")]  # warcio: up to 1.1
_PIECE = 1 << 16
_PACKED = 512  # bytes that are unpacked at once: what is before damage among them is lost
_FIRST_LINE = re.compile(rb"^WARC/|WARC/[01]\.[0-9]{1,2}\r?\n\Z")  # also behind one cut short


class RecordIterator(WARCIterator):  # type: ignore[misc]
    """The records of a file from where it stands; their blocks are not parsed.

    Raises what warcio raises, ValueError for a head of more than :data:`LONGEST_HEAD` bytes, or
    with the first line of another record in it.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file, no_record_parse=True)
        self.loader.warc_parser = StatusAndHeadersParser(_VERSIONS)
        self.reader = _Reader(file)

    @property
    def is_packed(self) -> bool:
        """Whether the file is compressed where it is read."""
        return self.reader.decompressor is not None

    @property
    def position(self) -> int:
        """Offset in the file up to which it was read; of an uncompressed file."""
        return int(self.fh.tell()) - int(self.reader.rem_length())

    def _consume_blanklines(self) -> tuple[bytes | None, int]:
        """Pass over the blank lines behind a record; give the line behind them."""
        empty = 0
        while line := self.reader.readline():
            if line.strip():
                if empty:
                    return line, empty
                self.err_count += 1
                if not self.is_packed:
                    return line, empty
                while self.reader.read(_PIECE):  # its length is too short: the rest is its, too
                    pass
            empty += len(line)
        return None, empty


class _Reader(DecompressingBufferedReader):  # type: ignore[misc]
    """Reads the heads of records line by line, up to a bound.

    Attributes:
        unpacked: Bytes that were unpacked.
    """

    decompressor: Any

    def __init__(self, file: BinaryIO) -> None:
        super().__init__(file)
        self._head = 0
        self.unpacked = 0

    def readline(self, length: int | None = None) -> bytes:
        line = bytes(super().readline(length or LONGEST_HEAD))
        if self._head and _FIRST_LINE.search(line):
            raise ValueError("another record begins in its head")
        self._head = self._head + len(line) if line.strip() else 0
        if self._head >= LONGEST_HEAD:
            raise ValueError(f"its head has more than {LONGEST_HEAD} bytes")
        return line

    def _decompress(self, data: bytes) -> bytes:
        """Unpack data, up to what is damaged: there the file ends, for this reader."""
        pieces: list[bytes] = []
        for start in range(0, len(data) if self.decompressor else 0, _PACKED):
            try:
                pieces.append(self.decompressor.decompress(data[start : start + _PACKED]))
            except zlib.error:
                if start == self.num_block_read == 0:
                    self.decompressor = None
                else:
                    self.stream = BytesIO()
                break
        self.unpacked += sum(map(len, pieces))
        return b"".join(pieces) if self.decompressor else data
