"""Works and corrections in a MongoDB database.

* ``work``: the id, ``/``, the number of the description; ``place``, ``changed``, ``record`` and
  ``keys``.
* ``correction``, ``collection``, ``mark``, ``suggestion``: the id, ``/``, the number of the
  edition; ``id``, ``edition``, and ``record``, none for one that was removed. The last edition
  counts; of those before, the ids are left for a while.
* ``state``: one document: ``description``, the number of the one that counts; ``revision``,
  the time of the last change.

Works are written under a new number first; then the number is changed, by which readers see all of
them or none, and what was before is removed. Of two who make the same edition of a record at once,
one finds it there already: an id is there once, on all servers, while not all compare and replace
in one step.
"""

import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

from pymongo import ASCENDING
from pymongo.errors import DuplicateKeyError

from mmcrawl.collecting.shelf.shelf import CORRECTIONS, Change, Record, Shelf, as_row
from mmcrawl.stores.mongodb import Kind
from mmcrawl.stores.mongodb_place import MongoPlace

_KIND = Kind(
    noun="works",
    application="mmcrawl works",
    version=1,
    prefix="works_",
    tables=("work", "correction", "collection", "mark", "suggestion", "state"),
    missing="`scrapy works describe` makes them",
    indexes={"work": (({"description": ASCENDING, "place": ASCENDING}, False),)},
)
_AT_ONCE = 500
_STATE = "works"
_REMEMBERED = 100  # editions that may be made while one change is under way


class MongoShelf(MongoPlace, Shelf):
    """A `Shelf` in a database."""

    kind = _KIND

    def __init__(self, uri: str, *, create: bool = True) -> None:
        super().__init__(uri, create=create)
        self._works, self._state = self._documents("work"), self._documents("state")

    def rows(self) -> Iterator[Record]:
        for row in self._current():
            yield _found(row)

    def row(self, id_: str) -> Record | None:
        with self._explained():
            row = self._works.find_one({"_id": f"{id_}/{self._number()}"})
        return None if row is None else _found(row)

    def ids(self) -> dict[str, str]:
        return {key: as_row(row["record"])["id"] for row in self._current() for key in row["keys"]}

    def put(self, works: Sequence[tuple[Record, Sequence[str]]]) -> None:
        with self._explained():
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
            self._write_state({"description": number})
            self._works.delete_many({"description": {"$lt": number}})

    def records(self, kind: str) -> dict[str, Record]:
        with self._explained():
            return _records(self._editions(kind))

    def change(self, kind: str, change: Change) -> None:
        with self._explained():
            lost: list[str] | None = None
            while lost is None or lost:  # those that somebody else changed meanwhile
                editions = self._editions(kind)
                changed = change(_records(editions))
                if lost is not None:
                    changed = {id_: changed[id_] for id_ in lost if id_ in changed}
                lost = [
                    id_
                    for id_, record in changed.items()
                    if not self._put(kind, id_, record, editions.get(id_, {}).get("edition", 0) + 1)
                ]
                if kind == CORRECTIONS:
                    self._works.update_many(
                        {"_id": {"$in": [f"{id_}/{self._number()}" for id_ in changed]}},
                        {"$set": {"changed": time.time()}},
                    )
            self._write_state({})

    def _editions(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the last edition of each record, by id."""
        last: dict[str, dict[str, Any]] = {}
        for row in self._documents(kind).find():
            if row["edition"] >= last.get(row["id"], row)["edition"]:
                last[row["id"]] = row
        return last

    def _put(self, kind: str, id_: str, record: Record, edition: int) -> bool:
        """Make an edition of a record; tell whether nobody else was faster."""
        table = self._documents(kind)
        said = json.dumps(record) if record else None
        try:
            row = {"_id": f"{id_}/{edition}", "id": id_, "edition": edition, "record": said}
            table.insert_one(row)
        except DuplicateKeyError:
            return False
        # Their ids stay for a while, so that who has read one of them still finds it taken.
        table.update_many({"id": id_, "edition": {"$lt": edition}}, {"$set": {"record": None}})
        table.delete_many({"id": id_, "edition": {"$lt": edition - _REMEMBERED}})
        return True

    def revision(self) -> int:
        with self._explained():
            row = self._state.find_one({"_id": _STATE})
        return int(row.get("revision", 0)) if row else 0

    def _write_state(self, update: dict[str, Any]) -> None:
        values = update | {"revision": time.time_ns()}  # two that add 1 at once may add it once
        self._state.update_one({"_id": _STATE}, {"$set": values}, upsert=True)

    def _current(self) -> Iterator[dict[str, Any]]:
        with self._explained():
            found = self._works.find({"description": self._number()})
            yield from found.sort("place", ASCENDING).batch_size(_AT_ONCE)

    def _number(self) -> int:
        row = self._state.find_one({"_id": _STATE})
        return int(row.get("description", 0)) if row else 0


def _found(row: dict[str, Any]) -> Record:
    return as_row(row["record"]) | {"changed_at": float(row.get("changed", 0))}


def _records(editions: dict[str, dict[str, Any]]) -> dict[str, Record]:
    return {id_: as_row(row["record"]) for id_, row in editions.items() if row["record"]}
