"""What a shared crawl costs: its coordinator, its log, its snapshots, its documents.

    python benchmarks/shared_costs.py mongodb://HOST --web sim:pages=20000 --pages 10000
    python benchmarks/shared_costs.py mongodb://HOST --web demo --pages 500 --workers 2

A crawl of PAGES pages of a stored web is run by so many workers, in a database of its own that is
dropped at the end, and stopped before all is crawled. Then one more worker is started, which takes
over and stops at once. What is printed:

* log, snapshots: bytes as they are sent; of a snapshot, the last one.
* coordinator: CPU seconds of its thread, of all who coordinated. What a snapshot costs beside it,
  in another thread, is told apart.
* taking over: from the snapshot and the log after it to a frontier that leads; memory is what the
  process grows by meanwhile, less what it grows by for a job without links.
* documents: their sizes as BSON when the crawl has ended, which does not depend on the server; how
  it compresses them and what its indexes take comes on top.

Time is CPU time, which other work on the machine disturbs less; the server's is not counted.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient

PROJECT = Path(__file__).resolve().parents[1]


# -- inside of a worker -----------------------------------------------------------------------


class Counts:
    """What a worker costs, counted by methods that stand around those of the project."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}

    def add(self, name: str, amount: float) -> None:
        self.of[name] = self.of.get(name, 0) + amount

    def append(self, method: Any, shared: Any, number: int, entry: bytes) -> bool:
        self.add("log_entries", 1)
        self.add("log_bytes", len(entry))
        return bool(method(shared, number, entry))

    def close(self, method: Any, shared: Any) -> None:
        self.of["round_trips"] = shared.round_trips
        method(shared)

    def step(self, method: Any, leader: Any) -> bool:
        began = time.thread_time()
        try:
            return bool(method(leader))
        finally:
            self.add("coordinator_cpu", time.thread_time() - began)

    def begin(self, method: Any, leader: Any, *args: Any, **options: Any) -> bool:
        gc.collect()
        memory, began = psutil.Process().memory_info().rss, time.thread_time()
        led = bool(method(leader, *args, **options))
        seconds = time.thread_time() - began
        gc.collect()
        # Only the first time: whoever is stopped by max_pages may lead once more before it ends.
        self.of.setdefault("begin_cpu", seconds)
        self.of.setdefault("begin_bytes", psutil.Process().memory_info().rss - memory)
        self.of.setdefault("links", len(leader._crawl.job.frontier))
        self.of.setdefault("begin_pages", leader._crawl.job.pages)
        return led

    def make(self, method: Any, snapshots: Any, *args: Any) -> None:
        snapshots.wait()  # not counted: this is for the snapshot before
        began = time.perf_counter()
        method(snapshots, *args)
        self.of["copy_seconds"] = time.perf_counter() - began

    def keep(self, method: Any, snapshots: Any, path: Path, *args: Any) -> None:
        self.of["snapshot_bytes"] = path.stat().st_size
        began = time.thread_time()
        method(snapshots, path, *args)
        self.add("snapshots", 1)
        self.add("snapshot_cpu", time.thread_time() - began)

    def tell(self, told: str) -> None:
        self.of["cpu"] = time.process_time()
        Path(told).write_text(json.dumps(self.of))


def put_around(owner: type, name: str, count: Callable[..., Any]) -> None:
    """Have `count` called, with the method itself before its arguments, in place of a method."""
    method = getattr(owner, name)
    setattr(owner, name, lambda *args, **options: count(method, *args, **options))


def work(told: str, arguments: list[str]) -> None:
    """Be a worker that counts; write the counts into the file `told` at the end."""
    from mmcrawl.sharing.leader import Leader
    from mmcrawl.sharing.snapshots import Snapshots
    from mmcrawl.sharing.store import SharedStore

    counts = Counts()
    put_around(SharedStore, "append", counts.append)
    put_around(SharedStore, "close", counts.close)
    put_around(Leader, "step", counts.step)
    put_around(Leader, "begin", counts.begin)
    put_around(Snapshots, "make", counts.make)
    put_around(Snapshots, "_keep", counts.keep)
    atexit.register(counts.tell, told)
    from scrapy.cmdline import execute

    execute(["scrapy", *arguments])


# -- outside ----------------------------------------------------------------------------------


