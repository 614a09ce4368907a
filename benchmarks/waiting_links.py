"""What waiting links cost a crawl in RAM and time: frontier, twins and algorithm together.

    python benchmarks/waiting_links.py [--links 1000000] [--hosts ten|many|zipf] [--algo learned …]

A crawl without pages and network grows until so many links wait: the link that the algorithm puts
first is taken, its page has 50 new links, every tenth page is relevant, commits come every 100
pages. The store is a file. Links lead to 10 hosts, to 10,000 alike, or to 10,000 by Zipf's law.
Beside it `scrapy`: Scrapy's own scheduler with queues on disk (JOBDIR), `ScrapyPriorityQueue` over
`PickleLifoDiskQueue`, and its dupefilter, to which the same links are pushed.

With `--fill` the crawl is not grown: its rows are written into the store as if it had been left
with so many links waiting, and it goes on from there. For many millions, and `breadth`, as no page
is there that tells an algorithm anything. B/link is then what is there when it goes on, `peak` the
most until then.

The columns, each side in a process of its own:

* push/s: links taken in, with all that frontier and algorithm do for the page they stand on;
* B/link: resident memory that was not there after the imports, when all links wait, for each of
  them, freed memory given back first; of it `anon` is the process's own, the rest pages of files;
  `peak` is the most there was while the crawl grew;
* re-score/s: new scores for links anywhere, 1,000 at a time; `all/s`: for all that wait at once;
* pop/s: links taken one after another, commits every 5,000 included, with 16 hosts always busy;
* by clock: of re-scores and pops; all other speeds are by CPU time, the system's included, which
  other work on the machine disturbs less;
* open s: CPU seconds until a crawl that was left so goes on: the store is opened and checked, the
  frontier and the algorithm are where they were; `check` is the part of the checks.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from bisect import bisect
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from pathlib import Path

ALGORITHMS = ("breadth", "shark-improved", "urlrule", "learned", "topicrank")
LINKS_ON_PAGE, LINKS_IN_GROUP = 50, 10
PAGES_BETWEEN_COMMITS, LINKS_BETWEEN_COMMITS = 100, 5_000
RESCORE_BATCH, RESCORED, POPPED = 1_000, 200_000, 200_000
BUSY_HOSTS = 16
_SYLLABLES = ("ba", "co", "di", "fu", "le", "mi", "no", "pra", "que", "so", "ta", "vu", "zhong")


class Hosts:
    """Draws the hosts that links lead to."""

    def __init__(self, kind: str) -> None:
        count = 10 if kind == "ten" else 10_000
        weights = (1 / n if kind == "zipf" else 1.0 for n in range(1, count + 1))
        self._sums, self._dice = list(accumulate(weights)), random.Random(11)

    def draw(self) -> int:
        return bisect(self._sums, self._dice.random() * self._sums[-1])


def resident(field: str = "VmRSS") -> int:
    """Return resident memory in bytes: `VmRSS` all, `RssAnon` the process's own, `VmHWM` peak."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def settle() -> None:
    """Give back freed memory."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


def pages_of_links(hosts: Hosts) -> Iterator[list[tuple[str, str, str]]]:
    """Yield address, anchor and group title of the links of one page after another."""
    dice, number = random.Random(7), 0

    def words(syllables: int) -> str:
        return "".join(dice.choices(_SYLLABLES, k=syllables))

    while True:
        places = [f"http://www.school{hosts.draw()}.test/{words(2)}/{words(1)}" for _ in range(5)]
        links = []
        for place in places:
            title = words(4)
            for _ in range(LINKS_ON_PAGE // len(places)):
                links.append((f"{place}/{number}.html", f"{words(4)} {words(4)}", title))
                number += 1
        yield links


class OurCrawl:
    """mmcrawl's frontier with what knows its links, without pages and network."""

    def __init__(self, file: Path, algorithm: str) -> None:
        from mmcrawl.frontier import SqliteFrontier, open_store
        from mmcrawl.frontier.twins import Twins
        from mmcrawl.scoring import LinkSimilarity, make_scorer
        from mmcrawl.topic import Topic

        began = time.process_time()
        topic = Topic("optics", "光学", (("光学", "optics"),))
        self._store = open_store(f"sqlite:///{file}")
        self.checked = time.process_time() - began
        self.frontier = SqliteFrontier(self._store, self._store.job("benchmark", {}))
        self._twins = Twins(self.frontier)
        self._scorer = make_scorer(algorithm, self.frontier, LinkSimilarity(topic))
        if self.frontier.pages:
            self._go_on(topic)
        else:
            self._add_seed()
        self.opened = time.process_time() - began

    def _go_on(self, topic: object) -> None:
        from mmcrawl.crawling.history import retold
        from mmcrawl.scoring.relevance import TopicTest

        for past in retold(self.frontier, self._scorer, TopicTest(topic, frozenset())):
            self._twins.learn_parameters(past.id, past.url)
        waiting = self.frontier.each_waiting()
        while some := list(islice(waiting, 50_000)):
            self._scorer.added(some)

    def _add_seed(self) -> None:
        from mmcrawl.frontier import NewLink

        [(seed, _)] = self.frontier.add([NewLink("http://www.school0.test/")])
        self.frontier.apply(self._scorer.added([seed]))

    def grow(self, count: int, hosts: Hosts) -> float:
        """Crawl until so many links wait; return links taken in a second."""
        from mmcrawl.frontier import NewLink, PageRecord
        from mmcrawl.scoring import CrawledPage

        dice, spent, pages = random.Random(3), 0.0, 0
        for found in pages_of_links(hosts):
            new = [
                NewLink(url, anchor, title, anchor, 3, 3, dice.random(), tag_path="div ul li a")
                for url, anchor, title in found
            ]
            begin = time.process_time()
            taken = self.frontier.next()
            assert taken is not None
            self.frontier.apply(self._scorer.started(taken.id))
            self._twins.was_fetched(taken.id, taken.url)
            self._twins.known([link.url for link in new])
            ids = [number for number, _ in self.frontier.add(new, taken.id)]
            pages += 1
            good = pages % 10 == 0
            record = PageRecord(taken.url, "", "", "", good, good, len(ids), 0.0, pages, 0.5)
            self.frontier.complete(taken.id, record, ids)
            self._twins.crawled(taken.id, taken.url)
            page = CrawledPage(taken.id, taken.url, good, good, ids, 0.5, int(good), True)
            self.frontier.apply(self._scorer.crawled(page))
            if pages % PAGES_BETWEEN_COMMITS == 0:
                self.frontier.commit()
            spent += time.process_time() - begin
            if self.frontier.ready >= count:
                break
        self.frontier.commit()
        return pages * LINKS_ON_PAGE / spent

    def rescore(self, links: list[int], batch: int) -> tuple[float, float]:
        """Draw new scores for links, so many at a time; return links a second, also by clock."""
        from mmcrawl.frontier import LinkScores

        dice, spent, elapsed = random.Random(5), 0.0, 0.0
        for start in range(0, len(links), batch):
            some = links[start : start + batch]
            scores = [dice.random() for _ in some]
            begin, began = time.process_time(), time.perf_counter()
            self.frontier.apply(LinkScores(some, scores, scores))
            if (start + batch) % LINKS_BETWEEN_COMMITS == 0 or start + batch >= len(links):
                self.frontier.commit()
            spent += time.process_time() - begin
            elapsed += time.perf_counter() - began
        return len(links) / spent, len(links) / elapsed

    def pop(self, count: int) -> tuple[float, float]:
        """Take so many links, with some hosts always busy; return links a second, also by clock."""
        busy: deque[str] = deque(maxlen=BUSY_HOSTS)
        begin, began = time.process_time(), time.perf_counter()
        for popped in range(count):
            taken = self.frontier.next(lambda origin: origin not in busy)
            while taken is None:  # few hosts, and all of them busy
                busy.popleft()
                taken = self.frontier.next(lambda origin: origin not in busy)
            busy.append(taken.url[: taken.url.index("/", 8)])
            if popped % LINKS_BETWEEN_COMMITS == 0:
                self.frontier.commit()
        self.frontier.commit()
        return count / (time.process_time() - begin), count / (time.perf_counter() - began)

    def close(self) -> None:
        self._store.close()


