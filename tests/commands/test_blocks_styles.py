"""`scrapy blocks --styles`: the style sheets a page links to, asked for as a crawl asks."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scrapy.settings import Settings

from mmcrawl.commands import MOST_SHEETS, ReceivedPage, with_sheets
from tests.commands.test_blocks import Site, blocks, site
from tests.tables import each

__all__ = ["site"]  # the fixture

LEVERS = "Levers multiply the force that is applied to them at the longer end of a beam."
PULLEYS = "Pulleys change the direction of a force, and several of them divide it as well."
CSS = {"Content-Type": "text/css"}
RED = (200, CSS, b".n{color:red}")


def page(*hrefs: str, more: str = "") -> bytes:
    links = "".join(f'<link rel="stylesheet" href="{href}">' for href in hrefs)
    return f"{links}{more}<div><p>{LEVERS}</p><p class=n>{PULLEYS}</p></div>".encode()


def texts(*args: str) -> tuple[list[str], list[str]]:
    """Return the blocks of a page, and what is said on standard error."""
    shown = blocks("--styles", "--json", "-s", "AUTOTHROTTLE_ENABLED=0", *args)
    assert shown.returncode == 0, shown.stderr
    told = [line.removeprefix("scrapy blocks: ") for line in shown.stderr.splitlines()]
    return [block["text"] for block in json.loads(shown.stdout)["blocks"]], told


def test_a_linked_sheet_tells_blocks_apart(site: Site) -> None:
    site.answers["/a/"] = (200, {}, page("s.css"))
    assert texts(site.url("/a/")) == (
        [f"{LEVERS} {PULLEYS}"],
        [f"{site.url('/a/s.css')}: HTTP 404"],
    )
    site.answers["/a/s.css"] = RED
    assert texts(site.url("/a/")) == ([LEVERS, PULLEYS], [])
    assert site.asked.count("/a/s.css") == 2
    asked = len(site.asked)
    assert blocks("--method", "spcola", site.url("/a/")).returncode == 0
    assert "/a/s.css" not in site.asked[asked:]
    shown = blocks("--styles", site.url("/a/"), "-s", "AUTOTHROTTLE_ENABLED=0")
    assert "\nspcola" in shown.stdout  # the method that reads sheets


def test_sheets_of_a_file_are_asked_for_by_its_address(site: Site, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(page("s.css", more='<base href="/b/">'))
    site.answers |= {"/b/s.css": RED}
    assert texts(str(file), "--url", site.url("/a/page.html")) == ([LEVERS, PULLEYS], [])
    file.write_bytes(page("s.css", site.url("/b/s.css")))
    said = texts(str(file))
    assert said[0] == [f"{LEVERS} {PULLEYS}"]
    assert said[1][0] == "s.css: give its page's --url"
    assert "leads to 127.0.0.1, which is on a private network" in said[1][1]


def test_each_sheet_that_cannot_be_had_is_a_line_and_the_others_count(site: Site) -> None:
    site.answers |= {
        "/": (200, {}, page("/none", "/html", "/large", "data:text/css,p{}", "ftp://h/x", "/s")),
        "/robots.txt": (200, {}, b"User-agent: *\nDisallow: /none\n"),
        "/html": (200, {}, page()),
        "/large": (200, CSS, b" " * 1_000_001),
        "/s": RED,
    }
    found, told = texts(site.url())
    assert found == [LEVERS, PULLEYS]
    assert sorted(told) == sorted(
        [
            "data:text/css,p{}: only http and https are asked",
            "ftp://h/x: only http and https are asked",
            f"{site.url('/none')}: forbidden by robots.txt",
            f"{site.url('/html')}: no style sheet: text/html",
            f"{site.url('/large')}: too large",
        ]
    )
    assert "/none" not in site.asked


def test_so_many_sheets_and_no_more_are_asked_for(site: Site) -> None:
    hrefs = [f"/{number}.css" for number in range(MOST_SHEETS + 3)]
    site.answers |= dict.fromkeys(hrefs, (200, CSS, b" " * 60_000)) | {
        "/": (200, {}, page(*hrefs, *hrefs))
    }
    _, told = texts(site.url())
    assert set(site.asked) - {"/", "/robots.txt"} == set(hrefs[:MOST_SHEETS])
    assert told[0] == f"3 more style sheets than {MOST_SHEETS}"
    assert [line.partition(": ")[2] for line in told[1:]] == ["too large, with the others"] * 4


def test_sheets_that_no_reader_sees_are_not_asked_for(site: Site) -> None:
    more = '<link rel=icon href=i><link rel="alternate stylesheet" href=a>'
    more += "<link rel=stylesheet media=print href=p><link rel=StyleSheet media=screen href=s>"
    site.answers |= {"/": (200, {}, page(more=more)), "/s": RED}
    assert texts(site.url()) == ([LEVERS, PULLEYS], [])
    assert set(site.asked) == {"/", "/robots.txt", "/s"}


def test_a_sheet_leads_to_no_private_address(site: Site) -> None:
    public = "http://public.example.org"  # asked for through a proxy, so no name is looked up
    site.answers |= {
        f"{public}/": (200, {}, page(site.url("/secret"), "/moved")),
        f"{public}/moved": (302, {"Location": site.url("/secret")}, b""),
        site.url("/secret"): RED,
    }
    quick = ("-s", "AUTOTHROTTLE_ENABLED=0")
    proxy = {"http_proxy": site.url(""), "no_proxy": "127.0.0.1"}
    shown = blocks("--styles", f"{public}/", *quick, **proxy)
    assert shown.returncode == 0
    assert len([line for line in shown.stderr.splitlines() if "leads to 127.0.0.1" in line]) == 2
    assert not [path for path in site.asked if "secret" in path]


def test_sheets_of_a_stored_web_are_taken_from_there(tmp_path: Path) -> None:
    folder = tmp_path / "web" / "h.test"
    folder.mkdir(parents=True)
    (folder / "index.html").write_bytes(page("s.css?v=2", "t.css"))
    (folder / "t.css").write_bytes(RED[2])
    found, told = texts("http://h.test/index.html", "--web", str(tmp_path / "web"))
    assert found == [LEVERS, PULLEYS]
    assert told == ["http://h.test/s.css?v=2: HTTP 404"]


def test_a_sheet_that_names_no_encoding_has_that_of_its_page(site: Site) -> None:
    text = page("/s").decode().replace("class=n", "class=红") + "<meta charset=gbk>"
    sheet = ".红{color:red}"
    site.answers |= {"/": (200, {}, text.encode("gbk")), "/s": (200, CSS, sheet.encode("gbk"))}
    assert texts(site.url())[0] == [LEVERS, PULLEYS]
    utf8 = {"Content-Type": "text/css; charset=utf-8"}
    for answer in ((200, utf8, sheet.encode()), (200, CSS, f'@charset "utf-8";{sheet}'.encode())):
        site.answers["/s"] = answer
        assert texts(site.url())[0] == [LEVERS, PULLEYS]


@each("web", ["", "demo"])
def test_a_host_is_asked_for_sheets_as_slowly_as_by_a_crawl(web: str) -> None:
    asked: list[dict[str, Any]] = []

    class Process:
        def crawl(self, spider: type, **arguments: object) -> None:
            asked.append(spider.custom_settings)  # type: ignore[attr-defined]

        def start(self) -> None:
            """Ask nobody."""

    command: Any = SimpleNamespace(
        settings=Settings({"MMCRAWL_WEB": web}), crawler_process=Process()
    )
    with_sheets(command, ReceivedPage(page("s.css"), "http://h.test/"))
    (settings,) = asked
    assert settings["AUTOTHROTTLE_ENABLED"] is not bool(web)
    assert settings["CONCURRENT_REQUESTS_PER_DOMAIN"] == 1
