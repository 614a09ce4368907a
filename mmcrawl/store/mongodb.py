"""Documents in a MongoDB database: connecting, setting up, and explaining why one cannot be used.

Every write is acknowledged by a majority, from the journal (``w: majority, j: true``); every read
asks the primary. A server that refuses journaled or retryable writes is used without them.

:class:`~mmcrawl.store.documents.Contents` describes what a database holds: an archive, or the store
of a crawl. Each has its own prefix for collections, so that several can share one database. The
collection ``about`` describes the others; it is written last, when everything else is set up.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from pymongo import (
    ASCENDING,
    DESCENDING,
    MongoClient,
    ReplaceOne,
    UpdateMany,
    UpdateOne,
    WriteConcern,
)
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    CollectionInvalid,
    ConnectionFailure,
    CursorNotFound,
    DuplicateKeyError,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)
from pymongo.read_preferences import ReadPreference
from pymongo.uri_parser import parse_uri

from mmcrawl.errors import MissingStoreError, StoreError, UnreachableError
from mmcrawl.store.documents import KEY, Change, Condition, Contents, Document

logger = logging.getLogger(__name__)

Documents = MongoCollection[dict[str, Any]]
MongoChange = UpdateOne | UpdateMany | ReplaceOne[dict[str, Any]]

AT_ONCE = 500
"""Documents that are read or written by one command."""

_SELECTION = 5_000  # ms until a server that does not answer is given up; the URI may say otherwise
_AUTHENTICATION_FAILED, _UNAUTHORIZED, _BAD_VALUE, _ILLEGAL = 18, 13, 2, 20
_PASSING = frozenset({6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436})
"""Codes of a server that is about to stop, or is the primary no longer."""
_NAMESPACE_EXISTS, _OUT_OF_DISK, _DUPLICATE = 48, 14031, 11000

_OPERATORS = {
    "=": "$eq",
    "<": "$lt",
    "<=": "$lte",
    ">": "$gt",
    ">=": "$gte",
    "in": "$in",
    "not in": "$nin",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A connection."""

    name: str  # the URI without user, password and options
    client: MongoClient[dict[str, Any]]  # its connections; safe to be used by several threads
    database: Database[dict[str, Any]]  # with its write concern and read preference
    prefix: str  # what the names of the collections begin with

    def documents(self, table: str) -> Documents:
        """Return a collection."""
        return self.database[self.prefix + table]


def connect(contents: Contents, uri: str, *, create: bool, read_only: bool) -> Server:
    """Connect, and create indexes if requested.

    Args:
        uri: ``mongodb://HOST/DATABASE``, also with user, password and options.
        read_only: Whether nothing will be written, for which the role read is enough.

    Raises:
        StoreError: it cannot be reached, is missing, or is none that this version can use.
    """
    # Scrapy lets every logger through and leaves it to handlers what is shown: without a level of
    # its own the driver makes two records of each command that nobody sees.
    logging.getLogger("pymongo").setLevel(logging.INFO)
    connection = _parsed(contents, uri)
    server = connection.open()
    try:
        with explained(f"{contents.noun} {server.name}"):
            about = server.documents("about").find_one({"_id": "schema"})
            if not read_only and (create or about is not None):
                server = _writable(connection, server)
            if about is None:
                about = _created(contents, server, create and not read_only)
        _check(contents, server.name, about)
    except BaseException:
        server.client.close()
        raise
    return server


@dataclass(frozen=True, slots=True)
class _Connection:
    contents: Contents
    uri: str
    name: str
    database: str
    options: Mapping[str, Any]

    def open(self, *, retried: bool = True, journal: bool = True) -> Server:
        """Connect; without retryable or journaled writes, if requested."""
        concern = WriteConcern(w="majority", j=True) if journal else WriteConcern(w="majority")
        options = dict(self.options) if retried else {**self.options, "retryWrites": False}
        try:
            client: MongoClient[dict[str, Any]] = MongoClient(
                self.uri, appname="mmcrawl", **options
            )
        except (PyMongoError, ValueError):
            raise StoreError(_bad_uri(self.contents)) from None
        database = client.get_database(
            self.database, read_preference=ReadPreference.PRIMARY, write_concern=concern
        )
        return Server(self.name, client, database, self.contents.prefix)


