"""Works as WARC and WACZ, read by warcio and replayed by pywb."""

import gzip
import io
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

from warcio.archiveiterator import ArchiveIterator

from mmcrawl.archive import Capture
from mmcrawl.errors import StoreError
from mmcrawl.works import Work, WorkFile
from mmcrawl.works.exporting import Shipment, exporter_named
from tests.archive.warc.test_pywb import python, replayed  # noqa: F401 - a fixture
from tests.archive.warc.test_wacz import WACZ
from tests.waiting import HANG
from tests.works.test_exports import (
    ANIMATION,
    DAMAGED,
    DIGEST,
    EVIL,
    FILM,
    LEVERS,
    MOVIE,
    PAGE,
    opened,
    parts_of,
)

BODY = '<title>杠杆课</title><video src="l.mp4">'.encode()
MIRROR = WorkFile("http://mirror.test/l.mp4", "video", "video/mp4", len(FILM), 0, DIGEST, "held")


def page_at(url: str) -> Capture | None:
    head = (("Content-Type", "text/html; charset=utf-8"),)
    return Capture(PAGE.url, BODY, PAGE.time + 0.5, headers=head) if url == PAGE.url else None


def exported(format: str, folder: Path, *works: Work) -> tuple[Path, list[str]]:
    exporter = exporter_named(format)
    target = folder / f"out{exporter.suffix}"
    shipment = Shipment(works, "Films", opened, PAGE.time, parts_of, page_at=page_at)
    return target, exporter.export(shipment, target)


def test_a_warc_file_has_the_page_the_files_and_what_they_load(tmp_path: Path) -> None:
    mirrored = replace(LEVERS, files=(*LEVERS.files, MIRROR))
    path, problems = exported("warc", tmp_path, mirrored, ANIMATION, EVIL, LEVERS)
    assert problems == []
    found = {}
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            found[record.rec_headers.get_header("WARC-Target-URI")] = (
                record.rec_type,
                record.content_stream().read(),
            )
    assert found.pop(None)[0] == "warcinfo"
    assert found == {
        "http://h.test/%E8%AF%BE.html": ("response", BODY),
        "http://h.test/l.mp4": ("resource", FILM),
        "http://mirror.test/l.mp4": ("revisit", b""),
        "http://h.test/p.swf": ("resource", MOVIE),
        "http://h.test/scenes/one%20b.swf": ("revisit", b""),
        "http://h.test/up.xml": ("revisit", b""),
        "http://h.test/far.swf?x=1": ("revisit", b""),
    }


def test_a_page_comes_with_what_it_needs_to_be_seen(tmp_path: Path) -> None:
    sheet = Capture("http://h.test/s.css", b"p { color: red }", PAGE.time + 9)
    asked = []

    def needed_by(page: Capture, seen: set[str]) -> list[Capture]:
        asked.append(page.body)
        return [sheet]

    shipment = Shipment((LEVERS,), "Films", opened, PAGE.time, page_at=page_at, needed_by=needed_by)
    assert exporter_named("warc").export(shipment, tmp_path / "out.warc.gz") == []
    assert exporter_named("wacz").export(shipment, tmp_path / "out.wacz") == []
    with ZipFile(tmp_path / "out.wacz") as archive:
        packed = io.BytesIO(archive.read("archive/data.warc.gz"))
        assert "test,h)/s.css " in archive.read("indexes/index.cdx").decode()
        assert archive.read("pages/pages.jsonl").count(b"\n") == 2
    for stream in (io.BytesIO((tmp_path / "out.warc.gz").read_bytes()), packed):
        found = [
            (record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(stream)
            if record.rec_type == "response"
        ]
        assert found == [("http://h.test/%E8%AF%BE.html", BODY), (sheet.url, sheet.body)]
    assert asked == [BODY, BODY]


def test_a_wacz_file_lists_its_pages_and_its_validator_is_content(tmp_path: Path) -> None:
    path, problems = exported("wacz", tmp_path, LEVERS, ANIMATION)
    assert problems == []
    with ZipFile(path) as archive:
        assert json.loads(archive.read("datapackage.json"))["title"] == "Films"
        pages = archive.read("pages/pages.jsonl").splitlines()
        lines = archive.read("indexes/index.cdx").decode()
    (page,) = map(json.loads, pages[1:])
    assert (page["title"], page["ts"]) == ("杠杆课", "2023-11-14T22:13:20.5Z")
    assert "test,h)/l.mp4 20231114221320" in lines
    if program := os.environ.get(WACZ):
        run = subprocess.run(
            [program, "validate", "-f", str(path)], capture_output=True, check=False, timeout=HANG
        )
        assert run.returncode == 0, run.stdout


def test_what_is_damaged_is_told_and_the_rest_is_exported(tmp_path: Path) -> None:
    def unreadable(url: str) -> Capture:
        raise StoreError(f"{url} is damaged")

    broken = replace(LEVERS.files[0], url="http://h.test/b.mp4", digest=DAMAGED)
    target = tmp_path / "out.wacz"
    work = replace(LEVERS, files=(broken, *LEVERS.files))
    shipment = Shipment((work,), "Films", opened, PAGE.time, page_at=unreadable)
    page, file = exporter_named("wacz").export(shipment, target)
    assert page == f"{PAGE.url} is damaged"
    assert file.startswith("http://h.test/b.mp4: ")
    with ZipFile(target) as archive:
        assert b"WARC" in gzip.decompress(archive.read("archive/data.warc.gz"))
        assert archive.read("indexes/index.cdx").count(b"\n") == 1


def test_pywb_plays_a_page_with_its_film(
    tmp_path: Path,
    python: str,  # noqa: F811
) -> None:
    mirrored = replace(LEVERS, files=(*LEVERS.files, MIRROR))
    path, _ = exported("warc", tmp_path, mirrored, ANIMATION)
    places = ("h.test/%E8%AF%BE.html", "h.test/l.mp4", "mirror.test/l.mp4", "h.test/up.xml")
    answers = replayed(python, path, *(f"20231114221320id_/http://{one}" for one in places))
    assert [(status, body) for status, _, body in answers] == [
        (200, BODY),
        (200, FILM),
        (200, FILM),
        (200, FILM),
    ]
    types = [headers["Content-Type"] for _, headers, _ in answers]
    assert types[:3] == ["text/html; charset=utf-8", "video/mp4", "video/mp4"]
