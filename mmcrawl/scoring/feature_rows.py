"""The features of links, a row each: the first in memory, the others in a temporary file.

A row is read when its link is scored or fetched. All are read one after another now and then; in
between a few at a time, mostly of links that were found together and lie side by side.
"""

from io import FileIO

import numpy as np
from numpy.typing import NDArray

from mmcrawl.store.sqlite_files import no_room, scratch_file

Rows = NDArray[np.uint32]
Ids = NDArray[np.int64]

IN_MEMORY = 65_536  # rows
_GAP = 16  # rows that are read in vain rather than the file twice


class FeatureRows:
    """Rows of numbers by link.

    Args:
        width: of a row.
        in_memory: how many links, the first ones, have their row there.
    """

    def __init__(self, width: int, in_memory: int = IN_MEMORY) -> None:
        self._width, self._in_memory = width, in_memory
        self._first = np.zeros((0, width), dtype=np.uint32)
        self._file: FileIO | None = None

    def put(self, link: int, row: Rows) -> None:
        """Keep the row of a link.

        Raises:
            StoreError: there is no room for temporary files.
        """
        if link >= self._in_memory:
            self._write(link, row)
            return
        if link >= len(self._first):
            grown = min(max(1_024, 2 * link), self._in_memory)
            self._first = np.concatenate(
                [self._first, np.zeros((grown - len(self._first), self._width), dtype=np.uint32)]
            )
        self._first[link] = row

    def row(self, link: int) -> Rows:
        """Return the row of a link."""
        return np.asarray(self.rows(np.array([link]))[0])

    def rows(self, links: Ids) -> Rows:
        """Return the rows of links, shape (len(links), width).

        Raises:
            StoreError: the temporary file cannot be read.
        """
        if not len(links) or links.max() < self._in_memory:
            return np.asarray(self._first[links])
        found = np.empty((len(links), self._width), dtype=np.uint32)
        near = links < self._in_memory
        found[near] = self._first[links[near]]
        far = np.flatnonzero(~near)
        far = far[np.argsort(links[far], kind="stable")]
        for run in np.split(far, np.flatnonzero(np.diff(links[far]) > _GAP) + 1):
            first = int(links[run[0]])
            found[run] = self._read(first, int(links[run[-1]]) + 1 - first)[links[run] - first]
        return found

    def _write(self, link: int, row: Rows) -> None:
        if self._file is None:
            self._file = scratch_file()
        data = memoryview(row.astype(np.uint32).tobytes())
        try:
            self._file.seek((link - self._in_memory) * 4 * self._width)
            while data:  # a disk that is full takes a part, and fails the next time
                data = data[self._file.write(data) :]
        except OSError as error:
            raise no_room(error) from error

    def _read(self, first: int, count: int) -> Rows:
        data = bytearray(4 * count * self._width)
        room = memoryview(data)
        try:
            if self._file is not None:
                self._file.seek((first - self._in_memory) * 4 * self._width)
                while room and (read := self._file.readinto(room)):
                    room = room[read:]
        except OSError as error:
            raise no_room(error) from error
        return np.frombuffer(data, dtype=np.uint32).reshape(count, self._width)
