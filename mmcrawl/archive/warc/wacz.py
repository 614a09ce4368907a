"""WACZ 1.1.1: a WARC file with its index and a list of its pages, in one ZIP.

Browsers replay it without reading it whole: the WARC file is not compressed a second time, so a
record is read where the index says that it stands.
"""

from __future__ import annotations

import json
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from itertools import islice
from typing import IO, BinaryIO, cast
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from mmcrawl import __version__
from mmcrawl.archive.warc.cdxj import Index
from mmcrawl.archive.warc.heads import as_date, uri_of
from mmcrawl.archive.warc.writing import RecordWriter

_WARC = "data.warc.gz"
_INDEX = "index.cdx.gz"
_ZIP64 = 1  # name of the field of 64-bit sizes
_LINES = 3_000  # of the index that are compressed together, as cdxj-indexer does


class Wacz:
    """A WACZ that is being written.

    Attributes:
        records: Writes its WARC file.
    """

    def __init__(
        self, archive: ZipFile, warc: BinaryIO, index: Index, listed: sqlite3.Connection
    ) -> None:
        self._zip, self._index, self._listed = archive, index, listed
        self._sums: list[dict[str, object]] = []
        listed.execute("CREATE TABLE page (line TEXT)")
        self.records = RecordWriter(warc, gzip=True, indexed=index.add)

    def add_page(self, url: str, time: float, title: str) -> None:
        """List a page, whose record is written, for those who open the file.

        Args:
            url: As captured.
            time: Of the capture, in Unix seconds.
            title: "" for none.
        """
        page = {
            "id": uuid5(NAMESPACE_URL, f"{time} {url}").hex,
            "url": uri_of(url),
            "ts": as_date(time),
            **({"title": title} if title else {}),
        }
        self._listed.execute("INSERT INTO page VALUES (?)", (json.dumps(page),))

    def finish(self, title: str, time: float) -> None:
        """Write all but the WARC file.

        Args:
            title: Of the whole, for a person.
            time: At which it is made, in Unix seconds.
        """
        blocks = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "' + _INDEX + '"}\n']
        with self.entry(f"indexes/{_INDEX}", ZIP_STORED) as index:
            offset = 0
            every = self._index.lines()
            while lines := list(islice(every, _LINES)):
                packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
                packed = packer.compress("".join(lines).encode()) + packer.flush()
                index.write(packed)
                place = json.dumps({"offset": offset, "length": len(packed)})
                blocks.append(f"{lines[0].partition('{')[0]}{place}\n")
                offset += len(packed)
        with self.entry("indexes/index.idx", ZIP_DEFLATED) as stream:
            stream.write("".join(blocks).encode())
        with self.entry("pages/pages.jsonl", ZIP_DEFLATED) as stream:
            stream.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')
            for (line,) in self._listed.execute("SELECT line FROM page ORDER BY rowid"):
                stream.write(f"{line}\n".encode())
        self._describe(title, time)

    def _describe(self, title: str, time: float) -> None:
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": title,
            "created": as_date(int(time)),
            "software": f"mmcrawl/{__version__}",
            "resources": self._sums,
        }
        content = json.dumps(package, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(content).hexdigest()}"}
        self._zip.writestr(ZipInfo("datapackage.json"), content)
        self._zip.writestr(ZipInfo("datapackage-digest.json"), json.dumps(digest))

    @contextmanager
    def entry(self, path: str, compression: int) -> Iterator[BinaryIO]:
        """Open a file in the ZIP, which is listed with its digest when it is closed."""
        with _opened(self._zip, path, compression) as summed:
            yield cast("BinaryIO", summed)
        self.note(path, summed)

    def note(self, path: str, summed: _Summed) -> None:
        """List a file that is written."""
        name = path.rpartition("/")[2]
        digest = f"sha256:{summed.sum.hexdigest()}"
        self._sums.append({"name": name, "path": path, "hash": digest, "bytes": summed.size})


@contextmanager
def wacz_in(stream: BinaryIO, title: str, time: float) -> Iterator[Wacz]:
    """Write a WACZ file; all but its records when the block ends.

    Args:
        stream: Open for writing.
        title, time: See `Wacz.finish`.

    Raises:
        OSError: it cannot be written.
    """
    # In files that SQLite makes for itself: index and list may be larger than memory.
    with (
        closing(Index(_WARC)) as index,
        closing(sqlite3.connect("")) as listed,
        ZipFile(stream, "w") as archive,
    ):
        path = f"archive/{_WARC}"
        with _opened(archive, path, ZIP_STORED) as summed:
            wacz = Wacz(archive, cast("BinaryIO", summed), index, listed)
            yield wacz
            wacz.records.write_info(time)
        wacz.note(path, summed)
        wacz.finish(title, time)


@contextmanager
def _opened(archive: ZipFile, path: str, compression: int) -> Iterator[_Summed]:
    info = ZipInfo(path)  # of 1980: equal contents are equal files
    info.compress_type = compression
    with archive.open(info, "w", force_zip64=True) as file:
        yield _Summed(file)
    # The head before the file has room for 64-bit sizes, as it was written when these were not
    # known. ReplayWeb.page takes the length of that head from the directory: there it is as long.
    info.extra = struct.pack("<HHQQ", _ZIP64, 16, info.file_size, info.compress_size)


class _Summed:
    """Counts and sums up what is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sum = sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        self.sum.update(data)
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()
