"""The database of a shared crawl: patient with a server that is away, the keys of its documents.

Every document of a job has an ``_id`` that begins with the job's name, percent-encoded, and ``/``.
Those of a part have a field ``at`` besides, by which they are found: job and part. Numbers in keys
are as wide as the greatest, so that the order of keys is that of the numbers.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from bson import json_util
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
from pymongo.results import BulkWriteResult

from mmcrawl.errors import StoreError
from mmcrawl.stores.ferretdb import CHANGED_AT_ONCE
from mmcrawl.stores.mongodb import Documents as Collection_
from mmcrawl.stores.mongodb import Kind, connect, explained, insert_new

logger = logging.getLogger(__name__)

Row = dict[str, Any]

SCHEMA_VERSION = 5
STORE = Kind(
    noun="store",
    application="mmcrawl crawl",
    version=SCHEMA_VERSION,
    prefix="crawl_",
    tables=(
        "job", "log", "snapshot", "chunk", "mail", "worker", "note", "budget", "media", "aside",
    ),
    missing="start a crawl with it first, or name another database",
    indexes={
        "media": (({"job": 1, "score": -1, "url": 1}, False),),
        **{table: (({"at": 1, "_id": 1}, False),) for table in ("log", "snapshot", "mail")},
    },
    compressed=frozenset({"chunk", "log"}),
)  # fmt: skip

_MOST_BYTES = 12 << 20  # of a command; a document may have 16 MB
_AROUND = 4_096  # what documents without ``bytes`` take, more or less
_MANY, _FEW = 500, 3
"""Documents asked for at once; the few where many are more than one answer may hold."""
_MOST_ASIDE = 1 << 20  # characters of a document that is set aside
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


class Documents(Protocol):
    """The documents of a job, by table and key. Operations can be repeated."""

    def key(self, name: str) -> str:
        """Return the `_id` of what has a name in the job."""

    def one(self, table: str, name: str) -> Row | None:
        """Return the document of a name, if there is one."""

    def all(self, table: str) -> list[Row]:
        """Return the documents of the job, in the order of their keys."""

    def at(self, table: str, parts: Collection[int]) -> list[Row]:
        """Return the documents of some parts, in the order of their keys.

        Args:
            table: where they are.
            parts: numbers of parts.
        """

    def insert(self, table: str, rows: Sequence[Row]) -> set[str]:
        """Insert documents, in any order; return the `_id`s of those whose key was taken."""

    def put(self, table: str, name: str, fields: Row) -> None:
        """Write a document in place of the one of a name; nobody else writes that."""

    def delete(self, table: str, names: Collection[str]) -> None:
        """Remove documents."""

    def delete_between(self, table: str, first: str, end: str, *, but: Row | None = None) -> None:
        """Remove the documents whose names are not before `first`, and before `end`.

        Args:
            table: where they are.
            first, end: names.
            but: a field and its value: documents that have it stay.
        """

    def publish(self, rows: Sequence[Row]) -> None:
        """Write documents of media pages in place of those of their keys."""


class StoreServer:
    """The database of a job's shared store, as `Documents`. Several threads may use it.

    Args:
        uri: ``mongodb://HOST/DATABASE``.
        job: name of the job.
        create: whether the store is set up if it is not there; otherwise nothing is written.
        patience: seconds for which an operation waits for a server that is away.
    """

    def __init__(self, uri: str, job: str, *, create: bool, patience: float) -> None:
        self._commands = _RoundTrips()
        self._server = connect(
            STORE,
            uri,
            create=create,
            read_only=not create,
            listeners=[self._commands],
            answer=_ANSWER,
        )
        self._what = f"store {self._server.name}"
        self._prefix = quote(job, safe="")
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

    # -- keys ---------------------------------------------------------------------------------

    def _table(self, name: str) -> Collection_:
        return self._server.documents(name)

    def key(self, name: str) -> str:
        """Return the `_id` of what has a name in the job."""
        return f"{self._prefix}/{name}"

    def _after(self, last: Row | None) -> Row:
        """Return the condition for documents of the job that come after one, None for all."""
        first = f"{self._prefix}/" if last is None else last["_id"]
        return {"_id": {"$gt": first, "$lt": f"{self._prefix}0"}}  # 0 is after /

    # -- patience -----------------------------------------------------------------------------

    def _patiently(self, attempt: Callable[[], _R]) -> _R:
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
                    with explained(self._what):
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
            raise StoreError(f"{self._what} is closed; open it again")

    def _note_away(self, error: PyMongoError) -> None:
        with self._lock:
            first, self._away = not self._away, True
        if first:
            logger.warning(
                "%s cannot be reached; waiting for it, %g seconds at most (%s)",
                self._what,
                self._patience,
                str(error).split(",")[0][:200],
            )

    def _note_back(self) -> None:
        if not self._away:
            return
        with self._lock:
            back, self._away = self._away, False
        if back:
            logger.info("%s answers again", self._what)

    # -- reading and writing ------------------------------------------------------------------

    def one(self, table: str, name: str) -> Row | None:
        """Return the document of a name, if there is one. One round trip."""
        return self._patiently(lambda: self._table(table).find_one({"_id": self.key(name)}))

    def all(self, table: str) -> list[Row]:
        """Return the documents of the job, in the order of their keys."""
        return list(self._rows(table, self._after))

    def at(self, table: str, parts: Collection[int]) -> list[Row]:
        """Return the documents of some parts, in the order of their keys."""
        places = {"$in": [place(self._prefix, part) for part in sorted(parts)]}

        def after(last: Row | None) -> Row:
            return {"at": places} if last is None else {"at": places, "_id": {"$gt": last["_id"]}}

        return list(self._rows(table, after)) if parts else []

    def insert(self, table: str, rows: Sequence[Row]) -> set[str]:
        """Insert documents, in any order; return the `_id`s of those whose key was taken."""
        taken: set[str] = set()
        for some in _bulks(rows):
            taken.update(row["_id"] for row in self._insert_new(table, some))
        return taken

    def put(self, table: str, name: str, fields: Row) -> None:
        """Write a document in place of the one of a name. One round trip."""
        self._put(table, self.key(name), fields)

    def delete(self, table: str, names: Collection[str]) -> None:
        """Remove documents. One round trip."""
        if names:
            self._delete_all(table, {"_id": {"$in": [self.key(name) for name in names]}})

    def delete_between(self, table: str, first: str, end: str, *, but: Row | None = None) -> None:
        """Remove the documents whose names are not before `first`, and before `end`."""
        others = {name: {"$ne": value} for name, value in (but or {}).items()}
        between = {"$gte": self.key(first), "$lt": self.key(end)}
        self._delete_all(table, {"_id": between, **others})

    def publish(self, rows: Sequence[Row]) -> None:
        """Write documents of media pages in place of those of their keys.

        One round trip for new ones, one more for each `CHANGED_AT_ONCE` others.
        """
        known = self.insert("media", rows)
        changes = [ReplaceOne({"_id": row["_id"]}, row) for row in rows if row["_id"] in known]
        self._change_all("media", changes)

    def set_aside(self, table: str, name: str, why: str) -> None:
        """Take a document that cannot be read out of the way, and keep it for people to look at.

        It goes to the collection ``aside``, as text. Three round trips.

        Args:
            table: where it is.
            name: what its key names in the job.
            why: it cannot be read.
        """
        key, place = self.key(name), self.key(f"{table}/{name}")
        row = self.one(table, name)
        logger.error(
            "Document %s of %s%s cannot be read (%s); it is set aside in %saside as %s",
            *(key, STORE.prefix, table, why, STORE.prefix, place),
        )
        self._put("aside", place, {"why": why, "document": json_util.dumps(row)[:_MOST_ASIDE]})
        self._delete_all(table, {"_id": key})

    def _rows(
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
            found = self._table(table).find(condition(last))
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
                rows = asked()
                return next(rows, None)
            except PyMongoError:
                rows = None
                raise

        while (row := self._patiently(following)) is not None:
            last = row
            yield row

    def _put(self, table: str, key: str, fields: Row) -> None:
        """Write a document in place of the one of its key."""
        documents, wanted = self._table(table), {"_id": key}

        def attempt() -> None:
            try:
                documents.replace_one(wanted, {**wanted, **fields}, upsert=True)
            except DuplicateKeyError:  # others wrote it just now
                documents.replace_one(wanted, {**wanted, **fields})

        self._patiently(attempt)

    def _insert_new(self, table: str, rows: Sequence[Row]) -> list[Row]:
        """Insert documents at once; return those whose key is taken."""

        def attempt() -> list[Row]:
            return [rows[index] for index in sorted(insert_new(self._table(table), rows))]

        return self._patiently(attempt) if rows else []

    def _change_all(self, table: str, changes: Sequence[ReplaceOne[Row]]) -> None:
        """Replace documents, in any order."""
        for start in range(0, len(changes), CHANGED_AT_ONCE):
            some = list(changes[start : start + CHANGED_AT_ONCE])

            def attempt(some: list[ReplaceOne[Row]] = some) -> BulkWriteResult:
                return self._table(table).bulk_write(some, ordered=False)

            self._patiently(attempt)

    def _delete_all(self, table: str, condition: Row) -> None:
        self._patiently(lambda: self._table(table).delete_many(condition))


def place(prefix: str, part: int) -> str:
    """Return what the documents of a part have in the field ``at``."""
    return f"{prefix}/{part:04d}"


def bytes_of(row: Row) -> bytes:
    """Return what a document holds under ``bytes``; nothing where these are missing."""
    value = row.get("bytes")
    return value if isinstance(value, bytes) else b""


def _bulks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield rows in portions that a command may hold."""
    first, size = 0, 0
    for index, row in enumerate(rows):
        more = len(bytes_of(row)) + _AROUND
        if index > first and (size + more > _MOST_BYTES or index - first == _MANY):
            yield rows[first:index]
            first, size = index, 0
        size += more
    if rows:
        yield rows[first:]


def _passes(error: PyMongoError) -> bool:
    """Return whether it may go well the next time."""
    if isinstance(error, AutoReconnect | ConnectionFailure | CursorNotFound):
        return True
    codes = {error.code} if isinstance(error, OperationFailure) else set()
    if isinstance(error, BulkWriteError):
        parts = (error.details["writeErrors"], error.details["writeConcernErrors"])
        codes = {one["code"] for one in itertools.chain(*parts)}
    return bool(codes & _AGAIN)
