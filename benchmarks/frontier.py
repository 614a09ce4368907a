"""What a million waiting links cost: mmcrawl's frontier beside Scrapy's own queue.

    python benchmarks/frontier.py [--links 1000000] [--rounds 1]

The same links, in the same order, are pushed, re-scored and popped by

* memory: `SqliteFrontier` on `memory:`;
* file: `SqliteFrontier` on an SQLite file;
* scrapy: Scrapy's `Scheduler` as it is by default, i.e. `DownloaderAwarePriorityQueue` over
  `LifoMemoryQueue`, with `RFPDupeFilter`,

each in a process of its own, in turn. A link has a URL of about 45 characters, an anchor of about
17, a group title of about 9 (shared by ten links) and 18 characters of URL words, which are the
means over nine real sites; 50 links are found on a page, on 100 hosts. mmcrawl keeps all of it with
scores, layers and the page the link was found on. A request of Scrapy's carries what a CrawlSpider
and Scrapy's spider middlewares give it: `meta` with `rule`, `link_text` (the anchor) and `depth`, a
`Referer` header and the callback; no group title and no URL words.

The columns: links a second pushed (making the record or request included), re-scored (in batches
of 1,000 links anywhere in the queue; Scrapy's queue cannot) and popped, commits every 5,000 links
included; MB of peak memory, and of it what was not there after the imports; bytes of that for each
waiting link; bytes for each link once all are popped, when mmcrawl keeps whole link records and
Scrapy the fingerprints in its dupefilter (measured on a dupefilter alone, since the memory of
popped requests is not given back to the system); MB of the file. Memory is resident memory as Linux
reports it. Figures are medians of the rounds; the ratios are medians of the rounds' ratios, mmcrawl
to scrapy.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Protocol

SIDES = ("memory", "file", "scrapy")
DUPEFILTER = "dupefilter"
LINKS_ON_PAGE = 50
LINKS_IN_GROUP = 10
HOSTS = 100
COMMIT_LINKS = 5_000
RESCORE_BATCH = 1_000
MEGABYTE = 1 << 20

_SYLLABLES = ("ba", "co", "di", "fu", "le", "mi", "no", "pra", "que", "so", "ta", "vu", "zhong")


@dataclass(slots=True)
class Found:
    """A link as a page has it."""

    url: str
    anchor: str
    group_title: str
    url_words: str


@dataclass
class Figures:
    """What one side took; speeds in links a second, sizes in bytes."""

    pushed: float
    rescored: float
    popped: float
    peak: int
    own: int
    waiting: float
    seen: float
    file: int


class Queue(Protocol):
    """A side of the comparison."""

    def push(self, page: int, links: Sequence[Found]) -> None:
        """Take in the links of a page."""

    def rescore(self, links: Sequence[int], scores: Sequence[float]) -> bool:
        """Give waiting links new scores; False if that is impossible."""

    def pop(self) -> bool:
        """Take out the next link; False if there is none."""

    def commit(self) -> None:
        """Make what was done durable."""


def words(dice: random.Random, syllables: int) -> str:
    return "".join(dice.choices(_SYLLABLES, k=syllables))


def pages(count: int) -> Iterator[list[Found]]:
    """Yield the links of one page after another, `count` links in all."""
    dice = random.Random(7)
    for first in range(0, count, LINKS_ON_PAGE):
        page = first // LINKS_ON_PAGE
        directory = f"http://www.school{page % HOSTS}.test/{words(dice, 3)}/{words(dice, 2)}"
        title = ""
        links = []
        for number in range(first, min(first + LINKS_ON_PAGE, count)):
            if number % LINKS_IN_GROUP == 0:
                title = words(dice, 4)
            links.append(
                Found(
                    f"{directory}/{number}.html",
                    f"{words(dice, 4)} {words(dice, 4)}",
                    title,
                    f"{words(dice, 4)} {words(dice, 4)}",
                )
            )
        yield links


class OurQueue:
    """mmcrawl's frontier; scores are drawn by lot, as what a scorer thinks is not measured here."""

    def __init__(self, uri: str) -> None:
        from mmcrawl.frontier import LinkScores, NewLink, SqliteFrontier, open_store

        self._scores, self._link = LinkScores, NewLink
        store = open_store(uri)
        self._frontier = SqliteFrontier(store, store.job("benchmark", {}))
        self._dice = random.Random(3)

    def push(self, page: int, links: Sequence[Found]) -> None:
        new = [
            self._link(
                link.url,
                anchor=link.anchor,
                group_title=link.group_title,
                url_words=link.url_words,
                logical_layer=3,
                physical_layer=3,
                content_score=0.25,
            )
            for link in links
        ]
        ids = [number for number, _ in self._frontier.add(new, page or None)]
        scores = [self._dice.random() for _ in ids]
        self._frontier.apply(self._scores(ids, scores, scores))

    def rescore(self, links: Sequence[int], scores: Sequence[float]) -> bool:
        self._frontier.apply(self._scores(list(links), list(scores), list(scores)))
        return True

    def pop(self) -> bool:
        return self._frontier.next() is not None

    def commit(self) -> None:
        self._frontier.commit()


