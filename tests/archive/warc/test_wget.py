"""A file that GNU Wget wrote, which is kept."""

import gzip
import re
from pathlib import Path

import pytest
from warcio.cli import main as warcio

from mmcrawl.archive import Archive
from mmcrawl.archive.warc import import_warc

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


URL = "http://physics.test/levers"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
PAGE = "<html><body><p>Größe of a lever</p></body></html>".encode()


def arc(*bodies: bytes) -> list[bytes]:
    """Return the records of an ARC file, version 1."""
    told = b"1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"
    first = b"filedesc://x.arc 0.0.0.0 20061212000000 text/plain %d\n" % len(told)
    records = [first + told + b"\n"]
    for number, body in enumerate(bodies):
        content = HEAD + body
        line = f"{URL} 127.0.0.1 2006121312000{number} text/html {len(content)}\n".encode()
        records.append(line + content + b"\n")
    return records


@pytest.mark.parametrize("packed", [False, True])
def test_an_arc_file_is_made_a_warc_by_the_command_that_is_told(archive, tmp_path, packed):
    path = tmp_path / ("old.arc.gz" if packed else "old.arc")
    records = arc(PAGE, PAGE + b" ", PAGE + b" ")
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    (problem,) = import_warc(archive, [path]).problems
    command = re.search("`(.*) NEW.warc.gz`", problem.what)[1].replace("'", "")
    new = tmp_path / "new.warc.gz"
    warcio([*command.split()[1:], str(new)])
    report = import_warc(archive, [new])
    assert report.problems == ()
    assert (report.versions, report.unchanged) == (2, 1)
    assert [archive.rebuild(one).body for one in archive.versions(URL)] == [PAGE, PAGE + b" "]
    assert archive.get(URL).header("content-type") == "text/html; charset=utf-8"
    assert [visit.time for visit in archive.visits(URL)] == [1166011200, 1166011201, 1166011202]
