"""How much CPU time and memory reading the content of pages takes, beside other extractors.

    python benchmarks/content_speed.py FOLDER [--every 8] [--rounds 5] [--only ours,trafilatura]

FOLDER (or the variable MMCRAWL_CORPORA) is that of `content.py`, whose extractors these are, those
that are installed. Two tables:

* real pages, all sets together: milliseconds of CPU a page, the extractors and a bare parse by lxml
  taking turns on one core; the median of rounds, and the median of the ratios within each round;
* large pages that are made here: CPU seconds, and how much the memory of a process of its own grew
  at most, as a multiple of the page. A program that takes longer than --limit is stopped.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from _content_peers import METHODS, Extract
from content import SETS, load, load_extractors, names_of

SPEED = ("ours", "trafilatura", "trafilatura-fast", "rs-trafilatura", "readability", "resiliparse")
PARSE = "lxml, bare parse"
PROSE = "<p>A lever is a rigid bar on a pivot, and a small force lifts a heavy load.</p>\n"
ROW = "<tr>" + "<td>12</td><td>345</td>" * 5 + "</tr>\n"
# What a page begins with, a piece of it, and how often that stands in it.
LARGE = {
    "5 MB of table cells": ("<table>", ROW, 5_000_000 // len(ROW)),
    "a<br> x 300,000": ("", "a<br>", 300_000),
    "20 MB of paragraphs": ("", PROSE, 20_000_000 // len(PROSE)),
}


def parse(body: bytes, _: str | None) -> str:
    """Parse a page with lxml and do nothing with it."""
    from lxml import etree

    etree.fromstring(body, etree.HTMLParser())
    return ""


def time_pages(extractors: dict[str, Extract], folder: Path, every: int, rounds: int) -> None:
    """Print the table of real pages."""
    pages = [page for name in SETS for page in load(name, folder)][::every]
    seconds: dict[str, list[float]] = {name: [] for name in extractors}
    for number in range(rounds + 1):  # the first one only loads what is loaded once
        for name, extract in extractors.items():
            gc.collect()
            start = time.process_time()
            for page in pages:
                try:
                    extract(page.body, page.url)
                except Exception as error:  # noqa: BLE001 - others' code raises anything
                    print(f"{name}: {page.key}: {error!r}", file=sys.stderr)
            if number:
                seconds[name].append(time.process_time() - start)
    megabytes = sum(len(page.body) for page in pages) / 1e6
    print(f"{len(pages)} pages, {megabytes:.0f} MB; CPU ms a page, median of {rounds} rounds")
    print(f"{'':<20}{'ms':>8}{'x lxml':>8}{'ours is faster by':>19}")
    for name, taken in seconds.items():
        parsing = median(a / b for a, b in zip(taken, seconds[PARSE], strict=True))
        ours = median(a / b for a, b in zip(taken, seconds["ours"], strict=True))
        print(f"{name:<20}{1000 * median(taken) / len(pages):>8.2f}{parsing:>8.2f}{ours:>19.2f}")


def measure_large(name: str, kind: str) -> None:
    """Read one large page with one extractor; write seconds and bytes as JSON."""
    extract = parse if name == PARSE else METHODS[name]()
    extract((PROSE * 20).encode(), None)
    begin, piece, times = LARGE[kind]
    body = begin.encode() + piece.encode() * times
    before, start = resident("VmRSS"), time.process_time()
    try:
        found = len(extract(body, None))
    except Exception as error:  # noqa: BLE001 - others' code raises anything
        print(json.dumps({"error": type(error).__name__}))
        return
    taken = time.process_time() - start
    grown = max(resident("VmHWM") - before, 0)
    print(
        json.dumps({"seconds": taken, "grown": grown, "times": grown / len(body), "found": found})
    )


def resident(what: str) -> int:
    """Return resident memory in bytes: `VmRSS` now, `VmHWM` at most."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.partition(f"{what}:")[2].split()[0])


def print_large(names: list[str], limit: int) -> None:
    """Print the table of large pages."""
    for kind in LARGE:
        print(f"\n{kind}\n{'':<20}{'CPU s':>8}{'MB':>8}{'x page':>8}{'text':>12}")
        for name in names:
            command = [sys.executable, __file__, "--large", name, kind]
            try:
                run = subprocess.run(
                    command, capture_output=True, text=True, timeout=limit, check=False
                )
                figures = (
                    json.loads(run.stdout) if run.stdout else {"error": f"exit {run.returncode}"}
                )
            except subprocess.TimeoutExpired:
                figures = {"error": f"more than {limit} s"}
            if "error" in figures:
                print(f"{name:<20}  {figures['error']}")
                continue
            size = f"{figures['grown'] / 1e6:>8.0f}{figures['times']:>8.1f}{figures['found']:>12,}"
            print(f"{name:<20}{figures['seconds']:>8.2f}{size}")


def main() -> int:
    if sys.argv[1:2] == ["--large"]:
        logging.disable(logging.CRITICAL)
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # others may take all there is
        measure_large(*sys.argv[2:4])
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("MMCRAWL_CORPORA"))
    parser.add_argument("--every", type=int, default=1, help="read each N-th page only")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", type=names_of, default=list(SPEED), help="names, parted by ,")
    parser.add_argument("--limit", type=int, default=120, help="seconds for a large page")
    given = parser.parse_args()
    if given.folder is None:
        parser.error("name the folder of labelled pages, or set MMCRAWL_CORPORA")
    logging.disable(logging.CRITICAL)
    extractors = load_extractors(dict.fromkeys(["ours", *given.only]))
    time_pages({PARSE: parse, **extractors}, given.folder, given.every, given.rounds)
    print_large([PARSE, *extractors], given.limit)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
