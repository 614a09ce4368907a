"""Snapshots of the coordinator's working copy, compressed and cut into parts.

* ``part``: ``JOB/NUMBER/TOKEN/PART``; ``bytes``. The token is a random one of who saves.
* ``snapshot``: ``JOB/NUMBER``, the head, written when all parts are there; ``token``, ``parts``
  (how many), ``digest`` (BLAKE2b of the file), ``extra`` (JSON).

Number N means that the entries of the log before N are in it. The newest head is never removed.

A successor need not read the whole log then. A snapshot is due when the log after the last one has
grown to half of its size: all snapshots together cost a fixed multiple of the log, and to take over
never costs much more than reading the crawl once.
"""

from __future__ import annotations

import json
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from threading import Thread
from typing import IO, Any

import zstandard
from pymongo import DESCENDING
from pymongo.errors import DuplicateKeyError

from mmcrawl.errors import StoreError
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.sharing.log import Log
from mmcrawl.sharing.server import Row

logger = logging.getLogger(__name__)

_PART = 4 << 20
_READ = 1 << 20
_DIGEST = 32
_PAGES_A_STEP = 8_192  # of SQLite, 32 MB
_SMALLEST = 16 << 20  # bytes of log that no snapshot is made for


class StoredSnapshots(Log):
    """A shared store's snapshots, and the log that they shorten."""

    def save_snapshot(self, number: int, path: Path, extra: Mapping[str, Any]) -> None:
        """Keep a file as the snapshot with a number, and remove older ones.

        A snapshot of this number that stands there already stays.

        Args:
            number: of the first entry of the log that is not in it.
            path: the file, which nobody changes meanwhile.
            extra: plain data kept with it.

        Raises:
            StoreError: the server refuses or is away for too long, or the file cannot be read.
        """
        token = secrets.token_hex(8)
        try:
            with path.open("rb") as file:
                digest, parts = self._save_parts(f"{number:016d}/{token}", file)
        except OSError as error:
            raise StoreError(f"snapshot {path} cannot be read: {error.strerror}") from error
        head = {
            "_id": self._number_key(number),
            "token": token,
            "parts": parts,
            "digest": digest,
            "extra": json.dumps(extra),
        }
        if not self._patiently(lambda: self._save_head(head)):
            self._remove_parts(f"{number:016d}/{token}/", f"{number:016d}/{token}0")
        self._delete_all("snapshot", {"_id": {"$gt": self._key(""), "$lt": head["_id"]}})
        self._remove_parts("", f"{number:016d}")

    def _save_parts(self, name: str, file: IO[bytes]) -> tuple[bytes, int]:
        """Write the parts; return the digest of the file, and how many they are."""
        digest = blake2b(digest_size=_DIGEST)
        parts = 0
        for part in _compressed(file, digest.update):
            row = {"_id": self._key(f"{name}/{parts:06d}"), "bytes": part}
            self._insert_new("part", [row])  # taken only by itself, sent before
            parts += 1
        return digest.digest(), parts

    def _save_head(self, head: Row) -> bool:
        try:
            self._table("snapshot").insert_one(head)
        except DuplicateKeyError:
            return self._table("snapshot").find_one({"_id": head["_id"]}) == head
        return True

    def _remove_parts(self, first: str, end: str) -> None:
        self._delete_all("part", {"_id": {"$gt": self._key(first), "$lt": self._key(end)}})

    def load_snapshot(self, path: Path) -> tuple[int, dict[str, Any]] | None:
        """Write the newest snapshot into a new file; return its number and data.

        Returns:
            None if there is no snapshot.

        Raises:
            StoreError: the server refuses or is away for too long, the file cannot be written, or
                the snapshot is damaged.
        """
        failed: Row | None = None
        while (head := self._head()) is not None:
            number = int(self._named(head["_id"]))
            if self._load(head, path):
                return number, json.loads(head["extra"])
            if head == failed:
                raise StoreError(
                    f"snapshot {number} of {self._what} is damaged; restore the database from a"
                    " copy, or name another job"
                )
            failed = head  # it was replaced meanwhile, or is damaged
        return None

    def _head(self) -> Row | None:
        heads = self._table("snapshot")
        order = [("_id", DESCENDING)]
        return self._patiently(lambda: heads.find_one(self._all(), sort=order))

    def _load(self, head: Row, path: Path) -> bool:
        """Write a snapshot into a file, which stays only if it is whole; return whether it is."""
        whole = False
        try:
            with path.open("xb") as file:
                try:
                    whole = self._load_parts(head, file) == bytes(head["digest"])
                finally:
                    if not whole:
                        path.unlink()
        except OSError as error:
            raise StoreError(f"snapshot {path} cannot be written: {error.strerror}") from error
        return whole

    def _load_parts(self, head: Row, file: IO[bytes]) -> bytes | None:
        """Return the digest of what was written; None where a part is missing or broken."""
        digest = blake2b(digest_size=_DIGEST)
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        for number in range(head["parts"]):
            row = self._one("part", f"{head['_id']}/{head['token']}/{number:06d}")
            if row is None:
                return None
            try:
                content = decompressor.decompress(row["bytes"])
            except zstandard.ZstdError:
                return None
            digest.update(content)
            file.write(content)
        return digest.digest()


def _compressed(file: IO[bytes], seen: Any) -> Iterator[bytes]:
    """Yield parts of a file's compressed bytes; `seen` is called with what was read."""
    compressor = zstandard.ZstdCompressor().compressobj()
    pending = bytearray()
    while content := file.read(_READ):
        seen(content)
        pending += compressor.compress(content)
        while len(pending) >= _PART:
            yield bytes(pending[:_PART])
            del pending[:_PART]
    pending += compressor.flush()
    yield bytes(pending)


class Snapshots:
    """Makes snapshots beside the work of the coordinator.

    Args:
        shared: where they go.
        folder: for the copies they are made of.
    """

    def __init__(self, shared: StoredSnapshots, folder: Path) -> None:
        self._shared = shared
        self._folder = folder
        self._grown = 0
        self._due_at = _SMALLEST
        self._thread: Thread | None = None

    def log_grew(self, size: int) -> None:
        """Note that an entry of so many bytes was added to the log."""
        self._grown += size

    @property
    def is_due(self) -> bool:
        """Whether it is time for the next snapshot, and the last one is done."""
        under_way = self._thread is not None and self._thread.is_alive()
        return self._grown > self._due_at and not under_way

    def make(
        self,
        store: SqliteStore,
        number: int,
        state: dict[str, Any],
        meanwhile: Callable[[], object],
    ) -> None:
        """Copy the working copy, which stands before entry `number`, to the shared store.

        Only the copying is waited for; `meanwhile` is called again and again as it goes on.
        """
        self.wait(meanwhile)
        path = self._folder / f"snapshot-{number}.db"
        with closing(sqlite3.connect(path)) as copy:
            store.db.backup(copy, pages=_PAGES_A_STEP, progress=lambda *_: meanwhile())
        self._due_at = max(_SMALLEST, path.stat().st_size // 2)
        self._grown = 0
        self._thread = Thread(
            target=self._keep, args=(path, number, state), name="mmcrawl-snapshot", daemon=True
        )
        self._thread.start()

    def wait(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait for the snapshot that is being kept; call `meanwhile` again and again."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.5)
            meanwhile()

    def _keep(self, path: Path, number: int, state: dict[str, Any]) -> None:
        try:
            self._shared.save_snapshot(number, path, state)
            self._shared.trim(number)
        except StoreError as error:
            logger.warning("No snapshot of the crawl could be kept: %s", error)
        finally:
            path.unlink(missing_ok=True)
