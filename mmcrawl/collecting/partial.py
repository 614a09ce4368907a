"""Files on their way: bytes that have come so far, in a folder, and what is known of them.

``partial/NAME`` has the bytes, ``partial/NAME.json`` what the server said and a checkpoint: so many
bytes have this digest. A download that is taken up again begins at the checkpoint, if the bytes on
the disk have its digest: what a crash left behind it is dropped, what it damaged is found out.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from errno import EFBIG
from pathlib import Path
from typing import BinaryIO

from filelock import FileLock, Timeout

from mmcrawl.errors import MediaError, StoreError, raise_if_fatal

_CHECKPOINT = 8 << 20
_SECONDS = 2.0  # between two checkpoints of what comes slowly
_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Begun:
    """What is known of a file on its way.

    Attributes:
        url: of the record it belongs to.
        size: bytes and `digest` at the checkpoint; those of all when it is `complete`.
        complete: whether all bytes have come, and were found good.
        length: bytes it has in all, None if the server did not say.
        etag, last_modified, content_type: as the server sent them; the last one as it was judged,
            once it was.
        final_url: where redirects led to, "" if nowhere else.
    """

    url: str
    size: int = 0
    digest: str = ""
    complete: bool = False
    length: int | None = None
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    final_url: str = ""

    @property
    def validator(self) -> str:
        """What tells in If-Range that a file is still the same; "" where nothing does.

        A weak ETag does not, and a date only where no ETag was sent.
        """
        if self.etag:
            return "" if self.etag.startswith("W/") else self.etag
        return self.last_modified


def digest_of(url: str) -> str:
    """Return the name of what belongs to an address, in a folder of files on their way."""
    return hashlib.sha256(url.encode(errors="surrogatepass")).hexdigest()[:32]


class PartialFile:
    """A file on its way. Not to be shared by threads; one process at a time may have it open.

    Args:
        folder: where it is.
        url: of its record.

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
        """Bytes that are free on the disk."""
        return shutil.disk_usage(self.path.parent).free

    def resume(self) -> None:
        """Find out what is there; takes as long as reading it. What is damaged is dropped."""
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
        """Drop what is there."""
        self._close()
        with self._usable():
            self._facts.unlink(missing_ok=True)  # first: facts without bytes would be believed
            self._file = self.path.open("wb")
        self._hash = hashlib.sha256()
        self.begun, self.size = Begun(self.begun.url), 0

    def note(self, begun: Begun) -> None:
        """Keep what the server said, once bytes have come."""
        self.begun = begun

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            StoreError: the disk takes none.
            MediaError: it takes none of this file, which is too large.
        """
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
        """Note how far it has come.

        Raises:
            StoreError: the disk takes no more.
        """
        begun = replace(self.begun, size=self.size, digest=self.digest, complete=complete)
        new = self._facts.with_suffix(".new")
        with self._usable():
            if self._file is not None:
                self._file.flush()
            new.write_text(json.dumps(asdict(begun)), encoding="utf-8")
            os.replace(new, self._facts)
        self.begun, self._noted = begun, time.monotonic()

    def leave_bytes(self) -> None:
        """Close the file with the bytes, which others may take away."""
        self._close()

    def close(self) -> None:
        """Leave it for another time."""
        try:
            if self._file is not None and self.size > self.begun.size:
                with suppress(StoreError, MediaError):  # no room: what was noted last stands
                    self.checkpoint()
        finally:
            self._close()
            self._release()

    def remove(self) -> None:
        """Forget it."""
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
