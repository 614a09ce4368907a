"""Blocks that are kept when a page is stored, and their lives."""

from dataclasses import replace
from hashlib import sha256

import pytest

from mmcrawl.archive import (
    ArchiveStore,
    Capture,
    PageBlocks,
    ProcessStore,
    StoredBlock,
    leaves,
    open_archive,
)
from mmcrawl.archive.format import ArchivedPage, BlockColumns, cutting
from mmcrawl.errors import BlockError
from tests.databases import file_uri
from tests.tables import each

uri = file_uri

URL = "http://physics.test/levers.html"
OTHER = "http://music.test/strings.html"


@pytest.fixture
def cuts(monkeypatch):
    """Return the URLs of the pages that were cut, each time."""
    seen = []
    whole = cutting.partition

    def counted(body, **options):
        seen.append(options["url"])
        return whole(body, **options)

    monkeypatch.setattr(cutting, "partition", counted)
    return seen


def given(archive, capture, **changes):
    """Return a capture with the blocks that an archive has of its page."""
    archive.store(capture)
    version = archive.get(capture.url)
    blocks = PageBlocks(version.method, version.level, tuple(archive.blocks_of(version)))
    return replace(capture, blocks=replace(blocks, **changes))


# -- at intake


def test_a_page_is_cut_once_when_it_is_stored(archive, page, cuts):
    versions = [archive.store(page(text, time=n)).version for n, text in enumerate("ab")]
    assert cuts == [URL, URL]
    kept = [archive.page(version).kept for version in versions]
    assert all(kept)
    for version, blocks in zip(versions, kept, strict=True):
        body = archive.rebuild(version).body
        for block in blocks:
            assert block.digest == sha256(body[block.start : block.end]).hexdigest()[:16]
    assert (archive.stats().unsegmented, archive.stats().layouts) == (0, 2)
    assert len(cuts) == 2


def test_a_page_whose_encoding_is_known_is_read_in_it(archive, page):
    capture = given(archive, page("é"), encoding="cp1251")
    assert archive.store(replace(capture, url=OTHER)).version.encoding == "cp1251"


def test_a_page_that_was_cut_otherwise_than_wished_is_cut_again(archive, page, cuts):
    capture = given(archive, page())
    for name, value in {"level": 1, "method": "quark"}.items():
        cuts.clear()
        version = archive.store(replace(capture, url=OTHER + name), **{name: value}).version
        assert (cuts, getattr(version, name)) == ([OTHER + name], value)


def spoilt(blocks, **changes):
    return (*blocks[:-1], replace(blocks[-1], **changes))


SPOILT = [
    lambda blocks: spoilt(blocks, digest="0" * 16),
    lambda blocks: spoilt(blocks, end=10**6),
    lambda blocks: spoilt(blocks, level=9),
    lambda blocks: spoilt(blocks, level=0),
    lambda blocks: spoilt(blocks, path="html\nbody"),
    lambda blocks: spoilt(blocks, topic="a\nb"),
    lambda blocks: tuple(reversed(blocks)),
    lambda blocks: (*blocks, StoredBlock(0, 0, "", "", 1, "", "e3b0c44298fc1c14")),
]


@each("number", range(len(SPOILT)))
def test_blocks_that_are_not_those_of_the_page_are_not_kept(archive, page, cuts, caplog, number):
    capture = given(archive, page())
    wanted = list(capture.blocks.blocks)
    wrong = replace(capture.blocks, blocks=SPOILT[number](capture.blocks.blocks))
    cuts.clear()
    url = f"{OTHER}?{number}"
    version = archive.store(replace(capture, url=url, blocks=wrong)).version
    assert cuts == [url]
    assert "do not match; it is cut again" in caplog.text
    assert archive.page(version).kept == wanted


@pytest.mark.parametrize("error", [BlockError("no such partitioner"), ZeroDivisionError("oh")])
def test_a_page_that_cannot_be_cut_is_stored_all_the_same(
    archive, page, monkeypatch, caplog, error
):
    def fails(*args, **options):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(cutting, "partition", fails)
        version = archive.store(page()).version
    assert f"The blocks of {URL} are not kept" in caplog.text
    assert archive.rebuild(version) == page()
    assert archive.stats().unsegmented == 1
    archive.pack()
    assert archive.stats().unsegmented == 0


@pytest.mark.parametrize(("kind", "keep"), [(ArchiveStore.open, False), (ProcessStore, True)])
def test_who_stores_for_a_crawl_keeps_blocks_or_none(uri, page, kind, keep):
    with open_archive(uri) as archive:
        capture = given(archive, page(url=OTHER))
    store = kind(uri, create=True, keep_blocks=keep)
    answers = store.store([replace(capture, url=URL), page("b", url="http://physics.test/b")])
    store.close()
    assert answers.failure is None
    with open_archive(uri) as archive:
        kept = [archive.page(answer.version).kept for answer in answers.of]
    if keep:
        assert kept[0] == list(capture.blocks.blocks)
        assert kept[1]
    else:
        assert kept == [None, None]


