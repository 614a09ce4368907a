"""Whatever is done to the tables of an archive is told, and made good where something proves it."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.errors import StoreError

HOSTS = "abc"
VISITED = 50.5


def body(host: str, n: int) -> bytes:
    noise = [random.Random(f"{host}{n // 2}{k}").randbytes(400).hex() for k in range(30)]
    return "".join(f"<div><p>{host} {n} {part}</p></div>" for part in noise).encode()


def captures() -> Iterator[Capture]:
    for n in range(6):
        for host in HOSTS:
            headers = (("Content-Type", "text/html"), ("X-Number", str(n)))
            yield Capture(f"http://{host}.test/", body(host, n), float(n), headers=headers)
    for host in HOSTS:
        moved = (("Location", f"http://{host}.test/"),)
        yield Capture(f"http://{host}.test/old", b"", 7.0, status=301, headers=moved)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An archive of three hosts: versions, redirects, visits with heads and without, changes."""
    path = tmp_path_factory.mktemp("whole") / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        archive.store_many(captures())
        archive.pack()
        for n, host in enumerate(HOSTS):
            url = f"http://{host}.test/"
            again = Capture(url, body(host, 5), 40.0 + n, headers=(("X-Number", "again"),))
            archive.store_many([again])
            archive.note_unchanged(url, VISITED + n)
            archive.changed_kinds(url, [(1, 2), (2, 3)])
        archive.store(Capture("http://a.test/", body("a", 9), 60.0, content_type="text/html"))
    return path


@pytest.fixture
def path(whole, tmp_path):
    return shutil.copy(whole, tmp_path / "archive.db")


KEYS = {
    "stream": ("id",),
    "url": ("id",),
    "host": ("id",),
    "version": ("url", "number"),
    "visit": ("url", "time"),
    "pack": ("id",),
    "chunk": ("digest",),
    "change": ("url", "old", "new"),
    "proof": ("kind", "part"),
}
COLUMNS = {
    "stream": "id name entries chunks",
    "url": "id url key host stream last late",
    "host": "id name",
    "version": "url number time status digest size entry method level location",
    "visit": "url time number status head",
    "pack": "id entries chunk chunks raw level size manifest data",
    "chunk": "digest place",
    "change": "url old new kinds",
    "proof": "kind part rows parity",
}
CASES = (
    [("delete", table, "") for table in KEYS]
    + [("empty", table, "") for table in KEYS]
    + [("change", table, column) for table, names in COLUMNS.items() for column in names.split()]
    + [
        ("swap", table, column)
        for table, names in COLUMNS.items()
        for column in names.split()
        if column not in KEYS[table]
    ]
)


def rows_of(db: sqlite3.Connection, table: str) -> list[tuple]:
    keys = ", ".join(KEYS[table])
    return db.execute(f"SELECT {keys} FROM {table} ORDER BY {keys}").fetchall()


def altered(value, column):
    if value is None:
        return b"x" if column == "head" else 1
    if isinstance(value, bytes):
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    return value + ("x" if isinstance(value, str) else 1)


