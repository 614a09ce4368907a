import gzip
import struct
from pathlib import Path

import pytest

from mmcrawl.archive import Archive
from mmcrawl.archive.warc import DOUBT, Record, import_warc
from mmcrawl.archive.warc import warc_records as records
from tests.archive.warc.warc_files import BODY, URL, Warc, is_accounted_for, whats


@pytest.fixture(params=["crawl.warc", "crawl.warc.gz"])
def warc(request: pytest.FixtureRequest, tmp_path: Path) -> Warc:
    """Return what writes a WARC file, plain and compressed."""
    return Warc(tmp_path / request.param)


def three(warc: Warc) -> tuple[Path, bytearray]:
    for page in "abc":
        warc.response(f"http://physics.test/{page}", BODY + page.encode())
    path = warc.close()
    return path, bytearray(path.read_bytes())


@pytest.mark.parametrize("kept", [3, 40, 150])
def test_a_file_cut_short_is_taken_up_to_there(archive: Archive, warc: Warc, kept: int) -> None:
    path, content = three(warc)
    path.write_bytes(content[: warc.offsets[2] + kept])
    done = import_warc(archive, [path])
    assert done.captures == 2
    assert f"'{path}', offset {warc.offsets[2]}: " in whats(done)


def test_records_behind_damage_are_taken_in(archive: Archive, warc: Warc) -> None:
    path, content = three(warc)
    end = warc.offsets[2]
    content[end - 40 : end - 20] = b"\xff" * 20
    path.write_bytes(content)
    done = import_warc(archive, [path])
    found = {*archive.urls()}
    assert {"http://physics.test/a", "http://physics.test/c"} <= found
    assert done.doubtful == ("http://physics.test/b" in found)
    assert f"offset {warc.offsets[1]}: " in whats(done)


def test_every_byte_may_be_wrong(archive: Archive, tmp_path: Path) -> None:
    warc = Warc(tmp_path / "plain.warc.gz")
    path, content = three(warc)
    for at in range(warc.offsets[1], warc.offsets[2], 7):
        wrong = bytearray(content)
        wrong[at] ^= 0x55
        path.write_bytes(wrong)
        done = import_warc(archive, [path])
        assert done.captures in (2, 3)
        assert done.captures == 3 or done.problems
        assert is_accounted_for(done)
    assert archive.rebuild(archive.get("http://physics.test/c")).body == BODY + b"c"


def test_a_member_that_runs_into_the_next_does_not_hide_it(tmp_path: Path) -> None:
    warc = Warc(tmp_path / "packed.warc.gz")
    path, content = three(warc)
    start, end = warc.offsets[1:]
    middle, last = gzip.decompress(content[start:end]), content[end:]
    size = len(middle) + len(last)  # of a block that is stored as it is (RFC 1951, 3.2.4)
    header = b"\x1f\x8b\x08" + bytes(7) + b"\x00" + struct.pack("<HH", size, size ^ 0xFFFF)
    path.write_bytes(content[:start] + header + middle + last)
    found = [one for one in records(path) if isinstance(one, Record)]
    assert [one.field("WARC-Target-URI")[-1] for one in found] == ["a", "b", "c"]


def test_a_last_member_without_its_checksum_is_a_doubt(archive: Archive, tmp_path: Path) -> None:
    path, content = three(Warc(tmp_path / "packed.warc.gz"))
    path.write_bytes(content[:-4])
    done = import_warc(archive, [path])
    assert done.captures == 3
    assert [problem.taken for problem in done.problems] == [True]


