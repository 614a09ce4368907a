"""Segments that are compressed with what stands before them."""

import random
import sqlite3

import pytest

from mmcrawl.archive import Capture, open_archive, place
from mmcrawl.archive.format import SegmentWriter, depth_of, pack_manifest, segments
from mmcrawl.errors import StoreError
from tests.tables import each

HOST = "http://h.test"


@pytest.fixture(autouse=True)
def _small(small_segments, monkeypatch):
    monkeypatch.setattr(segments, "_SIZE", 30_000)


def capture(page, version, time):
    """A page that repeats the version before, but for a word in each of its chunks."""
    chance = random.Random(page)
    texts = (f"<p>{chance.randbytes(40).hex()} word-{page}-{version}</p>" for _ in range(200))
    body = f"<html><body>{''.join(texts)}</body></html>".encode()
    return Capture(f"{HOST}/{page}", body, time)


def write(uri, pairs):
    """Store versions of pages, and close; return what was stored."""
    captures = [capture(page, version, 100.0 * version + page) for page, version in pairs]
    with open_archive(uri, keep_blocks=False) as archive:
        for each in captures:
            archive.store(each)
    return captures


def packs_of(archive):
    backend = archive._backend
    return [pack for stream in backend.streams() for pack in backend.packs(stream)]


def with_dictionary(archive):
    return [pack for pack in packs_of(archive) if archive._reader.manifest(pack).like]


def assert_holds(archive, captures):
    assert archive.check().clean
    for capture in captures:
        assert archive.rebuild(archive.get(capture.url, at=capture.time)).body == capture.body


def test_a_page_that_comes_again_is_compressed_with_its_version_before(uri):
    stored = write(uri, [(page, 1) for page in range(9)])
    stored += write(uri, [(0, 2), (1, 2), (0, 3)])
    with open_archive(uri, read_only=True) as archive:
        (first, second) = with_dictionary(archive)
        assert {first.stream, second.stream}.isdisjoint({1})
        assert first.size + second.size < 0.2 * (first.raw + second.raw)
        assert_holds(archive, stored)


def test_a_segment_is_compressed_with_one_before(uri):
    stored = write(uri, [(0, version) for version in range(1, 60)])
    with open_archive(uri, read_only=True) as archive:
        needed = with_dictionary(archive)
        assert len(needed) > 5
        assert all(depth_of(archive._reader, pack) <= 3 for pack in needed)
        assert_holds(archive, stored)


@each("column", ["data", "manifest"])
def test_a_damaged_segment_is_no_dictionary(tmp_path, column):
    path = tmp_path / "archive.db"
    uri = f"sqlite:///{path}"
    stored = write(uri, [(0, version) for version in range(1, 5)])
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE pack SET {column} = zeroblob(length({column})) WHERE level = 19")
    db.close()
    more = [capture(0, version, 100.0 * version) for version in range(5, 30)]
    with open_archive(uri, keep_blocks=False) as archive:
        archive.store_many(more)
    with open_archive(uri, read_only=True) as archive:
        assert sum(pack.sealed for pack in packs_of(archive)) > 5
        for each in more:
            assert archive.rebuild(archive.get(each.url, at=each.time)).body == each.body
        with pytest.raises(StoreError):
            archive.rebuild(archive.get(stored[0].url, at=stored[0].time))


def test_a_purge_leaves_nothing_in_a_dictionary(uri):
    stored = write(uri, [(page, 1) for page in range(9)])
    stored += write(uri, [(0, 2), (1, 2)])
    gone, *left = stored
    with open_archive(uri) as archive:
        assert len(with_dictionary(archive)) == 2
        archive.purge(url=gone.url, before=stored[-2].time)
        assert len(with_dictionary(archive)) == 1
        assert_holds(archive, left)
        texts = [archive._reader.content(pack) for pack in packs_of(archive)]
        assert not any(b"word-0-1<" in text for text in texts)
        assert any(b"word-0-2<" in text for text in texts)


def test_a_dictionary_purged_while_a_segment_is_compressed(uri, monkeypatch):
    stored = write(uri, [(page, 1) for page in range(9)])
    verify = SegmentWriter._verify

    def purge_first(self, *arguments):
        verify(self, *arguments)
        monkeypatch.setattr(SegmentWriter, "_verify", verify)
        with open_archive(uri) as other:
            other.purge(url=stored[0].url, before=stored[-1].time + 1_000)

    with open_archive(uri, keep_blocks=False) as archive:
        for version in (2, 3):
            archive.store(capture(0, version, 100.0 * version))
            stored.append(capture(0, version, 100.0 * version))
        monkeypatch.setattr(SegmentWriter, "_verify", purge_first)
    with open_archive(uri, read_only=True) as archive:
        assert_holds(archive, [*stored[1:9], stored[-1]])


def test_segments_compressed_anew_keep_their_dictionaries(uri):
    stored = write(uri, [(0, version) for version in range(1, 30)])
    with open_archive(uri) as archive:
        before = len(with_dictionary(archive))
        archive.repack(3)
        assert {pack.level for pack in packs_of(archive)} == {3}
        assert len(with_dictionary(archive)) == before > 1
        assert archive.repack_estimate(19).before > 0
    with open_archive(uri, read_only=True) as archive:
        assert_holds(archive, stored)


def test_a_pack_that_would_need_itself_is_damaged(uri):
    write(uri, [(0, 1)])
    with open_archive(uri) as archive:
        (pack,) = packs_of(archive)
        manifest = archive._reader.manifest(pack)
        itself = (place(pack.stream, pack.chunk), 1)
        sizes = [b - a for a, b in zip(manifest.offsets, manifest.offsets[1:], strict=False)]
        written = pack_manifest(manifest.entries(), sizes, 3, [itself])
        archive._backend.replace_packs([pack], pack, written, archive._backend.data(pack))
    with open_archive(uri, read_only=True) as archive:
        with pytest.raises(StoreError, match="came after it"):
            archive.rebuild(archive.get(f"{HOST}/0"))
        assert not archive.check().clean


def test_damage_of_a_dictionary_is_told_of_all_that_need_it(tmp_path):
    path = tmp_path / "archive.db"
    write(f"sqlite:///{path}", [(0, version) for version in range(1, 30)])
    with open_archive(f"sqlite:///{path}", read_only=True) as archive:
        needed = with_dictionary(archive)
        ((pack, _, _), *_) = archive._reader.spans(archive._reader.manifest(needed[0]).like)
    with sqlite3.connect(path) as db:
        ((data,),) = db.execute(
            "SELECT data FROM pack WHERE id = ?", [place(pack.stream, pack.entry)]
        )
        broken = data[:100] + bytes([data[100] ^ 1]) + data[101:]
        db.execute(
            "UPDATE pack SET data = ? WHERE id = ?", [broken, place(pack.stream, pack.entry)]
        )
    with open_archive(f"sqlite:///{path}", read_only=True) as archive:
        named = {fault.version for fault in archive.check().faults}
        needing = [p for p in needed if p.stream == pack.stream]
        for each in needing:
            assert named.issuperset(range(each.entry + 1, each.entry + each.entries + 1))
