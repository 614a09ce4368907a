"""CPU time of the steps from the bytes of a page to its blocks, beside a bare lxml parse of them.

    python benchmarks/partition_speed.py FOLDER… --pages 150

Pages are chosen at random from the .htm and .html files of each folder, the same number from each.
What is remembered from page to page (stems, menus, styles) is part of the speed, but must not be
remembered from the measured pages themselves: each step runs in a process of its own that has seen
other pages of the folders before, and sees each page once; of the rounds the fastest counts. Python
looks for garbage as seldom as in a crawl.

"topics", "kinds" and "both" are of the blocks of all levels, and hold the partition by bwap.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.partition import partition
from mmcrawl.page import parse_page
from mmcrawl.stores.garbage import collect_seldom
from mmcrawl.text import segment

_URL = "http://example.org/a/b.html"
_SEEN_BEFORE = 30  # pages


def topics(body: bytes) -> None:
    """Tell the topics of all blocks."""
    for block in partition(body, url=_URL):
        _ = block.topic


def kinds(body: bytes) -> None:
    """Tell the kinds of all blocks."""
    for block in partition(body, url=_URL):
        _ = block.kind


def both(body: bytes) -> None:
    """Tell the kinds and topics of all blocks."""
    for block in partition(body, url=_URL):
        _ = block.kind, block.topic


STEPS: dict[str, Callable[[bytes], object]] = {
    "lxml": etree.HTML,
    "page": lambda body: parse_page(body, _URL),
    "tree": read_tree,
    "bwap": partition,
    "kinds": kinds,
    "topics": topics,
    "both": both,
    "spcola": lambda body: partition(body, method="spcola"),
}


def choose(folders: list[Path], count: int) -> list[bytes]:
    """Return pages of the folders that are not empty, in random order, always the same ones."""
    chosen: list[bytes] = []
    for folder in folders:
        files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".htm", ".html"))
        files = [file for file in files if file.is_file()]
        share = min(len(files), -(-count // len(folders)))
        chosen += [file.read_bytes() for file in random.Random(1).sample(files, share)]
    random.Random(1).shuffle(chosen)
    return [body for body in chosen if body.strip()]


def cpu_time(name: str, before: list[bytes], pages: list[bytes]) -> float:
    """Return the CPU milliseconds a page of one step, in this process."""
    step = STEPS[name]
    segment("力学")  # loads the dictionary
    for body in before:
        step(body)
    collect_seldom()
    started = time.process_time()
    for body in pages:
        step(body)
    return (time.process_time() - started) * 1000 / len(pages)


def main() -> None:
    """Print milliseconds a page and the ratio to lxml, step by step."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--pages", type=int, default=150, help="how many are measured")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default=",".join(STEPS), help="steps, as lxml,bwap,topics")
    args = parser.parse_args()
    names = args.only.split(",")
    chosen = choose(args.folders, args.pages + _SEEN_BEFORE)
    before, pages = chosen[:_SEEN_BEFORE], chosen[_SEEN_BEFORE:]
    print(f"{len(pages)} pages, {sum(map(len, pages)) / 1e6:.1f} MB")
    best: dict[str, float] = {}
    for _ in range(args.rounds):
        for name in names:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(cpu_time, (name, before, pages))
            best[name] = min(found, best.get(name, found))
    for name in names:
        ratio = f"{best[name] / best['lxml']:6.2f} of lxml" if "lxml" in best else ""
        print(f"{name:8} {best[name]:7.2f} ms a page {ratio}")


if __name__ == "__main__":
    main()
