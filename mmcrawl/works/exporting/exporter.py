"""The interface of exporters, and finding one by its name."""

from __future__ import annotations

import errno
import mimetypes
import posixpath
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp, mkstemp
from types import MappingProxyType
from typing import BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from mmcrawl.archive.model import Capture
from mmcrawl.errors import CollectionError, MmcrawlError, StoreError, raise_if_fatal
from mmcrawl.media.download import GEOGEBRA
from mmcrawl.media.parts import HeldPart
from mmcrawl.page.media import media_kind
from mmcrawl.plugins import Registry
from mmcrawl.store.durable import put_in_place
from mmcrawl.works.model import Work, WorkFile

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
_BATCH = 1 << 20  # bytes


class HeldFiles:
    """Copies files into a folder, or an archive file.

    An animation that loads others gets a folder of its own, in which these stand under the
    addresses by which it names them.

    Args:
        there: The digest of each file that is there from before and is not copied again, by path.

    Attributes:
        copied: The digest of each file that was copied, by its path.
        missing: What could not be copied, a sentence each.
    """

    def __init__(
        self,
        shipment: Shipment,
        create: Callable[[str], AbstractContextManager[BinaryIO]],
        there: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._shipment, self._create, self._there = shipment, create, there
        self._paths: dict[str, str] = {}
        self._taken: set[str] = set()
        self.copied: dict[str, str] = {}
        self.missing: list[str] = []

    def copied_of(self, work: Work, folder: str = "") -> list[tuple[WorkFile, str]]:
        """Copy a work's files into a folder, "" or with a slash at its end; return those held."""
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
        if self._there.get(path) == digest:
            self.copied[path] = digest
            return True
        try:
            with (
                checked_file(self._shipment, digest) as source,
                self._create(path) as target,
            ):
                shutil.copyfileobj(source, target, _BATCH)
        except StoreError as error:
            self.missing.append(f"{url}: {error}")
            return False
        except OSError as error:
            if error.errno not in _OF_NAMES:
                raise
            self.missing.append(f"{url[:_MOST_SAID]}: {error.strerror}")
            return False
        self.copied[path] = digest
        return True


@contextmanager
def checked_file(shipment: Shipment, digest: str) -> Iterator[BinaryIO]:
    """Open a downloaded file whose digest was verified; a StoreError if missing or damaged."""
    with shipment.open_file(digest) as source:
        found = sha256()
        while batch := source.read(_BATCH):
            found.update(batch)
        if found.hexdigest() != digest:
            raise StoreError(
                f"file {digest} is damaged; restore it from a copy, or remove it and fetch it again"
                " with `scrapy collect --again held`"
            )
        source.seek(0)
        yield source


def files_in(folder: Path) -> Callable[[str], AbstractContextManager[BinaryIO]]:
    """Return what opens files in a folder, each there wholly or as before; the caller syncs."""

    @contextmanager
    def create(path: str) -> Iterator[BinaryIO]:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(place, Path.replace) as file:
            yield file

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
    name = (
        " ".join(_FORBIDDEN.sub(" ", text).split())
        .strip(". ")
        .encode()[:_LONGEST]
        .decode(errors="ignore")
        .strip(". ")
    )
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
    """Return the name of a file, so that files it loads are beside it."""
    return path_of_part(file.url.rpartition("/")[2] or "file")


def _suffix(file: WorkFile) -> str:
    """Return the suffix of the address, or where that is of no medium (``.php``) of the type."""
    try:
        path = unquote(urlsplit(file.url).path)
    except ValueError:
        path = ""
    match = _SUFFIX.search(path)
    suffix = match[0].lower() if match else ""
    if suffix and (not file.mime or media_kind(f"x{suffix}")):
        return suffix
    if file.mime == GEOGEBRA:
        return ".ggb"
    return mimetypes.guess_extension(file.mime) or suffix or ".bin"


ENTRY_POINT_GROUP = "mmcrawl.exporters"
"""Group under which a package registers `name = module:factory`."""

# A site may give a file the name of a folder of others, as `scene` beside `scene/b.xml`.
_OF_NAMES = (
    *(errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ),
    *(errno.EEXIST, errno.EISDIR, errno.ENOTDIR),
)
_MOST_SAID = 200  # characters of what is wrong with a work


def _no_file(digest: str) -> BinaryIO:
    raise StoreError(f"no media are kept, so there is no file {digest}")


@dataclass(frozen=True, slots=True)
class Shipment:
    """The contents of an export.

    Attributes:
        open_file: Opens a file that is held by its digest; StoreError where it is not there.
        parts_of: Returns the files that a file needs and that are held.
        ruffle: Folder of the web build of Ruffle, which plays animations; None if it is not there.
        page_at: Returns a page as it was shown last, None if it is not archived; StoreError where
            it cannot be read.
        needed_by: Yields what an archived page needs to be seen, but for the addresses in a set, to
            which it adds them.
    """

    works: Iterable[Work]  # in the order they are to appear; iterate over them once
    name: str = "works"  # of the collection, for a person
    open_file: Callable[[str], BinaryIO] = _no_file
    time: float = 0.0  # Unix time of the export
    parts_of: Callable[[WorkFile], Sequence[HeldPart]] = lambda file: ()
    ruffle: Path | None = None
    page_at: Callable[[str], Capture | None] = lambda url: None
    needed_by: Callable[[Capture, set[str]], Iterable[Capture]] = lambda page, seen: ()

    def each(self, write: Callable[[Work], None]) -> list[str]:
        """Write all works, each made before its first byte; return what failed, a sentence each."""
        problems = []
        for work in self.works:
            try:
                write(work)
            except Exception as error:
                of_the_disk = isinstance(error, OSError) and error.errno not in _OF_NAMES
                if of_the_disk or isinstance(error, MmcrawlError):
                    raise
                raise_if_fatal(error)
                said = f"{type(error).__name__}: {error}"[:_MOST_SAID]
                problems.append(f"{work.title or work.id}: it is left out ({said})")
        return problems


class Exporter(Protocol):
    """A format. Its factory takes no arguments."""

    summary: str  # what it is, for the help
    suffix: str  # what names of its files end with, as `.csv`; "" if it makes a folder

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        """Write works to a new file or folder; return what was left out, a sentence each."""
        ...


_EXPORTERS: Registry[Exporter] = Registry(
    "format",
    "option",
    ENTRY_POINT_GROUP,
    {
        "bagit": "mmcrawl.works.exporting.as_folder:BagIt",
        "csv": "mmcrawl.works.exporting.as_table:Csv",
        "folder": "mmcrawl.works.exporting.as_folder:Folder",
        "imscc": "mmcrawl.works.exporting.as_imscc:Imscc",
        "jsonl": "mmcrawl.works.exporting.as_table:JsonLines",
        "kolibri": "mmcrawl.works.exporting.as_kolibri:Kolibri",
        "wacz": "mmcrawl.works.exporting.as_warc:AsWacz",
        "warc": "mmcrawl.works.exporting.as_warc:AsWarc",
        "zim": "mmcrawl.works.exporting.as_zim:Zim",
    },
    CollectionError,
)


def exporter_names() -> list[str]:
    """Return the names of all formats, sorted."""
    return _EXPORTERS.names()


def exporter_named(name: str) -> Exporter:
    """Return the exporter of a format."""
    return _EXPORTERS.factory(name)()


@contextmanager
def whole_file(
    target: Path, put: Callable[[Path, Path], object] = put_in_place
) -> Iterator[BinaryIO]:
    """Open a file to be written that is there wholly at the end, or not at all, by `put`."""
    handle, name = mkstemp(prefix=f".{target.name}.", dir=target.parent)
    part = Path(name)
    try:
        with open(handle, "wb") as stream:
            yield stream
        part.chmod(0o644)
        put(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a folder to fill, which appears at its place when complete, or not at all."""
    part = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield part
        part.chmod(0o755)
        put_in_place(part, target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
