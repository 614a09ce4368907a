"""Files that are no WARC files, but hold some (WACZ), or were their predecessors (ARC).

And WARC files that are compressed as a whole, in which no record could be found again.
"""

from __future__ import annotations

import re
import shutil
import zlib
from gzip import BadGzipFile, GzipFile
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile, is_zipfile

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.warcwriter import WARCWriter

from mmcrawl.archive.warc.records import WarcProblem
from mmcrawl.errors import StoreError

_IS_WARC = re.compile(r"archive/[^/]+\.warc(?:\.gz)?", re.IGNORECASE)
_LENGTH = re.compile(
    rb"^Content-Length:[ \t]*([0-9]{1,12})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE
)
_PORTION = 1 << 20  # bytes
_ARC = b"filedesc:"
_DAMAGE = (ArchiveLoadFailed, zlib.error, EOFError, ValueError)  # what warcio raises on it


def warc_files_of(path: Path, folder: Path) -> tuple[list[Path], WarcProblem | None]:
    """Return the WARC files that are made of a WACZ or ARC file; of any other, that file.

    And what of an ARC file could not be read, if any of it could not.

    Args:
        path: The file.
        folder: Where they are put.

    Raises:
        StoreError: a WACZ is damaged, or there is no room.
        OSError: it cannot be read, or they not be written.
    """
    if is_zipfile(path):
        return _of_wacz(path, folder) or [path], None
    with path.open("rb") as stream:
        begin = stream.read(_PORTION)
        stream.seek(0)
        if _plain(begin, len(_ARC)).startswith(_ARC):
            made, problem = _of_arc(path, stream, folder)
        elif begin[:1] == b"\x1f" and _holds_several(_plain(begin, _PORTION)):
            made, problem = _unpacked(path, stream, folder)
        else:
            return [path], None
    return [made], problem


def _plain(begin: bytes, size: int) -> bytes:
    """Return how a file begins, unpacked if it is packed; b"" if it is damaged there."""
    if not begin.startswith(b"\x1f\x8b"):
        return begin
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(begin, size)
    except zlib.error:
        return b""


def _holds_several(begin: bytes) -> bool:
    """Whether another record follows the first one in a member of a gzip file."""
    head, _, rest = begin.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    behind = rest[int(length[1]) :] if length is not None else b""
    return head.startswith(b"WARC/") and behind[:64].lstrip(b"\r\n").startswith(b"WARC/")


def _of_wacz(path: Path, folder: Path) -> list[Path]:
    found: list[Path] = []
    try:
        with ZipFile(path) as archive:
            packed = [one for one in archive.infolist() if _IS_WARC.fullmatch(one.filename)]
            _check_room(sum(one.file_size for one in packed), path, folder)
            for one in packed:
                found.append(folder / f"{len(found)}-{one.filename.rpartition('/')[2]}")
                with archive.open(one) as source, found[-1].open("xb") as target:
                    shutil.copyfileobj(source, target, _PORTION)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise StoreError(f"the WACZ file '{path}' is damaged: {error}") from error
    return found


def _unpacked(path: Path, stream: BinaryIO, folder: Path) -> tuple[Path, WarcProblem | None]:
    """Unpack a file that is compressed as a whole, up to where it is damaged."""
    made = folder / f"0-{path.name}.warc"
    with GzipFile(fileobj=stream) as source, made.open("xb") as target:
        try:
            while piece := source.read1(_PORTION):
                _check_room(len(piece), path, folder)
                target.write(piece)
        except (*_DAMAGE, BadGzipFile) as error:
            return made, WarcProblem(path, None, f"its compression is damaged ({error})")
    return made, None


def _of_arc(path: Path, stream: BinaryIO, folder: Path) -> tuple[Path, WarcProblem | None]:
    """Write the records of an ARC file as a WARC file, up to the first that is damaged.

    What is damaged of an ARC file cannot be passed over: no record says where the next one begins.
    """
    _check_room(path.stat().st_size, path, folder)
    made = folder / f"0-{path.name}.warc.gz"
    count = end = 0
    reason = "no record begins there"
    with made.open("xb") as target:
        writer, iterator = WARCWriter(target, gzip=True), ArchiveIterator(stream, arc2warc=True)
        try:
            for record in iterator:
                writer.write_record(record)
                iterator.read_to_end(record)
                if record.raw_stream.limit > 1:  # some count the line's end that is behind it
                    what = "fewer bytes are there than the last record says"
                    return made, WarcProblem(path, iterator.get_record_offset(), what, taken=True)
                end = max(end, iterator.get_record_offset() + iterator.get_record_length())
                count += 1
        except _DAMAGE as error:
            reason = str(error)
    stream.seek(end)
    if not stream.read(_PORTION).strip():  # warcio takes some damage for the end
        return made, None
    what = f"damaged behind record {count:,} ({reason}): what begins here is not read"
    return made, WarcProblem(path, end, what)


def _check_room(size: int, path: Path, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if size > free:
        raise StoreError(
            f"what is in '{path}' takes {size:,} bytes, and {folder} has room for {free:,}; name"
            " another folder in the variable TMPDIR"
        )
