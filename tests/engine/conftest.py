"""A web server on this machine whose behaviour a test chooses, and real crawls of it."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from mmcrawl.archive import Archive, open_archive
from mmcrawl.frontier import canonical
from mmcrawl.store import child_process
from tests import serving
from tests.desks import Desk, Run
from tests.programs import run
from tests.serving import Answer
from tests.warm import python, starts_warm

ROOT = Path(__file__).parents[2]

RUNNER = """
import json, os, sys
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor

if __name__ == "__main__":
    import spider_under_test
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react
    results = []

    async def main(_):
        for crawl in json.loads(sys.argv[1]):
            os.environ.update(crawl["environ"])
            settings = Settings()
            settings.setmodule("mmcrawl.settings")
            settings.setdict(crawl["settings"], priority="cmdline")
            spider_under_test.seen = seen = []
            crawler = Crawler(spider_under_test.Spider, settings)
            await AsyncCrawlerRunner(settings).crawl(crawler, **crawl["args"])
            stats = crawler.stats.get_stats()
            plain = {k: v for k, v in stats.items() if isinstance(v, int | float | str)}
            results.append({"seen": seen, "stats": plain})
        print(json.dumps(results))

    configure_logging({"LOG_LEVEL": "INFO"})
    react(deferred_f_from_coro_f(main))
"""

PLAIN_SPIDER = """
from mmcrawl.spiders.focused import FocusedSpider

class Spider(FocusedSpider):
    async def parse(self, response):
        seen.append(response.url)
        async for item in super().parse(response):
            yield item
"""

SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "MMCRAWL_DISPLAY": False,
    "ROBOTSTXT_OBEY": False,
    "RETRY_PRIORITY_ADJUST": 0,
}


@dataclass
class Visit:
    """A request as the server saw it; `left` is None while it is not answered."""

    host: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    came: float
    left: float | None = None


class Server(serving.Server):
    """Answers each path with a page, or with what a function of the visit returns; 404 otherwise.

    `visits` holds every request in the order they came.
    """

    def __init__(self, host: str) -> None:
        self.pages: dict[str, str | Answer | Callable[[Visit], str | Answer]] = {}
        self.visits: list[Visit] = []
        self.host = host
        super().__init__(self._answer, host)

    def _answer(self, request: serving.Request) -> Answer:
        headers = dict(request.headers.items())
        visit = Visit(self.host, request.command, request.path, headers, request.body, monotonic())
        self.visits.append(visit)
        page = self.pages.get(visit.path, Answer("<p>none</p>", 404))
        answer = page(visit) if callable(page) else page
        visit.left = monotonic()
        return Answer(answer) if isinstance(answer, str) else answer


@dataclass
class Outcome:
    """What came of one crawl: what the spider noted in `seen`, the stats, and the store's file."""

    seen: list[Any]
    stats: dict[str, Any]
    log: str
    store: Path

    @property
    def links(self) -> dict[str, tuple[str, str]]:
        """URL → status and error of every link."""
        return Desk(self.store.parent).links(self.store.name)

    @property
    def reason(self) -> str:
        """Why the job stopped."""
        return str(self._rows("SELECT reason FROM job")[0][0])

    @property
    def finished(self) -> bool:
        """Whether the job is over."""
        return self._rows("SELECT finished_at FROM job")[0][0] is not None

    @property
    def archive(self) -> AbstractContextManager[Archive]:
        """The archive of the pages."""
        place = self.store.with_name(f"{self.store.stem}-archive.db")
        return open_archive(f"sqlite:///{place}", read_only=True)

    @property
    def crawled(self) -> set[str]:
        """The addresses of the pages whose links count as crawled."""
        return {canonical(url) for (url,) in self._rows("SELECT url FROM page")}

    @property
    def archived(self) -> set[str]:
        with self.archive as archive:
            return {canonical(url) for url in archive.urls()}

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return Desk(self.store.parent).rows(self.store.name, query)


