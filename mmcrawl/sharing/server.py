"""The connection of a shared store: patient with a server that is away, the keys of its documents.

Every document of a job has an ``_id`` that begins with the job's name, percent-encoded, and ``/``.
Numbers in keys are as wide as the greatest, so that the order of keys is that of the numbers.

What a server that indexes no reading does at what cost decides how documents are laid out (see
:mod:`mmcrawl.stores.ferretdb`): an insert costs what the document costs.
"""

from __future__ import annotations

import itertools
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
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
from mmcrawl.stores.mongodb import Documents, Kind, connect, explained, insert_new

logger = logging.getLogger(__name__)

Row = dict[str, Any]

SCHEMA_VERSION = 4
STORE = Kind(
    noun="store",
    application="mmcrawl crawl",
    version=SCHEMA_VERSION,
    prefix="crawl_",
    tables=("job", "log", "inbox", "mail", "worker", "note", "snapshot", "part", "media", "aside"),
    missing="start a crawl with it first, or name another database",
    indexes={"media": (({"job": 1, "score": -1, "url": 1}, False),)},
    compressed=frozenset({"part"}),
)

_MOST_BYTES = 12 << 20  # a document may have 16 MB
_MANY, _FEW = 500, 3
"""Documents asked for at once; the few where many are more than one answer may hold."""
_MOST_ASIDE = 1 << 20  # characters of a document that is set aside
_ANSWER = 120.0  # seconds; more than the longest operation takes
_PAUSES = (0.1, 2.0)  # seconds between two attempts: the first time, and at most
_AGAIN = frozenset({6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436})
"""Codes of a server that is about to stop, or is the primary no longer."""

_FACTS: dict[str, dict[str, type]] = {
    "worker": {"sign": int, "capacity": int},
    "leader": {"term": int},
    "status": {"totals": dict, "workers": dict},
}
"""What documents in ``facts`` tell at least."""

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


class StoreServer:
    """The database of a job's shared store. Several threads may use it.

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

    def _table(self, name: str) -> Documents:
        return self._server.documents(name)

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    def _number_key(self, number: int) -> str:
        return self._key(f"{number:016d}")

    def _named(self, key: str) -> str:
        """Return what a key names in the job."""
        return key.partition("/")[2]

    def _all(self) -> Row:
        """Return the condition for the documents of the job."""
        return {"_id": {"$gt": f"{self._prefix}/", "$lt": f"{self._prefix}0"}}  # 0 is after /

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

    def _one(self, table: str, key: str) -> Row | None:
        return self._patiently(lambda: self._table(table).find_one({"_id": key}))

    def set_aside(self, table: str, name: str, why: str) -> None:
        """Take a document that cannot be read out of the way, and keep it for people to look at.

        It goes to the collection ``aside``, as text. Three round trips.

        Args:
            table: where it is.
            name: what its key names in the job.
            why: it cannot be read.
        """
        key, place = self._key(name), self._key(f"{table}/{name}")
        row = self._one(table, key)
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

    def _change_all(self, table: str, changes: Sequence[ReplaceOne[Row]]) -> int:
        """Replace documents, in any order; return how many there were to be replaced."""
        matched = 0
        for start in range(0, len(changes), CHANGED_AT_ONCE):
            some = list(changes[start : start + CHANGED_AT_ONCE])

            def attempt(some: list[ReplaceOne[Row]] = some) -> BulkWriteResult:
                return self._table(table).bulk_write(some, ordered=False)

            matched += self._patiently(attempt).matched_count
        return matched

    def _delete_all(self, table: str, condition: Row) -> None:
        self._patiently(lambda: self._table(table).delete_many(condition))

    def _refuse_long(self, size: int, what: str) -> None:
        if size > _MOST_BYTES:
            raise StoreError(
                f"{what} of {size / 1e6:.1f} MB is too large for {self._what}, where one may have"
                f" {_MOST_BYTES / 1e6:.1f} MB"
            )


def bytes_of(row: Row) -> bytes:
    """Return what a document holds under ``bytes``; nothing where these are missing."""
    value = row.get("bytes")
    return value if isinstance(value, bytes) else b""


def facts_of(kind: str, row: Row) -> dict[str, Any]:
    """Return what a document tells.

    Args:
        kind: ``worker``, ``leader`` or ``status``.
        row: the document.

    Raises:
        ValueError: it does not tell what one of its kind does.
    """
    try:
        facts: dict[str, Any] = json.loads(row["facts"])
        wrong = [name for name, type_ in _FACTS[kind].items() if type(facts[name]) is not type_]
    except (LookupError, TypeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    if wrong:
        raise ValueError(f"{wrong[0]} is {facts[wrong[0]]!r}"[:200])
    return facts


def _passes(error: PyMongoError) -> bool:
    """Return whether it may go well the next time."""
    if isinstance(error, AutoReconnect | ConnectionFailure | CursorNotFound):
        return True
    codes = {error.code} if isinstance(error, OperationFailure) else set()
    if isinstance(error, BulkWriteError):
        parts = (error.details["writeErrors"], error.details["writeConcernErrors"])
        codes = {one["code"] for one in itertools.chain(*parts)}
    return bool(codes & _AGAIN)
