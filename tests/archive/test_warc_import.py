from __future__ import annotations

import gzip
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest
import zstandard

from mmcrawl.archive import Archive
from mmcrawl.archive.warc import WarcImport, import_warc
from mmcrawl.archive.warc.payload import body_of, is_digest_of
from mmcrawl.errors import StoreError
from tests.archive.warc_files import DATE, HTML, TIME, Warc, all_of

URL = "http://physics.test/levers"
BODY = b"<html><body><p>A lever is a beam on a pivot.</p></body></html>"


@pytest.fixture(params=["crawl.warc", "crawl.warc.gz"])
def warc(request: pytest.FixtureRequest, tmp_path: Path) -> Warc:
    return Warc(tmp_path / request.param)


@pytest.fixture
def other(tmp_path: Path) -> Warc:
    return Warc(tmp_path / "other.warc.gz")


def is_accounted_for(done: WarcImport) -> bool:
    return done.records == done.captures + sum(done.skipped.values())


def whats(done: WarcImport) -> str:
    assert is_accounted_for(done)
    return "\n".join(str(problem) for problem in done.problems)


def test_a_response_is_stored_with_all_that_came_with_it(archive: Archive, warc: Warc) -> None:
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a"), ("set-cookie", "b=ü"))
    warc.response(URL, BODY, "404 Nicht da", headers, "2020-01-01T00:00:00.123456789Z")
    done = import_warc(archive, [warc.close()])
    assert (done.records, done.captures, done.versions, done.problems) == (1, 1, 1, ())
    (version,) = archive.versions(URL)
    assert (version.status, version.reason, version.headers) == (404, "Nicht da", headers)
    assert version.time == 1577836800.123456789
    assert archive.rebuild(version).body == BODY


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY[:9]) + gzip.compress(BODY[9:])),
        ("deflate", zlib.compress(BODY)),
        ("deflate", zlib.compress(BODY)[2:-4]),
        ("zstd", zstandard.compress(BODY)),
        ("gzip, deflate", zlib.compress(gzip.compress(BODY))),
        ("gzip", BODY),
        ("deflate", BODY),
        ("zstd", BODY),
        ("identity", BODY),
    ],
)
@pytest.mark.parametrize("chunks", [False, True])
def test_codings_are_undone(
    archive: Archive, warc: Warc, coding: str, packed: bytes, chunks: bool
) -> None:
    headers = (*HTML, ("Content-Encoding", coding))
    if chunks:
        headers += (("Transfer-Encoding", "Chunked"),)
        packed = b"%x\r\n%b\r\n4\r\n" % (len(packed) - 4, packed[:-4]) + packed[-4:]
        packed += b"\r\n0\r\n\r\n"
    warc.response(URL, packed, headers=headers)
    assert import_warc(archive, [warc.close()]).problems == ()
    (version,) = archive.versions(URL)
    assert archive.rebuild(version).body == BODY
    assert version.headers == headers


@pytest.mark.skipif(find_spec("brotli") is None, reason="the package brotli is not installed")
def test_brotli_is_undone() -> None:
    import brotli

    packed = brotli.compress(BODY)
    assert body_of(packed, (("content-encoding", "br"),)) == BODY
    assert body_of(BODY, (("content-encoding", "br"),)) == BODY


@pytest.mark.parametrize(
    ("coding", "packed", "what"),
    [
        ("gzip", gzip.compress(BODY)[:-9], "broken off"),
        ("gzip", gzip.compress(BODY)[:-8] + b"12345678", "damaged"),
        ("zstd", zstandard.compress(BODY)[:6] + b"123456", "damaged"),
        ("compress", BODY, "'compress' is not known"),
    ],
)
def test_a_coding_that_cannot_be_undone_is_named(
    archive: Archive, warc: Warc, coding: str, packed: bytes, what: str
) -> None:
    warc.response(URL, packed, headers=(*HTML, ("Content-Encoding", coding)))
    warc.response("http://physics.test/", BODY)
    done = import_warc(archive, [warc.close()])
    assert list(archive.urls()) == ["http://physics.test/"]
    assert what in whats(done)
    assert done.skipped == {"damaged": 1}


