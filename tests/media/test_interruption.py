"""Collecting that is killed, stopped, short of disk, or done by several at once."""

import hashlib
import signal
import time
from random import Random

import pytest

from mmcrawl.media import State
from tests.desks import end_of, ended_by
from tests.media.serving import MediaDesk, MediaServer, Medium, film
from tests.waiting import until

pytestmark = pytest.mark.processes
KILLS = 6


def digests(server: MediaServer) -> set[str]:
    return {hashlib.sha256(m.body).hexdigest() for m in server.media.values()}  # type: ignore[union-attr]


def is_complete(desk: MediaDesk, server: MediaServer) -> None:
    """See that each medium is held once, with its own bytes, and nothing is left over."""
    files = desk.files()
    assert {*files} == digests(server)
    assert all(hashlib.sha256(body).hexdigest() == name for name, body in files.items())
    records = desk.records()
    assert {record.state for record in records.values()} == {State.HELD}
    assert len(records) == len(server.media)
    assert desk.on_their_way() == []


def test_kills_at_any_moment_lose_nothing_and_keep_nothing_twice(desk, server):
    random = Random(18)
    server.media = {f"/{n}.mp4": Medium(film(random.randint(20, 40_000), n)) for n in range(80)}
    large = film(20 << 20, 999)
    server.media["/0-large.mp4"] = Medium(large, {"ETag": '"large"'}, pace=30 << 20)
    desk.found(map(server.url, server.media), server.url("/"))
    digest = hashlib.sha256(large).hexdigest()
    kept = desk.folder / "crawl-media" / "files" / digest[:2] / digest
    for number in range(KILLS):
        asked = len(server.asked)
        process = desk.start_collecting()
        until(lambda: len(server.asked) > asked or process.poll() is not None)  # noqa: B023
        noted = desk.noted(server.url("/0-large.mp4"))
        if number % 3 == 0:  # on a machine with much to do it may be kept before the last kill
            until(lambda: desk.noted(server.url("/0-large.mp4")) != noted or kept.exists())  # noqa: B023
        time.sleep(random.uniform(0, 0.2))
        ended_by(process, signal.SIGKILL)
        for name, body in desk.files().items():
            assert hashlib.sha256(body).hexdigest() == name
    run = desk.collect()
    assert run.code == 0, run.err
    is_complete(desk, server)
    asked = sum(path not in ("/0-large.mp4", "/robots.txt") for path, _ in server.asked)
    assert asked <= 80 + KILLS * 8  # what was held is not asked for again
    resumed = [int(r[6:-1]) for path, r in server.asked if path == "/0-large.mp4" and r]
    assert resumed
    assert resumed == sorted(resumed)


def test_one_that_is_asked_to_stop_stops_at_once_and_goes_on_later(desk, server):
    endless = {"pace": 1 << 16}  # longer than HANG
    server.media["/a.mp4"] = Medium(film(40 << 20), {"ETag": '"1"'}, **endless)
    desk.found([server.url("/a.mp4")], server.url("/"))
    with desk.start_collecting() as process:
        partial = desk.folder / "crawl-media" / "partial"
        until(lambda: any(path.stat().st_size for path in partial.glob("*") if not path.suffix))
        run = ended_by(process, signal.SIGINT)
    assert run.code == 0
    assert "Stopped (shutdown); run the same command to continue." in run.err
    assert "waiting  1 addresses" in run.err
    assert "taken" not in run.err
    assert desk.records()["/a.mp4"].state is State.WAITING
    server.media["/a.mp4"] = Medium(film(40 << 20), {"ETag": '"1"'})
    assert desk.collect().code == 0
    is_complete(desk, server)
    assert server.asked[-1][1].startswith("bytes=")


_FULL_DISK = """
from errno import ENOSPC
from pathlib import Path
from mmcrawl.media import PartialFile

class OnFullDisk:
    left = 20 << 20

    def __init__(self, file):
        self.file = file

    def write(self, data):
        OnFullDisk.left -= len(data)
        if OnFullDisk.left < 0:
            raise OSError(ENOSPC, "No space left on device")
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

class OnDisk(type(Path())):
    def open(self, mode="r", **rest):
        file = super().open(mode, **rest)
        return OnFullDisk(file) if mode == "wb" else file

given = PartialFile.__init__

def begin(self, folder, url):
    given(self, OnDisk(folder), url)

PartialFile.__init__ = begin
"""


def test_a_disk_that_is_full_in_the_middle_of_a_file_stops_it_clearly(desk, server):
    server.media = {
        "/large.mp4": Medium(film(40 << 20), {"ETag": '"1"'}),
        "/small.mp4": Medium(film(500, 2)),
    }
    desk.found(map(server.url, server.media), server.url("/"))
    run = desk.collect(before=_FULL_DISK)
    assert run.code == 1
    assert "run out of disk space; make room, and run the same command again" in run.err
    assert "Traceback" not in run.err
    assert desk.records()["/large.mp4"].state is State.WAITING
    assert desk.collect().code == 0
    is_complete(desk, server)
    assert any(asked.startswith("bytes=") for _, asked in server.asked)


def test_a_place_for_media_that_is_none_is_said_in_a_sentence(desk, server):
    server.media["/a.mp4"] = Medium(film(500))
    desk.found([server.url("/a.mp4")], server.url("/"))
    (desk.folder / "folder").mkdir()
    (desk.folder / "folder" / "files").write_text("")
    run = desk.collect(MMCRAWL_MEDIA=str(desk.folder / "folder"))
    assert run.code == 1
    assert "-s MMCRAWL_MEDIA=" in run.err
    assert "Traceback" not in run.err
    assert desk.collect().code == 0
    is_complete(desk, server)


def test_two_processes_collect_the_same_together_and_nothing_twice(desk, server):
    server.media = {f"/{n}.mp4": Medium(film(2_000 + n, n)) for n in range(50)}
    desk.found(map(server.url, server.media), server.url("/"))
    with desk.start_collecting() as one, desk.start_collecting() as other:
        for process in (one, other):
            run = end_of(process)
            assert run.code == 0, run.err
    others = [file for file in desk.records().values() if file.state is not State.HELD]
    assert others == []  # first: what became of them is told
    assert len(desk.files()) == desk.summary().addresses[State.HELD] == 50
    assert sum(path.endswith(".mp4") for path, _ in server.asked) == 50


_LONG_LEASE = "from mmcrawl.media import collector; collector.LEASE = 1e6\n"  # ends in no test


def test_what_a_process_took_that_died_is_fetched_by_the_next_one_at_once(desk, server):
    server.media["/a.mp4"] = Medium(film(4 << 20), pace=1 << 20)
    desk.found([server.url("/a.mp4")], server.url("/"))
    with desk.start_collecting(before=_LONG_LEASE) as process:
        until(lambda: server.times("/a.mp4"))
        ended_by(process, signal.SIGKILL)
    assert desk.records()["/a.mp4"].state is State.TAKEN
    server.media["/a.mp4"] = Medium(film(4 << 20))
    assert desk.collect().code == 0
    is_complete(desk, server)
