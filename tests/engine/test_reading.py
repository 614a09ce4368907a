"""A crawl reads its pages once, with their blocks; links of bars come after others as good."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler

from mmcrawl.archive import digest_of, open_archive
from mmcrawl.blocks import PageTree, link_kinds, partition
from mmcrawl.crawl import (
    CrawlJob,
    FetchedPage,
    FocusedParams,
    PageReader,
    ReadPage,
    ReceivedPage,
    read_page,
)
from mmcrawl.page import Link, Page, parse_page
from mmcrawl.spiders import FocusedSpider, PageReading
from mmcrawl.store import ChildProcess
from tests.engine.conftest import Tools
from tests.jobs import job_of
from tests.tables import each
from tests.waiting import until

URL = "http://h.test/"
BAR = "<nav><ul><li><a href=/home>Home</a><li><a href=/news>News</a></ul></nav>"
TEXT = f"<p>{'A lever is a beam on a pivot. ' * 9}<a href=/oar>Oars</a>, <a href=/crane>cranes</a>"
PAGE = f"<title>Levers</title><body>{BAR}<main><h1>Levers</h1>{TEXT}</main>"
WITH_ADVERTISEMENT = PAGE.replace(
    "<main>",
    "<div class=ads><a href=/buy><img src=a.png width=300 height=250></a>"
    "<a href=/sale><img src=b.png width=300 height=250></a></div><main>",
)
ON = {"MMCRAWL_ARCHIVE": "none", "CONCURRENT_REQUESTS": 1}


def stored_blocks(store: Path) -> dict[str, str]:
    with closing(sqlite3.connect(store)) as db:
        return dict(db.execute("SELECT path, block FROM link"))


# -- in a crawl -----------------------------------------------------------------------------------


def test_the_order_of_links_goes_by_their_blocks(tools: Tools) -> None:
    server, again = tools.serve(), str(tools.folder() / "crawl.db")
    server.pages["/"] = WITH_ADVERTISEMENT
    crawl = {"seeds": server.url(), "settings": ON}
    cut, unsegmented, _, _ = tools.crawl(
        crawl,
        crawl | {"settings": ON | {"MMCRAWL_BLOCKS": "off"}},
        crawl | {"links": "related", "store": again},
        crawl | {"store": again},
    )
    assert server.asked == [
        *("/", "/home", "/news", "/oar", "/crane", "/buy", "/sale"),
        *("/", "/home", "/news", "/buy", "/sale", "/oar", "/crane"),
        *("/", "/oar", "/crane", "/home", "/news"),
        *("/buy", "/sale"),
    ]
    kinds = stored_blocks(cut.store)
    found = [kinds[path] for path in ("/oar", "/home", "/buy")]
    assert found == ["topic", "navigation", "advertisement"]
    assert set(stored_blocks(unsegmented.store).values()) == {""}


# -- every crawl ----------------------------------------------------------------------------------

SEEN = """
from mmcrawl.spiders.focused import FocusedSpider

class After:
    def process_item(self, item):
        kinds = {link.url.rpartition("/")[2]: link.block for link in item.page.links}
        blocks = None
        if item.blocks is not None:
            blocks = [[b.start, b.end, b.kind, b.topic, b.level, b.digest, b.text]
                      for b in item.blocks]
        seen.append([item.page.url.rpartition("/")[2], blocks, kinds])
        return item

class Spider(FocusedSpider):
    custom_settings = {"ITEM_PIPELINES": {After: 60}, "CONCURRENT_REQUESTS": 1}
