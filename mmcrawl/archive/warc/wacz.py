"""WACZ 1.1.1: a WARC file with its index (CDXJ) and a list of its pages, in one ZIP.

Browsers replay it without reading all of it: the WARC file is not compressed a second time, so the
index gives the position of each record.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, BinaryIO
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from warcio.archiveiterator import ArchiveIterator

from mmcrawl import __version__
from mmcrawl.archive.warc.heads import RecordWriter, as_date, sort_key, uri_of

_WARC, _INDEX, _PAGES = "archive/data.warc.gz", "indexes/index.cdx", "pages/pages.jsonl"
_LISTED = ("response", "revisit", "resource")


class Wacz:
    """A WACZ that is being written; `records` writes its WARC file."""

    def __init__(self, records: RecordWriter, pages: IO[bytes]) -> None:
        self.records, self._pages = records, pages
        pages.write(b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}\n')

    def add_page(self, url: str, time: float, title: str) -> None:
        """List a page, whose record is written, for those who open the file."""
        name = uuid5(NAMESPACE_URL, f"{time} {url}").hex
        page = {"id": name, "url": uri_of(url), "ts": as_date(time), "title": title}
        line = {key: value for key, value in page.items() if value}
        self._pages.write(json.dumps(line).encode() + b"\n")


@contextmanager
def wacz_in(stream: BinaryIO, title: str, time: float) -> Iterator[Wacz]:
    """Write a WACZ file when the block ends, from temporary files; an OSError if it cannot."""
    with TemporaryDirectory(prefix="mmcrawl-wacz-") as folder:
        parts = {path: Path(folder) / Path(path).name for path in (_WARC, _INDEX, _PAGES)}
        with parts[_WARC].open("wb") as warc, parts[_PAGES].open("wb") as pages:
            wacz = Wacz(RecordWriter(warc, gzip=True), pages)
            yield wacz
            wacz.records.write_info(time)
        with parts[_INDEX].open("wb") as index:
            index.writelines(index_of(parts[_WARC]))
        with ZipFile(stream, "w") as archive:
            resources = [_added(archive, *part) for part in parts.items()]
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


def _added(archive: ZipFile, path: str, part: Path) -> dict[str, object]:
    """Put a file into the ZIP, and return what is listed of it."""
    info = ZipInfo(path)  # of 1980: equal contents are equal files
    info.compress_type = ZIP_STORED if path == _WARC else ZIP_DEFLATED
    info.file_size = part.stat().st_size
    with part.open("rb") as source:
        digest = file_digest(source, "sha256").hexdigest()
        source.seek(0)
        with archive.open(info, "w") as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return {"name": part.name, "path": path, "hash": f"sha256:{digest}", "bytes": info.file_size}


def index_beside(path: Path) -> Path:
    """Return where the index of a WARC file is: ``all.cdxj`` beside ``all.warc.gz``."""
    return path.with_name(path.name.removesuffix(".gz").removesuffix(".warc") + ".cdxj")


def index_of(warc: Path) -> Iterator[bytes]:
    """Yield a CDXJ line per record that can be replayed, sorted as bytes, by SQLite on disk."""
    with warc.open("rb") as file, closing(sqlite3.connect("")) as listed:
        listed.execute("CREATE TABLE record (line TEXT)")
        records = ArchiveIterator(file)
        for record in records:
            fields, answer = record.rec_headers, record.http_headers
            records.read_to_end(record)
            if record.rec_type not in _LISTED:
                continue
            kind = (answer or fields).get("Content-Type") or "application/octet-stream"
            is_revisit = record.rec_type == "revisit"
            facts = {
                "url": fields.get("WARC-Target-URI"),
                "mime": "warc/revisit" if is_revisit else kind.partition(";")[0].strip().lower(),
                "status": answer.get_statuscode() if answer else "200",
                "digest": fields.get("WARC-Payload-Digest"),
                "length": str(records.get_record_length()),
                "offset": str(records.get_record_offset()),
                "filename": warc.name,
            }
            stamp = "".join(filter(str.isdigit, fields.get("WARC-Date")[:19]))
            line = f"{sort_key(facts['url'])} {stamp} {json.dumps(facts)}\n"
            listed.execute("INSERT INTO record VALUES (?)", (line,))
        for (line,) in listed.execute("SELECT line FROM record ORDER BY line"):
            yield line.encode()