def test_a_body_that_unpacks_to_more_than_is_kept_is_left_out(
    archive: Archive, warc: Warc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmcrawl.archive.warc.payload.LARGEST", 1 << 20)
    bomb = gzip.compress(bytes(50 << 20))
    warc.response(URL, bomb, headers=(("Content-Encoding", "gzip"),))
    done = import_warc(archive, [warc.close()])
    assert "unpacks to more than" in whats(done)


def test_captures_are_stored_in_order_of_time(archive: Archive, warc: Warc) -> None:
    for second, body in [(3, b"A"), (1, b"A"), (2, b"B")]:
        warc.response(URL, body, date=f"2020-01-01T00:00:0{second}Z")
    import_warc(archive, [warc.close()])
    found = [(one.time - TIME, one.number) for one in archive.versions(URL)]
    assert found == [(1, 1), (2, 2), (3, 3)]


def test_the_same_again_is_a_visit(archive: Archive, warc: Warc) -> None:
    warc.response(URL, BODY)
    warc.response(URL, BODY, date="2020-01-02T00:00:00Z")
    done = import_warc(archive, [warc.close()])
    assert (done.versions, done.unchanged) == (1, 1)
    assert [visit.changed for visit in archive.visits(URL)] == [True, False]


def test_an_import_can_be_run_again(archive: Archive, warc: Warc) -> None:
    digest = warc.response(URL, b"A", date="2020-01-01T00:00:01Z")
    warc.response(URL, b"B", date="2020-01-01T00:00:02Z")
    warc.revisit(URL, "200 OK", "2020-01-01T00:00:03Z", WARC_Payload_Digest=digest)
    path = warc.close()
    import_warc(archive, [path])
    before = all_of(archive)
    done = import_warc(archive, [path])
    assert (done.captures, done.versions, done.unchanged) == (3, 0, 3)
    assert all_of(archive) == before


class TestRevisit:
    def test_takes_its_body_from_the_record_of_its_digest(
        self, archive: Archive, warc: Warc
    ) -> None:
        digest = warc.response(URL, BODY)
        later = "2020-01-02T00:00:00Z"
        warc.revisit("http://copy.test/", "203 Fine", later, WARC_Payload_Digest=digest)
        assert import_warc(archive, [warc.close()]).problems == ()
        (version,) = archive.versions("http://copy.test/")
        assert archive.rebuild(version).body == BODY
        assert (version.status, version.reason) == (203, "Fine")
        assert version.headers == (("X-Seen", "again"),)

    def test_without_a_head_has_the_one_of_that_record(self, archive: Archive, warc: Warc) -> None:
        digest = warc.response(URL, BODY, "404 Gone")
        warc.revisit("http://copy.test/", WARC_Payload_Digest=digest)
        import_warc(archive, [warc.close()])
        (version,) = archive.versions("http://copy.test/")
        assert (version.status, version.reason, version.headers) == (404, "Gone", HTML)

    @pytest.mark.parametrize("first", [False, True])
    def test_may_refer_to_another_file(
        self, archive: Archive, warc: Warc, other: Warc, first: bool
    ) -> None:
        digest = other.response(URL, BODY)
        warc.revisit(URL, "200 OK", "2020-01-02T00:00:00Z", WARC_Payload_Digest=digest)
        files = [warc.close(), other.close()]
        done = import_warc(archive, files if first else reversed(files))
        assert (done.versions, done.unchanged, done.problems) == (1, 1, ())

    def test_may_refer_to_a_record_by_uri_and_date(self, archive: Archive, warc: Warc) -> None:
        warc.response(URL, b"before", date="2019-01-01T00:00:00Z", WARC_Payload_Digest="")
        warc.response(URL, BODY, WARC_Payload_Digest="")
        warc.revisit(
            "http://copy.test/",
            "200 OK",
            "2020-01-02T00:00:00Z",
            WARC_Refers_To_Target_URI=URL,
            WARC_Refers_To_Date=DATE,
        )
        import_warc(archive, [warc.close()])
        assert archive.rebuild(archive.get("http://copy.test/")).body == BODY

    def test_may_refer_to_what_the_archive_has(
        self, archive: Archive, warc: Warc, other: Warc
    ) -> None:
        digest = other.response(URL, gzip.compress(BODY), headers=(("Content-Encoding", "gzip"),))
        import_warc(archive, [other.close()])
        warc.revisit(
            "http://copy.test/",
            "200 OK",
            "2020-01-02T00:00:00Z",
            WARC_Payload_Digest=digest,
            WARC_Refers_To_Target_URI=URL,
            WARC_Refers_To_Date=DATE,
        )
        assert import_warc(archive, [warc.close()]).problems == ()
        assert archive.rebuild(archive.get("http://copy.test/")).body == BODY

    def test_of_the_same_url_is_found_in_the_archive_by_digest(
        self, archive: Archive, warc: Warc, other: Warc
    ) -> None:
        digest = other.response(URL, BODY)
        import_warc(archive, [other.close()])
        warc.revisit(URL, "200 OK", "2020-01-02T00:00:00Z", WARC_Payload_Digest=digest)
        warc.revisit(URL, "200 OK", "2020-01-03T00:00:00Z", WARC_Payload_Digest="sha1:AAAA")
        done = import_warc(archive, [warc.close()])
        assert (done.unchanged, done.skipped) == (1, {"unresolved revisit": 1})

    def test_not_modified_is_a_visit(self, archive: Archive, warc: Warc) -> None:
        warc.response(URL, BODY)
        profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"
        later = "2020-01-02T00:00:00Z"
        warc.revisit(URL, "304 Not Modified", later, WARC_Profile=profile)
        done = import_warc(archive, [warc.close()])
        assert (done.versions, done.unchanged) == (1, 1)
        assert [visit.status for visit in archive.visits(URL)] == [200, 304]

    def test_not_modified_of_another_record_is_a_version(
        self, archive: Archive, warc: Warc
    ) -> None:
        warc.response(URL, BODY)
        warc.revisit(
            "http://copy.test/",
            "304 Not Modified",
            WARC_Profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified",
            WARC_Refers_To_Target_URI=URL,
            WARC_Refers_To_Date=DATE,
        )
        assert import_warc(archive, [warc.close()]).versions == 2
        (version,) = archive.versions("http://copy.test/")
        assert (version.status, version.headers) == (200, HTML)

    def test_of_what_is_nowhere_is_named(self, archive: Archive, warc: Warc) -> None:
        warc.response(URL, BODY)
        warc.revisit("http://copy.test/", "200 OK", WARC_Payload_Digest="sha1:NONE")
        done = import_warc(archive, [warc.close()])
        assert list(archive.urls()) == [URL]
        assert f"offset {warc.offsets[1]}: a revisit of" in whats(done)


def test_a_response_not_modified_is_a_visit(archive: Archive, warc: Warc) -> None:
    warc.response("http://physics.test/never", b"", "304 Not Modified")
    warc.response(URL, BODY)
    warc.response(URL, b"", "304 Not Modified", date="2020-01-02T00:00:00Z")
    done = import_warc(archive, [warc.close()])
    assert (done.versions, done.unchanged, len(done.problems)) == (1, 1, 1)
    assert list(archive.urls()) == [URL]


def test_other_records_are_counted(archive: Archive, warc: Warc) -> None:
    warc.other("", "warcinfo", "application/warc-fields", b"software: x\r\n")
    warc.other(URL, "request", "application/http; msgtype=request", b"GET / HTTP/1.1\r\n\r\n")
    warc.other(URL, "metadata", "application/warc-fields")
    warc.other("dns:physics.test", "response", "text/dns", b"physics.test. A 127.0.0.1")
    warc.response(URL, BODY)
    done = import_warc(archive, [warc.close()])
    assert (done.records, done.captures) == (5, 1)
    assert done.skipped == {"metadata": 1, "not HTTP": 1, "request": 1, "warcinfo": 1}
    assert f"offset {warc.offsets[3]}: an answer of text/dns" in whats(done)


class TestDamage:
    def three(self, warc: Warc) -> tuple[Path, bytearray]:
        for page in "abc":
            warc.response(f"http://physics.test/{page}", BODY + page.encode())
        path = warc.close()
        return path, bytearray(path.read_bytes())

    @pytest.mark.parametrize("kept", [3, 40, 150])
    def test_a_file_cut_short_is_taken_up_to_there(
        self, archive: Archive, warc: Warc, kept: int
    ) -> None:
        path, content = self.three(warc)
        path.write_bytes(content[: warc.offsets[2] + kept])
        done = import_warc(archive, [path])
        assert done.captures == 2
        assert f"'{path}', offset {warc.offsets[2]}: " in whats(done)

    def test_records_behind_damage_are_taken_in(self, archive: Archive, warc: Warc) -> None:
        path, content = self.three(warc)
        end = warc.offsets[2]
        content[end - 40 : end - 20] = b"\xff" * 20
        path.write_bytes(content)
        done = import_warc(archive, [path])
        assert list(archive.urls()) == ["http://physics.test/a", "http://physics.test/c"]
        assert f"offset {warc.offsets[1]}: " in whats(done)

    def test_a_length_that_swallows_the_rest_does_not(
        self, archive: Archive, tmp_path: Path
    ) -> None:
        warc = Warc(tmp_path / "plain.warc")
        path, content = self.three(warc)
        head = content[warc.offsets[1] : warc.offsets[2]]
        wrong = bytes(head).replace(b"Content-Length: ", b"Content-Length: 99")
        path.write_bytes(content[: warc.offsets[1]] + wrong + content[warc.offsets[2] :])
        done = import_warc(archive, [path])
        assert list(archive.urls()) == ["http://physics.test/a", "http://physics.test/c"]
        assert f"offset {warc.offsets[1]}: " in whats(done)

    def test_every_byte_may_be_wrong(self, archive: Archive, tmp_path: Path) -> None:
        warc = Warc(tmp_path / "plain.warc.gz")
        path, content = self.three(warc)
        for at in range(warc.offsets[1], warc.offsets[2], 7):
            wrong = bytearray(content)
            wrong[at] ^= 0x55
            path.write_bytes(wrong)
            done = import_warc(archive, [path])
            assert done.captures == 2 + (not done.problems)
            assert is_accounted_for(done)
        assert archive.rebuild(archive.get("http://physics.test/c")).body == BODY + b"c"

    @pytest.mark.parametrize("field", ["WARC_Block_Digest", "WARC_Payload_Digest"])
    @pytest.mark.parametrize("digest", ["sha1:" + "A" * 32, "sha256:" + "0" * 64])
    def test_bytes_of_another_digest_are_left_out(
        self, archive: Archive, warc: Warc, field: str, digest: str
    ) -> None:
        block = {} if field == "WARC_Block_Digest" else {"WARC_Block_Digest": "new:1"}
        warc.response(URL, BODY, **{field: digest}, **block)
        warc.response("http://physics.test/", BODY)
        done = import_warc(archive, [warc.close()])
        assert list(archive.urls()) == ["http://physics.test/"]
        assert "offset 0: its " in whats(done)
        assert digest in whats(done)

    def test_a_payload_digest_that_only_the_block_speaks_against_is_a_doubt(
        self, archive: Archive, warc: Warc
    ) -> None:
        warc.response(URL, BODY, WARC_Payload_Digest="sha1:" + "A" * 32)
        done = import_warc(archive, [warc.close()])
        assert done.captures == 1
        assert [problem.taken for problem in done.problems] == [True]

    def test_a_capture_that_was_broken_off_is_a_doubt(self, archive: Archive, warc: Warc) -> None:
        warc.response(URL, BODY, WARC_Truncated="disconnect")
        done = import_warc(archive, [warc.close()])
        assert done.captures == 1
        assert "truncated (disconnect)" in whats(done)

    @pytest.mark.parametrize("status", ["", "hello", "2OO OK"])
    def test_a_head_that_is_none_is_named(self, archive: Archive, warc: Warc, status: str) -> None:
        warc.response(URL, BODY, status)
        assert "status line" in whats(import_warc(archive, [warc.close()]))

    @pytest.mark.parametrize("field", ["WARC_Date", "WARC_Target_URI"])
    def test_a_record_without_its_place_is_named(
        self, archive: Archive, tmp_path: Path, field: str
    ) -> None:
        warc = Warc(tmp_path / "plain.warc")
        warc.response(URL, BODY)
        path = warc.close()
        name = field.replace("_", "-").encode()
        path.write_bytes(path.read_bytes().replace(name + b":", b"X-" + name[2:] + b":"))
        assert "no WARC-Target-URI or no WARC-Date" in whats(import_warc(archive, [path]))

    @pytest.mark.parametrize("content", [b"", b"no WARC at all\n", b"\x1f\x8b\x08nothing", b"\n\n"])
    def test_a_file_that_is_none_is_named(
        self, archive: Archive, other: Warc, tmp_path: Path, content: bytes
    ) -> None:
        path = tmp_path / "none.warc"
        path.write_bytes(content)
        other.response(URL, BODY)
        done = import_warc(archive, [path, other.close()])
        assert done.captures == 1
        assert [problem.path for problem in done.problems] == [path]

    def test_a_file_compressed_as_a_whole_is_named(self, archive: Archive, tmp_path: Path) -> None:
        warc = Warc(tmp_path / "plain.warc")
        path, content = self.three(warc)
        path.write_bytes(gzip.compress(content))
        assert "warcio recompress" in whats(import_warc(archive, [path]))

    def test_a_file_that_is_not_there_is_an_error(self, archive: Archive, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="cannot be read"):
            import_warc(archive, [tmp_path / "missing.warc"])

    def test_a_damaged_note_is_a_doubt(self, archive: Archive, warc: Warc) -> None:
        for number, note in enumerate(["{", "[]", '{"headers":{"9":["a","b"]}}', '{"status":"x"}']):
            warc.response(f"{URL}{number}", BODY, Mmcrawl_Original=note)
        done = import_warc(archive, [warc.close()])
        assert done.captures == 4
        assert [problem.taken for problem in done.problems] == [True] * 4


def test_it_tells_how_far_it_is(archive: Archive, warc: Warc) -> None:
    for number in range(3):
        warc.response(f"{URL}{number}", BODY)
    told: list[tuple[int, int]] = []
    import_warc(archive, [warc.close()], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    "digest",
    [
        "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N",
        "SHA-1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
        "sha1:qvTGHdzF6KLavt4PO0gs2a6pQ00=",
        "md5:5d41402abc4b2a76b9719d911017c592",
    ],
)
def test_digests_are_read_in_any_digits(digest: str) -> None:
    assert is_digest_of(digest, b"hello")
    assert is_digest_of(digest, b"hallo") is False
    assert is_digest_of("rot13:uryyb", b"hello") is None
