"""Pages that Chromium renders, driven by Playwright, in crawls.

The variable MMCRAWL_TEST_PLAYWRIGHT names a Python that has Playwright and what mmcrawl depends on;
the browser is the Chromium of this machine.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import psutil
import pytest

from mmcrawl.archive import open_archive
from tests.programs import ROOT
from tests.serving import Answer, Request, Server
from tests.waiting import HANG

PROGRAM = """
import sys
from mmcrawl.engine import browser
browser._MOST_BYTES = 1 << 20
from mmcrawl.commands.program import main
main()
"""
SHELL = "<title>Optics</title><div id=root></div><script>{}</script>"
SHOWS = """
const show = (html) => { document.getElementById("root").innerHTML = html; };
"""


class Site(Server):
    """A server of pages."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self.pages = pages
        super().__init__(self._answer)

    def _answer(self, request: Request) -> Answer:
        body = self.pages.get(request.path)
        kind = "application/json" if request.path.endswith(".json") else "text/html"
        kind = "text/plain" if "robots" in request.path else kind
        return Answer(body or b"", 404 if body is None else 200, {"Content-Type": kind})


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({}) as made:
        yield made


def crawl(
    python: str, folder: Path, *options: str
) -> tuple[CompletedProcess[str], dict[str, dict[str, Any]]]:
    """Crawl; return the process, and the media pages by their paths."""
    done = run(
        [python, "-c", PROGRAM, "crawl", "focused", "-s", "AUTOTHROTTLE_ENABLED=False",
         "-s", "MMCRAWL_DISPLAY=False", "-s", "STATS_DUMP=True", "-O", "media.jsonl", *options],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=HANG,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    feed = folder / "media.jsonl"
    lines = feed.read_text(encoding="utf-8").splitlines() if feed.exists() else []
    rows = map(json.loads, lines)
    return done, {row["url"].partition("://")[2].partition("/")[2]: row for row in rows}


def seen(python: str, folder: Path, site: Site, *options: str) -> dict[str, list[str]]:
    """Crawl a site for optics; return the names of the films of each media page."""
    done, rows = crawl(
        python, folder, "-a", f"seeds={site.origin}/", "-a", "keywords=optics",
        "-a", "render=playwright", *options,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {path: [one.rpartition("/")[2] for one in row["video"]] for path, row in rows.items()}


def test_the_demo_application_is_read_with_a_browser_only(python: str, tmp_path: Path) -> None:
    demo = ("-a", "web=demo", "-a", "seeds=http://app.demo.test/", "-a", "topic=physics-senior")
    _, without = crawl(python, tmp_path, *demo, "-a", "store=without.db")
    assert without == {}
    done, rows = crawl(python, tmp_path, *demo, "-a", "store=with.db", "-a", "render=playwright")
    assert len(rows) == 20
    assert rows["lesson/momentum"]["video"] == ["http://app.demo.test/media/momentum.mp4"]
    assert "'mmcrawl/render/gained': 21" in done.stderr
    with open_archive(f"sqlite:///{tmp_path}/with-archive.db", read_only=True) as archive:
        url = "http://app.demo.test/lesson/momentum"
        fetched, made = (archive.rebuild(archive.get(one)) for one in (url, f"rendered+{url}"))
    assert b'<div id="root"></div>' in fetched.body
    assert b"<h1>Conservation of momentum: physics lesson</h1>" in made.body


def test_what_scripts_ask_for_obeys_robots_txt(python: str, tmp_path: Path, site: Site) -> None:
    script = """
    fetch("/kept-out.json").then(() => show("<video src=out.mp4>")).catch(
        () => fetch("/data.json").then((r) => r.json()).then(
            (d) => show(`<h1>optics</h1><video src=${d.film}></video>`)));
    """
    site.pages |= {
        "/": SHELL.format(SHOWS + script).encode(),
        "/robots.txt": b"User-agent: *\nDisallow: /kept-out",
        "/data.json": b'{"film": "lens.mp4"}',
    }
    assert seen(python, tmp_path, site) == {"": ["lens.mp4"]}
    assert "/kept-out.json" not in site.asked
    assert site.asked.count("/") == 1  # the browser is given what was fetched


def test_the_browser_reaches_no_private_address_and_fetches_no_pictures(
    python: str, tmp_path: Path, site: Site
) -> None:
    secret = Site({"/secret.json": b'{"film": "secret.mp4"}'})
    port = secret.port
    script = f"""
    new Image().src = "/picture.png";
    navigator.sendBeacon("/beacon", "x");
    new WebSocket("ws://127.0.0.1:{port}/socket");
    const frame = document.createElement("iframe");
    frame.src = "http://127.0.0.1:{port}/frame";
    document.body.append(frame);
    window.open("http://127.0.0.1:{port}/window");
    Promise.allSettled([
      fetch("http://127.0.0.1:{port}/secret.json"),
      fetch("http://localhost:{port}/secret.json", {{ mode: "no-cors" }}),
      fetch("http://169.254.169.254/latest/meta-data", {{ mode: "no-cors" }}),
      fetch("file:///etc/passwd"),
    ]).then((all) => show(
      `<h1>optics</h1><video src=${{all.filter((one) => one.status === "fulfilled").length}}.mp4>`
    ));
    """
    site.pages["/"] = SHELL.format(SHOWS + script).encode()
    try:
        assert seen(python, tmp_path, site, "-a", "max_pages=1") == {"": ["0.mp4"]}
    finally:
        secret.close()
    assert secret.asked == []
    assert set(site.asked) <= {"/", "/robots.txt", "/favicon.ico"}


def test_pages_that_do_not_end_or_are_too_large_go_on_as_they_were_fetched(
    python: str, tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    sooner = "browser._SECONDS, browser._LAST_SECONDS = 20.0, 5.0\nbrowser._MOST"
    monkeypatch.setattr(f"{__name__}.PROGRAM", PROGRAM.replace("browser._MOST", sooner))
    site.pages |= {
        "/": b'<h1>optics</h1><a href="loop">1</a><a href="large">2</a><a href="good">3</a>',
        "/loop": SHELL.format("for (;;) {}").encode() + b'<a href="after-loop">optics</a>',
        "/large": SHELL.format("for (;;) document.body.append('x'.repeat(1 << 16))").encode(),
        "/after-loop": b'<h1>optics</h1><video src="loop.mp4"></video>',
        "/good": SHELL.format(SHOWS + "show('<h1>optics</h1><video src=good.mp4>')").encode(),
    }
    found = seen(python, tmp_path, site)
    assert found == {"after-loop": ["loop.mp4"], "good": ["good.mp4"]}


_LINKS = "".join(f"<a href=/{number}>optics {number}</a>" for number in range(5))


@pytest.mark.parametrize("ends", ["--type=renderer", "--remote-debugging-pipe", "run-driver"])
def test_a_page_is_rendered_again_if_the_browser_or_its_driver_is_killed(
    python: str, tmp_path: Path, ends: str
) -> None:
    killed: list[int] = []

    def answer(request: Request) -> Answer:
        if request.path.endswith(".json") and not killed:
            killed.extend(_kill(ends))
        return site._answer(request)

    script = "fetch('/data.json').then(() => show(`<video src=${location.pathname}.mp4></video>`))"
    site = Site({f"/{number}": SHELL.format(SHOWS + script).encode() for number in range(5)})
    site.pages |= {"/": f"<h1>optics</h1>{_LINKS}".encode(), "/data.json": b"{}"}
    with site, Server(answer) as server:
        done, rows = crawl(
            python, tmp_path, "-a", f"seeds={server.origin}/", "-a", "keywords=optics",
            "-a", "render=playwright",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert killed
    assert set(rows) == {"0", "1", "2", "3", "4"}


def _kill(ends: str) -> list[int]:
    """Kill one process below this one, of Chromium or its driver; return its number."""
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            words = one.cmdline()
            if ends in words and not (ends.startswith("--remote") and "--type" in str(words)):
                one.kill()
                return [one.pid]
    return []


def test_a_browser_that_cannot_be_started_ends_the_crawl_and_the_next_one_goes_on(
    python: str, tmp_path: Path, site: Site
) -> None:
    site.pages |= {
        "/": b'<h1>optics</h1><a href="shell">1</a>',
        "/shell": SHELL.format(SHOWS + "show('<video src=a.mp4></video>')").encode(),
    }
    wanted = "-a", f"seeds={site.origin}/", "-a", "keywords=optics", "-a", "render=playwright"
    done, rows = crawl(python, tmp_path, *wanted, "-s", "MMCRAWL_CHROMIUM=/bin/false")
    assert (done.returncode, rows) == (1, {})
    assert "/bin/false, which render= needs, cannot be started" in done.stderr
    done, rows = crawl(python, tmp_path, *wanted)
    assert (done.returncode, set(rows)) == (0, {"shell"})


def test_without_a_browser_the_crawl_does_not_begin(python: str, tmp_path: Path) -> None:
    done, _ = crawl(
        python, tmp_path, "-a", "render=playwright", "-s", "MMCRAWL_CHROMIUM=no-such-browser"
    )
    assert done.returncode != 0
    assert "there is no no-such-browser; install it" in done.stderr
    assert not (tmp_path / "demo.db").exists()
