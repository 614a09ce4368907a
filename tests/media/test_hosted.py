"""Media of players of other sites, by yt-dlp and by programs that stand in for it."""

import os
import shutil
import signal
import subprocess
import sys
from io import BytesIO

import psutil
import pytest

from mmcrawl.media import State
from mmcrawl.works import tags_of
from tests.desks import end_of, ended_by
from tests.media.serving import MediaDesk, MediaServer, Medium, film
from tests.waiting import until

pytestmark = pytest.mark.processes
YTDLP = os.environ.get("MMCRAWL_TEST_YTDLP", "")
with_ytdlp = pytest.mark.skipif(not YTDLP, reason="no yt-dlp: name it in MMCRAWL_TEST_YTDLP")
_STAND_IN = """
import pathlib, subprocess, sys, time
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
folder, url = pathlib.Path(option("--paths")), sys.argv[-1]
log = folder.parents[2] / "asked"
log.write_text((log.read_text() if log.exists() else "") + url + "\\n")
film = b"\\0\\0\\0\\x18ftypisom" + url.encode() * 1000
if "fails" in url:
    sys.exit("WARNING: hm\\nERROR: [youtube] fails00000x: Video unavailable; please report")
if "hangs" in url:  # in a program of its own, as ffmpeg is
    subprocess.run([sys.executable, "-", sys.argv[0]], input=b"import time; time.sleep(600)")
if "grows" in url:
    with (folder / "media.mp4.part").open("ab") as part:
        while True:
            part.write(bytes(1 << 20))
            part.flush()
            time.sleep(0.01)
if "eats" in url:  # 4 GB, which are not written to
    eaten = [bytes(64 << 20) for _ in range(64)]
if "talks" in url:
    for number in range(100):
        print("x" * 100_000, file=sys.stderr)
if "slow" in url:
    with (folder / "media.mp4.part").open("ab") as part:
        while part.tell() < 100:
            part.write(b"0123456789")
            part.flush()
            time.sleep(0.1)
if "nothing" not in url:
    (folder / "media.mp4").write_bytes(b"<html>" if "page" in url else film)
"""


def watch(name: str) -> str:
    """Return the address of a film on YouTube."""
    return f"https://www.youtube.com/watch?v={name:0<11}"


@pytest.fixture
def program(desk: MediaDesk) -> str:
    """A program that stands in for yt-dlp, and asks no network."""
    path = desk.folder / "stand-in"
    path.write_text(f"#!{sys.executable}\n{_STAND_IN}")
    path.chmod(0o755)
    return str(path)


def asked(desk: MediaDesk) -> list[str]:
    return (desk.folder / "asked").read_text().splitlines()


def test_a_playlist_of_dash_is_left_to_yt_dlp(desk, server, program):
    server.media["/list.mpd"] = Medium(b"<MPD></MPD>")
    desk.found([server.url("/list.mpd")], server.url("/"))
    assert desk.collect("hosted=1GB", MMCRAWL_YTDLP=program).code == 0
    assert asked(desk) == [server.url("/list.mpd")]
    [record] = desk.records().values()
    assert (record.state, record.content_type) == (State.HELD, "video/mp4")


def test_players_are_left_alone_unless_they_are_wanted_and_fit_their_bound(desk, program):
    desk.found([watch("film")])
    assert desk.collect(MMCRAWL_YTDLP=program).code == 0
    assert not (desk.folder / "asked").exists()
    assert desk.collect("hosted=60kB", MMCRAWL_YTDLP=program).code == 0
    [record] = desk.records().values()
    [body] = desk.files().values()
    assert (record.state, record.size, record.content_type) == (State.HELD, len(body), "video/mp4")
    assert list((desk.folder / "crawl-media" / "partial").iterdir()) == []
    desk.found([watch("two")])  # what is held already counts
    assert desk.collect("hosted=60kB", MMCRAWL_YTDLP=program).code == 0
    assert asked(desk).count(watch("film")) == 1
    assert desk.summary().reasons == {"no room within hosted (60,000 bytes)": 1}
    assert desk.summary().held == {"video": 1}


def test_each_player_that_cannot_be_had_ends_in_one_record_with_its_reason(desk, program):
    reasons = {
        "fails": "yt-dlp: [youtube] fails00000x: Video unavailable",
        "hangs": "yt-dlp does not get on",
        "grows": "no room within hosted (8,000,000 bytes)",
        "eats": "yt-dlp: it needs more than 2 GB of memory",
        "nothing": "no room within hosted (8,000,000 bytes)",
        "page": "yt-dlp returned text/html, not a medium",
        "talks": "",
    }
    desk.found(map(watch, reasons))
    run = desk.collect("hosted=8MB", MMCRAWL_YTDLP=program, DOWNLOAD_TIMEOUT="2")
    assert run.code == 0, run.err
    records = {url.partition("v=")[2].rstrip("0"): each for url, each in desk.records().items()}
    assert {name: record.reason for name, record in records.items()} == reasons
    assert records["grows"].state is records["nothing"].state is State.SKIPPED
    assert records["fails"].state is records["hangs"].state is State.FAILED
    assert records["talks"].state is State.HELD
    assert "Traceback" not in run.err


