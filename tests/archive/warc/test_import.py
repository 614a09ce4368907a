import gzip
import signal
import subprocess
import zlib
from importlib.util import find_spec
from pathlib import Path

import pytest
import zstandard

from mmcrawl.archive import Archive, open_archive
from mmcrawl.archive.warc import body_of, import_warc, is_digest_of
from tests.archive.warc.warc_files import BODY, HTML, URL, Warc, all_of, whats
from tests.tables import each
from tests.waiting import HANG
from tests.warm import python


def test_a_response_is_stored_with_all_that_came_with_it(archive: Archive, warc: Warc) -> None:
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "a"), ("set-cookie", "b=ü"))
    warc.response(URL, BODY, "404 Nicht da", headers, "2020-01-01T00:00:00.123456789Z")
    done = import_warc(archive, [warc.close()])
    assert (done.records, done.captures, done.versions, done.problems) == (1, 1, 1, ())
    (version,) = archive.versions(URL)
    assert (version.status, version.reason, version.headers) == (404, "Nicht da", headers)
    assert version.time == 1577836800.123456789
    assert archive.rebuild(version).body == BODY


CODED = [
    ("gzip", gzip.compress(BODY, mtime=0)),
    ("x-gzip", gzip.compress(BODY[:9], mtime=0) + gzip.compress(BODY[9:], mtime=0)),
    ("deflate", zlib.compress(BODY)),
    ("deflate", zlib.compress(BODY)[2:-4]),
    ("zstd", zstandard.compress(BODY)),
    ("gzip, deflate", zlib.compress(gzip.compress(BODY, mtime=0))),
    ("gzip", BODY),
    ("deflate", BODY),
    ("zstd", BODY),
    ("identity", BODY),
    ("UTF-8, none", BODY),
]


def test_codings_are_undone(archive: Archive, warc: Warc) -> None:
    wanted = {}
    for number, (coding, packed) in enumerate(CODED):
        headers = (*HTML, ("Content-Encoding", coding))
        warc.response(f"{URL}/{number}", packed, headers=headers)
        chunks = b"%x\r\n%b\r\n4\r\n" % (len(packed) - 4, packed[:-4]) + packed[-4:]
        both = (*headers, ("Transfer-Encoding", "Chunked"))
        warc.response(f"{URL}/{number}/chunks", chunks + b"\r\n0\r\n\r\n", headers=both)
        wanted |= {f"{URL}/{number}": headers, f"{URL}/{number}/chunks": both}
    assert import_warc(archive, [warc.close()]).problems == ()
    for url, sent in wanted.items():
        (version,) = archive.versions(url)
        assert archive.rebuild(version).body == BODY, url
        assert version.headers == sent


@pytest.mark.skipif(find_spec("brotli") is None, reason="the package brotli is not installed")
def test_brotli_is_undone() -> None:
    import brotli

    packed = brotli.compress(BODY)
    assert body_of(packed, (("content-encoding", "br"),)) == BODY
    assert body_of(BODY, (("content-encoding", "br"),)) == BODY


@pytest.mark.parametrize(
    ("coding", "packed", "what"),
    [
        ("zstd", zstandard.compress(BODY)[:6] + b"123456", "damaged"),
        ("compress", BODY, "'compress' is not known"),
    ],
)
def test_a_coding_that_cannot_be_undone_is_named(archive, warc, coding, packed, what):
    warc.response(URL, packed, headers=(*HTML, ("Content-Encoding", coding)))
    warc.response("http://physics.test/", BODY)
    done = import_warc(archive, [warc.close()])
    assert list(archive.urls()) == ["http://physics.test/"]
    assert what in whats(done)
    assert done.skipped == {"damaged": 1}


def test_it_can_be_run_again_where_captures_share_a_second(archive: Archive, warc: Warc) -> None:
    for body in (b"A", b"A", b"B", b"A", b"A"):
        warc.response(URL, body)
    warc.response(URL, b"A", "404 Gone")
    path = warc.close()
    assert import_warc(archive, [path]).versions == 4
    before = all_of(archive)
    assert import_warc(archive, [path]).versions == 0
    assert all_of(archive) == before


def test_an_import_that_was_killed_can_be_run_again(uri: str, warc: Warc, tmp_path: Path) -> None:
    for number in range(12):
        body = b"%d" % (number // 2)
        warc.response(URL, body, date=f"2020-01-01T00:00:{number // 3:02}Z")
    path = warc.close()
    killed = """
import os, signal, sys
from mmcrawl.archive import open_archive
from mmcrawl.archive.warc import import_warc, importing
importing._COMMIT_CAPTURES = 1
archive = open_archive(sys.argv[1])
store, stored = archive.store_many, []
def kill(*args, **more):
    stored.append(store(*args, **more))
    if len(stored) == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return stored[-1]
archive.store_many = kill
import_warc(archive, [sys.argv[2]])
"""
    run = subprocess.run([python(), "-c", killed, uri, str(path)], check=False, timeout=HANG)
    assert run.returncode == -signal.SIGKILL
    with open_archive(uri) as archive, open_archive(f"sqlite:///{tmp_path}/whole.db") as whole:
        assert archive.visits(URL)
        import_warc(archive, [path])
        import_warc(whole, [path])
        assert all_of(archive) == all_of(whole)


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
    warc.other(URL, "response", "text/html", b"HTTP/1.1 200 OK\r\n\r\nx")
    warc.response(URL, BODY)
    done = import_warc(archive, [warc.close()])
    assert (done.records, done.captures) == (6, 1)
    assert done.skipped == {"metadata": 1, "not HTTP": 2, "request": 1, "warcinfo": 1}
    assert f"offset {warc.offsets[4]}: an answer of text/html, not of HTTP" in whats(done)
    assert len(done.problems) == 1  # one of DNS is in order


@each(
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
