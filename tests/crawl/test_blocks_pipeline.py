"""A crawl cuts its pages into blocks, and takes links of bars after others that are as good."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from mmcrawl.archive import open_archive
from mmcrawl.archive.model import digest_of
from mmcrawl.blocks import partition
from mmcrawl.crawling.cutting import CutPage, Cutter, UncutPage, cut_page
from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.reports import FetchedPage, Reporter
from mmcrawl.engine.crawls import check_settings
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier import Limits, LinkScores, NewLink, SqliteFrontier, open_store
from mmcrawl.page import parse_page
from mmcrawl.scoring import LinkSimilarity, TopicTest, later_blocks, make_scorer
from mmcrawl.stores.child_process import ChildProcess
from mmcrawl.topic import topic_from_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.crawl.conftest import Tools

URL = "http://h.test/"
BAR = "<nav><ul><li><a href=/home>Home</a><li><a href=/news>News</a></ul></nav>"
TEXT = f"<p>{'A lever is a beam on a pivot. ' * 9}<a href=/oar>Oars</a>, <a href=/crane>cranes</a>"
PAGE = f"<title>Levers</title><body>{BAR}<main><h1>Levers</h1>{TEXT}</main>"
ON = {"MMCRAWL_LINK_BLOCKS": True, "MMCRAWL_ARCHIVE": "none", "CONCURRENT_REQUESTS": 1}


def stored_blocks(store: Path) -> dict[str, str]:
    with closing(sqlite3.connect(store)) as db:
        return dict(db.execute("SELECT path, block FROM link"))


# -- in a crawl -----------------------------------------------------------------------------------


def asked(tools: Tools, pages: dict[str, str], **settings: Any) -> tuple[list[str], Path]:
    server = tools.serve()
    server.pages |= pages
    [outcome] = tools.crawl({"seeds": server.url(), "settings": ON | settings})
    return server.asked(), outcome.store


def test_links_of_the_text_are_fetched_before_those_of_the_bar(tools: Tools) -> None:
    paths, store = asked(tools, {"/": PAGE})
    assert paths == ["/", "/oar", "/crane", "/home", "/news"]
    assert stored_blocks(store) == {
        "/": "",
        "/oar": "topic",
        "/crane": "topic",
        "/home": "navigation",
        "/news": "navigation",
    }


def test_links_come_as_they_stand_where_blocks_do_not_matter(tools: Tools) -> None:
    paths, store = asked(tools, {"/": PAGE}, MMCRAWL_LINK_BLOCKS=False)
    assert paths == ["/", "/home", "/news", "/oar", "/crane"]
    assert stored_blocks(store)["/home"] == "navigation"


def test_a_factor_puts_links_behind_better_ones_too(tools: Tools) -> None:
    words = PAGE.replace(">Home<", ">optics<").replace(">Oars<", ">boats<")
    pages = {"/": words, "/news": PAGE}

    def order(factors: dict[str, float]) -> list[str]:
        server = tools.serve()
        server.pages |= pages
        settings = ON | {"MMCRAWL_LINK_BLOCK_FACTORS": factors}
        tools.crawl({"seeds": server.url(), "algo": "shark-improved", "settings": settings})
        return server.asked()[:3]

    assert order({}) == ["/", "/home", "/oar"]
    assert order({"navigation": 0}) == ["/", "/oar", "/crane"]


# -- every crawl ----------------------------------------------------------------------------------

SEEN = """
from mmcrawl.spiders.focused import FocusedSpider

class After:
    def process_item(self, item):
        kinds = {link.url.rpartition("/")[2]: link.block for link in item.page.links}
        blocks = None
        if item.blocks is not None:
            blocks = [[b.start, b.end, b.kind, b.topic, b.level, b.digest] for b in item.blocks]
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


@pytest.mark.parametrize("method", ["bwap", "quark:theta=3"])
def test_pipelines_see_the_blocks_of_every_page_and_the_kind_of_each_link(
    tools: Tools, method: str
) -> None:
    pages = {"/": PAGE, "/oar": PAGE.replace("Levers", "Oars")}
    seen = seen_by_the_next_pipeline(tools, pages, MMCRAWL_BLOCKS=method)
    for address, blocks, kinds in seen[:2]:
        body = pages[f"/{address}"].encode()
        told = partition(body, method=method, url=f"http://h.test/{address}")
        assert blocks == [
            [b.start, b.end, b.kind, " ".join(b.topic.split()), b.level, digest_of(b.content)]
            for b in told
        ]
        assert kinds["home"] == "navigation"
        assert kinds["crane"] == "topic"


