"""A crawl goes where a browser goes, and one that ends at its seeds says why."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import typed
from tests.serving import Answer, Request, Server

FILM = "<title>Lever</title><h1>Lever</h1><video src='/lever{}.mp4' title='lever'></video>"


PAGES = {
        "/script": "<script>location.replace('/film1.html')</script>",
        "/film1.html": FILM.format(1),
        "/event": "<script>function go(){top.location='/film2.html'}</script><body onload=go()>",
        "/film2.html": FILM.format(2),
        "/frames": "<frameset><frame src=/frame></frameset>",
        "/frame": "<body onload=\"setTimeout('parent.location=&quot;/film3.html&quot;',9)\">",
        "/film3.html": FILM.format(3),
        "/refresh": "<title>Levers</title>" + "<p>Words of a page that stays.</p>" * 20 +
        "<a href=/script>a</a><a href=/event>b</a>"
        "<meta http-equiv=refresh content=3;/film4.html>",
        "/film4.html": FILM.format(4),
        "/header": "<p>Wait",
        "/film5.html": FILM.format(5),
        "/row1": "<script>location='/row2'</script>",
        "/row2": "<script>location='/row1'</script>",
        "/app": "<div id=root></div><script src=app.js></script>",
        "/login": "<form><input name=u><input type=password name=p></form>",
        "/empty": "",
        "/pictures": "<img src=lever.png>",
        "/broken": "<frameset><frame src=/gone></frameset>",
    }  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    def answer(request: Request) -> Answer:
        if request.path == "/shell":
            return Answer(status=302, headers={"Location": "/pictures"})
        body = PAGES.get(request.path)
        moved = {"Refresh": "0; url=/film5.html"} if request.path == "/header" else {}
        return Answer((body or "").encode(), 404 if body is None else 200, moved)

    with Server(answer) as server:
        yield server.origin


def crawl(folder: Path, site: str, *paths: str) -> tuple[int, str]:
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{site}{path}\n" for path in paths))
    said = typed(
        "crawl", "focused", "-a", "keywords=lever", "-a", f"seeds={seeds}", "-a", "store=c.db",
        "-O", "found.jsonl", "-a", "archive=none", "-s", "AUTOTHROTTLE_ENABLED=0",
        "-s", "DOWNLOAD_DELAY=0", "-a", "discover=", folder=folder,
    )  # fmt: skip
    return said.returncode, said.stderr


def test_a_crawl_goes_where_a_browser_goes_and_keeps_the_pages_that_moved_it(site, tmp_path):
    seeds = ("/script", "/event", "/frames", "/refresh", "/header", "/row1")
    code, said = crawl(tmp_path, site, *seeds)
    rows = [json.loads(line) for line in (tmp_path / "found.jsonl").read_text().splitlines()]
    assert code == 0, said
    assert sorted(row["url"].removeprefix(site) for row in rows) == [
        f"/film{number}.html" for number in range(1, 6)
    ]
    assert "Traceback" not in said
    assert "38.5%" in said, said  # of six seeds, a frame, /row2 and the films


def test_a_crawl_that_ends_at_its_seeds_names_them_and_what_they_are(site, tmp_path):
    seeds = ("/app", "/login", "/empty", "/broken", "/away", "/shell")
    code, said = crawl(tmp_path, site, *seeds)
    told = {
        line.partition("seed ")[2].removeprefix(site)
        for line in said.splitlines()
        if "Nothing was found at the seed" in line
    }
    assert code == 1, said
    assert told == {
        "/app: a script only; try -a render=playwright",
        "/login: a login form",
        "/empty: an empty page",
        "/broken: frames of which none could be fetched: HTTP 404 (1)",
        "/away: HTTP 404",
        f"/shell, which leads to {site}/pictures: pictures without a link",
    }
    code, said = crawl(tmp_path, site, *seeds)
    assert code == 0, said
