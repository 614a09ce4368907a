"""Which pages a crawl fetches, how often, and when it ends."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tables import each

NOTES_EVERYTHING = """
from scrapy import Request
from scrapy.exceptions import CloseSpider
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    def parse(self, response):
        seen.append(response.url)
        if "/failing" in response.url:
            return self.fail(response)
        return self.more(response)

    async def more(self, response):
        yield None
        async for item in super().parse(response):
            yield item
        if response.url.endswith("/half"):
            yield Request(response.urljoin("/after-half"))
            raise ValueError("half way")
        if response.url.endswith("/stop"):
            raise CloseSpider("enough")

    def fail(self, response):
        if response.url.endswith("/failing/late"):
            return self.late(response)
        raise KeyError("at once")

    def late(self, response):
        yield Request(response.urljoin("/after-late"))
        raise KeyError("late")
"""


@pytest.fixture
def folder_web(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Make a web of one host: path → page."""

    def make(pages: dict[str, str], host: str = "site.test") -> str:
        for path, body in pages.items():
            file = tmp_path / "web" / host / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body)
        return str(tmp_path / "web")

    return make


def numbered(tools: Any, count: int) -> dict[str, str]:
    """A seed page, and as many pages it links to; each links to the next and back."""
    pages = {f"{n}.html": tools.links(f"{n + 1}.html", "./") for n in range(count)}
    return {"index.html": tools.links(*pages), **pages}


def test_spellings_of_one_address_are_fetched_once(tools: Any, folder_web: Any) -> None:
    spellings = {
        "query": ("list.html?a=1&b=2", "list.html?b=2&a=1", "list.html?b=2&a=1#part"),
        "case": ("HTTP://SITE.test/case.html", "http://site.TEST/case.html", "/case.html"),
        "escape": ("/%7euser.html", "/~user.html", "/%7Euser.html"),
        "fragment": ("/a.html", "/a.html#1", "/a.html#2"),
        "port": ("/port.html", "http://site.test:80/port.html"),
        "session": ("/s.html;jsessionid=1F?x=1", "/s.html?x=1&PHPSESSID=00112233", "/s.html?x=1"),
    }
    different = ["/list.html?a=2&b=2", "/CASE.html", "/a.html?b=c", "/a.html?b=d"]
    hrefs = [href for group in spellings.values() for href in group]
    names = "list.html port.html case.html ~user.html a.html s.html;jsessionid=1F"
    pages = {"index.html": tools.links(*hrefs, *different)}
    # The same links again, issued by the spider itself.
    spider = f"""
from scrapy import Request
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
        for href in {hrefs!r}:
            yield Request(response.urljoin(href))
"""
    web = folder_web({**pages, **dict.fromkeys(names.split(), "<p>page</p>")})
    (outcome,) = tools.crawl({"web": web, "seeds": "http://site.test/"}, spider=spider)
    found = Counter(url.partition("#")[0] for url in outcome.seen)
    assert set(found.values()) == {1}
    assert len(found) == 1 + len(spellings) + len(different)
    assert outcome.stats["downloader/request_count"] == len(found)


def test_seeds_in_several_spellings_are_one_seed(tools: Any, folder_web: Any) -> None:
    web = folder_web({"index.html": "<p>page</p>"})
    seeds = "http://site.test/,http://SITE.test/#top,http://site.test"
    (outcome,) = tools.crawl({"web": web, "seeds": seeds, "max_pages": "1"})
    assert len(outcome.seen) == 1
    assert outcome.stats["finish_reason"] == "finished"  # the limit kept nothing waiting


@pytest.fixture(scope="module")
def limited(tools, tmp_path_factory):  # type: ignore[no-untyped-def]
    """Crawls of thirty pages, some of them dead: with max_pages, raised, and without."""
    place = tmp_path_factory.mktemp("limited")
    site = place / "web" / "site.test"
    site.mkdir(parents=True)
    for name, body in numbered(tools, 30).items():
        (site / name).write_text(body)
    dead = tools.links(*(f"/dead/{n}" for n in range(8)))
    (site / "0.html").write_text(dead + tools.links("1.html"))
    args = {"web": str(place / "web"), "seeds": "http://site.test/", "store": str(place / "a.db")}
    limits = [1, 1, 7, 20, 31, 0]
    crawls = [args | {"max_pages": str(limit)} for limit in limits]
    outcomes = tools.crawl(*crawls, settings={"MMCRAWL_WEB_LATENCY": 2})
    return dict(zip(["1", "1 again", "7", "20", "all", "none"], outcomes, strict=True))