def test_no_page_is_cut_where_that_is_off(tools: Tools) -> None:
    for _, blocks, kinds in seen_by_the_next_pipeline(tools, {"/": PAGE}, MMCRAWL_BLOCKS="off"):
        assert blocks is None
        assert set(kinds.values()) <= {""}


@pytest.mark.parametrize("method", ["quark", "off"])
def test_the_archive_keeps_the_blocks_that_the_crawl_cut_or_none(
    tools: Tools, tmp_path: Path, method: str
) -> None:
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
        cut = cut_page(UncutPage(version.url, version.encoding, PAGE.encode()), method)
        assert (version.method, tuple(kept or ())) == (method, cut.blocks)


def test_very_large_pages_go_on_uncut(tools: Tools) -> None:
    pages = {"/": PAGE + " " * (4 << 20), "/oar": PAGE}
    (_, large, _), *others = seen_by_the_next_pipeline(tools, pages)
    assert large is None
    assert all(blocks for _, blocks, _ in others)


# -- the cutter by itself -------------------------------------------------------------------------


def uncut(n: int, html: str = PAGE) -> UncutPage:
    return UncutPage(f"http://h.test/{n}", "utf-8", html.encode())


@pytest.mark.parametrize("beside", [True, False])
def test_each_page_gets_its_own_blocks(beside: bool) -> None:
    cutter = Cutter("bwap", beside=beside)
    pages = [uncut(n, f"{PAGE}<p>{n}</p>") for n in range(20)]
    waiting = [cutter.cut(page) for page in pages]
    cutter.close()
    assert [future.result() for future in waiting] == [cut_page(page, "bwap") for page in pages]


