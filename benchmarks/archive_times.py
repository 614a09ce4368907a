"""How long one version of a page takes to read that has very many, from a cold archive and a warm.

    python benchmarks/archive_times.py [--versions 50000] [--bytes 6000] [--reads 200] [--keep FILE]
    python benchmarks/archive_times.py --hosts 500
    python benchmarks/archive_times.py --urls 100000

A made page is stored so many times, a paragraph changed each time, and read at random times: cold
by an archive that was just opened, warm by one that has read others before. Printed are median,
99th percentile and maximum of the milliseconds that ``get`` takes, and ``get`` with ``rebuild``;
and the CPU milliseconds of storing a version.

With `--urls`, so many pages of 100 hosts, one version each, 3 kB, a third of them the host's
template, are stored and read likewise.

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

from mmcrawl.archive import Capture, open_archive

URL = "http://ticker.test/"
GROUP = 64


def page(number: int, size: int) -> Capture:
    parts = [random.Random(k).randbytes(100).hex() for k in range(size // 250)]
    parts[number % len(parts)] = f"Number {number}: " + random.Random(number).randbytes(60).hex()
    blocks = "".join(f'<div class="item"><p>{part}</p></div>\n' for part in parts)
    body = f"<!DOCTYPE html><html><body>{blocks}</body></html>".encode()
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Age", str(number % 97)))
    return Capture(URL, body, float(number), headers=headers)


def small(number: int) -> Capture:
    host = number % 100
    template = random.Random(host).randbytes(500).hex()
    own = "".join(
        f"<div><p>{random.Random(f'{number} {part}').randbytes(200).hex()}</p></div>"
        for part in range(5)
    )
    body = f"<!DOCTYPE html><html><body><p>{template}</p>{own}</body></html>".encode()
    return Capture(f"http://h{host}.test/{number}", body, float(number), content_type="text/html")


def store(uri: str, count: int, make: Callable[[int], Capture]) -> float:
    """Store what is made; return CPU seconds, sealing included."""
    start = time.process_time()
    making = 0.0
    with open_archive(uri) as archive:
        for first in range(0, count, GROUP):
            begun = time.process_time()
            group = [make(n) for n in range(first, min(first + GROUP, count))]
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


def read_cold(uri: str, url: str, at: float) -> float:
    with open_archive(uri, read_only=True) as archive:
        return timed(lambda: archive.rebuild(archive.get(url, at)))


def print_reads(uri: str, places: list[tuple[str, float]]) -> None:
    print(f"{'ms':<24}{'median':>10}{'p99':>10}{'most':>10}")
    told("cold get and rebuild", [read_cold(uri, *place) for place in places])
    with open_archive(uri, read_only=True) as archive:
        told("warm get", [timed(lambda p=p: archive.get(*p)) for p in places])
        reads = [timed(lambda p=p: archive.rebuild(archive.get(*p))) for p in places]
    told("warm get and rebuild", reads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--versions", type=int, default=50_000)
    parser.add_argument("--bytes", type=int, default=6_000, help="of a version, roughly")
    parser.add_argument("--reads", type=int, default=200)
    parser.add_argument("--keep", type=Path, help="archive to make, or to read if it is there")
    parser.add_argument("--urls", type=int, help="pages of one version instead")
    parser.add_argument("--hosts", type=int, help="measure room with so many hosts instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.hosts:
            print_room(given.hosts, Path(folder))
            return
        path = given.keep or Path(folder) / "archive.db"
        uri = f"sqlite:///{path.absolute()}"
        count = given.urls or given.versions
        make = small if given.urls else lambda n: page(n, given.bytes)
        if not path.exists():
            cpu = store(uri, count, make)
            print(f"storing: {1000 * cpu / count:.2f} ms of CPU a version")
        print(f"{count:,} versions, {path.stat().st_size / count:.0f} bytes each")
        chance = random.Random(1)
        numbers = [chance.uniform(0, count) for _ in range(given.reads)]
        print_reads(uri, [(small(int(n)).url if given.urls else URL, n) for n in numbers])


if __name__ == "__main__":
    main()
