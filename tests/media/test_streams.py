"""Playlists of players: their pieces are fetched and joined."""

import hashlib
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mmcrawl.media import State
from tests.desks import ended_by
from tests.media.serving import MediaDesk, MediaServer, Medium, film
from tests.waiting import HANG, until

pytestmark = pytest.mark.processes
FFMPEG = shutil.which("ffmpeg")
with_ffmpeg = pytest.mark.skipif(FFMPEG is None, reason="no ffmpeg to make streams with")
SOUND = ["-f", "lavfi", "-i", "sine=frequency=440:duration=4"]
PICTURES = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=4"]
CODED = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-c:a", "aac", "-shortest"]
ANY = {"Content-Type": "application/octet-stream"}


def made(folder: Path, *arguments: str, inputs: Sequence[str] = (*PICTURES, *SOUND)) -> None:
    """Have ffmpeg make a stream."""
    folder.mkdir(exist_ok=True)
    command = [str(FFMPEG), "-loglevel", "error", *inputs, *CODED, *arguments]
    subprocess.run(command, cwd=folder, check=True, timeout=HANG)


def served(server: MediaServer, folder: Path, under: str = "") -> None:
    """Have a server send the files of a folder."""
    for path in folder.iterdir():
        server.media[f"{under}/{path.name}"] = Medium(path.read_bytes(), ANY)


def lasts(body: bytes, folder: Path) -> tuple[float, list[str]]:
    """Return what ffprobe says of a file: how long it lasts, and its kinds of tracks."""
    path = folder / "probed"
    path.write_bytes(body)
    command = ["ffprobe", "-v", "error", "-show_format", "-show_streams", "-of", "json", str(path)]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    kinds = sorted(stream["codec_type"] for stream in said["streams"])
    return float(said["format"]["duration"]), kinds


def hls(*lines: str, end: bool = True) -> bytes:
    head = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:4"]
    return "\n".join([*head, *lines, *(["#EXT-X-ENDLIST"] if end else []), ""]).encode()


SEGMENTED = ["-f", "hls", "-hls_time", "1", "-hls_list_size", "0"]


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stream of HLS."""
    folder = tmp_path_factory.mktemp("stream")
    made(folder, *SEGMENTED, "list.m3u8")
    return folder


KINDS = {
    "hls": [*SEGMENTED, "list.m3u8"],
    "hls-of-mp4": [*SEGMENTED, "-hls_segment_type", "fmp4", "list.m3u8"],
    "ranges-of-one": [*SEGMENTED, "-hls_flags", "single_file", "list.m3u8"],
    "encrypted": [*SEGMENTED, "-hls_key_info_file", "info", "list.m3u8"],
}


def sound_apart(apart: Path) -> None:
    made(apart, "-an", *SEGMENTED, "pictures.m3u8")
    made(apart, "-vn", *SEGMENTED, "-hls_segment_filename", "s%d.aac", "sound.m3u8", inputs=SOUND)
    (apart / "list.m3u8").write_bytes(
        b'#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="en",DEFAULT=YES,URI="sound.m3u8"\n'
        b'#EXT-X-STREAM-INF:BANDWIDTH=100000,AUDIO="s"\npictures.m3u8\n'
    )


def streams_of_all_kinds(folder: Path) -> None:
    for name, options in KINDS.items():
        (folder / name).mkdir(parents=True)
        if name == "encrypted":
            (folder / name / "stream.key").write_bytes(bytes(range(16)))
            (folder / name / "info").write_text(f"stream.key\n{folder / name / 'stream.key'}\n")
        made(folder / name, *options)
    vod = (folder / "hls" / "list.m3u8").read_text().replace("#EXT-X-ENDLIST\n", "")
    marked = vod.replace("#EXT-X-TARGET", "#EXT-X-PLAYLIST-TYPE:VOD\n#EXT-X-TARGET")
    (folder / "hls" / "vod.m3u8").write_text(marked)
    sound_apart(folder / "sound-apart")
    tagged = folder / "tagged"
    made(tagged, "-vn", "-f", "segment", "-segment_time", "1", "s%d.aac", inputs=SOUND)
    pieces = sorted(tagged.iterdir())
    for path in pieces:
        path.write_bytes(b"ID3\x04\x00\x00\x00\x00\x00\x0a" + bytes(10) + path.read_bytes())
    lines = [line for path in pieces for line in ("#EXTINF:1,", path.name)]
    (tagged / "list.m3u8").write_bytes(hls(*lines))


@with_ffmpeg
def test_a_stream_of_any_kind_becomes_one_file(desk, server, tmp_path):
    streams_of_all_kinds(tmp_path / "made")
    lists = [f"/{name}/{options[-1]}" for name, options in KINDS.items()]
    lists += ["/sound-apart/list.m3u8", "/tagged/list.m3u8", "/hls/vod.m3u8"]
    for folder in (tmp_path / "made").iterdir():
        served(server, folder, f"/{folder.name}")
    desk.found([*map(server.url, lists)], server.url("/"))
    run = desk.collect()
    assert run.code == 0, run.err
    records, files = desk.records(), desk.files()
    assert {*records} == {*lists}
    for path, record in records.items():
        assert record.state is State.HELD, (path, record.reason)
        body = files[record.digest]
        assert record.size == len(body)
        assert hashlib.sha256(body).hexdigest() == record.digest
        kind, tracks = ("audio", ["audio"]) if "tagged" in path else ("video", ["audio", "video"])
        assert (record.kind, record.content_type) == (kind, f"{kind}/mp4"), path
        seconds, kinds = lasts(body, tmp_path)
        assert seconds == pytest.approx(4, abs=0.3), path
        assert kinds == tracks, path
    assert records["/hls/vod.m3u8"].digest == records["/hls/list.m3u8"].digest
    assert list((desk.folder / "crawl-media" / "partial").iterdir()) == []
    twice = {path for path in server.media if server.times(path) > 1}
    assert {path.rpartition("/")[0] for path in twice} <= {"/hls"}  # two lists of the same pieces
    asked = len(server.asked)
    assert desk.collect().code == 0
    assert len(server.asked) == asked
    assert desk.collect("again=held").code == 0
    assert desk.files() == files  # joined again they are the same


@pytest.fixture(scope="module")
def qualities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stream in two qualities."""
    folder = tmp_path_factory.mktemp("qualities")
    made(folder, *SEGMENTED, "-b:v", "20k", "low.m3u8")
    made(folder, "-s", "320x240", "-b:v", "900k", *SEGMENTED, "high.m3u8")
    (folder / "list.m3u8").write_bytes(
        b"#EXTM3U\n"
        b'#EXT-X-STREAM-INF:BANDWIDTH=100000,RESOLUTION=64x48,CODECS="avc1.42c00a,mp4a.40.2"\n'
        b"low.m3u8\n"
        b'#EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=320x240,CODECS="avc1.42c00a,mp4a.40.2"\n'
        b"high.m3u8\n"
    )
    return folder