def links(*hrefs: str) -> str:
    """A page that links to these."""
    return "".join(f'<p><a href="{href}">{href}</a></p>' for href in hrefs)


def crawl_for_levers(folder: Path, *urls: str, **given: str) -> tuple[Run, dict[str, Any]]:
    """Crawl from seeds as a person does; return what it came to and the media found.

    The media are told by page, all by their paths: path → kind and text. `given` are arguments, and
    in capitals settings.
    """
    (folder / "seeds.txt").write_text("".join(f"{url}\n" for url in urls))
    fast = {"keywords": "lever", "seeds": "seeds.txt", "store": "c.db", "discover": ""}
    settings = {name: value for name, value in given.items() if name.isupper()}
    words = [f"{name}={value}" for name, value in (fast | given).items() if name not in settings]
    said = Desk(folder).crawl(*words, "-O", "found.jsonl", DOWNLOAD_DELAY=0, **settings)
    assert "Traceback" not in said.err
    rows = [json.loads(line) for line in (folder / "found.jsonl").read_text().splitlines()]

    def path(url: str) -> str:
        return "/" + url.split("/", 3)[3]

    return said, {
        path(row["url"]): {path(one["url"]): (one["kind"], one["text"]) for one in row["media"]}
        for row in rows
    }


class Tools:
    """What the tests of a module share; see the methods."""

    Answer = Answer
    Visit = Visit
    links = staticmethod(links)
    root = ROOT

    def __init__(self, folder: Callable[[], Path]) -> None:
        self.folder = folder
        self.environ = {**os.environ, "PYTHONPATH": str(ROOT), "no_proxy": "*"}
        self.servers: list[Server] = []

    def serve(self, host: str = "127.0.0.1") -> Server:
        """Start a server on a free port."""
        self.servers.append(Server(host))
        return self.servers[-1]

    def chain(self, pages: int) -> Server:
        """Serve the pages /0, /1 and so on, each with links to the next two."""
        server = self.serve()
        for n in range(pages):
            server.pages[f"/{n}"] = links(*(f"/{m}" for m in (n + 1, n + 2) if m < pages))
        return server

    def crawl(
        self,
        *crawls: dict[str, Any],
        spider: str = PLAIN_SPIDER,
        settings: dict[str, Any] | None = None,
    ) -> list[Outcome]:
        """Crawl one after the other in one process of its own.

        Each crawl is a dict of spider arguments; `settings` and `environ` in it are for it alone.
        The class `Spider` is crawled with; its module has a list `seen` to note things in. Crawls
        with the same `store` share it; without one each has its own.
        """
        place = self.folder()
        (place / "spider_under_test.py").write_text(spider)
        (place / "runner.py").write_text(RUNNER)
        specs, stores = [], []
        for number, given in enumerate(crawls):
            args = {"algo": "breadth", "keywords": "optics", "discover": "none"}
            args["store"] = str(place / f"{number}.db")
            args |= {k: v for k, v in given.items() if k not in {"settings", "environ"}}
            stores.append(Path(args["store"]))
            own = SETTINGS | (settings or {}) | given.get("settings", {})
            specs.append({"args": args, "settings": own, "environ": given.get("environ", {})})
        done = run(
            *(python(), "runner.py", json.dumps(specs)), folder=place, env=self.environ, code=None
        )
        assert done.returncode == 0, done.stderr
        results = json.loads(done.stdout.splitlines()[-1])
        return [
            Outcome(result["seen"], result["stats"], done.stderr, store)
            for result, store in zip(results, stores, strict=True)
        ]


@pytest.fixture(autouse=True, scope="module")
def _warm_children() -> Iterator[None]:
    """Processes beside a crawl need not wait until all is imported, nor where a test starts one."""
    starts_warm(child_process)
    yield
    child_process.sys = sys  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    made = Tools(lambda: tmp_path_factory.mktemp("crawl"))
    yield made
    for server in made.servers:
        server.close()
