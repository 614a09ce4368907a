import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmcrawl.archive import open_archive
from tests.desks import Desk
from tests.hostile.conftest import Site

TOPIC = "topic=physics-senior"


def test_a_store_where_no_file_can_be_made_is_told(desk: Desk) -> None:
    run = desk.crawl(TOPIC, "seeds=http://127.0.0.1:9/", "store=sqlite:////proc/x.db")
    assert run.code == 1
    assert run.errors == [
        "store /proc/x.db cannot be opened (No such file or directory); name a file in a folder"
        " where you may write"
    ]


def test_a_crawl_that_is_over_before_it_begins_lets_go_of_its_store(desk: Desk, site: Site) -> None:
    site.page("/", "optics of a lens", media="a.mp4")
    (desk.folder / "folder").mkdir()
    (desk.folder / "notes.db").write_text("These are my notes.\n" * 99)
    crawl = (TOPIC, f"seeds={site.url()}", "archive=none")
    ends = {
        "Finished": crawl,
        "was finished before": crawl,
        "Stopped (store_error)": (*crawl[:2], "job=archived", "archive=notes.db"),
    }
    for told, arguments in ends.items():
        assert told in desk.crawl(*arguments).words
        assert [path.name for path in desk.folder.glob("crawl.db*")] == ["crawl.db"]


@pytest.fixture
def small_disk(desk: Desk) -> Iterator[Path]:
    """A file system of 400 kB in the folder `disk`."""
    disk = desk.folder / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("there is no mount command to make a small file system with")
    command = [mount, "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"a small file system cannot be mounted: {made.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_disk_stops_the_crawl_and_room_lets_it_go_on(desk: Desk, small_disk: Path) -> None:
    store = "disk/crawl.db"
    arguments = (TOPIC, "web=demo", "seeds=http://physics.demo.test/", f"store={store}")
    arguments += ("archive=none", "algo=breadth", "-O", "media.jsonl")
    full = desk.crawl(*arguments)
    assert full.code == 1
    assert full.errors == [
        f"store {store} cannot be written (database or disk is full);"
        " make room and run the same command again"
    ]
    assert "Traceback" not in full.err
    assert "run the same command to continue" in full.words
    assert desk.rows(store, "PRAGMA integrity_check") == [("ok",)]
    crawled = {url for url, (status, _) in desk.links(store).items() if status == "C"}
    found = desk.media_pages(store)
    assert crawled
    assert found <= feed_of(desk)

    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    again = desk.crawl(*arguments, f"max_pages={len(crawled) + 60}")
    assert again.code == 0
    links = desk.links(store)
    assert all(links[url][0] == "C" for url in crawled)
    assert sum(status == "C" for status, _ in links.values()) >= len(crawled) + 60
    assert len(feed_of(desk)) > len(found)
    assert feed_of(desk) == desk.media_pages(store)


def feed_of(desk: Desk) -> set[str]:
    lines = (desk.folder / "media.jsonl").read_text("utf-8").splitlines()
    return {json.loads(line)["url"] for line in lines}


def test_an_archive_that_lost_its_pages_is_missed_before_the_crawl_goes_on(desk: Desk) -> None:
    crawl = (TOPIC, "web=demo", "store=crawl.db", "job=j")
    archive = desk.folder / "crawl-archive.db"
    assert desk.crawl(*crawl, "max_pages=5", "archive=none").code == 0
    assert desk.crawl(*crawl, "max_pages=5").code == 0  # begins an archive, and adds no page
    archive.unlink()
    assert desk.crawl(*crawl, "max_pages=12").code == 0  # so nothing was lost
    kept = archive.read_bytes()
    links = desk.links("crawl.db")
    makings = (lambda: None, archive.touch, lambda: open_archive(f"sqlite:///{archive}").close())
    for make in makings:  # removed, truncated, emptied
        archive.unlink(missing_ok=True)
        make()
        run = desk.crawl(*crawl, "max_pages=20")
        assert run.code == 1
        [line] = run.errors
        assert "archive crawl-archive.db is missing or empty, but job 'j' has put 7 pages" in line
        assert desk.links("crawl.db") == links
    assert desk.crawl(*crawl, "max_pages=15", "archive=new.db").code == 0
    archive.write_bytes(kept)
    assert desk.crawl(*crawl, "max_pages=20").code == 0
    assert desk.rows("crawl.db", "SELECT count(*) FROM page") == [(20,)]
