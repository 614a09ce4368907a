"""Rows of partitions that changed, and the same partitions made of them elsewhere."""

from __future__ import annotations

import sqlite3

import pytest

from mmcrawl.cluster import Changes, Rows
from mmcrawl.cluster import changes as module
from mmcrawl.errors import StoreError
from mmcrawl.frontier import JOB_SHIFT, InterLink, Ranking, open_store

NAMES = [table.name for table in module._TABLES]
LEFT_BEHIND = {"job", "note"}  # a partition notes nothing there that others need
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


def sample(store, table, partition=PART):
    """Return a row of a table."""
    row = {}
    for _, name, kind, *_ in store.db.execute(f"PRAGMA table_info({table.name})"):
        row[name] = {"INTEGER": 3, "REAL": 0.5, "TEXT": "x", "BLOB": b"abcd"}[kind]
    row |= {name: VALUES[name] for name in row if (table.name, name) in VALUES_OF}
    row[table.key[0]] = partition if table.by_job else partition << JOB_SHIFT | 3
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


def test_links_of_a_partition_that_is_gone_are_not_remembered(store):
    changes = Changes(store)
    tables = {table.name: table for table in module._TABLES}
    for anchor in ("first", "second"):  # it may come back with other links
        add(store, tables["host"], sample(store, tables["host"]))
        add(store, tables["link"], sample(store, tables["link"]) | {"host": 0, "anchor": anchor})
        assert InterLink(store, PART, Ranking("all", None)).known(3).anchor == anchor
        changes.remove(PART)


@pytest.mark.parametrize("table", module._TABLES, ids=NAMES)
def test_what_changes_in_a_row_is_noted(store, other, table):
    changes = Changes(store)
    there = Changes(other)
    row = sample(store, table)
    add(store, table, row)
    taken = changes.take()
    assert {partition: {*rows.put} for partition, rows in taken.items()} == {PART: {table.name}}
    there.put(PART, taken.values())
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
    there.put(PART, 2 * [*taken.values()])
    assert rows_of(other) == rows_of(store)
    there.put(PART, map(Rows.decode, changes.all_of(PART)))  # a snapshot, with scores
    assert rows_of(other, scores=True) == rows_of(store, scores=True)
    with store.writing() as db:
        db.execute(f"DELETE FROM {table.name}")
    taken = changes.take()
    assert {*taken[PART].gone} == {table.name}
    there.put(PART, taken.values())
    assert not any(rows_of(other).values())
    assert changes.take() == there.take() == {}


@pytest.mark.parametrize("table", module._TABLES, ids=NAMES)
def test_a_partition_is_removed_wholly_and_no_other(store, table):
    changes = Changes(store)
    for number, partition in enumerate((PART - 1, PART, PART + 1)):
        row = sample(store, table, partition)
        if table.name == "listed":
            row["id"] = number
        add(store, table, row)
    changes.take()
    changes.remove(PART)
    assert changes.take() == {}
    keys = [row[0] for row in store.db.execute(f"SELECT {table.key[0]} FROM {table.name}")]
    assert [key if table.by_job else key >> JOB_SHIFT for key in keys] == [PART - 1, PART + 1]


@pytest.mark.parametrize("row", [[1], [1, 2, "x", 4], "x", [1, 2, {}]])
def test_rows_of_another_shape_are_refused_and_leave_nothing(store, row):
    changes = Changes(store)
    with pytest.raises((StoreError, sqlite3.Error)):
        changes.put(PART, [Rows({"host": [[PART, 1, "http://a"]]}), Rows({"host": [row]})])
    changes.remove(PART)
    assert not any(rows_of(store).values())