class ScrapyQueue:
    """Scrapy's scheduler, with a downloader that has nothing to do."""

    def __init__(self) -> None:
        from scrapy import Request, Spider
        from scrapy.core.downloader import Downloader
        from scrapy.core.scheduler import Scheduler
        from scrapy.utils.test import get_crawler

        class Following(Spider):
            name = "following"

        crawler = get_crawler(Following)
        self._spider = Following.from_crawler(crawler)
        idle = SimpleNamespace(slots={}, ip_concurrency=0, DOWNLOAD_SLOT=Downloader.DOWNLOAD_SLOT)
        idle.get_slot_key = partial(Downloader.get_slot_key, idle)
        crawler.engine = SimpleNamespace(downloader=idle)
        self._request = Request
        self._scheduler = Scheduler.from_crawler(crawler)
        self._scheduler.open(self._spider)

    def push(self, page: int, links: Sequence[Found]) -> None:
        referrer = f"http://www.school{page % HOSTS}.test/page/{page}.html".encode()
        for link in links:
            request = self._request(
                link.url,
                callback=self._spider._parse,
                meta={"rule": 0, "link_text": link.anchor},
            )
            request.meta["depth"] = 3
            request.headers.setdefault("Referer", referrer)
            self._scheduler.enqueue_request(request)

    def rescore(self, links: Sequence[int], scores: Sequence[float]) -> bool:
        return False

    def pop(self) -> bool:
        return self._scheduler.next_request() is not None

    def commit(self) -> None:
        """Nothing is durable."""


def resident(field: str = "VmRSS") -> int:
    """Return resident memory in bytes; `VmHWM` for its peak."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def settle() -> int:
    """Give back freed memory; return what is left."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    return resident()


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(queue: Queue, count: int, file: Path) -> Figures:
    """Push, re-score and pop `count` links."""
    before = settle()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    pushing = rescoring = popping = 0.0
    for page, links in enumerate(pages(count)):
        pushing += seconds(lambda page=page, links=links: queue.push(page, links))
        if page * LINKS_ON_PAGE % COMMIT_LINKS == 0:
            pushing += seconds(queue.commit)
    pushing += seconds(queue.commit)
    waiting = settle() - before
    dice = random.Random(5)
    order = dice.sample(range(count), count)
    possible = True
    for start in range(0, count, RESCORE_BATCH):
        batch = order[start : start + RESCORE_BATCH]
        scores = [dice.random() for _ in batch]
        begin = time.perf_counter()
        possible = queue.rescore(batch, scores)
        if start % COMMIT_LINKS == 0:
            queue.commit()
        rescoring += time.perf_counter() - begin
    del order

    def pop_all() -> None:
        popped = 0
        while queue.pop():
            popped += 1
            if popped % COMMIT_LINKS == 0:
                queue.commit()
        if popped != count:
            raise SystemExit(f"{popped} of {count} links were popped")

    popping = seconds(pop_all)
    peak = resident("VmHWM")
    return Figures(
        pushed=count / pushing,
        rescored=count / rescoring if possible else 0.0,
        popped=count / popping,
        peak=peak,
        own=peak - before,
        waiting=waiting / count,
        seen=(settle() - before) / count,
        file=file.stat().st_size if file.exists() else 0,
    )


