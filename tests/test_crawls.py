"""What settings mean for a crawl, and how its progress is told."""

from pathlib import Path

import pytest
from scrapy.settings import Settings

from mmcrawl.crawl import CrawlJob, FetchedPage, FocusedParams
from mmcrawl.engine import (
    make_job,
    with_stored_web,
)
from mmcrawl.errors import MmcrawlError, StoreError
from mmcrawl.page import parse_page
from tests.databases import mongodb_uri
from tests.tables import each

SEED = "http://site.test/0"


def open_job(settings: dict[str, object] | None = None, **arguments: str) -> CrawlJob:
    given = {"seeds": SEED, "keywords": "optics", "store": "memory:", "algo": "breadth"}
    return make_job(FocusedParams(**(given | arguments)), Settings(settings or {}), None)


def crawl_chain(job: CrawlJob, most: int = 9) -> int:
    """Crawl pages of which each links to the next; return how many there were."""
    pages = 0
    while pages < most and (link := job.next()) is not None:
        number = int(link.url.rpartition("/")[2])
        page = parse_page(f'<a href="/{number + 1}">next</a>'.encode(), link.url)
        job.crawled(link.id, FetchedPage(page))
        pages += 1
    return pages


@each(
    "limit, max_depth, pages",
    [(0, "0", 9), (3, "0", 4), (3, "2", 2), (1, "5", 5)],
)
def test_scrapy_s_limit_of_depth_holds_where_max_depth_is_not_given(limit, max_depth, pages):
    job = open_job({"DEPTH_LIMIT": limit}, max_depth=max_depth)
    with job.store:
        assert crawl_chain(job) == pages


def test_a_crawl_by_rules_is_another_than_one_without_until_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / "rules.txt"

    def named(**more: str) -> str:
        return FocusedParams(seeds=SEED, keywords="optics", **more).job_name

    file.write_text("re:/a/ never\n")
    first = named(rules=str(file))
    assert first != named()
    file.write_text("re:/a/ 5\n")
    assert named(rules=str(file)) == first
    assert named(rules=str(file), job="mine") == named(job="mine")


def test_the_file_that_an_argument_names_says_what_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("re:/2$ never\n")
    job = open_job(rules=str(tmp_path / "rules.txt"))
    with job.store:
        assert crawl_chain(job) == 2
        assert len(job.frontier.held()) == 1
    (tmp_path / "rules.txt").write_text("/2$ never\n")
    with pytest.raises(MmcrawlError, match=r"rules.txt, line 1: '/2\$' is no pattern: begin it"):
        open_job(rules=str(tmp_path / "rules.txt"))


def test_a_shared_crawl_is_gone_on_with_by_the_rules_it_was_begun_with(tmp_path: Path) -> None:
    rules, others = tmp_path / "rules.txt", tmp_path / "others.txt"
    rules.write_text("# ours\nre:/a/ never\n")
    others.write_text("re:/a/ 5\n")
    with mongodb_uri() as store:
        arguments = {"store": store, "job": "films"}
        open_job(**arguments, rules=str(rules)).close()
        rules.write_text("re:/a/ never # the same\n")
        open_job(**arguments, rules=str(rules)).close()
        for changed in ({"rules": str(others)}, {}):
            with pytest.raises(StoreError, match=r"job 'films' .* was started with rules="):
                open_job(**arguments, **changed)
        with pytest.raises(StoreError, match=r"job 'films' .* was started with limits.max_depth="):
            open_job({"DEPTH_LIMIT": 3}, **arguments, rules=str(rules))


@each(
    "given, setting, web",
    [
        ({}, "stored", "stored"),
        ({"web": "own"}, "stored", "own"),
        ({}, None, None),
    ],
)
def test_a_stored_web_may_be_named_by_a_setting(given, setting, web):
    arguments = with_stored_web({"topic": "x", **given}, Settings({"MMCRAWL_WEB": setting}))
    assert (arguments["topic"], arguments.get("web")) == ("x", web)
