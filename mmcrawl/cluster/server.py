"""The database of a shared crawl: patient with a server that is away, the keys of its documents.

Every document of a job has an ``_id`` that begins with the job's name, percent-encoded, and ``/``.
Those of a part have a field ``at`` besides, by which they are found: job and part. Numbers in keys
are as wide as the greatest, so that the order of keys is that of the numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from urllib.parse import quote

from bson import json_util
from pymongo import ReplaceOne

from mmcrawl.stores.mongodb import Kind
from mmcrawl.stores.patient_server import PatientServer, Row

logger = logging.getLogger(__name__)

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

_MOST_ASIDE = 1 << 20  # characters of a document that is set aside


class StoreServer(PatientServer):
    """The database of a job's shared store. Several threads may use it.

    Its operations can be repeated.

    Args:
        uri: ``mongodb://HOST/DATABASE``.
        job: name of the job.
        create: whether the store is set up if it is not there; otherwise nothing is written.
        patience: seconds for which an operation waits for a server that is away.

    Raises:
        StoreError: the server cannot be used; also by each operation, when it refuses, was away for
            too long, or this is closed.
    """

    def __init__(self, uri: str, job: str, *, create: bool, patience: float) -> None:
        super().__init__(STORE, uri, create=create, patience=patience)
        self._prefix = quote(job, safe="")

    # -- keys ---------------------------------------------------------------------------------

    def key(self, name: str) -> str:
        """Return the `_id` of what has a name in the job."""
        return f"{self._prefix}/{name}"

    def _after(self, last: Row | None) -> Row:
        """Return the condition for documents of the job that come after one, None for all."""
        first = f"{self._prefix}/" if last is None else last["_id"]
        return {"_id": {"$gt": first, "$lt": f"{self._prefix}0"}}  # 0 is after /

    # -- reading and writing ------------------------------------------------------------------

    def one(self, table: str, name: str) -> Row | None:
        """Return the document of a name, if there is one. One round trip."""
        return self.patiently(lambda: self.table(table).find_one({"_id": self.key(name)}))

    def some(self, table: str, names: Collection[str]) -> dict[str, Row]:
        """Return those documents of some names that are there, by their keys."""
        keys = {"$in": [self.key(name) for name in names]}

        def after(last: Row | None) -> Row:
            return {"_id": keys if last is None else keys | {"$gt": last["_id"]}}

        return {row["_id"]: row for row in self.rows(table, after)} if names else {}

    def all(self, table: str) -> list[Row]:
        """Return the documents of the job, in the order of their keys."""
        return list(self.rows(table, self._after))

    def at(self, table: str, parts: Collection[int]) -> Iterable[Row]:
        """Yield the documents of some parts, by their numbers, in the order of their keys."""
        places = {"$in": [self.key(name_of(part)) for part in sorted(parts)]}

        def after(last: Row | None) -> Row:
            return {"at": places} if last is None else {"at": places, "_id": {"$gt": last["_id"]}}

        return self.rows(table, after) if parts else ()

    def row_of(self, part: int, name: str, **fields: Any) -> Row:
        """Return a document of a part.

        Args:
            part: its number.
            name: of the document in the part.
            fields: what it holds.
        """
        at = name_of(part)
        return {"_id": self.key(f"{at}/{name}"), "at": self.key(at), **fields}

    def insert(self, table: str, rows: Sequence[Row]) -> set[str]:
        """Insert documents, in any order; return the `_id`s of those whose key was taken."""
        return {row["_id"] for row in self.insert_new(table, rows)}

    def put(self, table: str, name: str, fields: Row) -> None:
        """Write a document in place of the one of a name; nobody else writes that.

        One round trip.
        """
        super().put(table, self.key(name), fields)

    def delete(self, table: str, names: Collection[str]) -> None:
        """Remove documents. One round trip."""
        if names:
            self.delete_all(table, {"_id": {"$in": [self.key(name) for name in names]}})

    def delete_between(self, table: str, first: str, end: str, *, but: Row | None = None) -> None:
        """Remove the documents whose names are not before `first`, and before `end`.

        Those that have the fields of `but` stay.
        """
        others = {name: {"$ne": value} for name, value in (but or {}).items()}
        between = {"$gte": self.key(first), "$lt": self.key(end)}
        self.delete_all(table, {"_id": between, **others})

    def publish(self, rows: Sequence[Row]) -> None:
        """Write documents of media pages in place of those of their keys.

        One round trip for new ones, one more for each `AT_ONCE` others.
        """
        known = self.insert("media", rows)
        changes = [ReplaceOne({"_id": row["_id"]}, row) for row in rows if row["_id"] in known]
        self.change_all("media", changes)

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
        text = json_util.dumps(row)[:_MOST_ASIDE]
        self.put("aside", f"{table}/{name}", {"why": why, "document": text})
        self.delete(table, [name])


def name_of(part: int) -> str:
    """Return what the names of a part's documents begin with."""
    return f"{part:04d}"


def bytes_of(row: Row) -> bytes:
    """Return what a document holds under ``bytes``; nothing where these are missing."""
    value = row.get("bytes")
    return value if isinstance(value, bytes) else b""
