"""Finds the rows of a partition that have changed, and writes such rows to another store.

A partition is a job in the worker's SQLite store, under its number. Triggers note changes; `Rows`
holds what has changed in a partition since the last call. Writing such rows over the existing ones,
in the order in which they were taken, rebuilds the partition. So a log of them needs no
interpretation, and may be read twice.

Scores are left out: they change all the time, and are recomputed when a partition is taken over
(the first score of a link is in its row). A link that is being fetched is noted as waiting.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import bson
from bson.errors import BSONError

from mmcrawl.cluster.packing import packed, unpacked
from mmcrawl.errors import DamagedStoreError
from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.frontier.store import SqliteStore

Row = Sequence[Any]

_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the store."""

    name: str
    key: tuple[str, ...]  # columns that tell its rows apart
    by_job: bool = True  # whether the first of these is the partition, or a number begins with it
    left_out: tuple[str, ...] = ()  # columns that are rebuilt where the row is put

    def partition(self, of: str = "") -> str:
        """Return the partition of a row as SQL has it; `of` stands before the name of a column."""
        return f"{of}{self.key[0]}" + ("" if self.by_job else f" >> {JOB_SHIFT}")

    def is_in(self, partition: int) -> str:
        """Return the condition that holds for the rows of a partition."""
        if self.by_job:
            return f"{self.key[0]} = {partition:d}"
        column, first, after = self.key[0], partition << JOB_SHIFT, partition + 1 << JOB_SHIFT
        return f"{column} >= {first:d} AND {column} < {after:d}"

    def columns(self, db: sqlite3.Connection) -> tuple[str, ...]:
        """Return the columns that are noted and put."""
        rows = db.execute(f"PRAGMA main.table_info({self.name})")
        return tuple(row[1] for row in rows if row[1] not in self.left_out)


_TABLES = (
    _Table("host", ("job", "id")),
    _Table("link", ("id",), by_job=False),
    _Table("page", ("id",), by_job=False),
    _Table("section", ("job", "name")),
    _Table("section_media", ("job", "section", "url")),
    _Table("site_wide", ("job", "url")),
    _Table("listed", ("job", "key"), left_out=("id",)),
    _Table("listed_media", ("job", "key", "url")),
    _Table("followed", ("job", "first")),
    _Table("pattern", ("job", "pattern")),
    _Table("media_page", ("job", "url")),
    _Table("media_resource", ("job", "page", "url")),
)
_BY_NAME = {table.name: table for table in _TABLES}
_KEYS = ("a", "b", "c")
_SCORES = frozenset({"score", "structure"})


