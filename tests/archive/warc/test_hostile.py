"""Records that no honest program writes: each is a sentence, and the record behind it is taken."""

import gzip
import zlib
from io import BufferedReader, FileIO
from pathlib import Path

import pytest
import zstandard

from mmcrawl.archive.warc import LONGEST_HEAD, CodingError, WarcProblem, body_of, import_warc
from mmcrawl.archive.warc import warc_records as records
from tests.archive.warc.warc_files import whats
from tests.tables import each

GOOD = "http://physics.test/levers"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A lever.</p>"


def record(block: bytes = HTTP, *, version: str = "WARC/1.1", **fields: str | None) -> bytes:
    """Return a record, some of its fields replaced or (None) left out."""
    given = {
        "WARC_Type": "response",
        "WARC_Target_URI": "http://odd.test/",
        "WARC_Date": "2020-01-01T00:00:00Z",
        "Content_Type": "application/http; msgtype=response",
        "Content_Length": str(len(block)),
        **fields,
    }
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items() if value]
    return "\r\n".join([version, *lines, "", ""]).encode("latin-1") + block + b"\r\n\r\n"


def answer(head: str) -> bytes:
    return record(head.encode("latin-1") + b"\r\n\r\nx")


LEFT_OUT = {
    "a length of a terabyte": record(Content_Length="1000000000000"),
    "a length of 400 digits": record(Content_Length="9" * 400),
    "a negative length": record(Content_Length="-5"),
    "no length": record(Content_Length=None),
    "no date": record(WARC_Date=None),
    "no URL": record(WARC_Target_URI=None),
    "a status of 30 digits": answer("HTTP/1.1 " + "9" * 30),
    "a status 0": answer("HTTP/1.1 000 None"),
    "nothing": record(b""),
    "a URL that is none": record(WARC_Target_URI="http://[::1"),
    "a port that is none": record(WARC_Target_URI="http://odd.test:99999/"),
    "a date of the year 0": record(WARC_Date="0000-00-00T00:00:00Z"),
    "a date of other form": record(WARC_Date="20200101000000"),
    "a version to come": record(version="WARC/1.9"),
    "a head without end": b"WARC/1.1\r\nX: " + b"a" * LONGEST_HEAD + b"\r\n\r\n\r\n\r\n",
    "a head of many lines": b"WARC/1.1\r\n" + b"X: a\r\n" * (LONGEST_HEAD // 6 + 1) + b"\r\n\r\n",
    "a failed visit of what is not there": record(b"status: 503\r\n", WARC_Type="metadata"),
    "a revisit of itself": record(
        b"",
        WARC_Type="revisit",
        WARC_Refers_To_Target_URI="http://odd.test/",
        WARC_Refers_To_Date="2020-01-01T00:00:00Z",
    ),
}
DOUBTED = {
    "a digest of any length": record(WARC_Payload_Digest="shake_128:abc"),
    "a length too short": record(Content_Length=str(len(HTTP) - 3)),
}
TAKEN = {
    "an older version": record(version="WARC/0.17"),
    "a URI in angle brackets": record(WARC_Target_URI="<http://odd.test/>"),
    "odd headers": answer("HTTP/1.1 200 \xff\r\nX-\xff\x00: \x1b[31m\r\n: y\r\nnone\r\n\tfold"),
    "chunks of any length": answer(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff"
    ),
    "a thousand codings": answer("HTTP/1.1 200 OK\r\nContent-Encoding: " + "gzip, " * 1000),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@each("name", [*LEFT_OUT, *DOUBTED, *TAKEN])
def test_a_hostile_record_harms_no_other(archive, tmp_path, capfd, name, packed):
    odd = {**LEFT_OUT, **DOUBTED, **TAKEN}[name]
    parts = [odd, record(WARC_Target_URI=GOOD)]
    path = tmp_path / "odd.warc"
    path.write_bytes(b"".join(map(gzip.compress, parts) if packed else parts))
    done = import_warc(archive, [path])
    taken = ["http://odd.test/"] if name not in LEFT_OUT else []
    assert sorted(archive.urls()) == sorted([GOOD, *taken])
    assert [problem.taken for problem in done.problems] == [
        *([False] if name in LEFT_OUT else []),
        *([True] if name in DOUBTED else []),
    ]
    assert len(whats(done)) < 400
    assert import_warc(archive, [path]).versions == 0
    for url in [*archive.urls()]:  # for the next record
        archive.purge(url=url)
    assert capfd.readouterr().err == ""  # warcio speaks to standard error


FOREIGN = {
    "compressed with zstd": zstandard.compress(record()),
    "with zstd": b"\x5d\x2a\x4d\x18\x04\x00\x00\x00abcd",
    "a ZIP": b"PK\x03\x04\x14\x00",
}


@each("what", FOREIGN)
def test_files_of_other_kinds_are_named(tmp_path: Path, what: str) -> None:
    path = tmp_path / "odd.warc.gz"
    for content in (FOREIGN[what], gzip.compress(FOREIGN[what])):
        path.write_bytes(content)
        (found,) = records(path)
        assert isinstance(found, WarcProblem)
        assert what in found.what


def test_a_record_that_claims_more_than_there_is_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "odd.warc"
    path.write_bytes(record(bytes(9000), Content_Length="1000000") * 50)
    size, read = path.stat().st_size, 0

    class Counted(FileIO):
        def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
            nonlocal read
            read += (count := super().readinto(buffer))
            return count

    monkeypatch.setattr(Path, "open", lambda path, mode: BufferedReader(Counted(path)))
    assert len(list(records(path))) == 50
    assert read < 12 * size  # each record to the end of the file: 25 times


@each("coding", ["deflate", "br", "gzip", "zstd"])
def test_bombs_are_left_out(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcrawl.archive.warc.answers.LARGEST_BODY", 1 << 20)
    bomb = packed(coding, bytes(20 << 20))
    with pytest.raises(CodingError, match="unpacks to more than"):
        body_of(bomb, (("Content-Encoding", coding),))


@each("coding", ["deflate", "br", "gzip"])
def test_what_is_broken_off_is_not_taken_for_a_body(coding: str) -> None:
    whole = packed(coding, bytes(range(256)) * 40 + HTTP * 9)
    with pytest.raises(CodingError, match="broken off"):
        body_of(whole[:-9], (("Content-Encoding", coding),))


def packed(coding: str, body: bytes) -> bytes:
    if coding == "gzip":
        return gzip.compress(body)
    if coding == "zstd":
        return zstandard.compress(body)
    if coding == "br":
        return bytes(pytest.importorskip("brotli").compress(body, quality=4))
    return zlib.compress(body)
