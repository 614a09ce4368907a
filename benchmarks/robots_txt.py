"""What a large robots.txt costs: CPU and memory of the parser, beside Scrapy's own.

    python benchmarks/robots_txt.py

Two kinds of file: as many different rules for all as fit, and many names of robots over many rules,
each of which counts for each name. Each is parsed and asked once, in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable
from pathlib import Path

MEGABYTE = 1_000_000
USER_AGENT = "mmcrawl/0.1 (focused crawler)"
PARSERS = ("scrapy.robotstxt.ProtegoRobotParser", "mmcrawl.engine.robots.RobotsTxtParser")


def many_rules(size: int) -> bytes:
    """Return a file of `size` bytes with one group."""
    lines = b"".join(b"Disallow:/%x\n" % number for number in range(size // 12 + 1))
    return (b"User-agent: *\n" + lines)[:size]


def many_names(size: int) -> bytes:
    """Return a file of about `size` bytes, half of it names."""
    names = b"".join(b"User-agent: robot%06d\n" % number for number in range(size // 48))
    return names + many_rules(size // 2).partition(b"\n")[2]


def cost(parser: str, make: Callable[[int], bytes], size: int) -> tuple[float, float]:
    """Return CPU seconds and megabytes that one parsed file takes, with the first question."""
    from scrapy.utils.misc import load_object
    from scrapy.utils.test import get_crawler

    crawler = get_crawler()
    load_object(parser).from_crawler(crawler, b"").allowed("http://h.test/", USER_AGENT)
    body = make(size)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    memory, started = peak_kilobytes(), time.process_time()
    load_object(parser).from_crawler(crawler, body).allowed("http://h.test/b", USER_AGENT)
    return time.process_time() - started, (peak_kilobytes() - memory) * 1024 / MEGABYTE


def peak_kilobytes() -> int:
    """Return the most memory this process has had at once."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="0.01,0.5,1,10", help="of files of rules, in MB")
    parser.add_argument("--sizes-of-names", default="0.05", help="of files of names, in MB")
    wanted = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    cases = [
        *((many_rules, float(size)) for size in wanted.sizes.split(",")),
        *((many_names, float(size)) for size in wanted.sizes_of_names.split(",")),
    ]
    context = multiprocessing.get_context("spawn")
    print(f"{'file':>12}{'MB':>8}  {'parser':<40}{'CPU s':>8}{'MB':>8}")
    for make, size in cases:
        for name in PARSERS:
            with context.Pool(1) as pool:
                seconds, memory = pool.apply(cost, (name, make, int(size * MEGABYTE)))
            print(f"{make.__name__:>12}{size:>8g}  {name:<40}{seconds:>8.2f}{memory:>8.1f}")


if __name__ == "__main__":
    main()
