"""Files that are held, copied under names that people read and every file system takes."""

import mimetypes
import re
import shutil
from collections.abc import Set as AbstractSet
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mmcrawl.collecting.exporting.exporter import Shipment
from mmcrawl.collecting.works.model import Work, WorkFile
from mmcrawl.errors import StoreError

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*%\ud800-\udfff]+')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_LONGEST = 150  # bytes of a name, without its suffix: file systems take 255
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")


class HeldFiles:
    """A folder that files are copied to.

    Args:
        shipment: Opens them.
        folder: Made with the first of them.

    Attributes:
        missing: What could not be copied, a sentence each.
    """

    def __init__(self, shipment: Shipment, folder: Path) -> None:
        self._shipment, self._folder = shipment, folder
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()
        self.missing: list[str] = []

    def copy(self, work: Work, file: WorkFile) -> str:
        """Copy a file, unless equal bytes are there; return its name, "" if it is not held."""
        if not file.digest:
            return ""
        if file.digest in self._names:
            return self._names[file.digest]
        name = file_name(work.title, file, self._taken)
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with (
                self._shipment.open_file(file.digest) as source,
                (self._folder / name).open("xb") as target,
            ):
                shutil.copyfileobj(source, target, 1 << 20)
        except StoreError as error:
            self.missing.append(f"{file.url}: {error}")
            return ""
        self._taken.add(name.lower())
        self._names[file.digest] = name
        return name


def file_name(title: str, file: WorkFile, taken: AbstractSet[str]) -> str:
    """Return a name for a file that no other one has, whatever its case.

    >>> file_name("Levers: a/b?", WorkFile("http://h.test/x.mp4", "video"), {"levers a b.mp4"})
    'Levers a b (2).mp4'
    """
    suffix = _suffix(file)
    stem = " ".join(_FORBIDDEN.sub(" ", title).split()).strip(". ")
    stem = stem.encode()[:_LONGEST].decode(errors="ignore").strip(". ") or "untitled"
    if _RESERVED.match(stem):
        stem = f"_{stem}"
    name, number = f"{stem}{suffix}", 1
    while name.lower() in taken:
        number += 1
        name = f"{stem} ({number}){suffix}"
    return name


def _suffix(file: WorkFile) -> str:
    try:
        path = unquote(urlsplit(file.url).path)
    except ValueError:
        path = ""
    match = _SUFFIX.search(path)
    if match is not None:
        return match[0].lower()
    return mimetypes.guess_extension(file.mime) or ".bin"