def run(workers: int, command: list[str]) -> list[dict[str, float]]:
    """Run so many workers to their end; return what each counted."""
    environment = os.environ | {
        "PYTHONPATH": str(PROJECT),
        "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings",
    }
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.json" for number in range(workers)]
        with (Path(folder) / "log").open("w+") as log:
            started = [
                subprocess.Popen(
                    [sys.executable, __file__, "--work", str(file), *command],
                    cwd=folder,
                    env=environment,
                    stdout=log,
                    stderr=log,
                )
                for file in files
            ]
            codes = [process.wait() for process in started]
            if any(codes):
                log.seek(0)
                sys.exit(f"a worker ended with {codes}:\n{log.read()[-2_000:]}")
        return [json.loads(file.read_text()) for file in files]


def documents(database: Any) -> list[tuple[str, int, int]]:
    """Return name, documents and their bytes of each collection, the largest first."""
    found = []
    for name in database.list_collection_names():
        sizes = [len(row.raw) for row in database[name].find()]
        found.append((name, len(sizes), sum(sizes)))
    return sorted(found, key=lambda row: -row[2])


def report(crawled: list[dict[str, float]], last: dict[str, float], kept: Any) -> None:
    """Print what was found."""
    total: Counter[str] = Counter()
    for counts in crawled:
        total.update(counts)
    pages, links = last["begin_pages"], last["links"]
    first = max(counts.get("begin_bytes", 0) for counts in crawled)  # of a job without links
    parts = next(size for name, _, size in kept if name == "crawl_part")
    print(f"pages crawled               {pages:10,.0f}   links known {links:,.0f}")
    print(f"log, bytes a page           {total['log_bytes'] / pages:10,.0f}")
    print(f"log, entries a page         {total['log_entries'] / pages:10.3f}")
    print(f"snapshot, bytes a link      {last['snapshot_bytes'] / links:10,.0f}   as a file")
    print(f"                            {parts / links:10,.0f}   compressed, on the server")
    print(f"coordinator, CPU ms a page  {1e3 * total['coordinator_cpu'] / pages:10.2f}")
    print(
        f"snapshots, CPU ms a page    {1e3 * total['snapshot_cpu'] / pages:10.2f}"
        f"   {total['snapshots']:.0f} of them"
    )
    print(f"all workers, CPU ms a page  {1e3 * total['cpu'] / pages:10.2f}   with start and end")
    print(f"round trips a page          {total['round_trips'] / pages:10.2f}   without the archive")
    copying = last["copy_seconds"] / last["snapshot_bytes"]
    print(f"snapshot, seconds a GB      {1e9 * copying:10.2f}   while the coordinator waits")
    print(f"taking over, CPU ms a page  {1e3 * last['begin_cpu'] / pages:10.2f}")
    print(f"memory, bytes a link        {(last['begin_bytes'] - first) / links:10,.0f}")
    print(f"{'collection':<20}{'documents':>12}{'bytes':>14}{'a page':>10}")
    for name, count, size in kept:
        print(f"{name:<20}{count:>12,}{size:>14,}{size / pages:>10,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("server", metavar="mongodb://HOST")
    parser.add_argument(
        "--web", default="sim:pages=20000", help="stored web (default: %(default)s)"
    )
    parser.add_argument(
        "--pages", type=int, default=10_000, help="to crawl; the web must have more"
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--topic", default="physics-senior")
    parser.add_argument(
        "--archive", default="", help="`none` for none (default: the same database)"
    )
    given = parser.parse_args()
    name = f"shared_costs_{uuid4().hex[:8]}"
    store = f"{given.server.rstrip('/')}/{name}"
    command = ["crawl", "focused", "-a", f"store={store}", "-a", f"web={given.web}"]
    command += ["-a", f"max_pages={given.pages}", "-a", f"algo={given.algo}"]
    command += ["-a", f"topic={given.topic}", "-a", f"archive={given.archive}"]
    command += ["-s", "LOG_LEVEL=WARNING", "-s", "MMCRAWL_DISPLAY=0"]
    with MongoClient(given.server, document_class=RawBSONDocument) as client:
        try:
            crawled = run(given.workers, command)
            [last] = run(1, command)
            if "links" not in last:
                sys.exit(f"{given.web} has no more than {given.pages} pages; give fewer --pages")
            report(crawled, last, documents(client[name]))
        finally:
            client.drop_database(name)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3:])
    else:
        main()
