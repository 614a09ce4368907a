"""WACZ files, judged by py-wacz where that is installed.

It pins what the project has newer, so it lives in an environment of its own: ``python -m venv WACZ
&& WACZ/bin/pip install wacz``, then name ``WACZ/bin/wacz`` in the variable MMCRAWL_TEST_WACZ.
"""

import io
import json
import os
import shutil
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_LZMA, ZIP_STORED, ZipFile

import pytest
from warcio.archiveiterator import ArchiveIterator

from mmcrawl.archive import RENDERED, Archive, Capture, open_archive
from mmcrawl.archive.warc import export_warc, import_warc
from mmcrawl.errors import StoreError
from tests.programs import run

WACZ = "MMCRAWL_TEST_WACZ"
TIME = 1_700_000_000.25  # 2023-11-14T22:13:20Z
TYPE = ("Content-Type", "text/html; charset=utf-8")


def page(title: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body><p>Größe</p></body></html>".encode()


@pytest.fixture
def wacz(archive: Archive, tmp_path: Path) -> Path:
    """Return an archive as WACZ: three pages, one of them twice, one of them with the same body."""
    for number in range(3):
        url = f"http://physics.test/levers?page={number}"
        archive.store(Capture(url, page(f"杠杆 &amp; {number}"), TIME + number, 200, (TYPE,), "OK"))
    archive.store(Capture(url, page("杠杆 &amp; 2"), TIME + 60, 200, (TYPE,), "OK"))
    archive.store(Capture("http://a.test/x", page("杠杆 &amp; 2"), TIME, 200, (TYPE,), "OK"))
    archive.store(Capture("http://a.test/gone", page("gone"), TIME, 404, (TYPE,), "Not Found"))
    path = tmp_path / "physics.wacz"
    report = export_warc(archive, path)
    assert report.problems == ()
    assert report.size == path.stat().st_size
    return path


def test_every_file_has_the_digest_that_is_listed(wacz: Path) -> None:
    with ZipFile(wacz) as archive:
        content = archive.read("datapackage.json")
        package = json.loads(content)
        said = json.loads(archive.read("datapackage-digest.json"))
        assert said["hash"] == f"sha256:{sha256(content).hexdigest()}"
        listed = {one["path"]: one for one in package["resources"]}
        assert set(listed) == set(archive.namelist()) - {
            "datapackage.json",
            "datapackage-digest.json",
        }
        for path, one in listed.items():
            body = archive.read(path)
            assert one["hash"] == f"sha256:{sha256(body).hexdigest()}"
            assert one["bytes"] == len(body)
        warc = archive.getinfo("archive/data.warc.gz")
        assert warc.compress_type == ZIP_STORED
        # ReplayWeb.page takes the length of the head before the file from the directory.
        head = wacz.read_bytes()[warc.header_offset :]
        assert len(warc.extra) == int.from_bytes(head[28:30], "little")


def test_a_record_stands_where_the_index_says(wacz: Path) -> None:
    with ZipFile(wacz) as archive:
        warc = archive.read("archive/data.warc.gz")
        lines = archive.read("indexes/index.cdx").decode().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 6
    for line in lines:
        key, stamp, text = line.split(" ", 2)
        facts = json.loads(text)
        begin = int(facts["offset"])
        member = warc[begin : begin + int(facts["length"])]
        (record,) = ArchiveIterator(io.BytesIO(member))
        assert record.rec_headers.get_header("WARC-Target-URI") == facts["url"]
        assert (record.rec_type == "revisit") == (facts["mime"] == "warc/revisit")
        assert facts["status"] == ("404" if facts["url"].endswith("gone") else "200")
        assert stamp.startswith("2023111422")
        assert key.startswith(("test,physics)/levers?page=", "test,a)/"))


def test_pages_have_titles(wacz: Path) -> None:
    with ZipFile(wacz) as archive:
        head, *pages = map(json.loads, archive.read("pages/pages.jsonl").splitlines())
    assert head["format"] == "json-pages-1.0"
    # The one of an equal body is a revisit, and the one that is gone is none.
    assert [one["title"] for one in pages] == ["杠杆 & 2", "杠杆 & 0", "杠杆 & 1"]
    assert pages[1]["ts"] == "2023-11-14T22:13:20.25Z"


def test_its_validator_finds_no_fault(wacz: Path) -> None:
    program = os.environ.get(WACZ)
    if not program:
        pytest.skip(f"no py-wacz: name the program in the variable {WACZ}")
    assert "invalid" not in run(program, "validate", "-f", wacz).stdout.lower()


def test_what_was_exported_comes_back_equal(wacz: Path, archive: Archive, tmp_path: Path) -> None:
    url = f"{RENDERED}http://app.test/lesson"
    html = page("rendered")
    archive.store(Capture(url, html, TIME, 200, (TYPE,), "OK"))
    path = tmp_path / "again.wacz"
    assert export_warc(archive, path).problems == ()
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        report = import_warc(copy, [path])
        assert report.problems == ()
        assert sorted(copy.urls()) == sorted(archive.urls())
        for one in copy.urls():
            found, stored = copy.get(one), archive.get(one)
            assert (found.digest, found.time, found.status) == (
                stored.digest,
                stored.time,
                stored.status,
            )
        assert copy.get(url).encoding == "utf-8"
        assert import_warc(copy, [path]).versions == 0


def test_what_is_no_wacz_is_told(
    wacz: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, cut = tmp_path / "other.zip", tmp_path / "cut.wacz"
    with ZipFile(other, "w") as archive:
        archive.writestr("../data.warc.gz", b"x")
    data = bytearray(wacz.read_bytes())
    data[300] ^= 255  # in the WARC file
    cut.write_bytes(bytes(data))
    with open_archive(f"sqlite:///{tmp_path}/copy.db") as copy:
        (problem,) = import_warc(copy, [other]).problems
        assert "no WARC file in its folder archive" in str(problem)
        with pytest.raises(StoreError, match=r"cut\.wacz' is damaged"):
            import_warc(copy, [cut])
        with ZipFile(cut, "w", ZIP_LZMA) as archive:
            archive.writestr("archive/data.warc", bytes(range(256)) * 99)
        data = bytearray(cut.read_bytes())
        data[99:199] = bytes(100)
        cut.write_bytes(bytes(data))
        with pytest.raises(StoreError, match=r"cut\.wacz' is damaged"):
            import_warc(copy, [cut])
        with ZipFile(cut, "w") as archive:
            archive.writestr("archive/ü.warc", b"x")
        cut.write_bytes(cut.read_bytes().replace("ü".encode(), b"\xff\xff"))
        with pytest.raises(StoreError, match=r"cut\.wacz' is damaged"):
            import_warc(copy, [cut])
        with ZipFile(cut, "w") as archive:
            archive.writestr(f"archive/{'x' * 250}.warc", b"x")
        assert import_warc(copy, [cut]).problems  # the name is no problem, the WARC file is
        free = shutil.disk_usage(tmp_path)._replace(free=0)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: free)
        with pytest.raises(StoreError, match="no room to unpack"):
            import_warc(copy, [wacz])
