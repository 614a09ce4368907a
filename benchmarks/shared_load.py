"""What many workers ask of the shared store: models of their crawls, on a simulated clock.

    python benchmarks/shared_load.py --workers 4,64 --pages 1000000

Workers, leases, logs and messages are the real code, with a store in RAM. Only the crawl of a
partition is a model: each has as many pages; they wait as soon as a link to one is known; one
partition in ten has a seed. A page changes --bytes of rows, and leads with a chance of --away to
another partition; one page in five is a media page. A worker takes in --pace pages a second, of a
partition eight at most. Nothing is learnt. Each quarter of a second every worker takes its steps.

The table has for each number of workers the pages, the seconds of the clock until the end, the
operations on the store a page, and how many a second there are in the middle of the crawl; the
most documents that were there at once, the MB that were written to logs, snapshots and messages,
and ms of this machine's CPU for each page. Then operations by kind, in % of all.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mmcrawl.cluster import Rows, Rules, SharedStore
from mmcrawl.crawl import Totals
from mmcrawl.frontier import MediaPageRecord, NewLink, WaitingLink
from mmcrawl.store import Document
from tests.cluster.memory import Gang, MadeWeb, MemoryDocuments, Worker

STEP = 0.25
_MEDIA = 0.2  # of the pages
_AT_ONCE = 2  # pages of a partition in a step


@dataclass(frozen=True, slots=True)
class ModelRules(Rules):
    """Rules by which the host of an address is the number of its partition."""

    def partition_of(self, url: str) -> int:
        return int(url.split("/")[2])


class ModelRows:
    """The rows of a worker's partitions, in place of `Changes`: pages, whether they are known."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._changed: dict[int, int] = {}
        self.there: dict[int, list[int]] = {}

    def change(self, partition: int, pages: int) -> None:
        self._changed[partition] = self._changed.get(partition, 0) + pages

    def take(self) -> dict[int, Rows]:
        taken = {
            partition: self._rows(partition, pages) for partition, pages in self._changed.items()
        }
        self._changed = {}
        return taken

    def _rows(self, partition: int, pages: int) -> Rows:
        row = json.dumps(self.there[partition]), os.urandom(self._size * pages)
        return Rows({"section": [row]}, {})

    def put(self, partition: int, rows: Iterable[Rows]) -> None:
        for some in rows:
            self.there[partition] = json.loads(some.put["section"][0][0])

    def remove(self, partition: int) -> None:
        self.there.pop(partition, None)
        self._changed.pop(partition, None)

    def all_of(self, db: object, partition: int) -> Iterator[bytes]:
        yield self._rows(partition, self.there[partition][0]).encode()


class ModelCrawl:
    """The crawl of a partition, in place of a `CrawlJob`."""

    interrupted = False

    def __init__(self, gang: ModelGang, rows: ModelRows, partition: int) -> None:
        self._gang, self._rows, self._partition = gang, rows, partition
        self._state = rows.there.setdefault(partition, [0, partition in gang.own])
        self._taken = self._state[0]
        self.frontier = SimpleNamespace(outgoing=[], best=self._best)
        self.findings = SimpleNamespace(take_changes=self._take_changes)
        self._media: list[MediaPageRecord] = []
        self.moved_seeds = SimpleNamespace(hosts={})
        self.scorer = SimpleNamespace(remarks=tuple, patterns=tuple)

    @property
    def pages(self) -> int:
        return self._state[0]

    @property
    def ready(self) -> int:
        return (self._gang.each - self._taken) if self._state[1] else 0

    def _best(self, ready: object) -> float | None:
        return None if not self.ready or self._taken - self.pages >= _AT_ONCE else -self._taken

    def next(self, ready: object) -> WaitingLink:
        self._taken += 1
        return WaitingLink(self._taken, "", None, 1, 0, None)

    def fetched(self) -> None:
        """Note a page that was fetched, and the links on it."""
        self._state[0] += 1
        self._rows.change(self._partition, 1)
        rng = self._gang.rng
        if rng.random() < self._gang.away:
            target = rng.randrange(self._gang.rules.partitions)
            if target != self._partition:
                self.frontier.outgoing.append((NewLink(f"http://{target}/{rng.random()}"), None))

        if rng.random() < _MEDIA:
            url = f"http://{self._partition}/{self.pages}"
            self._media.append(MediaPageRecord(url, "", 1.0, (), 200, 0.0, ()))

    def _take_changes(self) -> tuple[list[MediaPageRecord], tuple[str, ...]]:
        media, self._media = self._media, []
        return media, ()

    def add(self, links: Sequence[NewLink]) -> bool:
        self._state[1] = True
        self._rows.change(self._partition, 1)
        return True

    def begin(self) -> Iterator[int]:
        return iter(())

    def commit(self) -> None: ...

    def totals(self) -> Totals:
        return Totals(pages=self.pages)

    def error_reasons(self) -> Counter[str]:
        return Counter()


