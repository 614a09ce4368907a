"""The files that animations load are fetched with them, also those that these load."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from mmcrawl.media import (
    PART,
    SWF,
    FolderFiles,
    MediaFile,
    State,
    has_pictures,
    held_parts,
    parts_to_fetch,
    take_picture,
)
from mmcrawl.text import ANIMATION
from tests.commands.running import ran
from tests.media.animations import animation
from tests.media.serving import MediaDesk

PAGE = "http://site.test/lessons/lens.htm"
MENU = "http://site.test/flash/menu.swf"


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    return FolderFiles(tmp_path / "media")


def held(files: FolderFiles, tmp_path: Path, url: str, data: bytes, **fields: str) -> MediaFile:
    """Keep a file; return its record."""
    path, digest = tmp_path / "new", hashlib.sha256(data).hexdigest()
    path.write_bytes(data)
    files.keep(path, digest)
    given = {"kind": ANIMATION, "content_type": SWF, "page": PAGE} | fields
    return MediaFile(url, state=State.HELD, digest=digest, size=len(data), **given)


def test_a_part_is_looked_for_beside_the_page_and_beside_the_animation(files, index, tmp_path):
    menu = held(files, tmp_path, MENU, animation("menu", loads=["one.swf"]))
    parts = parts_to_fetch(menu, files, index)
    assert [(each.url, each.kind, each.parent, each.page) for each in parts] == [
        ("http://site.test/lessons/one.swf", PART, MENU, PAGE),
        ("http://site.test/flash/one.swf", PART, MENU, PAGE),
    ]


def test_files_of_other_sites_are_not_fetched(files, index, tmp_path):
    urls = ["http://other.test/x.swf", "mailto:x@site.test/x.swf", "//[bad/x.swf"]
    menu = held(files, tmp_path, MENU, animation("menu", loads=urls))
    assert parts_to_fetch(menu, files, index) == []


def test_a_playlist_that_an_animation_loads_is_read_and_one_of_a_page_is_not(
    files, index, tmp_path
):
    fields = {"kind": PART, "content_type": "text/xml", "parent": MENU}
    one = held(files, tmp_path, "http://site.test/list.xml", b'<a src="s.mp3"/>', **fields)
    assert [each.url for each in parts_to_fetch(one, files, index)] == [
        "http://site.test/lessons/s.mp3",
        "http://site.test/s.mp3",
    ]
    other = held(
        files, tmp_path, "http://site.test/x.xml", b'<a src="s.mp3"/>', content_type="text/xml"
    )
    assert parts_to_fetch(other, files, index) == []


def test_held_parts_end_where_files_load_each_other(files, index, tmp_path):
    def beside(name: str, loads: list[str], **fields: str) -> MediaFile:
        url = f"http://site.test/lessons/{name}.swf"
        return held(files, tmp_path, url, animation(name, loads=loads), **fields)

    menu = beside("menu", ["one.swf", "gone.swf"])
    one = beside("one", ["menu.swf", "two.swf"], kind=PART)
    two = beside("two", ["one.swf"], kind=PART)
    gone = MediaFile("http://site.test/lessons/gone.swf", PART, state=State.FAILED)
    index.add([menu, one, two, gone])
    parts = {part.name: part.url for part in held_parts(menu.url, files, index)}
    assert parts == {f"{one.url.rpartition('/')[2]}": one.url for one in (one, menu, two)}


# What took the most memory among all that a process started, in MB.
_TAKE = """
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from mmcrawl.media import take_picture
take_picture(Path(sys.argv[1]), Path(sys.argv[2]))
print(getrusage(RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def film_of(path: Path, size: str, pictures: int) -> Path:
    made = ["-f", "lavfi", "-i", f"color=c=red:s={size}:r=1", "-frames:v", str(pictures)]
    subprocess.run(
        ["ffmpeg", "-v", "error", *made, "-c:v", "mjpeg", "-q:v", "31", str(path)], check=True
    )
    return path


@pytest.mark.skipif(not has_pictures(), reason="ffmpeg is not installed")
def test_a_film_of_huge_pictures_fills_no_memory(tmp_path: Path) -> None:
    large, picture = film_of(tmp_path / "large.avi", "2400x2400", 52), tmp_path / "large.jpg"
    command = [sys.executable, "-c", _TAKE, str(large), str(picture)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(said.stdout) < 220  # MB; fifty whole pictures have 430
    assert picture.stat().st_size
    take_picture(film_of(tmp_path / "huge.avi", "6200x6200", 1), picture)
    assert not picture.stat().st_size


def test_media_of_a_stored_web_come_from_it_and_simulations_that_run_by_themselves(tmp_path):
    phet = "phet.colorado.edu/sims/html/bending-light/latest/bending-light_en.html"
    geogebra = "www.geogebra.org/material/download/format/file/id/abc123"
    pages = {
        "h.test/index.html": '<title>optics</title><h1>optics</h1><iframe src="https://www.geogebra.org'
        f'/m/abc123"></iframe><iframe src="https://{phet}"></iframe><a href="w.h5p">optics h5p</a>'
        '<iframe src="https://www.desmos.com/calculator/abcdefgh"></iframe>'
        '<a href="/lens.mp4">optics lens</a>',
        "h.test/lens.mp4": "\0\0\0\x18ftypisom" + "x" * 5_000,
        phet: "<!doctype html><html><title>Bending light</title>",
        geogebra: "PK\x03\x04 geogebra",
        "h.test/w.h5p": "PK\x03\x04 h5p",
    }
    for name, text in pages.items():
        (tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "web" / name).write_text(text)
    desk = MediaDesk(tmp_path)
    crawl = ("web=web", "keywords=optics", "seeds=http://h.test/")
    assert desk.crawl(*crawl, f"store={desk.uri}").code == 0
    run = desk.collect()
    assert run.code == 0, run.err
    records = desk.records()
    film = records["/lens.mp4"]
    assert (film.state, film.size, film.reason) == (State.HELD, 5_012, "")
    types = {path: one.content_type for path, one in records.items()}
    assert types == {
        f"/{phet.partition('/')[2]}": "text/html",
        "/m/abc123": "application/vnd.geogebra.file",
        "/w.h5p": "application/zip",
        "/lens.mp4": "video/mp4",
        "/calculator/abcdefgh": "",
    }


def test_the_records_are_listed_for_programs(tmp_path: Path) -> None:
    desk = MediaDesk(tmp_path)
    desk.found(["rtsp://h.test/a.rm", "mms://h.test/b.wmv"])
    assert desk.collect().code == 0
    listed = ran("collect", "list", "--state", "skipped", folder=tmp_path)
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    told = "{}: is a protocol that is not fetched"
    assert {row["reason"] for row in rows} == {told.format("rtsp"), told.format("mms")}
    status = ran("collect", "status", folder=tmp_path)
    assert "skipped" in status.stdout
    assert "2 addresses" in status.stdout
    assert ran("collect", "list", "--state", "held", folder=tmp_path).stdout == ""


def test_what_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    desk = MediaDesk(tmp_path)
    desk.found([])
    run = desk.collect("job=other")
    assert run.code == 1, run.err
    assert "there is no job 'other' in the store" in run.words
    assert "Traceback" not in run.err
