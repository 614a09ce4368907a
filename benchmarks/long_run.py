"""One long crawl of a simulated web, with archive and blocks: does it stay as fast and as small?

    nice -n 15 python benchmarks/long_run.py --pages 10000

Every few seconds the memory of all processes of the crawl, the pages in its store and the
processor time are noted. The table has for each tenth of the pages: pages a second by the clock and
by the processor, memory at its end, and bytes of crawl and archive a page. Then `archive check`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
_PAUSE = 2.0  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Look:
    """What a crawl came to by a moment."""

    pages: int
    seconds: float
    cpu: float
    memory: int
    disk: int


def main() -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--web", default="")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="long-run-"))
    web = given.web or f"sim:pages={2 * given.pages},sites={min(200, given.pages // 25)}"
    words = ["crawl", "focused", "-a", f"web={web}", "-a", f"max_pages={given.pages}"]
    words += ["-a", "topic=physics-senior", "-a", "store=crawl.db", "-s", "LOG_LEVEL=WARNING"]
    try:
        looks = watched([sys.executable, "-m", "scrapy", *words], folder)
        for line in table(looks):
            print(line)
        check = [sys.executable, "-m", "scrapy", "archive", "check", "-a", "store=crawl.db"]
        print()
        print(*subprocess.run(check, cwd=folder, env=environment(), capture_output=True,
                              text=True, check=False).stdout.split())  # fmt: skip
    finally:
        shutil.rmtree(folder)
    return 0


def environment() -> dict[str, str]:
    """Return what the crawl needs to find the project from another folder."""
    ours = {"PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings"}
    return {**os.environ, **ours}


def watched(command: list[str], folder: Path) -> list[Look]:
    """Run a crawl; return what was seen of it."""
    looks, began = [], time.monotonic()
    with (folder / "log").open("w") as log:
        crawl = subprocess.Popen(command, cwd=folder, env=environment(), stdout=log, stderr=log)
        while crawl.poll() is None:
            time.sleep(_PAUSE)
            memory, cpu = 0, 0.0
            with suppress(psutil.Error):
                first = psutil.Process(crawl.pid)
                for process in (first, *first.children(recursive=True)):
                    with suppress(psutil.Error):
                        memory += process.memory_info().rss
                        cpu += sum(process.cpu_times()[:2])
                disk = sum(path.stat().st_size for path in folder.iterdir())
                pages = pages_in(folder / "crawl.db")
                looks.append(Look(pages, time.monotonic() - began, cpu, memory, disk))
    if crawl.returncode:
        raise SystemExit((folder / "log").read_text()[-2_000:])
    # Processes that end take their share of both with them: the last looks are no measure.
    return [one for one, after in pairwise(looks) if 0 < one.cpu <= after.cpu]


def pages_in(store: Path) -> int:
    """Return how many pages a crawl has fetched."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM link WHERE status = 'C'").fetchone()[0])
    return 0


def table(looks: list[Look]) -> list[str]:
    """Return the lines of the table."""
    lines = ["| pages | pages/s | pages/CPU s | MB | bytes a page |", "|---|---|---|---|---|"]
    last, before = looks[-1].pages, looks[0]
    for tenth in range(1, 11):
        now = next(one for one in looks if one.pages >= last * tenth // 10)
        if (new := now.pages - before.pages) > 0:
            clock, cpu = new / (now.seconds - before.seconds), new / (now.cpu - before.cpu)
            size = (now.disk - before.disk) / new
            lines.append(
                f"| {now.pages} | {clock:.1f} | {cpu:.1f} | {now.memory >> 20} | {size:.0f} |"
            )
            before = now
    return lines


if __name__ == "__main__":
    sys.exit(main())