@dataclass(slots=True)
class Rows:
    """Rows of one partition: what stands there now, and what does not any more."""

    put: dict[str, list[Row]] = field(default_factory=dict)  # by table, the columns in order
    gone: dict[str, list[Row]] = field(default_factory=dict)  # their keys, by table

    def encode(self) -> bytes:
        """Return them as bytes."""
        return packed(bson.encode({"put": self.put, "gone": self.gone}))

    @classmethod
    def decode(cls, data: bytes) -> "Rows":
        """Return what `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        try:
            plain = bson.decode(unpacked(data))
            rows = cls(plain["put"], plain["gone"])
        except (BSONError, LookupError, TypeError) as error:
            raise ValueError(f"it holds no rows: {error}") from error
        if not {*rows.put, *rows.gone} <= _BY_NAME.keys():
            raise ValueError("it holds rows of no table")
        return rows


class Changes:
    """Records changes in the partitions of a store from now on.

    Args:
        store: an open store, which nobody else writes to.
    """

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._columns = {table.name: table.columns(store.db) for table in _TABLES}
        store.db.execute(
            # Without a unique key: a trigger resolves conflicts as what set it off does.
            "CREATE TEMP TABLE changed (partition, place, a, b, c)"
        )
        for place, table in enumerate(_TABLES):
            for trigger in _triggers(place, table, self._columns[table.name]):
                store.db.execute(trigger)

    def take(self) -> dict[int, Rows]:
        """Return what has changed since this was called last, by partition."""
        taken: defaultdict[int, Rows] = defaultdict(Rows)
        db = self._store.db
        for place, table in enumerate(_TABLES):
            columns = self._columns[table.name]
            keys = _KEYS[: len(table.key)]
            on = " AND ".join(
                f"t.{name} = n.{key}" for name, key in zip(table.key, keys, strict=True)
            )
            asked = ", ".join(_shown(f"t.{column}") for column in columns)
            rows = db.execute(
                f"SELECT n.partition, t.{table.key[0]} IS NULL, {', '.join(keys)}, {asked} FROM"  # noqa: S608
                " (SELECT DISTINCT * FROM temp.changed WHERE place = ?) n"
                f" LEFT JOIN main.{table.name} t ON {on}",
                (place,),
            )
            for partition, is_gone, *values in rows:
                key, row = values[: len(keys)], values[len(keys) :]
                rows_of = taken[partition].gone if is_gone else taken[partition].put
                rows_of.setdefault(table.name, []).append(key if is_gone else row)
        with self._store.writing():
            db.execute("DELETE FROM temp.changed")
        return dict(taken)

    def put(self, partition: int, rows: Iterable[Rows]) -> None:
        """Replace rows of a partition; this does not count as a change.

        Raises:
            DamagedStoreError: these are no rows of a store.
        """
        put_rows(self._store, rows)
        with self._store.writing() as db:
            db.execute("DELETE FROM temp.changed WHERE partition = ?", (partition,))
        self._store.commit()

    def remove(self, partition: int) -> None:
        """Remove all of a partition from the store; that does not count as a change."""
        self._store.known_links.clear()  # it may come back with other links
        with self._store.writing() as db:
            for table in _TABLES:
                db.execute(f"DELETE FROM {table.name} WHERE {table.is_in(partition)}")  # noqa: S608
            db.execute("DELETE FROM job WHERE id = ?", (partition,))
            db.execute("DELETE FROM temp.changed WHERE partition = ?", (partition,))
        self._store.commit()

    def all_of(self, partition: int) -> Iterator[bytes]:
        """Yield all rows of a partition as `Rows` encodes them, scores included."""
        rows = Rows()
        for table in _TABLES:
            columns = ", ".join(map(_shown, self._columns[table.name]))
            found = self._store.db.execute(
                f"SELECT {columns} FROM {table.name} WHERE {table.is_in(partition)}"  # noqa: S608
                f" ORDER BY {'rowid' if table.left_out else ', '.join(table.key)}"
            )
            while some := found.fetchmany(_ROWS_AT_ONCE):
                rows.put[table.name] = some
                if sum(map(len, rows.put.values())) >= _ROWS_AT_ONCE:
                    yield rows.encode()
                    rows = Rows()
        if rows.put:
            yield rows.encode()


def put_rows(store: SqliteStore, rows: Iterable[Rows]) -> None:
    """Replace rows of partitions.

    Raises:
        DamagedStoreError: these are no rows of a store.
    """
    with store.writing() as db:
        for some in rows:
            for name, keys in some.gone.items():
                condition = " AND ".join(f"{column} = ?" for column in _BY_NAME[name].key)
                db.executemany(f"DELETE FROM {name} WHERE {condition}", keys)  # noqa: S608
            for name, values in some.put.items():
                columns = _BY_NAME[name].columns(db)
                marks = ", ".join("?" * len(columns))
                insert = f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
                try:
                    db.executemany(insert, values)
                except sqlite3.ProgrammingError as error:
                    raise DamagedStoreError(
                        f"these are no rows of the table {name}: {error}"
                    ) from error


def _triggers(place: int, table: _Table, columns: Sequence[str]) -> Iterator[str]:
    """Yield the statements by which changes of a table are noted."""
    told = ", ".join(column for column in columns if column not in _SCORES)
    running = " WHEN NEW.status <> 'R'" if table.name == "link" else ""
    for event, of, condition in (
        ("INSERT", "NEW.", ""),
        (f"UPDATE OF {told}", "NEW.", running),
        ("DELETE", "OLD.", ""),
    ):
        keys = [f"{of}{name}" for name in table.key] + ["''"] * (len(_KEYS) - len(table.key))
        yield (
            f"CREATE TEMP TRIGGER {table.name}_{event.split()[0]} AFTER {event} ON"  # noqa: S608 - our own names
            f" main.{table.name}{condition} BEGIN INSERT INTO changed"
            f" VALUES ({table.partition(of)}, {place}, {', '.join(keys)}); END"
        )


def _shown(column: str) -> str:
    """Return how a column is read: for others, links being fetched are waiting."""
    is_status = column.rpartition(".")[2] == "status"
    return f"CASE {column} WHEN 'R' THEN 'W' ELSE {column} END" if is_status else column