def fill(file: Path, count: int, hosts: Hosts) -> None:
    """Write a store in which so many links wait."""
    from mmcrawl.frontier import open_store

    def rows() -> Iterator[tuple[object, ...]]:
        dice, number = random.Random(7), 1
        while number < count:
            host = hosts.draw()
            group = f"/{''.join(dice.choices(_SYLLABLES, k=3))}/"
            for _ in range(min(LINKS_IN_GROUP, count - number)):
                words = "".join(dice.choices(_SYLLABLES, k=6))
                key, twin, score = dice.getrandbits(62), dice.getrandbits(62), dice.random()
                yield number, key, host, f"{group}{number}.html", score, words, group, twin
                number += 1

    with open_store(f"sqlite:///{file}") as store:
        store.job("benchmark", {})
        with store.writing() as db:
            _fill(db, rows())
        store.commit()


def _fill(db: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    """Write the rows of waiting links, and what must be there beside them."""
    indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE name LIKE 'link_%'")
    indexes = indexes.fetchall()
    for name, _ in indexes:
        db.execute(f"DROP INDEX {name}")
    names = ((0, host, f"http://www.school{host}.test") for host in range(10_000))
    db.executemany("INSERT INTO host VALUES (?, ?, ?)", names)
    db.execute(
        "INSERT INTO link VALUES (0, 0, 0, '/', 'C', 1, 0, 0, NULL, 1, 1, 0, '', '', '', NULL,"
        " '', 1, '', '', 1)"
    )
    db.execute(
        "INSERT INTO page VALUES (0, 'http://www.school0.test/', '', '', '', 0, 0, 0, 0, x'',"
        " 0, 0, 0)"
    )
    db.executemany(
        "INSERT INTO link VALUES (?, ?, ?, ?, 'W', ?, 0, 0, 0, 3, 3, 0, '', ?, ?, NULL, '',"
        " NULL, '', 'div ul li a', ?)",
        rows,
    )
    for _, statement in indexes:
        db.execute(statement)


def measure(algorithm: str, count: int, kind: str, file: Path, *, filled: bool) -> dict[str, float]:
    """Measure a crawl up to so many waiting links."""
    if filled:
        OurCrawl(file.with_name("empty.db"), algorithm).close()  # imports all that is needed
        fill(file, count, Hosts(kind))
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        settle()
        before, own = resident(), resident("RssAnon")
        crawl = OurCrawl(file, algorithm)
        figures = {"open s": crawl.opened, "check": crawl.checked}
    else:
        crawl = OurCrawl(file, algorithm)
        settle()
        before, own = resident(), resident("RssAnon")
        figures = {"push/s": crawl.grow(count, Hosts(kind))}
    figures["peak"] = (resident("VmHWM") - before) / count
    settle()
    figures["B/link"] = (resident() - before) / count
    figures["anon"] = (resident("RssAnon") - own) / count
    print(f"grown: {figures}", file=sys.stderr, flush=True)
    waiting = crawl.frontier.waiting()
    some = random.Random(1).sample(waiting, min(RESCORED, len(waiting)))
    figures["re-score/s"], figures["by clock"] = crawl.rescore(some, RESCORE_BATCH)
    del waiting, some
    figures["pop/s"], figures["clock"] = crawl.pop(min(POPPED, count // 2))
    print(f"popped: {figures}", file=sys.stderr, flush=True)
    waiting = crawl.frontier.waiting()
    figures["all/s"], _ = crawl.rescore(waiting, len(waiting))
    crawl.close()
    return figures


def measure_scrapy(count: int, kind: str, folder: Path) -> dict[str, float]:
    """Push to Scrapy's scheduler with queues on disk, and pop."""
    from types import SimpleNamespace

    from scrapy import Request, Spider
    from scrapy.core.scheduler import Scheduler
    from scrapy.utils.test import get_crawler

    settings = {
        "JOBDIR": str(folder),
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
    }
    crawler = get_crawler(Spider, settings)
    crawler.engine = SimpleNamespace(downloader=None)
    scheduler = Scheduler.from_crawler(crawler)
    scheduler.open(Spider.from_crawler(crawler, name="peer"))
    settle()
    before, own, pushed, spent = resident(), resident("RssAnon"), 0, 0.0
    for links in pages_of_links(Hosts(kind)):
        begin = time.process_time()
        for url, anchor, _ in links:
            scheduler.enqueue_request(Request(url, meta={"link_text": anchor, "depth": 3}))
        spent += time.process_time() - begin
        pushed += len(links)
        if pushed >= count:
            break
    figures = {"push/s": pushed / spent, "peak": (resident("VmHWM") - before) / count}
    settle()
    figures |= {"B/link": (resident() - before) / count}
    figures |= {"anon": (resident("RssAnon") - own) / count}
    popped = min(POPPED, count // 2)
    begin, began = time.process_time(), time.perf_counter()
    for _ in range(popped):
        assert scheduler.next_request() is not None
    figures["pop/s"] = popped / (time.process_time() - begin)
    return figures | {"clock": popped / (time.perf_counter() - began)}


def reopened(algorithm: str, file: Path) -> dict[str, float]:
    """Measure how a crawl is taken up again."""
    crawl = OurCrawl(file, algorithm)
    return {"open s": crawl.opened, "check": crawl.checked}


def run(side: str, given: argparse.Namespace) -> dict[str, float]:
    """Measure one side, each part in a process of its own."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        figures: dict[str, float] = {}
        again = given.reopen and not given.fill and side != "scrapy"
        for part in ("grow", "reopen") if again else ("grow",):
            command = [sys.executable, __file__, "--part", part, "--links", str(given.links)]
            command += ["--hosts", given.hosts, "--algo", side, "--folder", folder]
            command += ["--fill"] if given.fill else []
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            figures |= json.loads(done.stdout)
    return figures


COLUMNS = (
    "push/s", "B/link", "anon", "peak", "re-score/s", "by clock", "all/s", "pop/s", "clock",
    "open s", "check",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--links", type=int, default=1_000_000, help="default %(default)s")
    parser.add_argument("--hosts", choices=("ten", "many", "zipf"), default="zipf")
    parser.add_argument("--algo", nargs="+", default=["scrapy", *ALGORITHMS], metavar="NAME")
    parser.add_argument("--folder", help="where the stores lie while they are needed")
    parser.add_argument("--fill", action="store_true", help="write the links without crawling")
    parser.add_argument("--no-reopen", dest="reopen", action="store_false")
    parser.add_argument("--part", choices=("grow", "reopen"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        [side], folder = given.algo, Path(given.folder)
        if side == "scrapy":
            figures = measure_scrapy(given.links, given.hosts, folder)
        elif given.part == "grow":
            file = folder / "links.db"
            figures = measure(side, given.links, given.hosts, file, filled=given.fill)
        else:
            figures = reopened(side, folder / "links.db")
        print(json.dumps(figures))
        return
    print(f"{given.links:,} waiting links, {given.hosts} hosts")
    print(f"{'':<16}" + "".join(f"{name:>11}" for name in COLUMNS))
    for side in given.algo:
        figures = run(side, given)
        cells = (
            f"{figures[name]:>11,.0f}" if name in figures else f"{'-':>11}" for name in COLUMNS
        )
        print(f"{side:<16}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
