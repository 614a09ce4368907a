"""The examples of docs/extending.md, and what users' own parts may rely on, in real crawls."""

import csv
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import BaseSettings
from scrapy.utils.test import get_crawler

from mmcrawl.archive import open_archive
from mmcrawl.errors import MmcrawlError
from mmcrawl.spiders import FocusedSpider
from tests import programs
from tests.serving import Answer, Request, Server

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
LICENSED = b"<a href='https://creativecommons.org/licenses/by/4.0/'>CC BY</a>"
LENS = (
    b"<title>Optics %s</title><h1>Optics: refraction by a lens</h1>"
    b"<a href='a.mp4'>optics film</a><a href='next.html'>next</a>%s"
)
PAGES = {
    "/": LENS % (b"one", LICENSED),
    "/next.html": LENS % (b"two", b""),
    "/contents.html": b"<title>Contents</title><ul><li><a href='/only-there.html'>x</a></ul>",
    "/only-there.html": LENS % (b"three", b""),
    "/robots.txt": b"",
    "/sitemap.xml": b"<urlset><url><loc>/contents.html</loc></url></urlset>",
}
HANDLER = """
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler

class Handler(HTTP11DownloadHandler):
    async def download_request(self, request):
        if request.meta.get("playwright"):
            print("RENDERED", request.url)
        return await super().download_request(request)
"""
BAD = """
class Bad:
    def process_item(self, item):
        item.extra["bad"] = object()
        return item
"""
WITHOUT_FRONTIER = """
from mmcrawl.spiders import FocusedSpider

class Mine(FocusedSpider):
    name = "mine"
    custom_settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
"""

OWN_REQUEST = """
from mmcrawl.spiders import FocusedSpider

class Feeds:
    def process_item(self, item):
        if item.page.url.endswith(".xml"):
            print("SEEN", item.blocks)
        return item

class Mine(FocusedSpider):
    name = "mine"
    custom_settings = {"ITEM_PIPELINES": {Feeds: 60}}

    async def parse(self, response):
        async for item in super().parse(response):
            yield item
        yield response.follow("/next.html", self.parse_about)

    def parse_about(self, response):
        print("ABOUT", response.url)
        yield response.follow("/next.html", self.parse_about)
        for path in "/", "/moved.html":
            yield response.follow(path, self.parse_again)
        yield response.follow("/", self.parse_again, dont_filter=True, meta={"again": True})

    def parse_again(self, response):
        print("AGAIN", response.url, response.meta)
"""
WITHOUT_PARTS = """
from mmcrawl.spiders import FocusedSpider

class Mine(FocusedSpider):
    name = "mine"

    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("ITEM_PIPELINES", {"licence.Licence": 300}, "spider")
        settings.set("DOWNLOADER_MIDDLEWARES", {}, "spider")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every Python example of the page that names its file."""
    for name, code in re.findall(r"```python\n# (\S+\.py)\n(.*?)```", EXAMPLES, re.DOTALL):
        (tmp_path / name).write_text(code, encoding="utf-8")
    info = tmp_path / "examples-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: examples\nVersion: 1\n")
    groups = re.findall(r'\[project\.entry-points\."(.*?)"\]\n(\w+) = "(.*?)"', EXAMPLES)
    entries = "\n".join(f"[{group}]\n{name} = {where}" for group, name, where in groups)
    (info / "entry_points.txt").write_text(entries)
    return tmp_path


@pytest.fixture
def asked() -> list[str]:
    """What the site was asked for."""
    return []


@pytest.fixture
def site(asked: list[str]) -> Iterator[str]:
    """Address of a small site."""

    def answer(request: Request) -> Answer:
        asked.append(request.path)
        if request.path == "/moved.html":
            return Answer(b"", 302, {"Location": "/"})
        body = PAGES.get(request.path)
        kind = "text/plain" if request.path == "/robots.txt" else "text/html"
        return Answer(body or b"", 404 if body is None else 200, {"Content-Type": kind})

    with Server(answer) as server:
        yield server.url()


