"""The media store: files named by their digest, so that equal bytes are kept once.

``files/ab/abcd…``, below a folder or a URL that fsspec understands (an extra). A file is there
wholly or not at all.
"""

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from mmcrawl.errors import StoreError

_FOLDER = "files"
_BLOCK = 8 << 20


class MediaFiles(ABC):
    """Files by the SHA-256 of their bytes, 64 hexadecimal digits.

    Attributes:
        name: how messages call the store.
    """

    name: str

    @abstractmethod
    def has(self, digest: str, size: int) -> bool:
        """Tell whether a file of this digest and size is there."""

    @abstractmethod
    def keep(self, path: Path, digest: str) -> None:
        """Take a file in; `path` is gone afterwards. OSError where it cannot be."""

    @abstractmethod
    def open(self, digest: str) -> BinaryIO:
        """Open a file to read it.

        Raises:
            StoreError: there is none.
        """


class FolderFiles(MediaFiles):
    """A media store in a folder, best on the disk of the files that are taken in."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder / _FOLDER

    def path(self, digest: str) -> Path:
        """Return where a file is, or would be."""
        return self._folder / digest[:2] / digest

    def has(self, digest: str, size: int) -> bool:
        with suppress(OSError):
            return self.path(digest).stat().st_size == size
        return False

    def keep(self, path: Path, digest: str) -> None:
        place = self.path(digest)
        if self.has(digest, path.stat().st_size):
            path.unlink()
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(place)
        if os.name == "posix":  # elsewhere a folder cannot be opened
            folder = os.open(place.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def open(self, digest: str) -> BinaryIO:
        try:
            return self.path(digest).open("rb")
        except OSError as error:
            raise _missing(self.name, digest) from error


class RemoteFiles(MediaFiles):
    """A media store at a URL of fsspec, as ``s3://bucket/media``.

    Args:
        url: of the folder.

    Raises:
        StoreError: fsspec, or what it needs for the URL, is not installed, or it is misunderstood.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec

            self._system, root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise StoreError(
                f"media store {url} needs more than is installed ({error}): pip install"
                " 'mmcrawl[collect]', and what fsspec needs for it, as s3fs for S3"
            ) from error
        except ValueError as error:
            raise StoreError(
                f"media store {url} is not understood ({error}); name a folder, or a URL as"
                " s3://BUCKET/FOLDER"
            ) from error
        self.name = url
        self._root = f"{root.rstrip('/')}/{_FOLDER}"
        self._bucket = "" if root.startswith("/") else root.partition("/")[0]

    def has(self, digest: str, size: int) -> bool:
        # One that was put there in part only, where that is possible, has another size.
        with self._explained(), suppress(FileNotFoundError):
            return bool(self._system.size(self._place(digest)) == size)
        return False

    def keep(self, path: Path, digest: str) -> None:
        size, place = path.stat().st_size, self._place(digest)
        if not self.has(digest, size):
            with self._explained():
                self._refuse_missing_bucket()
                self._system.makedirs(place.rpartition("/")[0], exist_ok=True)
                # Its put_file would hold several hundred megabytes of a large file in memory.
                with (
                    path.open("rb") as source,
                    self._system.open(place, "wb", block_size=_BLOCK) as kept,
                ):
                    shutil.copyfileobj(source, kept, _BLOCK)
            if not self.has(digest, size):
                raise StoreError(f"media store {self.name} did not keep {digest} wholly")
        path.unlink()

    def open(self, digest: str) -> BinaryIO:
        try:
            with self._explained():
                file = self._system.open(self._place(digest), "rb", block_size=_BLOCK)
                return cast("BinaryIO", file)
        except FileNotFoundError as error:
            raise _missing(self.name, digest) from error

    def _refuse_missing_bucket(self) -> None:
        """See to it that a bucket is not made where its name is misspelt.

        Raises:
            StoreError: there is none.
        """
        if self._bucket and not self._system.exists(self._bucket):
            raise StoreError(
                f"media store {self.name} cannot be used: there is no {self._bucket}; make it, or"
                " name another one with -s MMCRAWL_MEDIA=URL"
            )
        self._bucket = ""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in a sentence what a library has against it: each has errors of its own."""
        try:
            yield
        except (FileNotFoundError, StoreError):
            raise
        except Exception as error:
            raise StoreError(
                f"media store {self.name} cannot be used ({' '.join(str(error).split())[:200]});"
                " mend that, or name another one with -s MMCRAWL_MEDIA=URL"
            ) from error

    def _place(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest}"


def _missing(store: str, digest: str) -> StoreError:
    return StoreError(
        f"media store {store} has no file {digest}; was it removed? Restore it from a copy, or"
        " fetch all again with `scrapy collect --again held`"
    )


def open_files(place: str | Path) -> Any:
    """Return the media store in a folder, or at a URL."""
    return RemoteFiles(str(place)) if "://" in str(place) else FolderFiles(Path(place))
