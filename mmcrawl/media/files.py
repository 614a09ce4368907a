"""The media store: files named by their digest, so that equal bytes are kept once.

``files/ab/abcd…``, below a folder or a URL that fsspec understands (an extra). A file is there as a
whole or not at all.
"""

import hashlib
import json
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from errno import EFBIG
from pathlib import Path
from typing import Any, BinaryIO, cast

from filelock import FileLock, Timeout

from mmcrawl.errors import MediaError, StoreError, raise_if_fatal
from mmcrawl.store.durable import make_folder, put_in_place

_FOLDER = "files"
_BLOCK = 8 << 20


class MediaFiles(ABC):
    """Files by the SHA-256 of their bytes, 64 hexadecimal digits."""

    name: str  # of the store, in messages

    @abstractmethod
    def has(self, digest: str, size: int) -> bool:
        """Return whether a file of this digest and size is there."""

    @abstractmethod
    def keep(self, path: Path, digest: str) -> None:
        """Add a file; `path` is gone afterwards. OSError if that fails."""

    @abstractmethod
    def open(self, digest: str) -> BinaryIO:
        """Open a file to read it; raises StoreError if there is none."""


class FolderFiles(MediaFiles):
    """A media store in a folder, best on the same disk as the files added to it."""

    def __init__(self, folder: Path) -> None:
        self.name = str(folder)
        self._folder = folder / _FOLDER

    def path(self, digest: str) -> Path:
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
        make_folder(place.parent)
        put_in_place(path, place)

    def open(self, digest: str) -> BinaryIO:
        try:
            return self.path(digest).open("rb")
        except OSError as error:
            raise _missing(self.name, digest) from error


class RemoteFiles(MediaFiles):
    """A media store at a URL of fsspec, as ``s3://bucket/media``."""

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
        """Prevent a misspelt name from creating a bucket."""
        if self._bucket and not self._system.exists(self._bucket):
            raise StoreError(
                f"media store {self.name} cannot be used: there is no {self._bucket}; make it, or"
                " name another one with -s MMCRAWL_MEDIA=URL"
            )
        self._bucket = ""

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Return a library's objection as a sentence: each library has its own errors."""
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
    return RemoteFiles(str(place)) if "://" in str(place) else FolderFiles(Path(place))


_CHECKPOINT = 8 << 20
_SECONDS = 2.0  # between two checkpoints of what comes slowly
_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Begun:
    """The state of a partial file.

    Attributes:
        etag, last_modified, content_type: as the server sent them; the last one as it was judged,
            once it was.
    """

    url: str  # of the record it belongs to
    size: int = 0  # bytes and `digest` at the checkpoint; those of all when it is `complete`
    digest: str = ""
    complete: bool = False  # whether all bytes have come, and were found good
    length: int | None = None  # bytes it has in all, None if the server did not say
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    final_url: str = ""  # where redirects led to, "" if nowhere else

    @property
    def validator(self) -> str:
        """The value for If-Range: a strong ETag, or without any ETag the date; "" for neither."""
        if self.etag:
            return "" if self.etag.startswith("W/") else self.etag
        return self.last_modified


def digest_of(url: str) -> str:
    return hashlib.sha256(url.encode(errors="surrogatepass")).hexdigest()[:32]


class PartialFile:
    """A file in progress. Not to be shared by threads; one process at a time may have it open.

    Attributes:
        begun: what is known of it.
        size: bytes that are there.

    Raises:
        StoreError: the folder cannot be used.
        MediaError: another process has the file open.
    """

    def __init__(self, folder: Path, url: str) -> None:
        name = digest_of(url)
        self.path = folder / name
        self._facts = folder / f"{name}.json"
        self._lock = FileLock(folder / f"{name}.lock", timeout=0, thread_local=False)
        self.begun = Begun(url)
        self.size = 0
        self._hash = hashlib.sha256()
        self._file: BinaryIO | None = None
        self._noted = time.monotonic()
        with self._usable():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout:
                raise MediaError("another process fetches it", again=True) from None

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes that are there."""
        return self._hash.hexdigest()

    @property
    def free(self) -> int:
        return shutil.disk_usage(self.path.parent).free

    def resume(self) -> None:
        """Find out how much is there; takes as long as reading it. Damaged parts are dropped."""
        with self._usable():
            self._resume()

    def _resume(self) -> None:
        begun = self._read_facts()
        if begun is None:
            self.restart()
            return
        with suppress(FileNotFoundError):
            self._file = self.path.open("r+b")
        left = begun.size if self._file is not None else 0
        while self._file is not None and left and (data := self._file.read(min(left, _READ))):
            self._hash.update(data)
            left -= len(data)
        if self._file is None or left or self.digest != begun.digest:
            if begun.complete and self._file is None:  # they may be in the media store already
                self.begun, self.size = begun, begun.size
            else:
                self.restart()
            return
        self._file.truncate(begun.size)
        self._file.seek(begun.size)
        self.begun, self.size = begun, begun.size

    def restart(self) -> None:
        self._close()
        with self._usable():
            self._facts.unlink(missing_ok=True)  # first: facts without bytes would be believed
            self._file = self.path.open("wb")
        self._hash = hashlib.sha256()
        self.begun, self.size = Begun(self.begun.url), 0

    def note(self, begun: Begun) -> None:
        """Save what the server declared, once bytes have arrived."""
        self.begun = begun

    def write(self, data: bytes) -> None:
        """Add bytes."""
        if self._file is None:
            self.restart()
        file: BinaryIO = self._file  # type: ignore[assignment]
        with self._usable():
            file.write(data)
        self._hash.update(data)
        self.size += len(data)
        late = time.monotonic() - self._noted > _SECONDS
        if late or self.size - self.begun.size >= _CHECKPOINT:
            self.checkpoint()

    def checkpoint(self, *, complete: bool = False) -> None:
        """Record how many bytes have been written."""
        begun = replace(self.begun, size=self.size, digest=self.digest, complete=complete)
        new = self._facts.with_suffix(".new")
        with self._usable():
            if self._file is not None:
                self._file.flush()
            new.write_text(json.dumps(asdict(begun)), encoding="utf-8")
            os.replace(new, self._facts)
        self.begun, self._noted = begun, time.monotonic()

    def leave_bytes(self) -> None:
        self._close()

    def close(self) -> None:
        try:
            if self._file is not None and self.size > self.begun.size:
                with suppress(StoreError, MediaError):  # no room: what was noted last stands
                    self.checkpoint()
        finally:
            self._close()
            self._release()

    def remove(self) -> None:
        self._close()
        for path in (self.path, self._facts):
            path.unlink(missing_ok=True)
        self._release()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise_if_fatal(error)
            if error.errno == EFBIG:  # of 4 GB on many a memory stick
                reason = "it is larger than a file may be on this disk"
                raise MediaError(reason, left_out=True) from error
            raise StoreError(
                f"{error.filename or self.path} cannot be written ({error.strerror}); name another"
                " folder with -s MMCRAWL_MEDIA=FOLDER"
            ) from error

    def _read_facts(self) -> Begun | None:
        try:
            begun = Begun(**json.loads(self._facts.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None
        return begun if begun.url == self.begun.url else None

    def _close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            with suppress(OSError):  # of bytes that could not be written
                file.close()

    def _release(self) -> None:
        if self._lock.is_locked:
            with suppress(PermissionError):  # Windows: an open file stays
                Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()
