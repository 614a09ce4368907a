"""What writers that died left behind, and what a purge leaves: told from damage, and removed."""

import random
from hashlib import sha256

import pytest

from mmcrawl.archive import Archive, Capture, PackRow, place
from mmcrawl.archive.format import Entry, compressed, pack_manifest
from mmcrawl.errors import StoreError

URL = "http://h.test/"


def noise(seed: int, size: int = 20_000) -> bytes:
    return random.Random(seed).randbytes(size)


def digest(chunk: bytes) -> bytes:
    return sha256(chunk).digest()[:16]


def die_after_the_pack(archive: Archive, body: bytes, number: int = 99) -> int:
    """Write what a process has written that was killed behind add_packs; return the chunk."""
    backend = archive._backend
    with backend.writing():
        stream = backend.streams_named(["h.test"])["h.test"]
        entry, first = backend.reserve({stream: (1, 1)})[stream]
        facts = b'["","","","","",0,[]]'
        runs = ((place(stream, first), 1),)
        manifest = pack_manifest([Entry(1, number, 5.0, 200, facts, runs)], [len(body)], 3)
        data = compressed(body, 3)
        pack = PackRow(stream, entry, 1, first, 1, len(body), 0, len(manifest) + len(data))
        backend.add_packs([(pack, manifest, data)])
    return place(stream, first)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("indexed", [False, True])
def test_a_pack_without_a_version_is_a_leftover_and_a_repair_removes_or_completes_it(
    archive, packed, indexed
):
    before = archive.store(Capture(URL, noise(1), 1.0)).version
    at = die_after_the_pack(archive, noise(2))
    if indexed:
        archive._backend.add_chunks([(digest(noise(2)), at)])
    after = archive.store(Capture(URL, noise(3), 2.0)).version
    if packed:
        archive.pack()
    report = archive.check()
    assert (report.faults, report.leftovers, report.removed) == ((), 1, 0)
    report = archive.check(repair=True)
    assert (report.faults, report.leftovers) == ((), 0)
    if archive._backend.proves_versions(1) is None:  # nobody knows whether its row was lost
        assert (report.removed, report.completed) == (0, 1)
        assert archive.rebuild(archive.version(URL, 99)).body == noise(2)
        assert archive.check().faults == ()
        return
    assert (report.removed, report.completed) == (1, 0)
    assert archive.stats().chunk_bytes == 40_000
    report = archive.check()
    assert (report.faults, report.leftovers, report.removed) == ((), 0, 0)
    assert archive.rebuild(before).body == noise(1)
    assert archive.rebuild(after).body == noise(3)
    assert archive.store(Capture(URL, noise(2), 3.0)).new_chunks == 1
    archive.pack()
    assert archive.check().clean


def test_chunks_of_a_leftover_that_a_version_needs_and_the_index_has_lost_are_a_fault(archive):
    at = die_after_the_pack(archive, noise(2))
    archive._backend.add_chunks([(digest(noise(2)), at)])
    stored = archive.store(Capture(URL, noise(2), 1.0))
    assert stored.new_chunks == 0
    archive._backend.remove_chunks([digest(noise(2))])
    report = archive.check()
    assert [fault.what for fault in report.faults] == [
        "pack 1/0 has 1 chunks that the index does not know"
    ]
    assert (report.clean, report.leftovers) == (False, 1)
    report = archive.check(repair=True)
    assert (report.clean, report.leftovers, report.removed + report.completed) == (True, 0, 1)
    assert archive.check().faults == ()
    assert archive.rebuild(stored.version).body == noise(2)
    assert archive.store(Capture(URL + "2", noise(2), 1.0)).new_chunks == 0


def test_nothing_is_removed_beside_damage(archive):
    archive.store(Capture(URL, noise(1), 1.0))
    die_after_the_pack(archive, noise(2))
    backend = archive._backend
    (first, _) = backend.packs(backend.streams_named(["h.test"])["h.test"])
    manifest, data = backend.manifest(first), backend.data(first)
    damaged = data[:900] + bytes([data[900] ^ 1]) + data[901:]
    backend.replace_packs([first], first, manifest, damaged)
    report = archive.check(repair=True)
    assert not report.clean
    assert (report.leftovers + report.completed, report.removed) == (1, 0)


@pytest.mark.parametrize("column", ["manifest", "data"])
def test_a_purge_that_meets_damage_removes_nothing(archive, column):
    """Also where no transaction takes back what was removed before."""
    for name in "abc":
        archive.store(Capture(f"http://{name}.test/", noise(ord(name)), 1.0))
        archive.store(Capture(f"http://{name}.test/", noise(ord(name)) + noise(9), 2.0))
    archive.pack()
    backend = archive._backend
    (last,) = backend.packs(backend.streams_named(["c.test"])["c.test"])
    frames = {"manifest": backend.manifest(last), "data": backend.data(last)}
    backend.replace_packs([last], last, **{**frames, column: bytes(len(frames[column]))})

    def everything():
        rows = [backend.versions(url.id) for url in backend.urls()]
        packs = [pack for stream in backend.streams() for pack in backend.packs(stream)]
        return rows, packs, sorted(backend.chunks())

    before = everything()
    with pytest.raises(StoreError, match="damaged"):
        archive.purge(before=2.5)
    assert everything() == before
    backend.replace_packs([last], last, **frames)
    assert archive.purge(before=2.5).versions == 3
    assert archive.check().faults == ()


def test_after_a_purge_the_index_knows_the_other_copy_of_a_chunk(archive, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.format.packing.FAN_OUT", 0)  # so that a copy is stored
    body, gone = noise(1), noise(2)
    archive.store(Capture("http://a.test/", body, 1.0))
    archive.store(Capture("http://a.test/gone", gone, 1.0))
    assert archive.store(Capture("http://b.test/", body, 1.0)).new_chunks == 1
    archive.purge(host="a.test")
    assert archive.check().faults == ()
    assert archive._backend.find_chunks([digest(gone)]) == {}
    assert archive.store(Capture("http://b.test/2", body, 1.0)).new_chunks == 0