def tamper(path, how: str, table: str, column: str) -> None:
    db = sqlite3.connect(path)
    named = " AND ".join(f"{key} = ?" for key in KEYS[table])
    rows = rows_of(db, table)
    chosen = rows[len(rows) // 2]
    if how == "delete":
        db.execute(f"DELETE FROM {table} WHERE {named}", chosen)
    elif how == "empty":
        db.execute(f"DELETE FROM {table}")
    else:
        read = f"SELECT {column} FROM {table} WHERE {named}"
        write = f"UPDATE {table} SET {column} = ? WHERE {named}"
        (mine,) = db.execute(read, chosen).fetchone()
        if how == "change":
            new = altered(mine, column)
            while True:  # keys must stay unique
                try:
                    db.execute(write, (new, *chosen))
                    break
                except sqlite3.IntegrityError:
                    new = altered(new, column)
        else:
            theirs = {other: db.execute(read, other).fetchone()[0] for other in rows}
            others = [other for other, value in theirs.items() if value != mine]
            if not others:
                db.close()
                pytest.skip(f"all rows have the same {column}")
            db.execute(write, ("" if column in ("url", "name") else 99, *others[0]))
            db.execute(write, (theirs[others[0]], *chosen))
            db.execute(write, (mine, *others[0]))
    db.commit()
    db.close()


def test_what_was_not_touched_is_clean(path):
    with open_archive(f"sqlite:///{path}") as archive:
        assert archive.check().faults == ()
        assert archive.check(repair=True).faults == ()


@pytest.mark.parametrize(("how", "table", "column"), CASES)
def test_every_tampering_is_told_and_after_a_repair_no_more(path, how, table, column):
    tamper(path, how, table, column)
    try:
        with open_archive(f"sqlite:///{path}") as archive:
            report = archive.check()
            assert not report.clean
            assert all(fault.what for fault in report.faults)
            archive.check(repair=True)
            assert archive.check().clean
    except StoreError:
        pass  # told when it is opened


# -- repairs ----------------------------------------------------------------------------------

RESTORED = [
    ("delete", "version", "DELETE FROM version WHERE url = 2 AND number = 3"),
    ("all versions", "version", "DELETE FROM version"),
    ("status", "version", "UPDATE version SET status = 404, level = 9 WHERE url = 2"),
    ("location", "version", "UPDATE version SET location = 'x' WHERE status = 301"),
    ("digest", "version", "UPDATE version SET digest = zeroblob(32) WHERE url = 1 AND number = 2"),
    ("entry", "version", "UPDATE version SET entry = entry + 1 WHERE url = 1 AND number = 2"),
    ("number", "version", "UPDATE version SET number = 77 WHERE url = 1 AND number = 2"),
    ("URL", "url", "DELETE FROM url WHERE id = 2"),
    ("text", "url", "UPDATE url SET url = 'http://x.test/' WHERE id = 2"),
    ("key", "url", "UPDATE url SET key = 5 WHERE id = 2"),
    ("visit", "visit", "DELETE FROM visit WHERE url = 2 AND time < 50"),
    ("time", "visit", "UPDATE visit SET time = 45.0 WHERE url = 2 AND time < 50"),
    ("host", "host", "DELETE FROM host WHERE name = 'b.test'"),
    ("stream", "stream", "DELETE FROM stream WHERE name = 'b.test'"),
    ("entries", "stream", "UPDATE stream SET entries = 0 WHERE name = 'b.test'"),
    ("chunks", "stream", "UPDATE stream SET chunks = 0 WHERE name = 'c.test'"),
    # To where nothing stands, and nothing is proved.
    *(
        (f"number of a {table}", table, f"UPDATE {table} SET id = id + 1000 WHERE {what}")
        for table, what in (("host", "name = 'b.test'"), ("url", "id = 2"), ("stream", "id = 2"))
    ),
    ("URL of a visit", "visit", "UPDATE visit SET url = 1002 WHERE url = 2 AND time < 50"),
    (
        "number of a pack",
        "pack",
        f"UPDATE pack SET id = id + {1000 << 32} WHERE id = (SELECT max(id) FROM pack)",
    ),
]


def everything(path) -> dict[str, list[tuple]]:
    with sqlite3.connect(path) as db:
        return {
            table: db.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys)}").fetchall()
            for table, keys in KEYS.items()
            if table not in ("chunk", "stream")
        }


