"""Who writes at the moment: documents by which processes wait for each other without transactions.

A lease is a document with a random name. To take one, a process writes its own first and looks at
those of the others then: of two processes, at least one sees the other. This asks nothing of a
server but that what was written is read.

====================  ========================  ====================
kind                  steps back for            waits for
====================  ========================  ====================
``write``             ``sole``
``seal STREAM``       ``sole``, the same
``sole``              ``sole``                  all others
====================  ========================  ====================

Who steps back removes its lease, waits, and begins again; who waits keeps it meanwhile. A lease to
write is kept for :data:`KEPT` seconds behind a change, so that the next one takes a look at those
of the others, and no more. A lease is renewed by a counter. Where that stood still for
:data:`DEAD_AFTER` seconds, the process is dead, and others remove its lease; clocks of machines are
not compared.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pymongo.errors import PyMongoError, ServerSelectionTimeoutError

from mmcrawl.archive.mongodb.server import explained
from mmcrawl.errors import StoreError
from mmcrawl.stores.mongodb import Documents

logger = logging.getLogger(__name__)

WRITE, SOLE = "write", "sole"
DEAD_AFTER = 30.0
KEPT = 0.5
_BEAT = 5.0
_POLL = (0.02, 0.2)  # seconds between two looks, by chance


def sealing(stream: int) -> str:
    """Return the kind of lease under which packs of a stream are replaced."""
    return f"seal {stream}"


class Leases:
    """The lease of this process, one at a time."""

    def __init__(self, documents: Documents, name: str) -> None:
        self._documents = documents
        self._name = name
        self._lease: str | None = None
        self._lock = threading.Lock()  # of whose the lease is: a change's, or the thread's
        self._idle_since: float | None = None  # that nobody needs the lease
        self._is_there = False  # when those of all were looked at last
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, kind: str) -> Iterator[None]:
        """Hold a lease; waits until others are through."""
        try:
            with explained(self._name):
                self._take(kind)
            yield
        finally:
            if kind == WRITE:
                self._idle_since = time.monotonic()
            else:
                self._release()

    def confirm(self) -> None:
        """See that nobody has taken the lease for a dead one's until now.

        The server is asked each time: no clock tells that a machine was suspended.

        Raises:
            StoreError: it is gone.
        """
        if self._lease is None or not self._renew(self._lease):
            raise StoreError(
                f"archive {self._name} was out of reach for too long in the middle of a change; try"
                " again"
            )

    def close(self) -> None:
        """End."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        self._release()

    # -- taking and giving back ---------------------------------------------------------------

    def _take(self, kind: str) -> None:
        seen: dict[str, tuple[int, float]] = {}
        told = False
        if self._has_kept_one():
            if kind == WRITE and not self._in_the_way(kind, seen) and self._is_there:
                return
            self._release()
        while True:
            self._write(kind)
            while others := self._in_the_way(kind, seen):
                if not told:
                    told = True
                    logger.info("Waiting for another process that writes to %s", self._name)
                if self._steps_back(kind, others):
                    self._release()
                    self._wait_for(kind, seen)
                    break
                _pause()
            else:
                return

    def _has_kept_one(self) -> bool:
        """Return whether the lease of the change before is there; the thread leaves it alone."""
        with self._lock:
            kept, self._idle_since = self._idle_since is not None, None
        return kept

    def _wait_for(self, kind: str, seen: dict[str, tuple[int, float]]) -> None:
        _pause()
        while self._steps_back(kind, self._in_the_way(kind, seen)):
            _pause()

    def _write(self, kind: str) -> None:
        lease = self._lease = secrets.token_hex(8)
        try:
            self._documents.insert_one({"_id": lease, "kind": kind, "beat": 0})
        except ServerSelectionTimeoutError:
            self._lease = None  # surely not written
            raise
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="archive-lease", daemon=True)
            self._thread.start()

    def _in_the_way(self, kind: str, seen: dict[str, tuple[int, float]]) -> set[str]:
        """Return the kinds of others' leases that are not let go on beside this one."""
        found: set[str] = set()
        now = time.monotonic()
        self._is_there = False
        for row in self._documents.find({}):
            other, beat = str(row["_id"]), int(row["beat"])
            if other == self._lease:
                self._is_there = True
                continue
            if seen.get(other, (None, 0.0))[0] != beat:
                seen[other] = (beat, now)
            elif now - seen[other][1] > DEAD_AFTER:
                logger.warning("A process that wrote to %s has died", self._name)
                self._documents.delete_one({"_id": other})
                continue
            if kind == SOLE or row["kind"] == SOLE or (row["kind"] == kind != WRITE):
                found.add(str(row["kind"]))
        return found

    def _steps_back(self, kind: str, others: set[str]) -> bool:
        return SOLE in others if kind == SOLE else bool(others)

    def _release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is None:
            return
        try:
            self._documents.delete_one({"_id": lease})
        except PyMongoError as error:
            # What was written is safe; others wait until the lease is taken for a dead one's.
            logger.warning("A lease of %s was not given back: %s", self._name, error)

    # -- renewing -----------------------------------------------------------------------------

    def _keep(self) -> None:
        beaten = time.monotonic()
        while not self._closed.wait(KEPT / 2):
            now = time.monotonic()
            with self._lock:
                is_over = self._idle_since is not None and now - self._idle_since >= KEPT
                if is_over:
                    self._idle_since = None
                    self._release()
            if (lease := self._lease) is None or now - beaten < _BEAT:
                continue
            beaten = now
            try:
                self._renew(lease)
            except StoreError as error:
                logger.warning("A lease of %s was not renewed: %s", self._name, error)

    def _renew(self, lease: str) -> bool:
        """Return whether the lease was still there."""
        with explained(self._name):
            done = self._documents.update_one({"_id": lease}, {"$inc": {"beat": 1}})
        return done.matched_count > 0


def _pause() -> None:
    time.sleep(random.uniform(*_POLL))  # noqa: S311 - so that two do not step in time
