import gzip
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import pytest

from mmcrawl.archive import open_archive
from tests.desks import Desk, Run
from tests.hostile.conftest import Site
from tests.waiting import HANG

TOPIC = "topic=physics-senior"
OPTICS = (
    "<title>光学 optics</title><h1>a lens</h1>"
    "<a href='/film/{0}.mp4'>optics</a><a href='{0}_on'>on</a>"
)
GZIP = {"Content-Encoding": "gzip"}
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
FOLDED = ("\r\n\t" + 4_000 * " ") * 8 + "x"  # no line of it is longer than a line may be
BAD_LINKS = (
    b"http://[", b"http://:80", b"http://a:99999999/", b"http://127.0.0.1:99999/", b"http://",
    b"//", b"\0", b"http://\xff\xfe/", b"javascript:void(0)", b"http://1.2.3.4.5/",
    b"/" + b"y" * 3000, b"/" + b"y" * 100_000, b"/on_behind_bad_links",
)  # fmt: skip


def optics(name: str) -> bytes:
    """A page that is found, with a link of its own that shows whether it was read to its end."""
    return OPTICS.format(name).encode()


def redirect(location: str) -> dict[str, object]:
    return {"body": b"", "status": "302 Found", "headers": {"Location": location}}


def endless(connection: socket.socket) -> None:
    connection.sendall(HTML + b"\r\n" + optics("endless"))
    for _ in range(800):
        connection.sendall(b"a" * 65_536)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


PAGES: dict[str, dict[str, object]] = {
    "/big": {"body": optics("big") + b"x" * 50_000_000},
    "/bomb": {"body": gzip.compress(optics("bomb") + b"<p>a" * 25_000_000), "headers": GZIP},
    "/bad_gzip": {"body": b"\x1f\x8b\x08\0this is no gzip", "headers": GZIP},
    "/no_gzip": {"body": optics("no_gzip"), "headers": GZIP},
    "/too_short": {"body": optics("too_short"), "headers": {"Content-Length": "99999"}},
    "/bad_length": {"body": optics("bad_length"), "headers": {"Content-Length": "many"}},
    "/loop": redirect("/loop"),
    "/location": redirect("http://[::::/\xff"),
    "/location_script": redirect("javascript:alert(1)"),
    "/location_port": redirect("http://127.0.0.1:99999999/"),
    "/location_empty": redirect(""),
    "/odd_type": {"body": optics("odd_type"), "kind": "text/\x1b[31mred"},
    "/mp3": {"body": b"ID3\x03\0\0\0\0\0\x21" + bytes(range(256)) * 400},
    "/empty": {"body": b""},
    "/too_long": {"body": optics("too_long") + b"x" * 99,
                  "headers": {"Content-Length": str(len(optics("too_long")))}},
    "/deep": {"body": b"<div>" * 100_000 + optics("deep") + b"</div>" * 100_000},
    "/nul": {"body": b"\0" * 200_000 + optics("nul")},
    "/bad_links": {"body": b"".join(b"<a href='%s'>x</a>" % url for url in BAD_LINKS)},
    "/charset": {"body": optics("charset"), "kind": "text/html; charset=x-klingon-8"},
    "/charset_quote": {"body": optics("charset_quote"), "kind": 'text/html; charset="'},
    "/folded": {"body": optics("folded"), "kind": "text/html; charset" + FOLDED},
    "/disposition": {
        "body": optics("disposition"),
        "headers": {"Content-Disposition": "attachment; filename*=undefined''a.html" + FOLDED},
    },
    "/good": {"body": optics("good")},
}  # fmt: skip
CHUNKS = HTML + b"Transfer-Encoding: chunked\r\n\r\n1000\r\n" + optics("cut_chunk")
RAW: dict[str, bytes | Callable[[socket.socket], None]] = {
    "/endless": endless,
    "/cut": HTML + b"Content-Length: 5000\r\n\r\n" + optics("cut"),
    "/cut_chunk": CHUNKS,
    "/reset": reset,
    "/nothing": b"",
    "/garbage": b"\xff\xfe\0garbage\r\n\r\n",
}
BROKEN = ("/cut", "/cut_chunk", "/too_short", "/bad_length", "/reset", "/nothing", "/garbage")
ERRORS = {
    **dict.fromkeys(("/big", "/endless", "/bomb"), "too large"),
    **dict.fromkeys(("/bad_gzip", "/no_gzip"), "broken compression"),
    **dict.fromkeys(BROKEN, "connection broken"),
    "/location": "bad address: Invalid IPv6 URL",
    "/location_script": "bad address: Missing scheme in request url: javascript:alert(1)",
    "/location_port": "bad address: Port out of range 0-65535",
    "/location_empty": "HTTP 302",
    "/odd_type": "no page: text/\x1b[31mred",
}
FOUND = ("/too_long", "/deep", "/nul", "/charset", "/charset_quote", "/good")
FOUND += ("/folded", "/disposition")


