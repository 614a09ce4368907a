"""Crawls by the focused spider and by a plain one, each in a process of its own, timed.

A stored site is served from RAM on the loopback network by another process (`page_server.py`), so
that the crawler is what is slow. Each crawl begins with an empty store:

* plain: `plain_spider.py`, all else Scrapy's own defaults;
* focused: `scrapy crawl focused -a algo=urlrule` with its store in a file.

Both run with the same concurrency and log level, without AutoThrottle and robots.txt, and with no
bound on pages of one shape, so that both fetch every page. `speed` is of the time from
spider_opened to spider_closed as Scrapy's statistics have it (`elapsed_time_seconds`),
`speed_of_cpu` is pages for each second of the process's CPU time, which a busy machine disturbs
least.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from page_server import Running, Served

PROJECT = Path(__file__).resolve().parent.parent
SPIDER = Path(__file__).with_name("plain_spider.py").resolve()
_LOOK = 0.5  # seconds
_SHARED = """
    CONCURRENT_REQUESTS=16 CONCURRENT_REQUESTS_PER_DOMAIN=16 DOWNLOAD_DELAY=0 AUTOTHROTTLE_ENABLED=0
    ROBOTSTXT_OBEY=0 LOG_LEVEL=INFO STATS_DUMP=1
""".split()
_ELAPSED = re.compile(r"'elapsed_time_seconds': ([0-9.]+)")


@dataclass(frozen=True)
class Run:
    """One crawl: seconds inside the spider and of the CPU; and what it was served.

    `memory` is the most it took with the processes it started, in MB, as far as looks every half a
    second tell.
    """

    inside: float
    cpu: float
    served: Served
    memory: float

    @property
    def speed(self) -> float:
        """Pages a second while the spider was open."""
        return self.served.pages / self.inside

    @property
    def speed_of_cpu(self) -> float:
        """Pages for each second of CPU time of the whole process."""
        return self.served.pages / self.cpu


def plain(server: Running, folder: Path) -> Run:
    """Crawl with the plain spider."""
    return crawl([str(SPIDER), ",".join(server.starts), *_SHARED], folder, server)


def focused(
    keywords: str, server: Running, folder: Path, *, archive: str = "none", blocks: str = "off"
) -> Run:
    """Crawl with the focused spider; media pages and frontier go into a new file."""
    command = ["-m", "scrapy", "crawl", "focused", "-a", "algo=urlrule"]
    command += ["-a", f"keywords={keywords}", "-a", f"seeds={','.join(server.starts)}"]
    command += ["-a", f"store=sqlite:///{folder / 'crawl.db'}", "-a", "max_layer=0"]
    command += ["-a", f"archive={archive}"]
    command += ["-s", "MMCRAWL_BARREN_PAGES_PER_SHAPE=0", "-s", f"MMCRAWL_BLOCKS={blocks}"]
    for setting in _SHARED:
        command += ["-s", setting]
    return crawl(command, PROJECT, server)


def crawl(command: list[str], folder: Path, server: Running) -> Run:
    """Run Python with some arguments in a folder, and time it."""
    cpu = cpu_seconds()
    memory = 0.0
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            # As an installed program, it has its bytecode from the second crawl on.
            env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": ""},
            stderr=log,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None:
            memory = max(memory, megabytes_of(process.pid))
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK)
        log.seek(0)
        said = log.read()
    elapsed = _ELAPSED.search(said)
    if process.returncode or elapsed is None:
        raise SystemExit(f"{' '.join(command[:2])} failed:\n{said[-2000:]}")
    return Run(float(elapsed[1]), cpu_seconds() - cpu, server.served(), memory)


def megabytes_of(pid: int) -> float:
    """Return the memory of a process and of those it started; what they share counts once."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                total += one.memory_full_info().pss
    return total / 1e6


def cpu_seconds() -> float:
    """Return the CPU time of the processes that were started here and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
