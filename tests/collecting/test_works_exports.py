"""Works in other formats, read back by other programs."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

import bagit
import openpyxl
import pytest
import rispy
from lxml import html
from pyld import jsonld

from mmcrawl.collecting.exporting.as_lrmi import CONTEXT
from mmcrawl.collecting.exporting.exporter import Shipment, exporter_named, exporter_names
from mmcrawl.collecting.exporting.held_files import file_name
from mmcrawl.collecting.works.model import (
    Evidence,
    Licence,
    Sighting,
    Subtitles,
    Work,
    WorkFile,
)
from mmcrawl.errors import CollectionError, StoreError

FILM = b"not really a film"
DIGEST = sha256(FILM).hexdigest()
FORMULA = '=HYPERLINK("http://evil.test","x")'
PAGE = Sighting("http://h.test/课.html", "杠杆课", "topic", 1_700_000_000.0)
LICENCE = Licence(
    "CC-BY-SA-4.0",
    "https://creativecommons.org/licenses/by-sa/4.0/",
    Evidence("rel-license", "CC BY-SA", "page", PAGE.url),
)
LEVERS = Work(
    "0123456789abcdef",
    "杠杆: levers / <b>one</b>?",
    "anchor",
    "video",
    (
        WorkFile("http://h.test/l.mp4", "video", "video/mp4", len(FILM), 61.5, DIGEST, "held"),
        WorkFile("https://www.youtube.com/embed/x", "video"),
    ),
    (PAGE,),
    "How levers\nwork",
    subtitles=(Subtitles("http://h.test/l.vtt", "zh"),),
    level="primary",
    languages=("zh", "en"),
    creator="Ann",
    date="2012-03-04",
    licences=(LICENCE,),
)
EVIL = Work(
    "fedcba9876543210",
    FORMULA,
    "page",
    "audio",
    (WorkFile("javascript:alert(1)", "audio"),),
    caption="\x00\x0b<script>alert(1)</script> \ud800",
)


def opened(digest: str) -> BinaryIO:
    if digest != DIGEST:
        raise StoreError(f"no file {digest}")
    return io.BytesIO(FILM)


def export(format: str, folder: Path, *works: Work) -> Path:
    """Export works, by default both; return what was made."""
    exporter = exporter_named(format)
    target = folder / f"out{exporter.suffix}"
    shipment = Shipment(works or (LEVERS, EVIL), "Physics\nfilms", opened, 1_700_000_000.0)
    assert exporter.export(shipment, target) == []
    return target


def rows_of_csv(path: Path) -> list[dict[str, str]]:
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_table_has_a_row_for_each_medium(tmp_path: Path) -> None:
    first, second, third = rows_of_csv(export("csv", tmp_path))
    assert (first["title"], second["title"]) == (LEVERS.title, LEVERS.title)
    assert (first["file"], second["file"]) == tuple(file.url for file in LEVERS.files)
    assert (first["bytes"], second["bytes"]) == (f"{len(FILM)}", "")
    assert first["found_at"] == "2023-11-14 22:13:20"
    assert first["licence"] == "CC-BY-SA-4.0"
    assert first["licence_page"] == PAGE.url
    assert third["licence"] == ""


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    for row in rows_of_csv(export("csv", tmp_path)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())


def test_a_workbook_has_dates_numbers_and_texts_as_such(tmp_path: Path) -> None:
    sheet = openpyxl.load_workbook(export("xlsx", tmp_path)).active
    assert sheet is not None
    head, first, _, evil = sheet.iter_rows()
    column = {str(cell.value): number for number, cell in enumerate(head)}
    assert first[column["found_at"]].value == datetime(2023, 11, 14, 22, 13, 20)
    assert first[column["bytes"]].value == len(FILM)
    assert first[column["title"]].value == LEVERS.title
    title = evil[column["title"]]
    assert (title.value, title.data_type) == (FORMULA, "s")
    assert "<script>" in str(evil[column["caption"]].value)


def test_json_lines_hold_all_that_is_known(tmp_path: Path) -> None:
    line, _ = export("jsonl", tmp_path).read_text(encoding="utf-8").splitlines()
    assert Work.from_plain(json.loads(line)) == LEVERS


def test_json_ld_is_a_graph_of_learning_resources(tmp_path: Path) -> None:
    document = json.loads(export("lrmi", tmp_path).read_text(encoding="utf-8"))
    assert document["@context"] == CONTEXT
    levers, evil = jsonld.expand(document)
    schema = "https://schema.org/"
    assert f"{schema}LearningResource" in levers["@type"]

    def value(name: str) -> Any:
        return levers[schema + name][0]["@value"]

    assert value("name") == LEVERS.title
    assert value("license") == LICENCE.url
    assert value("educationalLevel") == "primary education"
    assert [one["@value"] for one in levers[f"{schema}inLanguage"]] == ["zh", "en"]
    film, player = levers[f"{schema}encoding"]
    assert film[f"{schema}contentUrl"][0]["@value"] == "http://h.test/l.mp4"
    assert film[f"{schema}duration"][0]["@value"] == "PT62S"
    assert f"{schema}embedUrl" in player
    assert f"{schema}license" not in evil
    assert jsonld.to_rdf(document)["@default"]


def test_references_are_read_by_others(tmp_path: Path) -> None:
    levers, evil = rispy.loads(export("ris", tmp_path).read_text(encoding="utf-8"))
    assert levers["title"] == LEVERS.title
    assert levers["authors"] == ["Ann"]
    assert levers["abstract"] == "How levers work"
    assert evil["type_of_reference"] == "SOUND"


def test_a_bag_is_valid_until_a_file_in_it_is_changed(tmp_path: Path) -> None:
    bag = bagit.Bag(str(export("bagit", tmp_path)))
    bag.validate()
    assert bag.info["Bagging-Date"] == "2023-11-14"
    (film,) = (tmp_path / "out" / "data" / "media").iterdir()
    assert film.read_bytes() == FILM
    film.write_bytes(b"another film is here")
    assert not bag.is_valid()


def links_of(page: html.HtmlElement) -> Iterator[str]:
    for element, attribute, link, _ in page.iterlinks():
        if element.tag in ("a", "video", "audio") and attribute in ("href", "src"):
            yield link


def test_the_folder_needs_neither_server_nor_script(tmp_path: Path) -> None:
    folder = export("folder", tmp_path)
    page = html.document_fromstring((folder / "index.html").read_bytes().decode())
    local = [link for link in links_of(page) if "://" not in link]
    assert local
    for link in local:
        assert (folder / unquote(link)).is_file()
    assert len(page.xpath("//video")) == 1
    assert [head.text for head in page.xpath("//h2")] == [LEVERS.title, FORMULA]
    assert page.xpath("//*[@class='zh' and .='小学']")
    assert page.xpath("//*[@class='en' and .='primary school']")


def test_what_pages_say_runs_nowhere_in_the_folder(tmp_path: Path) -> None:
    text = (export("folder", tmp_path) / "index.html").read_text(encoding="utf-8")
    page = html.document_fromstring(text)
    assert len(page.xpath("//script")) == 1
    assert not [link for link in links_of(page) if link.lower().startswith("javascript:")]


def test_a_file_that_is_gone_is_told_and_the_rest_is_exported(tmp_path: Path) -> None:
    gone = Work("1" * 16, "Gone", "", "audio", (WorkFile("u", "audio", digest="f" * 64),))
    target = tmp_path / "out"
    problems = exporter_named("folder").export(Shipment((gone, LEVERS), "x", opened), target)
    assert len(problems) == 1
    assert "f" * 64 in problems[0]
    assert len(list((target / "media").iterdir())) == 1


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/b\\c:d*e?f", "a b c d e f.mp4"),
        ("../../etc/passwd", "etc passwd.mp4"),
        ("CON", "_CON.mp4"),
        ("...", "untitled.mp4"),
        ("杠" * 200, "杠" * 50 + ".mp4"),
    ],
)
def test_names_of_files_are_those_that_every_file_system_takes(title: str, name: str) -> None:
    assert file_name(title, WorkFile("http://h.test/x.MP4?y=1", "video"), set()) == name


@pytest.mark.parametrize("format", ["csv", "jsonl", "lrmi", "ris", "xlsx"])
def test_an_export_that_fails_leaves_nothing(format: str, tmp_path: Path) -> None:
    def works() -> Iterator[Work]:
        yield LEVERS
        raise StoreError("the store is gone")

    exporter = exporter_named(format)
    with pytest.raises(StoreError):
        exporter.export(Shipment(works()), tmp_path / f"out{exporter.suffix}")
    assert list(tmp_path.iterdir()) == []


def test_there_is_an_exporter_behind_every_name() -> None:
    for name in exporter_names():
        assert exporter_named(name).summary
    with pytest.raises(CollectionError, match="csv"):
        exporter_named("paper")