@with_ffmpeg
@pytest.mark.parametrize(("limit", "chosen"), [("10MB", "high"), ("500kB", "low")])
def test_the_best_quality_there_is_room_for_is_fetched(desk, server, qualities, limit, chosen):
    served(server, qualities)
    desk.found([server.url("/list.m3u8")], server.url("/"))
    assert desk.collect(f"max_media=video:{limit}").code == 0
    assert desk.summary().held == {"video": 1}
    asked = {path for path, _ in server.asked if path.endswith(".ts")}
    assert asked == {path for path in server.media if path.endswith(".ts") and chosen in path}


_NO_FFMPEG = """
import os
os.environ["PATH"] = "/nowhere"
"""


@with_ffmpeg
def test_without_ffmpeg_one_track_is_held_and_two_wait_for_it(desk, server, stream, tmp_path):
    sound_apart(tmp_path / "apart")
    served(server, stream)
    served(server, tmp_path / "apart", "/apart")
    desk.found([server.url("/list.m3u8"), server.url("/apart/list.m3u8")], server.url("/"))
    assert desk.collect(before=_NO_FFMPEG).code == 0
    records = desk.records()
    assert records["/list.m3u8"].content_type == "video/mp2t"
    assert records["/apart/list.m3u8"].state is State.SKIPPED
    assert records["/apart/list.m3u8"].reason == (
        "its sound and its pictures came, but ffmpeg, which joins them, is not installed"
    )
    asked = len(server.asked)
    assert desk.collect().code == 0
    assert desk.records()["/apart/list.m3u8"].state is State.HELD
    assert [path for path, _ in server.asked[asked:] if path != "/robots.txt"] == []