@dataclass
class Outcome:
    site: Site
    run: Run
    links: dict[str, tuple[str, str]]
    found: set[str]
    folded: str

    def link(self, path: str) -> tuple[str, str]:
        return self.links[self.site.url(path)]


@pytest.fixture(scope="module")
def bad(open_site: Callable[[], Site], open_desk: Callable[[], Desk], closed_port: int) -> Outcome:
    """One crawl of a site that holds everything that can be wrong with a page."""
    site, desk = open_site(), open_desk()
    for path, page in PAGES.items():
        site.put(path, **page)  # type: ignore[arg-type]
        site.page(f"{path}_on", "next")
    site.answers.update(RAW)
    site.page("/on_behind_bad_links", "next")
    site.page("/", "All", *PAGES, *RAW)
    seeds = f"seeds=http://nosuch.invalid/,http://127.0.0.1:{closed_port}/,{site.url()}"
    run = desk.crawl(TOPIC, seeds, "store=crawl.db")
    with closing(open_archive(f"sqlite:///{desk.folder / 'crawl-archive.db'}")) as archive:
        folded = archive.get(site.url("/folded"))
    found = desk.links("crawl.db"), desk.media_pages("crawl.db")
    return Outcome(site, run, *found, folded.header("content-type"))


def test_a_crawl_of_bad_pages_ends_in_good_order(bad: Outcome) -> None:
    assert bad.run.code == 0
    assert bad.run.errors == []
    assert "Traceback" not in bad.run.err
    assert {status for status, _ in bad.links.values()} == {"C", "E", "W"}
    assert "The waiting links are on hosts whose robots.txt could not be read" in bad.run.words


def test_a_page_that_cannot_be_had_ends_in_error_with_its_reason(bad: Outcome) -> None:
    assert {path: bad.link(path) for path in ERRORS} == {
        path: ("E", reason) for path, reason in ERRORS.items()
    }
    status, reason = bad.link("/loop")
    assert status == "E"
    assert "redirect" in reason
    assert bad.site.asked.count("/loop") <= 30


def test_a_header_is_bounded_before_anything_reads_it(bad: Outcome) -> None:
    assert bad.folded.startswith("text/html; charset")
    assert len(bad.folded) <= 1_024


def test_what_is_odd_but_can_be_read_is_read_to_its_end(bad: Outcome) -> None:
    read = [*FOUND, *(f"{path}_on" for path in FOUND), "/mp3", "/empty", "/bad_links"]
    assert {path: bad.link(path) for path in read} == dict.fromkeys(read, ("C", ""))
    assert bad.found == {bad.site.url(path) for path in FOUND}


def test_invalid_links_are_left_out_and_good_ones_behind_them_followed(bad: Outcome) -> None:
    assert bad.link("/on_behind_bad_links") == ("C", "")
    assert all(len(url) < 2100 for url in bad.links)
    assert not [url for url in bad.links if "99999" in url or "[" in url]


def test_seeds_that_cannot_be_reached_do_not_stop_the_others(bad, closed_port):
    assert bad.links["http://nosuch.invalid/"] == ("E", "host not found")
    assert bad.links[f"http://127.0.0.1:{closed_port}/"] == ("W", "")
    assert f"127.0.0.1:{closed_port}: connection refused" in bad.run.words


def test_the_closing_table_counts_the_reasons(bad: Outcome) -> None:
    table = bad.run.words.partition("Not fetched or failed")[2].replace("│", "")
    table = " ".join(table.split())
    assert "7 connection broken" in table
    assert "3 too large" in table
    assert "2 broken compression" in table
    assert re.search(r"… and \d+ more", table)
    assert "1 address too long" in table


