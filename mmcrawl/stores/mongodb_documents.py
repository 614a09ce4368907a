"""Documents in a MongoDB database, which the processes of many machines may use at once.

Each kind of documents is a collection; the key is ``_id``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any

from pymongo import ASCENDING, ReplaceOne, UpdateMany, UpdateOne

from mmcrawl.stores.documents import KEY, Change, Condition, Contents, Document
from mmcrawl.stores.mongodb import AT_ONCE, Kind, change_all, connect, explained, insert_new
from mmcrawl.stores.mongodb import Change as MongoChange

_OPERATORS = {"=": "$eq", "<": "$lt", ">=": "$gte", "in": "$in", "not in": "$nin"}


class MongoStore:
    """A `Store` in a database.

    Args:
        contents: What it holds.
        uri: ``mongodb://HOST/DATABASE``.
        create: Whether its collections are made where there are none.

    Raises:
        StoreError: it cannot be reached, is missing, or is none that this version can use.
    """

    def __init__(self, contents: Contents, uri: str, *, create: bool = True) -> None:
        self._contents = contents
        self._server = connect(
            _kind(contents), uri, create=create, read_only=not create, answer=contents.answer
        )
        self._json = {table.name: table.json for table in contents.tables}
        self.name = self._server.name

    def close(self) -> None:
        # The driver ends no operation that waits for an answer, except where it found a server gone
        # itself; what it does then cannot be asked for otherwise.
        with suppress(AttributeError):
            for server in self._server.client._topology._servers.values():
                server.pool.reset(interrupt_connections=True)
        self._server.client.close()

    def get(self, table: str, keys: Collection[str]) -> dict[str, Document]:
        return dict(self.range(table, (KEY, "in", keys))) if keys else {}

    def range(
        self,
        table: str,
        *conditions: Condition,
        order: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        limit: int | None = None,
    ) -> Iterator[tuple[str, Document]]:
        if limit == 0:  # for the server, no limit
            return
        by = [(name, ASCENDING) for name in order or ("_id",)]
        with self._explained():
            found = self._server.documents(table).find(_where(conditions), fields or None)
            for row in found.sort(by).limit(limit or 0).batch_size(AT_ONCE):
                yield row.pop("_id"), self._document(table, row)

    def insert_new(self, table: str, documents: Mapping[str, Document]) -> set[str]:
        return {
            some[index][0]
            for some in _portions(list(documents.items()))
            for index in self._inserted(table, some)
        }

    def put(self, table: str, documents: Mapping[str, Document]) -> None:
        taken = self.insert_new(table, documents)
        changes = [ReplaceOne({"_id": key}, _row(key, documents[key]), True) for key in taken]
        self._write(table, changes)

    def change(self, table: str, changes: Iterable[Change]) -> int:
        asked: list[MongoChange] = []
        for conditions, fields in changes:
            which, put = _where(conditions), {"$set": _stored(fields)}
            one = any(condition[:2] == (KEY, "=") for condition in conditions)
            # The driver asks again for changes of one document where an answer was lost.
            asked.append(UpdateOne(which, put) if one else UpdateMany(which, put))
        return self._write(table, asked)

    def delete(self, table: str, *conditions: Condition) -> int:
        with self._explained():
            return self._server.documents(table).delete_many(_where(conditions)).deleted_count

    def _inserted(self, table: str, some: Sequence[tuple[str, Document]]) -> set[int]:
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


def _kind(contents: Contents) -> Kind:
    return Kind(
        noun=contents.noun,
        application=f"mmcrawl {contents.noun}",
        version=contents.version,
        prefix=contents.prefix,
        tables=tuple(table.name for table in contents.tables),
        missing=contents.missing,
        indexes={
            table.name: [(dict.fromkeys(order, ASCENDING), False) for order in table.orders]
            for table in contents.tables
        },
    )


def _portions(whole: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (whole[start : start + AT_ONCE] for start in range(0, len(whole), AT_ONCE))


def _where(conditions: Collection[Condition]) -> dict[str, dict[str, Any]]:
    which: dict[str, dict[str, Any]] = {}
    for name, operator, value in conditions:
        asked = list(value) if "in" in operator else value
        which.setdefault("_id" if name == KEY else name, {})[_OPERATORS[operator]] = asked
    return which


def _row(key: str, document: Document) -> dict[str, Any]:
    return {"_id": key, **_stored(document)}


def _stored(document: Document) -> dict[str, Any]:
    """Return fields as they are kept: as JSON where BSON cannot hold half of a surrogate pair."""
    row = dict(document)
    for name, value in document.items():
        if isinstance(value, dict | list):
            try:
                json.dumps(value, ensure_ascii=False).encode()
            except UnicodeEncodeError:
                row[name] = json.dumps(value)
    return row
