"""Rows of parts that changed, and the same parts made of them elsewhere."""

from __future__ import annotations

import pytest
import zstandard

from mmcrawl.cluster import Changes, Rows
from mmcrawl.cluster import changes as module
from mmcrawl.frontier import JOB_SHIFT, open_store
from tests.tables import each

NAMES = [table.name for table in module._TABLES]
LEFT_BEHIND = {"job", "note"}  # a part notes nothing there that others need
PART = 5


@pytest.fixture
def store():
    with open_store("memory:") as opened:
        yield opened


@pytest.fixture
def other():
    with open_store("memory:") as opened:
        yield opened


def rows_of(store, *, scores=False):
    """Return the rows of all tables as others are to have them."""
    found = {}
    for table in module._TABLES:
        columns = [row[1] for row in store.db.execute(f"PRAGMA table_info({table.name})")]
        shown = [
            f"CASE {name} WHEN 'R' THEN 'W' ELSE {name} END" if name == "status" else name
            for name in columns
            if name not in table.left_out and (scores or name not in module._SCORES)
        ]
        found[table.name] = sorted(
            store.db.execute(f"SELECT {', '.join(shown)} FROM {table.name}"), key=repr
        )
    return found


VALUES = {"status": "W", "parent": None, "others": "[]"}
VALUES_OF = {("link", "status"), ("link", "parent"), ("media_resource", "others")}


def sample(store, table, part=PART):
    """Return a row of a table."""
    row = {}
    for _, name, kind, *_ in store.db.execute(f"PRAGMA table_info({table.name})"):
        row[name] = {"INTEGER": 3, "REAL": 0.5, "TEXT": "x", "BLOB": b"abcd"}[kind]
    row |= {name: VALUES[name] for name in row if (table.name, name) in VALUES_OF}
    row[table.key[0]] = part if table.by_job else part << JOB_SHIFT | 3
    if table.name == "listed":
        row |= {"id": 3, "parent": 3}
    return row


def add(store, table, row):
    with store.writing() as db:
        marks = ", ".join(f":{name}" for name in row)
        db.execute(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({marks})", row)


def test_every_table_of_a_crawl_is_noted(store):
    tables = {
        name
        for (name,) in store.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_")
    }
    columns = {
        name: [row[1] for row in store.db.execute(f"PRAGMA table_info({name})")] for name in tables
    }
    with_rows = {name for name in tables if {"job", "host"} & {*columns[name]} or name == "page"}
    assert with_rows - LEFT_BEHIND == {*NAMES}


@pytest.mark.parametrize("table", module._TABLES, ids=NAMES)
def test_what_changes_in_a_row_is_noted(store, other, table):
    changes = Changes(store)
    there = Changes(other)
    row = sample(store, table)
    add(store, table, row)
    taken = changes.take()
    assert {part: {*rows.put} for part, rows in taken.items()} == {PART: {table.name}}
    there.put(PART, taken.values())
    assert rows_of(other, scores=True) == rows_of(store, scores=True)
    there.put(PART, taken.values())  # a log may be read twice
    there.remove(PART)
    assert not any(rows_of(other).values())
    there.put(PART, map(Rows.decode, changes.all_of(store.db, PART)))
    assert rows_of(other, scores=True) == rows_of(store, scores=True)
    for name in row.keys() - {*table.key} - {*table.left_out}:
        value = {"x": "y", 3: 7, 0.5: 7.5, b"abcd": b"abcdefgh", "W": "C", "[]": "[1]"}.get(
            row[name], PART << JOB_SHIFT | 1
        )
        with store.writing() as db:
            db.execute(f"UPDATE {table.name} SET {name} = ?", (value,))
        taken = changes.take()
        assert bool(taken) == (name not in module._SCORES), name
        there.put(PART, taken.values())
        assert rows_of(other) == rows_of(store)
    with store.writing() as db:
        db.execute(f"DELETE FROM {table.name}")
    taken = changes.take()
    assert {*taken[PART].gone} == {table.name}
    there.put(PART, taken.values())
    assert not any(rows_of(other).values())
    assert changes.take() == there.take() == {}


@each(
    "data",
    [
        b"",
        b"x",
        zstandard.compress(b"x"),
        Rows({"film": [[1]]}, {}).encode(),
        Rows({"host": [[1, 2, "x"]]}).encode()[:-2],
    ],
)
def test_what_is_no_rows_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        Rows.decode(data)
