"""A store in memory: what any store must do, in as few words as can be; and what is kept there."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from mmcrawl.store import KEY, OPTIONAL, Contents, Document, Store, Table

FIELDS = {"url": str, "time": float, "status": int, "digest": bytes, "facts": dict}
CONTENTS = Contents(
    "catalogue of pages",
    "mmtt",
    3,
    "pages_",
    (
        Table("page", FIELDS, orders=(("status", "time"),)),
        Table("part", {"content": bytes}),
        Table("event", {"time": float}, numbered=True),
        Table("name", {"of": OPTIONAL, "size": int}, orders=(("of",),)),
    ),
    missing="make one first",
)


def page(number: int, status: int = 200, **more: Any) -> dict[str, Any]:
    return {
        "url": f"http://h.test/{number}",
        "time": float(-number),
        "status": status,
        "digest": bytes([number % 256]),
        "facts": {},
        **more,
    }


def add_up(store: Store, times: int) -> None:
    """Add 1 to a number, each time by comparing and setting."""
    for _ in range(times):
        while True:
            count = store.get("page", ["n"])["n"]["status"]
            same = [(KEY, "=", "n"), ("status", "=", count)]
            if store.change("page", [(same, {"status": count + 1})]):
                break


OPERATORS = {
    "=": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


class MemoryStore:
    """A `Store` without a file."""

    name = "memory"

    def __init__(self) -> None:
        self._tables: dict[str, dict[Any, dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        pass

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def count(self, table: str) -> int:
        return len(self._there(table))

    def size(self) -> int:
        return sum(map(len, self._tables.values()))

    def problems(self) -> list[str]:
        return []

    def compact(self) -> None:
        pass

    def get(self, table: str, keys: Collection[Any]) -> dict[Any, Document]:
        return dict(self.range(table, (KEY, "in", keys)))

    def range(
        self,
        table: str,
        *conditions: Any,
        order: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        limit: int | None = None,
        backwards: bool = False,
    ) -> Iterator[tuple[Any, Document]]:
        found = [(key, {**self._there(table)[key]}) for key in self._met(table, conditions)]
        by = [name for name in order if name != KEY]
        found.sort(key=lambda one: ([one[1][name] for name in by], one[0]), reverse=backwards)
        for key, row in found[:limit]:
            yield key, {name: row[name] for name in fields or row}

    def insert_new(self, table: str, documents: Mapping[Any, Document]) -> set[Any]:
        with self._lock:
            taken = documents.keys() & self._there(table).keys()
            self._there(table).update({k: dict(v) for k, v in documents.items() if k not in taken})
        return taken

    def put(self, table: str, documents: Mapping[Any, Document]) -> None:
        self._there(table).update({key: dict(row) for key, row in documents.items()})

    def change(self, table: str, changes: Iterable[Any]) -> int:
        count = 0
        with self._lock:
            for conditions, fields in changes:
                for key in self._met(table, conditions):
                    self._there(table)[key].update(fields)
                    count += 1
        return count

    def delete(self, table: str, *conditions: Any) -> int:
        with self._lock:
            return len([self._there(table).pop(key) for key in self._met(table, conditions)])

    def _there(self, table: str) -> dict[Any, dict[str, Any]]:
        return self._tables.setdefault(table, {})

    def _met(self, table: str, conditions: Collection[Any]) -> list[Any]:
        there = self._there(table)
        keys: Collection[Any] = there
        for name, how, what in conditions:
            if name == KEY and how in ("=", "in"):  # the others are few then
                keys = there.keys() & ({what} if how == "=" else {*what})
        return [
            key
            for key in sorted(keys)
            if all(
                OPERATORS[how](key if name == KEY else there[key][name], what)
                for name, how, what in conditions
            )
        ]