@pytest.mark.parametrize("field", ["WARC_Block_Digest", "WARC_Payload_Digest"])
def test_bytes_of_another_digest_come_in_marked_and_counted(archive, warc, field):
    digest = "sha1:" + "A" * 32
    other = {"WARC_Block_Digest", "WARC_Payload_Digest"} - {field}
    warc.response(URL, BODY, **{field: digest}, **dict.fromkeys(other, "new:1"))
    warc.response("http://physics.test/", BODY)
    done = import_warc(archive, [warc.close()])
    assert (done.captures, done.doubtful) == (2, 1)
    assert [problem.taken for problem in done.problems] == [True]
    assert "offset 0: its " in whats(done)
    assert digest in whats(done)
    (version,), (good,) = archive.versions(URL), archive.versions("http://physics.test/")
    assert archive.rebuild(version).body == BODY
    assert digest in dict(version.headers)[DOUBT]
    assert DOUBT not in dict(good.headers)


@pytest.mark.parametrize(("version", "ending"), [("1.2", ".warc"), ("0.18", ".warc.gz")])
def test_records_are_read_however_others_write_them(archive, tmp_path, version, ending):
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
    page = interim + b"Content-Type:\r\n text/html\r\nX-Long: a\r\n\tb\r\n\r\n" + BODY
    short = b"WARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: %d\r\n"
    written = [
        b"WARC-Target-URI: http://h.test/folded\r\nContent-Type: application/http;\r\n"
        b"  msgtype=response\r\nWARC-X: a\r\n b\r\n",
        b"WARC-Target-URI: http://h.test/untyped\r\n",
        b"warc-target-uri: <http://h.test/wget>\r\nContent-Type: application/http\r\n",
        b"WARC-Target-URI: http://h.test/with space\r\n",
    ]
    records = [
        b"WARC/%s\r\n" % version.encode() + head + short % len(page) + b"\r\n" + page + b"\r\n\r\n"
        for head in written
    ]
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"".join(map(gzip.compress, records) if ending == ".warc.gz" else records))
    done = import_warc(archive, [path])
    names = ("folded", "untyped", "wget", "with%20space")
    assert [*archive.urls()] == [f"http://h.test/{name}" for name in names], whats(done)
    for name in names:
        (version_,) = archive.versions(f"http://h.test/{name}")
        assert archive.rebuild(version_).body == BODY
        assert dict(version_.headers)["Content-Type"] == "text/html"


def test_what_is_broken_off_in_its_coding_or_its_length_is_kept_as_far_as_it_goes(
    archive: Archive, tmp_path: Path
) -> None:
    packed = gzip.compress(BODY * 50)
    coded = (("Content-Type", "text/html"), ("Content-Encoding", "gzip"))
    warc = Warc(tmp_path / "a.warc.gz")
    warc.response("http://h.test/coded", packed[:-12], headers=coded)
    path = warc.close()
    head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.test/short\r\n"
    head += b"WARC-Date: 2020-01-01T00:00:00Z\r\nContent-Length: 999\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"
    path.write_bytes(path.read_bytes() + gzip.compress(head + BODY))
    done = import_warc(archive, [path])
    bodies = [archive.rebuild(archive.versions(url)[0]).body for url in sorted(archive.urls())]
    assert bodies[1] == BODY
    assert bodies[0].startswith(BODY * 10)
    assert [problem.taken for problem in done.problems] == [True, True]


def test_a_capture_that_was_broken_off_is_a_doubt(archive: Archive, warc: Warc) -> None:
    warc.response(URL, BODY, WARC_Truncated="disconnect")
    done = import_warc(archive, [warc.close()])
    assert done.captures == 1
    assert "truncated (disconnect)" in whats(done)


@pytest.mark.parametrize("content", [b"", b"no WARC at all\n", b"\x1f\x8b\x08nothing", b"\n\n"])
def test_a_file_that_is_none_is_named(archive, other, tmp_path, content):
    path = tmp_path / "none.warc"
    path.write_bytes(content)
    other.response(URL, BODY)
    done = import_warc(archive, [path, other.close()])
    assert done.captures == 1
    assert [problem.path for problem in done.problems] == [path]


@pytest.mark.parametrize("status", ["", "2OO OK"])
def test_a_head_that_is_none_is_named(archive: Archive, warc: Warc, status: str) -> None:
    warc.response(URL, BODY, status)
    assert "status line" in whats(import_warc(archive, [warc.close()]))
