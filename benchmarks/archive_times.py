"""How long one version of a page takes to read that has very many, from a cold archive and a warm.

    python benchmarks/archive_times.py [--versions 50000] [--bytes 6000] [--reads 200] [--keep FILE]
    python benchmarks/archive_times.py --hosts 500

A made page is stored so many times, a paragraph changed each time, and read at random times: cold
by an archive that was just opened, warm by one that has read others before. Printed are median,
99th percentile and maximum of the milliseconds that ``get`` takes, and ``get`` with ``rebuild``;
and the CPU milliseconds of storing a version.

With `--hosts`, pages of so many hosts are stored in turn, 30 of each, 30 kB each, two thirds of
them the host's template; printed are the largest size of the files meanwhile, and the last one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from mmcrawl.archive import Archive, Capture, open_archive

URL = "http://ticker.test/"
GROUP = 64


def page(number: int, size: int) -> Capture:
    parts = [random.Random(k).randbytes(100).hex() for k in range(size // 250)]
    parts[number % len(parts)] = f"Number {number}: " + random.Random(number).randbytes(60).hex()
    blocks = "".join(f'<div class="item"><p>{part}</p></div>\n' for part in parts)
    body = f"<!DOCTYPE html><html><body>{blocks}</body></html>".encode()
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Age", str(number % 97)))
    return Capture(URL, body, float(number), headers=headers)


def store(uri: str, versions: int, size: int) -> float:
    """Store the versions; return CPU seconds, sealing included."""
    start = time.process_time()
    making = 0.0
    with open_archive(uri) as archive:
        for first in range(0, versions, GROUP):
            begun = time.process_time()
            group = [page(n, size) for n in range(first, min(first + GROUP, versions))]
            making += time.process_time() - begun
            archive.store_many(group)
    return time.process_time() - start - making


def print_room(hosts: int, folder: Path) -> None:
    uri, largest = f"sqlite:///{folder / 'archive.db'}", 0
    start = time.process_time()
    with open_archive(uri, keep_blocks=False) as archive:
        for n in range(30):
            for first in range(0, hosts, GROUP):
                several = range(first, min(first + GROUP, hosts))
                archive.store_many(of_host(host, n) for host in several)
                largest = max(largest, sum(path.stat().st_size for path in folder.iterdir()))
    cpu = time.process_time() - start
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(
        f"{30 * hosts:,} pages of {hosts} hosts: {largest / 1e6:.1f} MB at most, {size / 1e6:.1f}"
    )
    print(f"after closing: {largest / size:.1f} times; {cpu:.1f} s of CPU with making the pages")


def of_host(host: int, number: int) -> Capture:
    template = random.Random(host).randbytes(10_000).hex()
    own = random.Random(f"{host} {number}").randbytes(4_000).hex()
    parts = [*textwrap.wrap(template, 500), *textwrap.wrap(own, 500)]
    body = "".join(f"<div><p>{part}</p></div>" for part in parts).encode()
    return Capture(f"http://h{host}.test/{number}", body, 1.0, content_type="text/html")


def timed(read: Callable[[], object]) -> float:
    start = time.perf_counter()
    read()
    return 1000 * (time.perf_counter() - start)


def told(name: str, times: list[float]) -> None:
    times.sort()
    most, late = times[-1], times[int(len(times) * 0.99)]
    print(f"{name:<24}{median(times):>10.3f}{late:>10.3f}{most:>10.3f}", flush=True)


def read_cold(uri: str, at: float) -> float:
    with open_archive(uri, read_only=True) as archive:
        return timed(lambda: archive.rebuild(archive.get(URL, at)))


def read_warm(archive: Archive, places: list[float]) -> tuple[list[float], list[float]]:
    gets = [timed(lambda at=at: archive.get(URL, at)) for at in places]
    return gets, [timed(lambda at=at: archive.rebuild(archive.get(URL, at))) for at in places]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--versions", type=int, default=50_000)
    parser.add_argument("--bytes", type=int, default=6_000, help="of a version, roughly")
    parser.add_argument("--reads", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="archive to make, or to read if it is there")
    parser.add_argument("--hosts", type=int, help="measure room with so many hosts instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.hosts:
            print_room(given.hosts, Path(folder))
            return
        path = given.keep or Path(folder) / "archive.db"
        uri = f"sqlite:///{path.absolute()}"
        if not path.exists():
            cpu = store(uri, given.versions, given.bytes)
            print(f"storing: {1000 * cpu / given.versions:.2f} ms of CPU a version")
        size = path.stat().st_size
        print(f"{given.versions:,} versions, {size / given.versions:.0f} bytes each")
        chance = random.Random(1)
        places = [chance.uniform(0, given.versions) for _ in range(given.reads)]
        print(f"{'ms':<24}{'median':>10}{'p99':>10}{'most':>10}")
        told("cold get and rebuild", [read_cold(uri, at) for at in places])
        with open_archive(uri, read_only=True) as archive:
            gets, rebuilds = read_warm(archive, places)
        told("warm get", gets)
        told("warm get and rebuild", rebuilds)


if __name__ == "__main__":
    main()
