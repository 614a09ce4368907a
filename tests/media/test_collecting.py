"""`scrapy collect` against a server that does as it should, and against one that does not."""

import gzip
import hashlib
import threading
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from mmcrawl.media import Budget, Collector, State, open_collection
from tests.media.serving import MediaDesk, MediaServer, Medium, film, send
from tests.waiting import HANG

SIZE = 8 << 20
SMALL = 50_000


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def test_equal_bytes_are_kept_once_and_each_address_has_its_record(desk, server):
    server.media = {
        "/a.mp4": Medium(film(SMALL), {"ETag": '"1"', "Last-Modified": "yesterday"}),
        "/b.mp4": Medium(film(SMALL)),
        "/c.mp3": Medium(b"ID3" + bytes(500), {"Content-Type": "audio/mpeg"}),
    }
    desk.found(map(server.url, (*server.media, "/none.mp4")), server.url("/"))
    run = desk.collect()
    assert run.code == 0, run.err
    kept = (film(SMALL), b"ID3" + bytes(500))
    assert desk.files() == {digest(body): body for body in kept}
    records = desk.records()
    first = records["/a.mp4"]
    assert (first.state, first.digest, first.size) == (State.HELD, digest(film(SMALL)), SMALL)
    told = (first.content_type, first.etag, first.last_modified)
    assert told == ("video/mp4", '"1"', "yesterday")
    assert records["/b.mp4"].digest == first.digest
    assert (records["/c.mp3"].kind, records["/c.mp3"].content_type) == ("audio", "audio/mpeg")
    assert (records["/none.mp4"].state, records["/none.mp4"].reason) == (State.FAILED, "HTTP 404")
    assert "3 files downloaded" in run.err
    assert "HTTP 404" in run.err
    assert desk.on_their_way() == []
    asked = len(server.asked)
    assert desk.collect().code == 0
    assert [path for path, _ in server.asked[asked:]] == []


