"""A crawl that is killed, or asked to stop, goes on where it stood and finds the same."""

import json
import signal
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pytest

from mmcrawl.archive import open_archive
from mmcrawl.frontier import canonical
from tests.programs import run
from tests.waiting import HANG
from tests.warm import python

OWN = {
    "algo": "urlrule",
    "web": "demo",
    "seeds": "http://physics.demo.test/",
    "topic": "physics-senior",
}
ENDLESS = 30  # pages of a calendar that has no end

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
        self._tools = tools
        self.store = tools.folder() / "crawl.db"
        own = OWN | {"store": f"sqlite:///{self.store}"}
        self.words = ["crawl", "focused", "-s", f"MMCRAWL_BARREN_PAGES_PER_SHAPE={ENDLESS}"]
        self.words += [word for item in own.items() for word in ("-a", "=".join(item))]
        self.command = [python(), "-m", "scrapy", *self.words]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command,
            cwd=self._tools.root,
            env=self._tools.environ,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self) -> str:
        """Run to the end; return what a person sees."""
        with self.start() as process:
            said = process.communicate(timeout=HANG)[1]
            assert process.returncode == 0, said
        return said

    def stop_at(self, pages: int, how: signal.Signals) -> str:
        """Run until so many pages are crawled and the last of them are about to be committed."""
        self.command = [python(), "-c", SIGNALLED, f"{pages}", f"{how:d}", *self.words]
        with self.start() as process:
            said = process.communicate(timeout=HANG)[1]
            self.returncode = process.returncode
        self.command = [python(), "-m", "scrapy", *self.words]
        return said

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
        crawl.stop_at(pages, signal.SIGKILL)
        assert crawl.returncode == -signal.SIGKILL
        assert not crawl.finished
        assert crawl.crawled() <= crawl.archived()

    killed(5)
    early = crawl.archived()
    said = crawl.stop_at(30, signal.SIGINT)
    assert crawl.returncode == 0
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
execute(["scrapy", *sys.argv[1:]])
"""


def test_a_crawl_that_compresses_its_archive_says_so_and_a_signal_ends_it(tools: Any) -> None:
    crawl = Crawl(tools)
    crawl.command = [python(), "-c", DEAF, *crawl.words, "-a", "max_pages=20"]
    with crawl.start() as process:
        said = process.communicate(timeout=HANG)[1]
    assert "Closing the archive: compressing what is new; Ctrl-C ends that" in said
    archived = crawl.archived()
    assert len(archived) == 20
    assert crawl.crawled() <= archived


DIES = """
import json, os, sys
from mmcrawl.frontier import Limits, open_store
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.reports import FetchedPage, Reporter
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.page import parse_page
from mmcrawl.replay import FolderWeb
from mmcrawl.scoring import LinkSimilarity, TopicTest
from mmcrawl.topic import topic_from_keywords
from pathlib import Path

topic = topic_from_keywords("optics")
web = FolderWeb(Path(sys.argv[1]))

def crawl(file, dies_after=None):
    store = open_store(f"sqlite:///{file}")
    setup = CrawlSetup(
        algo="urlrule", parameters={"m": 1}, topic=topic, topics_by_host={},
        kinds=frozenset({"video"}), threshold=0.5, limits=Limits(), seeds=web.start_urls(),
    )
    reporter = Reporter(TopicTest(topic, {"video"}), LinkSimilarity(topic))
    job = CrawlJob(store, store.job("test", {}), setup, reporter=reporter)
    reports, begun = 0, []
    while reports != dies_after:
        begun += [link for link in [job.next()] if link]
        if not begun:
            break
        if len(begun) < 3 and (another := job.next()):
            begun.append(another)  # up to three are under way, as in a real crawl
            continue
        link = begun.pop(0)
        response = web.get(link.url)
        if response.status == 200:
            page = parse_page(response.body, link.url)
            verdict = job.judge(page)
            if reports % 4 == 1:
                job.commit()  # between the page's media and the page
            job.crawled(link.id, FetchedPage(page, verdict=verdict))
        else:
            job.failed(link.id, f"HTTP {response.status}")
        reports += 1
        if reports % 4 == 0:
            job.commit()
    if dies_after is not None:
        os._exit(0 if reports == dies_after else 9)
    job.stop("finished", finished=True)
    found = {record.url: [r.url for r in record.resources] for record in job.findings.media_pages()}
    pages = {url: relevant for url, relevant in store.db.execute("SELECT url, relevant FROM page")}
    counts = job.frontier.counts
    paths = job.frontier.record(0)
    store.close()
    return {"pages": pages, "found": found, "counts": counts, "reports": reports,
            "paths": [paths.path_score, paths.total_path_score]}

whole = crawl("whole.db")
pieces = []
for k in range(whole["reports"]):
    child = os.fork()
    if not child:
        crawl(f"{k}.db", dies_after=k)
    assert os.waitpid(child, 0)[1] == 0, k
    pieces.append(crawl(f"{k}.db"))
print(json.dumps([whole, pieces]))
"""


def test_a_job_killed_after_any_report_comes_to_the_same_end(tools: Any) -> None:
    place = tools.folder()
    site = place / "web" / "site.test"
    media = {n: f'<a href="/m/{n}.mp4">optics</a>' for n in range(6)}
    for folder in ("films", "talks"):
        (site / folder).mkdir(parents=True)
        for n in range(6):
            neighbours = tools.links(f"{n + 1}.html", "/", f"/{folder}/none{n}.html")
            shown = '<embed src="/clouds.swf"><a href="/intro.mp4">intro</a>'
            own = media[n] if folder == "films" else ""
            text = f"<title>optics {n}</title>{shown}{own}{neighbours}"
            (site / folder / f"{n}.html").write_text(text)
    (site / "index.html").write_text(tools.links("films/0.html", "talks/0.html", "films/3.html"))
    done = run(python(), "-c", DIES, str(place / "web"), folder=place, env=tools.environ)
    whole, pieces = json.loads(done.stdout)
    assert len(pieces) == whole["reports"] == 27
    assert len(whole["found"]) == 6  # the talks have only what stands on every page
    assert sum(whole["pages"].values()) == 6
    for k, piece in enumerate(pieces):
        del piece["reports"]
        assert piece == {key: whole[key] for key in piece}, k


CLOSING = """
from mmcrawl.engine.downloads import DownloadHandler
from mmcrawl.spiders.focused import FocusedSpider
from twisted.internet.defer import Deferred, gatherResults
from twisted.web.client import HTTPConnectionPool


def as_the_time_runs_out(pool):
    from twisted.internet import reactor

    closed = Deferred()
    if not ENDS:
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


@pytest.mark.parametrize("ends", [True, False], ids=["just in time", "never"])
def test_connections_whose_time_to_close_runs_out_raise_nothing(tools: Any, ends: bool) -> None:
    server = tools.serve()
    server.pages["/"] = tools.links("/1")
    spider = CLOSING.replace("ENDS", str(ends))
    [outcome] = tools.crawl({"seeds": server.url("/"), "archive": "none"}, spider=spider)
    assert outcome.stats["finish_reason"] == "finished"
    assert "Traceback" not in outcome.log
    assert "Unhandled error" not in outcome.log