@pytest.mark.parametrize(("what", "table", "statement"), RESTORED, ids=[r[0] for r in RESTORED])
def test_a_repair_restores_what_something_else_proves(path, what, table, statement):
    before = everything(path)
    with sqlite3.connect(path) as db:
        assert db.execute(statement).rowcount > 0
    db.close()
    with open_archive(f"sqlite:///{path}") as archive:
        report = archive.check(repair=True)
        assert report.faults
        assert report.clean, report.faults
        assert report.removed == 0
        assert archive.check().faults == ()
        archive.store(Capture("http://b.test/new", body("b", 77), 99.0))
        archive.purge(url="http://b.test/new")
        assert archive.check().faults == ()
    after = everything(path)
    for name in ("version", "visit", "host", "change"):
        assert after[name] == before[name]
    assert [row[:5] for row in after["url"]] == [row[:5] for row in before["url"]]


def test_what_was_lost_is_named_by_url_and_time(path):
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM version WHERE url = 2 AND number = 3")
        db.execute("DELETE FROM visit WHERE url = 2 AND time < 50")
        db.execute("DELETE FROM url WHERE id = 3")
    db.close()
    with open_archive(f"sqlite:///{path}") as archive:
        told = {fault.what for fault in archive.check().faults}
    assert {
        "version 3 of http://b.test/ of 1970-01-01 00:00:02 UTC: its row is gone",
        "the visit of http://b.test/ at 1970-01-01 00:00:41 UTC is gone",
        "the row of http://c.test/ is gone",
    } <= told


def test_what_cannot_be_made_good_is_told_once_and_known_from_then_on(path):
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM visit WHERE url IN (1, 2)")
        other = "(SELECT id FROM stream WHERE name = 'c.test')"
        db.execute(f"UPDATE pack SET data = zeroblob(length(data)) WHERE id >> 32 = {other}")
    db.close()
    with open_archive(f"sqlite:///{path}") as archive:
        assert not archive.check().clean
        told = archive.check(repair=True)
        assert not told.clean
        lost = {fault.what for fault in told.faults if not fault.repaired}
        assert any("4 visits are gone" in what for what in lost)
        for repair in (False, True, False):
            report = archive.check(repair=repair)
            assert (report.faults, report.clean) == ((), True)
            assert lost <= {*report.known}
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM visit WHERE url = 3 AND time < 50")
    db.close()
    with open_archive(f"sqlite:///{path}") as archive:
        (new,) = archive.check().faults
        assert new.what.startswith("the visit of http://c.test/ at 1970-01-01 00:00:42 UTC is gone")


def test_a_lost_version_is_never_removed_as_a_leftover(path):
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM version WHERE url = 2 AND number = 6")
        other = "(SELECT id FROM stream WHERE name = 'c.test')"
        db.execute(f"UPDATE pack SET data = zeroblob(length(data)) WHERE id >> 32 = {other}")
    db.close()
    with open_archive(f"sqlite:///{path}") as archive:
        assert not archive.check(repair=True).clean
        assert archive.rebuild(archive.version("http://b.test/", 6)).body == body("b", 5)


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_of_the_file_is_told_or_changes_nothing(path, seed):
    """What no table and no index uses may be flipped unnoticed: nothing is read from it."""
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


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE chunk SET place = place + 1", "the index has"),
        *(
            (f"DELETE FROM proof WHERE kind = {kind}", f"what proves the {what}")
            for kind, what in enumerate(("hosts", "streams", "rows", "versions", "visits"), 1)
        ),
        ("UPDATE proof SET rows = rows + 1 WHERE kind = 5", "what proves the visits"),
        ("UPDATE proof SET parity = x'' WHERE kind = 3", "what proves the rows of http://a.test/"),
        (
            "UPDATE proof SET parity = CAST(substr(parity, 1, 20) || x'07' || substr(parity, 22)"
            " AS BLOB) WHERE kind = 1",
            "what proves the hosts",
        ),
    ],
)
def test_what_was_repaired_is_clean_at_the_next_check(path, change, told):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(change)
    with open_archive(f"sqlite:///{path}") as archive:
        assert not archive.check().clean
        report = archive.check(repair=True)
        assert report.clean
        assert [fault.what for fault in report.faults if told in fault.what]
        assert len({fault.what for fault in report.faults}) == len(report.faults)
        assert archive.check().faults == ()
