"""A crawl that is killed, or asked to stop, goes on where it stood and finds the same."""

import signal
import sqlite3
from contextlib import closing
from subprocess import DEVNULL
from typing import Any

from mmcrawl.archive import open_archive
from mmcrawl.frontier import canonical
from tests.programs import started
from tests.waiting import HANG
from tests.warm import python

ENDLESS = 30  # pages of a calendar that has no end
WORDS = (
    "crawl focused -a algo=urlrule -a web=demo -a seeds=http://physics.demo.test/"
    f" -a topic=physics-senior -s MMCRAWL_BARREN_PAGES_PER_SHAPE={ENDLESS}"
).split()

SIGNALLED = """
import os, sys
from mmcrawl.crawl import CrawlJob
from scrapy.cmdline import execute

pages, signal = int(sys.argv.pop(1)), int(sys.argv.pop(1))
commit = CrawlJob.commit

def signalled(job):
    global pages
    if job.pages >= pages:
        pages = float("inf")
        os.kill(os.getpid(), signal)
    commit(job)

CrawlJob.commit = signalled
execute(["scrapy", *sys.argv[1:]])
"""


class Crawl:
    """One crawl of a site of the demo web, run by the same command as often as it takes."""

    def __init__(self, tools: Any) -> None:
        self.folder = tools.folder()
        self.store = self.folder / "crawl.db"

    def run(self, *program: str, code: int = 0) -> str:
        """Run to the end, by another program if one is given; return what a person sees."""
        words = [*WORDS, "-a", f"store=sqlite:///{self.store}"]
        program = (python(), "-c", *program) if program else ()
        with started(*words, folder=self.folder, program=program, stdout=DEVNULL) as process:
            said: str = process.communicate(timeout=HANG)[1]
        assert process.returncode == code, said
        return said

    def stop_at(self, pages: int, how: signal.Signals, code: int) -> str:
        """Run until so many pages are crawled and the last of them are about to be committed."""
        return self.run(SIGNALLED, f"{pages}", f"{how:d}", code=code)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return db.execute(query, values).fetchall()

    def pages(self) -> set[str]:
        rows = self.rows(
            "SELECT origin || path FROM page JOIN link USING (id) JOIN host ON host = host.id"
        )
        pages = {canonical(url) for (url,) in rows}
        # How far into the endless calendar a crawl goes depends on how many of its pages are under
        # way when the bound is reached.
        endless = {url for url in pages if "/calendar?" in url}
        assert ENDLESS <= len(endless) <= ENDLESS + 8
        return pages - endless

    def crawled(self) -> set[str]:
        """The addresses of the pages whose links count as crawled."""
        return {canonical(url) for (url,) in self.rows("SELECT url FROM page")}

    def archived(self) -> set[str]:
        """The addresses that are in the archive, which is sound and has one version of each."""
        uri = f"sqlite:///{self.store.with_name('crawl-archive.db')}"
        with open_archive(uri, read_only=True) as archive:
            report = archive.check()
            assert report.clean, report.faults
            assert all(len(archive.versions(url)) == 1 for url in archive.urls())
            return {canonical(url) for url in archive.urls()}

    def media_pages(self) -> set[str]:
        return {url for (url,) in self.rows("SELECT url FROM media_page")}

    def media(self) -> set[tuple[str, ...]]:
        return set(self.rows("SELECT page, url, kind FROM media_resource"))

    @property
    def finished(self) -> bool:
        return self.rows("SELECT finished_at FROM job")[0][0] is not None


def same(crawl: Crawl, other: Crawl) -> None:
    assert crawl.pages() == other.pages()
    assert crawl.media_pages() == other.media_pages()
    assert crawl.media() == other.media()
    [(ended, different, last)] = crawl.rows(
        "SELECT count(*), count(DISTINCT settled), max(settled) FROM link"
    )
    assert ended == different == last
    [(relevant,)] = crawl.rows("SELECT sum(relevant) FROM page")
    assert relevant == len(other.media_pages())
    assert crawl.finished
    assert crawl.rows("SELECT count(*) FROM link WHERE status IN ('W', 'R')") == [(0,)]


