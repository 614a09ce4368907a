import json
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator
from warcio.cli import main as warcio

from mmcrawl.archive import Archive, Capture, Version, open_archive
from mmcrawl.archive.warc import as_time, export_warc, import_warc
from mmcrawl.errors import StoreError
from tests.archive.warc.warc_files import TIME, all_of

URL = "http://physics.test/levers"
PAGE = b"<html><body>" + b"<p>A lever is a beam on a pivot.</p>" * 20 + b"</body></html>"
HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Encoding", "gzip"),
    ("Transfer-Encoding", "chunked"),
    ("Content-Length", "5"),
)


def capture(body: bytes = PAGE, time: float = TIME, url: str = URL, **more: Any) -> Capture:
    return Capture(url, body, time, **{"headers": HEADERS[:1], "reason": "OK", **more})


def records(path: Path) -> list[tuple[dict[str, str], dict[str, str], bytes]]:
    """Return the fields, the headers of HTTP and the payload of each record."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            headers = dict(record.http_headers.headers) if record.http_headers else {}
            found.append((dict(record.rec_headers.headers), headers, record.raw_stream.read()))
    return found


def is_valid(path: Path) -> bool:
    with pytest.raises(SystemExit) as end:
        warcio(["check", str(path)])
    return end.value.code == 0


def again(path: Path) -> Archive:
    """Return a new archive of a WARC file."""
    archive = open_archive(f"sqlite:///{path.parent / 'again.db'}")
    assert import_warc(archive, [path]).problems == ()
    return archive


@pytest.mark.parametrize("packed", [True, False])
def test_what_goes_in_comes_out_equal(archive: Archive, tmp_path: Path, packed: bool) -> None:
    archive.store(capture(headers=HEADERS, time=TIME + 0.1234567))
    archive.store(capture(headers=HEADERS, time=TIME + 1))
    archive.note_unchanged(URL, TIME + 2.5)
    archive.note_unchanged(URL, TIME + 2.7, 503)
    archive.store(capture(PAGE + b"2", TIME + 3, reason=""))
    archive.store(capture(PAGE, TIME + 4))
    archive.store(capture(PAGE, TIME + 4, "http://physics.test/Gr%C3%B6%C3%9Fe%20b", status=404))
    archive.store(capture(PAGE, TIME, f"{URL}/same", headers=HEADERS))
    archive.store(capture(b"", TIME + 5, f"{URL}/moved", status=302, headers=(("Location", "/x"),)))
    archive.store(capture(b"", TIME + 6, f"{URL}/moved", status=302, headers=(("Location", "/x"),)))
    archive.note_unchanged(f"{URL}/moved", TIME + 7)
    path = tmp_path / "all.warc"
    done = export_warc(archive, path, gzip=packed)
    assert (done.urls, done.problems, done.size) == (4, (), path.stat().st_size)
    assert is_valid(path)
    with again(path) as other:
        assert all_of(other) == all_of(archive)


text = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=8)
captures = st.builds(
    Capture,
    url=st.sampled_from(
        [URL, "http://physics.test/%C3%BC%20b?x=%3Cy%3E", "https://physics.test/%61"]
    ),
    body=st.sampled_from([b"", b"A", b"<html><p>B</p></html>", b"\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"]),
    time=st.one_of(st.integers(0, 5).map(float), st.floats(1.7e9, 1.7e9 + 1)),
    status=st.sampled_from([200, 301, 404, 999]),
    headers=st.lists(
        st.tuples(
            st.sampled_from(["Content-Length", "transfer-encoding", "X-Archive-Orig-A", "X-a.b"]),
            text | st.just("5"),
        ),
        max_size=3,
    ).map(tuple),
    reason=text,
)
instants = st.one_of(st.integers(0, 1_000_000_000).map(float), st.floats(1.7e9, 2e9))
visits = st.tuples(instants, st.sampled_from([304, 404, 503, 0]))


def time_of(one: Capture | tuple[float, int]) -> float:
    return one.time if isinstance(one, Capture) else one[0]


@given(st.lists(st.one_of(captures, visits), max_size=8))
@example([Capture(URL, b"", 0.0, status=404), Capture(URL, b"", 1.0, status=404)])
def test_what_servers_send_comes_out_equal(what: list[Capture | tuple[float, int]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "all.warc.gz"
        with open_archive(f"sqlite:///{name}/first.db") as archive:
            for one in sorted(what, key=time_of):
                if isinstance(one, Capture):
                    archive.store(one)
                elif any(version.time <= one[0] for version in archive.versions(URL)):
                    archive.note_unchanged(URL, *one)
            export_warc(archive, path)
            assert is_valid(path)
            with again(path) as other:
                assert all_of(other) == all_of(archive)


def test_captures_that_were_stored_late_come_in_their_order_of_time(archive, tmp_path):
    for second, body in ((3, b"C"), (1, b"A"), (2, b"B")):
        archive.store(capture(body, TIME + second))
    export_warc(archive, tmp_path / "all.warc")
    with again(tmp_path / "all.warc") as other:
        told = [(other.rebuild(one).body, one.time) for one in other.versions(URL)]
    assert told == [(b"A", TIME + 1), (b"B", TIME + 2), (b"C", TIME + 3)]


def test_a_type_that_was_given_is_the_header(archive: Archive, tmp_path: Path) -> None:
    archive.store(capture(content_type="text/html;charset=gbk"))
    archive.store(capture(b"x", url=f"{URL}/none", headers=(), content_type="text/plain"))
    export_warc(archive, tmp_path / "all.warc")
    with again(tmp_path / "all.warc") as other:
        kinds = [other.get(url).header("content-type") for url in (URL, f"{URL}/none")]
    assert kinds == ["text/html;charset=gbk", "text/plain"]


def test_the_index_beside_leads_to_each_record(archive: Archive, tmp_path: Path) -> None:
    for number in range(3):
        archive.store(capture(PAGE, TIME + number, f"{URL}{number}"))
    for name in ("all.warc.gz", "all.warc"):
        done = export_warc(archive, tmp_path / name, gzip=name.endswith(".gz"))
        assert done.index == tmp_path / "all.cdxj"
        content = (tmp_path / name).read_bytes()
        lines = done.index.read_text().splitlines()
        for number, line in enumerate(lines):
            facts = json.loads(line.split(" ", 2)[2])
            begin = int(facts["offset"])
            (record,) = ArchiveIterator(BytesIO(content[begin:][: int(facts["length"])]))
            assert record.rec_headers.get_header("WARC-Target-URI") == f"{URL}{number}"
            assert facts["filename"] == name
        assert len(lines) == 3


def test_an_export_is_the_same_for_the_same_archive(archive: Archive, tmp_path: Path) -> None:
    for number in range(3):
        archive.store(capture(PAGE, TIME + number, f"{URL}{number}"))
    export_warc(archive, tmp_path / "one.warc.gz")
    export_warc(archive, tmp_path / "two.warc.gz")
    assert (tmp_path / "one.warc.gz").read_bytes() == (tmp_path / "two.warc.gz").read_bytes()


def test_headers_fit_the_body_as_it_is_stored(archive: Archive, tmp_path: Path) -> None:
    archive.store(capture(headers=HEADERS))
    archive.store(capture(headers=(("Content-Length", str(len(PAGE))),), url=f"{URL}2"))
    export_warc(archive, tmp_path / "all.warc")
    _, (_, coded, payload), (_, plain, _) = records(tmp_path / "all.warc")
    assert list(coded) == [
        "Content-Type",
        "X-Archive-Orig-Content-Encoding",
        "X-Archive-Orig-Transfer-Encoding",
        "X-Archive-Orig-Content-Length",
    ]
    assert payload == PAGE
    assert plain == {"Content-Length": str(len(PAGE))}


def test_a_header_cannot_begin_another_line(archive: Archive, tmp_path: Path) -> None:
    headers = (("X-A", "1\r\nX-B: 2\r\n\r\n<script>"), ("X-C:\r\nX-D", "3"))
    archive.store(capture(headers=headers, reason="OK\r\nX-E: 4"))
    path = tmp_path / "all.warc"
    export_warc(archive, path)
    _, (_, sent, payload) = records(path)
    assert list(sent) == ["X-A", "X-C-X-D"]
    assert payload == PAGE


def test_a_body_is_written_once(archive: Archive, tmp_path: Path) -> None:
    archive.store(capture())
    archive.store(capture(b"other", TIME + 1))
    archive.store(capture(PAGE, TIME + 2))
    archive.store(capture(PAGE, TIME + 3, "http://copy.test/", status=404))
    path = tmp_path / "all.warc"
    done = export_warc(archive, path)
    assert (done.responses, done.revisits) == (2, 2)
    first = next(fields for fields, _, body in records(path) if body == PAGE)
    for fields, _, _ in records(path):
        if fields["WARC-Type"] == "revisit":
            assert fields["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
            assert fields["WARC-Refers-To"] == first["WARC-Record-ID"]
            assert fields["WARC-Refers-To-Target-URI"] == first["WARC-Target-URI"]
            assert fields["WARC-Refers-To-Date"] == first["WARC-Date"]
            assert fields["WARC-Payload-Digest"] == first["WARC-Payload-Digest"]


@pytest.mark.parametrize("status", [0, 503])
def test_a_visit_that_got_no_page_is_no_revisit(archive, tmp_path, status):
    archive.store(capture())
    archive.note_unchanged(URL, TIME + 1, status)
    done = export_warc(archive, tmp_path / "all.warc")
    assert (done.responses, done.revisits, done.failures) == (1, 0, 1)
    _, (page, _, _), (note, _, said) = records(tmp_path / "all.warc")
    assert (note["WARC-Type"], note["WARC-Refers-To"]) == ("metadata", page["WARC-Record-ID"])
    assert said == f"status: {status}\r\n".encode()
    with again(tmp_path / "all.warc") as other:
        assert all_of(other) == all_of(archive)


def test_a_visit_that_failed_does_not_stand_for_a_version(archive: Archive, tmp_path: Path) -> None:
    archive.store(capture())
    archive.note_unchanged(URL, TIME + 1, 503)
    archive.note_unchanged(URL, TIME + 2)
    done = export_warc(archive, tmp_path / "all.warc", since=TIME + 1)
    assert (done.responses, done.failures) == (1, 0)
    _, (page, _, _) = records(tmp_path / "all.warc")
    assert as_time(page["WARC-Date"]) == TIME + 2


@pytest.fixture
def full(archive: Archive) -> Archive:
    for second, body in enumerate([b"A", b"A", b"B", b"B"]):
        archive.store(capture(body, TIME + second))
    archive.store(capture(b"C", TIME + 1, "http://other.test/"))
    return archive


def targets(path: Path) -> list[tuple[str, float | None, bytes]]:
    return [
        (fields["WARC-Target-URI"], as_time(fields["WARC-Date"]), body)
        for fields, _, body in records(path)
        if "WARC-Target-URI" in fields
    ]


def test_a_selection_of_a_url_or_a_time_stands_alone(full: Archive, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    export_warc(full, path, url="http://OTHER.test")
    assert targets(path) == [("http://other.test/", TIME + 1, b"C")]
    export_warc(full, path, url=URL, since=TIME + 1, until=TIME + 3)
    assert targets(path) == [(URL, TIME + 1, b"A"), (URL, TIME + 2, b"B")]


def test_a_selection_of_nothing_is_a_valid_file_and_of_no_url_an_error(full, tmp_path):
    path = tmp_path / "a.warc"
    done = export_warc(full, path, host="nowhere.test")
    assert (done.urls, done.responses) == (0, 0)
    assert is_valid(path)
    assert [fields["WARC-Type"] for fields, _, _ in records(path)] == ["warcinfo"]
    with pytest.raises(StoreError, match="not in archive"):
        export_warc(full, tmp_path / "b.warc", url="http://physics.test/none")
    assert not [*tmp_path.glob("b.warc*")]


def test_a_damaged_version_is_named_and_the_rest_written(archive, tmp_path, monkeypatch):
    archive.store(capture())
    archive.store(capture(time=TIME + 1))
    archive.store(capture(b"B", TIME + 2))
    rebuild = archive.rebuild

    def damaged(version: Version) -> Capture:
        if version.number == 1:
            raise StoreError(f"version 1 of {version.url} is damaged")
        return rebuild(version)

    monkeypatch.setattr(archive, "rebuild", damaged)
    done = export_warc(archive, tmp_path / "a.warc")
    assert (done.responses, done.revisits) == (1, 0)
    assert done.problems == (f"version 1 of {URL} is damaged; it is left out, with its visits",)


def test_a_file_appears_when_it_is_complete(archive, tmp_path, monkeypatch):
    archive.store(capture())
    path = tmp_path / "a.warc"
    path.write_bytes(b"before")

    def broken(version: Version) -> Capture:
        assert path.read_bytes() == b"before"
        raise OSError("No space left on device")

    monkeypatch.setattr(archive, "rebuild", broken)
    with pytest.raises(StoreError, match="cannot be written: No space"):
        export_warc(archive, path)
    assert path.read_bytes() == b"before"
    assert [one.name for one in tmp_path.glob("a.warc*")] == ["a.warc"]


def test_only_a_file_is_replaced(archive: Archive, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(StoreError, match="no regular file"):
            export_warc(archive, tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()
    (tmp_path / "link.warc").symlink_to(tmp_path / "a.warc")
    export_warc(archive, tmp_path / "link.warc")
    assert (tmp_path / "link.warc").is_symlink()
    assert (tmp_path / "a.warc").is_file()
