"""Killed while it is closed, and damaged: nothing acknowledged is lost, and damage is named."""

import random
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.warc import export_warc
from mmcrawl.errors import StoreError
from tests.warm import python


def body(n: int, size: int = 60_000) -> bytes:
    parts = [random.Random(k).randbytes(size // 40).hex() for k in range(n, n + 20)]
    return "".join(f"<div><p>{part}</p></div>" for part in parts).encode()


CLOSE = """
import random, sys
from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.format import sealing, writing
from mmcrawl.archive.index import Index
from tests.archive.test_faults import page_of_host

sealing.CLOSED, writing.OWN_FROM = 3 << 20, 1
sealing.TAIL = sealing.TAILS = 1 << 40  # all is sealed at the end
sealing.SEALED_LEVEL = 3
sealing.LONGEST_END = 1e9
replace = Index.replace

def replace_and_wait(*given, **how):
    done = replace(*given, **how)
    print("sealed", flush=True)
    sys.stdin.readline()
    return done

Index.replace = replace_and_wait
archive = open_archive("sqlite:///" + sys.argv[1], keep_blocks=False)
for n in range(200):
    url = f"http://h{n % 10}.test/{n}"
    archive.store(Capture(url, page_of_host(n), float(n), content_type="text/html"))
archive.close()
"""


def page_of_host(n: int) -> bytes:
    """A page of one of ten hosts; what the pages of a host share is kept once in its segment."""
    return body(n % 10).replace(b"<p>", b"<p>%d " % n)


def free_pages(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA freelist_count").fetchone()[0])


def test_a_close_that_is_killed_loses_nothing_and_opening_gives_its_room_back(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("mmcrawl.store.sqlite_documents._FREE_PAGES", 100)
    path = tmp_path / "archive.db"
    process = subprocess.Popen(
        [python(), "-c", CLOSE, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    for _ in range(5):  # of ten hosts
        assert process.stdout.readline() == "sealed\n"
        process.stdin.write("\n")
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert free_pages(path) > 100
    left = path.stat().st_size
    with open_archive(f"sqlite:///{path}") as archive:
        assert free_pages(path) == 0
        assert path.stat().st_size < left - (1 << 20)
        assert archive.check().faults == ()
        versions = [*archive.all_versions()]
        assert len(versions) == 200
        for version in versions[::10]:
            assert archive.rebuild(version).body == page_of_host(int(version.time))


# -- damage -----------------------------------------------------------------------------------


@pytest.fixture
def filled(tmp_path):
    """An archive of three hosts, 5 versions each, sealed."""
    path = tmp_path / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        for host in "abc":
            for n in range(5):
                url = f"http://{host}.test/"
                salted = host.encode() + body(n + 50 * ord(host))
                archive.store(Capture(url, salted, float(n), content_type="text/html"))
        archive.pack()
    return path


def flip(path: Path, column: str, stream: int, place: float = 0.5) -> None:
    """Change one bit of a column of a stream's first segment."""
    with sqlite3.connect(path) as db:
        key, value = db.execute(
            f"SELECT key, {column} FROM segment WHERE stream = ?", (stream,)
        ).fetchone()
        damaged = bytearray(value)
        damaged[int(len(damaged) * place)] ^= 0x10
        db.execute(f"UPDATE segment SET {column} = ? WHERE key = ?", (bytes(damaged), key))
    db.close()


@pytest.mark.parametrize("column", ["data", "head"])
def test_a_flipped_bit_is_found_and_named_and_the_rest_is_readable(filled, column, tmp_path):
    flip(filled, column, stream=2)
    with open_archive(f"sqlite:///{filled}") as archive:
        report = archive.check()
        assert not report.clean
        assert {fault.url for fault in report.faults} - {""} == {"http://b.test/"}
        assert any("segment 2/0" in fault.what for fault in report.faults)
        touched = {fault.version for fault in report.faults if fault.version is not None}
        assert 5 in touched
        for host in "ac":
            for version in archive.versions(f"http://{host}.test/"):
                archive.rebuild(version)
        with pytest.raises(
            StoreError, match=r"version 5 of http://b\.test/ cannot be read: .*(damaged|not those)"
        ):
            archive.rebuild(archive.get("http://b.test/"))
        exported = export_warc(archive, tmp_path / "left.warc.gz")
    assert exported.responses >= 10  # of the two other hosts
    assert exported.problems
    assert all("http://b.test/" in problem for problem in exported.problems)


def test_what_was_damaged_can_be_stored_again_after_a_repair(filled):
    flip(filled, "data", stream=2)
    again = Capture("http://new.test/", b"b" + body(4 + 50 * ord("b")), 9.0)
    with open_archive(f"sqlite:///{filled}") as archive:
        archive.check(repair=True)
        version = archive.store(again).version
        assert archive.rebuild(version).body == again.body


def test_a_flipped_bit_costs_what_stands_behind_it_and_nothing_before(filled):
    flip(filled, "data", stream=2, place=0.97)
    with open_archive(f"sqlite:///{filled}") as archive:
        touched = {fault.version for fault in archive.check().faults}
        for version in archive.versions("http://b.test/"):
            if version.number not in touched:
                archive.rebuild(version)
        assert 5 in touched
        assert touched.isdisjoint({1, 2, 3})


def test_a_tail_that_is_damaged_is_not_sealed_over(tmp_path, caplog):
    path = tmp_path / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        archive.store(Capture("http://a.test/", body(1), 1.0))
        flip(path, "data", stream=1)
        with pytest.raises(StoreError, match="damaged"):
            archive.pack()
        assert not archive.check().clean
    assert "was not sealed" in caplog.text


def test_intake_goes_on_beside_a_tail_that_cannot_be_sealed(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.format.sealing.TAIL", 30_000)
    path = tmp_path / "archive.db"
    with open_archive(f"sqlite:///{path}") as archive:
        archive.store(Capture("http://a.test/", body(1), 1.0))
        archive.pack()
        flip(path, "data", stream=1)
        for n in range(2, 12):
            version = archive.store(Capture("http://a.test/", body(20 * n), float(n))).version
            assert archive.rebuild(version).body == body(20 * n)
    assert "was not sealed" in caplog.text