def processes(of: str) -> list[psutil.Process]:
    """Return the processes whose command lines name something."""
    there = psutil.process_iter(["cmdline"])
    return [one for one in there if of in (one.info["cmdline"] or ())]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere processes are in no group")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_the_program_ends_with_whoever_started_it_and_goes_on_later(desk, program, sent):
    desk.found([watch("slow")])
    with desk.start_collecting("hosted=1GB", MMCRAWL_YTDLP=program) as process:
        partial = desk.folder / "crawl-media" / "partial"
        until(lambda: any(partial.glob("*.player/*.part")))
        ended_by(process, sent)
    until(lambda: not processes(program), 0.1)  # it ends a moment after
    assert len(list(partial.glob("*.player/*.part"))) == 1
    assert desk.collect("hosted=1GB", MMCRAWL_YTDLP=program).code == 0
    assert desk.summary().held == {"video": 1}
    assert desk.on_their_way() == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere processes are in no group")
@pytest.mark.parametrize("word", ["-c", ""])
def test_what_the_program_started_ends_with_it_and_with_what_watches_it(desk, program, word):
    desk.found([watch("hangs")])
    with desk.start_collecting("hosted=1GB", MMCRAWL_YTDLP=program) as process:
        until((desk.folder / "asked").exists)
        until(lambda: any("-" in one.info["cmdline"] for one in processes(program)), 0.1)
        running = {one.info["cmdline"][1]: one for one in processes(program)}
        running[word or program].kill()
        end_of(process)
    until(lambda: not processes(program), 0.1)
    [record] = desk.records().values()
    assert (record.state, record.reason) == (State.FAILED, "yt-dlp: it failed")


def test_a_program_that_is_not_there_is_said_in_a_sentence(desk: MediaDesk) -> None:
    desk.found([watch("film")])
    run = desk.collect("hosted=1GB", MMCRAWL_YTDLP="/nowhere/yt-dlp")
    assert run.code == 1
    assert "program /nowhere/yt-dlp is not there, which hosted= needs; pip install" in run.err
    assert "Traceback" not in run.err


PAGE = b"<!DOCTYPE html><html><title>Lenses</title><video src='/there.mp4'></video></html>"


@with_ytdlp
@pytest.mark.parametrize("where", ["http://127.0.0.1:1/a.mp4", "http://localhost:1/a.mp4"])
def test_ytdlp_asks_no_private_address_either(
    desk: MediaDesk, server: MediaServer, where: str
) -> None:
    other = MediaServer()
    try:
        other.media["/a.mp4"] = Medium(film(50_000))
        where = where.replace(":1/", f":{other.port}/")
        server.media["/watch.mp4"] = Medium(
            PAGE.replace(b"/there.mp4", where.encode()), {"Content-Type": "text/html"}
        )
        desk.found([server.url("/watch.mp4")], server.url("/"))
        assert desk.collect("hosted=1GB", MMCRAWL_YTDLP=YTDLP).code == 0
        assert other.asked == []
    finally:
        other.close()
    record = desk.records()["/watch.mp4"]
    assert record.state is State.FAILED
    assert record.reason.endswith("which is on a private network")


@with_ytdlp
def test_ytdlp_has_no_program_ask_past_the_guard(desk, server, monkeypatch):
    stand_in = desk.folder / "rtmpdump"
    stand_in.write_text(f'#!/bin/sh\necho "$@" >> {desk.folder}/asked\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{desk.folder}{os.pathsep}{os.environ['PATH']}")
    page = PAGE.replace(b"/there.mp4", b"rtmp://127.0.0.1:1/a.mp4")
    server.media["/watch.mp4"] = Medium(page, {"Content-Type": "text/html"})
    desk.found([server.url("/watch.mp4")], server.url("/"))
    assert desk.collect("hosted=1GB", MMCRAWL_YTDLP=YTDLP).code == 0
    assert not (desk.folder / "asked").exists()
    assert "Requested format is not available" in desk.records()["/watch.mp4"].reason


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg to make a film with")
@with_ytdlp
def test_ytdlp_fetches_what_a_page_plays_that_was_taken_for_a_film(desk, server):
    film = desk.folder / "film.mp4"
    made = ["-f", "lavfi", "-i", "sine=duration=2", "-c:a", "aac", str(film)]
    subprocess.run(["ffmpeg", "-loglevel", "error", *made], check=True)
    server.media = {
        "/watch.mp4": Medium(PAGE, {"Content-Type": "text/html"}),
        "/there.mp4": Medium(film.read_bytes()),
    }
    desk.found([server.url("/watch.mp4")], server.url("/"))
    run = desk.collect("hosted=1GB", MMCRAWL_YTDLP=YTDLP)
    assert run.code == 0, run.err
    record = desk.records()["/watch.mp4"]
    assert (record.state, record.content_type) == (State.HELD, "video/mp4"), record.reason
    assert record.title == "Lenses"
    [body] = desk.files().values()
    assert tags_of(BytesIO(body)).duration == pytest.approx(2, abs=0.1)  # the page's own film


@with_ytdlp
def test_ytdlp_says_in_a_sentence_what_it_cannot_have(desk: MediaDesk, server: MediaServer) -> None:
    server.media["/watch.mp4"] = Medium(b"<html><title>None</title>", {"Content-Type": "text/html"})
    desk.found([server.url("/watch.mp4")], server.url("/"))
    assert desk.collect("hosted=1GB", MMCRAWL_YTDLP=YTDLP).code == 0
    assert desk.records()["/watch.mp4"].reason.startswith("yt-dlp: Unsupported URL")
