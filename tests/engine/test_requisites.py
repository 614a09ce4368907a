"""What pages need to be seen is fetched behind them, and archived."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pydantic import ValidationError
from warcio.archiveiterator import ArchiveIterator

from mmcrawl.archive import open_archive, requisites_of
from mmcrawl.archive.warc import export_warc
from mmcrawl.crawl import FocusedParams
from tests.databases import mongodb_uri
from tests.desks import Desk
from tests.engine.conftest import Outcome
from tests.waiting import HANG
from tests.warm import python

CSS = {"Content-Type": "text/css"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
HEAD = '<link rel=stylesheet href=/main.css><link rel=icon href="/f.ico">'


def archived(outcome: Any) -> dict[str, int]:
    """The paths that are in the archive, each with how many visits it has."""
    with outcome.archive as archive:
        return {f"/{url.split('/', 3)[3]}": len(archive.visits(url)) for url in archive.urls()}


def ended(store: Path) -> dict[str, tuple[str, str]]:
    """By their paths what became of requisites."""
    rows = Desk(store.parent).rows(store.name, "SELECT url, status, error FROM requisite")
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
    server.pages["/moved.png"] = tools.Answer("<html>moved", 301, {"Location": "/new.png"})
    server.pages["/page.png"] = "<html><p>log in"
    [outcome] = tools.crawl({"seeds": server.url("/"), "requisites": "yes", "max_pages": 3})
    return server, outcome


def test_a_page_is_archived_with_what_it_needs_each_once(site: tuple[Any, Any]) -> None:
    server, outcome = site
    needed = {*SITE, "/moved.png"}
    assert archived(outcome) == dict.fromkeys(needed, 1)
    assert Counter(server.asked) == Counter({*needed, "/gone.png", "/page.png"})
    with outcome.archive as archive:
        assert archive.rebuild(archive.get(server.url("/d.png"))).body == PNG
        assert archive.get(server.url("/moved.png")).header("location") == "/new.png"
        page = archive.rebuild(archive.get(server.url("/3")))
        assert server.url("/new.png") in [one.url for one in requisites_of(archive, page, set())]
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


def test_exports_have_them_and_revisits_ask_for_what_changed(tools: Any) -> None:
    server, tag = serve(tools, SITE), {"ETag": '"1"', "Content-Type": "image/png"}
    server.pages["/a.png"] = lambda visit: tools.Answer(
        b"" if (known := "If-None-Match" in visit.headers) else PNG, 304 if known else 200, tag
    )
    [outcome] = tools.crawl({"seeds": server.url("/"), "requisites": "yes", "max_pages": 1})
    before = archived(outcome)
    with outcome.archive as archive:
        path = export_warc(archive, outcome.store.with_name("all.warc.gz")).path
        page = archive.rebuild(archive.get(server.url("/")))
        needed = {one.url for one in requisites_of(archive, page, {server.url("/f.ico")})}
        assert needed == {*archive.urls()} - {server.url("/"), server.url("/f.ico")}
    with path.open("rb") as stream:
        records = {
            record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
            for record in ArchiveIterator(stream)
        }
    assert records[server.url("/f.woff2")] == SITE["/f.woff2"]
    assert {server.url(name) for name in before} < {*records}
    del server.asked[:]
    words = ("crawl", "revisit", "due=all")
    words += (f"archive=sqlite:///{outcome.store.with_name('0-archive.db')}",)
    desk = Desk(outcome.store.parent)
    assert desk.run(*words, ROBOTSTXT_OBEY=0).code == 0
    assert {*server.asked} == {*before}
    del server.asked[:]
    server.pages |= dict.fromkeys(("/e.png", "/f.png"), server.pages["/a.png"])
    server.pages["/2.css"] = tools.Answer("p {background: url(f.png)}", headers=CSS)
    server.pages["/"] = f"{SITE['/']}<img src=e.png><img src=lost.png><style>@import '2.css'"
    assert desk.run(*words, ROBOTSTXT_OBEY=0).code == 0
    assert Counter(server.asked) == Counter([*before, "/e.png", "/lost.png", "/2.css", "/f.png"])
    assert {*archived(outcome)} == {*before, "/e.png", "/2.css", "/f.png"}
    with outcome.archive as archive:
        assert [visit.status for visit in archive.visits(server.url("/a.png"))] == [200, 304, 304]


def test_it_works_with_an_archive_on_mongodb(tools: Any) -> None:
    server = serve(tools, SITE)
    with mongodb_uri() as uri:
        tools.crawl({"seeds": server.url("/"), "requisites": "yes", "max_pages": 1, "archive": uri})
        with open_archive(uri, read_only=True) as archive:
            found = {url.removeprefix(server.origin) for url in archive.urls()}
    named = {f"/{name}" for name in ("", "main.css", "more.css", "f.woff2", "f.ico")}
    assert found == named | {"/a.png", "/b.png", "/d.png"}


def test_it_is_refused_without_an_archive_and_for_several_processes(tools: Any) -> None:
    seed = {"seeds": "http://127.0.0.1:1/", "requisites": "yes", "archive": "none"}
    [refused] = tools.crawl(seed)
    assert "requisites=yes keeps them in the archive, but there is none: name one" in refused.log
    with pytest.raises(ValidationError, match="requisites=yes is for a crawl of one process"):
        FocusedParams(seeds="http://h.test/", keywords="*", workers="2", requisites="yes")


KILLED = """
import os, signal, sys
from mmcrawl.engine import requisites
from scrapy.cmdline import execute