"""


def seen_by_the_next_pipeline(tools: Tools, pages: dict[str, str], **settings: Any) -> list[Any]:
    server = tools.serve()
    server.pages |= pages
    crawl = {"seeds": server.url(), "settings": {"MMCRAWL_ARCHIVE": "none"} | settings}
    [outcome] = tools.crawl(crawl, spider=SEEN)
    assert "Traceback" not in outcome.log
    assert outcome.finished
    seen: list[Any] = outcome.seen
    return seen


@each("method", ["bwap", "quark:theta=3"])
def test_pipelines_see_the_blocks_of_every_page_and_the_kind_of_each_link(tools, method):
    pages = {"/": PAGE, "/oar": PAGE.replace("Levers", "Oars")}
    seen = seen_by_the_next_pipeline(tools, pages, MMCRAWL_BLOCKS=method)
    for address, blocks, kinds in seen[:2]:
        body = pages[f"/{address}"].encode()
        told = partition(body, method=method, url=f"http://h.test/{address}")
        assert blocks == [
            [
                *(b.start, b.end, b.kind, " ".join(b.topic.split())),
                b.level,
                digest_of(b.content),
                b.text,
            ]
            for b in told
        ]
        assert kinds["home"] == "navigation"
        assert kinds["crane"] == "topic"


@each("method", ["quark", "off"])
def test_the_archive_keeps_the_blocks_that_the_crawl_cut_or_none(tools, tmp_path, method):
    server = tools.serve()
    server.pages |= {"/": PAGE}
    uri = f"sqlite:///{tmp_path / 'kept.db'}"
    settings = {"MMCRAWL_ARCHIVE": uri, "MMCRAWL_BLOCKS": method}
    [outcome] = tools.crawl({"seeds": server.url(), "settings": settings})
    assert outcome.finished
    with open_archive(uri, read_only=True) as archive:
        version = archive.get(server.url())
        kept = archive.page(version).kept
    if method == "off":
        assert kept is None
    else:
        read = read_page(ReceivedPage(version.url, PAGE.encode()), method)
        assert (version.method, tuple(kept or ())) == (method, read.blocks)


def test_very_large_pages_go_on_unsegmented(tools: Tools) -> None:
    pages = {"/": PAGE + " " * (4 << 20), "/oar": PAGE}
    (_, large, _), *others = seen_by_the_next_pipeline(tools, pages)
    assert large is None
    assert all(blocks for _, blocks, _ in others)


# -- the reader by itself -------------------------------------------------------------------------


def received(n: int, html: str = PAGE) -> ReceivedPage:
    return ReceivedPage(f"http://h.test/{n}", html.encode(), "text/html; charset=utf-8")


@each("beside", [True, False])
@each("method", ["bwap", None])
def test_each_page_gets_its_own_answer(beside: bool, method: str | None) -> None:
    reader = PageReader(method, beside=beside)
    pages = [received(n, f"{PAGE}<video src={n}.mp4></video>杠杆{n}") for n in range(20)]
    waiting = [reader.read(page) for page in pages]
    reader.close()
    assert [future.result() for future in waiting] == [read_page(page, method) for page in pages]


@each(
    "body",
    [
        PAGE.encode(),
        PAGE.encode("utf-16"),
        PAGE.encode("utf-32"),
        PAGE.replace("<main>", "<main>\0").encode(),
    ],
)
def test_a_page_is_what_the_parser_and_the_partitioner_say(body: bytes) -> None:
    read = read_page(ReceivedPage(URL, body, "text/html", "9; url=/moved"), "bwap")
    page = parse_page(body, URL, "text/html", "9; url=/moved")
    cut = partition(body, encoding=page.encoding, url=URL)
    kinds = link_kinds(cut, URL)
    links = [link.in_block(kinds.get(link.url, "")) for link in page.links]
    assert read.page == replace(page, links=tuple(links))
    assert [(b.start, b.end, b.kind) for b in read.blocks or ()] == [
        (b.start, b.end, b.kind) for b in cut
    ]


def test_the_tree_of_a_page_is_built_once(monkeypatch):
    built, init = [], PageTree.__init__

    def counted(tree: PageTree, body: bytes, encoding: str) -> None:
        built.append(body)
        init(tree, body, encoding)

    monkeypatch.setattr(PageTree, "__init__", counted)
    read_page(received(1), "bwap")
    assert built == [PAGE.encode()]


def read_with_a_failing(function: str, monkeypatch: pytest.MonkeyPatch) -> ReadPage:
    def failing(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(function, failing)
    reader = PageReader("bwap", beside=False)
    future = reader.read(received(1))
    reader.close()
    return future.result()


def test_a_page_that_a_method_fails_at_is_named_and_goes_on_unsegmented(caplog, monkeypatch):
    read = read_with_a_failing("mmcrawl.archive.format.cutting.stored_blocks", monkeypatch)
    assert read == read_page(received(1))
    assert "http://h.test/1 is not cut into blocks" in caplog.text


def test_what_a_reading_fails_at_is_told_to_whoever_waits(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        read_with_a_failing("mmcrawl.crawl.reading.page_of", monkeypatch)


class Killed(ChildProcess):
    """A process that is killed when it is given page 3."""

    def send(self, question: object, bodies: Sequence[bytes] = ()) -> None:
        if "http://h.test/3" in str(question):
            self.process.kill()
            self.process.stdout.read()  # it is gone when its output ends
            self.process.wait()
        super().send(question, bodies)


def test_when_the_process_dies_one_page_goes_on_unsegmented_and_the_others_are_cut(
    caplog, monkeypatch
):
    monkeypatch.setattr("mmcrawl.crawl.reading.ChildProcess", Killed)
    reader = PageReader("bwap")
    waiting = [reader.read(received(n)) for n in range(6)]
    reader.close()
    assert [n for n, future in enumerate(waiting) if future.result().blocks is None] == [3]
    assert waiting[3].result() == read_page(received(3))
    [record] = caplog.records
    assert "http://h.test/3 is not cut into blocks: the process that did so ended" in (
        record.getMessage()
    )


def test_a_process_that_is_killed_while_it_loads_loses_no_page(monkeypatch):
    loaded = []

    class KilledAtOnce(ChildProcess):
        def receive(self) -> Any:
            if not loaded:
                self.process.kill()
            loaded.append(self)
            return super().receive()

    monkeypatch.setattr("mmcrawl.crawl.reading.ChildProcess", KilledAtOnce)
    reader = PageReader("bwap")
    waiting = [reader.read(received(n)) for n in range(6)]
    reader.close()
    assert [future.result().digest for future in waiting] == [
        read_page(received(n)).digest for n in range(6)
    ]


def test_the_process_loads_before_the_first_page_and_is_the_one_that_reads_it(monkeypatch):
    begun: list[str] = []

    class Counted(ChildProcess):
        def __init__(self, module: str) -> None:
            begun.append(module)
            super().__init__(module)

    monkeypatch.setattr("mmcrawl.crawl.reading.ChildProcess", Counted)
    reader = PageReader("bwap")
    reader.start()
    until(lambda: bool(begun))
    waiting = reader.read(received(1))
    reader.start()  # it is there already
    reader.close()
    assert waiting.result().blocks
    assert len(begun) == 1


@each("to_do", [True, False])
def test_the_process_loads_only_where_there_is_something_to_read(to_do, monkeypatch):
    begun: list[bool] = []
    monkeypatch.setattr("mmcrawl.spiders.focused.has_something_to_do", lambda _: to_do)
    monkeypatch.setattr(PageReading, "start", lambda _: begun.append(True))
    crawler = Crawler(FocusedSpider)
    spider = FocusedSpider.from_crawler(crawler, store="memory:", archive="none")
    spider._load_reader()
    assert begun == [True] * to_do


def test_where_no_process_can_start_the_crawl_reads_the_pages_itself(caplog, monkeypatch):
    def none(_: str) -> ChildProcess:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("mmcrawl.crawl.reading.ChildProcess", none)
    reader = PageReader("bwap")
    reader.start()
    waiting = [reader.read(received(n)) for n in range(3)]
    reader.close()
    assert all(future.result().blocks for future in waiting)
    assert caplog.text.count("does not start (Cannot allocate memory)") == 1


# -- the job and the frontier ---------------------------------------------------------------------


def fetch(crawl: CrawlJob, html: str = PAGE) -> str:
    """Fetch the next link as pipeline and scheduler do; return its path."""
    link = crawl.next()
    read = read_page(ReceivedPage(link.url, html.encode()), "bwap")
    crawl.crawled(link.id, FetchedPage(read.page))
    return link.url.removeprefix("http://h.test")


@each("algo", ["breadth", "topicrank", "shark-improved", "learned", "urlrule"])
def test_a_crawl_that_was_stopped_goes_on_in_the_same_order(algo: str, tmp_path: Path) -> None:
    whole = job_of(algo=algo, links="related")
    with whole.store:
        order = [fetch(whole) for _ in range(5)]
    uri = f"sqlite:///{tmp_path}/crawl.db"
    taken: list[str] = []
    for _ in range(5):
        crawl = job_of(uri, algo, links="related")
        with crawl.store:
            taken.append(fetch(crawl))
            crawl.commit()
    assert taken == order
    assert taken[1] in {"/oar", "/crane"}


def test_a_page_frees_the_links_it_has_in_its_text() -> None:
    crawl = job_of(links="related")
    with crawl.store:
        start = crawl.next()
        offer = Link(f"{URL}offer", "offer", "a", block="advertisement")
        news = Link(f"{URL}news", "news", "a", block="topic")
        page = Page(URL, links=(offer, news))
        crawl.crawled(start.id, FetchedPage(page))
        taken = crawl.next()
        assert taken.url == news.url
        assert crawl.ready == 0
        page = Page(news.url, links=(replace(offer, block="topic"),))
        crawl.crawled(taken.id, FetchedPage(page))
        taken = crawl.next()
        assert taken.url == offer.url


def test_which_links_are_followed_does_not_tell_crawls_apart() -> None:
    related, all_links = (
        FocusedParams(seeds=URL, keywords="optics", links=links) for links in ("related", "all")
    )
    assert related.job_name == all_links.job_name
    assert related.identity() == all_links.identity()
