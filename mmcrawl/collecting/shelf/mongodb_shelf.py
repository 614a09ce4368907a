"""Works and corrections in a MongoDB database.

* ``work``: the id, ``/``, the number of the description; ``place``, ``record`` and ``keys``.
* ``correction``: the id of the work; ``record``.
* ``state``: one document: ``description``, the number of the one that counts.

Works are written under a new number first; then the number is changed, by which readers see all of
them or none, and what was before is removed.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pymongo import ASCENDING

from mmcrawl.collecting.shelf.shelf import Shelf, as_row
from mmcrawl.stores.mongodb import Kind, connect, explained

_KIND = Kind(
    noun="works",
    application="mmcrawl works",
    version=1,
    prefix="works_",
    tables=("work", "correction", "state"),
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
        self._corrections = self._server.documents("correction")
        self._state = self._server.documents("state")

    def close(self) -> None:
        self._server.client.close()

    def rows(self) -> Iterator[dict[str, Any]]:
        for row in self._current():
            yield as_row(row["record"])

    def ids(self) -> dict[str, str]:
        return {key: as_row(row["record"])["id"] for row in self._current() for key in row["keys"]}

    def put(self, works: Sequence[tuple[dict[str, Any], Sequence[str]]]) -> None:
        with explained(f"works {self.name}"):
            number = self._number() + 1
            self._works.delete_many({"description": {"$gte": number}})  # of one that was ended
            rows = [
                {
                    "_id": f"{row['id']}/{number}",
                    "description": number,
                    "place": place,
                    "record": json.dumps(row),
                    "keys": list(keys),
                }
                for place, (row, keys) in enumerate(works)
            ]
            for start in range(0, len(rows), _AT_ONCE):
                self._works.insert_many(rows[start : start + _AT_ONCE])
            self._state.replace_one(
                {"_id": _STATE}, {"_id": _STATE, "description": number}, upsert=True
            )
            self._works.delete_many({"description": {"$lt": number}})

    def corrections(self) -> dict[str, dict[str, Any]]:
        with explained(f"works {self.name}"):
            return {row["_id"]: as_row(row["record"]) for row in self._corrections.find()}

    def put_corrections(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        with explained(f"works {self.name}"):
            for work, fields in values.items():
                if fields:
                    record = json.dumps(dict(fields))
                    row = {"_id": work, "record": record}
                    self._corrections.replace_one({"_id": work}, row, upsert=True)
                else:
                    self._corrections.delete_one({"_id": work})

    def _current(self) -> Iterator[dict[str, Any]]:
        with explained(f"works {self.name}"):
            found = self._works.find({"description": self._number()})
            yield from found.sort("place", ASCENDING).batch_size(_AT_ONCE)

    def _number(self) -> int:
        row = self._state.find_one({"_id": _STATE})
        return int(row["description"]) if row else 0
