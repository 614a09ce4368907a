"""ARC files, which web archives wrote before WARC."""

import gzip

import pytest

from mmcrawl.archive.warc import import_warc

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
def test_what_an_arc_file_holds_comes_in_byte_for_byte(archive, tmp_path, packed):
    path = tmp_path / ("old.arc.gz" if packed else "old.arc")
    records = arc(PAGE, PAGE + b" ", PAGE + b" ")
    path.write_bytes(b"".join(map(gzip.compress, records) if packed else records))
    report = import_warc(archive, [path])
    assert report.problems == ()
    assert (report.versions, report.unchanged) == (2, 1)
    assert [archive.rebuild(one).body for one in archive.versions(URL)] == [PAGE, PAGE + b" "]
    assert archive.get(URL).header("content-type") == "text/html; charset=utf-8"
    assert [visit.time for visit in archive.visits(URL)] == [1166011200, 1166011201, 1166011202]


def test_what_stands_behind_damage_of_an_arc_file_is_taken_in(archive, tmp_path):
    path = tmp_path / "cut.arc.gz"
    records = [*map(gzip.compress, arc(PAGE, PAGE + b"2", PAGE + b"3"))]
    path.write_bytes(records[0] + records[1] + records[2][:20] + bytes(60) + records[3])
    (problem,) = import_warc(archive, [path]).problems
    assert (problem.path, problem.offset) == (path, len(records[0] + records[1]))
    bodies = [archive.rebuild(one).body for one in archive.versions(URL)]
    assert bodies == [PAGE, PAGE + b"3"]


def test_a_record_of_an_arc_file_that_is_cut_off_is_told(archive, tmp_path):
    path = tmp_path / "cut.arc"
    path.write_bytes(b"".join(arc(PAGE, PAGE + b"2"))[:-10])
    (problem,) = import_warc(archive, [path]).problems
    assert "damaged or cut off" in problem.what
    assert [archive.rebuild(one).body for one in archive.versions(URL)] == [PAGE]


def test_a_length_that_counts_the_end_of_the_line_is_right(archive, tmp_path):
    path = tmp_path / "long.arc"
    size = len(HEAD + PAGE)
    told = b"".join(arc(PAGE, PAGE)).replace(b"html %d\n" % size, b"html %d\n" % (size + 1))
    path.write_bytes(told)
    report = import_warc(archive, [path])
    assert (report.captures, report.problems) == (2, ())
