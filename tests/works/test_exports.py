"""Works in other formats, read back by other programs."""

import csv
import gc
import io
import json
import os
import posixpath
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urljoin
from zipfile import ZipFile

import bagit
import pytest
from libzim.reader import Archive
from libzim.search import Query, Searcher
from lxml import etree, html

from mmcrawl.archive import Capture
from mmcrawl.errors import CollectionError, StoreError
from mmcrawl.media import SWF, HeldPart
from mmcrawl.works import Appearance, Evidence, Licence, Subtitles, Work, WorkFile
from mmcrawl.works.exporting import Shipment, exporter_named, exporter_names, file_name
from tests.store.power import Power
from tests.tables import each
from tests.works.hostile_names import HOSTILE

FILM = b"not really a film"
DIGEST = sha256(FILM).hexdigest()
MOVIE = b"not really an animation"
MOVIE_DIGEST = sha256(MOVIE).hexdigest()
DAMAGED = "d" * 64
FORMULA = '=HYPERLINK("http://evil.test","x")'
PAGE = Appearance("http://h.test/课.html", "杠杆课", "topic", 1_700_000_000.0)
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


ANIMATION = Work(
    "2" * 16,
    "Pendulum",
    "page",
    "animation",
    (WorkFile("http://h.test/p.swf", "animation", SWF, len(MOVIE), 2, MOVIE_DIGEST, "held"),),
    (PAGE,),
    topic="physics",
    licences=(LICENCE,),
)
PLAYER = Work("3" * 16, "Hosted", "page", "video", LEVERS.files[1:], topic="physics")


def opened(digest: str) -> BinaryIO:
    held = {DIGEST: FILM, MOVIE_DIGEST: MOVIE, DAMAGED: b"other bytes"}
    if digest not in held:
        raise StoreError(f"no file {digest}")
    return io.BytesIO(held[digest])


def parts_of(file: WorkFile) -> list[HeldPart]:
    names = ("scenes/one%20b.swf", "../../up.xml", "http://h.test/far.swf?x=1")
    parts = [HeldPart(name, urljoin(file.url, name), DIGEST, "") for name in names]
    return parts if file.digest == MOVIE_DIGEST else []


def export(format: str, folder: Path, *works: Work, problems: int = 0) -> Path:
    """Export works, by default two; return what was made."""
    exporter = exporter_named(format)
    target = folder / f"out{exporter.suffix}"
    name = "Physics\nfilms"
    shipment = Shipment(works or (LEVERS, EVIL), name, opened, 1_700_000_000.0, parts_of)
    assert len(exporter.export(shipment, target)) == problems
    assert list(folder.iterdir()) == [target]
    return target


def rows_of_csv(path: Path) -> list[dict[str, str]]:
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


@each("format", ["csv", "folder", "imscc", "kolibri", "warc", "zim"])
def test_what_is_exported_outlasts_a_power_cut(format, tmp_path, monkeypatch):
    folder = tmp_path / format
    folder.mkdir()
    power = Power(folder, monkeypatch)
    for works in ([LEVERS], [LEVERS, ANIMATION]) if format == "folder" else ([LEVERS],):
        made = export(format, folder, *works)
        files = [path for path in (made, *made.rglob("*")) if path.is_file()]
        assert files
        for path in files:
            assert power.left()[path.relative_to(folder).as_posix()] == path.read_bytes()


def test_a_folder_is_synced_whole_and_not_file_by_file(tmp_path, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: asked.append("fsync"))
    monkeypatch.setattr(os, "sync", lambda: asked.append("sync"))
    files = {sha256(b"%d" % number).hexdigest(): b"%d" % number for number in range(6)}
    film = LEVERS.files[0]
    works = [replace(LEVERS, id=key[:16], files=(replace(film, digest=key),)) for key in files]
    shipment = Shipment(works, "x", lambda digest: io.BytesIO(files[digest]), 1.0)
    for _ in range(2):  # made, and brought up to date
        asked.clear()
        assert exporter_named("folder").export(shipment, tmp_path / "out") == []
        assert asked.count("sync") == 1
        assert asked.count("fsync") < len(files)