def test_a_page_that_was_not_cut_is_told_and_cut_by_pack(archive, uri, page):
    for time, text in ((1.0, "one"), (2.0, "two, at < its & place")):
        archive.store(page(text, time=time))
    with open_archive(uri, keep_blocks=False) as unsegmented:
        unsegmented.store(page("three", time=3.0))
    versions = archive.versions(URL)
    blocks = [archive.blocks_of(version) for version in versions]
    for version, found in zip(versions, blocks, strict=True):
        unsegmented = ArchivedPage(version, archive.rebuild(version).body)
        assert found == unsegmented.blocks
    assert [archive.page(version).kept is None for version in versions] == [False, False, True]
    stats = archive.stats()
    assert (stats.layouts, stats.distinct_layouts, stats.unsegmented) == (2, 1, 1)
    life = archive.block(blocks[0][0].digest)
    assert (life.pages[0].versions, life.unsegmented) == ((1, 2), 1)
    assert [each.blocks is None for each in archive.anew(URL)] == [False, False, True]
    assert archive.check().clean
    archive.store(page("four", time=4.0))
    archive.pack()
    assert [archive.blocks_of(version) for version in versions] == blocks
    assert archive.stats().unsegmented == 0
    assert archive.check().clean
    for row in archive._index.versions(1):
        assert archive._reader.entry(row).columns.marks


# -- the life of a block


def of_text(archive, version, text):
    return next(b for b in reversed(archive.blocks_of(version)) if text in b.topic)


def test_a_block_is_found_on_all_pages_and_in_all_versions(archive, page):
    for time, text in ((1.0, "one"), (2.0, "two"), (3.0, "one"), (4.0, "four")):
        archive.store(page(text, time=time))
    archive.note_unchanged(URL, 5.0)
    archive.store(page("two", time=6.0, url=OTHER))
    of_one = of_text(archive, archive.version(URL, 1), "one")
    one = archive.block(of_one.digest[:6])
    assert one.digest == of_one.digest
    [here] = one.pages
    assert (here.versions, here.since, here.until, here.gone) == ((1, 3), 1.0, 3.0, 4.0)
    of_two = of_text(archive, archive.version(URL, 2), "two")
    two = archive.block(of_two.digest)
    pages = [(page.url, page.versions, page.gone) for page in two.pages]
    assert pages == [(OTHER, (1,), None), (URL, (2,), 3.0)]
    assert (two.hosts, two.versions, two.kinds) == (2, 2, (of_two.kind,))
    archive.pack()
    assert archive.block(of_two.digest) == two
    archive.purge(url=OTHER)
    assert [page.url for page in archive.block(of_two.digest).pages] == [URL]


def test_what_was_stored_anew_for_a_version(archive, page):
    for time, text in ((1.0, "one"), (2.0, "second"), (3.0, "one")):
        archive.store(page(text, time=time))
    longer = page(time=4.0).body.replace(b"<h2>", b"<hr><h2>")
    archive.store(replace(page(time=4.0), body=longer))
    archive.store(Capture(URL, b"\x89PNG", 5.0, content_type="image/png"))
    first, second, back, _, image = archive.anew(URL)
    blocks = archive.blocks_of(archive.version(URL, 2))
    assert first.new == tuple(n for n, b in enumerate(blocks) if b in leaves(blocks))
    assert (first.blocks, first.new_layout) == (len(leaves(blocks)), True)
    [index] = second.new
    assert "second" in archive.page(archive.version(URL, 2)).text(blocks[index])
    assert second.new_bytes == blocks[index].end - blocks[index].start
    assert (second.new_layout, back.new, back.new_bytes) == (False, (), 0)
    assert (image.blocks, image.new) == (None, ())


# -- examination


def test_a_check_covers_the_blocks_that_are_kept(archive, page, monkeypatch):
    whole = BlockColumns.of.__func__

    def wrong(cls, blocks, body, encoding):
        columns = whole(cls, blocks, body, encoding)
        return columns._replace(marks=bytes(len(columns.marks)))

    archive.store(page("right", time=1.0))
    with monkeypatch.context() as patch:
        patch.setattr(BlockColumns, "of", classmethod(wrong))
        archive.store(page("wrong", time=2.0))
    [fault] = archive.check().faults
    assert (fault.version, "its blocks are not those of its bytes" in fault.what) == (2, True)
