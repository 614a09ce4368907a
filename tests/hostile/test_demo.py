import sqlite3
from contextlib import closing

from tests.desks import Desk

PAGES = "SELECT count(*) FROM page"


def test_the_demo_says_that_it_is_one_and_what_to_do_next(desk: Desk) -> None:
    run = desk.crawl("max_pages=5")
    assert run.code == 0
    first, *_, last = run.err.splitlines()
    assert first.startswith("This is the demo: no seeds were given")
    assert last.startswith("That was the demo; a site of your own: ")
    assert last.endswith("scrapy crawl focused -a topic=physics-senior -a seeds=http://YOUR-SITE/")
    assert "to continue" not in run.words  # each run starts over
    quiet = desk.crawl("store=mine.db", "max_pages=4", MMCRAWL_DISPLAY="0")
    assert (quiet.code, "the demo" in quiet.words) == (0, False)
    assert desk.crawl("store=mine.db", "max_pages=7").code == 0  # goes on there
    assert desk.rows("mine.db", PAGES) == [(7,)]


def test_the_demo_is_made_afresh_and_no_other_file_is_touched(desk: Desk) -> None:
    others = {"crawl.db": b"mine", "crawl-archive.db": b"mine too", "demo.db.txt": b"notes"}
    for name, content in others.items():
        (desk.folder / name).write_bytes(content)
    assert desk.crawl("max_pages=9").code == 0
    assert desk.rows("demo.db", PAGES) == [(9,)]
    assert desk.rows("demo-archive.db", "SELECT count(*) FROM version") == [(9,)]
    with closing(sqlite3.connect(desk.folder / "demo-archive.db-search")) as db, db:
        db.execute(f"PRAGMA application_id = {0x6D6D7378}")
        db.execute("CREATE TABLE old (page TEXT)")
    with closing(sqlite3.connect(desk.folder / "demo.db")) as db, db:
        db.execute("PRAGMA user_version = 1")  # as an older mmcrawl left it
    assert desk.crawl("topic=chemistry-senior", "max_pages=4").code == 0
    assert desk.rows("demo.db", PAGES) == [(4,)]
    assert desk.rows("demo-archive.db", "SELECT count(*) FROM version") == [(4,)]
    assert not (desk.folder / "demo-archive.db-search").exists()
    assert {name: (desk.folder / name).read_bytes() for name in others} == others


def test_a_file_of_another_program_is_not_overwritten(desk: Desk) -> None:
    path = desk.folder / "demo-archive.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE recipes (cake TEXT)")
    before = path.read_bytes()
    run = desk.crawl("max_pages=5")
    assert run.code == 1
    [line] = run.errors
    assert "name another" in line
    assert path.read_bytes() == before
    assert "That was the demo" not in run.words
