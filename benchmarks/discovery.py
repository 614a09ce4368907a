"""Pages and media found with and without sitemaps and feeds, on stored webs that have them.

    python benchmarks/discovery.py FOLDER [--sites A,B] [--algos urlrule,breadth] [--pages 400]

FOLDER holds a folder for each site and the `manifest.json` that says where it starts. Each site is
copied to a temporary folder, with the names it had on the web written as those of the copy in its
sitemaps, feeds and front page, and crawled for any media, each time by `scrapy crawl focused`.
Printed: pages fetched (a sitemap or feed counts as one), relevant pages and distinct media found,
the area under the curve of relevant pages over pages fetched, as a share of that of finding all at
once (all: the most that a crawl of the site found), and CPU seconds of the crawl.
"""

import argparse
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

WAYS = ("", "sitemap", "feeds", "sitemap,feeds")
_LISTINGS = (".xml", ".txt", ".rss")


@dataclass
class Found:
    """What a crawl found: for each page fetched whether it was relevant, media, CPU seconds."""

    relevant: list[bool]
    media: int
    seconds: float

    def area(self, most: int, pages: int) -> float:
        """Return the area under the curve up to a number of pages, as a share of `most` of each."""
        found, total = 0, 0
        for number in range(pages):
            found += number < len(self.relevant) and self.relevant[number]
            total += found
        return total / (most * pages) if most and pages else 0.0


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", default="", help="parted by commas (default: all)")
    parser.add_argument("--algos", default="urlrule,breadth")
    parser.add_argument("--pages", type=int, default=400, help="most pages of a crawl")
    options = parser.parse_args()
    manifest = json.loads((options.folder / "manifest.json").read_text())
    chosen = options.sites.split(",") if options.sites else sorted(manifest)
    print(f"{'site':22}{'algorithm':10}{'ways':15} pages relevant media  area  CPU s")
    for site in chosen:
        with tempfile.TemporaryDirectory() as name:
            web = copied(options.folder, site, manifest[site].get("aliases", ()), Path(name))
            for algo in options.algos.split(","):
                start = manifest[site]["start"]
                runs = {way: crawled(web, start, algo, way, options.pages) for way in WAYS}
                most = max(sum(found.relevant) for found in runs.values())
                pages = max(len(found.relevant) for found in runs.values())
                for way, found in runs.items():
                    print(
                        f"{site:22}{algo:10}{way or '-':15}{len(found.relevant):6}"
                        f"{sum(found.relevant):9}{found.media:6}{found.area(most, pages):6.3f}"
                        f"{found.seconds:7.1f}",
                        flush=True,
                    )


def copied(folder: Path, site: str, aliases: list[str], target: Path) -> Path:
    """Copy a site, its old names replaced where only the ways in stand."""
    web = target / "web"
    shutil.copytree(folder / site, web / site)
    front = {web / site / "index.html", web / site / "index.htm", web / site / "robots.txt"}
    for path in (web / site).rglob("*"):
        if path.is_file() and (path in front or path.suffix in _LISTINGS):
            content = path.read_bytes()
            for alias in aliases:
                for scheme in (b"http", b"https"):
                    old = b"%s://%s/" % (scheme, alias.encode())
                    content = content.replace(old, b"http://%s/" % site.encode())
            path.write_bytes(content)
    return web


def crawled(web: Path, start: str, algo: str, ways: str, pages: int) -> Found:
    """Crawl a site once."""
    store = web.parent / "crawl.db"
    store.unlink(missing_ok=True)
    given = {
        "web": web, "seeds": start, "keywords": "*", "algo": algo, "discover": ways,
        "max_pages": pages, "store": f"sqlite:///{store}", "archive": "none",
    }  # fmt: skip
    words = [word for name, value in given.items() if value for word in ("-a", f"{name}={value}")]
    before = _seconds()
    subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "focused", *words, "--nolog"],
        env=os.environ | {"SCRAPY_SETTINGS_MODULE": "mmcrawl.settings"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # a crawl that ends at its bound has a code of its own
    )
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("SELECT relevant FROM page ORDER BY visited_at, id").fetchall()
        [[media]] = db.execute("SELECT count(DISTINCT url) FROM media_resource")
    return Found([bool(relevant) for (relevant,) in rows], media, _seconds() - before)


def _seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
