"""Files written by GNU Wget: one that is kept, and ones it writes now, from a site on 127.0.0.1."""

import gzip
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import Archive
from mmcrawl.archive.warc import import_warc
from tests.serving import Answer, Request, Server
from tests.waiting import HANG

KEPT = Path(__file__).parent / "data" / "wget.warc.gz"
SITE = "http://127.0.0.1:18432"
START = b"""<!doctype html>
<html lang=en><head><title>Course</title></head>
<body><h1>Course</h1>
<p>A lecture with <a href='/notes.html'>notes</a> and
<a href='/old'>an old page</a>, <a href='/copy.html'>a copy</a> and <a href='/gone'>nothing</a>.</p>
</body></html>
"""
NOTES = """<!doctype html>
<html lang=en><head><title>Notes</title></head><body><p>Größe — notes of the lecture.</p>\
</body></html>
""".encode()
GONE = b"<html><body>Gone</body></html>\n"


def answer(request: Request) -> Answer | None:
    """A page, its notes in gzip and chunks, a copy of them, a redirection, and a page not found."""
    pages = {"/": START, "/copy.html": NOTES}
    if request.path == "/notes.html":
        _in_chunks(request, gzip.compress(NOTES, mtime=0))
        return None
    kind = {"Content-Type": "text/html; charset=utf-8"}
    if request.path == "/old":
        return Answer(b"", 302, {**kind, "Location": "/notes.html"})
    found = request.path in pages
    return Answer(pages[request.path] if found else GONE, 200 if found else 404, kind)


def _in_chunks(request: Request, body: bytes) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "text/html; charset=utf-8")
    request.send_header("Content-Encoding", "gzip")
    request.send_header("Transfer-Encoding", "chunked")
    request.end_headers()
    for at in range(0, len(body), 50):
        chunk = body[at : at + 50]
        request.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
    request.wfile.write(b"0\r\n\r\n")


def pages_of(archive: Archive) -> dict[str, tuple[int, bytes]]:
    return {
        one.url.split("/", 3)[3]: (one.status, archive.rebuild(one).body)
        for one in archive.all_versions()
    }


PAGES = {
    "": (200, START),
    "notes.html": (200, NOTES),
    "copy.html": (200, NOTES),
    "old": (302, b""),
    "gone": (404, GONE),
}


def test_a_file_of_wget_is_taken_in(archive: Archive) -> None:
    done = import_warc(archive, [KEPT])
    assert done.problems == ()
    assert (done.records, done.captures, done.versions) == (16, 6, 5)
    assert done.skipped == {"metadata": 1, "request": 6, "resource": 2, "warcinfo": 1}
    assert pages_of(archive) == PAGES
    notes = archive.get(f"{SITE}/notes.html")
    assert notes.header("Content-Encoding") == "gzip"
    assert notes.header("Transfer-Encoding") == "chunked"


@pytest.fixture
def site() -> Iterator[str]:
    with Server(answer) as server:
        yield server.url()


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_revisits_of_wget_are_visits(archive: Archive, tmp_path: Path, site: str) -> None:
    fetch = ["wget", "-q", "--no-proxy", "-r", "-l1", "-e", "robots=off", "--compression=gzip"]
    first = ["--warc-file=first", "--warc-cdx"]
    second = ["--warc-file=second", "--warc-dedup=first.cdx"]
    for options in (first, second):
        subprocess.run([*fetch, *options, site], cwd=tmp_path, check=False, timeout=HANG)
    again = tmp_path / "second.warc.gz"
    assert b"WARC-Type: revisit" in gzip.decompress(again.read_bytes())
    done = import_warc(archive, [again, tmp_path / "first.warc.gz"])
    assert (done.versions, done.unchanged, done.problems) == (5, 7, ())
    assert pages_of(archive) == PAGES
