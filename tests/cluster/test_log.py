"""The logs of parts: who has one, and what is read of it."""

from __future__ import annotations

import pytest

from mmcrawl.cluster import PartLogs
from tests.tables import each

from .memory import memory_store


@pytest.fixture
def store():
    return memory_store()


@pytest.fixture
def ann(store):
    return PartLogs(store, "ann")


@pytest.fixture
def bob(store):
    return PartLogs(store, "bob")


def claimed(logs, *parts):
    """Take parts over; return those that were won."""
    return logs.claim(logs.read(parts))


def stood(logs, part=3):
    stored = logs.read([part])[part]
    return stored.number, stored.term, stored.owner, stored.rows, stored.fault


def test_a_part_goes_to_who_claims_it_first(ann, bob):
    seen = bob.read([3, 4])
    assert claimed(ann, 3) == {3}
    assert bob.claim(seen) == {4}
    assert stood(bob) == (1, 1, "ann", [], "")
    assert stood(bob, 4) == (1, 1, "bob", [], "")


def test_entries_are_read_in_order(ann, bob):
    claimed(ann, 3)
    assert ann.append({3: (1, 1, b"one")}) == ann.append({3: (2, 1, b"two")}) == set()
    assert stood(bob) == (3, 1, "ann", [b"one", b"two"], "")


def test_who_was_replaced_is_told_at_the_next_entry(ann, bob):
    claimed(ann, 3, 4)
    claimed(bob, 3)
    assert ann.append({3: (1, 1, b"late"), 4: (1, 1, b"own")}) == {3}
    assert bob.append({3: (2, 2, b"new")}) == set()
    assert stood(ann) == (3, 2, "bob", [b"new"], "")


def test_a_snapshot_stands_for_the_entries_before_it(store, ann, bob):
    claimed(ann, 3)
    ann.append({3: (1, 1, b"one")})
    assert ann.save_snapshot(3, 2, 1, [b"some", b"more"]) == 8
    ann.append({3: (2, 1, b"two")})
    stored = bob.read([3])[3]
    assert stored.rows == [b"some", b"more", b"two"]
    assert (stored.number, stored.snapshot, stored.size, stored.log) == (3, 2, 8, 3)
    assert (stored.term, stored.owner) == (1, "ann")
    assert [row["bytes"] for row in store.all("log")] == [b"", b"two"]
    ann.save_snapshot(3, 3, 1, [b"all"])
    assert stood(bob) == (3, 1, "ann", [b"all"], "")
    assert [len(store.all(table)) for table in ("snapshot", "chunk", "log")] == [1, 1, 1]


def test_who_was_replaced_cannot_write_below_a_snapshot(ann, bob):
    claimed(ann, 3)
    claimed(bob, 3)
    bob.append({3: (2, 2, b"new")})
    bob.save_snapshot(3, 3, 2, [b"all"])
    assert ann.append({3: (1, 1, b"late")}) == {3}
    assert stood(ann) == (3, 2, "bob", [b"all"], "")


def test_who_read_a_part_before_a_snapshot_does_not_get_it(ann, bob):
    claimed(ann, 3)
    seen = bob.read([3])
    ann.append({3: (1, 1, b"one")})
    ann.save_snapshot(3, 2, 1, [b"all"])
    assert bob.claim(seen) == set()
    assert stood(bob) == (2, 1, "ann", [b"all"], "")
    assert ann.append({3: (2, 1, b"two")}) == set()


def test_a_snapshot_by_who_was_replaced_does_no_harm(ann, bob):
    claimed(ann, 3)
    ann.append({3: (1, 1, b"one")})
    claimed(bob, 3)
    ann.save_snapshot(3, 2, 1, [b"all"])
    bob.append({3: (3, 2, b"two")})
    assert stood(bob) == (4, 2, "bob", [b"all", b"two"], "")


@pytest.mark.parametrize("moment", ["log", "chunk"])
def test_a_log_that_is_shortened_while_it_is_read_is_not_called_damaged(store, ann, bob, moment):
    claimed(ann, 3)
    ann.append({3: (1, 1, b"one")})
    ann.save_snapshot(3, 2, 1, [b"all"])
    ann.append({3: (2, 1, b"two")})

    def shorten(operation, table):
        if table == moment and operation in ("range", "get"):
            store._documents.before = lambda operation, table: None
            ann.save_snapshot(3, 3, 1, [b"everything"])
            ann.append({3: (3, 1, b"three")})

    store._documents.before = shorten
    assert bob.read([3]) == {}
    assert stood(bob) == (4, 1, "ann", [b"everything", b"three"], "")


@pytest.mark.parametrize(
    ("table", "key", "fault"),
    [
        ("log", "0003/000000000004", "entry 4 of its log is missing"),
        ("log", "0003/000000000003", "entry 3 of its log is missing"),
        ("chunk", "0003/000000000003", "chunk 0 of its snapshot is missing"),
        ("snapshot", "0003/000000000003", "entry 1 of its log is missing"),
    ],
)
def test_a_part_of_which_something_is_missing_is_called_damaged(store, ann, table, key, fault):
    claimed(ann, 3)
    for number in (1, 2):
        ann.append({3: (number, 1, b"x")})
    ann.save_snapshot(3, 3, 1, [b"all"])
    for number in (3, 4, 5):
        ann.append({3: (number, 1, b"x")})
    store.delete_between(table, key, key + "z")
    assert stood(ann)[-1] == fault


@each("field", ["term", "owner", "bytes"])
def test_an_entry_without_a_field_is_a_fault_of_its_part_alone(field: str) -> None:
    store = memory_store()
    logs = PartLogs(store, "ann")
    logs.append({1: (0, 1, b""), 2: (0, 1, b"")})
    del store._documents._tables["log"][store.key("0001/000000000000")][field]
    found = logs.read([1, 2])
    assert field in found[1].fault
    assert not found[2].fault