def _parsed(contents: Contents, uri: str) -> _Connection:
    try:
        # What the driver says of a URI may quote a part of a password.
        parsed = parse_uri(uri, warn=True)
    except (PyMongoError, ValueError):
        raise StoreError(_bad_uri(contents)) from None
    scheme, _, rest = uri.partition("://")
    # What stands before the last @ may be of a password, however badly that is written.
    name = f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    if not parsed["database"]:
        raise StoreError(f"{name} names no database; write mongodb://HOST/DATABASE")
    if parsed["collection"]:
        raise StoreError(f"{name} has a dot in the name of the database; name another")
    given = {key.lower() for key in parsed["options"]}
    options: dict[str, Any] = {}
    if not given & {"serverselectiontimeoutms", "timeoutms"}:
        options["serverSelectionTimeoutMS"] = _SELECTION
    if contents.answer is not None and not given & {"sockettimeoutms", "timeoutms"}:
        options["socketTimeoutMS"] = round(contents.answer * 1_000)
    return _Connection(contents, uri, name, parsed["database"], options)


def _bad_uri(contents: Contents) -> str:
    return (
        f"the URI of the {contents.noun} is not understood, or the name of its host is not known;"
        " write mongodb://USER:PASSWORD@HOST/DATABASE, with user name and password percent-encoded"
    )


def _writable(connection: _Connection, server: Server) -> Server:
    """Return a connection through which the server accepts writes, tested by one without effect."""
    retried = journal = True
    for _ in range(3):
        try:
            server.documents("about").delete_one({"_id": ""})
        except OperationFailure as error:
            if error.code == _ILLEGAL and retried:
                retried = False
            elif error.code == _BAD_VALUE and "journal" in str(error) and journal:
                logger.warning(
                    "%s keeps no journal: what is stored there may be lost in a power cut",
                    server.name,
                )
                journal = False
            else:
                raise
            server.client.close()
            server = connection.open(retried=retried, journal=journal)
        else:
            break
    return server


def _created(contents: Contents, server: Server, may_create: bool) -> dict[str, Any]:
    ours = {contents.prefix + name for name in (*(one.name for one in contents.tables), "about")}
    names = server.database.list_collection_names()
    about = server.documents("about").find_one({"_id": "schema"})
    if about is not None:
        return about
    if not may_create:
        raise MissingStoreError(f"there is no {contents.noun} {server.name}; {contents.missing}")
    if any(name.startswith(contents.prefix) and name not in ours for name in names):
        return {}
    for table in contents.tables:
        _create_collection(server, table.name, compressed=table.name in contents.packed)
        for order in table.orders:
            sparse = not {*order}.isdisjoint(table.optional)
            server.documents(table.name).create_index([*order], sparse=sparse)
    # Another process may set it up at the same time: it does the same, or has a newer version.
    with suppress(DuplicateKeyError):
        server.documents("about").insert_one(
            {
                "_id": "schema",
                "application": _application(contents),
                "version": contents.version,
            }
        )
    return server.documents("about").find_one({"_id": "schema"}) or {}


def _create_collection(server: Server, table: str, *, compressed: bool) -> None:
    plain: dict[str, Any] = {}
    engine = {"storageEngine": {"wiredTiger": {"configString": "block_compressor=none"}}}
    for options in (engine, plain) if compressed else (plain,):
        try:
            server.database.create_collection(server.prefix + table, check_exists=False, **options)
        except CollectionInvalid:
            return
        except OperationFailure as error:
            if error.code == _NAMESPACE_EXISTS:
                return
            if options is plain or error.code in (_UNAUTHORIZED, _AUTHENTICATION_FAILED):
                raise
        else:
            return


def _application(contents: Contents) -> str:
    """Return what the document in ``about`` calls what is kept."""
    return f"mmcrawl {contents.noun}"


def _check(contents: Contents, name: str, about: Mapping[str, Any]) -> None:
    noun, version = contents.noun, about.get("version")
    if about.get("application") != _application(contents) or not isinstance(version, int):
        article = "an" if noun[0] in "aeiou" else "a"
        raise StoreError(f"{name} is not {article} {noun} of mmcrawl; name another database")
    if version != contents.version:
        age = "a newer" if version > contents.version else "an older"
        raise StoreError(
            f"{noun} {name} was written by {age} version of mmcrawl (schema {version}, this"
            f" one has {contents.version}); use that version, or name another database"
        )


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn an error of the driver into a StoreError; `what` is ``archive mongodb://HOST/DB``."""
    try:
        yield
    except PyMongoError as error:
        kind = UnreachableError if _passes(error) else StoreError
        raise kind(_explain(what, error)) from error


