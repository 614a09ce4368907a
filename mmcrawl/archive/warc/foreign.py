"""The WARC files in a WACZ file."""

from __future__ import annotations

import re
import shutil
import zlib
from pathlib import Path
from zipfile import BadZipFile, ZipFile, is_zipfile

from mmcrawl.errors import StoreError

_IS_WARC = re.compile(r"archive/[^/]+\.warc(?:\.gz)?", re.IGNORECASE)


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
            for name in filter(_IS_WARC.fullmatch, archive.namelist()):
                found.append(folder / f"{len(found)}-{name.rpartition('/')[2]}")
                with archive.open(name) as source, found[-1].open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise StoreError(f"the WACZ file '{path}' is damaged: {error}") from error
    return found or [path]