def run_side(side: str, count: int) -> Figures:
    """Measure one side in a process of its own."""
    command = [sys.executable, __file__, "--links", str(count), "--side", side]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures = Figures(**json.loads(done.stdout))
    if side == "scrapy":
        command[-1] = DUPEFILTER
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        figures.seen = json.loads(done.stdout)
    return figures


def seen_by_dupefilter(count: int) -> float:
    """Return the bytes that Scrapy's dupefilter takes for each URL."""
    from scrapy import Request
    from scrapy.dupefilters import RFPDupeFilter

    dupefilter = RFPDupeFilter()
    before = settle()
    for links in pages(count):
        for link in links:
            dupefilter.request_seen(Request(link.url))
    return (settle() - before) / count


def print_side(side: str, count: int) -> None:
    if side == DUPEFILTER:
        print(seen_by_dupefilter(count))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "links.db"
        uri = "memory:" if side == "memory" else f"sqlite:///{file}"
        queue: Queue = ScrapyQueue() if side == "scrapy" else OurQueue(uri)
        figures = measure(queue, count, file)
    print(json.dumps(asdict(figures)))


def report(rounds: dict[str, list[Figures]]) -> None:
    print(
        f"{'':<8}{'push/s':>9}{'re-score/s':>12}{'pop/s':>9}{'peak MB':>9}{'own MB':>8}"
        f"{'B/waiting':>11}{'B/seen':>8}{'file MB':>9}"
    )
    for side, runs in rounds.items():
        middle = {name: median(getattr(run, name) for run in runs) for name in vars(runs[0])}
        rescored = f"{middle['rescored']:.0f}" if middle["rescored"] else "-"
        print(
            f"{side:<8}{middle['pushed']:>9.0f}{rescored:>12}{middle['popped']:>9.0f}"
            f"{middle['peak'] / MEGABYTE:>9.0f}{middle['own'] / MEGABYTE:>8.0f}"
            f"{middle['waiting']:>11.0f}{middle['seen']:>8.0f}{middle['file'] / MEGABYTE:>9.0f}"
        )
    for side in ("memory", "file"):
        pairs = list(zip(rounds[side], rounds["scrapy"], strict=True))
        ratios = {
            name: median(getattr(ours, name) / getattr(theirs, name) for ours, theirs in pairs)
            for name in ("pushed", "popped", "peak", "own", "seen")
        }
        print(
            f"{side} to scrapy: push {ratios['pushed']:.2f}, pop {ratios['popped']:.2f},"
            f" peak memory {ratios['peak']:.2f}, own memory {ratios['own']:.2f}"
            f" (1/{1 / ratios['own']:.1f}), seen URL {ratios['seen']:.2f}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, default=1_000_000, help="default 1,000,000")
    parser.add_argument("--rounds", type=int, default=1, help="of each side (default 1)")
    parser.add_argument("--side", choices=(*SIDES, DUPEFILTER), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        print_side(arguments.side, arguments.links)
        return 0
    rounds: dict[str, list[Figures]] = {side: [] for side in SIDES}
    for number in range(arguments.rounds):
        for side in SIDES if number % 2 == 0 else reversed(SIDES):
            rounds[side].append(run_side(side, arguments.links))
    report(rounds)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
