"""What is found on the table of snippets (tests/page/snippets), beside yt-dlp's generic extractor.

    python benchmarks/snippets.py            # both; --failures prints each piece that is not right
    python benchmarks/snippets.py --peer no  # mmcrawl alone

Each piece is a page. mmcrawl parses it; yt-dlp fetches it, and what it asks for besides, through a
proxy on 127.0.0.1 that answers every name itself: nothing leaves the machine. A medium of the table
is found if one of its addresses is; whatever else is found counts against precision. yt-dlp is for
sound and film: it is compared on pieces of these alone, and need not tell which of the two it is.
"""

from __future__ import annotations

import argparse
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "page"))

from snippet_table import (
    ASIDE,
    PAGE,
    Found,
    Score,
    Snippet,
    compare,
    found_by_us,
    read_snippets,
    total,
)

_PLAYLIST = (
    b"#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n1.ts\n#EXT-X-ENDLIST\n"
)
_MANIFEST = (
    b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"'
    b' mediaPresentationDuration="PT9S"><Period><AdaptationSet mimeType="video/mp4"><Representation'
    b' id="1" bandwidth="90000" width="320" height="240"><BaseURL>1.mp4</BaseURL></Representation>'
    b"</AdaptationSet></Period></MPD>"
)
_TEST_HTTPS = re.compile(r"https:(\\?/\\?/[\w.-]+\.test\b)")
_HEARD_OR_SEEN = frozenset({"audio", "video"})


class _Proxy(ThreadingHTTPServer):
    """Answers for every name: the page, playlists, and nothing for what is no page."""

    page = b""


class _Answer(BaseHTTPRequestHandler):
    server: _Proxy

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body, kind = b"", "application/octet-stream"
        if self.path == PAGE:
            body, kind = self.server.page, "text/html; charset=utf-8"
        elif path.endswith(".m3u8"):
            body, kind = _PLAYLIST, "application/vnd.apple.mpegurl"
        elif path.endswith(".mpd"):
            body, kind = _MANIFEST, "application/dash+xml"
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815

    def do_CONNECT(self) -> None:
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def peer() -> Iterator[Callable[[Snippet], list[Found]]]:
    """Give what asks yt-dlp for the media of a piece."""
    from yt_dlp import YoutubeDL
    from yt_dlp.utils import YoutubeDLError

    proxy = _Proxy(("127.0.0.1", 0), _Answer)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    options = {
        "proxy": f"http://127.0.0.1:{proxy.server_port}",
        "quiet": True,
        "no_warnings": True,
        "noprogress": True,
        "logger": _Silent(),
        "socket_timeout": 5,
        "retries": 0,
        "extractor_retries": 0,
        "cachedir": False,
    }

    def ask(snippet: Snippet) -> list[Found]:
        proxy.page = _TEST_HTTPS.sub(r"http:\1", snippet.html).encode()
        try:
            with YoutubeDL(options) as program:
                result = program.extract_info(PAGE, download=False, ie_key="Generic", process=False)
                return list(_entries(result))
        except (YoutubeDLError, OSError):
            return []

    try:
        yield ask
    finally:
        proxy.shutdown()
        proxy.server_close()


class _Silent:
    def debug(self, _: str) -> None:
        """Say nothing."""

    warning = error = info = debug


def _entries(result: dict[str, Any] | None) -> Iterator[Found]:
    if not result:
        return
    if result.get("_type") in ("playlist", "multi_video"):
        for entry in result.get("entries") or ():
            yield from _entries(entry)
        return
    addresses = [result.get("url")]
    for form in result.get("formats") or ():
        addresses += [form.get("url"), form.get("manifest_url")]
    known = tuple(dict.fromkeys(filter(None, addresses)))
    if known and known != (PAGE,):
        yield Found("", result.get("title") or "", known)


def line(name: str, score: Score) -> str:
    return (
        f"{name:34}{score.pieces:7}{score.whole:7}{score.seen:7}{score.found:7}{score.both:7}"
        f"{score.recall:9.3f}{score.precision:11.3f}   {score.rightly}/{score.named}"
    )


def _of(snippets: Iterable[Snippet], find: Callable[[Snippet], list[Found]]) -> Score:
    return total(compare(one, find(one)) for one in snippets)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peer", choices=("yes", "no"), default="yes")
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    pieces = read_snippets()
    made, aside = ([p for p in pieces if (p.part == ASIDE) == one] for one in (False, True))
    heads = f"{'':34}{'pieces':>7}{'right':>7}{'seen':>7}{'found':>7}{'both':>7}"
    print(f"{heads}{'recall':>9}{'precision':>11}   captions")
    for part in sorted({p.part for p in made}):
        print(line(f"mmcrawl: {part}", _of((p for p in made if p.part == part), found_by_us)))
    print(line("mmcrawl: all of these", _of(made, found_by_us)))
    print(line("mmcrawl: kept aside", _of(aside, found_by_us)))
    if options.failures:
        for one in pieces:
            found = found_by_us(one)
            if not compare(one, found).whole:
                print(f"  {one.part}: {one.about}\n    seen {one.sees}\n    found {found}")
    if options.peer == "no":
        return
    played = [
        [p for p in some if {m.kind for m in p.sees} <= _HEARD_OR_SEEN] for some in (made, aside)
    ]
    names = ("sound and film", "sound and film aside")
    for name, some in zip(names, played, strict=True):
        print(line(f"mmcrawl: {name}", _of(some, found_by_us)))
    with peer() as ask:
        for name, some in zip(names, played, strict=True):
            print(line(f"yt-dlp: {name}", _of(some, ask)))


if __name__ == "__main__":
    main()
