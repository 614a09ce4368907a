"""A MongoDB database that is waited for while it is away.

Every operation can be repeated: it is until the server answers, or patience ends.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from pymongo import ASCENDING, ReplaceOne
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    CursorNotFound,
    DuplicateKeyError,
    OperationFailure,
    ProtocolError,
    PyMongoError,
)
from pymongo.monitoring import (
    CommandFailedEvent,
    CommandListener,
    CommandStartedEvent,
    CommandSucceededEvent,
)

from mmcrawl.errors import StoreError
from mmcrawl.stores.mongodb import Documents, Kind, change_all, connect, explained, insert_new

logger = logging.getLogger(__name__)

Row = dict[str, Any]

_MANY, _FEW = 500, 3
"""Documents asked for at once; the few where many are more than one answer may hold."""
_ANSWER = 120.0  # seconds; more than the longest operation takes
_PAUSES = (0.1, 2.0)  # seconds between two attempts: the first time, and at most
_AGAIN = frozenset({6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436})
"""Codes of a server that is about to stop, or is the primary no longer."""

_R = TypeVar("_R")


class _RoundTrips(CommandListener):
    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def started(self, event: CommandStartedEvent) -> None:
        with self._lock:
            self.count += 1

    def succeeded(self, event: CommandSucceededEvent) -> None:
        pass

    def failed(self, event: CommandFailedEvent) -> None:
        pass


class PatientServer:
    """A database of mmcrawl. Several threads may use it.

    Attributes:
        what: how messages call what is kept there.

    Args:
        kind: what is kept there.
        uri: ``mongodb://HOST/DATABASE``.
        create: whether it is set up if it is not there; otherwise nothing is written.
        patience: seconds for which an operation waits for a server that is away.

    Raises:
        StoreError: the server cannot be used; also by each operation, when it refuses, was away for
            too long, or this is closed.
    """

    def __init__(self, kind: Kind, uri: str, *, create: bool, patience: float) -> None:
        self._commands = _RoundTrips()
        self._server = connect(
            kind,
            uri,
            create=create,
            read_only=not create,
            listeners=[self._commands],
            answer=_ANSWER,
        )
        self.what = f"{kind.noun} {self._server.name}"
        self._patience = patience
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._away = False

    @property
    def uri_shown(self) -> str:
        """How messages call the store."""
        return self._server.name

    @property
    def round_trips(self) -> int:
        """How many commands were sent so far."""
        return self._commands.count

    def close(self) -> None:
        """End; operations of other threads that wait for the server fail."""
        self._closed.set()
        # The driver ends no operation that waits for an answer, except where it found a server gone
        # itself; what it does then cannot be asked for otherwise.
        with suppress(AttributeError):
            for server in self._server.client._topology._servers.values():
                server.pool.reset(interrupt_connections=True)
        self._server.client.close()

    def table(self, name: str) -> Documents:
        """Return a collection, for attempts of :meth:`patiently`."""
        return self._server.documents(name)

    # -- patience -----------------------------------------------------------------------------

    def patiently(self, attempt: Callable[[], _R]) -> _R:
        """Return what an attempt returns; where the server is away, try again.

        Raises:
            StoreError: the server refuses, was away for too long, or the shared store is closed.
        """
        end = time.monotonic() + self._patience
        pause, longest = _PAUSES
        while True:
            try:
                result = attempt()
            except PyMongoError as error:
                self._check_open()
                if not _passes(error) or time.monotonic() >= end:
                    with explained(self.what):
                        raise
                self._note_away(error)
            else:
                self._note_back()
                return result
            self._closed.wait(min(pause, max(0.0, end - time.monotonic())))
            self._check_open()
            pause = min(2 * pause, longest)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise StoreError(f"{self.what} is closed; open it again")

    def _note_away(self, error: PyMongoError) -> None:
        with self._lock:
            first, self._away = not self._away, True
        if first:
            logger.warning(
                "%s cannot be reached; waiting for it, %g seconds at most (%s)",
                self.what,
                self._patience,
                str(error).split(",")[0][:200],
            )

    def _note_back(self) -> None:
        if not self._away:
            return
        with self._lock:
            back, self._away = self._away, False
        if back:
            logger.info("%s answers again", self.what)

    # -- reading and writing ------------------------------------------------------------------

    def rows(
        self,
        table: str,
        condition: Callable[[Row | None], Row],
        order: Mapping[str, int] | None = None,
    ) -> Iterator[Row]:
        """Yield documents in an order; goes on behind the last one when the connection was lost.

        Args:
            table: the collection.
            condition: returns the condition for what comes after a document; None for all.
            order: fields and directions, such that no two documents are equal; by ``_id`` if None.
        """
        last: Row | None = None
        many = _MANY

        def asked() -> Iterator[Row]:
            found = self.table(table).find(condition(last))
            return found.sort(list((order or {"_id": ASCENDING}).items())).batch_size(many)

        rows: Iterator[Row] | None = None

        def following() -> Row | None:
            nonlocal rows, many
            try:
                rows = rows or asked()
                return next(rows, None)
            except ProtocolError:
                if many == _FEW:
                    raise
                rows, many = None, _FEW
                return following()
            except PyMongoError:
                rows = None
                raise

        while (row := self.patiently(following)) is not None:
            last = row
            yield row

    def put(self, table: str, key: str, fields: Row) -> None:
        """Write a document in place of the one of its key."""
        documents, wanted = self.table(table), {"_id": key}

        def attempt() -> None:
            try:
                documents.replace_one(wanted, {**wanted, **fields}, upsert=True)
            except DuplicateKeyError:  # others wrote it just now
                documents.replace_one(wanted, {**wanted, **fields})

        self.patiently(attempt)

    def insert_new(self, table: str, rows: Sequence[Row]) -> list[Row]:
        """Insert documents at once; return those whose key is taken."""

        def attempt() -> list[Row]:
            return [rows[index] for index in sorted(insert_new(self.table(table), rows))]

        return self.patiently(attempt) if rows else []

    def change_all(self, table: str, changes: Sequence[ReplaceOne[Row]]) -> None:
        """Replace documents, in any order."""
        self.patiently(lambda: change_all(self.table(table), changes))

    def delete_all(self, table: str, condition: Row) -> None:
        """Remove the documents of a condition."""
        self.patiently(lambda: self.table(table).delete_many(condition))


def _passes(error: PyMongoError) -> bool:
    """Return whether it may go well the next time."""
    if isinstance(error, AutoReconnect | ConnectionFailure | CursorNotFound):
        return True
    codes = {error.code} if isinstance(error, OperationFailure) else set()
    if isinstance(error, BulkWriteError):
        parts = (error.details["writeErrors"], error.details["writeConcernErrors"])
        codes = {one["code"] for one in itertools.chain(*parts)}
    return bool(codes & _AGAIN)
