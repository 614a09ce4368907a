"""An archive's MongoDB database: reaching it, telling it from others, saying why it cannot be used.

Every write is acknowledged by a majority, from the journal (``w: majority, j: true``); every read
asks the primary. A server that refuses journaled writes or retryable ones is asked without.

All collections begin with ``archive_``, so that a crawl's store may live in the same database.
``archive_about`` tells what the database is; it is written last, when all else is set up.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pymongo import MongoClient, WriteConcern
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import (
    AutoReconnect,
    CollectionInvalid,
    ConnectionFailure,
    InvalidOperation,
    OperationFailure,
    PyMongoError,
)
from pymongo.read_preferences import ReadPreference
from pymongo.uri_parser import parse_uri

from mmcrawl.archive.backend import SCHEMA_VERSION
from mmcrawl.archive.places import shown
from mmcrawl.errors import StoreError

__all__ = ["PREFIX", "TABLES", "Documents", "Server", "connect", "explained"]

logger = logging.getLogger(__name__)

Documents = Collection[dict[str, Any]]

PREFIX = "archive_"
TABLES = ("url", "stream", "claim", "version", "visit", "pack", "part", "chunk", "counter", "lease")

_INDEXES: Mapping[str, tuple[tuple[tuple[str, ...], bool], ...]] = {
    "url": ((("url",), True), (("key",), False), (("host", "url"), False)),
    "stream": ((("name",), True),),
    "version": ((("url", "time", "number"), False),),
    "pack": ((("chunk", "entry"), False),),
}
"""Keys of the indexes of each collection, and whether they are unique; ``_id`` always is."""

_COMPRESSED = "part"
_ABOUT = {"_id": "schema", "application": "mmcrawl archive", "version": SCHEMA_VERSION}
_SELECTION = 5_000  # ms until a server that does not answer is given up; the URI may say otherwise
_BAD_URI = (
    "the URI of the archive is not understood, or the name of its host is not known; write"
    " mongodb://USER:PASSWORD@HOST/DATABASE, with user name and password percent-encoded"
)
_AUTHENTICATION_FAILED, _UNAUTHORIZED, _BAD_VALUE, _ILLEGAL = 18, 13, 2, 20
_NAMESPACE_EXISTS, _OUT_OF_DISK = 48, 14031


@dataclass(frozen=True, slots=True)
class Server:
    """A connection.

    Attributes:
        name: The URI without user, password and options.
        client: Its connections; safe to be used by several threads.
        database: Where the archive is, with its write concern and read preference.
    """

    name: str
    client: MongoClient[dict[str, Any]]
    database: Database[dict[str, Any]]

    def documents(self, table: str) -> Documents:
        """Return a collection."""
        return self.database[PREFIX + table]


def connect(uri: str, *, create: bool, read_only: bool) -> Server:
    """Connect, and set the archive up if wished.

    Raises:
        StoreError: it cannot be reached, is missing, or is no archive that this version can use.
    """
    name, database, options = _parsed(uri)
    server = _connected(name, uri, database, options)
    try:
        with explained(name):
            about = server.documents("about").find_one({"_id": _ABOUT["_id"]})
            if not read_only and (create or about is not None):
                server = _writable(server, uri, options)
            if about is None:
                about = _created(server, create and not read_only)
        _check(name, about)
    except BaseException:
        server.client.close()
        raise
    return server


def _parsed(uri: str) -> tuple[str, str, dict[str, Any]]:
    """Return the name for messages, the database, and what the URI leaves open of the options."""
    try:
        # What the driver says of a URI may quote a part of a password.
        parsed = parse_uri(uri, warn=True)
    except (PyMongoError, ValueError):
        raise StoreError(_BAD_URI) from None
    name = shown(uri)
    if not parsed["database"]:
        raise StoreError(f"{name} names no database; write mongodb://HOST/DATABASE")
    if parsed["collection"]:
        raise StoreError(f"{name} has a dot in the name of the database; name another")
    given = {key.lower() for key in parsed["options"]}
    options: dict[str, Any] = {}
    if not given & {"serverselectiontimeoutms", "timeoutms"}:
        options["serverSelectionTimeoutMS"] = _SELECTION
    return name, parsed["database"], options


def _connected(
    name: str, uri: str, database: str, options: dict[str, Any], *, journal: bool = True
) -> Server:
    concern = WriteConcern(w="majority", j=True) if journal else WriteConcern(w="majority")
    try:
        client: MongoClient[dict[str, Any]] = MongoClient(uri, appname="mmcrawl", **options)
    except (PyMongoError, ValueError):
        raise StoreError(_BAD_URI) from None
    opened = client.get_database(
        database, read_preference=ReadPreference.PRIMARY, write_concern=concern
    )
    return Server(name, client, opened)


def _writable(server: Server, uri: str, options: dict[str, Any]) -> Server:
    """Return a connection through which the server takes writes, found out by one of no effect."""
    retried, journal = dict(options), True
    for _ in range(3):
        try:
            server.documents("lease").delete_one({"_id": ""})
        except OperationFailure as error:
            if error.code == _ILLEGAL and "retryWrites" not in retried:
                retried["retryWrites"] = False
            elif error.code == _BAD_VALUE and "journal" in str(error) and journal:
                logger.warning(
                    "%s keeps no journal: what is stored there may be lost in a power cut",
                    server.name,
                )
                journal = False
            else:
                raise
            server.client.close()
            database = server.database.name
            server = _connected(server.name, uri, database, retried, journal=journal)
        else:
            break
    return server


def _created(server: Server, may_create: bool) -> dict[str, Any]:
    ours = {PREFIX + table for table in (*TABLES, "about")}
    names = server.database.list_collection_names()
    about = server.documents("about").find_one({"_id": _ABOUT["_id"]})
    if about is not None:
        return about
    if not may_create:
        raise StoreError(
            f"there is no archive {server.name}; store a page there first, or name another database"
        )
    if any(name.startswith(PREFIX) and name not in ours for name in names):
        return {}
    for table in TABLES:
        _create_collection(server, table)
        for keys, unique in _INDEXES.get(table, ()):
            server.documents(table).create_index([(key, 1) for key in keys], unique=unique)
    # Another process may set it up at the same time: it does the same.
    server.documents("about").replace_one({"_id": _ABOUT["_id"]}, _ABOUT, upsert=True)
    return _ABOUT


def _create_collection(server: Server, table: str) -> None:
    plain: dict[str, Any] = {}
    engine = {"storageEngine": {"wiredTiger": {"configString": "block_compressor=none"}}}
    for options in (engine, plain) if table == _COMPRESSED else (plain,):
        try:
            server.database.create_collection(PREFIX + table, check_exists=False, **options)
        except CollectionInvalid:
            return
        except OperationFailure as error:
            if error.code == _NAMESPACE_EXISTS:
                return
            if options is plain or error.code in (_UNAUTHORIZED, _AUTHENTICATION_FAILED):
                raise
        else:
            return


def _check(name: str, about: Mapping[str, Any]) -> None:
    version = about.get("version")
    if about.get("application") != _ABOUT["application"] or not isinstance(version, int):
        raise StoreError(f"{name} is not an archive of mmcrawl; name another database")
    if version != SCHEMA_VERSION:
        age = "a newer" if version > SCHEMA_VERSION else "an older"
        raise StoreError(
            f"archive {name} was written by {age} version of mmcrawl (schema {version}, this one"
            f" has {SCHEMA_VERSION}); use that version, or name another database"
        )


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what the driver raises into a StoreError of one sentence."""
    try:
        yield
    except PyMongoError as error:
        raise StoreError(_explain(name, error)) from error


