"""Media that are collected while a crawl runs, on both kinds of stores; many media on one page."""

import signal
import subprocess
from pathlib import Path

import pytest

from mmcrawl.media import State
from tests.desks import end_of, ended_by
from tests.media.serving import MediaDesk, MediaServer, Medium, film
from tests.waiting import until

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


def crawl(desk: MediaDesk, server: MediaServer, *arguments: str) -> "subprocess.Popen[str]":
    """Start a crawl that has its media collected beside it."""
    given = ["algo=breadth", "keywords=optics", f"seeds={server.url('/')}", f"store={desk.uri}"]
    place = desk.folder / "crawl-media"
    return desk.start("crawl", "focused", *given, "archive=none", *arguments, MMCRAWL_MEDIA=place)


def test_a_crawl_ends_with_its_media(store: str, site: MediaServer, tmp_path: Path) -> None:
    place = MediaDesk(tmp_path, store)
    with crawl(place, site, "download=all") as process:
        run = end_of(process)
    assert run.code == 0, run.err
    assert place.summary().addresses == {State.HELD: 3, State.FAILED: 1}
    assert place.records()["/none.mp4"].reason == "HTTP 404"
    assert len(place.files()) == 3
    assert "3 files downloaded" in run.err
    assert [site.times(path) for path in ("/a.mp4", "/b.mp4", "/c.mp4")] == [1, 1, 1]


def test_the_bound_of_media_holds_beside_a_crawl(desk: MediaDesk, site: MediaServer) -> None:
    with crawl(desk, site, "download=video", "max_media=70kB") as process:
        end_of(process)
    assert desk.summary().count(State.HELD) == 2
    assert desk.summary().reasons["no room within max_media (70,000 bytes)"] == 1


def test_ctrl_c_while_media_come_leaves_the_rest_for_another_time(desk, site):
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'}, pace=100_000)
    with crawl(desk, site, "download=all") as process:
        assert any("its media are still coming" in line for line in process.stderr)
        until(lambda: site.times("/a.mp4"))
        run = ended_by(process, signal.SIGINT)
    assert run.code == 0, run.err
    # Taken, if the stop came between the request and its answer: the next process takes it over.
    assert desk.records()["/a.mp4"].state in {State.WAITING, State.TAKEN}
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'})
    run = desk.collect()
    assert run.code == 0, run.err
    assert desk.records()["/a.mp4"].state is State.HELD


def test_when_a_crawl_is_killed_its_collecting_ends_too(desk: MediaDesk, site: MediaServer) -> None:
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'}, pace=100_000)
    with crawl(desk, site, "download=all") as process:
        until(lambda: site.times("/a.mp4"))
        ended_by(process, signal.SIGKILL)
    site.media["/a.mp4"] = Medium(film(8 << 20), {"ETag": '"1"'})
    run = desk.collect()
    assert run.code == 0, run.err
    assert desk.records()["/a.mp4"].state is State.HELD
    assert site.times("/a.mp4") == 2


def test_media_in_memory_are_refused_before_anything_begins(
    desk: MediaDesk, site: MediaServer
) -> None:
    with crawl(MediaDesk(desk.folder, "memory:"), site, "download=all") as process:
        run = end_of(process)
    assert run.code == 2
    assert "media of a crawl in memory cannot be kept" in run.err
    assert site.asked == []


def test_many_media_on_one_page_take_time_in_proportion(
    desk: MediaDesk, server: MediaServer
) -> None:
    """All but one are of protocols that are not asked for: what is measured is the book-keeping."""
    server.media["/a.mp4"] = Medium(film(3_000))
    streams = [f"rtsp://h.test/{number}.rm" for number in range(3_000)]
    desk.found([*streams, server.url("/a.mp4")], server.url("/"))
    taken = """
import atexit, pathlib, time
atexit.register(lambda: pathlib.Path('taken').write_text(str(time.process_time())))
"""
    assert desk.collect(before=taken).code == 0
    assert desk.summary().addresses == {State.HELD: 1, State.SKIPPED: 3_000}
    assert float((desk.folder / "taken").read_text()) < 9
