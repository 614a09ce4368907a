"""One long crawl with blocks, archive and downloads: does it stay as fast and as small?

    nice -n 15 python benchmarks/long_run.py --pages 10000 --workers 2 --webs FOLDER;FOLDER

A simulated web of 200 hosts, with stored ones (`--webs`), answers after 20 ms; of its answers 1 in
50 is a broken connection, an error of the server or half a page. Every few seconds the memory of
each process of the crawl, the pages in its archive and the processor time are noted. The table has
for each tenth of the pages: pages a second by the clock and by the processor, bytes of stores a
page, and the memory of each process at its end. Then `archive check`; in each of so many
`--months`, visits that are due, 1 page in 200 at most, for pages that change as their addresses
say; and `archive check` again. `--minutes` ends the crawl as Ctrl-C does. What fails is told.
With `--kills`, one process after the other is killed, whichever it is, and the crawl begun again
if it ended with that, until all is done. Pages, media and files have to be as nobody disturbed it.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import psutil
from scrapy.http import HtmlResponse, Request, Response
from twisted.internet.error import ConnectionLost
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from mmcrawl.archive import open_archive
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.media import State, open_collection

ROOT = Path(__file__).resolve().parent.parent
_MONTH = 30 * 86_400.0
_NOW = "LONG_RUN_NOW"  # Unix time of the visits, in the environment


@dataclass(frozen=True, slots=True)
class Look:
    """What a crawl came to by a moment."""

    pages: int
    seconds: float
    cpu: float
    disk: int
    memory: dict[str, int]  # bytes of each process, by what it does


@dataclass(slots=True)
class Processes:
    """The processes of a crawl: what they do, and the processor time of all that were seen."""

    names: dict[int, str] = field(default_factory=dict)
    running: list[psutil.Process] = field(default_factory=list)
    _cpu: dict[int, float] = field(default_factory=dict)

    def look(self, first: int) -> tuple[float, dict[str, int]]:
        """Return the processor time so far, in seconds, and the memory of each that runs."""
        memory: dict[str, int] = {}
        with suppress(psutil.Error):
            crawl = psutil.Process(first)
            self.running = [crawl, *crawl.children(recursive=True)]
        for process in self.running:
            with suppress(psutil.Error):
                name = self._name(process, first)
                memory[name] = memory.get(name, 0) + process.memory_info().rss
                self._cpu[process.pid] = sum(process.cpu_times()[:2])
        return sum(self._cpu.values()), memory

    def _name(self, process: psutil.Process, first: int) -> str:
        if process.pid not in self.names:
            serves = re.search(r"from mmcrawl\.(\S+) import serve", " ".join(process.cmdline()))
            parent = self.names.get(process.ppid(), "")
            number = sum(" of " not in one for one in self.names.values())
            name = f"{serves[1].rpartition('.')[2]} of {parent}" if serves else f"worker{number}"
            self.names[process.pid] = "crawl" if process.pid == first else name
        return self.names[process.pid]


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
        days = (1e9, 100, 25)[zlib.crc32(request.url.encode()) % 3]  # of one in three nothing new
        edition = int(float(os.environ[_NOW]) / 86_400 / days)
        body = response.body + f"<p>Edition {edition} of this page was written.</p>".encode()
        return response.replace(body=body[: len(body) // 2] if chance == 2 else body)


def main() -> int:
    """Run it and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default="")
    parser.add_argument("--minutes", type=float, default=inf)
    for kind, default in {"pages": 10_000, "workers": 0, "months": 0, "kills": 0}.items():
        parser.add_argument(f"--{kind}", type=int, default=default)
    given = parser.parse_args()
    pages = given.pages if given.kills else 2 * given.pages
    web = f"sim:pages={pages},sites={min(200, pages // 50)};{given.webs}"
    words = ["-a", f"web=portal:{web}", "-a", "store=sqlite:///crawl.db"]
    words += ["-s", "LOG_LEVEL=WARNING", "-s", "MMCRAWL_WEB_LATENCY=20"]
    words += ["-s", 'DOWNLOADER_MIDDLEWARES={"long_run.Faults": 590}', "-s", "RETRY_ENABLED=1"]
    crawl = ["crawl", "focused", *words, "-a", "sites=anywhere", "-a", "download=all"]
    crawl += ["-a", "topic=physics-senior"]
    crawl += ["-a", f"workers={given.workers}"] if given.workers else []
    with tempfile.TemporaryDirectory(prefix="long-run-") as name:
        folder, start = Path(name), time.time()
        if given.kills:
            return 0 if killed(crawl, folder, start, given.kills) else 1
        crawl += ["-a", f"max_pages={given.pages}"]
        looks = watched(crawl, folder, start, 60 * given.minutes)
        print(*table(looks), *told(["archive", "check"], folder, start), sep="\n", flush=True)
        for month in range(1, given.months + 1):
            visits = ["crawl", "revisit", *words, "-a", f"at=@{start + month * _MONTH:.0f}"]
            visits += ["-a", f"limit={given.pages // 200}"]
            looks = watched(visits, folder, start + month * _MONTH)
            most = max(sum(look.memory.values()) for look in looks)
            print(f"month {month}: {looks[-1].pages} versions, {most >> 20} MB", flush=True)
        if given.months:
            print(*told(["archive", "check"], folder, start), sep="\n")
    return 0


