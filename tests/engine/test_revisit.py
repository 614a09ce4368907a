"""`scrapy crawl revisit`: what is due is asked for again."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from time import time
from typing import Any

import pytest
from scrapy.http import Response

from mmcrawl.archive import NO_ANSWER, Archive, Capture, Unchanged, open_archive
from mmcrawl.spiders import RevisitSpider
from tests.desks import Desk
from tests.tables import each

DAY, HOUR = 86_400.0, 3_600.0
USUAL = {"DOWNLOAD_DELAY": "0", "RETRY_TIMES": "0", "ROBOTSTXT_OBEY": "0"}


class Visits:
    """An archive of pages of a server that were seen some days ago, and its revisits."""

    def __init__(self, tools: Any) -> None:
        self.tools = tools
        self.folder: Path = tools.folder()
        self.server = tools.serve()
        self.uri = f"sqlite:///{self.folder / 'crawl-archive.db'}"

    def open(self) -> Archive:
        return open_archive(self.uri)

    def saw(
        self, path: str, body: str, *headers: tuple[str, str], days: float = 3, **more: Any
    ) -> str:
        """Put a page into the archive as it was some days ago; return its URL."""
        url = self.server.url(path) if path.startswith("/") else path
        kind = ("Content-Type", "text/html; charset=utf-8")
        with self.open() as archive:
            archive.store(
                Capture(url, body.encode(), time() - days * DAY, headers=(kind, *headers), **more)
            )
        return url

    def run(self, *args: str, code: int = 0, **settings: str) -> str:
        """Run the spider as a person does; return what it said."""
        store = f"store=sqlite:///{self.folder / 'crawl.db'}"
        done = Desk(self.folder).run("crawl", "revisit", store, *args, **(USUAL | settings))
        assert done.code == code, done.err
        return done.words

    def history(self, url: str) -> list[tuple[bool, int]]:
        with self.open() as archive:
            return [(visit.changed, visit.status) for visit in archive.visits(url)]


@pytest.fixture
def visits(tools: Any) -> Visits:
    return Visits(tools)


def not_modified(tools: Any, tag: str, body: str) -> Callable[[Any], Any]:
    """A page that says 304 to whoever knows its tag."""

    def page(visit: Any) -> Any:
        known = visit.headers.get("If-None-Match") == tag
        return tools.Answer("" if known else body, 304 if known else 200, {"ETag": tag})

    return page


DATE = "Tue, 03 Mar 2026 10:00:00 GMT"


@pytest.fixture(scope="module")
def visited(tools: Any) -> tuple[Visits, str]:
    """One visit of pages that answer in many ways, and what was said of it."""
    visits = Visits(tools)
    visits.saw("/tagged", "<p>page</p>", ("ETag", '"1"'))
    visits.saw("/twice", "<p>one</p>", ("ETag", '"1"'))
    visits.saw("/twice", "<p>two</p>", ("ETag", 'W/"2"'), days=2)
    visits.saw("/dated", "<p>page</p>", ("Last-Modified", DATE))
    for path in ("/same", "/other", "/old", "/500", "/403", "/forbidden"):
        visits.saw(path, "<p>page</p>")
    answer = tools.Answer
    visits.server.pages = {
        "/tagged": not_modified(tools, '"1"', "<p>page</p>"),
        "/twice": not_modified(tools, 'W/"2"', "<p>two</p>"),
        "/dated": "<p>page</p>",
        "/same": "<p>page</p>",
        "/other": "<p>new</p>",
        "/old": answer("", 301, {"Location": "/new"}),
        "/new": answer("", 302, {"Location": "http://elsewhere.test/"}),
        **{f"/{status}": answer("<p>error</p>", status) for status in (500, 403)},
        "/forbidden": "<p>new</p>",
        "/robots.txt": answer(
            "User-agent: *\nDisallow: /forbidden", 200, {"Content-Type": "text/plain"}
        ),
    }
    return visits, visits.run("-O", "visits.jsonl", ROBOTSTXT_OBEY="1")


@each(
    "path, history",
    [
        ("/tagged", [(True, 200), (False, 304)]),
        ("/twice", [(True, 200), (True, 200), (False, 304)]),
        ("/dated", [(True, 200), (False, 200)]),
        ("/same", [(True, 200), (False, 200)]),
        ("/other", [(True, 200), (True, 200)]),
        ("/old", [(True, 200), (True, 301)]),
        ("/new", [(True, 302)]),
        ("/500", [(True, 200), (False, 500)]),
        ("/403", [(True, 200), (False, 403)]),
        ("/forbidden", [(True, 200)]),  # robots.txt forbids it now
    ],
)
def test_other_bytes_and_redirects_are_versions_and_the_same_bytes_and_errors_are_none(
    visited: tuple[Visits, str], path: str, history: list[tuple[bool, int]]
) -> None:
    visits, _ = visited
    assert visits.history(visits.server.url(path)) == history


def test_pages_are_asked_for_by_what_they_said_of_themselves(visited: tuple[Visits, str]) -> None:
    asked = {visit.path: visit.headers for visit in visited[0].server.visits}
    assert asked["/tagged"]["If-None-Match"] == '"1"'
    assert asked["/dated"]["If-Modified-Since"] == DATE
    assert "If-None-Match" not in asked["/dated"]


def test_what_a_visit_came_to_is_said_and_kept(visited: tuple[Visits, str]) -> None:
    visits, said = visited
    assert "due 9 " in said
    assert "unchanged 4, 2 of them by HTTP 304" in said
    for status in (500, 403):
        assert f"1 HTTP {status}" in said
    with visits.open() as archive:
        other = archive.get(visits.server.url("/other"))
        assert archive.rebuild(other).body == b"<p>new</p>"
        assert archive.get(visits.server.url("/old")).header("location") == "/new"
        assert len(list(archive.urls())) == 10
    rows = [json.loads(line) for line in (visits.folder / "visits.jsonl").read_text().splitlines()]
    assert ("/other", 200, "new") in {
        (row["url"].removeprefix(visits.server.origin), row["status"], row["outcome"])
        for row in rows
    }
    # Errors are tried again an hour later; what is forbidden is due as before.
    assert "due 1 visited 0" in visits.run(ROBOTSTXT_OBEY="1")


def test_the_most_overdue_are_visited_first_and_no_more_than_the_limit(visits: Visits) -> None:
    for days, path in ((3, "/c"), (30, "/a"), (10, "/b"), (0.5, "/not-yet")):
        visits.saw(path, "<p>page</p>", days=days)
        visits.server.pages[path] = "<p>page</p>"
    visits.run("limit=2", CONCURRENT_REQUESTS="1")
    assert visits.server.asked == ["/a", "/b"]
    said = visits.run(MMCRAWL_REVISIT_DEFAULT="6", CONCURRENT_REQUESTS="1")
    assert visits.server.asked == ["/a", "/b", "/c", "/not-yet"]
    assert "due 2 visited 2" in said
    said = visits.run(MMCRAWL_REVISIT_SHORTEST="often", code=2)
    assert said.startswith("scrapy crawl: MMCRAWL_REVISIT_SHORTEST must be a number of hours")


def test_a_page_that_is_gone_is_a_version_once_and_one_again_when_it_is_back(
    visits: Visits,
) -> None:
    answer, numbers = visits.tools.Answer, iter(range(9))
    url = visits.saw("/a", "<p>page</p>", ("ETag", '"1"'))
    away = visits.saw("http://127.0.0.1:1/", "<p>page</p>")  # where nothing answers
    gone = {"ETag": '"gone"'}
    visits.server.pages = {"/a": lambda _: answer(f"<p>none {next(numbers)}</p>", 404, gone)}
    said = visits.run()
    assert "gone 1" in said
    assert "connection refused" in said
    assert visits.history(away) == [(True, 200), (False, NO_ANSWER)]
    visits.run("at=2100-01-01")
    assert visits.history(url) == [(True, 200), (True, 404), (False, 404)]
    visits.server.pages = {"/a": answer("<p>page</p>", 200, {"ETag": '"1"'})}
    assert "new versions 1" in visits.run("at=2200-01-01")
    assert "If-None-Match" not in visits.server.visits[-1].headers
    assert visits.history(url)[-1] == (True, 200)
    with visits.open() as archive:
        assert archive.rebuild(archive.get(url)).body == b"<p>page</p>"


def test_a_stored_web_is_visited_without_a_network(visits: Visits) -> None:
    place = visits.folder / "web" / "site.test"
    place.mkdir(parents=True)
    (place / "index.html").write_text("<p>page, second state</p>")
    url = visits.saw("http://site.test/", "<p>page, first state</p>")
    said = visits.run(f"web={visits.folder / 'web'}")
    assert visits.history(url) == [(True, 200), (True, 200)]
    assert "visited 1 new versions 1" in said


def test_what_is_not_due_is_visited_where_that_is_told(visits: Visits) -> None:
    one, other = (visits.saw(path, "<p>page</p>", days=0.5) for path in ("/a", "/b"))
    visits.server.pages = {"/a": "<p>page</p>", "/b": "<p>page</p>"}
    said = visits.run()
    assert "Nothing is due. The next page is due at 20" in said
    assert "-a due=all` visits all now" in said
    assert visits.server.asked == []
    visits.run(f"due={one}")
    assert visits.server.asked == ["/a"]
    visits.run("due=all")
    assert sorted(visits.server.asked) == ["/a", "/a", "/b"]
    assert len(visits.history(other)) == 2
    assert "it may be all, or the URL of a page" in visits.run("due=b", code=2)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def with_pictures(visits: Visits) -> None:
    """Two pages of a picture that was archived, which need three others each now."""
    image = visits.tools.Answer(PNG, headers={"Content-Type": "image/png"})
    for page in "ab":
        visits.saw(f"/{page}", "<img src=old.png>")
        visits.server.pages[f"/{page}"] = "<img src=old.png>" + "".join(
            f"<img src={page}{n}.png>" for n in range(3)
        )
        visits.server.pages |= {f"/{page}{n}.png": image for n in range(3)}
    visits.saw("/old.png", "old")
    visits.server.pages["/old.png"] = "old"


def test_what_a_page_needs_is_no_visit_and_asked_for_when_the_page_changed(visits: Visits) -> None:
    with_pictures(visits)
    visits.server.pages["/a"] = "<img src=lost.png>" + visits.server.pages["/a"]
    said = visits.run("-O", "visits.jsonl", MMCRAWL_REQUISITES_MOST="5")
    assert "due 3 visited 3 new versions 2 unchanged 1," in said
    assert "Failed visits" not in said
    assert len((visits.folder / "visits.jsonl").read_text().splitlines()) == 3
    with visits.open() as archive:
        assert len(list(archive.urls())) == 3 + 4  # one of five is lost
    visits.run("due=all")
    assert visits.server.asked.count("/a") == 2
    assert visits.server.asked.count("/lost.png") == 1


def test_a_version_that_is_damaged_is_said_in_a_sentence(visits: Visits) -> None:
    url = visits.saw("/a", "<p>page</p>" * 99)
    visits.server.pages["/a"] = "<p>new</p>"
    with visits.open() as archive:
        archive.pack()
    with closing(connect(visits.folder / "crawl-archive.db")) as db, db:
        [(key, data)] = db.execute("SELECT key, data FROM segment")
        damaged = bytearray(data)
        damaged[len(data) // 2] ^= 0x10
        db.execute("UPDATE segment SET data = ? WHERE key = ?", (bytes(damaged), key))
    said = visits.run()
    assert "Traceback" not in said
    assert f"version 1 of {url} cannot be read" in said
    assert visits.history(url) == [(True, 200), (True, 200)]


def test_a_visit_by_a_slow_clock_is_noted_of_the_version_it_asked_after(tmp_path: Path) -> None:
    ahead = time() + HOUR
    with open_archive(f"sqlite:///{tmp_path}/a.db") as archive:
        for body, when in ((b"old", ahead - 2 * HOUR), (b"new", ahead)):
            archive.store(Capture("http://a.test/", body, when))
        last = archive.get("http://a.test/")
        visits = RevisitSpider.parse(None, Response(last.url, status=304), last, 0)
        seen = asyncio.run(anext(visits))
        archive.store_many([Unchanged(seen.url, seen.time, seen.status)])
        visit = archive.visits("http://a.test/")[-1]
        assert (visit.status, visit.version) == (304, last.number)


@each("limit, most", [("MOST=4", 4), (f"MOST_BYTES={3 * len(PNG)}", 3), ("PAGE_BYTES=500", 2)])
def test_what_pages_need_is_bounded(tools: Any, limit: str, most: int) -> None:
    visits = Visits(tools)
    with_pictures(visits)
    name, _, value = limit.partition("=")
    visits.run(**{f"MMCRAWL_REQUISITES_{name}": value})
    with visits.open() as archive:
        assert len(list(archive.urls())) == 3 + most
