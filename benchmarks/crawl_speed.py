"""How fast the focused crawl is, beside a plain spider that follows links.

    python benchmarks/crawl_speed.py FOLDER --hosts castalio.test,ocw1802.test

FOLDER holds one folder of pages for each host. They are served from RAM on the loopback network by
another process (`page_server.py`), so that the crawler is what is slow. Then, in turn, each in a
process of its own and with an empty store:

* plain: `benchmarks/plain_spider.py`, all else Scrapy's own defaults;
* focused: `scrapy crawl focused -a algo=urlrule` with its store in a file, and no archive;
  `gate.py speed` measures that, with `crawl` of this script.

Both run with the same concurrency and log level, without AutoThrottle and robots.txt, and with no
bound on pages of one shape, so that both fetch every page; the table says how many each was served
and whether they were the same. `pages/s` counts from spider_opened to spider_closed as Scrapy's
statistics have it (`elapsed_time_seconds`), `of CPU` is pages for each second of the process's CPU
time, which a busy machine disturbs least. All are medians of the rounds. A ratio is the median of
the rounds' ratios, focused to plain: 1 is as fast as the plain spider.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
from page_server import Running, Served, running

PROJECT = Path(__file__).resolve().parent.parent
SPIDER = Path(__file__).with_name("plain_spider.py").resolve()
_LOOK = 0.5  # seconds
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


def settings(arguments: argparse.Namespace) -> list[str]:
    """Return the settings that both crawls share."""
    shared = {
        "CONCURRENT_REQUESTS": arguments.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": arguments.concurrency,
        "DOWNLOAD_DELAY": 0,
        "AUTOTHROTTLE_ENABLED": 0,
        "ROBOTSTXT_OBEY": 0,
        "LOG_LEVEL": "INFO",
        "STATS_DUMP": 1,
    }
    return [f"{name}={value}" for name, value in shared.items()]


def plain(arguments: argparse.Namespace, server: Running, folder: Path) -> Run:
    """Crawl with the plain spider."""
    seeds = ",".join(server.starts)
    return crawl([str(SPIDER), seeds, *settings(arguments)], folder, server)


def focused(
    arguments: argparse.Namespace,
    server: Running,
    folder: Path,
    *,
    archive: str = "none",
    blocks: str = "off",
) -> Run:
    """Crawl with the focused spider; media pages and frontier go into a new file."""
    command = ["-m", "scrapy", "crawl", "focused", "-a", f"algo={arguments.algo}"]
    command += ["-a", f"keywords={arguments.keywords}", "-a", f"seeds={','.join(server.starts)}"]
    command += ["-a", f"store=sqlite:///{folder / 'crawl.db'}", "-a", "max_layer=0"]
    command += ["-a", f"archive={archive}"]
    command += ["-s", "MMCRAWL_BARREN_PAGES_PER_SHAPE=0", "-s", f"MMCRAWL_BLOCKS={blocks}"]
    for setting in (*arguments.set, *settings(arguments)):
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


def report(runs: dict[str, list[Run]]) -> None:
    """Print the table."""
    columns = {"pages/s": "speed", "of CPU": "speed_of_cpu"}
    print(f"{'':<10}{'pages':>8}{'requests':>10}{'MB':>8}" + "".join(f"{c:>12}" for c in columns))
    for name, rounds in runs.items():
        last = rounds[-1].served
        speeds = [median(getattr(run, speed) for run in rounds) for speed in columns.values()]
        print(
            f"{name:<10}{last.pages:>8}{last.requests:>10}{last.megabytes:>8.0f}"
            + "".join(f"{speed:>12.1f}" for speed in speeds)
        )
    pairs = list(zip(runs["focused"], runs["plain"], strict=True))
    ratios = [
        [getattr(ours, speed) / getattr(theirs, speed) for ours, theirs in pairs]
        for speed in columns.values()
    ]
    print(f"{'ratio':<36}" + "".join(f"{median(ratio):>12.2f}" for ratio in ratios))
    print(f"ratio of pages/s in each round: {', '.join(f'{ratio:.2f}' for ratio in ratios[0])}")
    sets = {run.served.digest for rounds in runs.values() for run in rounds}
    print("the same pages in all crawls" if len(sets) == 1 else "NOT the same pages")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder of pages for each host")
    parser.add_argument("--hosts", help="hosts to crawl, parted by commas (default: all)")
    parser.add_argument("--keywords", default="podcast,Python,calculus,lecture,video")
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="setting of ours to try"
    )
    parser.add_argument("--rounds", type=int, default=3, help="crawls of each (default 3)")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        print(f"There is no folder {arguments.folder}: name one that holds pages.", file=sys.stderr)
        return 2
    found = sorted(entry.name for entry in arguments.folder.iterdir() if "." in entry.name)
    hosts = arguments.hosts.split(",") if arguments.hosts else found
    hosts = [host for host in hosts if (arguments.folder / host).is_dir()]
    if not hosts:
        print(f"{arguments.folder} holds none of these hosts.", file=sys.stderr)
        return 2
    runs: dict[str, list[Run]] = {"plain": [], "focused": []}
    with running(arguments.folder, hosts) as server:
        for number in range(arguments.rounds):
            order = [("plain", plain), ("focused", focused)]
            for name, work in order if number % 2 == 0 else reversed(order):
                with tempfile.TemporaryDirectory() as folder:
                    runs[name].append(work(arguments, server, Path(folder)))
    report(runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
