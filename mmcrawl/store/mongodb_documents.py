"""Documents in a MongoDB database, which processes on many machines may use at once.

Each kind of document is a collection; the key is ``_id``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import OperationFailure

from mmcrawl.store.documents import KEY, Change, Condition, Contents, Document
from mmcrawl.store.mongodb import AT_ONCE, change_all, connect, explained, insert_new
from mmcrawl.store.mongodb import Change as MongoChange

_OPERATORS = {
    "=": "$eq",
    "<": "$lt",
    "<=": "$lte",
    ">": "$gt",
    ">=": "$gte",
    "in": "$in",
    "not in": "$nin",
}


class MongoStore:
    """A `Store` in a database.

    Args:
        contents: What it holds.
        uri: ``mongodb://HOST/DATABASE``.
        create: Whether its collections are made where there are none.
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
        """Yield the server's answers to a command about each collection.

        Not every user may give it, not every server knows it; free space is used again in any case.
        """
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
    """Return fields as they are stored: as JSON where BSON cannot hold half of a surrogate pair.

    What is None is left out.
    """
    row = {name: value for name, value in document.items() if value is not None}
    for name, value in document.items():
        if isinstance(value, dict | list):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                row[name] = json.dumps(value)
    return row
