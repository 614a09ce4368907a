"""Finds the WARC files in a WACZ file, and the pages in them."""

from __future__ import annotations

import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from mmcrawl.archive.model import Capture
from mmcrawl.archive.warc.answers import answer_at
from mmcrawl.archive.warc.records import BadRecordError, WarcProblem, records
from mmcrawl.errors import StoreError

_IS_WARC = re.compile(r"archive/[^/]+\.warc(?:\.gz)?", re.IGNORECASE)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_LONGEST = 60  # characters of a name
_DAMAGED = (
    *(BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError),
    UnicodeDecodeError,  # a name that says it is UTF-8
)


def warc_files_of(path: Path, folder: Path) -> list[Path]:
    """Return the WARC files that are in a WACZ file, unpacked into a folder; else that file.

    Raises:
        StoreError: a WACZ is damaged.
        OSError: it cannot be read, or they not be written.
    """
    if not is_zipfile(path):
        return [path]
    found: list[Path] = []
    try:
        with ZipFile(path) as archive:
            inside = [each for each in archive.infolist() if _IS_WARC.fullmatch(each.filename)]
            if sum(each.file_size for each in inside) > shutil.disk_usage(folder).free:
                raise StoreError(f"there is no room to unpack the WACZ file '{path}'")
            for each in inside:
                name = each.filename.rpartition("/")[2][-_LONGEST:]
                found.append(folder / f"{len(found)}-{name}")
                with archive.open(each) as source, found[-1].open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except _DAMAGED as error:
        raise StoreError(f"the WACZ file '{path}' is damaged: {error}") from error
    return found or [path]


def pages_of(path: Path, problem: Callable[[object], object]) -> Iterator[Capture]:
    """Yield the HTML pages among the answers in a WARC or WACZ file.

    Args:
        problem: is told what cannot be read, with the name of the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            for file in warc_files_of(path, Path(folder)):
                yield from _pages_of(file, path, problem)
        except (StoreError, OSError) as error:
            problem(error if str(path) in str(error) else f"{path}: {error}")


def _pages_of(file: Path, named: Path, problem: Callable[[object], object]) -> Iterator[Capture]:
    for record in records(file):
        if isinstance(record, WarcProblem):
            problem(record if file == named else f"{named}: {record}")
        elif record.kind == "response" and record.is_http:
            try:
                capture = answer_at(file, record.offset).capture
            except BadRecordError as error:
                problem(f"'{named}', offset {record.offset}: {error}; left out")
                continue
            kind = capture.media_type.partition(";")[0].strip().lower()
            if capture.status == 200 and kind in _HTML:
                yield capture
