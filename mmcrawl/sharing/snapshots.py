"""Snapshots of the coordinator's working copy, so that a successor need not read the whole log.

A snapshot is due when the log after the last one has grown to half of its size: all snapshots
together cost a fixed multiple of the log, and to take over never costs much more than reading the
crawl once.
"""

import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

from mmcrawl.errors import StoreError
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.sharing.store import SharedStore

logger = logging.getLogger(__name__)

_PAGES_A_STEP = 8_192  # of SQLite, 32 MB
_SMALLEST = 16 << 20  # bytes of log that no snapshot is made for


class Snapshots:
    """Makes snapshots beside the work of the coordinator.

    Args:
        shared: where they go.
        folder: for the copies they are made of.
    """

    def __init__(self, shared: SharedStore, folder: Path) -> None:
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
