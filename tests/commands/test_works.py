"""`scrapy works`: from a crawl to a table that a library opens."""

import csv
import json
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path
from time import time

import pytest
from mutagen.wave import WAVE
from warcio.archiveiterator import ArchiveIterator

from mmcrawl.archive import Capture, open_archive
from mmcrawl.media import MediaFile, MediaIndex, State, media_beside, open_collection
from mmcrawl.works import Collections, open_catalogue
from tests.commands.running import ran
from tests.programs import started, typed

FOOT = """<footer>除另有声明外，本站内容采用
    <a rel="license" href="https://creativecommons.org/licenses/by-nc/4.0/">CC BY-NC 4.0</a>
    许可</footer>"""
PAGES = {
    "index.html": '<a href="one.html">one</a> <a href="two.html">two</a>',
    "one.html": '<title>杠杆的原理</title><h1>杠杆的原理</h1><video><source src="l.mp4">'
    f'<source src="l.webm"></video>{FOOT}',
    "two.html": f'<title>Sounds</title><p><a href="17.wav">下载</a> <a href="l.mp4">film</a>{FOOT}',
}


def scrapy(folder: Path, *words: str, code: int = 0, told: str = "") -> str:
    """Run a command of the project; return what it wrote, on standard error if it failed."""
    if words[0] == "crawl":
        done = typed(*words, folder=folder)
    else:
        done = ran(*words, folder=folder, answer=told)
    assert done.returncode == code, done.stdout + done.stderr
    return str(done.stderr if code else done.stdout)


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl of three pages, whose works are described."""
    folder = tmp_path_factory.mktemp("crawl")
    site = folder / "web" / "school.test"
    site.mkdir(parents=True)
    for name, html in PAGES.items():
        (site / name).write_text(f'<html lang="zh"><meta charset="utf-8">{html}', encoding="utf-8")
    for name in ("l.mp4", "l.webm", "17.wav"):
        (site / name).write_bytes(b"")
    words = ("-a", "store=crawl.db", "-a", "web=web", "-a", "keywords=*")
    seed = "seeds=http://school.test/index.html"
    scrapy(folder, "crawl", "focused", *words, "-a", seed, "-s", "DOWNLOAD_DELAY=0")
    scrapy(folder, "works", "describe", "crawl.db")
    return folder


def listed(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in scrapy(folder, "works", "list", "--json").splitlines()]


def test_works_are_described_from_the_store_and_the_archive(crawl: Path) -> None:
    works = {work["title"]: work for work in listed(crawl)}
    levers = works["杠杆的原理"]
    assert len(levers["files"]) == 2  # type: ignore[arg-type]
    assert len(levers["pages"]) == 2  # type: ignore[arg-type]
    assert levers["languages"] == ["zh"]
    (licence,) = levers["licences"]  # type: ignore[misc]
    assert licence["code"] == "CC-BY-NC-4.0"
    assert licence["evidence"]["source"] == "rel-license"
    assert "l.webm" in scrapy(crawl, "works", "show", str(levers["id"]))


def test_a_correction_is_in_what_is_exported_and_stays(crawl: Path, tmp_path: Path) -> None:
    work = next(work for work in listed(crawl) if work["title"] == "Sounds")
    line = json.dumps({"work": work["id"], "title": "滑轮的声音", "level": "primary"})
    scrapy(crawl, "works", "correct", "-", told=line)
    scrapy(crawl, "works", "describe")
    target = tmp_path / "works.csv"
    scrapy(crawl, "works", "export", "crawl.db", "--to", "csv", "-o", str(target))
    with target.open(encoding="utf-8-sig", newline="") as stream:
        rows = {row["work"]: row for row in csv.DictReader(stream)}
    assert (rows[str(work["id"])]["title"], rows[str(work["id"])]["level"]) == (
        "滑轮的声音",
        "primary",
    )
    assert json.loads(scrapy(crawl, "works", "corrections")) == json.loads(line)


def test_held_files_are_described_by_their_tags_and_exported(crawl: Path, tmp_path: Path) -> None:
    sound = tmp_path / "sound.wav"
    sound.write_bytes(
        b"RIFF\x28\x1f\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0"
        b"data\x04\x1f\0\0" + b"\x80" * 0x1F04
    )
    tagged = WAVE(sound)
    tagged.add_tags()
    tagged.save()
    store = f"sqlite:///{crawl / 'crawl.db'}"
    size, digest = sound.stat().st_size, sha256(sound.read_bytes()).hexdigest()
    with open_collection(store, None) as held:
        held.files.keep(sound, digest)
    url = "http://school.test/17.wav"
    with MediaIndex(store, media_beside(store)) as index:
        index.add([MediaFile(url, "audio")])
        (taken,) = index.take("me", 1.0, 2.0, 1)
        settled = MediaFile(url, "audio", State.HELD, digest, size, "audio/wav", tries=taken.tries)
        assert index.settle([settled], "me")
    scrapy(crawl, "works", "describe")
    (file,) = next(w for w in listed(crawl) if len(w["files"]) == 1)["files"]  # type: ignore[arg-type, misc]
    assert (file["state"], file["mime"], file["size"]) == ("held", "audio/wav", size)
    assert file["duration"] == pytest.approx(0.9925, abs=0.01)
    target = tmp_path / "stick"
    scrapy(crawl, "works", "export", "--to", "folder", "-o", str(target))
    assert [path.stat().st_size for path in (target / "media").iterdir()] == [size]


def test_a_page_that_is_gone_is_exported_as_it_was_shown_last(crawl: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(crawl, tmp_path / "copy")
    with open_archive(f"sqlite:///{folder}/crawl-archive.db") as archive:
        for url in [*archive.urls()]:
            archive.store(Capture(url, b"<html>gone", time() + 60, 404))
    scrapy(folder, "works", "export", "crawl.db", "--to", "warc", "-o", "out.warc.gz")
    with (folder / "out.warc.gz").open("rb") as stream:
        records = [one for one in ArchiveIterator(stream) if one.rec_type == "response"]
        assert {one.http_headers.get_statuscode() for one in records} == {"200"}


def test_a_damaged_index_is_not_taken_for_a_crawl_without_media(crawl, tmp_path):
    folder = shutil.copytree(crawl, tmp_path / "copy")
    (folder / "crawl-media" / "index.db").write_bytes(b"damaged " * 20)
    before = listed(folder)
    for words in (("describe",), ("export", "--to", "bagit", "-o", "bag")):
        assert "index.db is not a collection" in scrapy(folder, "works", *words, code=1)
    assert listed(folder) == before
    assert not (folder / "bag").exists()


def test_a_damaged_record_is_one_sentence(crawl: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(crawl, tmp_path / "copy")
    db = sqlite3.connect(folder / "crawl-media" / "works.db")
    with db:
        db.execute("UPDATE work SET record = '{' WHERE place = 0")
    db.close()
    said = scrapy(folder, "works", "list", code=1)
    assert "`scrapy works describe` again" in said
    assert "Traceback" not in said
    scrapy(folder, "works", "describe", "crawl.db")
    assert len(listed(folder)) == len(listed(crawl))


def test_a_collection_is_listed_and_exported_in_its_order(crawl: Path, tmp_path: Path) -> None:
    scrapy(crawl, "works", "describe")
    store = f"sqlite:///{crawl / 'crawl.db'}"
    with open_catalogue(store, media_beside(store)) as catalogue:
        ids = [work.id for work in catalogue.works()][:2][::-1]
        Collections(catalogue).create("For Friday", ids)
    target = tmp_path / "friday.jsonl"
    words = ("--to", "jsonl", "--collection", "For Friday", "-o", str(target))
    scrapy(crawl, "works", "export", *words)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids
    words = ("--to", "jsonl", "--collection", "Monday", "-o", str(tmp_path / "x"))
    assert "no collection 'Monday'" in scrapy(crawl, "works", "export", *words, code=1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_with_what_to_do(crawl: Path) -> None:
    scrapy(crawl, "works", "describe")
    with open("/dev/full", "wb") as full:
        said = started("works", "list", "--json", folder=crawl, stdout=full).communicate()[1]
    assert "disk space; make room" in said
    assert "Traceback" not in said