def _passes(error: PyMongoError) -> bool:
    """Return whether another attempt may succeed."""
    if isinstance(error, ConnectionFailure | CursorNotFound):
        return True
    codes = {error.code} if isinstance(error, OperationFailure) else set()
    if isinstance(error, BulkWriteError):
        details = error.details or {}
        names = ("writeErrors", "writeConcernErrors")
        codes = {one["code"] for name in names for one in details.get(name, ())}
    return bool(codes & _PASSING)


def _explain(what: str, error: PyMongoError) -> str:
    if isinstance(error, OperationFailure):
        return _explain_refusal(what, error)
    if isinstance(error, AutoReconnect | ConnectionFailure):
        return f"{what} cannot be reached; is the server running, and has it a primary?"
    if isinstance(error, InvalidOperation):
        return f"{what} is closed; open it again"
    return f"{what} failed: {_one_line(str(error))}"


def _explain_refusal(what: str, error: OperationFailure) -> str:
    text = _message(error)
    if error.code == _AUTHENTICATION_FAILED:
        return f"{what} refuses the user name or password; correct them in the URI"
    if error.code == _UNAUTHORIZED and "authenticat" in text:
        return (
            f"{what} asks who you are; put user name and password into the URI:"
            " mongodb://USER:PASSWORD@HOST/DATABASE"
        )
    if error.code == _UNAUTHORIZED:
        return (
            f"{what} does not allow this user to do that; give the role readWrite on the"
            " database (read, to only read)"
        )
    if error.code == _OUT_OF_DISK or "disk is full" in text or "No space left" in text:
        return f"{what} cannot be written (disk full); make room on the server and continue"
    return f"{what} failed: {_one_line(text)}"


def _message(error: OperationFailure) -> str:
    """Return the server's message; of a bulk write, that of the first write that failed."""
    details: Mapping[str, Any] = error.details or {}
    for part in ("writeErrors", "writeConcernErrors"):
        if details.get(part):
            return str(details[part][0].get("errmsg", ""))
    return str(details.get("errmsg") or error)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def insert_new(documents: Documents, rows: Sequence[dict[str, Any]]) -> set[int]:
    """Insert documents, in any order; return the indexes of those whose key is taken."""
    if not rows:
        return set()
    try:
        documents.insert_many(rows, ordered=False)
    except BulkWriteError as error:
        return _only_duplicates(error)
    return set()


def _only_duplicates(error: BulkWriteError) -> set[int]:
    """Return indexes in a bulk refused as duplicate keys; raise for any other reason."""
    refused = error.details["writeErrors"]
    if error.details["writeConcernErrors"] or any(one["code"] != _DUPLICATE for one in refused):
        raise error
    return {one["index"] for one in refused}


def change_all(documents: Documents, changes: Sequence[MongoChange]) -> int:
    """Change documents, in any order; return how many met the conditions."""
    count = 0
    for start in range(0, len(changes), AT_ONCE):
        count += documents.bulk_write(changes[start : start + AT_ONCE], ordered=False).matched_count
    return count


