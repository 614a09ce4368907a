"""What writers that died left behind, and what a purge leaves: told from damage, and removed."""

import random
import time
from hashlib import sha256

import pytest

from mmcrawl.archive import (
    Archive,
    ArchiveStore,
    Capture,
    RefusedError,
    copy_archive,
    open_archive,
)
from mmcrawl.archive.format import About, Entry, Facts, packed
from mmcrawl.errors import StoreError

URL = "http://h.test/"


def noise(seed: int, size: int = 20_000) -> bytes:
    return random.Random(seed).randbytes(size)


def die_after_the_segment(archive: Archive, body: bytes, number: int, time: float = 5.0) -> None:
    """Write what a process has written that was killed before it wrote a row."""
    index = archive._index
    with index.writing():
        first = index.reserve({"h.test": 1})["h.test"]
        about = About("h.test", first >> 32, first & 0xFFFFFFFF, 0, {1: URL})
        digest = sha256(body).digest()
        entry = Entry(1, 1, number, time, 200, Facts(), digest, len(body))
        index.add_segments([packed(about, [entry], [body], 3, 3)])


@pytest.mark.parametrize("sealed", [False, True])
def test_a_record_without_a_row_is_an_orphan_and_a_repair_completes_it(archive, sealed):
    before = archive.store(Capture(URL, noise(1), 1.0)).version
    die_after_the_segment(archive, noise(2), 2)
    if sealed:
        archive.pack()
    report = archive.check()
    assert report.faults == ()
    assert report.orphans > 0
    report = archive.check(repair=True)
    assert (report.faults, report.removed) == ((), 0)
    assert report.completed > 0
    assert archive.rebuild(archive.version(URL, 2)).body == noise(2)
    assert archive.rebuild(before).body == noise(1)
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 0)
    assert archive.store(Capture(URL, noise(3), 9.0)).version.number == 3


def test_a_number_that_another_took_is_an_orphan_that_goes(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    after = archive.store(Capture(URL, noise(3), 2.0)).version
    die_after_the_segment(archive, noise(2), after.number)
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 1)
    assert archive.check(repair=True).removed == 1
    assert (archive.check().faults, archive.check().orphans) == ((), 0)
    assert archive.stats().kept_bytes == 40_000
    assert archive.rebuild(after).body == noise(3)


def test_what_was_purged_does_not_come_back_from_segments_that_a_process_left(archive):
    store = archive._index.store
    archive.store(Capture("http://g.test/", noise(9), 1.0))
    for n in range(2):
        archive.store(Capture(URL, noise(n), float(n)))
    left = dict(store.range("segment"))
    archive.pack()
    store.insert_new("segment", left)  # as if it had died before it removed them
    assert archive.check().orphans > 0
    assert archive.purge(host="h.test").versions == 2
    archive.check(repair=True)
    assert (archive.check().faults, archive.check().orphans) == ((), 0)
    assert [*archive.urls()] == ["http://g.test/"]


def damage(archive, segment, name):
    """Take the head or the data of a segment out; return what puts it back."""
    store = archive._index.store
    ((_, row),) = store.range("segment", ("key", "=", segment.key))
    store.put("segment", {segment.key: {**row, name: bytes(len(row[name]))}})
    archive._reader.__init__(archive._index)  # which has read it before
    return lambda: store.put("segment", {segment.key: row})


def test_a_purge_takes_over_what_a_process_that_died_was_about_to_replace(archive):
    archive.store(Capture("http://g.test/", noise(9), 1.0))
    archive.store(Capture(URL, noise(1), 1.0))
    store = archive._index.store
    died = f"{1:08x}/{0:08x}/{int(time.time()) - 100:08x}abcdef"
    store.insert_new("reservation", {key: {"heir": died} for key, _ in store.range("segment")})
    assert archive.purge(host="h.test").versions == 1
    assert archive.check().faults == ()


def test_who_was_taken_for_dead_takes_back_what_it_wrote(archive, monkeypatch):
    """Else what another has purged meanwhile would come back with it."""
    index = archive._index
    for n in range(2):
        archive.store(Capture(URL, noise(n), float(n)))
    add = type(index).add_segments

    def held_up(self, made):
        add(self, made)
        index.store.delete("reservation")

    with monkeypatch.context() as context:
        context.setattr(type(index), "add_segments", held_up)
        archive._sealer.seal(1)
    assert len(next(index.all_segments())) == 2
    archive.pack()
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 0)


