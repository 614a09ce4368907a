"""ARC files, which web archives wrote before WARC."""

import gzip
import re

import pytest
from warcio.cli import main as warcio

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
