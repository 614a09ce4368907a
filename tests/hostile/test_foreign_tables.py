"""Files of strangers whose tables are programs: they are refused, and nothing in them is run."""

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.archive.search import index
from mmcrawl.errors import StoreError
from mmcrawl.experiment import read_pages
from mmcrawl.frontier import database
from mmcrawl.media import MediaIndex
from mmcrawl.store import sqlite_files
from mmcrawl.works import open_catalogue
from tests.tables import each

KIND = sqlite_files.FileKind("archive", "mmca", 1, "")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
FILES: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "archive": ("a.db", "url", lambda path: open_archive(f"sqlite:///{path}")),
    "crawl": ("a.db", "link", database.connect),
    "search": ("a.db", "page", index.Index),
    "media": ("index.db", "file", lambda path: MediaIndex("sqlite:///crawl.db", path.parent)),
    "works": ("works.db", "work", lambda path: open_catalogue("sqlite:///crawl.db", path.parent)),
}
READERS: dict[str, Callable[[Path], Any]] = {
    "archive": lambda path: open_archive(f"sqlite:///{path}", read_only=True),
    "crawl": database.connect_read_only,
    "search": lambda path: index.Index(path, read_only=True),
    "experiment": read_pages,
}
CHANGES = (
    "ALTER TABLE {table} RENAME TO other; CREATE VIEW {table} AS " + ENDLESS,
    "CREATE VIEW more AS " + ENDLESS,
    "CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
    "CREATE TABLE more (a, b GENERATED ALWAYS AS (hex(zeroblob(a))) VIRTUAL)",
    "CREATE VIRTUAL TABLE more USING fts5(a)",
    "CREATE INDEX more ON {table} (hex(zeroblob(1)))",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'view', rootpage = 0,"
    " sql = 'CREATE VIEW {table} AS " + ENDLESS + "' WHERE name = '{table}'",
)


@each("what", FILES)
def test_a_file_with_other_tables_than_ours_is_refused_at_once(what: str, tmp_path: Path) -> None:
    name, table, opens = FILES[what]
    readers = [READERS[what]] if what in READERS else []
    readers += [READERS["experiment"]] if what == "crawl" else []
    for number, change in enumerate(CHANGES):
        path = tmp_path / str(number) / name
        path.parent.mkdir()
        for _ in range(2):  # a file that is ours is opened again
            with closing(opens(path)):
                pass
        with closing(sqlite3.connect(path)) as db:
            db.executescript(change.format(table=table))
        for opening in (opens, *readers):
            start = time.process_time()
            with pytest.raises(StoreError, match=r"tables are not those of mmcrawl|damaged"):
                opening(path)
            assert time.process_time() - start < 1, change


def test_a_store_of_another_kind_is_told_apart_whatever_its_tables_call(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    database.connect(path).close()
    for read_only in (False, True):
        with pytest.raises(StoreError, match="is not an archive of mmcrawl"):
            open_archive(f"sqlite:///{path}", read_only=read_only)


def test_a_long_statement_is_ended_by_a_signal(tmp_path: Path) -> None:
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    with closing(sqlite_files.connected(f"file:{tmp_path / 'a.db'}?mode=rwc")) as db:
        timer.start()
        with pytest.raises(KeyboardInterrupt), sqlite_files.explained(KIND, "a.db"):
            db.execute(f"SELECT max(x) FROM ({ENDLESS})").fetchone()
    timer.join()


def test_a_value_is_bounded_and_no_schema_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(open_archive(f"sqlite:///{path}")) as archive:
        archive.store(Capture("http://h.test/", b"<p>a", 1.0))
    with closing(sqlite_files.connected(path.as_uri())) as db:
        assert db.execute("PRAGMA trusted_schema").fetchone() == (0,)
        with pytest.raises(sqlite3.Error, match="too big"):
            db.execute("SELECT zeroblob(600000000)").fetchone()
