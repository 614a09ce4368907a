"""What proves that the rows of a file are those that were written.

Rows are proved in groups of 16 or 64 neighbours. For each group the file keeps how many rows it has
and their *parity*: the exclusive or of all of them, each written as a digest and its values. A row
that is lost or altered leaves a parity that is wrong by just this row, which can so be told and
written again; where several are, only that they are. Of versions the digests alone are kept: their
values stand in their entries too, and chunks can all be found in packs.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from mmcrawl.archive.rows import SHIFT, Disproved

PROOFS = """CREATE TABLE proof (
    kind INTEGER NOT NULL, part INTEGER NOT NULL, rows INTEGER NOT NULL, parity BLOB NOT NULL,
    PRIMARY KEY (kind, part)
) WITHOUT ROWID"""

_DIGEST = 8  # bytes
_SETTLED = 0  # kind of a proof that is a sentence: what is lost, and was told
_ADDED = """INSERT INTO proof VALUES (?, ?, ?, ?) ON CONFLICT (kind, part) DO UPDATE SET
    rows = excluded.rows, parity = excluded.parity"""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """A table that is proved.

    Attributes:
        kind: Its number in proofs.
        columns: All of them that are proved, the grouping one first.
        key: How many of the first columns name a row.
        shift: 2 to this power is the width of a group.
        whole: Whether the parity has the values too.
    """

    kind: int
    columns: str
    key: int
    shift: int
    whole: bool = True


_TABLES = {
    "host": _Table(1, "id, name", 1, 6),
    "stream": _Table(2, "id, name, entries, chunks", 1, 6),
    "url": _Table(3, "id, url, key, host, stream, last, late", 1, 6),
    "version": _Table(
        4,
        "url, number, time, status, digest, size, entry, method, level, location",
        2,
        6,
        whole=False,
    ),
    "visit": _Table(5, "url, time, number, status, head", 2, 4),
    "pack": _Table(6, "id, entries, chunk, chunks, raw, level, size", 1, 6 + SHIFT),
    "change": _Table(7, "url, old, new, kinds", 3, 6),
}

_Groups = defaultdict[tuple[str, int], list[int]]
"""Rows and parity by table and part."""


def _groups() -> _Groups:
    return defaultdict(lambda: [0, 0])


class Proofs:
    """The proofs of an open file; inside of a transaction, those of what it changes.

    Args:
        db: The connection. Whoever calls keeps other threads out.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._changed = _groups()

    def add(self, table: str, row: Row) -> None:
        """Take note of a row that is written: its columns in the order of the schema."""
        self._note(table, row, 1)

    def remove(self, table: str, row: Row) -> None:
        """Take note of a row that goes."""
        self._note(table, row, -1)

    def remove_where(self, table: str, condition: str, values: Row) -> None:
        """Take note of the rows that are about to go, or to be written differently."""
        for row in self._rows(table, condition, values):
            self.remove(table, row)

    def add_where(self, table: str, condition: str, values: Row) -> None:
        """Take note of rows that stand as they are now."""
        for row in self._rows(table, condition, values):
            self.add(table, row)

    def _note(self, table: str, row: Row, count: int) -> None:
        group = self._changed[table, row[0] >> _TABLES[table].shift]
        group[0] += count
        group[1] ^= _written(table, row)

    def write(self) -> None:
        """Write what has changed; to be called last in a transaction."""
        for (table, part), (more, changed) in self._changed.items():
            key = _TABLES[table].kind, part
            before = self._db.execute(
                "SELECT rows, parity FROM proof WHERE kind = ? AND part = ?", key
            ).fetchone()
            kept = before or (0, b"")
            rows, parity = kept[0] + more, _number(kept[1]) ^ changed
            if rows or parity:
                self._db.execute(_ADDED, (*key, rows, _bytes(parity)))
            elif before is not None:
                self._db.execute("DELETE FROM proof WHERE kind = ? AND part = ?", key)
        self.drop()

    def drop(self) -> None:
        """Forget what has changed: it was undone."""
        self._changed = _groups()

    # -- examining ----------------------------------------------------------------------------

    def disproved(self) -> list[Disproved]:
        """Return the groups whose rows are not those that were written."""
        names = {table.kind: name for name, table in _TABLES.items()}
        kept = {
            (names[kind], part): [rows, _number(parity)]
            for kind, part, rows, parity in self._db.execute("SELECT * FROM proof")
            if kind in names
        }
        found = self._found()
        groups = [
            self._disproved(name, part, kept.get((name, part), [0, 0]), found[name, part])
            for name, part in sorted(set(kept) | set(found))
            if kept.get((name, part), [0, 0]) != found[name, part]
        ]
        return list(self._with_moved(groups))

    def _with_moved(self, groups: list[Disproved]) -> Iterator[Disproved]:
        """Tell once of a row whose number was altered: it is gone here, and too many there.

        While rows are missing, what stands in a group without a proof may be such.
        """
        gone = {(one.table, one.was[1:]): one for one in groups if one.was and not one.now}
        moved: dict[Disproved, Row] = {}
        there = [one for one in groups if one.missing < 0 and not one.was]
        left = {one: -one.missing for one in there}
        for group in there:
            part = group.first >> _TABLES[group.table].shift
            for row in self._rows(group.table, *_in_group(_TABLES[group.table], part)):
                if (before := gone.pop((group.table, row[1:]), None)) is not None:
                    moved[before] = row
                    left[group] -= 1
        short = {one.table for one in groups if one.missing > 0 and one not in moved}
        for group in groups:
            if group in moved:
                yield replace(group, missing=0, now=moved[group])
            elif group.unproved and group.missing < 0 and group.table in short:
                yield replace(group, unproved=False)
            elif left.get(group, 1):
                yield group

    def is_right(self, table: str, number: int) -> bool:
        """Return whether a group is as it was written, given a number that is in it."""
        return not any(self._difference(table, number))

    def take(self, table: str, number: int) -> None:
        """Take the rows of a group as they stand now."""
        difference = self._difference(table, number)
        if any(difference):
            self._changed[table, number >> _TABLES[table].shift] = list(difference)

    def _difference(self, table: str, number: int) -> tuple[int, int]:
        """Return the rows and the parity that stand beyond those that were written."""
        of, part = _TABLES[table], number >> _TABLES[table].shift
        key = of.kind, part
        kept = self._db.execute(
            "SELECT rows, parity FROM proof WHERE kind = ? AND part = ?", key
        ).fetchone()
        rows, parity = (-kept[0], _number(kept[1])) if kept else (0, 0)
        for row in self._rows(table, *_in_group(of, part)):
            rows, parity = rows + 1, parity ^ _written(table, row)
        return rows, parity

    def restore(self, group: Disproved) -> bool:
        """Write a row as it was, or prove whole rows anew; return whether that was done."""
        if group.unproved:
            self.take(group.table, group.first)
            return True
        if group.was is None and group.now is None:
            return False
        table = _TABLES[group.table]
        columns = table.columns.split(", ")
        named = " AND ".join(f"{column} = ?" for column in columns[: table.key])
        if group.now is not None and group.was is not None:
            values = ", ".join(f"{column} = ?" for column in columns)
            self._db.execute(
                f"UPDATE {group.table} SET {values} WHERE {named}",  # noqa: S608
                (*group.was, *group.now[: table.key]),
            )
        elif group.was is not None:
            if group.table == "pack":
                return False  # its bytes are gone
            marks = ", ".join("?" * len(columns))
            self._db.execute(
                f"INSERT INTO {group.table} ({table.columns}) VALUES ({marks})",  # noqa: S608
                group.was,
            )
        return group.was is not None

    def settle(self, losses: Iterable[str]) -> None:
        """Take rows as they stand, and keep sentences of what is lost; versions have entries."""
        for group in self.disproved():
            if group.table != "version":
                self.take(group.table, group.first)
        for loss in losses:
            said = loss.encode("utf-8", "surrogatepass")
            part = int.from_bytes(blake2b(said, digest_size=_DIGEST).digest(), signed=True)
            self._db.execute(_ADDED, (_SETTLED, part, 0, said))

    def settled(self) -> set[str]:
        """Return the sentences that were kept."""
        rows = self._db.execute("SELECT parity FROM proof WHERE kind = ?", (_SETTLED,))
        return {bytes(said).decode("utf-8", "surrogatepass") for (said,) in rows}

    def _found(self) -> _Groups:
        found = _groups()
        for name, table in _TABLES.items():
            for row in self._rows(name):
                try:
                    group = found[name, row[0] >> table.shift]
                except TypeError:  # a number was made a text
                    group = found[name, -1]
                group[0] += 1
                group[1] ^= _written(name, row)
        return found

    def _rows(self, table: str, condition: str = "1", values: Row = ()) -> Iterator[Row]:
        columns = _TABLES[table].columns
        return iter(
            self._db.execute(f"SELECT {columns} FROM {table} WHERE {condition}", values)  # noqa: S608
        )

    def _disproved(self, name: str, part: int, kept: list[int], found: list[int]) -> Disproved:
        table = _TABLES[name]
        missing, wrong = kept[0] - found[0], kept[1] ^ found[1]
        first = part << table.shift
        if found[0] and (not kept[1] or _is_of_no_row(wrong, whole=table.whole)):
            return Disproved(name, first, first + (1 << table.shift), missing, unproved=True)
        was = now = None
        if table.whole and missing == 1:
            was = _read(name, wrong)
        elif table.whole and missing in (0, -1):
            for row in self._rows(name, *_in_group(table, part)):
                before = wrong ^ _written(name, row)
                if missing == -1 and not before:
                    now = row
                elif missing == 0 and (was := _read(name, before)) is not None:
                    now = row
                    break
        return Disproved(name, first, first + (1 << table.shift), missing, was, now)


