"""A process that runs out of memory or open files stops, marks nothing, and goes on when it can."""

from typing import Any, NoReturn

from mmcrawl.archive import Archive, ArchiveStore, Capture, LevelManager, open_archive
from mmcrawl.errors import ExhaustedError, StoreError, fatal_error
from tests.tables import each

# What PLACE names fails from its third call on, in crawls for which it is set.
FAILING = """
import errno
import os
from pkgutil import resolve_name

from mmcrawl.spiders.focused import FocusedSpider as Spider


def fail_from_the_third_call(place):
    owner, _, name = place.rpartition(".")
    owner, calls = resolve_name(owner), []
    whole = getattr(owner, name)

    def failing(*args, **kwargs):
        calls.append(args)
        if os.environ["PLACE"] == place and len(calls) > 2:
            raise ERROR
        return whole(*args, **kwargs)

    setattr(owner, name, failing)


for place in PLACES:
    fail_from_the_third_call(place)
"""
PLACES = [
    "mmcrawl.crawl.job.CrawlJob.judge",  # in the pipeline
    "mmcrawl.crawl.job.CrawlJob.next",
    "mmcrawl.crawl.job.CrawlJob.take_in",
    "mmcrawl.engine.requests.LinkRequests.new_link",  # of what a page asks for
    "mmcrawl.engine.requests.LinkRequests.request",
    "mmcrawl.scoring.breadth.Breadth.crawled",
    "scrapy.core.downloader.handlers.DownloadHandlers.download_request_async",
    "mmcrawl.crawl.reading.PageReader.read",
]
NO_MEMORY = "MemoryError()"
NO_FILES = 'OSError(errno.EMFILE, "Too many open files")'
NO_THREADS = 'RuntimeError("can\'t start new thread")'


ASKING = """

from scrapy import Request


class Spider(Spider):
    async def parse(self, response):
        yield Request(response.urljoin("/8"))
        async for item in super().parse(response):
            yield item
"""


@each(
    "error, places",
    [(NO_MEMORY, PLACES), (NO_FILES, [PLACES[2], PLACES[6]]), (NO_THREADS, PLACES[6:7])],
)
def test_what_is_no_fault_of_a_page_marks_no_page(tools, error, places):
    server = tools.chain(9)
    spider = FAILING.replace("PLACES", repr(places)).replace("ERROR", error) + ASKING
    crawls = []
    for place in places:
        crawl = {"seeds": server.url("/0"), "archive": "none", "job": "same"}
        crawl["store"] = str(tools.folder() / "crawl.db")
        crawls += [crawl | {"environ": {"PLACE": name}} for name in (place, "")]
    outcomes = tools.crawl(*crawls, spider=spider, settings={"RETRY_ENABLED": False})
    for place, ill, well in zip(places, outcomes[::2], outcomes[1::2], strict=True):
        assert ill.stats["finish_reason"] == "store_error", place
        assert "this process has run out of " in ill.stats["mmcrawl/store_error"]
        assert well.stats["finish_reason"] == "finished", place
        assert well.links == {server.url(f"/{n}"): ("C", "") for n in range(9)}, place
    assert "internal_errors" not in str([ill.stats for ill in outcomes])


LIMITED = """
import resource

from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
        if len(seen) >= 3:  # of several pages under way none may end as the third
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, most))
"""


def test_a_crawl_without_file_descriptors_loses_no_page(tools: Any) -> None:
    server = tools.chain(9)
    for page in server.pages:
        server.pages[page] = tools.Answer(server.pages[page], headers={"Connection": "close"})
    crawl = {"seeds": server.url("/0"), "store": str(tools.folder() / "c.db"), "archive": "none"}
    [ill] = tools.crawl(crawl, spider=LIMITED)
    assert ill.stats["finish_reason"] == "store_error"
    assert "open files; raise the limit (ulimit -n), and run" in ill.stats["mmcrawl/store_error"]
    [well] = tools.crawl(crawl)
    assert well.links == {server.url(f"/{n}"): ("C", "") for n in range(9)}


def test_an_archive_without_memory_fails_as_a_store_does_not_as_a_page(tmp_path, monkeypatch):
    def without_memory(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    page = Capture("http://a.test/", b"<p>a</p>", time=1.0)
    with open_archive(f"sqlite:///{tmp_path / 'a.db'}") as archive:
        store = ArchiveStore(archive, LevelManager(archive))
        store.store([page])
        for owner, name in ((LevelManager, "choose"), (Archive, "store_many")):
            monkeypatch.setattr(owner, name, without_memory)
            answers = store.store([page])
            assert answers.of == [None]
            assert isinstance(answers.failure, ExhaustedError)


def test_a_page_that_fails_by_itself_is_no_reason_to_stop() -> None:
    for error in (ValueError("x"), RecursionError(), OSError(111, "Connection refused"), None):
        assert fatal_error(error) is None
    failed = StoreError("store x failed")
    assert fatal_error(failed) is failed
