"""What blocks and archive cost a crawl: the focused crawl with them, beside the same one without.

    python benchmarks/crawl_archive.py FOLDER --hosts castalio.test --rounds 5
    python benchmarks/crawl_archive.py FOLDER --archive mongodb://HOST

FOLDER and how it is served are as in `crawl_speed.py`, and so are the crawls: `scrapy crawl focused
-a algo=urlrule` with its store in a new file, with neither blocks nor archive, with an archive
alone (MMCRAWL_BLOCKS=off), with blocks alone, and with both, in turn. `pages/s` counts from
spider_opened to spider_closed, so that it holds what the archive does when it is closed (`with
start` the whole process). All are medians of the rounds; a ratio is the median of the rounds'
ratios to the crawl with neither: 1 is for nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from uuid import uuid4

from crawl_speed import Run, focused
from page_server import running

_CRAWLS = {
    "neither": (False, "off"),
    "archive": (True, "off"),
    "blocks": (False, "bwap"),
    "both": (True, "bwap"),
}
_COLUMNS = {"pages/s": "speed", "with start": "speed_with_start", "of CPU": "speed_of_cpu"}


@contextmanager
def new_archive(server: str, folder: Path) -> Iterator[str]:
    """Name an archive that is not there yet, and remove it at the end."""
    if not server:
        yield f"sqlite:///{folder / 'archive.db'}"
        return
    from pymongo import MongoClient

    name = f"crawl_archive_{uuid4().hex[:8]}"
    try:
        yield f"{server.rstrip('/')}/{name}"
    finally:
        with MongoClient(server) as client:
            client.drop_database(name)


def report(runs: dict[str, list[Run]]) -> None:
    """Print the table."""
    print(f"{'':<10}{'pages':>8}{'MB':>8}" + "".join(f"{column:>12}" for column in _COLUMNS))
    for name, rounds in runs.items():
        served = rounds[-1].served
        speeds = [median(getattr(run, speed) for run in rounds) for speed in _COLUMNS.values()]
        print(
            f"{name:<10}{served.pages:>8}{served.megabytes:>8.0f}"
            + "".join(f"{speed:>12.1f}" for speed in speeds)
        )
    for name in list(runs)[1:]:
        pairs = list(zip(runs[name], runs["neither"], strict=True))
        ratios = [
            [getattr(with_it, speed) / getattr(without, speed) for with_it, without in pairs]
            for speed in _COLUMNS.values()
        ]
        print(f"{'ratio, ' + name:<26}" + "".join(f"{median(ratio):>12.2f}" for ratio in ratios))
        print(f"  of pages/s in each round: {', '.join(f'{ratio:.2f}' for ratio in ratios[0])}")
    sets = {run.served.digest for rounds in runs.values() for run in rounds}
    print("the same pages in all crawls" if len(sets) == 1 else "NOT the same pages")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder of pages for each host")
    parser.add_argument("--hosts", default="castalio.test", help="hosts, parted by commas")
    parser.add_argument("--archive", default="", metavar="mongodb://HOST", help="default: a file")
    parser.add_argument("--keywords", default="podcast,Python,calculus,lecture,video")
    parser.add_argument("--algo", default="urlrule")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each (default 5)")
    arguments = parser.parse_args()
    hosts = [host for host in arguments.hosts.split(",") if (arguments.folder / host).is_dir()]
    if not hosts:
        print(f"{arguments.folder} holds none of these hosts.", file=sys.stderr)
        return 2
    runs: dict[str, list[Run]] = {name: [] for name in _CRAWLS}
    with running(arguments.folder, hosts) as server:
        for number in range(arguments.rounds):
            for name in list(_CRAWLS) if number % 2 == 0 else reversed(_CRAWLS):
                has_archive, blocks = _CRAWLS[name]
                with tempfile.TemporaryDirectory() as place:
                    folder = Path(place)
                    if not has_archive:
                        runs[name].append(focused(arguments, server, folder, blocks=blocks))
                        continue
                    with new_archive(arguments.archive, folder) as archive:
                        crawl = focused(arguments, server, folder, archive=archive, blocks=blocks)
                        runs[name].append(crawl)
    report(runs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