def _is_of_no_row(wrong: int, *, whole: bool) -> bool:
    """Tell whether a difference of parities cannot be that of rows: a proof itself was altered.

    Rows that are lost or altered change all bytes of the digest but a few, and mostly values.
    """
    content = _bytes(wrong).ljust(_DIGEST, b"\0")
    digest, values = content[:_DIGEST], content[_DIGEST:]
    if any(values):
        return whole and not any(digest)
    return sum(map(bool, digest)) <= _DIGEST // 2


def _in_group(table: _Table, part: int) -> tuple[str, Row]:
    by = table.columns.partition(",")[0]
    return f"{by} >= ? AND {by} < ?", (part << table.shift, (part + 1) << table.shift)


def _written(table: str, row: Row) -> int:
    text = json.dumps(row, default=_as_json, separators=(",", ":"))
    values = text.encode("utf-8", "surrogatepass")
    digest = _digest(table, values)
    return int.from_bytes(digest + values if _TABLES[table].whole else digest, "little")


def _digest(table: str, values: bytes) -> bytes:
    return blake2b(values, digest_size=_DIGEST, person=table.encode()).digest()


def _read(table: str, written: int) -> Row | None:
    """Return a row, None if this is none."""
    content = _bytes(written)
    digest, values = content[:_DIGEST], content[_DIGEST:]
    if _digest(table, values) != digest:
        return None
    return tuple(
        bytes.fromhex(value[0]) if isinstance(value, list) else value
        for value in json.loads(values)
    )


def _number(parity: bytes | str) -> int:
    """Return a parity as a number, also one that was made a text."""
    content = parity.encode("utf-8", "surrogateescape") if isinstance(parity, str) else parity
    return int.from_bytes(content, "little")


def _bytes(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def _as_json(value: Any) -> list[str]:
    if not isinstance(value, bytes):
        raise TypeError(f"a row has a {type(value).__name__}")
    return [value.hex()]
