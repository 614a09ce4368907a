"""Pages, blocks and links of an archive as records."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mmcrawl.archive import Archive, Capture, open_archive
from mmcrawl.errors import StoreError
from mmcrawl.rank import Reading, ReadPage
from tests.rank.conftest import HTML, Keep, both_stores

TEXT = "A lever is a beam on a pivot; effort at one end moves the load at the other. "
PAGE = f"""<html lang="en"><head><title> Levers
 &amp; pulleys</title></head><body>
<ul id="nav"><li><a href="/">Home</a></li><li><a href="/b">Lessons</a></li></ul>
<div><h1>Levers</h1><p>{TEXT * 3}<a href="/b">the pulley</a></p>
<p>{TEXT * 3}<a href="http://other.test/x">elsewhere</a>
<a href="film.mp4"><img src="f.png" alt="A film"></a></p></div>
<div><p>Copyright 2024, the school of physics. All rights reserved.</p></div>
</body></html>"""


def by_url(pages: list[ReadPage]) -> dict[str, ReadPage]:
    return {read.page.url: read for read in pages}


def targets(read: ReadPage) -> set[tuple[str, int]]:
    return {(link.url, link.target) for link in read.links}


@both_stores
def test_a_page_is_read_with_its_blocks_and_links(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/a", PAGE, time=5.0)
    keep("http://h.test/b", "<p>Pulleys</p>")
    archive.store(Capture("http://h.test/c.bin", bytes(range(256)), 1.0))
    first, second, binary = Reading(archive)
    assert (binary.page.text_chars, binary.blocks, binary.links) == (0, (), ())
    page = first.page
    assert (page.id, page.url, page.host, page.version) == (0, "http://h.test/a", "h.test", 1)
    assert (page.time, page.status, page.language) == (5.0, 200, "en")
    assert page.title == "Levers & pulleys"
    assert page.text_chars == sum(block.text_chars for block in first.blocks)
    assert page.text_chars > 6 * len(TEXT)
    assert second.page.id == 1
    assert [block.number for block in first.blocks] == sorted(b.number for b in first.blocks)
    found = {(link.url, link.target): link.anchor for link in first.links}
    assert found["http://other.test/x", -1] == "elsewhere"
    assert found["http://h.test/film.mp4", -1] == "A film"
    assert ("http://h.test/", -1) in found
    assert ("http://h.test/b", 1) in found


def test_blocks_are_those_of_the_archive(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/a", PAGE)
    stored = archive.blocks_of(archive.get("http://h.test/a"))
    [read] = Reading(archive)
    inner = [block for block in read.blocks if block.number >= 0]
    assert len(inner) > 2
    for block in inner:
        same = stored[block.number]
        assert (block.start, block.end, block.level) == (same.start, same.end, same.level)
        assert (block.kind, block.topic) == (same.kind, same.topic)
        assert 0 < block.kind_score <= 1
    [untold] = Reading(archive, topics=False)
    assert {block.topic for block in untold.blocks} == {""}


def test_links_and_media_that_only_a_browser_shows_are_the_pages_own(
    archive: Archive, keep: Keep
) -> None:
    shell = "<title>Levers</title><p>Wait.</p><a href='/b'>b</a><script src=app.js></script>"
    shown = shell + "<a href='/c'>The film</a><video src=film.mp4></video><a href='/b'>again</a>"
    keep("http://h.test/a", shell, time=1.0)
    keep("rendered+http://h.test/a", shown, time=2.0)
    keep("http://h.test/c", "<p>c</p>", time=3.0)
    page, other = Reading(archive, media=True)
    assert (page.page.url, other.page.url) == ("http://h.test/a", "http://h.test/c")
    assert page.page.version == 1
    found = {link.url: (link.target, link.anchor) for link in page.links}
    assert found["http://h.test/c"] == (1, "The film")
    assert [link.url for link in page.links].count("http://h.test/b") == 1
    assert [(one.url, one.block) for one in page.media] == [("http://h.test/film.mp4", -1)]
    [early] = Reading(archive, at=1.5)
    assert targets(early) == {("http://h.test/b", -1)}
    keep("http://h.test/a", "<title>Levers</title><p>No scripts any more.</p>", time=4.0)
    changed, _ = Reading(archive, media=True)
    assert (changed.links, changed.media) == ((), ())


def test_a_link_stands_in_the_deepest_block_around_it(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/a", PAGE)
    stored = archive.blocks_of(archive.get("http://h.test/a"))
    [read] = Reading(archive)
    body = PAGE.encode()
    places = {
        ("http://h.test/b", "Lessons"): body.index(b'<a href="/b">Lessons'),
        ("http://h.test/b", "the pulley"): body.index(b'<a href="/b">the'),
        ("http://other.test/x", "elsewhere"): body.index(b'<a href="http://other'),
    }
    for link in read.links:
        place = places.pop((link.url, link.anchor), None)
        if place is None:
            continue
        around = [n for n, block in enumerate(stored) if block.start <= place < block.end]
        deepest = max(around, key=lambda n: stored[n].level, default=-1)
        assert link.block == deepest
    assert not places


def test_what_stands_outside_of_all_blocks_is_not_lost(archive: Archive) -> None:
    body = b"<body>" + b"<p>Pumps lift water.</p>" * 3 + b"<a href=b>More</a></body>"
    archive.store(Capture("http://h.test/a", body, 1.0, headers=HTML), method="bwap")
    [read] = Reading(archive)
    numbers = {block.number for block in read.blocks}
    assert {link.block for link in read.links} <= numbers
    assert sum(block.text_chars for block in read.blocks) == read.page.text_chars
    outside = [block for block in read.blocks if block.number == -1]
    assert [(block.level, block.kind) for block in outside] == [(0, "")] * len(outside)


def test_spellings_of_a_url_are_one_page_the_one_fetched_last(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/list?b=2&a=1", "<p>Old</p>", time=1.0)
    keep("http://h.test/list?a=1&b=2", "<p>New</p>", time=2.0)
    keep("http://h.test/z", "<a href='/list?b=2&a=1&PHPSESSID=0123456789abcdef#top'>List</a>")
    reading = Reading(archive)
    pages = by_url(list(reading))
    assert pages.keys() == {"http://h.test/list?a=1&b=2", "http://h.test/z"}
    [link] = pages["http://h.test/z"].links
    assert link.target == pages["http://h.test/list?a=1&b=2"].page.id
    assert reading.skipped == {"other spelling of a URL": 1}


def test_redirects_are_followed_to_what_is_stored_and_error_pages_left_out(
    archive: Archive, keep: Keep
) -> None:
    keep("http://h.test/old", status=301, to="/older")
    keep("http://h.test/older", status=302, to="http://h.test/page")
    keep("http://h.test/page", "<p>Here</p>")
    keep("http://h.test/away", status=301, to="http://other.test/")
    keep("http://h.test/round", status=301, to="/round")
    keep("http://h.test/gone", "<p>Not here</p>", status=404)
    keep("http://h.test/moved", status=301)
    keep("http://h.test/z", "<a href=old>1<a href=away>2<a href=round>3<a href=gone>4</a>")
    reading = Reading(archive)
    pages = by_url(list(reading))
    assert pages.keys() == {"http://h.test/page", "http://h.test/z"}
    assert targets(pages["http://h.test/z"]) == {
        ("http://h.test/old", pages["http://h.test/page"].page.id),
        ("http://h.test/away", -1),
        ("http://h.test/round", -1),
        ("http://h.test/gone", -1),
    }
    assert reading.skipped == {"redirect": 4, "status 404": 1, "status 301": 1}


def test_the_newest_versions_are_read_or_those_of_a_time(archive: Archive, keep: Keep) -> None:
    keep("http://h.test/a", "<p>First</p>", time=10.0)
    keep("http://h.test/a", "<p>Second, longer</p>", time=20.0)
    keep("http://h.test/b", "<p>Later</p>", time=20.0)
    assert [read.page.version for read in Reading(archive)] == [2, 1]
    then = Reading(archive, at=15.0)
    assert [(read.page.url, read.page.version) for read in then] == [("http://h.test/a", 1)]
    assert then.skipped == {"not stored at that time": 1}


def test_pages_that_go_away_while_others_are_read_are_noticed(archive: Archive, keep: Keep) -> None:
    for name in "abc":
        keep(f"http://h.test/{name}", f"<p>{name}</p>")
    pages = iter(Reading(archive))
    next(pages)
    archive.purge(url="http://h.test/c")
    with pytest.raises(StoreError, match="do it again"):
        list(pages)


def test_a_damaged_page_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    with open_archive(f"sqlite:///{path}") as archive:
        for host in ("one.test", "two.test"):
            body = f"<p>{host} {TEXT}</p><a href='http://two.test/'>Two</a>".encode()
            archive.store(Capture(f"http://{host}/", body, 1.0, headers=HTML))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE segment SET data = zeroblob(length(data)) WHERE key LIKE '00000001/%'")
        db.commit()
    with open_archive(f"sqlite:///{path}", read_only=True) as archive:
        reading = Reading(archive)
        first, second = reading
    assert (first.page.url, first.blocks) == ("http://one.test/", ())
    assert second.blocks
    [problem] = reading.unreadable
    assert "http://one.test/" in problem