def test_a_crawl_that_is_killed_or_stopped_goes_on_and_ends_as_an_undisturbed_one(tools: Any):
    crawl, undisturbed = Crawl(tools), Crawl(tools)
    undisturbed.run()

    def killed(pages: int) -> None:
        crawl.stop_at(pages, signal.SIGKILL, -signal.SIGKILL)
        assert not crawl.finished
        assert crawl.crawled() <= crawl.archived()

    killed(5)
    early = crawl.archived()
    said = crawl.stop_at(30, signal.SIGINT, 0)
    assert "Stopped (shutdown); run the same command to continue." in said
    assert "Traceback" not in said
    assert "ended unexpectedly" not in said
    assert not crawl.store.with_name("crawl-archive.db-wal").exists()  # it was closed
    assert crawl.crawled() <= crawl.archived() <= crawl.crawled() | early
    assert crawl.rows("SELECT reason, finished_at FROM job") == [("shutdown", None)]
    assert crawl.rows("SELECT count(*) FROM link WHERE status = 'R'") == [(0,)]
    before = crawl.rows("SELECT count(*) FROM page")[0][0]
    killed(70)
    said = " ".join(crawl.run().split())
    assert "Finished: every link that may be followed was fetched." in said
    assert " new versions" in said
    assert str(crawl.store.with_name("crawl-archive.db")) in said.replace(" ", "")
    same(crawl, undisturbed)
    assert crawl.crawled() <= crawl.archived()
    visits = crawl.rows("SELECT visited_at FROM page JOIN link USING (id) ORDER BY settled")
    assert max(visits[:before]) < min(visits[before:])
    found = crawl.rows("SELECT count(*) FROM page")[0][0]
    said = " ".join(crawl.run().split())
    assert "was finished before; nothing was fetched" in said
    assert f"pages crawled {found} " in said
    assert f"with media on topic {len(crawl.media_pages())} " in said
    same(crawl, undisturbed)


DEAF = """
import logging, os, signal, sys, threading
from mmcrawl.archive.storing.intake import Intake
from mmcrawl.pipelines import archive
from scrapy.cmdline import execute

said = threading.Event()

class Heard(logging.Handler):
    def emit(self, record):
        said.set()

def close(intake):
    said.wait(60)
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait()

Intake.close = close
archive.logger.addHandler(Heard())
archive._TOLD_AFTER = 0.1
execute(["scrapy", *sys.argv[1:], "-a", "max_pages=10"])
"""


def test_a_crawl_that_compresses_its_archive_says_so_and_a_signal_ends_it(tools: Any) -> None:
    crawl = Crawl(tools)
    said = crawl.run(DEAF)
    assert "Closing the archive: compressing what is new; Ctrl-C ends that" in said
    archived = crawl.archived()
    assert len(archived) == 10
    assert crawl.crawled() <= archived


CLOSING = """
import os

from mmcrawl.engine.downloads import DownloadHandler
from mmcrawl.spiders.focused import FocusedSpider
from twisted.internet.defer import Deferred, gatherResults
from twisted.web.client import HTTPConnectionPool


def as_the_time_runs_out(pool):
    from twisted.internet import reactor

    closed = Deferred()
    if os.environ["ENDS"] == "never":
        return gatherResults([closed])
    reactor.callLater(0, closed.callback, None)
    return closed


class Spider(FocusedSpider):
    def closed(self, reason):
        for scheme in ("http", "https"):
            handler = self.crawler.engine.downloader.handlers._get_handler(scheme)
            handler._disconnect_timeout = 0
        HTTPConnectionPool.closeCachedConnections = as_the_time_runs_out
"""


def test_connections_whose_time_to_close_runs_out_raise_nothing(tools: Any) -> None:
    server = tools.serve()
    server.pages["/"] = tools.links("/1")
    crawl = {"seeds": server.url("/"), "archive": "none"}
    crawls = [crawl | {"environ": {"ENDS": ends}} for ends in ("just in time", "never")]
    for outcome in tools.crawl(*crawls, spider=CLOSING):
        assert outcome.stats["finish_reason"] == "finished"
        assert "Traceback" not in outcome.log
        assert "Unhandled error" not in outcome.log