class ModelWorker(Worker):
    """A worker whose crawls are models."""

    gang: ModelGang

    def __init__(self, gang: ModelGang, name: str, store: SharedStore) -> None:
        super().__init__(gang, name, store)
        self.rows = ModelRows(gang.bytes)
        self.job.partitions._changes = self.rows
        self.job.partitions._made = lambda partition, taught=0: ModelCrawl(
            gang, self.rows, partition
        )
        self.job.partitions._facts = lambda partition, job, is_idle: {
            "totals": job.totals().as_plain()
        }

    def crawl(self) -> None:
        for link in self.under_way:
            if (job := self.job.partitions.end(link.id)) is not None:
                job.fetched()
                self.gang.fetched += 1
                self.job._crawled += 1
                self.job.partitions.note(link.id >> 32)
        self.under_way = []
        while len(self.under_way) < self.gang.pace and (link := self.job.next()):
            self.under_way.append(link)
        if self.gang.now % 1 == 0:  # as the scheduler does
            self.job.commit()

    def correspond(self) -> None:
        self.job.exchange.turn()
        if self.gang.now >= self.gang.beats.get(self.name, 0.0):
            self.gang.beats[self.name] = self.gang.now + self.job.exchange.beat_seconds
            self.job.exchange.beat(self.gang.now)


class ModelGang(Gang):
    """Workers whose crawls are models."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.each = arguments.pages // arguments.partitions
        self.pace = int(arguments.pace * STEP)
        self.bytes, self.away = arguments.bytes, arguments.away
        web = MadeWeb(1, 1)
        web.hosts = [str(partition) for partition in range(0, arguments.partitions, 10)]
        self.own = {*range(0, arguments.partitions, 10)}
        self.fetched = 0
        self.sent: Counter[str] = Counter()
        self.written = self.documents = 0
        self.beats: dict[str, float] = {}
        super().__init__(web, ModelRules(partitions=arguments.partitions, rest=0.0))

    def _made(self, name: str) -> Worker:
        return ModelWorker(self, name, SharedStore(CountingDocuments(self), "job"))

    def run_to_end(self) -> tuple[float, float]:
        """Return operations a page and those a second in the middle half of the pages."""
        marks: list[tuple[float, int]] = []
        whole = self.each * self.rules.partitions
        while self.workers:
            self.pass_time(STEP)
            self.see_off()
            if self.fetched >= whole * (1 + 2 * len(marks)) / 4 and len(marks) < 2:
                marks.append((self.now, self.sent.total()))
            if self.now % 5 == 0:
                there = sum(map(len, self.tables.values()))
                self.documents = max(self.documents, there)
        (began, before), (ended, after) = marks
        return self.sent.total() / self.fetched, (after - before) / (ended - began)


class CountingDocuments(MemoryDocuments):
    """Documents that count what is asked of them, and the bytes that are written."""

    def __init__(self, gang: ModelGang) -> None:
        super().__init__(gang.tables)
        self._gang = gang
        self.before = self._count

    def _count(self, operation: str, table: str) -> None:
        self._gang.sent[f"{operation} {table}"] += 1

    def insert_new(self, table: str, documents: Mapping[str, Document]) -> set[str]:
        self._gang.written += sum(len(row.get("bytes", b"")) for row in documents.values())
        return super().insert_new(table, documents)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", default="4,64")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=1024)
    parser.add_argument("--pace", type=int, default=40, help="pages a second of a worker")
    parser.add_argument("--bytes", type=int, default=300, help="of rows that a page changes")
    parser.add_argument("--away", type=float, default=0.1, help="messages a page")
    arguments = parser.parse_args()
    columns = ("pages", "seconds", "a page", "a second", "documents", "MB", "CPU")
    print(f"{'':<8}" + "".join(f"{column:>11}" for column in columns))
    for count in map(int, arguments.workers.split(",")):
        gang, began = ModelGang(arguments), time.process_time()
        for _ in range(count):
            gang.join()
        a_page, a_second = gang.run_to_end()
        cpu = 1000 * (time.process_time() - began) / gang.fetched
        print(
            f"{count:<8}{gang.fetched:>11}{gang.now:>11.0f}{a_page:>11.4f}{a_second:>11.0f}"
            f"{gang.documents:>11}{gang.written / 1e6:>11.0f}{cpu:>11.2f}",
            flush=True,
        )
        for kind, number in gang.sent.most_common():
            if number > gang.sent.total() / 100:
                print(f"{'':<8}{kind:<20}{100 * number / gang.sent.total():>6.1f} %")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
