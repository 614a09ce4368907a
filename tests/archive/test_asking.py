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
