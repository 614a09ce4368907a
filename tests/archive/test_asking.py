"""What an archive answers to those who ask wrongly, late, or for something odd."""

import math
from collections import Counter

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.blocks import PageTree, page_content
from mmcrawl.errors import BlockError, StoreError
from tests.databases import file_uri
from tests.tables import each

uri = file_uri
URL = "http://physics.test/levers.html"


def sentence(call, *args, **options):
    """Return the one sentence with which a call is refused."""
    with pytest.raises(StoreError) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@each("url", ["http://[bad/", "http://h.test/\udcff", "", "no url"])
def test_what_cannot_be_a_url_is_not_stored(archive, page, url):
    archive.store(page())
    assert "is not in archive" in sentence(archive.get, url)
    assert archive.visits(url) == archive.versions(url) == []


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