def test_when_every_seed_fails_the_ending_says_that_nothing_could_be_fetched(
    site: Site, desk: Desk, closed_port: int
) -> None:
    over = threading.Event()
    site.answers["/"] = lambda connection: over.wait(HANG) and None
    seeds = f"seeds={site.url()},http://127.0.0.1:{closed_port}/"
    try:
        run = desk.crawl(TOPIC, seeds, "store=crawl.db", DOWNLOAD_TIMEOUT="1", RETRY_ENABLED="0")
    finally:
        over.set()
    assert desk.links("crawl.db") == {
        site.url(): ("E", "no answer in time"),
        f"http://127.0.0.1:{closed_port}/": ("W", ""),
    }
    assert f"127.0.0.1:{closed_port}: connection refused" in run.words
    assert run.code == 1
    assert "Nothing could be fetched" in run.words
    assert {path.name for path in desk.folder.glob("*.db")} == {"crawl.db", "crawl-archive.db"}
    assert "Finished" not in run.words
    assert "Traceback" not in run.err


def test_a_page_that_drips_does_not_hold_up_its_site_while_it_is_probed(site, desk):
    pages = [f"/{n}" for n in range(20)]
    asked: list[str] = []

    def drip(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        end = time.monotonic() + HANG
        while time.monotonic() < end and not {*pages} <= {*site.asked}:
            connection.sendall(b".")
            time.sleep(0.1)
        asked.extend(site.asked)

    site.page("/", "optics of a lens", "/drip", *pages)
    site.answers["/drip"] = drip
    for path in pages:
        site.page(path, "optics of a lens")
    run = desk.crawl(TOPIC, f"seeds={site.url()}", "store=memory:", "algo=urlrule-2009")
    assert run.code == 0
    assert {*pages} <= {*asked}


def links_to(pages: int) -> bytes:
    return b"".join(b"<a href=n/%d>x</a>" % n for n in range(pages))


def test_links_beyond_the_bound_of_a_page_are_left_out_and_said_so(site: Site, desk: Desk) -> None:
    site.put("/robots.txt", b"<h1>no</h1>", status="403 Forbidden")  # which forbids nothing
    site.put("/", links_to(300))
    options = f"seeds={site.url()}", "store=crawl.db", "max_pages=1", "discover=none"
    run = desk.crawl(TOPIC, *options, MMCRAWL_LINKS_PER_PAGE="100")
    assert run.code == 0
    assert len(desk.links("crawl.db")) == 101
    assert f"{site.url()} has 300 links; the last 200 are left out" in run.words
    assert "200 too many on one page" in run.words
    assert desk.rows("crawl.db", "SELECT links_on_page FROM page") == [(300,)]


def test_nothing_of_other_pages_is_lost_while_a_large_one_is_taken_in(site, desk):
    pages = [f"/p/{number}" for number in range(40)]
    site.page("/", "optics of a lens", "/index", "/gone", "/moved", *pages[:20])
    site.put("/index", links_to(1_500))
    site.put("/moved", b"", status="302 Found", headers={"Location": pages[39]})
    for number, path in enumerate(pages):
        site.page(path, "optics of a lens", f"/p/{number + 20}", media=f"/film/{number}.mp4")
    options = f"seeds={site.url()}", "store=crawl.db", "algo=breadth", "discover=none"
    run = desk.crawl(TOPIC, *options, MMCRAWL_BARREN_PAGES_PER_SHAPE="20")
    assert run.code == 0
    assert "internal error" not in run.err
    links = desk.links("crawl.db")
    assert {path for path in pages if links[site.url(path)] == ("C", "")} == {*pages}
    assert links[site.url("/moved")] == ("C", f"redirects to {site.url(pages[39])}")
    assert links[site.url("/gone")][0] == "E"
    assert len(links) == 1 + 3 + 1_500 + 60
    assert {status for status, _ in links.values()} == {"C", "E"}


def test_links_that_are_left_out_are_counted(site, desk):
    shop = "".join(f"<a href=/{n}><img src={n}.png width=300 height=250></a>" for n in "ab")
    links = "".join(f"<p><a href={path}>more</a>" for path in ("/list", "/never/1", "/never/2"))
    site.put("/", f"<title>Lenses</title><div class=ads>{shop}</div><p>Lenses{links}".encode())
    site.page("/list", "All", *(f"/a/b/{n}" for n in range(5)))
    (desk.folder / "rules.txt").write_text("re:/never/ never\n", encoding="utf-8")
    options = "algo=urlrule-2009", "num2=0", "rules=rules.txt", "links=related"
    run = desk.crawl(*options, TOPIC, f"seeds={site.url()}", "store=crawl.db", "discover=none")
    assert run.code == 0
    told = "was fetched, but for 9 that a rule or links=related or urlrule-2009 leaves out."
    assert told in run.words
