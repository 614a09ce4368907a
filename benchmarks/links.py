"""What it costs to list the links of a large crawl, as `scrapy links` does.

    python benchmarks/links.py [--links 1000000]

A store is filled with links on 100 hosts, 50 found on a page, and a page for about every eighth
link. Then it is read in a process of its own: all links with all columns but content_score, and the
first 20 by score. Printed are links a second of CPU time, and the peak of resident memory beyond
what was there after the imports, in MB and bytes a link.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINKS_ON_PAGE, PAGES_WITHOUT_LINKS = 50, 5


def fill(uri: str, count: int) -> None:
    """Make the store."""
    from mmcrawl.frontier import LinkScores, NewLink, PageRecord, SqliteFrontier, open_store

    with open_store(uri) as store:
        frontier = SqliteFrontier(store, store.job("benchmark", {}))
        dice, pages = random.Random(3), 0
        while len(frontier) < count:
            parent = pages if pages else None
            first = len(frontier)
            urls = [
                f"http://www.school{n % 100}.test/a/{n}.htm"
                for n in range(first, first + LINKS_ON_PAGE)
            ]
            links = [NewLink(url, anchor=f"lesson {url[-8:]}", url_words="wu li") for url in urls]
            ids = [number for number, _ in frontier.add(links, parent)]
            frontier.apply(LinkScores(ids, [dice.random() for _ in ids], [0.5] * len(ids)))
            for number in range(pages, pages + PAGES_WITHOUT_LINKS + 1):
                url = frontier.take(number).url
                has_links = number == parent
                page = PageRecord(url, "a lesson", "", "", has_links, has_links, 0, 1.0)
                frontier.complete(number, page, ids if has_links else [])
            pages += PAGES_WITHOUT_LINKS + 1
        frontier.commit()


def memory(field: str) -> int:
    """Return resident memory in bytes, `VmRSS`, or its peak, `VmHWM`."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def read(uri: str, order: str, limit: int) -> None:
    """List links, and print what that cost."""
    from mmcrawl.frontier import open_store
    from mmcrawl.frontier.interlink import InterLink
    from mmcrawl.frontier.selection import Selection

    before = memory("VmRSS")
    with open_store(uri, read_only=True) as store:
        links = InterLink(store, 0)
        began = time.process_time()
        count = sum(1 for _ in links.records(Selection(order=order, limit=limit)))
        seconds = time.process_time() - began
        known = len(links)
    more = memory("VmHWM") - before
    print(
        f"{count:>9,} of {known:,} links, by {order:<6}{seconds:>8.1f} s CPU"
        f"{count / seconds:>10,.0f} a second{more / 1e6:>8.0f} MB{more / known:>7.0f} B a link"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=1_000_000)
    parser.add_argument("--read", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        uri, order, limit = options.read
        read(uri, order, int(limit))
        return
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/crawl.db"
        fill(uri, options.links)
        for order, limit in (("found", 0), ("score", 0), ("score", 20)):
            command = [sys.executable, __file__, "--read", uri, order, str(limit)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