@each("run, pages", [("1", 1), ("1 again", 0), ("7", 6), ("20", 13), ("all", 11), ("none", 0)])
def test_max_pages_is_exact_and_can_be_raised(limited: Any, run: str, pages: int) -> None:
    assert len(limited[run].seen) == pages
    total = {"1": 1, "1 again": 1, "7": 7, "20": 20, "all": 31, "none": 31}[run]
    assert limited[run].stats["mmcrawl/pages"] == total


def test_a_crawl_that_max_pages_ended_is_not_over(limited: Any) -> None:
    reasons = [outcome.stats["finish_reason"] for outcome in limited.values()]
    assert reasons == [*["max_pages"] * 5, "finished"]
    assert limited["none"].stats["mmcrawl/errors"] == 9  # dead links are no pages


@pytest.fixture(scope="module")
def closed(tools, tmp_path_factory):  # type: ignore[no-untyped-def]
    """Crawls that one of Scrapy's limits ends, each taken up again without it."""
    site = tmp_path_factory.mktemp("closed") / "web" / "site.test"
    site.mkdir(parents=True)
    for name, body in numbered(tools, 30).items():
        media = '<a href="film.mp4">optics</a>' if name != "index.html" else ""
        (site / name).write_text(
            f"<title>optics {name}</title>" + body + media.replace("film", name)
        )
    limits = {
        "CLOSESPIDER_PAGECOUNT": 5,
        "CLOSESPIDER_ITEMCOUNT": 4,
        "CLOSESPIDER_TIMEOUT": 4,
        "CLOSESPIDER_ERRORCOUNT": 1,
    }
    spider = """
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
        if response.url.endswith("/9.html"):
            raise ValueError
"""
    crawls = []
    for name, value in limits.items():
        args = {
            "web": str(site.parent),
            "seeds": "http://site.test/",
            "store": str(site.parent.parent / f"{name}.db"),
        }
        slow = {"MMCRAWL_WEB_LATENCY": 1000} if name == "CLOSESPIDER_TIMEOUT" else {}
        crawls += [args | {"settings": {name: value, **slow}}, args]
    # Pages are not cut: on a busy machine many were fetched before the first items are counted.
    settings = {"CONCURRENT_REQUESTS": 2, "MMCRAWL_ARCHIVE": "none", "MMCRAWL_BLOCKS": "off"}
    outcomes = tools.crawl(*crawls, spider=spider, settings=settings)
    return dict(zip(limits, zip(outcomes[::2], outcomes[1::2], strict=True), strict=True))


@each(
    "setting, least, most",
    [
        ("CLOSESPIDER_PAGECOUNT", 5, 12),
        ("CLOSESPIDER_ITEMCOUNT", 5, 12),
        ("CLOSESPIDER_TIMEOUT", 1, 30),
        ("CLOSESPIDER_ERRORCOUNT", 10, 18),
    ],
)
def test_limits_of_scrapy_stop_a_crawl_that_can_go_on(closed, setting, least, most):
    stopped, rest = closed[setting]
    assert stopped.stats["finish_reason"] == setting.lower()
    assert least <= len(stopped.seen) <= most
    assert rest.stats["finish_reason"] == "finished"
    assert not set(stopped.seen) & set(rest.seen)
    assert len(stopped.seen) + len(rest.seen) == 31


@pytest.fixture(scope="module")
def troubled(tools, tmp_path_factory):  # type: ignore[no-untyped-def]
    """A crawl whose spider fails on some pages, then the same again."""
    place = tmp_path_factory.mktemp("troubled")
    site = place / "web" / "site.test"
    (site / "failing").mkdir(parents=True)
    names = ["failing/once", "failing/late", "half", "stop", "after-half", "after-late", "rest"]
    for name in names:
        (site / f"{name}.html").write_text(f"<p>{name}</p>")
    (site / "index.html").write_text(tools.links(*names[:4], "rest"))
    (site / "film").write_bytes(b"\0\1\2" * 100)
    (site / "half.html").write_text(
        f'<title>optics</title><a href="film.mp4">optics</a>{tools.links("film")}'
    )
    args = {"web": str(place / "web"), "seeds": "http://site.test/", "store": str(place / "a.db")}
    settings = {"CONCURRENT_REQUESTS": 1}
    return tools.crawl(args, args, args, spider=NOTES_EVERYTHING, settings=settings)


