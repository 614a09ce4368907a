"""What an exporter is, and finding one by its name."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO, Protocol

from mmcrawl.collecting.works.model import Work
from mmcrawl.errors import CollectionError, StoreError
from mmcrawl.plugins.registry import Registry

ENTRY_POINT_GROUP = "mmcrawl.exporters"
"""Group under which a package registers `name = module:factory`."""


def _no_file(digest: str) -> BinaryIO:
    raise StoreError(f"no media are kept, so there is no file {digest}")


@dataclass(frozen=True, slots=True)
class Shipment:
    """What is exported.

    Attributes:
        works: In the order they are to appear; iterate over them once.
        name: Of the collection, for a person.
        open_file: Opens a file that is held by its digest; StoreError where it is not there.
        time: Unix time of the export.
    """

    works: Iterable[Work]
    name: str = "works"
    open_file: Callable[[str], BinaryIO] = _no_file
    time: float = 0.0


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

        Returns what could not be exported, a sentence each.

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
        "bagit": "mmcrawl.collecting.exporting.as_bagit:BagIt",
        "csv": "mmcrawl.collecting.exporting.as_csv:Csv",
        "folder": "mmcrawl.collecting.exporting.as_folder:Folder",
        "jsonl": "mmcrawl.collecting.exporting.as_jsonl:JsonLines",
        "lrmi": "mmcrawl.collecting.exporting.as_lrmi:Lrmi",
        "ris": "mmcrawl.collecting.exporting.as_ris:Ris",
        "xlsx": "mmcrawl.collecting.exporting.as_xlsx:Xlsx",
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
