"""Which pages a crawl fetches, how often, and when it ends."""

from collections import Counter
from pathlib import Path
from typing import Any


def web_of(folder: Path, pages: dict[str, str]) -> dict[str, str]:
    """Make a web of one host of pages by their paths; return how to crawl it."""
    for path, body in pages.items():
        file = folder / "web" / "site.test" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body)
    return {"web": str(folder / "web"), "seeds": "http://site.test/"}


def test_spellings_of_one_address_are_fetched_once(tools: Any, tmp_path: Path) -> None:
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
    crawl = web_of(tmp_path, {**pages, **dict.fromkeys(names.split(), "<p>page</p>")})
    crawl["seeds"] = "http://site.test/,http://SITE.test/#top,http://site.test"
    (outcome,) = tools.crawl(crawl, spider=spider)
    found = Counter(url.partition("#")[0] for url in outcome.seen)
    assert set(found.values()) == {1}
    assert len(found) == 1 + len(spellings) + len(different)
    assert outcome.stats["downloader/request_count"] == len(found)


STOPS = """
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
        if response.url.endswith("/9.html"):
            raise ValueError
"""


def test_limits_are_kept_and_a_crawl_that_they_ended_can_go_on(tools: Any, tmp_path: Path) -> None:
    names = [f"{n}.html" for n in range(30)]
    pages = {name: tools.links(f"{n + 1}.html", "./") for n, name in enumerate(names)}
    dead = tools.links(*(f"/dead/{n}" for n in range(8)))
    crawl = web_of(tmp_path, pages | {"index.html": tools.links(*names), "8.html": dead})
    one, other, third = (crawl | {"store": str(tmp_path / f"{n}.db")} for n in "123")
    # Pages are not cut: on a busy machine many were fetched before the first items are counted.
    settings = {"CONCURRENT_REQUESTS": 2, "MMCRAWL_ARCHIVE": "none", "MMCRAWL_BLOCKS": "off"}
    outcomes = tools.crawl(
        *(one | {"max_pages": str(pages)} for pages in (1, 1, 7, 31, 0)),
        *(other | {"settings": {"CLOSESPIDER_PAGECOUNT": 5}}, other),
        *(third | {"settings": {"CLOSESPIDER_ERRORCOUNT": 1}}, third),
        spider=STOPS,
        settings=settings,
    )
    by_max_pages, by_pages, by_errors = outcomes[:5], outcomes[5:7], outcomes[7:]
    told = [(len(o.seen), o.stats["mmcrawl/pages"], o.stats["finish_reason"]) for o in by_max_pages]
    assert told == [
        (1, 1, "max_pages"),
        (0, 1, "max_pages"),
        (6, 7, "max_pages"),
        (24, 31, "max_pages"),
        (0, 31, "finished"),
    ]
    for limit, (stopped, rest) in (("pagecount", by_pages), ("errorcount", by_errors)):
        assert stopped.stats["finish_reason"] == f"closespider_{limit}"
        assert 5 <= len(stopped.seen) <= 18
        assert rest.stats["finish_reason"] == "finished"
        assert not set(stopped.seen) & set(rest.seen)
        assert len(stopped.seen) + len(rest.seen) == 31


FAILS = """
from scrapy import Request
from scrapy.exceptions import CloseSpider
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    def parse(self, response):
        seen.append(response.url)
        if response.url.endswith("/failing/once"):
            raise KeyError("at once")
        return self.late(response) if "/failing" in response.url else self.more(response)

    async def more(self, response):
        yield None
        async for item in super().parse(response):
            yield item
        if response.url.endswith("/half"):
            yield Request(response.urljoin("/after-half"))
            raise ValueError("half way")
        if response.url.endswith("/stop"):
            raise CloseSpider("enough")

    def late(self, response):
        yield Request(response.urljoin("/after-late"))
        raise KeyError("late")
"""


def test_a_page_the_spider_fails_on_ends_and_is_not_tried_again(tools: Any, tmp_path: Path) -> None:
    names = ["failing/once", "failing/late", "half", "stop"]
    pages = {f"{name}.html": "<p>page" for name in [*names, "after-half", "after-late", "rest"]}
    pages["half.html"] = f'<title>optics</title><a href="film.mp4">x</a>{tools.links("film")}'
    pages |= {"index.html": tools.links(*names, "rest"), "film": "\0\1\2" * 100}
    crawl = web_of(tmp_path, pages) | {"store": str(tmp_path / "a.db")}
    crawls = tools.crawl(crawl, crawl, crawl, spider=FAILS, settings={"CONCURRENT_REQUESTS": 1})
    seen = Counter(url.removeprefix("http://site.test/") for one in crawls for url in one.seen)
    assert {*seen.values()} == {1}
    assert {*seen} >= {*names, "after-half", "after-late"}  # what was asked for before it failed
    links = {url.removeprefix("http://site.test/"): link for url, link in crawls[-1].links.items()}
    assert links["failing/once"] == ("E", "spider failed: KeyError: 'at once'")
    assert links["failing/late"] == ("E", "spider failed: KeyError: 'late'")
    assert links["half"] == links["stop"] == ("C", "")
    assert links["film"] == ("E", "no page: application/octet-stream")
    assert crawls[-1].stats["mmcrawl/media_pages"] == 1  # given before the callback failed
    reasons = [outcome.stats["finish_reason"] for outcome in crawls]
    assert reasons == ["enough", "finished", "already_finished"]


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


def test_a_large_page_does_not_hold_up_the_reactor(tools: Any) -> None:
    site = tools.serve()
    site.pages["/links"] = "".join(f"<p><a href=/{n}>lens {n}</a></p>" for n in range(4_000))
    site.pages["/words"] = "<a href=/next>next</a>" + "<div><p>lens of optics</p></div>" * 8_000
    crawls = [{"seeds": site.url(path), "algo": "urlrule", "max_pages": 1} for path in site.pages]
    for outcome in tools.crawl(*crawls, spider=TICKING):
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
