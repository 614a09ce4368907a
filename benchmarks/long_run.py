"""One long crawl with blocks, archive and downloads: does it stay as fast and as small?

    nice -n 15 python benchmarks/long_run.py --pages 10000 --workers 2 --webs FOLDER;FOLDER

A simulated web of 200 hosts, with stored ones (`--webs`), answers after 20 ms; of its answers 1 in
50 is a broken connection, an error of the server or half a page. Every few seconds the memory of
all processes of the crawl, the pages in its archive and the processor time are noted. The table has
for each tenth of the pages: pages a second by the clock and by the processor, memory at its end,
and bytes of stores a page. Then `archive check`; in each of so many `--months`, visits that are
due, 1 page in 200 at most, for pages that change as their addresses say; and `archive check` again.
`--minutes` ends the crawl as Ctrl-C does.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

import psutil
from scrapy.http import HtmlResponse, Request, Response
from twisted.internet.error import ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

ROOT = Path(__file__).resolve().parent.parent
_PAUSE = 2.0  # seconds between two looks
_MONTH = 30 * 86_400.0
_NOW = "LONG_RUN_NOW"  # Unix time of the visits, in the environment


@dataclass(frozen=True, slots=True)
class Look:
    """What a crawl came to by a moment."""

    pages: int
    seconds: float
    cpu: float
    memory: int
    disk: int


class Faults:
    """A downloader middleware: what goes wrong on a network, and pages that change."""

    def process_response(self, request: Request, response: Response, spider: object) -> Response:
        """Return the answer, one that went wrong, or the page as it is by now."""
        chance = zlib.crc32(f"{request.url} {request.meta.get('retry_times')}".encode()) % 100
        if "robots.txt" in request.url or response.status != 200:
            return response
        if chance == 0:
            raise ResponseFailed([Failure(ConnectionLost())])
        if chance == 1:
            return Response(request.url, status=503, request=request)
        if not isinstance(response, HtmlResponse):
            return response
        body = response.body + said_at(request.url, float(os.environ[_NOW]))
        return response.replace(body=body[: len(body) // 2] if chance == 2 else body)


def said_at(url: str, now: float) -> bytes:
    """Return what stands at the end of a page: of one in three nothing new, ever."""
    days = (1e9, 100, 25)[zlib.crc32(url.encode()) % 3]
    return f"<p>Edition {int(now / 86_400 / days)} of this page was written.</p>".encode()


def main() -> int:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--webs", default="")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--months", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e6)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="long-run-"))
    web = f"sim:pages={2 * given.pages},sites={min(200, given.pages // 25)};{given.webs}"
    words = ["-a", f"web=portal:{web}", "-a", "store=sqlite:///crawl.db"]
    words += ["-s", "LOG_LEVEL=WARNING", "-s", "MMCRAWL_WEB_LATENCY=20"]
    words += ["-s", 'DOWNLOADER_MIDDLEWARES={"long_run.Faults": 590}', "-s", "RETRY_ENABLED=1"]
    crawl = ["crawl", "focused", *words, "-a", f"max_pages={given.pages}", "-a", "sites=anywhere"]
    crawl += ["-a", "topic=physics-senior", "-a", "download=all"]
    crawl += ["-a", f"workers={given.workers}"] if given.workers else []
    try:
        start = time.time()
        looks = watched(crawl, folder, start, 60 * given.minutes)
        print(*table(looks), *told(["archive", "check"], folder, start), sep="\n")
        for month in range(1, given.months + 1):
            visits = ["crawl", "revisit", *words, "-a", f"at=@{start + month * _MONTH:.0f}"]
            visits += ["-a", f"limit={given.pages // 200}"]
            looks = watched(visits, folder, start + month * _MONTH)
            print(f"month {month}: {looks[-1]}", flush=True)
        if given.months:
            print(*told(["archive", "check"], folder, start), sep="\n")
    finally:
        shutil.rmtree(folder)
    return 0


def told(words: list[str], folder: Path, now: float) -> list[str]:
    """Return the lines that a command about the store writes."""
    command = [sys.executable, "-m", "scrapy", *words, "-a", "store=crawl.db"]
    run = subprocess.run(
        command, cwd=folder, env=environment(now), capture_output=True, text=True, check=False
    )
    return ["", *run.stdout.splitlines()]


def environment(now: float) -> dict[str, str]:
    """Return what a command needs to find the project from another folder."""
    ours = {"PYTHONPATH": f"{ROOT}:{ROOT}/benchmarks", "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings"}
    return {**os.environ, **ours, _NOW: str(now)}


def watched(words: list[str], folder: Path, now: float, seconds: float = inf) -> list[Look]:
    """Run a crawl for so long; return what was seen of it."""
    command = [sys.executable, "-m", "scrapy", *words]
    looks, began = [], time.monotonic()
    with (folder / "log").open("w") as log:
        crawl = subprocess.Popen(command, cwd=folder, env=environment(now), stdout=log, stderr=log)
        while crawl.poll() is None:
            time.sleep(_PAUSE)
            memory, cpu = 0, 0.0
            if time.monotonic() - began > seconds:
                seconds = inf
                crawl.send_signal(signal.SIGINT)
            with suppress(psutil.Error):
                first = psutil.Process(crawl.pid)
                for process in (first, *first.children(recursive=True)):
                    with suppress(psutil.Error):
                        memory += process.memory_info().rss
                        cpu += sum(process.cpu_times()[:2])
                disk = sum(file.stat().st_size for file in folder.glob("*.db*"))
                pages = pages_in(folder / "crawl-archive.db")
                looks.append(Look(pages, time.monotonic() - began, cpu, memory, disk))
    if crawl.returncode:
        raise SystemExit((folder / "log").read_text()[-2_000:])
    # Processes that end take their share of both with them: the last looks are no measure.
    return looks[: 1 + max(range(len(looks)), key=lambda place: looks[place].cpu)]


def pages_in(store: Path) -> int:
    """Return how many versions of pages an archive has."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM version").fetchone()[0])
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