def _explain(name: str, error: PyMongoError) -> str:
    if isinstance(error, OperationFailure):
        return _explain_refusal(name, error)
    if isinstance(error, AutoReconnect | ConnectionFailure):
        return f"archive {name} cannot be reached; is the server running, and has it a primary?"
    if isinstance(error, InvalidOperation):
        return f"archive {name} is closed; open it again"
    return f"archive {name} failed: {_one_line(str(error))}"


def _explain_refusal(name: str, error: OperationFailure) -> str:
    text = _message(error)
    if error.code == _AUTHENTICATION_FAILED:
        return f"archive {name} refuses the user name or password; correct them in the URI"
    if error.code == _UNAUTHORIZED and "authenticat" in text:
        return (
            f"archive {name} asks who you are; put user name and password into the URI:"
            " mongodb://USER:PASSWORD@HOST/DATABASE"
        )
    if error.code == _UNAUTHORIZED:
        return (
            f"archive {name} does not allow this user to do that; give the role readWrite on the"
            " database (read, to only read)"
        )
    if error.code == _OUT_OF_DISK or "disk is full" in text or "No space left" in text:
        return f"archive {name} cannot be written (disk full); make room on the server and go on"
    return f"archive {name} failed: {_one_line(text)}"


def _message(error: OperationFailure) -> str:
    """Return what the server said; of a bulk, what it said of the first write that failed."""
    details: Mapping[str, Any] = error.details or {}
    for part in ("writeErrors", "writeConcernErrors"):
        if details.get(part):
            return str(details[part][0].get("errmsg", ""))
    return str(details.get("errmsg") or error)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