@each(
    "path, link",
    [
        ("failing/once", ("E", "spider failed: KeyError: 'at once'")),
        ("failing/late", ("E", "spider failed: KeyError: 'late'")),
        ("half", ("C", "")),
        ("stop", ("C", "")),
        ("film", ("E", "no page: application/octet-stream")),
    ],
)
def test_a_page_the_spider_fails_on_ends_and_is_not_tried_again(troubled, path, link):
    url = f"http://site.test/{path}"
    assert troubled[-1].links[url] == link
    assert sum(outcome.seen.count(url) for outcome in troubled) == 1


def test_what_a_callback_asked_for_before_it_failed_is_fetched(troubled: Any) -> None:
    seen = [url for outcome in troubled for url in outcome.seen]
    assert {"http://site.test/after-half", "http://site.test/after-late"} <= set(seen)


def test_a_page_is_kept_that_was_given_before_the_callback_failed(troubled: Any) -> None:
    assert troubled[-1].stats["mmcrawl/media_pages"] == 1


def test_a_spider_can_close_itself_and_the_crawl_goes_on_later(troubled: Any) -> None:
    assert [outcome.stats["finish_reason"] for outcome in troubled] == [
        "enough",
        "finished",
        "already_finished",
    ]


TICKING = """
from time import process_time  # what else the machine does is no delay
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        self.begin = self.last = process_time()
        self.longest = 0.0
        self.tick()
        async for item in super().parse(response):
            yield item

    def tick(self):
        from twisted.internet import reactor
        now = process_time()
        self.longest, self.last = max(self.longest, now - self.last), now
        if self.crawler.engine.spider is not None:
            reactor.callLater(0.001, self.tick)

    def closed(self, reason):
        self.tick()
        seen.append([self.longest, process_time() - self.begin])
"""


@each(
    "body",
    [
        "".join(f"<p><a href=/{n}>lens {n}</a></p>" for n in range(4_000)),
        "<a href=/next>next</a>" + "<div><p>lens of optics</p></div>" * 8_000,
    ],
)
def test_a_large_page_does_not_hold_up_the_reactor(tools, body):
    site = tools.serve()
    site.pages["/"] = body
    arguments = {"seeds": site.url("/"), "algo": "urlrule", "max_pages": 1}
    [outcome] = tools.crawl(arguments, spider=TICKING)
    [[longest, whole]] = outcome.seen
    assert longest < whole / 2  # taken in at once, it would be nearly all
    assert outcome.reason in ("finished", "max_pages")


FAILS_AT_LARGE_PAGES = """
from time import sleep
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    def make_job(self):
        job = super().make_job()
        take_in, failed = job.take_in, job.failed

        def late_failure(link, report, *args, **kwargs):
            if report.page.url.endswith("/large"):
                sleep(1)
                raise ValueError("no such page")
            return take_in(link, report, *args, **kwargs)

        def fails_too(link, reason, *args):
            if "no such page" in reason:
                raise ValueError("nor this")
            return failed(link, reason, *args)

        job.take_in, job.failed = late_failure, fails_too
        return job
"""


def test_what_comes_while_a_large_page_fails_is_taken_in(tools):
    site = tools.serve()
    others = [f"/{n}" for n in range(9)]
    site.pages |= dict.fromkeys(others, "<p>page</p>")
    site.pages |= {
        "/": tools.links("/large", *others),
        "/large": tools.links(*(f"/none/{n}" for n in range(600))),
    }
    [outcome] = tools.crawl(
        {"seeds": site.url("/"), "algo": "breadth"}, spider=FAILS_AT_LARGE_PAGES
    )
    assert {outcome.links[site.url(path)][0] for path in ["/", *others]} == {"C"}


OPENS_SLOWLY = """
from asyncio import sleep
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    def make_job(self):
        job = super().make_job()
        job.watch = lambda *, stopped, **_: stopped("max_pages")  # as another worker may
        return job

class Slow:
    async def open_spider(self):
        await sleep(0.3)
"""


def test_a_crawl_that_others_end_while_it_opens_is_closed_when_it_is_open(tools):
    [outcome] = tools.crawl(
        {"seeds": tools.serve().url("/")},
        spider=OPENS_SLOWLY,
        settings={"ITEM_PIPELINES": {"spider_under_test.Slow": 1}},
    )
    assert outcome.reason == "max_pages"
    assert outcome.stats["elapsed_time_seconds"] > 0
    assert "Traceback" not in outcome.log
