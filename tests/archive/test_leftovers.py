"""What writers that died left behind, and what a purge leaves: told from damage, and removed."""

import random
from dataclasses import replace
from hashlib import sha256

import pytest

from mmcrawl.archive import Archive, Capture
from mmcrawl.archive.format import About, Entry, packed
from mmcrawl.errors import StoreError

URL = "http://h.test/"
FACTS = b'["","","","","",0,[]]'


def noise(seed: int, size: int = 20_000) -> bytes:
    return random.Random(seed).randbytes(size)


def die_after_the_segment(archive: Archive, body: bytes, number: int, time: float = 5.0) -> None:
    """Write what a process has written that was killed before it wrote a row."""
    index = archive._index
    with index.writing():
        first = index.reserve({"h.test": 1})["h.test"]
        about = About("h.test", first >> 32, first & 0xFFFFFFFF, 0, {1: URL})
        digest = sha256(body).digest()
        entry = Entry(1, 1, number, time, 200, FACTS, digest, len(body))
        index.add_segments([packed(about, [entry], [body], 3, 3)])


@pytest.mark.parametrize("sealed", [False, True])
def test_a_record_without_a_row_is_a_leftover_and_a_repair_completes_it(archive, sealed):
    before = archive.store(Capture(URL, noise(1), 1.0)).version
    die_after_the_segment(archive, noise(2), 2)
    if sealed:
        archive.pack()
    report = archive.check()
    assert report.faults == ()
    assert report.leftovers > 0
    report = archive.check(repair=True)
    assert (report.faults, report.removed) == ((), 0)
    assert report.completed > 0
    assert archive.rebuild(archive.version(URL, 2)).body == noise(2)
    assert archive.rebuild(before).body == noise(1)
    report = archive.check()
    assert (report.faults, report.leftovers) == ((), 0)
    assert archive.store(Capture(URL, noise(3), 9.0)).version.number == 3


def test_a_number_that_another_took_is_a_leftover_that_goes(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    after = archive.store(Capture(URL, noise(3), 2.0)).version
    die_after_the_segment(archive, noise(2), after.number)
    report = archive.check()
    assert (report.faults, report.leftovers) == ((), 1)
    assert archive.check(repair=True).removed == 1
    assert (archive.check().faults, archive.check().leftovers) == ((), 0)
    assert archive.stats().kept_bytes == 40_000
    assert archive.rebuild(after).body == noise(3)


def test_a_store_that_died_before_it_noted_how_a_url_stands(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    row = archive._index.url(URL)
    archive.store(Capture(URL, noise(2), 2.0))
    archive._index.put_url(row)
    assert archive.check().leftovers == 1
    assert archive.store(Capture(URL, noise(3), 3.0)).version.number == 3
    report = archive.check()
    assert report.faults == ()
    archive.check(repair=True)
    assert (archive.check().faults, archive.check().leftovers) == ((), 0)
    assert [archive.rebuild(v).body for v in archive.versions(URL)] == [*map(noise, (1, 2, 3))]


def test_a_purge_that_died_is_finished_by_a_repair(archive, page):
    archive.store(Capture(URL, noise(1), 1.0))
    archive.store(Capture(URL, noise(2), 2.0))
    row = archive._index.version(1, 1)
    archive.purge(url=URL, before=3.0)
    archive._index.add_versions([row])  # as if it had not come to that
    report = archive.check()
    assert (report.faults, report.leftovers) == ((), 1)
    archive.check(repair=True)
    assert (archive.check().faults, archive.check().leftovers) == ((), 0)
    assert [version.number for version in archive.versions(URL)] == [2]


@pytest.mark.parametrize("step", ["remove", "remove_url", "remove_segments"])
def test_a_purge_of_a_host_that_died_is_no_damage(archive, monkeypatch, step):
    archive.store(Capture("http://g.test/", noise(1), 1.0))
    archive.store_many([Capture(f"{URL}{n}", noise(n), 1.0) for n in range(2)])

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(type(archive._index), step, die)
        with pytest.raises(KeyboardInterrupt):
            archive.purge(host="h.test")
    assert archive.check().faults == ()
    assert archive.check(repair=True).faults == ()
    assert (archive.check().faults, archive.check().leftovers) == ((), 0)
    assert archive.counts()["versions"] in (1, 3)  # a transaction takes the purge back


def test_what_was_purged_does_not_come_back_from_segments_that_a_process_left(archive):
    store = archive._index.store
    archive.store(Capture("http://g.test/", noise(9), 1.0))
    for n in range(2):
        archive.store(Capture(URL, noise(n), float(n)))
    left = dict(store.range("segment"))
    archive.pack()
    store.insert_new("segment", left)  # as if it had died before it removed them
    assert archive.check().leftovers > 0
    assert archive.purge(host="h.test").versions == 2
    archive.check(repair=True)
    assert (archive.check().faults, archive.check().leftovers) == ((), 0)
    assert [*archive.urls()] == ["http://g.test/"]


def damage(archive, segment, name):
    """Take the head or the data of a segment out; return what puts it back."""
    store = archive._index.store
    ((_, row),) = store.range("segment", ("key", "=", segment.key))
    store.put("segment", {segment.key: {**row, name: bytes(len(row[name]))}})
    archive._reader.__init__(archive._index)  # which has read it before
    return lambda: store.put("segment", {segment.key: row})


def test_nothing_is_removed_beside_damage(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    archive.store(Capture("http://g.test/", noise(1), 1.0))
    die_after_the_segment(archive, noise(2), 1)
    damage(archive, next(archive._index.all_segments())[0], "data")
    report = archive.check(repair=True)
    assert not report.clean
    assert (report.leftovers, report.removed) == (1, 0)


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
    for n in range(3):
        archive.store(Capture(URL, noise(n), float(n)))
    archive.note_unchanged(URL, 1.5)
    row = archive._index.url(URL)
    archive.purge(url=URL, before=2.5)
    assert archive._index.url(URL) == replace(row, seen=2.0)
    assert archive.check().faults == ()
    assert archive.store(Capture(URL, noise(7), 9.0)).version.number == 4