@pytest.mark.parametrize("host", ["h.test", "g.test"])
def test_what_is_purged_while_a_repair_reads_stays_purged(archive, monkeypatch, host):
    for name in ("http://g.test/", URL):
        archive.store(Capture(name, noise(1), 1.0))
        archive.note_unchanged(name, 2.0)
    writing = archive._index.writing

    def purge_and_write():
        monkeypatch.setattr(archive._index, "writing", writing)
        archive.purge(host=host)
        return writing()

    monkeypatch.setattr(archive._index, "writing", purge_and_write)
    assert archive.check(repair=True).faults == ()
    assert [*archive.hosts()] == [name for name in ("g.test", "h.test") if name != host]
    assert archive.counts()["versions"] == 1
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 0)


def test_a_visit_that_was_never_acknowledged_is_no_fault_though_a_later_one_is_noted(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    archive.note_unchanged(URL, 2.0)
    archive._index.store.delete("visit", ("time", "=", 2.0))  # its process died before it wrote it
    archive.note_unchanged(URL, 3.0)
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 1)
    assert archive.check(repair=True).completed == 1
    assert [visit.time for visit in archive.visits(URL)] == [1.0, 2.0, 3.0]


def test_a_large_segment_that_is_cut_off_is_damage_of_its_versions(archive, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.index._LARGE", 10_000)
    monkeypatch.setattr("mmcrawl.store.documents._PIECE", 10_000)
    archive.store(Capture(URL, noise(1, 40_000), 1.0))
    parts = [key for key, _ in archive._index.store.range("part")]
    archive._index.store.delete("part", ("key", "=", parts[-1]))
    (fault,) = archive.check(repair=True).faults
    assert f"version 1 of {URL}" in fault.what
    assert not fault.repaired


def test_a_url_that_is_no_text_is_refused_alone(archive):
    with pytest.raises(StoreError, match=r"http://h\.test/\\ud800' cannot be archived: its URL"):
        archive.store(Capture(f"{URL}\ud800", b"x", 1.0))
    store = ArchiveStore(archive)
    answers = store.store([Capture(f"{URL}\ud800", b"x", 1.0), Capture(URL, b"x", 1.0)])
    assert isinstance(answers.of[0], RefusedError)
    assert answers.of[1].version.number == 1


def test_nothing_is_removed_beside_damage(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    archive.store(Capture("http://g.test/", noise(1), 1.0))
    die_after_the_segment(archive, noise(2), 1)
    damage(archive, next(archive._index.all_segments())[0], "data")
    report = archive.check(repair=True)
    assert not report.clean
    assert (report.orphans, report.removed) == (1, 0)


def test_a_damaged_head_hides_no_other_version_of_its_url(archive, tmp_path):
    for n in range(3):
        archive.store(Capture(URL, noise(n), float(n)))
    archive.pack()
    archive.store(Capture(URL, noise(3), 3.0))
    archive.note_unchanged(URL, 4.0)
    damage(archive, next(archive._index.all_segments())[0], "head")
    failed: list[str] = []
    (left,) = archive.versions(URL, failed.append)
    assert archive.rebuild(left).body == noise(3)
    assert [what.partition(": ")[0] for what in failed] == [
        f"version {number} of {URL} cannot be read" for number in (1, 2, 3)
    ]
    assert [visit.time for visit, _ in archive.found(URL)] == [3.0, 4.0]
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        report = copy_archive(archive, copy)
        assert (report.versions, report.visits) == (4, 5)
        told = "\n".join(report.problems)
        assert all(f"version {number} of {URL} " in told for number in (1, 2, 3))
        assert "version 4" not in told
        assert copy.rebuild(copy.get(URL)).body == noise(3)


@pytest.mark.parametrize("column", ["head", "data"])
def test_a_purge_that_meets_damage_removes_nothing(archive, column):
    """Also where no transaction takes back what was removed before."""
    for name in "abc":
        archive.store(Capture(f"http://{name}.test/", noise(ord(name)), 1.0))
        archive.store(Capture(f"http://{name}.test/", noise(ord(name)) + noise(9), 2.0))
    archive.pack()
    *_, (last,) = archive._index.all_segments()
    put_back = damage(archive, last, column)

    def everything():
        tables = ("url", "version", "visit", "segment")
        return [[*archive._index.store.range(table)] for table in tables]

    before = everything()
    with pytest.raises(StoreError, match="damaged"):
        archive.purge(before=2.5)
    assert everything() == before
    put_back()
    archive._reader.forget(last.stream)
    assert archive.purge(before=2.5).versions == 3
    assert archive.check().faults == ()


def test_a_number_is_never_given_again(archive):
    archive.store(Capture(URL, noise(1), 10.0))
    assert archive.store(Capture(URL, noise(2), 5.0)).version.number == 2
    archive.purge(url=URL, before=11.0)
    assert [version.number for version in archive.versions(URL)] == [1]
    assert archive.check(repair=True).faults == ()
    assert archive.store(Capture(URL, noise(3), 12.0)).version.number == 3
