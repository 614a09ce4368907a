"""Files that are held, copied under names that people read and every file system takes."""

import mimetypes
import posixpath
import re
import shutil
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from mmcrawl.collecting.exporting.exporter import Shipment
from mmcrawl.collecting.works.model import Work, WorkFile
from mmcrawl.errors import StoreError

# Besides what file systems refuse: what does not show, or turns the letters of a name around.
_FORBIDDEN = re.compile(
    r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*%\ud800-\udfff\ufffe\uffff'
    r"\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]+"
)
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])\s*(?:\.|$)", re.IGNORECASE
)
_LONGEST = 150  # bytes of a name, without its suffix: file systems take 255
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_PORTION = 1 << 20  # bytes


class HeldFiles:
    """Copies files into a folder, or an archive file.

    An animation that loads others gets a folder of its own, in which these stand under the
    addresses by which it names them.

    Args:
        shipment: Opens them.
        create: Opens a new file by its path, parted by slashes.

    Attributes:
        copied: The digest of each file that was copied, by its path.
        missing: What could not be copied, a sentence each.
    """

    def __init__(
        self, shipment: Shipment, create: Callable[[str], AbstractContextManager[BinaryIO]]
    ) -> None:
        self._shipment, self._create = shipment, create
        self._paths: dict[str, str] = {}
        self._taken: set[str] = set()
        self.copied: dict[str, str] = {}
        self.missing: list[str] = []

    def copied_of(self, work: Work, folder: str = "") -> list[tuple[WorkFile, str]]:
        """Copy the files of a work into a folder, named with a slash at its end; "" for none.

        Returns:
            Those that are held, with their paths.
        """
        found = ((file, self.copy(work, file, folder)) for file in work.files)
        return [(file, path) for file, path in found if path]

    def copy(self, work: Work, file: WorkFile, folder: str = "") -> str:
        """Copy a file, unless equal bytes are there; return its path, "" if it is not held."""
        if not file.digest:
            return ""
        if file.digest in self._paths:
            return self._paths[file.digest]
        parts = self._shipment.parts_of(file)
        name = file_name(work.title, file, self._taken)
        if parts:
            folder += f"{file.digest[:8]} {name.rpartition('.')[0]}/"
        if not self._copied(file.digest, f"{folder}{name}", file.url):
            return ""
        self._taken.add(name.lower())
        self._paths[file.digest] = f"{folder}{name}"
        for part in parts:
            path = folder + path_of_part(part.name)
            if path not in self.copied:
                self._copied(part.digest, path, part.name)
        return self._paths[file.digest]

    def _copied(self, digest: str, path: str, url: str) -> bool:
        try:
            with (
                checked_file(self._shipment, digest) as source,
                self._create(path) as target,
            ):
                shutil.copyfileobj(source, target, _PORTION)
        except StoreError as error:
            self.missing.append(f"{url}: {error}")
            return False
        self.copied[path] = digest
        return True


@contextmanager
def checked_file(shipment: Shipment, digest: str) -> Iterator[BinaryIO]:
    """Open a file that is held, at its begin, after all of it was found to be as it was kept.

    What it is written to may take nothing back, as an archive file.

    Raises:
        StoreError: it is not there, or damaged.
    """
    with shipment.open_file(digest) as source:
        found = sha256()
        while portion := source.read(_PORTION):
            found.update(portion)
        if found.hexdigest() != digest:
            raise StoreError(
                f"file {digest} is damaged; restore it from a copy, or remove it and fetch it again"
                " with `scrapy collect --again held`"
            )
        source.seek(0)
        yield source


def files_in(folder: Path) -> Callable[[str], BinaryIO]:
    """Return what opens new files in a folder, which is made with the first of them."""

    def create(path: str) -> BinaryIO:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place.open("xb")

    return create


def file_name(title: str, file: WorkFile, taken: AbstractSet[str]) -> str:
    """Return a name for a file that no other one has, whatever its case.

    >>> file_name("Levers: a/b?", WorkFile("http://h.test/x.mp4", "video"), {"levers a b.mp4"})
    'Levers a b (2).mp4'
    """
    suffix = _suffix(file)
    stem = folder_name(title) or "untitled"
    name, number = f"{stem}{suffix}", 1
    while name.lower() in taken:
        number += 1
        name = f"{stem} ({number}){suffix}"
    return name


def folder_name(text: str) -> str:
    """Return a name for a folder, "" if nothing of a text can be in one."""
    name = _harmless(text).encode()[:_LONGEST].decode(errors="ignore").strip(". ")
    return f"_{name}" if _RESERVED.match(name) else name


def path_of_part(address: str) -> str:
    """Return where a file stands that an animation loads, in the folder of the animation.

    Of an address that leads out of the folder, only the name is kept: the animation does not find
    it there, but it is not lost.

    >>> path_of_part("scenes/a%20b.swf?x=1"), path_of_part("../../x.swf"), path_of_part("/y.xml")
    ('scenes/a b.swf', 'x.swf', 'y.xml')
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return "part"
    path = posixpath.normpath(unquote(parts.path).replace("\\", "/"))
    if parts.scheme or parts.netloc or path.startswith(("/", "..")):
        path = posixpath.basename(path)
    return "/".join(filter(None, map(folder_name, path.split("/")))) or "part"


def file_path(file: WorkFile) -> str:
    """Return the name under which a file is served, so that what it loads stands beside it."""
    return path_of_part(file.url.rpartition("/")[2] or "file")


def _harmless(text: str) -> str:
    return " ".join(_FORBIDDEN.sub(" ", text).split()).strip(". ")


def _suffix(file: WorkFile) -> str:
    """Return the suffix of the address, or where that is of no medium (``.php``) of the type."""
    try:
        path = unquote(urlsplit(file.url).path)
    except ValueError:
        path = ""
    match = _SUFFIX.search(path)
    suffix = match[0].lower() if match else ""
    named = mimetypes.guess_type(f"x{suffix}")[0] or ""
    if suffix and (not file.mime or named.startswith(("audio/", "video/"))):
        return suffix
    return mimetypes.guess_extension(file.mime) or suffix or ".bin"