def test_a_table_has_a_row_for_each_medium(tmp_path: Path) -> None:
    rows = rows_of_csv(export("csv", tmp_path))
    assert not any(
        cell[:1] in ("=", "+", "-", "@") for row in rows for cell in row.values() if cell
    )
    first, second, third = rows
    assert (first["title"], second["title"]) == (LEVERS.title, LEVERS.title)
    assert (first["file"], second["file"]) == tuple(file.url for file in LEVERS.files)
    assert (first["bytes"], second["bytes"]) == (f"{len(FILM)}", "")
    assert first["found_at"] == "2023-11-14 22:13:20"
    assert first["licence"] == "CC-BY-SA-4.0"
    assert first["licence_page"] == PAGE.url
    assert third["licence"] == ""


def test_json_lines_hold_all_that_is_known(tmp_path: Path) -> None:
    line, _ = export("jsonl", tmp_path).read_text(encoding="utf-8").splitlines()
    assert Work.from_plain(json.loads(line)) == LEVERS


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
    listed = page.xpath("//noscript//li")
    assert [line.text_content() for line in listed] == [LEVERS.title, FORMULA]
    (link,) = [link for line in listed for link in links_of(line)]
    assert (folder / unquote(link)).read_bytes() == FILM
    sources = [*page.xpath("//script/@src"), *page.xpath("//link/@href")]
    assert len(page.xpath("//script")) == 2
    assert all((folder / source).is_file() for source in sources)


