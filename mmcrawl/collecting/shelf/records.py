"""Records that people change, of whom none may lose what another one has changed.

Each has an edition: who changes it tells the one he has read, and does it again if it is another
one by now.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from mmcrawl.stores.documents import KEY, Condition, Document, Store

Record = dict[str, Any]
"""What JSON can say of something."""

Change = Callable[[Mapping[str, Record]], Mapping[str, Record]]
"""Given all records of a kind by id, returns those to be put in place; an empty one is removed."""

CORRECTIONS = "correction"
"""Kind of records: the values of corrected fields, by id of the work."""

COLLECTIONS = "collection"
"""Kind of records: what people collected, see `mmcrawl.collecting.shelf.collections`."""

MARKS = "mark"
"""Kind of records: pages marked as right or wrong, see `mmcrawl.collecting.shelf.marks`."""

SUGGESTIONS = "suggestion"
"""Kind of records: words for topics, see `mmcrawl.collecting.shelf.suggestions`."""

RECORD = {"edition": int, "record": dict}
"""The fields of a table of records."""


def records_of(store: Store, kind: str) -> dict[str, Record]:
    """Return all records of a kind, by id."""
    return {id_: document["record"] for id_, document in store.range(kind)}


def change_records(store: Store, kind: str, change: Change) -> set[str]:
    """Change records of a kind; `change` may be called several times. Return their ids."""
    every: set[str] = set()
    lost: set[str] | None = None
    while lost is None or lost:  # those that somebody else changed meanwhile
        before = dict(store.range(kind))
        changed = change({id_: document["record"] for id_, document in before.items()})
        if lost is not None:
            changed = {id_: record for id_, record in changed.items() if id_ in lost}
        every.update(changed)
        lost = _not_replaced(store, kind, before, changed)
    return every


def _not_replaced(
    store: Store, kind: str, before: Mapping[str, Document], changed: Mapping[str, Record]
) -> set[str]:
    """Put records in place of those that were read; return which are others by now."""
    edition = secrets.randbits(63)  # of nobody else
    new: dict[str, Document] = {}
    other: dict[str, tuple[list[Condition], Document]] = {}
    lost = set()
    for id_, record in changed.items():
        document = {"edition": edition, "record": record}
        if id_ in before:
            as_read = [(KEY, "=", id_), ("edition", "=", before[id_]["edition"])]
            if record:
                other[id_] = as_read, document
            elif not store.delete(kind, *as_read):
                lost.add(id_)
        elif record:
            new[id_] = document
    lost |= store.insert_new(kind, new) if new else set()
    if other and store.change(kind, other.values()) < len(other):
        there = store.get(kind, other)
        lost |= {i for i in other if i not in there or there[i]["edition"] != edition}
    return lost
