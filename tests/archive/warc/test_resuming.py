"""What stands behind a damaged record: it is found, and finding it takes no longer than reading."""

import gzip
import struct
import time
import zlib
from pathlib import Path

import pytest

from mmcrawl.archive.warc import Record, WarcProblem, import_warc
from mmcrawl.archive.warc import warc_records as records
from tests.archive.warc.test_hostile import GOOD, HTTP, record
from tests.archive.warc.warc_files import whats
from tests.tables import each

BAD = "http://odd.test/"
LONG = HTTP + b" A lever is a beam.\n\n" * 20 + b"The end."
PACKED = pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])


def good(url: str = GOOD, block: bytes = HTTP) -> bytes:
    return record(block, WARC_Target_URI=url)


def found_in(path: Path, content: bytes) -> tuple[list[str], list[WarcProblem]]:
    """Return the URLs of the records in a file, and what is damaged."""
    path.write_bytes(content)
    found = list(records(path))
    urls = [one.field("WARC-Target-URI") for one in found if isinstance(one, Record)]
    return urls, [one for one in found if isinstance(one, WarcProblem)]


def test_a_record_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    whole, path = record(), tmp_path / "odd.warc"
    behind = good(block=LONG)
    for kept in range(10, len(whole) - 4):  # with more it lacks blank lines only
        urls, problems = found_in(path, good() + whole[:kept] + behind)
        assert urls == [GOOD, GOOD], kept
        assert [problem.offset for problem in problems] == [len(good())], kept


def test_a_member_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    whole, path = gzip.compress(record(LONG), mtime=0), tmp_path / "odd.warc.gz"
    first, behind = (gzip.compress(good(block=block), mtime=0) for block in (HTTP, LONG))
    for missing in range(1, len(whole)):
        urls, problems = found_in(path, first + whole[:-missing] + behind * 3)
        assert urls.count(GOOD) == 4, missing
        assert {problem.offset for problem in problems} == {len(first)}, missing


@PACKED
@pytest.mark.parametrize("wrong", [-40, -1, 4, 5, 10**6])
def test_a_wrong_length_harms_no_other(archive, tmp_path, wrong, packed):
    odd = record(LONG, Content_Length=str(len(LONG) + wrong))
    parts = [odd, good(block=LONG), good(GOOD + "2")]
    path = tmp_path / "odd.warc"
    path.write_bytes(b"".join(map(gzip.compress, parts) if packed else parts))
    done = import_warc(archive, [path])
    assert {GOOD, GOOD + "2"} <= set(archive.urls()) <= {GOOD, GOOD + "2", BAD}
    assert archive.rebuild(archive.get(GOOD)).body == LONG.partition(b"\r\n\r\n")[2]
    if not 1 <= wrong <= 4:  # so many bytes of the blank lines behind it can be of a block
        assert "offset 0: " in whats(done)


def test_records_in_a_record_are_its_own(tmp_path: Path) -> None:
    inner = good("http://inner.test/") * 2
    assert found_in(tmp_path / "odd.warc", record(HTTP + inner) + good()) == ([BAD, GOOD], [])


def test_a_member_of_several_records_does_not_hide_the_next(tmp_path: Path) -> None:
    content = gzip.compress(record() * 3) + gzip.compress(good())
    urls, problems = found_in(tmp_path / "odd.warc.gz", content)
    assert urls == [BAD, GOOD]
    assert [problem.offset for problem in problems] == [0]


@PACKED
def test_each_of_1_000_broken_records_is_named(archive, tmp_path, packed):
    broken = record()[:-20]
    if packed:
        broken = gzip.compress(record(LONG), mtime=0)[:-40]
    parts, wanted = [], {f"{GOOD}{number}" for number in range(20)}
    for url in wanted:
        parts += [broken] * 50
        parts.append(gzip.compress(good(url), mtime=0) if packed else good(url))
    path = tmp_path / "odd.warc"
    path.write_bytes(b"".join(parts))
    done = import_warc(archive, [path])
    assert wanted <= set(archive.urls())
    assert len({problem.offset for problem in done.problems}) == 1_000


def stored(content: bytes, size: int) -> bytes:
    """Return a gzip member that begins with bytes and claims that `size` more are of it."""
    size += len(content)
    return b"\x1f\x8b\x08" + bytes(7) + b"\x00" + struct.pack("<HH", size, size ^ 0xFFFF) + content


HEAD = b"WARC/1.0\r\nContent-Length: 60000\r\n\r\n"
HOSTILE = {
    "a first line": b"WARC/1.0\r\n",
    "a first line between blank lines": b"\nWARC/1.0\r\n",
    "a head and a line": b"WARC/1.0\r\nX: y\r\n",
    "a length that reaches over others": HEAD,
    "a length beyond the end": b"WARC/1.0\r\nContent-Length: 1" + b"0" * 20 + b"\r\n\r\n",
    "a mark of gzip": b"\x1f\x8b\x08",
    "members over others": stored(HEAD, 60_000),
    "members with a head over others": stored(b"WARC/1.0\r\nX: ", 60_000),
}


@each("name", HOSTILE)
def test_time_grows_with_the_size_of_a_file(tmp_path: Path, name: str) -> None:
    path, piece = tmp_path / "odd.warc", HOSTILE[name]

    def seconds(size: int) -> float:
        path.write_bytes(piece * (size // len(piece)))
        began = time.process_time()
        assert sum(1 for _ in records(path)) > 0
        return time.process_time() - began

    seconds(1 << 10)
    small = seconds(32 << 10)
    assert seconds(256 << 10) < 20 * small + 0.2  # 8 times the size; a quadratic one takes 64


def test_what_damaged_members_unpack_to_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("mmcrawl.archive.warc.records._LEAST_UNPACKED", 1 << 20)
    unpacked: list[int] = []
    decompressobj = zlib.decompressobj

    class Counted:
        """Unpacks as zlib does, and notes how much."""

        def __init__(self, wbits: int) -> None:
            self._unpacker = decompressobj(wbits)

        def decompress(self, data: bytes, most: int = 0) -> bytes:
            content = self._unpacker.decompress(data, most)
            unpacked.append(len(content))
            return content

        def __getattr__(self, name: str) -> object:
            return getattr(self._unpacker, name)

    monkeypatch.setattr(zlib, "decompressobj", Counted)  # whoever unpacks
    size, nest = 10 << 20, b""
    for _ in range(9):  # each of them claims those behind it, and the bomb
        nest = stored(b"WARC/1.0\r\nContent-Length: 9999999999\r\n\r\n", len(nest)) + nest
    bomb = gzip.compress(bytes(size))[10:]
    behind = b"\n" * (1 << 16) + gzip.compress(good())
    _, problems = found_in(tmp_path / "odd.warc.gz", (nest + bomb) * 30 + behind)
    assert size < sum(unpacked) < 2 * 30 * size
    assert problems[-1].what == "too much of the file is damaged: what begins here is not read"
