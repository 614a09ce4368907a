"""A crawl that is killed, or asked to stop, goes on where it stood and finds the same."""

import signal
from typing import Any

from mmcrawl.archive import open_archive
from mmcrawl.frontier import canonical
from tests.desks import Desk, Run
from tests.warm import python

ENDLESS = 30  # pages of a calendar that has no end
WORDS = ("algo=urlrule", "web=demo", "seeds=http://physics.demo.test/", "topic=physics-senior")

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


class Crawl(Desk):
    """One crawl of a site of the demo web, run by the same command as often as it takes."""

    def go(self, *program: str, code: int = 0) -> Run:
        """Run to the end, by another program if one is given."""
        words = ("crawl", "focused", *WORDS, "store=crawl.db")
        by = (python(), "-c", *program) if program else ()
        run = self.run(*words, program=by, MMCRAWL_BARREN_PAGES_PER_SHAPE=ENDLESS)
        assert run.code == code, run.err
        return run

    def stop_at(self, pages: int, how: signal.Signals, code: int) -> Run:
        """Run until so many pages are crawled and the last of them are about to be committed."""
        return self.go(SIGNALLED, f"{pages}", f"{how:d}", code=code)

    def told(self, query: str) -> list[tuple[Any, ...]]:
        return self.rows("crawl.db", query)

    def pages(self) -> set[str]:
        rows = self.told(
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
        return {canonical(url) for (url,) in self.told("SELECT url FROM page")}

    def archived(self) -> set[str]:
        """The addresses that are in the archive, which is sound and has one version of each."""
        uri = f"sqlite:///{self.folder / 'crawl-archive.db'}"
        with open_archive(uri, read_only=True) as archive:
            report = archive.check()
            assert report.clean, report.faults
            assert all(len(archive.versions(url)) == 1 for url in archive.urls())
            return {canonical(url) for url in archive.urls()}

    def media(self) -> set[tuple[str, ...]]:
        return set(self.told("SELECT page, url, kind FROM media_resource"))

    @property
    def finished(self) -> bool:
        return self.told("SELECT finished_at FROM job")[0][0] is not None


def same(crawl: Crawl, other: Crawl) -> None:
    assert crawl.pages() == other.pages()
    assert crawl.media_pages("crawl.db") == other.media_pages("crawl.db")
    assert crawl.media() == other.media()
    [(ended, different, last)] = crawl.told(
        "SELECT count(*), count(DISTINCT settled), max(settled) FROM link"
    )
    assert ended == different == last
    [(relevant,)] = crawl.told("SELECT sum(relevant) FROM page")
    assert relevant == len(other.media_pages("crawl.db"))
    assert crawl.finished
    assert crawl.told("SELECT count(*) FROM link WHERE status IN ('W', 'R')") == [(0,)]


def test_a_crawl_that_is_killed_or_stopped_goes_on_and_ends_as_an_undisturbed_one(tools: Any):
    crawl, undisturbed = Crawl(tools.folder()), Crawl(tools.folder())
    undisturbed.go()

    def killed(pages: int) -> None:
        crawl.stop_at(pages, signal.SIGKILL, -signal.SIGKILL)
        assert not crawl.finished
        assert crawl.crawled() <= crawl.archived()

    killed(5)
    early = crawl.archived()
    said = crawl.stop_at(30, signal.SIGINT, 0).err
    assert "Stopped (shutdown); run the same command to continue." in said
    assert "Traceback" not in said
    assert "ended unexpectedly" not in said
    assert not (crawl.folder / "crawl-archive.db-wal").exists()  # it was closed
    assert crawl.crawled() <= crawl.archived() <= crawl.crawled() | early
    assert crawl.told("SELECT reason, finished_at FROM job") == [("shutdown", None)]
    assert crawl.told("SELECT count(*) FROM link WHERE status = 'R'") == [(0,)]
    before = crawl.told("SELECT count(*) FROM page")[0][0]
    killed(70)
    said = crawl.go().words
    assert "Finished: every link that may be followed was fetched." in said
    assert " new versions" in said
    assert "crawl-archive.db" in said
    same(crawl, undisturbed)
    assert crawl.crawled() <= crawl.archived()
    visits = crawl.told("SELECT visited_at FROM page JOIN link USING (id) ORDER BY settled")
    assert max(visits[:before]) < min(visits[before:])
    found = crawl.told("SELECT count(*) FROM page")[0][0]
    said = crawl.go().words
    assert "was finished before; nothing was fetched" in said
    assert f"pages crawled {found} " in said
    assert f"with media on topic {len(crawl.media_pages('crawl.db'))} " in said
    same(crawl, undisturbed)


DEAF = """
import logging, os, signal, sys, threading
from mmcrawl.archive.storing import Intake
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
    crawl = Crawl(tools.folder())
    said = crawl.go(DEAF).err
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
