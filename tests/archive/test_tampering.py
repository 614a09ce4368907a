"""Whatever is done to the tables of an archive is told, and made good where something proves it."""

import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError
from tests.archive.tampering import COLUMNS, HARMLESS, altered, body, fill
from tests.tables import each


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An archive of three hosts: versions, redirects, visits with heads and without, changes."""
    path = tmp_path_factory.mktemp("whole") / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        fill(archive)
    return path


@pytest.fixture
def path(whole, tmp_path):
    return shutil.copy(whole, tmp_path / "archive.db")


ALIKE = {("url", "own"), ("visit", "version")}  # the same in all rows
CASES = [
    *((how, table, "") for table in COLUMNS for how in ("delete", "empty")),
    *(
        (how, table, column)
        for table, names in COLUMNS.items()
        for column in names.split()
        for how in ("change", "swap")
        if how == "change" or (column != "key" and (table, column) not in ALIKE)
    ),
]


def tamper(path, how: str, table: str, column: str) -> None:
    db = sqlite3.connect(path)
    keys = [key for (key,) in db.execute(f"SELECT key FROM {table} ORDER BY key")]
    chosen = keys[len(keys) // 2]
    if how == "delete":
        db.execute(f"DELETE FROM {table} WHERE key = ?", [chosen])
    elif how == "empty":
        db.execute(f"DELETE FROM {table}")
    else:
        write = f"UPDATE {table} SET {column} = ? WHERE key = ?"
        values = dict(db.execute(f"SELECT key, {column} FROM {table}"))
        if how == "change":
            new = altered(values[chosen])
            while True:  # keys must stay unique
                try:
                    db.execute(write, (new, chosen))
                    break
                except sqlite3.IntegrityError:
                    new = altered(new)
        else:
            other = next(key for key, value in values.items() if value != values[chosen])
            db.execute(write, (values[other], chosen))
            db.execute(write, (values[chosen], other))
    db.commit()
    db.close()


@each("how, table, column", CASES)
def test_every_tampering_is_told_and_after_a_repair_no_more(whole, tmp_path, how, table, column):
    path = shutil.copy(whole, tmp_path / "archive.db")
    tamper(path, how, table, column)
    try:
        with open_archive(f"sqlite:///{path}") as archive:
            report = archive.check()
            assert report.clean == ((how, table, column) in HARMLESS)
            assert all(fault.what for fault in report.faults)
            archive.check(repair=True)
            assert archive.check().clean
    except StoreError:
        pass  # told when it is opened


# -- repairs ----------------------------------------------------------------------------------

B, C = "http://b.test/", "http://c.test/"
OF_B = "(SELECT id FROM url WHERE key = 'http://b.test/')"
KEY_B = f"key >> 24 = {OF_B}"
VISIT_B = f"url = {OF_B} AND time < 50"
RESTORED = [
    ("delete", f"DELETE FROM version WHERE {KEY_B} AND key % 8 = 3"),
    ("all versions", "DELETE FROM version"),
    ("status", f"UPDATE version SET status = 404 WHERE {KEY_B}"),
    ("time", f"UPDATE version SET time = time + 0.5 WHERE {KEY_B}"),
    ("place", f"UPDATE version SET at = at + 1 WHERE {KEY_B} AND key % 8 = 2"),
    ("number", f"UPDATE version SET key = key + 77 WHERE {KEY_B} AND key % 8 = 2"),
    ("URL", "DELETE FROM url WHERE key = 'http://b.test/'"),
    ("text", "UPDATE url SET key = 'http://x.test/' WHERE key = 'http://b.test/'"),
    ("no URL", "UPDATE url SET key = 'http://[x' WHERE key = 'http://b.test/'"),
    ("host", "UPDATE url SET host = 'x' WHERE key = 'http://b.test/'"),
    ("number of a URL", "UPDATE url SET id = id + 1000 WHERE key = 'http://b.test/'"),
    ("visit", f"DELETE FROM visit WHERE {VISIT_B}"),
    ("time of a visit", f"UPDATE visit SET time = 45.0 WHERE {VISIT_B}"),
    ("URL of a visit", f"UPDATE visit SET url = 1002 WHERE {VISIT_B}"),
    ("place of a visit", f"UPDATE visit SET key = key + 1000 WHERE {VISIT_B}"),
    ("stream", "DELETE FROM stream WHERE key = 'b.test'"),
    ("number of a stream", "UPDATE stream SET id = id + 1000 WHERE key = 'b.test'"),
    ("next", "UPDATE stream SET next = 0 WHERE key = 'b.test'"),
    ("counters", "DELETE FROM counter"),
    ("segments", "UPDATE segment SET stream = 9, first = 3, entries = 1, raw = 1, level = 7"),
    (
        "all of the index",
        *(f"DELETE FROM {name}" for name in ("url", "version", "visit", "stream", "counter")),
    ),
]


def everything(path) -> dict[str, list[tuple]]:
    with sqlite3.connect(path) as db:
        return {
            table: db.execute(f"SELECT * FROM {table} ORDER BY key").fetchall() for table in COLUMNS
        }


def done_to(path, *statements: str) -> None:
    """Write into an archive behind its back."""
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            assert db.execute(statement).rowcount > 0


@each("row", RESTORED)
def test_a_repair_makes_the_index_again_from_the_records(whole, tmp_path, row):
    _, *statements = row
    path = shutil.copy(whole, tmp_path / "archive.db")
    before = everything(path)
    done_to(path, *statements)
    with open_archive(f"sqlite:///{path}") as archive:
        report = archive.check(repair=True)
        assert report.faults
        assert report.clean, report.faults
        assert report.removed == 0
        assert archive.check().faults == ()
    assert everything(path) == before
    with open_archive(f"sqlite:///{path}") as archive:
        archive.store(Capture("http://b.test/new", body("b", 77), 99.0))
        archive.purge(url="http://b.test/new")
        assert archive.check().faults == ()


def test_what_was_lost_is_named_by_url_and_time(path):
    done_to(
        path,
        f"DELETE FROM version WHERE {KEY_B} AND key % 8 = 3",
        f"DELETE FROM visit WHERE {VISIT_B}",
        "DELETE FROM url WHERE key = 'http://c.test/'",
    )
    with open_archive(f"sqlite:///{path}") as archive:
        told = {fault.what for fault in archive.check().faults}
    assert {
        "version 3 of http://b.test/ of 1970-01-01 00:00:02 UTC: its row is gone",
        "the visit of http://b.test/ at 1970-01-01 00:00:41 UTC is gone",
        "the row of http://c.test/ is gone",
    } <= told


DAMAGE = (
    "UPDATE segment SET data = zeroblob(length(data)) WHERE raw > 0"
    " AND stream = (SELECT id FROM stream WHERE key = 'c.test')"
)


@pytest.mark.parametrize("damage", [DAMAGE, DAMAGE.replace("length(data)", "0")])
def test_what_cannot_be_made_good_is_told_once_and_known_from_then_on(path, damage):
    done_to(path, damage)
    with open_archive(f"sqlite:///{path}") as archive:
        assert not archive.check().clean
        told = archive.check(repair=True)
        assert not told.clean
        lost = {fault.what for fault in told.faults if not fault.repaired}
        assert {f"version {n} of {C} of 1970-01-01 00:00:0{n - 1} UTC" for n in range(1, 7)} == {
            what.partition(": it")[0] for what in lost
        }
        for repair in (False, True, False):
            report = archive.check(repair=repair)
            assert (report.faults, report.clean) == ((), True)
            assert lost <= {*report.known}
    done_to(path, "DELETE FROM visit WHERE time = 42.0")
    with open_archive(f"sqlite:///{path}") as archive:
        (new,) = archive.check().faults
        assert new.what.startswith("the visit of http://c.test/ at 1970-01-01 00:00:42 UTC is gone")


def test_what_was_put_back_and_is_lost_again_is_told_again(path):
    uri = f"sqlite:///{path}"
    kept = shutil.copy(path, f"{path}.kept")
    done_to(path, DAMAGE)
    with open_archive(uri) as archive:
        assert not archive.check(repair=True).clean
        assert archive.check().clean
    again = "UPDATE main.segment SET data ="
    again += " (SELECT data FROM kept.segment WHERE key = main.segment.key)"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ATTACH ? AS kept", [str(kept)])
        db.execute(again)
    with open_archive(uri) as archive:
        assert archive.check(repair=True).known == ()
    done_to(path, DAMAGE)
    with open_archive(uri) as archive:
        assert not archive.check().clean


@pytest.mark.parametrize("table", ["segment", "url"])
def test_a_segment_that_is_gone_is_told_by_all_that_it_had(path, table):
    done_to(path, "DELETE FROM segment WHERE stream = (SELECT id FROM stream WHERE key = 'c.test')")
    if table == "url":
        done_to(path, "DELETE FROM url WHERE key = 'http://c.test/'")
    with open_archive(f"sqlite:///{path}") as archive:
        told = " ".join(fault.what for fault in archive.check().faults)
        for n in range(6):
            assert f"version {n + 1} of " in told
            assert f"of 1970-01-01 00:00:0{n} UTC: it cannot be rebuilt" in told
        assert "at 1970-01-01 00:00:42 UTC cannot be read" in told
        assert not archive.check(repair=True).clean
        assert archive.check().clean


def test_a_lost_version_is_never_removed_as_an_orphan(path):
    done_to(path, f"DELETE FROM version WHERE {KEY_B} AND key % 8 = 6", DAMAGE)
    with open_archive(f"sqlite:///{path}") as archive:
        assert not archive.check(repair=True).clean
        assert archive.rebuild(archive.version("http://b.test/", 6)).body == body("b", 5)


@each("seed", range(24))
def test_a_flipped_bit_of_the_file_is_told_or_changes_nothing(whole, tmp_path, seed):
    """What no table and no index uses may be flipped unnoticed: nothing is read from it."""
    path = shutil.copy(whole, tmp_path / "archive.db")
    before = everything(path)
    chance = random.Random(seed)
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    try:
        with open_archive(f"sqlite:///{path}") as archive:
            clean = archive.check().clean
    except StoreError:
        clean = False
    if clean:
        assert everything(path) == before
