"""What is done otherwise for FerretDB 1.24, a server of MongoDB's protocol; MongoDB needs none.

* ``$inc`` loses some where several ask at once: numbers are taken by inserts under a unique key.
* Comparing and replacing are two steps: a document has one writer, or is decided by who inserts it.
* The answer to bulk upserts of which one fails is not understood by drivers: first what is there is
  replaced, then the rest inserted.
* A command holds a connection for each change, of 100 to SQLite and 50 to PostgreSQL: with more
  changes it waits for itself for ever (:data:`CHANGED_AT_ONCE`, :func:`change_all`).
* The second sum of a group is 0 (:func:`summed`).
* Behind it, SQLite indexes no reading: to find a document by its ``_id`` alone, each in the
  collection is looked at, cheaply; for any other condition, each of them is decoded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo import DeleteOne, ReplaceOne, UpdateOne

from mmcrawl.stores.mongodb import Documents

CHANGED_AT_ONCE = 20
"""Changes of documents in a command."""

Change = UpdateOne | ReplaceOne[dict[str, Any]] | DeleteOne


def change_all(documents: Documents, changes: Sequence[Change]) -> None:
    """Change documents, in any order."""
    for start in range(0, len(changes), CHANGED_AT_ONCE):
        documents.bulk_write(changes[start : start + CHANGED_AT_ONCE], ordered=False)


def summed(
    documents: Documents, match: Mapping[str, Any], by: str, what: int | str
) -> dict[Any, int]:
    """Return one sum, by the values of a field.

    Args:
        documents, match: Which documents.
        by: The field.
        what: The field that is summed up, with ``$`` before it; 1 to count.
    """
    group = {"$group": {"_id": f"${by}", "sum": {"$sum": what}}}
    rows = documents.aggregate([{"$match": match}, group])
    return {row["_id"]: int(row["sum"]) for row in rows}