left, kept = int(sys.argv.pop(1)), requisites.Requisites._kept

def killed(self, *args):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    kept(self, *args)

requisites.Requisites._kept = killed
execute(["scrapy", "crawl", "focused", *sys.argv[1:]])
"""


@pytest.mark.processes
def test_after_a_kill_nothing_is_lost_and_what_pages_need_is_asked_for_once(tools: Any) -> None:
    server, store = serve(tools, SITE), tools.folder() / "crawl.db"
    del server.pages["/3"]
    words = (f"seeds={server.url('/')}", f"store={store}", "requisites=yes", "algo=breadth")
    words += ("keywords=optics", "discover=none")
    pages, stored = {"/", "/2", "/3"}, set[str]()  # a page may be asked for again: it is in flight
    # It is killed when the archive has one more and the store does not know: also a style sheet.
    for number, code in ((1, -9), (3, -9), (0, 0)):
        before = len(server.asked)
        program = (python(), "-c", KILLED, f"{number}")
        run = Desk(store.parent).run(
            *words, program=program, ROBOTSTXT_OBEY=0, CONCURRENT_REQUESTS=1
        )
        assert run.code == code, run.err
        assert (stored - pages).isdisjoint(server.asked[before:])
        now = archived(Outcome([], {}, "", store))
        assert stored < {*now}
        stored = {*now}
    assert {*now} == {*SITE} - {"/3", "/new.png"}
    assert {now[path] for path in {*now} - pages} == {1}
    assert max(now.values()) <= 3  # there were two kills


def test_budgets_hold_and_what_is_too_large_or_endless_ends(tools: Any) -> None:
    def sheet(visit: Any) -> Any:
        n = int(visit.path.partition("?")[2])
        return tools.Answer(f"@import '?{n + 1}';", headers=CSS)

    many = "".join(f"<img src=/{n}.png>" for n in range(1_000))
    pages = SITE | {"/": f'<link rel=stylesheet href=/main.css>{many}<a href="/2">2</a>'}
    pages |= {"/2": "".join(f"<img src=/x{n}.png>" for n in range(5))}
    pages |= {f"/x{n}.png": PNG for n in range(5)} | {f"/{n}.png": PNG for n in range(9)}
    pages |= {"/odd": "<style>@import 'a.css?0'; @import 'huge.css'</style>"}
    server = serve(tools, pages | {f"/a.css?{n}": sheet for n in range(9)})
    server.pages["/huge.css"] = tools.Answer("a { background: url(x.png) }\n" * 90_000, headers=CSS)
    size = len(PNG)
    seed = {"seeds": server.url("/"), "requisites": "yes", "max_pages": 2}
    prefix = "MMCRAWL_REQUISITES_"
    few, all_small, odd = tools.crawl(
        seed | {"settings": {f"{prefix}PER_PAGE": 4}},
        seed | {"settings": {f"{prefix}MOST_BYTES": 2 * size, f"{prefix}MOST": 30}},
        seed | {"seeds": server.url("/odd"), "settings": {f"{prefix}PAGE_BYTES": 1_000_000}},
    )
    named_by_sheets = {"/more.css", "/f.woff2", "/d.png"}
    own = {"/main.css", *(f"/{n}.png" for n in range(3))}
    assert {*archived(few)} == {"/", "/2", *own, *named_by_sheets} | {
        f"/x{n}.png" for n in range(4)
    }
    assert len(ended(all_small.store)) <= 30
    with all_small.archive as archive:
        sizes = [one.size for one in archive.all_versions() if "." in one.url[-5:]]
        assert size < sum(sizes) <= 2 * size
    assert ended(odd.store) == {f"/a.css?{n}": ("C", "") for n in range(6)} | {
        "/huge.css": ("E", "too large")
    }


def test_pictures_wait_for_the_pages_of_their_host_only(tools: Any) -> None:
    other = serve(tools, {"/": "<p>page", "/o.png": PNG}, "127.0.0.2")
    seen = Event()
    other.pages["/o.png"] = lambda _: seen.set() or tools.Answer(PNG)

    def slow(_: Any) -> str:
        assert seen.wait(HANG)  # a host without pages need not wait for those of another
        return '<a href="/last">last</a>'

    pages = {"/": f'<a href="/slow">slow</a><img src=p.png><img src={other.url("/o.png")}>'}
    server = serve(tools, pages | {"/slow": slow, "/last": "<p>last", "/p.png": PNG})
    seeds = f"{server.url('/')},{other.url('/')}"
    tools.crawl({"seeds": seeds, "requisites": "yes"})
    assert server.asked == ["/", "/slow", "/last", "/p.png"]
