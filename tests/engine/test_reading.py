"""A crawl reads its pages once, with their blocks; links of bars come after others as good."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from mmcrawl.archive import digest_of
from mmcrawl.blocks import PageTree, link_kinds, partition
from mmcrawl.crawl import PageReader, ReadPage, ReceivedPage, read_page
from mmcrawl.page import parse_page
from mmcrawl.store import ChildProcess
from tests.engine.conftest import Tools
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
    stored = []
    for store in (cut.store, unsegmented.store):
        with closing(sqlite3.connect(store)) as db:
            stored.append(dict(db.execute("SELECT path, block FROM link")))
    found = [stored[0][path] for path in ("/oar", "/home", "/buy")]
    assert found == ["topic", "navigation", "advertisement"]
    assert set(stored[1].values()) == {""}


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


def test_pipelines_and_the_archive_get_the_blocks_that_the_crawl_cut(tools: Tools) -> None:
    server, pages = tools.serve(), {"/": PAGE, "/oar": PAGE + " " * (4 << 20)}
    server.pages |= pages
    methods = ["bwap", "quark:theta=3", "off"]
    crawls = [{"seeds": server.url(), "settings": {"MMCRAWL_BLOCKS": one}} for one in methods]
    for method, outcome in zip(methods, tools.crawl(*crawls, spider=SEEN), strict=True):
        assert "Traceback" not in outcome.log
        (_, blocks, kinds), (address, large, _) = outcome.seen[:2]
        assert (address, large) == ("oar", None)  # very large pages go on unsegmented
        with outcome.archive as archive:
            version = archive.get(server.url())
            kept = archive.page(version).kept
        if method == "off":
            assert blocks is kept is None
            continue
        cut = partition(PAGE.encode(), method=method, url=server.url())
        assert blocks == [
            [
                b.start,
                b.end,
                b.kind,
                " ".join(b.topic.split()),
                b.level,
                digest_of(b.content),
                b.text,
            ]
            for b in cut
        ]
        assert (kinds["home"], kinds["crane"]) == ("navigation", "topic")
        read = read_page(ReceivedPage(version.url, PAGE.encode()), method)
        assert (version.method, tuple(kept or ())) == (method, read.blocks)


def received(n: int, html: str = PAGE) -> ReceivedPage:
    return ReceivedPage(f"http://h.test/{n}", html.encode(), "text/html; charset=utf-8")


@each("method, beside", [("bwap", True), ("bwap", False), (None, True)])
def test_each_page_gets_its_own_answer(method: str | None, beside: bool) -> None:
    reader = PageReader(method, beside=beside)
    pages = [received(n, f"{PAGE}<video src={n}.mp4></video>杠杆{n}") for n in range(9)]
    waiting = [reader.read(page) for page in pages]
    reader.close()
    assert [future.result() for future in waiting] == [read_page(page, method) for page in pages]


@each("body", [PAGE.encode(), PAGE.encode("utf-16"), PAGE.replace("<main>", "<main>\0").encode()])
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
