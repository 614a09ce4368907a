"""A medium is what the answer says, whatever its address is; the page and anchor that lead to it
are told, and no more than its first bytes are read."""

from pathlib import Path
from typing import Any

from tests.engine.conftest import crawl_for_levers
from tests.serving import Answer, Request, Server

MP4 = b"\x00\x00\x00\x20ftypisom" + bytes(range(256)) * 8
LARGE = 150_000_000
LINKS = {
    "down.php?id=12": "点击下载",
    "get?id=3": "by its name",
    "raw?id=4": "by its bytes",
    "plain": "said to be text",
    "unsaid.php": "said to be a page",
    "view.php?id=7": "it moves",
    "film.mp4.html": "a page",
    "pack?id=1": "a zip",
    "mac": "a text",
    "large": "a long film",
    "go.php?id=3": "named at another site",
    "go.php?id=4": "download from another site",
    "go.php?id=5": "download over two steps",
    "go.php?id=6": "a video page of another site",
    "go.php?id=7": "another site",
}
ELSEWHERE = {
    "/go.php?id=3": "/far.mp4",
    "/go.php?id=4": "/far/4",
    "/go.php?id=5": "/on",
    "/go.php?id=6": "/page",
    "/go.php?id=7": "/page7",
}
FAR = {
    "/far.mp4": Answer(MP4, headers={"Content-Type": "video/mp4"}),
    "/far/4": Answer(MP4, headers={"Content-Type": "video/mp4"}),
    "/on": Answer(status=302, headers={"Location": "/far/5"}),
    "/far/5": Answer(MP4, headers={"Content-Type": "video/mp4"}),
    "/page": Answer("<title>Lever</title><video src=/lever.mp4></video><a href=/deep>Lever</a>"),
}
ANSWERS = {
    "/down.php?id=12": Answer(MP4, headers={"Content-Type": "video/mp4"}),
    "/get?id=3": Answer(b"\x07\x00" * 900, headers={
        "Content-Type": "application/force-download",
        "Content-Disposition": "attachment; filename*=UTF-8''%E6%9D%A0.mp3"}),
    "/raw?id=4": Answer(MP4, headers={"Content-Type": "application/octet-stream"}),
    "/plain": Answer(MP4, headers={"Content-Type": "text/plain"}),
    "/unsaid.php": Answer(MP4),
    "/view.php?id=7": Answer(status=302, headers={"Location": "/films/7"}),
    "/films/7": Answer(MP4, headers={"Content-Type": "video/webm"}),
    "/film.mp4.html": Answer("<title>Lever</title><video src=/shown.mp4></video>",
                             headers={"Content-Encoding": "none"}),
    "/film.mp4": Answer("<title>Lever</title><h1>Lever</h1><video src=/shown2.mp4></video>"),
    "/pack?id=1": Answer(b"PK\x03\x04" + bytes(2_000),
                         headers={"Content-Type": "application/octet-stream"}),
    "/mac": Answer(b"MAC addresses of no lever" * 90, headers={"Content-Type": "text/plain"}),
    "/seed.php?id=9": Answer(MP4, headers={"Content-Type": "video/mp4"}),
    "/": Answer("<title>Lever</title><h1>Lever</h1>" + "".join(
        f"<a href='/{path}'>{anchor}</a> " for path, anchor in LINKS.items())),
    "/other": Answer("<title>News</title><a href='/news?id=1'>film</a>"),
    "/news?id=1": Answer(MP4, headers={"Content-Type": "video/mp4"}),
}  # fmt: skip


def test_media_are_found_by_what_answers_say(tmp_path: Path) -> None:
    sent = 0

    def answer(request: Request) -> Answer | None:
        nonlocal sent
        if path := ELSEWHERE.get(request.path):
            return Answer(status=302, headers={"Location": far.url(path)})
        if request.path != "/large":
            return ANSWERS.get(request.path, Answer(status=404))
        request.send_response(200)
        request.send_header("Content-Type", "application/octet-stream")
        request.send_header("Content-Length", str(LARGE))
        request.end_headers()
        request.wfile.write(MP4)
        request.wfile.flush()
        while sent < LARGE:
            request.wfile.write(bytes(100_000))
            sent += 100_000
        return None

    with Server(FAR, "127.0.0.2") as far, Server(answer) as site:
        seeds = map(site.url, ("/", "/film.mp4", "/seed.php?id=9", "/other"))
        more = {"media": "audio,video", "MMCRAWL_PRIVATE_NETWORKS": "1"}
        said, found = crawl_for_levers(tmp_path, *seeds, **more)
    assert said.code == 0, said.err
    assert "cannot decode" not in said.err
    assert sorted(far.asked) == sorted([*FAR, "/robots.txt"])
    films = {
        f"/{path}": ("video", LINKS[path])
        for path in ("down.php?id=12", "raw?id=4", "plain", "unsaid.php", "large")
    }
    assert found == {
        "/": {
            **films,
            "/get?id=3": ("audio", "by its name"),
            "/films/7": ("video", "it moves"),
            "/far.mp4": ("video", LINKS["go.php?id=3"]),
            "/far/4": ("video", LINKS["go.php?id=4"]),
            "/far/5": ("video", LINKS["go.php?id=5"]),
        },
        "/film.mp4.html": {"/shown.mp4": ("video", "")},
        "/film.mp4": {"/shown2.mp4": ("video", "")},
        "/seed.php?id=9": {"/seed.php?id=9": ("video", "")},
    }
    assert sent < LARGE / 2, sent  # what lies in the buffers of both sides: up to 40 MB on Linux


def test_seeds_that_are_films_are_on_topic_whatever_that_takes(tmp_path: Path) -> None:
    with Server(ANSWERS) as site:
        seeds = map(site.url, ("/seed.php?id=9", "/view.php?id=7"))
        said, found = crawl_for_levers(tmp_path, *seeds, MMCRAWL_TOPIC_THRESHOLD="0.9")
    assert said.code == 0, said.err
    assert "Nothing was found" not in said.err
    assert {page: [*media] for page, media in found.items()} == {
        "/seed.php?id=9": ["/seed.php?id=9"],
        "/films/7": ["/films/7"],
    }


NEXT = """
import asyncio
from mmcrawl.spiders.focused import FocusedSpider
from scrapy import Request, signals


class Spider(FocusedSpider):
    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.ask_next, signals.headers_received)
        return spider

    def ask_next(self, headers, request):
        if request.url.endswith("/film"):  # before the connection is seen to be closed
            handler = self.crawler.engine.downloader.handlers._get_handler("http")
            following = Request(request.url.replace("film", "next"))
            self.asking = asyncio.ensure_future(handler.download_request(following))
"""


def test_no_request_is_sent_over_a_connection_that_a_stopped_download_closes(tools: Any) -> None:
    """It would be lost after the server had it, and be sent again."""

    def answer(request: Request) -> Answer | None:
        if request.path != "/film":
            return Answer("<p><a href=/film>film</a></p>")
        head = f"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: {len(MP4)}\r\n\r\n"
        request.wfile.write(head.encode() + MP4)  # at once, so that the answer is over as it begins
        return None

    with Server(answer) as site:
        tools.crawl({"seeds": site.url("/"), "archive": "none"}, spider=NEXT)
    assert site.asked == ["/", "/film", "/next"]
