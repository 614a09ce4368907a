"""Segments: what they share, what a purge takes out of them, and two processes that write them."""

import random
from contextlib import contextmanager
from itertools import count
from pkgutil import resolve_name

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.format import read_head

HOST = "http://host.test"
WORDS = [random.Random(n).randbytes(4_000).hex() for n in range(4)]


def capture(page: int, version: int, time: float) -> Capture:
    """A page that repeats the version before, but for a word in each of its parts."""
    parts = [f"<div><p>word-{page}-{version}< {words}</p></div>" for words in WORDS]
    body = f"page {page} {''.join(parts)}".encode()
    return Capture(f"{HOST}/{page}", body, time, content_type="text/html")


def segments_of(archive):
    return [one for some in archive._index.all_segments() for one in some]


def write(uri, versions, first=1.0):
    stored = [capture(*what, time) for what, time in zip(versions, count(first), strict=False)]
    with open_archive(uri, keep_blocks=False) as archive:
        for each in stored:
            archive.store(each)
    return stored


def assert_holds(archive, captures):
    report = archive.check()
    assert (report.faults, report.orphans) == ((), 0)
    for each in captures:
        assert archive.rebuild(archive.get(each.url, at=each.time)).body == each.body


@contextmanager
def just_before_segments_are_replaced(do, when=lambda old, how: True):
    """Have another do something the first time that segments are replaced which are meant."""
    index = resolve_name("mmcrawl.archive.index:Index")
    replace, done = index.replace, []

    def replace_late(self, old, made, **how):
        if not done and when(old, how):
            done.append(True)
            do()
        return replace(self, old, made, **how)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(index, "replace", replace_late)
        yield
    assert done


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize(("own_from", "own"), [(1, [1, 1, 0]), (3, [1, 0, 0])])
def test_a_page_that_comes_again_when_its_segment_is_full_has_a_stream_of_its_own(
    uri, monkeypatch, own_from, own
):
    monkeypatch.setattr("mmcrawl.archive.format.writing.OWN_FROM", own_from)
    stored = write(uri, [(page, 1) for page in range(9)])
    stored += write(uri, [(0, 2), (0, 3), (1, 2), (0, 4)], 100.0)
    with open_archive(uri, read_only=True) as archive:
        rows = {row.url: row.own for row in archive._index.urls()}
        assert [rows[f"{HOST}/{page}"] for page in range(3)] == own
        assert_holds(archive, stored)


@pytest.mark.usefixtures("small_segments")
def test_a_purge_leaves_nothing_of_a_version_in_any_segment(uri):
    stored = write(uri, [(page, 1) for page in range(9)])
    stored += write(uri, [(0, 2), (1, 2)], 100.0)
    gone, *left = stored
    with open_archive(uri) as archive:
        archive.purge(url=gone.url, before=stored[-2].time)
        assert_holds(archive, left)
        texts = [archive._reader.content(segment) for segment in segments_of(archive)]
        assert not any(b"word-0-1<" in text for text in texts)
        assert any(b"word-0-2<" in text for text in texts)
        archive.purge(url=gone.url)
        heads = archive._index.heads(segments_of(archive)).values()
        assert not any(gone.url in read_head(head).about.urls.values() for head in heads)


def purge(uri, url):
    with open_archive(uri) as archive:
        archive.purge(url=url)


def test_a_segment_purged_while_it_is_compressed_is_not_put_back(uri):
    stored = write(uri, [(page, 1) for page in range(3)])
    with (
        just_before_segments_are_replaced(lambda: purge(uri, stored[0].url)),
        open_archive(uri, keep_blocks=False) as archive,
    ):
        archive.store(capture(3, 1, 50.0))
    with open_archive(uri, read_only=True) as archive:
        assert_holds(archive, [*stored[1:], capture(3, 1, 50.0)])
        texts = [archive._reader.content(segment) for segment in segments_of(archive)]
        assert not any(b"word-0-1<" in text for text in texts)


@pytest.fixture
def based(uri, small_segments):
    """The URI of an archive of a stream of several full segments, and what it holds."""
    stored = write(uri, [(page, 1) for page in range(11)])
    with open_archive(uri) as archive:
        archive.pack()
    return uri, stored


def bases_of(archive):
    return [archive._reader.base_of(segment) for segment in segments_of(archive)]


def test_the_first_full_segment_of_a_stream_is_the_dictionary_of_those_behind(based):
    uri, stored = based
    with open_archive(uri) as archive:
        for level in (12, 19):
            archive.pack(level)
            (first, *others), (alone, *bases) = segments_of(archive), bases_of(archive)
            assert alone is None
            assert bases == [first] * len(others)
            assert others[0].raw >= first.raw / 2
            assert others[0].size < first.size / 2
            assert_holds(archive, stored)


def test_what_is_purged_of_a_dictionary_is_nowhere_and_the_rest_is_whole(based):
    uri, stored = based
    with open_archive(uri) as archive:
        archive.purge(url=stored[0].url)
        assert set(bases_of(archive)) == {None}
        assert_holds(archive, stored[1:])
        assert not any(b"word-0-1<" in archive._reader.content(one) for one in segments_of(archive))
        for each in stored[1:-1]:
            archive.purge(url=each.url)
        assert_holds(archive, stored[-1:])


def test_a_dictionary_that_is_purged_while_another_segment_gets_it(based):
    uri, stored = based
    last = capture(99, 1, 100.0)
    with open_archive(uri, keep_blocks=False) as archive:
        archive.store(last)
        with just_before_segments_are_replaced(
            lambda: purge(uri, stored[0].url), when=lambda old, how: how.get("base") is not None
        ):
            archive.pack()
    with open_archive(uri) as archive:
        assert_holds(archive, [*stored[1:], last])


def test_a_segment_that_gets_a_dictionary_while_that_is_purged(based):
    uri, stored = based
    if uri.startswith("sqlite"):
        pytest.skip("nobody writes while a purge does")
    last = capture(99, 1, 100.0)

    def seal():
        with open_archive(uri, keep_blocks=False) as other:
            other.store(last)
            other.pack(3)

    with (
        open_archive(uri) as archive,
        just_before_segments_are_replaced(seal, when=lambda old, how: old[0].first == 0),
    ):
        archive.purge(url=stored[0].url)
    with open_archive(uri) as archive:
        assert_holds(archive, [*stored[1:], last])


def test_two_processes_that_replace_the_same_segments(uri):
    stored = write(uri, [(0, 1)])
    with open_archive(uri) as archive, open_archive(uri) as other:
        (segment,) = segments_of(archive)
        packs = archive._index.heads([segment])[segment.key], archive._index.data(segment)
        key = segment.key[:-1] + ("0" if segment.key[-1] != "0" else "1")
        archive._index.store.insert_new("reservation", {segment.key: {"heir": key}})
        other.pack(3)
        assert segments_of(other) == [segment]  # another process is at it
        old = f"00000001/00000000/{0:08x}000000"
        archive._index.store.put("reservation", {segment.key: {"heir": old}})
        other.pack(3)  # which died long ago
        other.pack(3)
        assert [one.level for one in segments_of(other)] == [3]
        archive._index.add_segments([(segment, *packs)])  # as if it was not removed
        report = archive.check()
        assert (report.faults, report.orphans) == ((), 1)
        assert archive.check(repair=True).removed == 1
        assert_holds(archive, stored)
