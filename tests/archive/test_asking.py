"""What an archive answers to those who ask wrongly, late, or for something odd."""

from __future__ import annotations

import math
import sys
from collections import Counter

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.blocks import PageTree, page_content
from mmcrawl.errors import BlockError, StoreError

URL = "http://physics.test/levers.html"


def sentence(call, *args, **options):
    """Return the one sentence with which a call is refused."""
    with pytest.raises(StoreError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("url", ["http://[bad/", "http://h.test/\udcff", "", "no url"])
def test_what_cannot_be_a_url_is_not_stored(archive, page, url):
    archive.store(page())
    assert "is not in archive" in sentence(archive.get, url)
    assert archive.visits(url) == archive.versions(url) == []


@pytest.mark.parametrize("number", [0, -1, 2, 1 << 32, 1 << 80])
def test_numbers_that_no_version_has(archive, page, number):
    archive.store(page())
    assert f"has no version {number}" in sentence(archive.version, URL, number)


def test_what_is_no_time_is_refused(archive, page):
    archive.store(page(time=1.0))
    for ask in (
        lambda: archive.get(URL, math.nan),
        lambda: archive.note_unchanged(URL, math.nan),
        lambda: archive.purge(before=math.nan),
    ):
        with pytest.raises(ValueError, match="NaN is no time"):
            ask()
    assert [visit.time for visit in archive.visits(URL)] == [1.0]


def test_a_page_is_not_stored_to_be_cut_as_nobody_can(archive, page):
    with pytest.raises(BlockError, match="unknown partitioner 'scissors'"):
        archive.store(page(), method="scissors")
    for level in (0, -1, 51):
        with pytest.raises(ValueError, match="level must be from 1 to 50"):
            archive.store(page(), level=level)
    assert list(archive.urls()) == []


def test_a_partitioner_that_is_no_longer_installed_stops_nobody_else(
    uri, page, monkeypatch, caplog
):
    with open_archive(uri, keep_blocks=False) as archive:
        _check_without_quark(archive, page, monkeypatch, caplog)


def _check_without_quark(archive, page, monkeypatch, caplog):
    odd = archive.store(page("odd", time=1.0), method="quark").version
    plain = archive.store(page("plain", url="http://physics.test/2")).version
    cutting = sys.modules["mmcrawl.blocks.partition"]
    real = cutting.make_method

    def without_quark(name, **options):
        if name == "quark":
            raise BlockError("unknown partitioner 'quark'")
        return real(name, **options)

    monkeypatch.setattr(cutting, "make_method", without_quark)
    archive.pack()
    assert f"The blocks of {URL} are not kept" in caplog.text
    with pytest.raises(BlockError):
        archive.blocks_of(odd)
    assert archive.rebuild(odd).body == page("odd").body
    stats = archive.stats()
    assert (stats.blocks, stats.uncut) == (len(archive.blocks_of(plain)), 1)


def test_pages_whose_blocks_are_cut_on_demand_are_counted_as_such(uri, page):
    with open_archive(uri, keep_blocks=False) as archive:
        _check_uncut(archive, page)


def _check_uncut(archive, page):
    for time, text in enumerate("ab"):
        archive.store(page(text, time=float(time)))
    archive.store(Capture("http://physics.test/a.png", b"\x89PNG", 1.0, content_type="image/png"))
    stats = archive.stats()
    assert (stats.blocks, stats.uncut) == (0, 2)
    archive.pack()
    archive.store(page("c", time=3.0))
    stats = archive.stats()
    assert stats.blocks == sum(len(archive.blocks_of(v)) for v in archive.versions(URL)[:2])
    assert stats.uncut == 1
    archive.purge(url=URL, before=3.0)
    assert (archive.stats().blocks, archive.stats().uncut) == (0, 1)


def test_what_is_no_page_is_compared_as_a_whole(archive):
    bodies = [bytes(range(256)) * 4_000, bytes(range(256)) * 4_001, b""]
    versions = [
        archive.store(Capture(URL, body, float(n), content_type="image/png")).version
        for n, body in enumerate(bodies)
    ]
    found = archive.diff(versions[0], versions[1])
    assert [(change.change, change.words) for change in found.blocks] == [("changed", ())]
    assert not found.same
    assert archive.diff(versions[1], versions[1]).same
    assert archive.diff(versions[1], versions[1]).count("kept") == 1
    assert [change.change for change in archive.diff(*versions[1:]).blocks] == ["removed"]


def test_a_page_of_one_url_is_compared_with_that_of_another(archive, page):
    old = archive.store(page("a")).version
    new = archive.store(page("a", url="http://physics.test/copy")).version
    assert archive.diff(old, new).same


def test_a_closed_archive_says_so_whatever_is_asked(uri, page):
    with open_archive(uri) as archive:
        version = archive.store(page()).version
    for call, *args in (
        (archive.get, URL),
        (archive.visits, URL),
        (archive.hosts,),
        (archive.store, page("other", time=2.0)),
        (archive.note_unchanged, URL, 3.0),
        (archive.blocks_of, version),
        (archive.rebuild, version),
        (archive.diff, version, version),
        (archive.check,),
        (archive.stats,),
        (archive.pack,),
    ):
        assert "is closed; open it again" in sentence(call, *args)


def test_two_versions_are_read_and_parsed_once_each_to_compare_them(archive, page, monkeypatch):
    """Looking a pack up is a round trip to a server; parsing is most of the time of comparing."""
    archive.store(page("Give me a place to stand.", time=1.0))
    archive.store(page("Give me a lever to stand on.", time=2.0))
    versions = archive.versions(URL)
    done = Counter()

    def counted(owner, name):
        whole = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda *a, **k: done.update([name]) or whole(*a, **k), raising=True
        )

    counted(archive._backend, "pack_with_entry")
    counted(archive._backend, "pack_with_chunk")
    counted(PageTree, "__init__")
    found = archive.diff(*versions)
    assert found.count("changed") == 1
    assert [change.words for change in found.blocks if change.words]
    assert done == {"pack_with_entry": 2, "__init__": 2}


@pytest.mark.parametrize("kept", [True, False])
def test_a_page_is_read_once_for_its_blocks_and_its_main_text(uri, page, monkeypatch, kept):
    done = Counter()
    whole = PageTree.__init__
    with open_archive(uri, keep_blocks=kept) as archive:
        version = archive.store(page()).version
        stored = archive.page(version)
        monkeypatch.setattr(
            PageTree, "__init__", lambda *a, **k: done.update(["read"]) or whole(*a, **k)
        )
        assert all(stored.text(block) for block in stored.blocks)
        assert "Give me a place to stand." in stored.main_text
        assert stored.main_text == page_content(stored.body, version.url).text.replace("\n\n", "\n")
        assert done == {"read": 2}  # the last by page_content


def test_a_page_gives_the_text_of_its_blocks_whether_they_are_kept_or_cut(uri, page):
    with open_archive(uri, keep_blocks=False) as archive:
        version = archive.store(page()).version
        _check_texts(archive, version)


def _check_texts(archive, version):
    cut = archive.page(version)
    texts = [cut.text(block) for block in cut.blocks]
    assert cut.kept is None
    assert "Give me a place to stand." in " ".join(texts)
    archive.pack()
    kept = archive.page(version)
    assert kept.kept == cut.blocks
    assert [kept.text(block) for block in kept.blocks] == texts
