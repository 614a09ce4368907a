"""Crawls that keep their pages on a server of MongoDB's protocol, which may come and go."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.frontier import canonical
from mmcrawl.replay import open_web
from tests.databases import OwnServer, database_uri, own_server
from tests.desks import Desk, end_of
from tests.waiting import HANG

pytestmark = pytest.mark.processes
database = database_uri

pymongo = pytest.importorskip("pymongo")

SLOW = {"MMCRAWL_WEB_LATENCY": 100, "CONCURRENT_REQUESTS": 1}  # a page each 0.1 s
PHYSICS = ["web=demo", "seeds=http://physics.demo.test/", "keywords=力学|motion"]


class Crawls(Desk):
    """Crawls of one store in a folder of their own, with one archive."""

    def __init__(self, folder: Path, archive: str) -> None:
        super().__init__(folder)
        self.archive = archive

    def focused(self, pages: int, **settings: object) -> subprocess.Popen[str]:
        more = ("store=crawl.db", f"archive={self.archive}", f"max_pages={pages}")
        return self.start("crawl", "focused", *PHYSICS, *more, **settings)

    def revisit(self, *words: str) -> str:
        return said_by(self.start("crawl", "revisit", f"archive={self.archive}", *words))

    def archived(self) -> set[str]:
        with open_archive(self.archive, read_only=True) as archive:
            return {canonical(url) for url in archive.urls()}

    def crawled(self) -> set[str]:
        """The pages whose links count as crawled."""
        return {canonical(url) for (url,) in self.rows("crawl.db", "SELECT url FROM page")}


def said_by(process: subprocess.Popen[str], code: int = 0) -> str:
    """Wait for a run; return what it said."""
    with process:
        run = end_of(process)
    assert run.code == code, run.err
    assert "Traceback" not in run.err
    return run.words


def test_a_crawl_and_its_revisits_are_archived_on_a_server(tools: Any, database: str) -> None:
    crawls = Crawls(tools.folder(), database)
    said = said_by(crawls.focused(15))
    assert "archived 15 new versions" in said
    assert crawls.archived() == crawls.crawled()
    web = open_web("demo")
    with open_archive(database, read_only=True) as archive:
        for version in archive.all_versions():
            answer = web.get(version.url)
            assert archive.rebuild(version).body == answer.body
        assert archive.check().clean
    assert "Nothing is due." in crawls.revisit("web=demo")
    said = crawls.revisit("web=demo", "at=2100-01-01", "limit=4")
    assert "due 15 visited 4 new versions 0 unchanged 4" in said
    with open_archive(database, read_only=True) as archive:
        assert archive.stats().visits == 19
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
    crawls = Crawls(tools.folder(), f"{uri}?serverSelectionTimeoutMS=2000")

    with crawls.focused(14, **SLOW) as crawl:  # a short stop, and a halt
        wait_for_versions(server, 3, crawl)
        server.kill()
        assert crawl.stderr is not None
        heard = next(line for line in crawl.stderr if "trying again in" in line)
        server.start()
        wait_for_versions(server, 8, crawl)
        server.signal(signal.SIGSTOP)
        sleep(1)
        server.signal(signal.SIGCONT)
        said = said_by(crawl)
    assert f"archive {uri} cannot be reached; is the server running" in heard
    assert "Stopped at max_pages" in said
    assert crawls.archived() == crawls.crawled()
    assert len(crawls.crawled()) == 14

    with crawls.focused(32, **SLOW) as crawl:  # a long stop
        wait_for_versions(server, 18, crawl)
        server.kill()
        said = said_by(crawl, 1)
    assert said.count("ERROR: archive") == 1
    assert (
        f"Stopped (store_error); run the same command to continue. Archive {uri} cannot be" in said
    )
    server.start()
    assert crawls.crawled() <= crawls.archived()
    assert 14 <= len(crawls.crawled()) < 32

    assert "Stopped at max_pages" in said_by(crawls.focused(32))
    assert len(crawls.crawled()) == 32
    assert crawls.crawled() <= crawls.archived()
    with open_archive(uri) as archive:
        assert archive.check().faults == ()
        assert all(len(archive.versions(url)) == 1 for url in archive.urls())
