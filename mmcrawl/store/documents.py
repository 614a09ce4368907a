"""Readable documents under ordered keys: one interface, implemented on SQLite and on MongoDB.

A document has a key and named fields. In `sqlite3` a table has a column for each field, in
`mongosh` a collection has documents with these fields. Two steps are atomic, on one document each:
inserting it if its key is free, and changing or deleting it if its fields are as they were read.
Everything else is built on these, so the same code coordinates the processes of one machine and of
many.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Protocol

from mmcrawl.errors import StoreError

KEY = "key"
"""Names the key in conditions."""

Document = Mapping[str, Any]
"""The fields of a document, without its key."""

Condition = tuple[str, str, Any]
"""A field or `KEY`; ``=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not in``; value, or several."""

Change = tuple[Collection[Condition], Document]
"""Which documents, and the fields that are set in them."""

OPTIONAL = str | None
"""The type of a text that is None in most documents, which take no room in orders by it."""

_HELD = 16 << 20  # bytes of a batch
_PIECE = 8 << 20  # bytes of a document; a server takes 16 MB at most


@dataclass(frozen=True, slots=True)
class Table:
    """A kind of documents.

    Attributes:
        fields: Name and type of each field: str, int (64 bits), float, bytes, or dict for whatever
            JSON can hold. Only what is `OPTIONAL` may be None.
        orders: Fields by which documents are found and ordered quickly, besides their keys.
        numbered: Whether keys are numbers of 64 bits in place of text: in SQLite they take no room
            of their own.
    """

    name: str  # of the table, or of the collection after its prefix
    fields: Mapping[str, type | UnionType]
    orders: tuple[tuple[str, ...], ...] = ()
    numbered: bool = False

    @property
    def json(self) -> list[str]:
        """Names of the fields that hold what JSON can hold."""
        return [name for name, kind in self.fields.items() if kind is dict]

    @property
    def optional(self) -> list[str]:
        """Names of the fields that may be None."""
        return [name for name, kind in self.fields.items() if kind == OPTIONAL]


@dataclass(frozen=True, slots=True)
class Contents:
    """The tables of a store, and its names in messages.

    Attributes:
        instead: What to name instead if it cannot be used, as the end of a sentence.
        answer: Seconds after which a server that does not answer counts as away; None for never.
        packed: Tables of compressed bytes: a server need not compress them, a file gives their room
            back when they go.
    """

    noun: str  # its name in messages: `collection`
    mark: str  # four letters that mark an SQLite file of it
    version: int  # Of its tables. A store of another version is refused
    prefix: str  # what the names of its collections in a database begin with
    tables: tuple[Table, ...]  # what documents it has
    missing: str  # what to do if it does not exist, as the end of a sentence
    instead: str = "another file"
    damaged: str = "restore it from a copy"  # what to do if a document cannot be read
    answer: float | None = None
    packed: frozenset[str] = frozenset()

    def parsed(self, text: str, name: str) -> Any:
        """Return the value of a JSON field, given the store's name; a StoreError if it is none."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise StoreError(
                f"a document of {name} is damaged ({error}); {self.damaged}"
            ) from error


class Store(Protocol):
    """An open store. Several threads may use it; what was written stays after a power cut.

    All methods raise StoreError where it cannot be read or written, an UnreachableError where
    that may go well later. Many documents are written in
    no order, and not as one: after a kill some may be there.
    """

    name: str  # its name in messages

    def get(self, table: str, keys: Collection[Any]) -> dict[Any, Document]:
        """Return the documents under some keys; missing ones are left out."""

    def range(
        self,
        table: str,
        *conditions: Condition,
        order: tuple[str, ...] = (),
        fields: tuple[str, ...] = (),
        limit: int | None = None,
        backwards: bool = False,
    ) -> Iterator[tuple[Any, Document]]:
        """Yield keys and documents that meet all conditions; others may write at the same time.

        Args:
            order: Fields by which they come, upwards; by key if there are none. Numbered ones that
                are equal in these come by key, others in any order.
            fields: Only these are read; all if there are none.
            backwards: Whether the last come first.
        """

    def insert_new(self, table: str, documents: Mapping[Any, Document]) -> set[Any]:
        """Insert documents under their keys; return the keys that were taken, which stay."""

    def change(self, table: str, changes: Iterable[Change]) -> int:
        """Set fields of documents that meet conditions at that moment; return how many were set."""

    def put(self, table: str, documents: Mapping[Any, Document]) -> None:
        """Write documents, replacing those under their keys."""

    def delete(self, table: str, *conditions: Condition) -> int:
        """Remove the documents that meet all conditions at that moment; return how many."""

    def together(self) -> AbstractContextManager[None]:
        """Make writes in the block durable together, alone; on a server, each step by itself."""

    def count(self, table: str) -> int:
        """Return how many documents a table has."""

    def size(self) -> int:
        """Return the size of the store in bytes, indexes included."""

    def problems(self) -> list[str]:
        """Return the damage that the database itself finds, a sentence each."""

    def compact(self) -> None:
        """Give free room back."""

    def close(self) -> None:
        """Close it."""


def open_documents(
    contents: Contents,
    uri: str,
    path: Path | None,
    *,
    create: bool = True,
    read_only: bool | None = None,
) -> Store:
    """Open a store.

    Args:
        uri: ``mongodb://HOST/DATABASE``, where there is no path.
        read_only: Whether nothing is written; None leaves it to what may be.

    Raises:
        MissingStoreError: there is none.
        StoreError: it cannot be reached, is damaged, or is none that this version can use.
    """
    if path is not None:
        from mmcrawl.store.sqlite_documents import SqliteStore

        return SqliteStore(contents, path, create=create, read_only=read_only)
    from mmcrawl.store.mongodb import MongoStore  # its driver is slow to load

    return MongoStore(contents, uri, create=create, read_only=read_only)


def below(name: str) -> tuple[Condition, Condition]:
    """Return the conditions that hold for the keys that begin with a name and a slash."""
    return (KEY, ">=", f"{name}/"), (KEY, "<", f"{name}0")  # 0 is after /


BLOB = {"content": bytes}
"""The fields of a table for `put_blob`."""


def put_blob(store: Store, table: str, name: str, content: bytes) -> None:
    """Store bytes of any length under a new name, in documents of 8 MB."""
    for number, start in enumerate(range(0, max(1, len(content)), _PIECE)):
        piece = content[start : start + _PIECE]
        store.insert_new(table, {f"{name}/{number:06d}": {"content": piece}})


def get_blob(store: Store, table: str, name: str) -> bytes | None:
    """Return the bytes stored under a name; None if there are none."""
    pieces = [document["content"] for _, document in store.range(table, *below(name))]
    return b"".join(pieces) if pieces else None


def batches(
    documents: Iterable[tuple[Any, Document]], size: int = 500
) -> Iterator[dict[Any, Document]]:
    """Yield documents in batches that fit one round trip, and memory."""
    some: dict[Any, Document] = {}
    held = 0
    for key, document in documents:
        some[key] = document
        held += sum(len(value) for value in document.values() if isinstance(value, bytes))
        if len(some) >= size or held > _HELD:
            yield some
            some, held = {}, 0
    if some:
        yield some
