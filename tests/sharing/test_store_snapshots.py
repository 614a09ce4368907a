"""Snapshots: saved whole or not at all, the newest stays."""

from __future__ import annotations

import random

import pytest

from mmcrawl.errors import StoreError


@pytest.fixture
def copy(tmp_path):
    """Return a file that makes several parts."""
    path = tmp_path / "copy"
    path.write_bytes(random.Random(1).randbytes(9 << 20) + bytes(1 << 20))
    return path


def small(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(name.encode())
    return path


def test_a_snapshot_is_loaded_as_it_was_saved(stores, database, tmp_path, copy):
    assert stores[1].load_snapshot(tmp_path / "none") is None
    assert not (tmp_path / "none").exists()
    stores[0].save_snapshot(7, copy, {"term": 3, "a.b": [1, None]})
    assert database["crawl_part"].count_documents({}) > 2
    found = stores[1].load_snapshot(tmp_path / "new")
    assert found == (7, {"term": 3, "a.b": [1, None]})
    assert (tmp_path / "new").read_bytes() == copy.read_bytes()


def test_an_empty_file_is_a_snapshot(shared, tmp_path):
    (tmp_path / "empty").touch()
    shared.save_snapshot(0, tmp_path / "empty", {})
    assert shared.load_snapshot(tmp_path / "new") == (0, {})
    assert (tmp_path / "new").read_bytes() == b""


def test_older_ones_are_removed_and_newer_ones_stay(stores, database, tmp_path, copy):
    stores[0].save_snapshot(4, copy, {})
    stores[0].save_snapshot(9, small(tmp_path, "nine"), {})
    assert database["crawl_part"].count_documents({}) == 1
    stores[1].save_snapshot(6, small(tmp_path, "six"), {})
    assert stores[2].load_snapshot(tmp_path / "new") == (9, {})
    assert (tmp_path / "new").read_bytes() == b"nine"
    stores[1].save_snapshot(11, small(tmp_path, "eleven"), {})
    assert database["crawl_part"].count_documents({}) == 1
    assert database["crawl_snapshot"].count_documents({}) == 1


def test_the_first_of_two_with_one_number_stays(stores, database, tmp_path):
    stores[0].save_snapshot(5, small(tmp_path, "first"), {"by": "first"})
    stores[1].save_snapshot(5, small(tmp_path, "second"), {"by": "second"})
    assert stores[2].load_snapshot(tmp_path / "new") == (5, {"by": "first"})
    assert (tmp_path / "new").read_bytes() == b"first"
    assert database["crawl_part"].count_documents({}) == 1


def test_parts_of_one_who_died_are_no_snapshot(shared, database, tmp_path, copy, monkeypatch):
    shared.save_snapshot(3, small(tmp_path, "three"), {})
    with monkeypatch.context() as patch:
        patch.setattr(shared, "_save_head", lambda head: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            shared.save_snapshot(5, copy, {})
    assert shared.load_snapshot(tmp_path / "new") == (3, {})
    shared.save_snapshot(8, small(tmp_path, "eight"), {})
    assert database["crawl_part"].count_documents({}) == 1


def test_a_snapshot_replaced_while_it_is_loaded(stores, tmp_path, copy, monkeypatch):
    stores[0].save_snapshot(5, copy, {})
    real, times = stores[1]._one, []

    def one(table, key):
        times.append(key)
        if len(times) == 2:
            stores[0].save_snapshot(6, small(tmp_path, "six"), {"n": 6})
        return real(table, key)

    monkeypatch.setattr(stores[1], "_one", one)
    assert stores[1].load_snapshot(tmp_path / "new") == (6, {"n": 6})
    assert (tmp_path / "new").read_bytes() == b"six"


@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_damaged_snapshot_is_refused(shared, database, tmp_path, copy, damage):
    shared.save_snapshot(5, copy, {})
    part = list(database["crawl_part"].find())[1]
    if damage == "missing":
        database["crawl_part"].delete_one({"_id": part["_id"]})
    else:
        part["bytes"] = part["bytes"][:1000] + b"?" + part["bytes"][1001:]
        database["crawl_part"].replace_one({"_id": part["_id"]}, part)
    with pytest.raises(StoreError, match=r"snapshot 5 of store mongodb://.* is damaged"):
        shared.load_snapshot(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_files_that_cannot_be_used(shared, tmp_path, copy):
    with pytest.raises(StoreError, match="cannot be read: No such file"):
        shared.save_snapshot(1, tmp_path / "missing", {})
    shared.save_snapshot(1, copy, {})
    with pytest.raises(StoreError, match="cannot be written: File exists"):
        shared.load_snapshot(copy)
    assert copy.stat().st_size == 10 << 20
