"""A crawl takes links of bars and boxes after others that it thinks as good."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from mmcrawl.archive import Capture
from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.reports import FetchedPage, Reporter
from mmcrawl.engine.crawls import check_settings
from mmcrawl.engine.items import PageItem
from mmcrawl.errors import MmcrawlError
from mmcrawl.frontier import Limits, LinkScores, NewLink, SqliteFrontier, open_store
from mmcrawl.page import parse_page
from mmcrawl.pipelines.blocks import BlocksPipeline
from mmcrawl.scoring import LinkSimilarity, TopicTest, later_blocks, make_scorer
from mmcrawl.topic import topic_from_keywords

if TYPE_CHECKING:
    from tests.crawl.conftest import Tools

URL = "http://h.test/"
BAR = "<nav><ul><li><a href=/home>Home</a><li><a href=/news>News</a></ul></nav>"
TEXT = f"<p>{'A lever is a beam on a pivot. ' * 9}<a href=/oar>Oars</a>, <a href=/crane>cranes</a>"
PAGE = f"<title>Levers</title><body>{BAR}<main><h1>Levers</h1>{TEXT}</main>"
ON = {"MMCRAWL_LINK_BLOCKS": True, "MMCRAWL_ARCHIVE": "none", "CONCURRENT_REQUESTS": 1}


def item(html: str, url: str = URL) -> PageItem:
    body = html.encode()
    return PageItem(parse_page(body, url), 200, capture=Capture(url, body, 0.0))


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
    assert set(stored_blocks(store).values()) == {""}


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


# -- the pipeline by itself -----------------------------------------------------------------------


def test_a_page_is_cut_when_it_is_asked_for_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[str] = []
    monkeypatch.setattr(
        "mmcrawl.pipelines.blocks.partition", lambda body, **more: cut.append(more["url"])
    )
    monkeypatch.setattr(
        "mmcrawl.pipelines.blocks.link_kinds", lambda *given: {"http://h.test/a": "topic"}
    )
    page = BlocksPipeline("quark", 1).process_item(item(PAGE))
    assert not cut
    assert page.link_kinds() == {"http://h.test/a": "topic"}
    assert cut == [URL]


def test_very_large_pages_are_not_cut() -> None:
    pipeline = BlocksPipeline("quark", 1)
    assert pipeline.process_item(item(PAGE)).link_kinds is not None
    assert pipeline.process_item(item(PAGE + " " * (1 << 20))).link_kinds is None


def test_other_items_pass() -> None:
    pipeline = BlocksPipeline("quark", 1)
    assert pipeline.process_item({"a": 1}) == {"a": 1}
    bare = PageItem(parse_page(b"", URL), 200)
    assert pipeline.process_item(bare).link_kinds is None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"navigation": 1.5}}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"navigation": "x"}}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": {"topic": 0.5}}, "navigation, noise-links, copyright"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": "navigation=1"}, "numbers from 0 to 1"),
        ({"MMCRAWL_LINK_BLOCK_FACTORS": "[1]"}, "numbers from 0 to 1"),
        ({"MMCRAWL_BLOCKS_METHOD": "sieve"}, "unknown partitioner 'sieve'"),
        ({"MMCRAWL_BLOCKS_METHOD": "quark:least=1"}, "no option 'least'"),
        ({"MMCRAWL_ARCHIVE_METHOD": "bwap:min_size=x"}, "min_size must be a number"),
        ({"MMCRAWL_BLOCKS_LEVEL": "two"}, "MMCRAWL_BLOCKS_LEVEL must be a whole number"),
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
    page = BlocksPipeline("quark", 1).process_item(item(html, link.url))
    crawl.crawled(link.id, page)
    return link.url.removeprefix("http://h.test")


def test_a_page_without_new_links_is_not_cut() -> None:
    asked: list[str] = []
    crawl = job()
    with crawl.store:
        for _ in range(3):
            link = crawl.next()
            assert link is not None
            page = FetchedPage(parse_page(PAGE.encode(), link.url))
            page.link_kinds = lambda url=link.url: asked.append(url) or {}
            crawl.crawled(link.id, page)
    assert asked == [URL]


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