REFUSED = [
    (hls("#EXTINF:4,", "a.ts", end=False), "it is a playlist that has no end: it is sent live"),
    (hls(), "the playlist names no media"),
    (hls('#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k"', "#EXTINF:4,", "a.ts"),
     "it is a playlist whose pieces are protected (SAMPLE-AES)"),
    (hls("#EXTINF:4,", "file:///etc/passwd"),
     "it is a playlist that names 'file:///etc/passwd', which is no web address"),
    (hls("#EXTINF:4,", "none.ts"), "a piece of it: HTTP 404"),
    (hls("#EXTINF:4,", "http://10.0.0.1/a.ts"),
     "a piece of it: leads to 10.0.0.1, which is on a private network"),
    (hls("#EXTINF:4,", "html.ts"), "a piece of it: it is text/html"),
    (hls("#EXTINF:4,", "film.txt"), "its pieces are text/plain and cannot be joined"),
    (b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\n8.m3u8\n", "the playlists are nested too deeply"),
    (b"<MPD><Period/></MPD>", "it is a playlist of DASH, which yt-dlp fetches: hosted=5GB"),
]  # fmt: skip


def test_a_playlist_that_cannot_be_had_ends_in_one_record_with_its_reason(desk, server):
    kind = {"Content-Type": "application/x-mpegURL"}
    lists = {f"/{number}.m3u8": body for number, (body, _) in enumerate(REFUSED)}
    server.media = {
        **{path: Medium(body, kind) for path, body in lists.items()},
        "/html.ts": Medium(b"<html><p>Not found"),
        "/film.txt": Medium(b"no film", {"Content-Type": "text/plain"}),
        "/good.mp4": Medium(film(500)),
    }
    desk.found([server.url(path) for path in (*lists, "/good.mp4")], server.url("/"))
    run = desk.collect()
    assert run.code == 0, run.err
    records = desk.records()
    assert {*records} == {*lists, "/good.mp4"}
    for path, (_, reason) in zip(lists, REFUSED, strict=True):
        left_out = any(word in reason for word in ("live", "protected", "DASH"))
        state = State.SKIPPED if left_out else State.FAILED
        assert (records[path].reason, records[path].state) == (reason, state)
    assert records["/good.mp4"].state is State.HELD
    assert "Traceback" not in run.err


@with_ffmpeg
def test_kills_while_a_stream_comes_lose_nothing_and_join_nothing_twice(desk, server, stream):
    served(server, stream)
    desk.found([server.url("/list.m3u8")], server.url("/"))
    pieces = [path for path in server.media if path.endswith(".ts")]
    for number in range(1, len(pieces) + 1, 2):
        with desk.start_collecting(DOWNLOAD_DELAY="0.2") as process:
            until(lambda: len({path for path, _ in server.asked} & {*pieces}) >= number)  # noqa: B023
            ended_by(process, signal.SIGKILL)
    assert desk.collect().code == 0
    assert desk.summary().addresses == {State.HELD: 1}
    assert len(desk.files()) == 1
    assert list((desk.folder / "crawl-media" / "partial").iterdir()) == []
    assert all(server.times(path) <= 3 for path in pieces)
    assert server.times("/list.m3u8") <= 2


@with_ffmpeg
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_one_that_ends_while_it_joins_has_joined_nothing_and_joins_later(
    desk: MediaDesk, server: MediaServer, stream: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    served(server, stream)
    desk.found([server.url("/list.m3u8")], server.url("/"))
    slow = tmp_path / "bin"
    slow.mkdir()
    joins_forever = "#!/bin/sh\nwhile kill -0 $PPID 2>/dev/null; do sleep 0.1; done\n"
    (slow / "ffmpeg").write_text(joins_forever)
    (slow / "ffmpeg").chmod(0o755)
    before = f"import os\nos.environ['PATH'] = {str(slow)!r} + ':' + os.environ['PATH']\n"
    partial = desk.folder / "crawl-media" / "partial"
    with desk.start_collecting(before=before) as process:
        until(lambda: list(partial.glob("*.pieces/join-*/track-0")))
        time.sleep(0.3)
        ended = ended_by(process, sent)
    assert desk.files() == {}
    asked = len(server.asked)
    run = desk.collect()
    assert run.code == 0, ended.err + run.err
    assert desk.summary().addresses == {State.HELD: 1}
    assert len(desk.files()) == 1
    assert list(partial.iterdir()) == []
    assert len(server.asked) == asked


@with_ffmpeg
def test_the_pieces_of_a_stored_web_come_from_it(
    desk: MediaDesk, stream: Path, tmp_path: Path
) -> None:
    shutil.copytree(stream, tmp_path / "web" / "h.test")
    desk.found(["http://h.test/list.m3u8"], "http://h.test/")
    run = desk.collect("web=web")
    assert run.code == 0, run.err
    assert desk.summary().addresses == {State.HELD: 1}
    assert desk.records()["/list.m3u8"].content_type == "video/mp4"
