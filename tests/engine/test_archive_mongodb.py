"""Crawls that keep their pages on a server of MongoDB's protocol, which may come and go."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.frontier import canonical
from mmcrawl.replay import open_web
from tests.databases import OwnServer, database_uri, own_server
from tests.waiting import HANG
from tests.warm import python

pytestmark = pytest.mark.processes
database = database_uri

pymongo = pytest.importorskip("pymongo")

SLOW = {"MMCRAWL_WEB_LATENCY": 100, "CONCURRENT_REQUESTS": 1}  # a page each 0.1 s
PHYSICS = ["web=demo", "seeds=http://physics.demo.test/", "keywords=力学|motion"]


class Crawls:
    """Runs of `scrapy crawl` in a folder of their own, with one store and one archive."""

    def __init__(self, tools: Any, archive: str) -> None:
        self._tools = tools
        self.folder: Path = tools.folder()
        self.archive = archive
        self.store = self.folder / "crawl.db"

    def start(self, spider: str, *args: str, **settings: object) -> subprocess.Popen[str]:
        command = [python(), "-m", "scrapy", "crawl", spider, "-a", f"archive={self.archive}"]
        command += [word for arg in args for word in ("-a", arg)]
        command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env={**self._tools.environ, "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings"},
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )

    def focused(self, pages: int, **settings: object) -> subprocess.Popen[str]:
        store = f"store=sqlite:///{self.store}"
        return self.start("focused", *PHYSICS, store, f"max_pages={pages}", **settings)

    def archived(self) -> set[str]:
        with open_archive(self.archive, read_only=True) as archive:
            return {canonical(url) for url in archive.urls()}

    def crawled(self) -> set[str]:
        """The pages whose links count as crawled."""
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return {canonical(url) for (url,) in db.execute("SELECT url FROM page")}


def end_of(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a run; return what it said."""
    said = process.communicate(timeout=HANG)[1]
    assert process.returncode == code, said
    assert "Traceback" not in said
    return " ".join(said.split())


def test_a_crawl_and_its_revisits_are_archived_on_a_server(tools: Any, database: str) -> None:
    crawls = Crawls(tools, database)
    said = end_of(crawls.focused(30))
    assert "archived 30 new versions" in said
    assert crawls.archived() == crawls.crawled()
    web = open_web("demo")
    with open_archive(database, read_only=True) as archive:
        for version in archive.all_versions():
            answer = web.get(version.url)
            assert archive.rebuild(version).body == answer.body
        assert archive.check().clean
    assert "Nothing is due." in end_of(crawls.start("revisit", "web=demo"))
    said = end_of(crawls.start("revisit", "web=demo", "at=2100-01-01", "limit=7"))
    assert "due 30 visited 7 new versions 0 unchanged 7" in said
    with open_archive(database, read_only=True) as archive:
        assert archive.stats().visits == 37
        assert archive.check().clean


@pytest.fixture
def server(tmp_path: Path) -> Iterator[OwnServer]:
    with own_server(tmp_path / "server") as started:
        yield started


def wait_for_versions(server: OwnServer, count: int, process: subprocess.Popen[str]) -> None:
    with pymongo.MongoClient(server.address) as client:
        end = monotonic() + HANG
        while client["pages"]["archive_version"].count_documents({}) < count:
            assert process.poll() is None, process.stderr and process.stderr.read()
            assert monotonic() < end
            sleep(0.05)


def test_a_server_that_is_away_is_waited_for_and_one_that_stays_away_ends_the_crawl(
    tools: Any, server: OwnServer
) -> None:
    uri = f"{server.address}/pages"
    crawls = Crawls(tools, f"{uri}?serverSelectionTimeoutMS=500")

    with crawls.focused(40, **SLOW) as crawl:  # a short stop, and a halt
        wait_for_versions(server, 5, crawl)
        server.kill()
        sleep(1)
        server.start()
        wait_for_versions(server, 15, crawl)
        server.signal(signal.SIGSTOP)
        sleep(1)
        server.signal(signal.SIGCONT)
        said = end_of(crawl)
    assert f"archive {uri} cannot be reached; is the server running" in said
    assert "trying again in" in said
    assert "Stopped at max_pages" in said
    assert crawls.archived() == crawls.crawled()
    assert len(crawls.crawled()) == 40

    with crawls.focused(80, **SLOW) as crawl:  # a long stop
        wait_for_versions(server, 55, crawl)  # enough to suggest words, if it had them
        server.kill()
        said = end_of(crawl, 1)
    assert said.count("ERROR: archive") == 1
    assert (
        f"Stopped (store_error); run the same command to continue. Archive {uri} cannot be" in said
    )
    server.start()
    assert crawls.crawled() <= crawls.archived()
    assert 40 <= len(crawls.crawled()) < 80

    assert "Stopped at max_pages" in end_of(crawls.focused(80))
    assert len(crawls.crawled()) == 80
    assert crawls.crawled() <= crawls.archived()
    with open_archive(uri) as archive:
        assert archive.check().faults == ()
        assert all(len(archive.versions(url)) == 1 for url in archive.urls())
