"""What single pages cost a crawl that could hold it up: large ones, deep ones, those of a hub.

    python benchmarks/load.py [--links 200000] [--blocks 18000] [--chain 6000] [--hub 20000]

How long the reactor is held at most, by the clock and in CPU time of its thread, and CPU seconds of
the whole process, while a page of so many links is taken in, also with all of them
(MMCRAWL_LINKS_PER_PAGE=0), and one of so many blocks: crawls of one page from a stored web, each in
a process of its own, in which a call that is due every 5 ms notes the longest time between two. CPU
µs a page of the frontier on a chain of pages each of which leads to the next. CPU µs a page of
`urlrule` and `learned`, the frontier included, for the first thousand pages found on a hub of so
many links.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scrapy import signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.settings import Settings

from mmcrawl.frontier import NewLink, PageRecord, SqliteFrontier, open_store
from mmcrawl.scoring import CrawledPage, LinkSimilarity, make_scorer
from mmcrawl.topic import Topic

TOPIC = Topic("optics", "光学", (("光学", "optics"),))
HUB_PAGES = 1_000
TICK = 0.005


class ReactorHolds:
    """Scrapy extension: the longest time between two calls that are due every 5 ms."""

    def __init__(self, crawler: Crawler) -> None:
        self.longest = self.longest_cpu = 0.0
        self._crawler = crawler
        self._running = True
        crawler.signals.connect(self._start, signals.spider_opened)
        crawler.signals.connect(self._stop, signals.spider_closed)

    from_crawler = classmethod(lambda cls, crawler: cls(crawler))

    def _start(self) -> None:
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()
        self._tick()

    def _tick(self) -> None:
        from twisted.internet import reactor

        now, cpu = time.perf_counter(), time.thread_time()
        self.longest = max(self.longest, now - self._last)
        self.longest_cpu = max(self.longest_cpu, cpu - self._last_cpu)
        self._last, self._last_cpu = now, cpu
        if self._running:
            reactor.callLater(TICK, self._tick)

    def _stop(self) -> None:
        self._tick()
        self._running = False
        self._crawler.stats.set_value("longest_hold", [self.longest, self.longest_cpu])


def page_of_links(count: int) -> str:
    """Return a page with so many links, as an index has them."""
    return "".join(
        f'<p><a href="/d{n % 97}/page{n}.html">Lesson {n} on optics</a></p>\n' for n in range(count)
    )


def page_of_blocks(count: int) -> str:
    """Return a page with so many blocks and one link."""
    blocks = "".join(f"<div><p>Lens {n} of optics</p></div>\n" for n in range(count))
    return f'<a href="/next.html">next</a>{blocks}'


def crawl_one(folder: str, options: dict[str, object]) -> None:
    """Crawl the start page of a stored web, and print how long the reactor was held."""
    settings = Settings()
    settings.setmodule("mmcrawl.settings")
    settings["EXTENSIONS"][ReactorHolds] = 1
    settings.setdict({"MMCRAWL_DISPLAY": False, "LOG_LEVEL": "ERROR", **options})
    process = CrawlerProcess(settings)
    crawler = process.create_crawler("focused")
    arguments = {"web": folder, "seeds": "http://h.test/", "keywords": "optics"}
    process.crawl(
        crawler, algo="urlrule", store="memory:", archive="none", max_pages=1, **arguments
    )
    begin = time.process_time()
    process.start()
    assert crawler.stats.get_value("response_received_count", 0) >= 1
    held = crawler.stats.get_value("longest_hold")
    print(json.dumps([*held, time.process_time() - begin]))


def holds(body: str, **options: object) -> str:
    """Return how long the reactor is held by a page, and its CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "h.test", "index.html")
        page.parent.mkdir()
        page.write_text(f"<!DOCTYPE html><title>optics</title><body>{body}</body>")
        command = [sys.executable, __file__, "--child", folder, json.dumps(options)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    held, held_cpu, cpu = json.loads(done.stdout.splitlines()[-1])
    return f"held {held * 1e3:,.0f} ms ({held_cpu * 1e3:,.0f} ms of CPU), CPU {cpu:.1f} s in all"


def chain(pages: int) -> float:
    """Return CPU µs that a page costs on a chain of pages."""
    store = open_store("memory:")
    frontier = SqliteFrontier(store, store.job("crawl", {}))
    [(link, _)] = frontier.add([NewLink("http://h.test/0")])
    begin = time.process_time()
    for number in range(1, pages + 1):
        taken = frontier.take(link)
        [(below, _)] = frontier.add([NewLink(f"http://h.test/{number}")], link)
        frontier.complete(link, PageRecord(taken.url, "", "", "", True, True, 1, 0.0), [below])
        link = below
    return (time.process_time() - begin) / pages * 1e6


def hub(algorithm: str, links: int) -> float:
    """Return CPU µs that a page costs that was found on a hub of so many links."""
    store = open_store("memory:")
    frontier = SqliteFrontier(store, store.job("crawl", {}))
    scorer = make_scorer(algorithm, frontier, LinkSimilarity(TOPIC))

    def crawl(found: list[str]) -> None:
        taken = frontier.next()
        assert taken is not None
        frontier.apply(scorer.started(taken.id))
        new = [NewLink(f"http://h.test{path}", physical_layer=3) for path in found]
        ids = [number for number, _ in frontier.add(new, taken.id)]
        record = PageRecord(taken.url, "", "", "", False, False, len(ids), 0.0)
        frontier.complete(taken.id, record, ids)
        frontier.apply(scorer.crawled(CrawledPage(taken.id, taken.url, False, False, ids)))

    frontier.apply(scorer.added([frontier.add([NewLink("http://h.test/")])[0][0]]))
    paths = [f"/d{n % 97}/p{n}" for n in range(links)]
    crawl(paths)
    begin = time.process_time()
    for number in range(HUB_PAGES):
        crawl(["/", paths[number]])
    return (time.process_time() - begin) / HUB_PAGES * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, default=200_000)
    parser.add_argument("--blocks", type=int, default=18_000)
    parser.add_argument("--chain", type=int, default=6_000)
    parser.add_argument("--hub", type=int, default=20_000)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        crawl_one(given.child[0], json.loads(given.child[1]))
        return
    links = page_of_links(given.links)
    print(f"a page of {given.links:,} links: {holds(links)}", flush=True)
    print(f"  with all of them: {holds(links, MMCRAWL_LINKS_PER_PAGE=0)}", flush=True)
    blocks = page_of_blocks(given.blocks)
    for method in ("quark", "bwap"):
        cut = {"MMCRAWL_BLOCKS": method}
        print(f"a page of {given.blocks:,} blocks ({method}): {holds(blocks, **cut)}", flush=True)
    print(f"a page on a chain of {given.chain:,}: {chain(given.chain):,.0f} µs")
    for algorithm in ("urlrule", "learned"):
        print(f"a page of a hub of {given.hub:,}, {algorithm}: {hub(algorithm, given.hub):,.0f} µs")


if __name__ == "__main__":
    main()