def test_a_page_that_a_method_fails_at_is_named_and_goes_on_uncut(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("mmcrawl.crawling.cutting.partition", failing)
    cutter = Cutter("bwap", beside=False)
    future = cutter.cut(uncut(1))
    cutter.close()
    assert future.result() == CutPage()
    assert "http://h.test/1 is not cut into blocks" in caplog.text


class Killed(ChildProcess):
    """A process that is killed when it is given page 3."""

    def send(self, question: object, bodies: Sequence[bytes] = ()) -> None:
        if "http://h.test/3" in str(question):
            self.process.kill()
            self.process.wait()
        super().send(question, bodies)


def test_when_the_process_dies_one_page_goes_on_uncut_and_the_others_are_cut(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mmcrawl.crawling.cutting.ChildProcess", Killed)
    cutter = Cutter("bwap")
    waiting = [cutter.cut(uncut(n)) for n in range(6)]
    cutter.close()
    assert [n for n, future in enumerate(waiting) if future.result().blocks is None] == [3]
    [record] = caplog.records
    assert "http://h.test/3 is not cut into blocks: the process that did so ended" in (
        record.getMessage()
    )


def test_where_no_process_can_start_the_crawl_cuts_the_pages_itself(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(_: str) -> ChildProcess:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr("mmcrawl.crawling.cutting.ChildProcess", none)
    cutter = Cutter("bwap")
    waiting = [cutter.cut(uncut(n)) for n in range(3)]
    cutter.close()
    assert all(future.result().blocks for future in waiting)
    assert caplog.text.count("does not start (Cannot allocate memory)") == 1


# -- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"navigation": 1.5}}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"navigation": "x"}}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"topic": 0.5}}, "navigation, noise-links, copyright"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": "navigation=1"}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": "[1]"}, "numbers from 0 to 1"),
        ({"MMCRAWL_BLOCKS": "sieve"}, "unknown partitioner 'sieve'"),
        ({"MMCRAWL_BLOCKS": "quark:least=1"}, "no option 'least'"),
        ({"MMCRAWL_BLOCKS": "bwap:min_size=x"}, "min_size must be a number"),
        ({"MMCRAWL_BLOCKS": "off"}, "MMCRAWL_LINK_BLOCKS needs blocks, and MMCRAWL_BLOCKS is off"),
    ],
)
def test_a_wrong_setting_is_told(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(MmcrawlError, match=says):
        check_settings(Settings({"MMCRAWL_LINK_BLOCKS": True, **settings}))


def test_a_factor_may_be_given_on_the_command_line() -> None:
    factors = '{"navigation": 0.8, "noise-links": 0}'
    check_settings(Settings({"MMCRAWL_LINK_BLOCKS": "1", "MMCRAWL_LINK_BLOCK_FACTORS": factors}))


# -- the job and the frontier ---------------------------------------------------------------------


def job(store: str = "memory:", algo: str = "breadth", **factors: float) -> CrawlJob:
    topic = topic_from_keywords("optics, lens")
    similarity = LinkSimilarity(topic)
    opened = open_store(store)
    return CrawlJob(
        opened,
        opened.job("test", {}),
        reporter=Reporter(TopicTest(topic, {"video"}), similarity),
        make_scorer=lambda source: make_scorer(algo, source, similarity),
        limits=Limits(),
        seeds=(URL,),
        later_blocks=later_blocks(**factors),
    )


def fetch(crawl: CrawlJob, html: str = PAGE) -> str:
    """Fetch the next link as pipeline and scheduler do; return its path."""
    link = crawl.next()
    assert link is not None
    kinds = cut_page(UncutPage(link.url, "utf-8", html.encode()), "bwap").link_kinds
    page = parse_page(html.encode(), link.url)
    links = tuple(replace(found, block=kinds[found.url]) for found in page.links)
    crawl.crawled(link.id, FetchedPage(replace(page, links=links)))
    return link.url.removeprefix("http://h.test")


@pytest.mark.parametrize("algo", ["breadth", "topicrank", "shark-improved", "learned", "urlrule"])
def test_a_crawl_that_was_stopped_goes_on_in_the_same_order(algo: str, tmp_path: Path) -> None:
    whole = job(algo=algo, navigation=0.5)
    with whole.store:
        order = [fetch(whole) for _ in range(5)]
    uri = f"sqlite:///{tmp_path}/crawl.db"
    taken: list[str] = []
    for _ in range(5):
        crawl = job(uri, algo, navigation=0.5)
        with crawl.store:
            taken.append(fetch(crawl))
            crawl.commit()
    assert taken == order
    assert taken[1] in {"/oar", "/crane"}


def scored(frontier: SqliteFrontier, *links: tuple[str, str, float]) -> list[int]:
    new = [NewLink(f"http://h.test/{path}", block=block) for path, block, _ in links]
    ids = [number for number, _ in frontier.add(new)]
    rescore(frontier, dict(zip(ids, (score for *_, score in links), strict=True)))
    return ids


def rescore(frontier: SqliteFrontier, scores: dict[int, float]) -> None:
    frontier.apply(LinkScores(list(scores), list(scores.values()), [0.0] * len(scores)))


def order_of(frontier: SqliteFrontier) -> list[int]:
    taken = []
    while (link := frontier.next()) is not None:
        taken.append(link.id)
    return taken


def test_a_new_score_does_not_undo_the_block() -> None:
    with open_store("memory:") as store:
        frontier = SqliteFrontier(store, store.job("crawl", {}), {"navigation": 0.5})
        bar, text = scored(frontier, ("a", "navigation", 9.0), ("b", "topic", 1.0))
        rescore(frontier, {bar: 1.5, text: 1.0})
        assert frontier.record(bar).score == 1.5
        assert frontier.record(bar).block == "navigation"
        assert order_of(frontier) == [text, bar]


def test_of_equal_scores_also_of_none_the_bar_s_come_last() -> None:
    with open_store("memory:") as store:
        frontier = SqliteFrontier(store, store.job("crawl", {}), {"navigation": 1.0})
        links = [("a", "navigation", 0.0), ("b", "", 0.0), ("c", "navigation", 0.1), ("d", "", 0.0)]
        bar, text, better, more = scored(frontier, *links)
        assert order_of(frontier) == [better, text, more, bar]


def test_a_link_that_waits_again_keeps_its_place() -> None:
    with open_store("memory:") as store:
        frontier = SqliteFrontier(store, store.job("crawl", {}), {"navigation": 0.5})
        bar, text = scored(frontier, ("a", "navigation", 1.0), ("b", "topic", 0.4))
        assert frontier.next().id == bar  # type: ignore[union-attr]
        frontier.requeue(bar, None, 0)
        rescore(frontier, {text: 0.6})
        assert order_of(frontier) == [text, bar]
