"""What pages need to be seen is fetched behind them, and archived."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.archive import Archive, open_archive

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
HEAD = '<link rel=stylesheet href=/main.css><link rel=icon href="/f.ico">'


def archive_of(store: Path) -> Archive:
    return open_archive(f"sqlite:///{store.with_name(store.stem + '-archive.db')}", read_only=True)


def archived(store: Path) -> dict[str, int]:
    """The paths that are in the archive, each with how many visits it has."""
    with archive_of(store) as archive:
        return {f"/{url.split('/', 3)[3]}": len(archive.visits(url)) for url in archive.urls()}


def ended(store: Path) -> dict[str, tuple[str, str]]:
    """By their paths what became of requisites."""
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        rows = db.execute("SELECT url, status, error FROM requisite").fetchall()
    return {f"/{url.split('/', 3)[3]}": (status, error) for url, status, error in rows}


def serve(tools: Any, pages: dict[str, Any], host: str = "127.0.0.1") -> Any:
    """A server of pages, and of files whose types their names tell."""
    types = {"css": "text/css", "png": "image/png", "ico": "image/x-icon", "woff2": "font/woff2"}
    server = tools.serve(host)
    for path, body in pages.items():
        kind = types.get(path.rpartition(".")[2])
        whole = tools.Answer(body, headers={"Content-Type": kind}) if kind else body
        server.pages[path] = body if callable(body) else whole
    return server


SITE = {
    "/": HEAD + '<a href="/2">2</a><img src=a.png srcset="b.png 2x"><img src="data:image/png,x">',
    "/2": HEAD + '<a href="/3">3</a><p style="background:url(c.png)">',
    "/3": HEAD + '<img src="/gone.png"><img src="/moved.png"><img src="/page.png">',
    "/main.css": "@import 'more.css'; @font-face { src: url(f.woff2) }",
    "/more.css": "@import 'main.css'; body { background: url(/d.png) }",
    "/f.woff2": b"wOF2" + PNG,
    **{f"/{name}": PNG for name in ("a.png", "b.png", "c.png", "d.png", "f.ico", "new.png")},
}


@pytest.fixture(scope="module")
def site(tools: Any) -> tuple[Any, Any]:
    """A crawl of three pages with what they need, and its server."""
    server = serve(tools, SITE)
    server.pages["/3"] += (
        f'<script src=x.js></script><img src="http://127.0.0.2:{server.port}/p.png">'
    )
    server.pages["/moved.png"] = tools.Answer("", 301, {"Location": "/new.png"})
    server.pages["/page.png"] = "<html><p>log in"
    [outcome] = tools.crawl({"seeds": server.url("/"), "requisites": "yes", "max_pages": 3})
    return server, outcome


def test_a_page_is_archived_with_what_it_needs_each_once(site: tuple[Any, Any]) -> None:
    server, outcome = site
    needed = {*SITE, "/moved.png"}
    assert archived(outcome.store) == dict.fromkeys(needed, 1)
    assert Counter(server.asked) == Counter({*needed, "/gone.png", "/page.png"})
    with archive_of(outcome.store) as archive:
        assert archive.rebuild(archive.get(server.url("/d.png"))).body == PNG
        assert archive.get(server.url("/moved.png")).header("location") == "/new.png"
        assert archive.check().clean


def test_pages_come_first_and_only_they_count(site: tuple[Any, Any]) -> None:
    server, outcome = site
    assert server.asked[:3] == ["/", "/2", "/3"]
    assert outcome.reason == "finished"
    assert outcome.stats["mmcrawl/pages"] == outcome.stats["mmcrawl/archive/pages"] == 3
    assert {v.path: v.headers.get("Referer") for v in server.visits}["/a.png"] == server.url("/")


def test_what_does_not_come_is_told_once(site: tuple[Any, Any]) -> None:
    server, outcome = site
    failed = {path: error for path, (status, error) in ended(outcome.store).items() if error}
    assert failed == {
        "/gone.png": "HTTP 404",
        "/page.png": "a page in its place",
        "/p.png": "leads to 127.0.0.2, which is on a private network",
    }
    assert outcome.log.count(f"{server.url('/gone.png')}: HTTP 404") == 1
