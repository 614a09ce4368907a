"""Works and corrections in a MongoDB database.

* ``work``: the id, ``/``, the number of the description; ``place``, ``changed``, ``record`` and
  ``keys``.
* ``correction``, ``collection``: the id; ``record``, and ``edition``, which grows with each change.
* ``state``: one document: ``description``, the number of the one that counts; ``revision``.

Works are written under a new number first; then the number is changed, by which readers see all of
them or none, and what was before is removed.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pymongo import ASCENDING
from pymongo.errors import DuplicateKeyError

from mmcrawl.collecting.shelf.shelf import CORRECTIONS, Change, Record, Shelf, as_row
from mmcrawl.stores.mongodb import Kind, connect, explained

_KIND = Kind(
    noun="works",
    application="mmcrawl works",
    version=1,
    prefix="works_",
    tables=("work", "correction", "collection", "state"),
    missing="`scrapy works describe` makes them",
    indexes={"work": (({"description": ASCENDING, "place": ASCENDING}, False),)},
)
_AT_ONCE = 500
_STATE = "works"


class MongoShelf(Shelf):
    """A `Shelf` in a database.

    Args:
        uri: ``mongodb://HOST/DATABASE``.
        create: Whether the collections are made where there are none.

    Raises:
        StoreError: it cannot be reached, is missing, or is none that this version can use.
    """

    def __init__(self, uri: str, *, create: bool = True) -> None:
        self._server = connect(_KIND, uri, create=create, read_only=not create)
        self.name = self._server.name
        self._works = self._server.documents("work")
        self._state = self._server.documents("state")

    def close(self) -> None:
        self._server.client.close()

    def rows(self) -> Iterator[Record]:
        for row in self._current():
            yield _found(row)

    def row(self, id_: str) -> Record | None:
        with explained(f"works {self.name}"):
            row = self._works.find_one({"_id": f"{id_}/{self._number()}"})
        return None if row is None else _found(row)

    def ids(self) -> dict[str, str]:
        return {key: as_row(row["record"])["id"] for row in self._current() for key in row["keys"]}

    def put(self, works: Sequence[tuple[Record, Sequence[str]]]) -> None:
        with explained(f"works {self.name}"):
            number = self._number() + 1
            self._works.delete_many({"description": {"$gte": number}})  # of one that was ended
            rows = [
                {
                    "_id": f"{row['id']}/{number}",
                    "description": number,
                    "place": place,
                    "changed": row["changed_at"],
                    "record": json.dumps(row),
                    "keys": list(keys),
                }
                for place, (row, keys) in enumerate(works)
            ]
            for start in range(0, len(rows), _AT_ONCE):
                self._works.insert_many(rows[start : start + _AT_ONCE])
            self._write_state({"$set": {"description": number}})
            self._works.delete_many({"description": {"$lt": number}})

    def records(self, kind: str) -> dict[str, Record]:
        with explained(f"works {self.name}"):
            rows = self._server.documents(kind).find()
            return {row["_id"]: as_row(row["record"]) for row in rows}

    def change(self, kind: str, change: Change) -> None:
        with explained(f"works {self.name}"):
            table = self._server.documents(kind)
            lost: list[str] | None = None
            while lost is None or lost:  # those that somebody else changed meanwhile
                rows = {row["_id"]: row for row in table.find()}
                changed = change({id_: as_row(row["record"]) for id_, row in rows.items()})
                if lost is not None:
                    changed = {id_: changed[id_] for id_ in lost if id_ in changed}
                lost = [
                    id_
                    for id_, record in changed.items()
                    if not _put(table, id_, record, rows.get(id_))
                ]
                if kind == CORRECTIONS:
                    self._works.update_many(
                        {"_id": {"$in": [f"{id_}/{self._number()}" for id_ in changed]}},
                        {"$set": {"changed": time.time()}},
                    )
            self._write_state({})

    def revision(self) -> int:
        with explained(f"works {self.name}"):
            row = self._state.find_one({"_id": _STATE})
        return int(row.get("revision", 0)) if row else 0

    def _write_state(self, update: dict[str, Any]) -> None:
        self._state.update_one({"_id": _STATE}, {**update, "$inc": {"revision": 1}}, upsert=True)

    def _current(self) -> Iterator[dict[str, Any]]:
        with explained(f"works {self.name}"):
            found = self._works.find({"description": self._number()})
            yield from found.sort("place", ASCENDING).batch_size(_AT_ONCE)

    def _number(self) -> int:
        row = self._state.find_one({"_id": _STATE})
        return int(row.get("description", 0)) if row else 0


def _found(row: dict[str, Any]) -> Record:
    return as_row(row["record"]) | {"changed_at": float(row.get("changed", 0))}


def _put(table: Any, id_: str, record: Record, before: dict[str, Any] | None) -> bool:
    """Put a record in place of another, or remove that; tell whether nobody else was faster."""
    edition = before.get("edition", 0) if before else 0
    # Without a former one, none is found, and what somebody else has put there is not replaced.
    here = {"_id": id_, "edition": before.get("edition") if before else -1}
    if not record:
        return before is None or bool(table.delete_one(here).deleted_count)
    row = {"_id": id_, "record": json.dumps(record), "edition": edition + 1}
    try:
        written = table.replace_one(here, row, upsert=before is None)
    except DuplicateKeyError:
        return False
    return bool(written.matched_count or written.upserted_id is not None)
