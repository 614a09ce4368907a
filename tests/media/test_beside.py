"""Media that are collected while a crawl runs, on both kinds of stores; many media on one page."""

import signal
import subprocess
from pathlib import Path

import pytest

from mmcrawl.media import State
from tests.media.serving import SETTINGS, Desk, MediaServer, Medium, film
from tests.programs import started
from tests.waiting import HANG, until

pytestmark = pytest.mark.processes


@pytest.fixture
def site(server: MediaServer) -> MediaServer:
    """A site of two pages with three films."""
    text = "<title>Optics</title><h1>Optics</h1><p>A lens of optics bends light.</p>"
    link = '<a href="{0}">optics {0}</a>'
    pages = {"/": ("/next", "/a.mp4", "/b.mp4"), "/next": ("/c.mp4", "/none.mp4")}
    for path, links in pages.items():
        html = text + "".join(f"<p>{link.format(each)}</p>" for each in links)
        server.media[path] = Medium(html.encode(), {"Content-Type": "text/html"})
    for number, path in enumerate(("/a.mp4", "/b.mp4", "/c.mp4")):
        server.media[path] = Medium(film(30_000, number))
    return server


def crawl(desk: Desk, server: MediaServer, *arguments: str) -> "subprocess.Popen[str]":
    """Start a crawl that has its media collected beside it."""
    given = ["algo=breadth", "keywords=optics", f"seeds={server.url('/')}", f"store={desk.uri}"]
    words = ["crawl", "focused"]
    words += [part for each in (*given, "archive=none", *arguments) for part in ("-a", each)]
    settings = {**SETTINGS, "MMCRAWL_MEDIA": str(desk.folder / "crawl-media")}
    words += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    return started(*words, folder=desk.folder)


def test_a_crawl_ends_with_its_media(store: str, site: MediaServer, tmp_path: Path) -> None:
    place = Desk(tmp_path, store)
    with crawl(place, site, "download=all") as process:
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 0, said
    assert place.summary().addresses == {State.HELD: 3, State.FAILED: 1}
    assert place.records()["/none.mp4"].reason == "HTTP 404"
    assert len(place.files()) == 3
    assert "3 files downloaded" in said
    assert [site.times(path) for path in ("/a.mp4", "/b.mp4", "/c.mp4")] == [1, 1, 1]


def test_the_bound_of_media_holds_beside_a_crawl(desk: Desk, site: MediaServer) -> None:
    with crawl(desk, site, "download=video", "max_media=70kB") as process:
        process.communicate(timeout=HANG)
    assert desk.summary().count(State.HELD) == 2
    assert desk.summary().reasons["no room within max_media (70,000 bytes)"] == 1


def test_ctrl_c_while_media_come_leaves_the_rest_for_another_time(desk, site):
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'}, pace=100_000)
    with crawl(desk, site, "download=all") as process:
        assert any("its media are still coming" in line for line in process.stderr)
        until(lambda: site.times("/a.mp4"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 0, said
    assert desk.records()["/a.mp4"].state is State.WAITING
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'})
    run = desk.collect()
    assert run.code == 0, run.err
    assert desk.records()["/a.mp4"].state is State.HELD


def test_when_a_crawl_is_killed_its_collecting_ends_too(desk: Desk, site: MediaServer) -> None:
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'}, pace=100_000)
    with crawl(desk, site, "download=all") as process:
        until(lambda: site.times("/a.mp4"))
        process.kill()
        process.communicate(timeout=HANG)
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'})
    run = desk.collect()
    assert run.code == 0, run.err
    assert desk.records()["/a.mp4"].state is State.HELD
    assert site.times("/a.mp4") == 2


def test_media_in_memory_are_refused_before_anything_begins(desk: Desk, site: MediaServer) -> None:
    with crawl(Desk(desk.folder, "memory:"), site, "download=all") as process:
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 2
    assert "media of a crawl in memory cannot be kept" in said
    assert site.asked == []


def test_many_media_on_one_page_take_time_in_proportion(desk: Desk, server: MediaServer) -> None:
    """All but one are of protocols that are not asked for: what is measured is the book-keeping."""
    server.media["/a.mp4"] = Medium(film(3_000))
    streams = [f"rtsp://h.test/{number}.rm" for number in range(3_000)]
    desk.found([*streams, server.url("/a.mp4")], server.url("/"))
    taken = """
import atexit, pathlib, time
atexit.register(lambda: pathlib.Path('taken').write_text(str(time.process_time())))
"""
    with desk.start(before=taken) as process:
        process.communicate(timeout=HANG)
    assert process.returncode == 0
    assert desk.summary().addresses == {State.HELD: 1, State.SKIPPED: 3_000}
    assert float((desk.folder / "taken").read_text()) < 9