def scrapy(
    folder: Path, *arguments: str, exit_code: int = 0, **settings: object
) -> subprocess.CompletedProcess[str]:
    settings = {"AUTOTHROTTLE_ENABLED": 0, "MMCRAWL_DISPLAY": 0} | settings
    given = [
        word
        for name, value in settings.items()
        for word in ("-s", f"{name}={value if isinstance(value, str | int) else json.dumps(value)}")
    ]
    found = {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    return programs.scrapy(*arguments, *given, folder=folder, code=exit_code, env=found)


def crawl(
    folder: Path, site: str, *arguments: str, spider: str = "focused", **settings: object
) -> subprocess.CompletedProcess[str]:
    given = ("-a", f"seeds={site}", "-a", "keywords=optics", *arguments)
    return scrapy(folder, "crawl", spider, *given, **settings)


def rows_of(path: Path) -> dict[str, dict[str, object]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {row["url"].rpartition("/")[2]: row for row in map(json.loads, lines)}


@pytest.mark.parametrize("place", [300, 950], ids=["before judging", "after judging"])
def test_what_a_pipeline_adds_is_a_column_of_the_feeds(place: int, folder: Path, site: str) -> None:
    feeds = ("-O", "media.jsonl", "-O", "media.csv")
    crawl(folder, site, *feeds, ITEM_PIPELINES={"licence.Licence": place})
    rows = rows_of(folder / "media.jsonl")
    licences = {"": "CC", "next.html": "", "only-there.html": ""}
    assert {name: row["licence"] for name, row in rows.items()} == licences
    with (folder / "media.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = {row["url"].rpartition("/")[2]: row["licence"] for row in csv.DictReader(file)}
    assert cells == licences
    crawl(folder, site, "-O", "again.jsonl")  # finished before: from the store
    assert rows_of(folder / "again.jsonl") == rows
    with open_archive(f"sqlite:///{folder / 'crawl-archive.db'}", create=False) as archive:
        assert len(list(archive.urls())) >= len(rows)  # the pipelines of mmcrawl ran beside


def test_a_spider_that_loses_parts_of_ours_says_so(folder: Path, site: str) -> None:
    (folder / "mine.py").write_text(WITHOUT_PARTS)
    done = crawl(folder, site, "-a", "store=b.db", spider="mine", SPIDER_MODULES="mine",
                 MMCRAWL_DISPLAY=1)  # fmt: skip
    assert "ITEM_PIPELINES lacks mmcrawl.pipelines.pages.BlocksPipeline, mmcr" in done.stderr
    assert "DOWNLOADER_MIDDLEWARES lacks mmcrawl.engine.middlewares.Robots" in done.stderr
    assert "archived" not in done.stderr


def test_what_json_cannot_keep_ends_the_page_with_a_sentence(folder: Path, site: str) -> None:
    (folder / "bad.py").write_text(BAD)
    done = crawl(
        *(folder, site, "-a", "discover=none"), ITEM_PIPELINES={"bad.Bad": 950}, exit_code=1
    )
    assert "a pipeline added a value that is not plain: Object of type object" in done.stderr


def test_a_subclass_asks_for_more(folder, site, asked):
    crawl(folder, site, "-O", "found.jsonl", spider="courses", SPIDER_MODULES="courses")
    assert "/only-there.html" in asked
    lines = (folder / "found.jsonl").read_text(encoding="utf-8").splitlines()
    titles = sorted(json.loads(line)["title"] for line in lines)
    assert titles == ["Optics one", "Optics three", "Optics two"]


def test_a_request_of_the_spider_is_fetched_instead_of_a_link_to_the_same_page(folder, site):
    (folder / "mine.py").write_text(OWN_REQUEST)
    settings = {"SPIDER_MODULES": "mine", "STATS_DUMP": True}
    done = crawl(folder, site, "-a", "max_pages=20", spider="mine", **settings)
    assert re.findall(r"ABOUT \S+/(\S*)", done.stdout) == ["next.html"]
    assert re.findall(r"SEEN (\S+)", done.stdout) == ["()"]  # the blocks of the feed
    # Pages that were fetched before are not fetched for another callback, and that is said.
    assert re.findall(r"AGAIN \S+/(\S*) .*'again': (\w+)", done.stdout) == [("", "True")]
    assert done.stderr.count("its callback not called: the address was asked for before") == 1
    assert re.search(r"'mmcrawl/requests/asked_before': 2\b", done.stderr)


def test_algorithms_and_partitioners_are_found_by_their_entry_points(folder, site):
    crawl(folder, site, "-a", "algo=shortest", "-a", "least=0.01",
          MMCRAWL_BLOCKS="halves")  # fmt: skip
    assert "0 to 1" in scrapy(folder, "help", "algorithms", "shortest").stdout
    (folder / "page.html").write_bytes(PAGES["/"])
    cut = json.loads(scrapy(folder, "blocks", "--json", "--method", "halves", "page.html").stdout)
    assert len(cut["blocks"]) == 2


def test_a_format_for_works_is_found_by_its_entry_point(folder: Path, site: str) -> None:
    crawl(folder, site, "-a", "store=crawl.db")
    scrapy(folder, "works", "describe", "crawl.db")
    scrapy(folder, "works", "export", "crawl.db", "--to", "names")
    listed = scrapy(folder, "works", "list", "crawl.db", "--json").stdout.splitlines()
    titles = (folder / "works.txt").read_text(encoding="utf-8").splitlines()
    assert titles
    assert titles == [json.loads(line)["title"] for line in listed]


def test_download_handlers_of_the_user_win_and_see_what_is_to_be_rendered(folder, site):
    (folder / "browser.py").write_text(HANDLER)
    handlers = {"http": "browser.Handler", "https": "browser.Handler"}
    middlewares = {"rendered.Rendered": 50}
    done = crawl(folder, site, DOWNLOAD_HANDLERS=handlers, DOWNLOADER_MIDDLEWARES=middlewares)
    rendered = re.findall(r"RENDERED \S+/(\S*)", done.stdout)
    assert {"", "next.html"} <= set(rendered)


def test_a_second_crawl_is_answered_from_the_http_cache(folder, site, asked):
    cache = {"HTTPCACHE_ENABLED": 1, "HTTPCACHE_DIR": str(folder / "cache")}
    crawl(folder, site, "-a", "store=one.db", "-O", "one.jsonl", **cache)
    first = list(asked)
    assert "/robots.txt" in first
    crawl(folder, site, "-a", "store=two.db", "-O", "two.jsonl", **cache)
    assert asked == first
    one, two = (rows_of(folder / name) for name in ("one.jsonl", "two.jsonl"))
    assert one
    for row in (*one.values(), *two.values()):
        row.pop("visited_at")
    assert one == two


def test_a_focused_crawl_without_the_frontier_is_refused(folder: Path, site: str) -> None:
    (folder / "mine.py").write_text(WITHOUT_FRONTIER)
    done = crawl(folder, site, spider="mine", SPIDER_MODULES="mine", exit_code=2)
    assert "scrapy crawl: a focused crawl needs the scheduler mmcrawl." in done.stderr


def test_a_program_that_crawls_without_the_frontier_is_refused_as_well() -> None:
    class Mine(FocusedSpider):
        @classmethod
        def update_settings(cls, settings: BaseSettings) -> None:
            """Leave Scrapy's scheduler where it is."""

    with pytest.raises(MmcrawlError, match="a focused crawl needs the scheduler mmcrawl"):
        Mine.from_crawler(get_crawler(Mine), seeds="http://a.test/", keywords="lens")