def test_a_broken_connection_is_taken_up_where_it_broke_or_else_begun_anew(desk, server):
    given = {
        "/tagged.mp4": ({"ETag": '"v1"'}, True),
        "/dated.mp4": ({"Last-Modified": "Mon, 1 Jan 2024"}, True),
        "/weak.mp4": ({"ETag": 'W/"v1"'}, True),
        "/no-ranges.mp4": ({"ETag": '"v1"'}, False),
    }
    bodies = {path: film(SIZE, seed) for seed, path in enumerate(given)}
    for path, (headers, ranges) in given.items():
        server.media[path] = Medium(bodies[path], headers, ranges, stops_at=SIZE // 2)
    desk.found(map(server.url, given), server.url("/"))
    assert desk.collect().code == 0
    assert desk.files() == {digest(body): body for body in bodies.values()}
    for path in given:
        first, second = [wanted for asked, wanted in server.asked if asked == path]
        assert first == ""
        if path == "/weak.mp4":  # nobody is asked to go on with it
            assert second == ""
        else:
            assert 1_000_000 < int(second.removeprefix("bytes=").rstrip("-")) <= SIZE // 2


def test_a_file_that_changed_meanwhile_is_not_mixed_with_what_it_was(desk, server):
    old, new = film(SIZE, 1), film(SIZE, 2)
    server.media["/a.mp4"] = Medium(old, {"ETag": '"old"'}, stops_at=SIZE // 2, stops=99)
    desk.found([server.url("/a.mp4")], server.url("/"))
    assert desk.collect().code == 0
    reason = "the connection was closed before the download was complete"
    assert desk.records()["/a.mp4"].reason == reason
    assert len(desk.on_their_way()) == 1

    def ignores_if_range(handler: BaseHTTPRequestHandler) -> None:
        del handler.headers["If-Range"]
        send(handler, Medium(new, {"ETag": '"new"'}))

    server.media["/a.mp4"] = ignores_if_range
    assert desk.collect("again=failed").code == 0
    assert desk.files() == {digest(new): new}
    assert desk.on_their_way() == []


def _never_ends(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "video/mp4")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    chunk = b"%x\r\n" % 50_000 + film(50_000) + b"\r\n"
    while True:
        handler.wfile.write(chunk)


def _says_nothing(handler: BaseHTTPRequestHandler) -> None:
    threading.Event().wait(HANG)


def _redirects(target: str) -> Medium:
    return Medium(b"", {"Location": target}, status=302)


def test_each_that_cannot_be_had_ends_in_one_record_with_its_reason(desk, server):
    html = b"<!DOCTYPE html><title>Not found</title>"
    right, wrong = (b64encode(hashlib.sha256(b).digest()).decode() for b in (film(SMALL), b"other"))
    rules = b"User-agent: *\nDisallow: /kept-back/\n"
    server.media = {
        "/robots.txt": Medium(rules, {"Content-Type": "text/plain"}),
        "/kept-back/a.mp4": Medium(film(SMALL)),
        "/right.mp4": Medium(film(SMALL), {"Repr-Digest": f"sha-256=:{right}:"}),
        "/wrong.mp4": Medium(film(SMALL, 2), {"Digest": f"SHA-256={wrong}"}),
        "/html.mp4": Medium(html),
        "/login.mp4": Medium(b"<html><p>Members" + b"<form><input size=9 type='password'>"),
        "/to-login.mp4": _redirects("/log-in"),
        "/log-in": Medium(html),
        "/text.mp3": Medium(b"{}", {"Content-Type": "audio/mpeg"}),
        "/jpeg.mp4": Medium(b"\xff\xd8\xff" + bytes(99)),
        "/says-pdf.mp4": Medium(film(99), {"Content-Type": "application/pdf"}),
        "/unknown.mp4": Medium(bytes(99), {"Content-Type": "application/octet-stream"}),
        "/list.m3u8": Medium(b"#EXTM3U\n"),
        "/empty.mp4": Medium(b""),
        "/brotli.mp4": Medium(film(99), {"Content-Encoding": "br"}),
        "/broken.mp4": Medium(b"\x1f\x8b\x08" + bytes(99), {"Content-Encoding": "gzip"}),
        "/cut.mp4": Medium(gzip.compress(film(SMALL))[:-400], {"Content-Encoding": "gzip"}),
        "/bomb.mp4": Medium(gzip.compress(film(99) + bytes(20**6)), {"Content-Encoding": "gzip"}),
        "/hollow.mp4": Medium(100_000 * gzip.compress(b""), {"Content-Encoding": "gzip"}),
        "/short.mp4": Medium(film(SMALL), length=2 * SMALL, stops_at=SMALL, stops=99),
        "/endless.mp4": _never_ends,
        "/silent.mp4": _says_nothing,
        "/slow.mp4": Medium(film(SMALL), pace=400),
        "/large.mp4": Medium(film(SMALL), length=10**10),
        "/circle.mp4": _redirects("/circle.mp4"),
        "/private.mp4": _redirects("http://10.0.0.1/a.mp4"),
        "/local.mp4": _redirects("http://127.0.0.1:1/a.mp4"),
        "/good.mp4": _redirects("/moved.mp4"),
        "/moved.mp4": Medium(film(SMALL)),
    }
    left = ("/moved.mp4", "/log-in", "/robots.txt")
    named = [server.url(path) for path in server.media if path not in left]
    others = ["rtsp://h.test/a.rm", "https://www.youtube.com/embed/dQw4w9WgXcQ"]
    desk.found([*named, *others], server.url("/"))
    run = desk.collect("max_file=10MB", DOWNLOAD_TIMEOUT="5", CONCURRENT_REQUESTS_PER_DOMAIN="32")
    assert run.code == 0, run.err
    records = desk.records()
    good = records.pop("/good.mp4")
    assert (good.state, good.final_url) == (State.HELD, server.url("/moved.mp4"))
    assert records.pop("/right.mp4").state is State.HELD
    assert server.times("/kept-back/a.mp4") == 0
    assert server.times("/wrong.mp4") == 2
    assert {path: record.reason for path, record in records.items()} == {
        "/kept-back/a.mp4": "forbidden by robots.txt",
        "/wrong.mp4": "its bytes are not those that the server's digest tells",
        "/html.mp4": "it is text/html, no video",
        "/login.mp4": "it is a page that asks to log in, no video",
        "/to-login.mp4": "it is a page that asks to log in, no video",
        "/text.mp3": "it is text/plain, no audio",
        "/jpeg.mp4": "it is image/jpeg, no video",
        "/says-pdf.mp4": "the server says it is application/pdf",
        "/unknown.mp4": "nothing tells what it is; the server says application/octet-stream,"
        " no video",
        "/list.m3u8": "the playlist names no media",
        "/empty.mp4": "it is empty",
        "/brotli.mp4": "the server sends it compressed (br) although asked not to",
        "/broken.mp4": "the server sends it compressed, and its bytes are broken",
        "/cut.mp4": "its compressed bytes end before their end",
        "/bomb.mp4": "larger than max_file (10,000,000 bytes)",
        "/hollow.mp4": "the server sends it compressed, and next to nothing is in it",
        "/short.mp4": "the connection was closed before the download was complete",
        "/endless.mp4": "larger than max_file (10,000,000 bytes)",
        "/silent.mp4": "no answer in time",
        "/slow.mp4": "fewer than 1,024 bytes a second came over 5 s",
        "/large.mp4": "larger than max_file (10,000,000 bytes)",
        "/circle.mp4": "it is redirected in a circle, or too often",
        "/private.mp4": "leads to 10.0.0.1, which is on a private network",
        "/local.mp4": "leads to 127.0.0.1, which is on a private network",
        "/a.rm": "rtsp: is a protocol that is not fetched",
        "/embed/dQw4w9WgXcQ": "it is a page with a player, not a file",
    }
    left_out = {path for path, record in records.items() if record.state is State.SKIPPED}
    assert left_out == {"/bomb.mp4", "/endless.mp4", "/large.mp4", "/a.rm", "/embed/dQw4w9WgXcQ"}
    assert {*desk.files()} == {digest(film(SMALL))}


def test_files_come_as_browsers_get_them(desk: MediaDesk, server: MediaServer) -> None:
    packed = gzip.compress(film(SMALL, 1))
    halves = gzip.compress(film(SMALL, 2)[:700]) + gzip.compress(film(SMALL, 2)[700:])
    server.media = {
        "/none.mp4": Medium(film(SMALL, 3), {"Content-Encoding": "none"}),
        "/identity.mp4": Medium(film(SMALL, 4), {"Content-Encoding": "identity"}),
        "/packed.mp4": Medium(packed, {"Content-Encoding": "gzip"}),
        "/halves.mp4": Medium(halves, {"Content-Encoding": "x-gzip"}),
        "/zlib.mp4": Medium(zlib.compress(film(SMALL, 5)), {"Content-Encoding": "deflate"}),
        "/only-said.mp4": Medium(film(SMALL, 6), {"Content-Encoding": "gzip"}),
        "/x.mp4": Medium(film(SMALL, 7)),
        "/x.mp4?v=2": Medium(film(SMALL, 8)),
        "/page.htm": Medium(b"", {"Content-Type": "text/html", "Set-Cookie": "visit=7; Path=/"}),
        "/terms.htm": Medium(b"", {"Content-Type": "text/html", "Set-Cookie": "agreed=1; Path=/"}),
        "/guarded.mp4": _wants_the_cookie(film(SMALL, 9)),
        "/never.mp4": _wants_the_cookie(b"", "other=1"),
        "/agree.mp4": _wants_the_cookie(film(SMALL, 10), "agreed=1", b"<html><p>Agree or log in"),
    }
    tracked = ["/x.mp4?utm_source=web", "/x.mp4?v=2&fbclid=3", "/x.mp4?utm_medium=rss"]
    named = [path for path in server.media if not path.endswith((".htm", "agree.mp4"))]
    desk.found(map(server.url, [*named, *tracked]), server.url("/page.htm"))
    desk.found([server.url("/agree.mp4")], server.url("/terms.htm"), "terms")
    run = desk.collect()
    assert run.code == 0, run.err
    expected = [film(SMALL, seed) for seed in range(1, 11)]
    assert {*desk.files()} == {digest(body) for body in expected}
    assert desk.summary().count(State.FAILED) == 1
    assert desk.records()["/never.mp4"].reason == "HTTP 403"
    assert "cannot decode" not in run.err
    asked = [path for path, _ in server.asked]
    assert sorted(path for path in asked if path.startswith("/x.mp4")) == ["/x.mp4", "/x.mp4?v=2"]
    assert asked.count("/page.htm") == 1


def _wants_the_cookie(
    body: bytes, cookie: str = "visit=7", page: bytes = b""
) -> Callable[[BaseHTTPRequestHandler], None]:
    """Return what answers who has no cookie with a page, or without one with 403."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        allowed = cookie in (handler.headers.get("Cookie") or "")
        status = 200 if allowed or page else 403
        send(handler, Medium(body if allowed else page, {"Content-Type": ""}, status=status))

    return answer


def test_a_server_is_told_the_page_as_a_browser_tells_it_unless_a_setting_forbids(desk, server):
    told: dict[str, str | None] = {}

    def tells(path: str, target: str = "") -> Callable[[BaseHTTPRequestHandler], None]:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            told[path] = handler.headers.get("Referer")
            send(handler, _redirects(target) if target else Medium(film(500)))

        return answer

    other = MediaServer()
    try:
        other.media["/there.mp4"] = tells("/there.mp4")
        server.media["/here.mp4"] = tells("/here.mp4")
        server.media["/moved.mp4"] = tells("/moved.mp4", other.url("/there.mp4"))
        page = server.url("/films/?page=1")
        desk.found([server.url("/here.mp4"), server.url("/moved.mp4")], page)
        assert desk.collect(MMCRAWL_PRIVATE_NETWORKS="1").code == 0
        expected = {"/here.mp4": page, "/moved.mp4": page, "/there.mp4": server.url("/")}
        assert told == expected
        settings = {"MMCRAWL_PRIVATE_NETWORKS": "1", "REFERER_ENABLED": "0"}
        assert desk.collect("again=held", **settings).code == 0
        assert told == dict.fromkeys(expected)
    finally:
        other.close()
    assert desk.summary().held == {"video": 1}


def test_limits_leave_out_what_a_later_run_with_more_room_fetches(desk, server):
    server.media = {f"/{n}.mp4": Medium(film(SMALL, n)) for n in range(4)}
    server.media["/0.mp3"] = Medium(b"ID3" + bytes(SMALL), {"Content-Type": "audio/mpeg"})
    desk.found(map(server.url, server.media), server.url("/"))
    one_at_a_time = {"CONCURRENT_REQUESTS": "1"}
    run = desk.collect("max_media=video:120kB", **one_at_a_time)
    assert run.code == 0
    assert desk.summary().held == {"audio": 1, "video": 2}
    assert desk.summary().reasons == {"no room within max_media (120,000 bytes of video)": 2}
    assert desk.collect("max_media=210kB", **one_at_a_time).code == 0
    assert desk.summary().held == {"audio": 1, "video": 3}
    assert desk.collect("disk_left=900TB").code == 0
    [reason] = desk.summary().reasons
    assert reason.startswith("no room on the disk")
    assert desk.collect().code == 0
    assert desk.summary().held == {"audio": 1, "video": 4}
    assert all(server.times(path) <= 4 for path in server.media)


def test_only_the_wanted_kinds_are_fetched(desk: MediaDesk, server: MediaServer) -> None:
    server.media = {
        "/a.mp4": Medium(film(SMALL)),
        "/b.mp3": Medium(film(SMALL), {"Content-Type": "video/mp4"}),
        "/c.mp3": Medium(b"ID3" + bytes(99), {"Content-Type": "audio/mpeg"}),
        "/d.mp3": Medium(b"CWS\x09" + bytes(99)),
    }
    desk.found(map(server.url, server.media), server.url("/"))
    assert desk.collect("kinds=audio").code == 0
    assert server.times("/a.mp4") == 0
    assert desk.summary().held == {"audio": 2}
    assert desk.records()["/d.mp3"].reason == "it is animation, which is not wanted"
    assert desk.collect("kinds=all").code == 0
    assert desk.summary().held == {"animation": 1, "audio": 2} | (
        {} if desk.records()["/a.mp4"].digest == desk.records()["/b.mp3"].digest else {"video": 1}
    )


def test_what_a_playlist_names_is_fetched_in_its_place(
    desk: MediaDesk, server: MediaServer
) -> None:
    sound = Medium(b"ID3" + bytes(99), {"Content-Type": "audio/mpeg"})
    server.media = {
        "/l.ram": Medium(b"file:a.mp3\n0.m3u", {"Content-Type": "audio/x-pn-realaudio"}),
        "/plain.m3u8": Medium(b"#EXTM3U\nb.mp3\nhttp://10.0.0.1/c.mp3"),
        "/html.pls": Medium(b"<!DOCTYPE html><title>Not found</title>"),
        **{f"/{n}.m3u": Medium(b"l.ram\n%d.m3u\nn%d.mp3" % (n + 1, n)) for n in range(9)},
        **{f"/{name}.mp3": sound for name in ("a", "b", *(f"n{n}" for n in range(9)))},
    }
    desk.found(map(server.url, ["/l.ram", "/plain.m3u8", "/html.pls"]), server.url("/"))
    run = desk.collect()
    assert run.code == 0, run.err
    records = desk.records()
    held = sorted(path for path, one in records.items() if one.state is State.HELD)
    assert held == ["/a.mp3", "/b.mp3", *(f"/n{n}.mp3" for n in range(4))]
    assert {records[path].page for path in held} == {server.url("/")}
    lists = {path: one.reason for path, one in records.items() if path not in held}
    assert lists == {
        "/l.ram": "it is a playlist, and names 2 to be fetched",
        "/plain.m3u8": "it is a playlist, and names 2 to be fetched",
        "/c.mp3": "leads to 10.0.0.1, which is on a private network",
        "/html.pls": "it is text/html, no video",
        **{f"/{n}.m3u": "it is a playlist, and names 3 to be fetched" for n in range(4)},
        "/4.m3u": "the playlists are nested too deeply",
    }


def test_a_page_in_place_of_a_film_gives_its_own_film(desk: MediaDesk, server: MediaServer) -> None:
    shown = (
        b"<title>Lever</title><video src=/other.webm></video><a href=/up/Lever.webm>Original</a>"
    )
    html = {"Content-Type": "text/html"}
    server.media = {
        "/view/Lever.webm": Medium(shown, html),
        "/view/none.webm": Medium(b"<p>No film", html),
        "/up/Lever.webm": Medium(film(900)),
        "/other.webm": Medium(film(800)),
    }
    desk.found(map(server.url, ["/view/Lever.webm", "/view/none.webm"]), server.url("/"))
    run = desk.collect()
    assert run.code == 0, run.err
    records = desk.records()
    held = records["/view/Lever.webm"]
    assert (held.state, held.size, held.title) == (State.HELD, 900, "Lever")
    assert held.final_url == server.url("/up/Lever.webm")
    assert records["/view/none.webm"].reason == "it is text/html, no video"


def test_what_is_settled_since_it_began_and_what_waits_is_known(tmp_path: Path) -> None:
    collection = open_collection(f"sqlite:///{tmp_path / 'crawl.db'}", None)
    collector = Collector(collection, Budget(), ["audio"])
    collector.add((f"http://a.test/{n}.mp3", "audio", "http://a.test/") for n in range(4))
    collector.begin()
    assert collector.progress() == (0, 4)
    for download in collector.take(2):
        collector.settle(download, State.FAILED, "HTTP 404")
    assert collector.progress() == (2, 2)
    collector.leave()
    collector.close()


def test_what_a_living_process_fetches_is_not_taken_from_it_when_clocks_jump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = [open_collection(f"sqlite:///{tmp_path / 'crawl.db'}", None) for _ in range(3)]
    first, second, third = (Collector(one, Budget(), ["audio"]) for one in opened)
    first.add([("http://a.test/1.mp3", "audio", "http://a.test/")])
    [download] = first.take(1)
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert second.take(1) == []
    download.pause()
    first._lock.release()  # as if it had died
    [download] = second.take(1)
    download.pause()
    second._lock.release()
    monkeypatch.undo()  # the clock is back, and the lease ends in 2096
    third.begin()
    assert len(third.take(1)) == 1
    for one in (first, second, third):
        one.close()


def test_a_partial_file_that_cannot_be_read_stops_collecting_with_a_sentence(desk, server):
    server.media["/a.mp4"] = Medium(film(2_000))
    desk.found([server.url("/a.mp4")], server.url("/"))
    name = hashlib.sha256(server.url("/a.mp4").encode()).hexdigest()[:32]
    facts = desk.folder / "crawl-media" / "partial" / f"{name}.json"
    facts.mkdir(parents=True)  # as a disk that fails, it cannot be read
    run = desk.collect()
    assert (run.code, "Traceback" in run.err) == (1, False)
    assert f"partial/{name}.json cannot be written" in " ".join(run.err.split())
    facts.rmdir()
    assert desk.collect().code == 0
    assert desk.records()["/a.mp4"].state is State.HELD
