"""A file that GNU Wget wrote, which is kept."""

from pathlib import Path

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
