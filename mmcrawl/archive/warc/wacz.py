"""WACZ 1.1.1: a WARC file with its index and a list of its pages, in one ZIP.

Browsers replay it without reading it whole: the WARC file is not compressed a second time, so a
record is read where the index says that it stands.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from gzip import compress
from hashlib import sha256
from itertools import islice
from tempfile import TemporaryFile
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

    def __init__(self, records: RecordWriter, pages: IO[bytes]) -> None:
        self.records, self._pages = records, pages

    def add_page(self, url: str, time: float, title: str) -> None:
        """List a page, whose record is written, for those who open the file.

        Args:
            url: As captured.
            time: Of the capture, in Unix seconds.
            title: "" for none.
        """
        name = uuid5(NAMESPACE_URL, f"{time} {url}").hex
        page = {"id": name, "url": uri_of(url), "ts": as_date(time), "title": title}
        line = {key: value for key, value in page.items() if value}
        self._pages.write(json.dumps(line).encode() + b"\n")


@contextmanager
def wacz_in(stream: BinaryIO, title: str, time: float) -> Iterator[Wacz]:
    """Write a WACZ file; all but its records when the block ends.

    Args:
        stream: Open for writing.
        title: Of the whole, for a person.
        time: At which it is made, in Unix seconds.

    Raises:
        OSError: it cannot be written.
    """
    # Index and pages are in files: they may be larger than memory.
    with closing(Index(_WARC)) as index, TemporaryFile() as pages, ZipFile(stream, "w") as archive:
        resources: list[dict[str, object]] = []
        pages.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')
        with _entry(archive, f"archive/{_WARC}", ZIP_STORED, resources) as warc:
            wacz = Wacz(RecordWriter(warc, gzip=True, index=index), pages)
            yield wacz
            wacz.records.write_info(time)
        blocks = ['!meta 0 {"format": "cdxj-gzip-1.0", "filename": "' + _INDEX + '"}\n']
        with _entry(archive, f"indexes/{_INDEX}", ZIP_STORED, resources) as file:
            lines = index.lines()
            while some := list(islice(lines, _LINES)):
                packed = compress(b"".join(some), mtime=0)
                place = json.dumps({"offset": file.tell(), "length": len(packed)})
                blocks.append(f"{some[0].decode().partition('{')[0]}{place}\n")
                file.write(packed)
        pages.seek(0)
        texts: dict[str, Iterable[bytes]] = {
            "indexes/index.idx": map(str.encode, blocks),
            "pages/pages.jsonl": pages,
        }
        for path, text in texts.items():
            with _entry(archive, path, ZIP_DEFLATED, resources) as file:
                for line in text:
                    file.write(line)
        package = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": title,
            "created": as_date(int(time)),
            "software": f"mmcrawl/{__version__}",
            "resources": resources,
        }
        content = json.dumps(package, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(content).hexdigest()}"}
        archive.writestr(ZipInfo("datapackage.json"), content)
        archive.writestr(ZipInfo("datapackage-digest.json"), json.dumps(digest))


@contextmanager
def _entry(
    archive: ZipFile, path: str, compression: int, resources: list[dict[str, object]]
) -> Iterator[BinaryIO]:
    """Open a file in the ZIP, which is listed with its digest when it is closed."""
    info = ZipInfo(path)  # of 1980: equal contents are equal files
    info.compress_type = compression
    with archive.open(info, "w", force_zip64=True) as file:
        summed = _Summed(file)
        yield cast("BinaryIO", summed)
    # The head before the file has room for 64-bit sizes, as it was written when these were not
    # known. ReplayWeb.page takes the length of that head from the directory: there it is as long.
    info.extra = struct.pack("<HHQQ", _ZIP64, 16, info.file_size, info.compress_size)
    digest = f"sha256:{summed.sum.hexdigest()}"
    name = path.rpartition("/")[2]
    resources.append({"name": name, "path": path, "hash": digest, "bytes": summed.tell()})


class _Summed:
    """Counts and sums up what is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.sum = sha256()
        self._size = 0

    def write(self, data: bytes) -> int:
        self.sum.update(data)
        self._size += len(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        self._file.flush()
