"""A crawl goes where a browser goes, and one that ends at its seeds says why."""

from pathlib import Path

from tests.engine.conftest import crawl_for_levers
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


def answer(request: Request) -> Answer:
    if request.path == "/shell":
        return Answer(status=302, headers={"Location": "/pictures"})
    body = PAGES.get(request.path)
    moved = {"Refresh": "0; url=/film5.html"} if request.path == "/header" else {}
    return Answer((body or "").encode(), 404 if body is None else 200, moved)


def test_a_crawl_goes_where_a_browser_goes_and_keeps_the_pages_that_moved_it(
    tmp_path: Path,
) -> None:
    with Server(answer) as site:
        seeds = map(site.url, ("/script", "/event", "/frames", "/refresh", "/header", "/row1"))
        said, found = crawl_for_levers(tmp_path, *seeds, archive="none")
    assert said.code == 0, said.err
    assert sorted(found) == [f"/film{number}.html" for number in range(1, 6)]
    assert "38.5%" in said.err, said.err  # of six seeds, a frame, /row2 and the films


def test_a_crawl_that_ends_at_its_seeds_names_them_and_what_they_are(tmp_path: Path) -> None:
    with Server(answer) as site:
        paths = ("/app", "/login", "/empty", "/broken", "/away", "/shell")
        said, _ = crawl_for_levers(tmp_path, *map(site.url, paths), archive="none")
    told = {
        line.partition("seed ")[2].removeprefix(site.origin)
        for line in said.err.splitlines()
        if "Nothing was found at the seed" in line
    }
    assert said.code == 1, said.err
    assert told == {
        "/app: a script only; try -a render=playwright",
        "/login: a login form",
        "/empty: an empty page",
        "/broken: frames of which none could be fetched: HTTP 404 (1)",
        "/away: HTTP 404",
        f"/shell, which leads to {site.origin}/pictures: pictures without a link",
    }
