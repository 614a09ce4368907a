"""How fast pages are parsed, against what a plain spider does with them.

    python benchmarks/page_parsing.py FOLDER

FOLDER holds .htm and .html files, one folder for each host. The plain spider's work is
``Selector(text).css('a::attr(href)').getall()``, then ``urljoin`` and ``safe_url_string`` on each.

"players by XPath" is what selecting the elements that may play media would cost with parsel, which
needs a tree: parse_page reads them in the pass in which it reads all else, without one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

from parsel import Selector
from w3lib.encoding import html_to_unicode
from w3lib.url import safe_url_string

from mmcrawl.page import parse_page

StoredPage = tuple[bytes, str]

_PLAYERS = " | ".join(
    (
        *(f"//{tag}" for tag in ("audio", "embed", "iframe", "object", "param", "source", "video")),
        "//meta[starts-with(@property, 'og:')]",
        "//*[@itemprop]",
        "//script",
    )
)


def read_pages(folder: Path) -> list[StoredPage]:
    """Return body and URL of each page under a folder, host by host."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".htm", ".html"))
    return [
        (file.read_bytes(), f"http://{file.relative_to(folder).as_posix()}")
        for file in files
        if file.is_file()
    ]


def plain_spider(body: bytes, url: str) -> int:
    """Extract the links the way the tutorial does."""
    _, text = html_to_unicode(None, body)
    hrefs = Selector(text).css("a::attr(href)").getall()
    links = 0
    for href in hrefs:
        try:
            safe_url_string(urljoin(url, href))
        except ValueError:
            continue
        links += 1
    return links


def players_by_xpath(body: bytes, url: str) -> int:
    """Select what may play media, and do nothing with it."""
    _, text = html_to_unicode(None, body)
    return len(Selector(text).xpath(_PLAYERS))


def our_page(body: bytes, url: str) -> int:
    """Parse the page the way the crawler does."""
    return len(parse_page(body, url).links)


def seconds_for(work: Callable[[bytes, str], int], pages: list[StoredPage]) -> float:
    """Return the time one reading of all pages takes."""
    start = time.process_time()
    for body, url in pages:
        work(body, url)
    return time.process_time() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder of pages for each host")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many (default 3)")
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        print(f"There is no folder {arguments.folder}: name one that holds pages.", file=sys.stderr)
        return 2
    pages = read_pages(arguments.folder)
    if not pages:
        print(f"{arguments.folder} holds no .htm or .html file.", file=sys.stderr)
        return 2
    megabytes = sum(len(body) for body, _ in pages) / 1e6
    print(f"{len(pages)} pages, {megabytes:.1f} MB, best of {arguments.rounds}")
    print(f"{'':<18}{'ms/page':>9}{'pages/s':>10}{'MB/s':>8}")
    ways = {
        "plain spider": plain_spider,
        "players by XPath": players_by_xpath,
        "parse_page": our_page,
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(arguments.rounds):
        for name, work in ways.items():
            best[name] = min(best[name], seconds_for(work, pages))
    for name, seconds in best.items():
        per_page = seconds / len(pages)
        print(f"{name:<18}{per_page * 1e3:>9.2f}{1 / per_page:>10.0f}{megabytes / seconds:>8.1f}")
    print(f"ratio of times: {best['parse_page'] / best['plain spider']:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