def test_the_folder_is_brought_up_to_date_and_can_be_checked(tmp_path: Path) -> None:
    target, exporter = tmp_path / "stick", exporter_named("folder")

    def written(*works: Work) -> set[str]:
        assert not exporter.export(Shipment(works, "x", opened, parts_of=parts_of), target)
        subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=target, check=True)
        return {path.name for path in target.rglob("*") if path.is_file()}

    written(LEVERS, PLAYER)
    (film,) = (target / "media").glob("*.mp4")
    before = film.stat()
    assert {film.name, "Pendulum.swf"} <= written(LEVERS, ANIMATION)
    assert (film.stat().st_mtime_ns, film.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert film.name not in written(ANIMATION)
    (target / "SHA256SUMS").unlink()
    with pytest.raises(CollectionError, match="no folder of mmcrawl"):
        written(LEVERS)


def test_what_a_stick_says_of_itself_reaches_no_file_outside_of_it(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    target = export("folder", mine, LEVERS)
    outside = tmp_path / "precious"
    outside.write_text("kept")
    named = ["../../precious", "stick/../../../precious", str(outside), "", "\0", 300 * "x"]
    lines = "".join(f"{DIGEST}  {name}\n" for name in named)
    with (target / "SHA256SUMS").open("ab") as sums:
        sums.write(lines.encode() + b"no line, \xff no UTF-8\n")
    shipment = Shipment((LEVERS,), "Physics", opened, 1_700_000_000.0, parts_of)
    assert exporter_named("folder").export(shipment, target) == []
    assert outside.read_text() == "kept"


@each(
    "format, names",
    [("folder", "scene scene/b.xml"), ("folder", "scene/b.xml scene"), ("folder", "a a/b/c"),
     ("folder", "Pendulum.swf/x"), ("bagit", "scene scene/b.xml"), ("zim", "scene scene/b.xml")],
)  # fmt: skip
def test_parts_whose_names_exclude_each_other_cost_no_export(format, names, tmp_path):
    parts = [HeldPart(name, f"http://h.test/{name}", DIGEST, "") for name in names.split()]
    exporter = exporter_named(format)
    target = tmp_path / f"out{exporter.suffix}"
    shipment = Shipment((ANIMATION,), "n", opened, 1.0, lambda file: parts)
    [said] = exporter.export(shipment, target)
    assert said.startswith(f"{names.split()[-1]}: ")
    assert target.exists()


@each("format", ["bagit", "folder", "imscc"])
def test_a_damaged_file_is_told_and_not_exported(format: str, tmp_path: Path) -> None:
    file = WorkFile("http://h.test/d.mp4", "video", "video/mp4", digest=DAMAGED)
    work = replace(LEVERS, id="4" * 16, files=(file,), pages=())
    made = export(format, tmp_path, work, LEVERS, problems=1)
    if made.is_dir():
        texts = [path.read_bytes() for path in made.rglob("*") if path.is_file()]
    else:
        with ZipFile(made) as cartridge:
            texts = [cartridge.read(name) for name in cartridge.namelist()]
    assert FILM in texts
    assert b"other bytes" not in texts


def test_an_animation_stands_with_what_it_loads(tmp_path: Path) -> None:
    media = export("folder", tmp_path, ANIMATION) / "media"
    (folder,) = media.iterdir()
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert there == {"Pendulum.swf", "scenes/one b.swf", "up.xml", "far.swf"}
    assert (folder / "scenes/one b.swf").read_bytes() == FILM


def test_a_cartridge_names_all_that_is_in_it_by_topic_and_kind(tmp_path: Path) -> None:
    target = export("imscc", tmp_path, LEVERS, ANIMATION, PLAYER, EVIL, problems=1)
    with ZipFile(target) as cartridge:
        assert cartridge.testzip() is None
        manifest = etree.fromstring(cartridge.read("imsmanifest.xml"))
        names = set(cartridge.namelist())
        pages = {name: cartridge.read(name).decode() for name in names if name.endswith("html")}
        link = etree.fromstring(cartridge.read(f"links/{PLAYER.id}.xml"))
    package = {"p": "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"}
    assert {f"{path}" for path in manifest.xpath("//p:file/@href", namespaces=package)} == names - {
        "imsmanifest.xml"
    }
    resources = manifest.xpath("//p:resource/@identifier", namespaces=package)
    items = manifest.xpath("//p:item/@identifierref", namespaces=package)
    assert sorted(items) == sorted(resources)
    assert manifest.xpath("string(//p:schemaversion)", namespaces=package) == "1.1.0"
    topic = "//p:item[p:title='physics']/p:item/p:item/p:title/text()"
    assert manifest.xpath(topic, namespaces=package) == ["Pendulum", "Hosted"]
    assert link.find("{*}url").get("href") == PLAYER.files[0].url
    for name, page in pages.items():
        for address in links_of(html.document_fromstring(page.encode())):
            if "://" not in address:
                assert posixpath.normpath(f"{posixpath.dirname(name)}/{unquote(address)}") in names


def test_a_zim_file_holds_a_page_for_each_work_and_finds_words(tmp_path: Path) -> None:
    archive = Archive(export("zim", tmp_path, LEVERS, ANIMATION, EVIL))
    assert archive.check()
    index = bytes(archive.main_entry.get_item().content)
    assert b"stick/stick.js" in index
    data = bytes(archive.get_entry_by_path("stick/data.js").get_item().content).decode()
    assert all(work.id in data for work in (LEVERS, ANIMATION, EVIL))
    page = bytes(archive.get_entry_by_path(f"works/{LEVERS.id}.html").get_item().content)
    (film,) = html.document_fromstring(page.decode()).xpath("//video/@src")
    item = archive.get_entry_by_path(unquote(posixpath.normpath(f"works/{film}"))).get_item()
    assert (bytes(item.content), item.mimetype) == (FILM, "video/mp4")
    found = Searcher(archive).search(Query().set_query("levers")).getResults(0, 9)
    assert f"works/{LEVERS.id}.html" in list(found)
    assert archive.get_metadata("Language") == b"zho"
    assert archive.has_illustration(48)


def test_kiwix_plays_animations_if_ruffle_is_there(tmp_path: Path) -> None:
    ruffle = tmp_path / "ruffle"
    ruffle.mkdir()
    (ruffle / "ruffle.js").write_text("// plays")
    (ruffle / "core.wasm").write_bytes(b"\0asm")
    shipment = Shipment((ANIMATION,), "x", opened, 1.0, parts_of, ruffle)
    assert exporter_named("zim").export(shipment, tmp_path / "out.zim") == []
    archive = Archive(tmp_path / "out.zim")
    page = bytes(archive.get_entry_by_path(f"works/{ANIMATION.id}.html").get_item().content)
    (movie,) = html.document_fromstring(page).xpath("//object/@data")
    assert b'<param name="allowScriptAccess" value="never">' in page
    path = unquote(posixpath.normpath(f"works/{movie}"))
    assert bytes(archive.get_entry_by_path(path).get_item().content) == MOVIE
    assert not archive.has_entry_by_path(f"{path}.js"), "that is for what is opened from file://"
    part = posixpath.join(posixpath.dirname(path), "scenes/one b.swf")
    assert bytes(archive.get_entry_by_path(part).get_item().content) == FILM
    assert archive.get_entry_by_path("ruffle/core.wasm").get_item().mimetype == "application/wasm"


ARCHIVED = f"""<?xml version="1.0"?>
<!-- a -->
<!doctype html><meta charset=gb2312><base href="http://h.test/x/">
<link rel=stylesheet href=s.css>
<body background=moved.png><img src="/lost.png"><video src="{LEVERS.files[0].url}"></video>
<a href=more.html>更多</a><script>run()</script><iframe src="/frame.html"></iframe>"""
NEEDED = {
    "http://h.test/x/s.css": ("text/css", b"@font-face {src: url(/f.woff2)} p {b: url(no.png)}"),
    "http://h.test/f.woff2": ("font/woff2", b"wOF2"),
    "http://h.test/x/moved.png": ("http://h.test/p.png", b"<html>moved"),
    "http://h.test/p.png": ("image/png", b"PNG"),
    LEVERS.files[0].url: ("image/png", b"what is held is in place of it"),
}


def test_a_zim_file_shows_the_page_as_it_was_archived_with_what_it_needs(tmp_path: Path) -> None:
    def needed_by(page: Capture, seen: set[str]) -> Iterator[Capture]:
        for url, (kind, body) in NEEDED.items():
            head = (("Location" if kind.startswith("http") else "Content-Type", kind),)
            yield Capture(url, body, 5.0, 302 if kind.startswith("http") else 200, head)
        assert LEVERS.files[0].url in seen
        raise StoreError("a picture is damaged")

    head = (("Content-Type", "text/html; charset=gb2312"),)
    page = Capture(PAGE.url, ARCHIVED.encode("gb2312"), 86_400.0, headers=head)
    shipment = Shipment((LEVERS,), "x", opened, 1.0, page_at=lambda _: page, needed_by=needed_by)
    problems = exporter_named("zim").export(shipment, tmp_path / "out.zim")
    assert problems == ["a picture is damaged"]
    archive = Archive(tmp_path / "out.zim")

    def content(path: str, beside: str = "works/") -> tuple[bytes, str]:
        item = archive.get_entry_by_path(unquote(posixpath.normpath(beside + path))).get_item()
        return bytes(item.content), item.mimetype

    work = html.document_fromstring(content(f"works/{LEVERS.id}.html", "")[0].decode())
    (address,) = work.xpath("//a[contains(., '1970-01-02')]/@href")
    body, kind = content(address)
    shown = html.document_fromstring(body)
    assert (kind, shown.text_content().split()) == ("text/html", ["更多run()"])
    assert body.startswith(
        b'<?xml version="1.0"?>\n<!-- a -->\n<!doctype html>'
        b'<meta charset="utf-8"><meta http-equiv="Content-Security'
    )
    (rules,) = shown.xpath("//meta[@http-equiv]/@content")
    assert rules.startswith("script-src 'none'; object-src 'none'; connect-src 'none'; frame-src")
    assert shown.xpath("//base/@href | //img/@src | //iframe/@src | //a/@href") == [
        *("", "about:blank", "http://h.test/x/more.html", "about:blank")
    ]
    (sheet,) = shown.xpath("//link/@href")
    (picture,) = shown.xpath("//body/@background")
    (film,) = shown.xpath("//video/@src")
    (font, none) = re.findall(r'url\("(.*?)"\)', content(sheet, "archived/")[0].decode())
    assert content(picture, "archived/") == (b"PNG", "image/png")
    assert content(film, "archived/") == (FILM, "video/mp4")
    assert content(font, "archived/") == (b"wOF2", "font/woff2")
    assert none == "about:blank"


POLICY_BEHIND = [
    (b"\xef\xbb\xbf <!DOCTYPE html>", b"<p>"),
    (b"<!-->", b"<p><!-- -->"),
    (b"<!--->", b"<p><!-- -->"),
    (b"<!-- --!>", b"<p>-->"),
    (b"", b"\x0b<!doctype html>"),
    (b"\xef\xbb\xbf", b"\xef\xbb\xbf<!doctype html>"),
]


def test_nothing_of_an_archived_page_is_drawn_before_its_policy(tmp_path: Path) -> None:
    head = (("Content-Type", "text/html; charset=utf-8"),)
    pages = {
        f"http://h.test/{number}": Capture(f"http://h.test/{number}", b"".join(row), 1.0, 200, head)
        for number, row in enumerate(POLICY_BEHIND)
    }
    works = [
        replace(LEVERS, id=f"{number:016x}", pages=(replace(PAGE, url=url),))
        for number, url in enumerate(pages)
    ]
    shipment = Shipment(works, "x", opened, 1.0, page_at=pages.get)
    assert exporter_named("zim").export(shipment, tmp_path / "out.zim") == []
    archive = Archive(tmp_path / "out.zim")
    entries = map(archive._get_entry_by_id, range(archive.all_entry_count))
    shown = [bytes(one.get_item().content) for one in entries if one.path.startswith("archived/")]
    assert len(shown) == len(POLICY_BEHIND)
    for before, _ in POLICY_BEHIND:
        assert any(page.startswith(before + b"<meta ") for page in shown), before


def test_works_that_kolibri_cannot_show_are_told(tmp_path: Path) -> None:
    unlicensed = replace(LEVERS, id="5" * 16, licences=())
    reserved = replace(unlicensed, licences=(replace(LICENCE, code="all-rights-reserved"),))
    ported = replace(LEVERS, licences=(replace(LICENCE, code="CC-BY-SA-3.0-CN"),))
    others = (ANIMATION, PLAYER, unlicensed, reserved)
    folder = export("kolibri", tmp_path, ported, *others, problems=4)
    with (folder / "Content.csv").open(encoding="utf-8", newline="") as stream:
        topic, levers = csv.DictReader(stream)
    assert (topic["Path *"], topic["License ID *"]) == ("channel/video", "")
    assert levers["License ID *"] == "CC BY-SA"
    assert (folder / levers["Path *"]).read_bytes() == FILM


@each(
    "title, name",
    [("a/b\\c:d*e?f", "a b c d e f.mp4"), ("../../etc/passwd", "etc passwd.mp4"),
     ("CON", "_CON.mp4"), ("...", "untitled.mp4"), ("杠" * 200, "杠" * 50 + ".mp4")],
)  # fmt: skip
def test_names_of_files_are_those_that_every_file_system_takes(title: str, name: str) -> None:
    assert file_name(title, WorkFile("http://h.test/x.MP4?y=1", "video"), set()) == name


@each("format", exporter_names())
def test_an_export_that_fails_leaves_nothing(format: str, tmp_path: Path) -> None:
    def works() -> Iterator[Work]:
        yield LEVERS
        raise StoreError("the store is gone")

    exporter = exporter_named(format)
    with pytest.raises(StoreError):
        exporter.export(Shipment(works(), "x", opened), tmp_path / f"out{exporter.suffix}")
    assert list(tmp_path.iterdir()) == []


@each("format", exporter_names())
def test_an_export_that_cannot_be_written_is_one_error(format, tmp_path, monkeypatch):
    also: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda fault: also.append(fault.exc_value))
    exporter = exporter_named(format)
    with pytest.raises(OSError, match="nowhere"):
        exporter.export(Shipment([LEVERS], "x", opened), tmp_path / "nowhere" / "out")
    gc.collect()
    assert also == []


TEXTS = ("title", "creator", "caption", "topic", "level", "date", "note")
NOT_IN_XML = "a\0b\x0b\ud800\ufffe]]>"


def hostile_works() -> tuple[list[Work], dict[str, bytes]]:
    """Return a work for each hostile name, which stands wherever a text can, and the files."""
    works, files = [], {}
    for number, name in enumerate(HOSTILE):
        digest = sha256(b"%d" % number).hexdigest()
        files[digest] = b"%d" % number
        address = f"http://h.test/{name}"
        made = (
            WorkFile(f"http://h.test/x.mp4?{name}", "video", "video/mp4", 3, 6.5, digest, "held"),
            WorkFile(address, "video"),
        )
        texts = dict.fromkeys(TEXTS, name)
        lists = {"languages": (name,), "tags": (name,), "subtitles": (Subtitles(address, name),)}
        pages = (Appearance(address, name, name, 1_700_000_000.0),)
        whole: dict[str, Any] = {"id": f"{number:016x}", "files": made, "pages": pages}
        works.append(replace(LEVERS, **whole, **texts, **lists))
    return works, files


@each("format", exporter_names())
def test_no_name_keeps_a_work_from_its_export(format, tmp_path, monkeypatch):
    monkeypatch.setattr("mmcrawl.media.parts.has_pictures", lambda: False)  # ffmpeg, for each file
    works, files = hostile_works()
    exporter = exporter_named(format)
    target = tmp_path / f"out{exporter.suffix}"
    shipment = Shipment(works, NOT_IN_XML, lambda digest: io.BytesIO(files[digest]), 1.7e9)
    assert exporter.export(shipment, target) == []
    assert list(tmp_path.iterdir()) == [target]
    if format == "zim":
        archive = Archive(target)
        assert all(archive.has_entry_by_path(f"works/{work.id}.html") for work in works)
    if target.is_dir():
        names = [path for path in target.rglob("*") if path.is_file() and path.suffix == ".mp4"]
        assert len(names) == len(works)
        for path in names:
            assert not set(path.name) & set('\u202e\u2066\u200e\u200f<>:"\\\\|?*\0\n'), path
            assert len(path.name.encode()) < 255
            assert path.name.partition(".")[0].strip().lower() not in ("con", "nul", "aux", "com1")


@each("format", exporter_names())
def test_a_work_that_cannot_be_written_is_named_and_the_rest_is_written(format, tmp_path):
    broken = replace(LEVERS, id="b" * 16, title="Broken", files=(object(),))  # type: ignore[arg-type]
    last = replace(LEVERS, id="c" * 16, title="Pulleys")
    exporter = exporter_named(format)
    target, whole = tmp_path / f"out{exporter.suffix}", tmp_path / f"whole{exporter.suffix}"
    both = Shipment([LEVERS, last], "c", lambda _: io.BytesIO(FILM), 1.7e9)
    exporter.export(both, whole)
    (problem,) = exporter.export(replace(both, works=[LEVERS, broken, last]), target)
    assert problem.startswith("Broken: it is left out (")
    assert sizes(target) == sizes(whole)


def sizes(made: Path) -> list[tuple[str, int]]:
    files = [made] if made.is_file() else sorted(made.rglob("*"))
    return [(path.name.replace("whole", "out"), path.stat().st_size) for path in files]


def test_ricecooker_reads_the_channel(tmp_path: Path) -> None:
    python = os.environ.get("MMCRAWL_TEST_RICECOOKER")
    if not python:
        pytest.skip("MMCRAWL_TEST_RICECOOKER names no Python with ricecooker")
    folder = export("kolibri", tmp_path, LEVERS)
    script = (
        "import json, sys\n"
        "from ricecooker.utils.metadata_provider import CsvMetadataProvider\n"
        "from ricecooker.classes.licenses import get_license\n"
        "read = CsvMetadataProvider(sys.argv[1])\n"
        "for path, row in read.contentcache.items():\n"
        "    if row['license']: get_license(**row['license'])\n"
        "rows = [[*path, row['title']] for path, row in read.contentcache.items()]\n"
        "print(json.dumps([read.get_channel_info()['title'], rows]))\n"
    )
    run = subprocess.run(
        [python, "-c", script, str(folder / "channel")], capture_output=True, text=True, check=True
    )
    title, rows = json.loads(run.stdout.splitlines()[-1])
    assert title == "Physics films"
    assert [row[-1] for row in rows] == ["video", LEVERS.title]
