"""A server of media on this machine, which can misbehave, and collecting in its own process."""

import json
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from random import Random

from mmcrawl.frontier import Findings, MediaPageRecord, open_store
from mmcrawl.media import Collection, MediaFile, Summary, open_collection
from mmcrawl.page import MediaResource, media_kind
from tests.desks import Desk, Run, end_of
from tests.serving import Answer, Request, Server
from tests.warm import python

_SCRAPY = """
import sys
from scrapy.cmdline import execute
execute(["scrapy", *sys.argv[1:]])
"""


def film(size: int, seed: int = 0) -> bytes:
    """Return bytes that begin as an MP4 file does; others for another seed."""
    return b"\x00\x00\x00\x18ftypisom" + Random(seed).randbytes(size - 12)


@dataclass
class Medium:
    """What the server has at a path.

    Attributes:
        body: all its bytes.
        headers: beside those that are right; "" leaves one out.
        ranges: whether Range is understood.
        length: Content-Length as it is said; None for the right one.
        stops_at: bytes after which the connection is closed, the first `stops` times.
        pace: bytes a second, 0 for all at once.
        status: of an answer with all its bytes.
    """

    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    length: int | None = None
    stops_at: int | None = None
    stops: int = 1
    pace: int = 0
    status: int = 200


class MediaServer:
    """Serves media.

    Attributes:
        media: by path; a callable does what it likes with the connection.
        asked: path and Range of each request, in order.
    """

    def __init__(self) -> None:
        self.media: dict[str, Medium | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[tuple[str, str]] = []
        self._server = Server(self._answer)
        self.port, self.url, self.close = (self._server.port, self._server.url, self._server.close)

    def times(self, path: str) -> int:
        """Return how often a path was asked for."""
        return sum(asked == path for asked, _ in self.asked)

    def _answer(self, request: Request) -> Answer | None:
        self.asked.append((request.path, request.headers.get("Range", "")))
        medium = self.media.get(request.path)
        if medium is None:
            return Answer("", 404)
        if callable(medium):
            medium(request)
        else:
            send(request, medium)
        return None


def send(handler: BaseHTTPRequestHandler, medium: Medium) -> None:
    """Answer a request as a server does that has a medium."""
    start, status = 0, medium.status
    asked = handler.headers.get("Range", "")
    same = handler.headers.get("If-Range") in (
        None,
        medium.headers.get("ETag"),
        medium.headers.get("Last-Modified"),
    )
    if asked and medium.ranges and same:
        start, status = int(asked.removeprefix("bytes=").rstrip("-")), 206
    body = medium.body[start:]
    length = len(body) if medium.length is None else medium.length
    headers = {"Content-Type": "video/mp4", "Content-Length": str(length)}
    if status == 206:
        total = len(medium.body)
        headers["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
    handler.send_response(status)
    for name, value in {**headers, **medium.headers}.items():
        if value:
            handler.send_header(name, value)
    handler.end_headers()
    if medium.stops_at is not None and medium.stops > 0:
        medium.stops -= 1
        body = body[: max(medium.stops_at - start, 0)]
        handler.close_connection = True
    if not medium.pace:
        handler.wfile.write(body)
    for place in range(0, len(body) if medium.pace else 0, max(medium.pace // 20, 1)):
        handler.wfile.write(body[place : place + max(medium.pace // 20, 1)])
        time.sleep(0.05)


class MediaDesk(Desk):
    """A folder with the store of a crawl that found media.

    Attributes:
        python: the interpreter that collects; "" for the usual one.
    """

    def __init__(self, folder: Path, uri: str = "") -> None:
        super().__init__(folder)
        self.python = ""
        self.uri = uri or f"sqlite:///{folder / 'crawl.db'}"

    def found(
        self, urls: Iterable[str], seed: str = "http://127.0.0.1/", name: str = "job"
    ) -> None:
        """Have a crawl in the store that found these, on one page."""
        with open_store(self.uri) as store:
            job = store.job(name, {"seeds": [[seed, ""]], "web": ""})
            resources = tuple(
                MediaResource(url, media_kind(url) or "video", "a", "film") for url in urls
            )
            page = MediaPageRecord(seed, "Films", 0.9, (), 200, time.time(), resources)
            Findings(store, job).add_media_page(page)
            store.commit()

    def start_collecting(
        self, *arguments: str, before: str = "", **settings: object
    ) -> "subprocess.Popen[str]":
        """Start `scrapy collect`.

        Args:
            before: what the process runs before.
        """
        program = [self.python or python(), "-m", "scrapy"]
        if before:
            (self.folder / "program.py").write_text(before + _SCRAPY)
            program[1:] = ["program.py"]
        words = ("collect", f"store={self.uri}", *arguments)
        return self.start(*words, program=program, **settings)

    def collect(self, *arguments: str, **more: object) -> Run:
        """Run `scrapy collect` to its end; arguments as for `start_collecting`."""
        with self.start_collecting(*arguments, **more) as process:
            return end_of(process)

    def collection(self) -> Collection:
        return open_collection(self.uri, str(self.folder / "crawl-media"), create=False)

    def records(self) -> dict[str, MediaFile]:
        """Return the records by the path of their address."""
        with self.collection() as collection:
            return {"/" + file.url.split("/", 3)[3]: file for file in collection.index.files()}

    def summary(self) -> Summary:
        with self.collection() as collection:
            return collection.index.summary()

    def files(self) -> dict[str, bytes]:
        """Return the bytes in the media store by their digest."""
        folder = self.folder / "crawl-media" / "files"
        return {path.name: path.read_bytes() for path in folder.glob("*/*")}

    def noted(self, url: str) -> int:
        """Return how many bytes of a file on its way are noted."""
        for path in (self.folder / "crawl-media").glob("partial/*.json"):
            with suppress(FileNotFoundError):
                facts = json.loads(path.read_text())
                if facts["url"] == url:
                    return int(facts["size"])
        return 0

    def on_their_way(self) -> list[str]:
        """Return the files that are not whole, without what is noted of them."""
        folder = self.folder / "crawl-media" / "partial"
        return [path.name for path in folder.iterdir() if not path.suffix]
