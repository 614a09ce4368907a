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
LATE = """
class Late:
    def process_item(self, item):
        item.extra["late"] = "yes"
        return item
"""
BAD = """
class Bad:
    def process_item(self, item):
        item.extra["bad"] = object()
        return item
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


def test_one_crawl_by_parts_of_the_user(folder: Path, site: str, asked: list[str]) -> None:
    """A spider, pipelines before and after judging, a handler, an algorithm and a partitioner."""
    (folder / "browser.py").write_text(HANDLER)
    (folder / "late.py").write_text(LATE)
    settings = {
        "SPIDER_MODULES": "courses",
        "ITEM_PIPELINES": {"licence.Licence": 300, "late.Late": 950},
        "DOWNLOAD_HANDLERS": {"http": "browser.Handler", "https": "browser.Handler"},
        "DOWNLOADER_MIDDLEWARES": {"rendered.Rendered": 50},
        "MMCRAWL_BLOCKS": "halves",
        "HTTPCACHE_ENABLED": 1,
        "HTTPCACHE_DIR": str(folder / "cache"),
    }

    def crawled(store: str, feed: str) -> str:
        given = ("-a", "algo=shortest", "-a", "least=0.01", "-a", f"store={store}")
        feeds = ("-O", feed, "-O", "media.csv")
        return crawl(folder, site, *given, *feeds, spider="courses", **settings).stdout

    said = crawled("one.db", "one.jsonl")
    rows = rows_of(folder / "one.jsonl")
    licences = {"": "CC", "next.html": "", "only-there.html": ""}  # the spider asked for the last
    assert {name: row["licence"] for name, row in rows.items()} == licences
    assert {row["late"] for row in rows.values()} == {"yes"}
    with (folder / "media.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = {row["url"].rpartition("/")[2]: row["licence"] for row in csv.DictReader(file)}
    assert cells == licences
    assert {"", "next.html"} <= {*re.findall(r"RENDERED \S+/(\S*)", said)}
    with open_archive(f"sqlite:///{folder / 'one-archive.db'}", create=False) as archive:
        methods = {version.method for version in archive.all_versions() if version.encoding}
    assert methods == {"halves"}  # the pipelines of mmcrawl ran beside
    first = [*asked]
    assert "/robots.txt" in first
    crawled("one.db", "again.jsonl")  # finished before: from the store
    assert rows_of(folder / "again.jsonl") == rows
    crawled("two.db", "two.jsonl")  # from the cache
    assert asked == first
    two = rows_of(folder / "two.jsonl")
    for row in (*rows.values(), *two.values()):
        row.pop("visited_at")
    assert two == rows
    scrapy(folder, "works", "describe", "one.db")
    scrapy(folder, "works", "export", "one.db", "--to", "names")
    listed = scrapy(folder, "works", "list", "one.db", "--json").stdout.splitlines()
    titles = (folder / "works.txt").read_text(encoding="utf-8").splitlines()
    assert titles == [json.loads(line)["title"] for line in listed] != []
    assert "0 to 1" in scrapy(folder, "help", "algorithms", "shortest").stdout


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


def test_a_focused_crawl_without_the_frontier_is_refused() -> None:
    class Mine(FocusedSpider):
        @classmethod
        def update_settings(cls, settings: BaseSettings) -> None:
            """Leave Scrapy's scheduler where it is."""

    with pytest.raises(MmcrawlError, match="a focused crawl needs the scheduler mmcrawl"):
        Mine.from_crawler(get_crawler(Mine), seeds="http://a.test/", keywords="lens")