class MongoStore:
    """A `Store` in a database.

    Args:
        read_only: Whether nothing is written; by default where none are made.

    Raises:
        StoreError: it cannot be reached, is missing, or is none that this version can use.
    """

    def __init__(
        self,
        contents: Contents,
        uri: str,
        *,
        create: bool = True,
        read_only: bool | None = None,
    ) -> None:
        self._contents = contents
        only = not create if read_only is None else read_only
        self._server = connect(contents, uri, create=create, read_only=only)
        self._json = {table.name: table.json for table in contents.tables}
        self._optional = {table.name: table.optional for table in contents.tables}
        self.name = self._server.name

    def close(self) -> None:
        # The driver ends no operation that waits for an answer, except where it found a server gone
        # itself; what it does then cannot be asked for otherwise.
        with suppress(AttributeError):
            for server in self._server.client._topology._servers.values():
                server.pool.reset(interrupt_connections=True)
        self._server.client.close()

    def get(self, table: str, keys: Collection[Any]) -> dict[Any, Document]:
        return dict(self.range(table, (KEY, "in", keys))) if keys else {}

    def range(
        self,
        table: str,
        *conditions: Condition,
        order: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        limit: int | None = None,
        backwards: bool = False,
    ) -> Iterator[tuple[Any, Document]]:
        if limit == 0:  # for the server, no limit
            return
        way = DESCENDING if backwards else ASCENDING
        by = [("_id" if name == KEY else name, way) for name in order or (KEY,)]
        missing = {name: None for name in self._optional[table] if name in (fields or (name,))}
        with self._explained():
            found = self._server.documents(table).find(_where(conditions), fields or None)
            for row in found.sort(by).limit(limit or 0).batch_size(AT_ONCE):
                yield row.pop("_id"), {**missing, **self._document(table, row)}

    def insert_new(self, table: str, documents: Mapping[Any, Document]) -> set[Any]:
        return {
            some[index][0]
            for some in _batches(list(documents.items()))
            for index in self._inserted(table, some)
        }

    def put(self, table: str, documents: Mapping[Any, Document]) -> None:
        taken = self.insert_new(table, documents)
        changes = [ReplaceOne({"_id": key}, _row(key, documents[key]), True) for key in taken]
        self._write(table, changes)

    def change(self, table: str, changes: Iterable[Change]) -> int:
        asked: list[MongoChange] = []
        for conditions, fields in changes:
            which, put = _where(conditions), {"$set": _stored(fields)}
            if gone := {name: "" for name, value in fields.items() if value is None}:
                put["$unset"] = gone
            one = any(condition[:2] == (KEY, "=") for condition in conditions)
            # The driver asks again for changes of one document where an answer was lost.
            asked.append(UpdateOne(which, put) if one else UpdateMany(which, put))
        return self._write(table, asked)

    def delete(self, table: str, *conditions: Condition) -> int:
        with self._explained():
            return self._server.documents(table).delete_many(_where(conditions)).deleted_count

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def count(self, table: str) -> int:
        with self._explained():
            return self._server.documents(table).count_documents({})

    def size(self) -> int:
        """Return the bytes in use: what is free in the files for what comes next is not counted."""
        total = 0
        with self._explained():
            for table in self._contents.tables:
                name = self._server.documents(table.name).name
                stats = self._server.database.command("collStats", name)
                # Not every server can tell what a collection takes on disk.
                total += stats["storageSize"] or stats.get("size", 0)
                total += stats.get("totalIndexSize", 0)
                # Elsewhere, what is free is not part of the size.
                total -= stats.get("freeStorageSize", 0)
        return int(total)

    def problems(self) -> list[str]:
        found = []
        for name, report in self._told("validate"):
            if not report.get("valid", True):
                errors = "; ".join(map(str, report.get("errors", [])))
                found.append(f"the collection {name} is damaged: {errors}")
        return found

    def compact(self) -> None:
        for _ in self._told("compact"):
            pass

    def _told(self, command: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield answers to a command for each collection, where users may and servers can."""
        for table in self._contents.tables:
            name = self._server.documents(table.name).name
            with self._explained():
                try:
                    answer = self._server.database.command(command, name)
                except OperationFailure:
                    continue
            yield name, answer

    def _inserted(self, table: str, some: Sequence[tuple[Any, Document]]) -> set[int]:
        with self._explained():
            rows = [_row(key, document) for key, document in some]
            return insert_new(self._server.documents(table), rows)

    def _write(self, table: str, changes: Sequence[MongoChange]) -> int:
        with self._explained():
            return change_all(self._server.documents(table), changes)

    def _document(self, table: str, row: dict[str, Any]) -> Document:
        for name in self._json[table]:
            if isinstance(row.get(name), str):  # see `_stored`
                row[name] = self._contents.parsed(row[name], self.name)
        return row

    def _explained(self) -> AbstractContextManager[None]:
        return explained(f"{self._contents.noun} {self._server.name}")


def _batches(whole: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (whole[start : start + AT_ONCE] for start in range(0, len(whole), AT_ONCE))


def _where(conditions: Collection[Condition]) -> dict[str, dict[str, Any]]:
    which: dict[str, dict[str, Any]] = {}
    for name, operator, value in conditions:
        asked = list(value) if "in" in operator else value
        which.setdefault("_id" if name == KEY else name, {})[_OPERATORS[operator]] = asked
    return which


def _row(key: Any, document: Document) -> dict[str, Any]:
    return {"_id": key, **_stored(document)}


def _stored(document: Document) -> dict[str, Any]:
    """Return fields as stored, less None; as JSON where BSON cannot hold lone surrogates."""
    row = {name: value for name, value in document.items() if value is not None}
    for name, value in document.items():
        if isinstance(value, dict | list):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                row[name] = json.dumps(value)
    return row
