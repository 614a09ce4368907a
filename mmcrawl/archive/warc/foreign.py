"""The WARC files in a WACZ file."""

from __future__ import annotations

import re
import shutil
import zlib
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from mmcrawl.errors import StoreError

_IS_WARC = re.compile(r"archive/[^/]+\.warc(?:\.gz)?", re.IGNORECASE)
_LONGEST = 60  # characters of a name
_DAMAGED = (BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError)


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
