"""Where the collection of a crawl is, and opening it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from mmcrawl.collecting.files import MediaFiles, open_files
from mmcrawl.collecting.index import MediaIndex
from mmcrawl.errors import StoreError
from mmcrawl.stores.uris import file_of, is_server

_BESIDE = "-media"


@dataclass(frozen=True, slots=True)
class Collection:
    """What is kept of a crawl's media. A context manager.

    Attributes:
        name: how messages call it.
        folder: where files are on their way, and the index of a store that is no server.
        index: what is known of each address.
        files: the bytes.
    """

    name: str
    folder: Path
    index: MediaIndex
    files: MediaFiles

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.index.close()

    @property
    def partial(self) -> Path:
        """Folder of files on their way."""
        return self.folder / "partial"


def open_collection(store: str, media: str | None, *, create: bool = True) -> Collection:
    """Open the collection of a crawl.

    Args:
        store: URI of the crawl's store.
        media: what the setting MMCRAWL_MEDIA says.
        create: whether it is made where there is none.

    Raises:
        StoreError: it cannot be opened, there is none, or the crawl is kept in memory.
    """
    folder = folder_of(store, media)
    place = media if media is not None and "://" in media else str(folder)
    return Collection(place, folder, MediaIndex(store, folder, create=create), open_files(place))


def folder_of(store: str, media: str | None) -> Path:
    """Return the folder of a crawl's collection, where also its works are kept.

    Args:
        store, media: As of `open_collection`. Of a media store elsewhere, it holds all but the
            files.

    Raises:
        StoreError: the crawl is kept in memory.
    """
    is_url = media is not None and "://" in media
    return media_beside(store) if media is None or is_url else Path(media).expanduser()


def media_beside(store: str) -> Path:
    """Return the folder that belongs to a crawl's store.

    Raises:
        StoreError: the crawl is kept in memory.

    >>> str(media_beside("sqlite:///crawls/crawl.db"))
    'crawls/crawl-media'
    """
    if is_server(store):
        return Path(urlsplit(store).path.strip("/") + _BESIDE)
    path = Path(file_of(store))
    if not path.name:
        raise StoreError("media of a crawl in memory cannot be kept; name a store, as crawl.db")
    return path.with_name(path.stem + _BESIDE)