@dataclass(slots=True)
class Kills:
    """What was killed so far; `most` are to be."""

    most: int
    made: Counter[str] = field(default_factory=Counter)
    _chance: random.Random = field(default_factory=lambda: random.Random(51))

    def one(self, processes: Processes) -> None:
        """Kill one of the processes that run, or none."""
        if self.made.total() < self.most and self._chance.random() < 0.3:
            with suppress(psutil.Error):
                process = self._chance.choice(processes.running)
                process.kill()
                self.made[re.sub(r"\d| of .*", "", processes.names[process.pid])] += 1


def killed(words: list[str], folder: Path, now: float, most: int) -> bool:
    """Crawl undisturbed and with kills; return whether both came to the same."""
    (undisturbed := folder / "undisturbed").mkdir()
    watched(words, undisturbed, now)
    wanted, equal, kills = found(undisturbed), True, Kills(most)
    print("undisturbed:", {name: len(each) for name, each in wanted.items()}, flush=True)
    while equal and (count := kills.made.total()) < most:
        (disturbed := folder / f"after-{count}").mkdir()
        watched(words, disturbed, now, kills=kills)
        said = told(["crawl", "collect"], disturbed, now)
        said += told(["archive", "check"], disturbed, now)
        differ = {name: each ^ wanted[name] for name, each in found(disturbed).items()}
        equal = "nothing is wrong" in said and not any(differ.values())
        print(dict(kills.made), *([] if equal else [differ, *said]), sep="\n", flush=True)
    if not equal:  # to be looked at
        print("kept:", shutil.copytree(folder, tempfile.mkdtemp(), dirs_exist_ok=True))
    return equal


def found(folder: Path) -> dict[str, set[tuple[str, ...]]]:
    """Return the pages, the media and the files that a crawl has."""
    store = f"sqlite:///{folder}/crawl.db"
    with open_archive(f"sqlite:///{folder}/crawl-archive.db", read_only=True) as archive:
        pages = {(url, archive.get(url).digest) for url in archive.urls()}
    media = set(FoundMedia(store).since(0))  # banners that stand everywhere are fetched by chance
    named = {url for url, _, _ in media}
    with open_collection(store, str(folder / "crawl-media")).index as index:
        files = {(file.url, file.digest) for file in index.files([State.HELD]) if file.url in named}
    return {"pages": pages, "media": media, "files": files}


def told(words: list[str], folder: Path, now: float) -> list[str]:
    """Return the lines that a command about the store writes."""
    command = [sys.executable, "-m", "scrapy", *words, "-a", "store=crawl.db"]
    run = subprocess.run(
        command, cwd=folder, env=environment(now), capture_output=True, text=True, check=False
    )
    return ["", *run.stdout.splitlines(), *run.stderr[-2_000:].splitlines()]


def environment(now: float) -> dict[str, str]:
    """Return what a command needs to find the project from another folder."""
    ours = {"PYTHONPATH": f"{ROOT}:{ROOT}/benchmarks", "SCRAPY_SETTINGS_MODULE": "mmcrawl.settings"}
    return {**os.environ, **ours, _NOW: str(now)}


def watched(
    words: list[str], folder: Path, now: float, seconds: float = inf, kills: Kills | None = None
) -> list[Look]:
    """Run a crawl for so long; return what was seen of it."""
    command = [sys.executable, "-m", "scrapy", *words]
    looks, began, processes = [], time.monotonic(), Processes()
    count = kills.made.total() if kills is not None else 0
    with (folder / "log").open("w") as log:
        crawl = subprocess.Popen(command, cwd=folder, env=environment(now), stdout=log, stderr=log)
        while True:
            ended = crawl.poll() is not None
            if time.monotonic() - began > seconds:
                seconds = inf
                crawl.send_signal(signal.SIGINT)
            cpu, memory = processes.look(crawl.pid)
            disk = sum(file.stat().st_size for file in folder.glob("*.db*"))
            pages = pages_in(folder / "crawl-archive.db")
            looks.append(Look(pages, time.monotonic() - began, cpu, disk, memory))
            if ended:
                break
            if kills is not None and pages > looks[0].pages:  # else it would never begin
                kills.one(processes)
            time.sleep(2.0)
    if crawl.returncode and kills is not None and kills.made.total() > count:
        for process in psutil.process_iter(["cwd"]):  # its workers go on without it
            if process.info["cwd"] == str(folder):
                process.wait(600)
        return watched(words, folder, now, kills=kills)
    if crawl.returncode:
        print(f"exit status {crawl.returncode}:", (folder / "log").read_text()[-2_000:])
    return looks


def pages_in(store: Path) -> int:
    """Return how many versions of pages an archive has."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM version").fetchone()[0])
    return 0


def table(looks: list[Look]) -> list[str]:
    """Return the lines of the table."""
    names = [*dict.fromkeys(name for look in looks for name in look.memory)]
    head = ["pages", "pages/s", "pages/CPU s", "bytes a page", *(f"MB {name}" for name in names)]
    rows: list[list[object]] = [head, ["---"] * len(head)]
    last, before = looks[-1].pages, looks[0]
    for tenth in range(1, 11):
        now = next(one for one in looks if one.pages >= last * tenth // 10)
        if (new := now.pages - before.pages) > 0:
            clock, cpu = new / (now.seconds - before.seconds), new / (now.cpu - before.cpu)
            size = [(now.disk - before.disk) // new, *(now.memory.get(n, 0) >> 20 for n in names)]
            rows.append([now.pages, f"{clock:.1f}", f"{cpu:.1f}", *size])
            before = now
    return [f"| {' | '.join(map(str, row))} |" for row in rows]


if __name__ == "__main__":
    sys.exit(main())
