"""What an exporter is, and finding one by its name."""

import errno
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp, mkstemp
from typing import BinaryIO, Protocol

from mmcrawl.archive.model import Capture
from mmcrawl.collecting.parts import HeldPart
from mmcrawl.collecting.works.model import Work, WorkFile
from mmcrawl.errors import CollectionError, MmcrawlError, StoreError, raise_if_fatal
from mmcrawl.plugins import Registry

ENTRY_POINT_GROUP = "mmcrawl.exporters"
"""Group under which a package registers `name = module:factory`."""

_OF_NAMES = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)
_MOST_SAID = 200  # characters of what is wrong with a work


def _no_file(digest: str) -> BinaryIO:
    raise StoreError(f"no media are kept, so there is no file {digest}")


def _no_parts(file: WorkFile) -> Sequence[HeldPart]:
    return ()


def _no_page(url: str) -> Capture | None:
    return None


@dataclass(frozen=True, slots=True)
class Shipment:
    """What is exported.

    Attributes:
        works: In the order they are to appear; iterate over them once.
        name: Of the collection, for a person.
        open_file: Opens a file that is held by its digest; StoreError where it is not there.
        time: Unix time of the export.
        parts_of: Returns the files that a file needs and that are held.
        ruffle: Folder of the web build of Ruffle, which plays animations; None if it is not there.
        page_at: Returns a page as it was archived last, None if it is not; StoreError where it
            cannot be read.
    """

    works: Iterable[Work]
    name: str = "works"
    open_file: Callable[[str], BinaryIO] = _no_file
    time: float = 0.0
    parts_of: Callable[[WorkFile], Sequence[HeldPart]] = _no_parts
    ruffle: Path | None = None
    page_at: Callable[[str], Capture | None] = _no_page

    def each(self, write: Callable[[Work], None]) -> list[str]:
        """Write all works; return those that could not be written, a sentence each.

        Args:
            write: Writes one; it makes all of it before it writes the first byte.

        Raises:
            StoreError, CollectionError, OSError: the next would fail as well.
        """
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
    """A format. Its factory takes no arguments.

    Attributes:
        summary: What it is, for the help.
        suffix: What names of its files end with, as ``.csv``; "" if it makes a folder.
    """

    summary: str
    suffix: str

    def export(self, shipment: Shipment, target: Path) -> list[str]:
        """Write works to a file or folder that is not there yet.

        Returns what could not be exported, a sentence each. A work that cannot be written is left
        out and named (`Shipment.each`); the rest is written.

        Raises:
            CollectionError: what it needs is not installed.
            OSError: it cannot be written.
        """
        ...


_EXPORTERS: Registry[Exporter] = Registry(
    "format",
    "option",
    ENTRY_POINT_GROUP,
    {
        "bagit": "mmcrawl.collecting.exporting.as_folder:BagIt",
        "csv": "mmcrawl.collecting.exporting.as_table:Csv",
        "folder": "mmcrawl.collecting.exporting.as_folder:Folder",
        "imscc": "mmcrawl.collecting.exporting.as_imscc:Imscc",
        "jsonl": "mmcrawl.collecting.exporting.as_table:JsonLines",
        "kolibri": "mmcrawl.collecting.exporting.as_kolibri:Kolibri",
        "lrmi": "mmcrawl.collecting.exporting.as_lrmi:Lrmi",
        "ris": "mmcrawl.collecting.exporting.references:Ris",
        "wacz": "mmcrawl.collecting.exporting.as_warc:AsWacz",
        "warc": "mmcrawl.collecting.exporting.as_warc:AsWarc",
        "xlsx": "mmcrawl.collecting.exporting.as_table:Xlsx",
        "zim": "mmcrawl.collecting.exporting.as_zim:Zim",
    },
    CollectionError,
)


def exporter_names() -> list[str]:
    """Return the names of all formats, sorted."""
    return _EXPORTERS.names()


def exporter_named(name: str) -> Exporter:
    """Return the exporter of a format.

    Raises:
        CollectionError: there is none, or it cannot be loaded.
    """
    return _EXPORTERS.factory(name)()


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Open a file to be written that is there wholly at the end, or not at all."""
    handle, name = mkstemp(prefix=f".{target.name}.", dir=target.parent)
    part = Path(name)
    try:
        with open(handle, "wb") as stream:
            yield stream
        part.chmod(0o644)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give a folder to be filled, which is at its place wholly at the end, or not at all."""
    part = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        yield part
        part.chmod(0o755)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
