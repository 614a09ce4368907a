"""What sitemaps and feeds bring and cost, on stored webs, without Scrapy.

    python benchmarks/discovery.py /tmp/lab FOLDER… [--algos A,B] [--pages 300] [--json FILE]

A FOLDER holds a folder for each site and the `manifest.json` that says where it starts, and by what
names its pages call it. Each site is crawled for any media with the real job and scorers, pages
parsed once and kept in the first folder. Ways: none; `sitemap` and `feeds`, where a site has them;
`made`, a sitemap of all its files in the order of their names, where it has none: what a site that
had one would have told.

Printed, for each algorithm and way, over the sites that have it: mean and median of the area under
relevant pages over pages fetched, as a share of that of finding at once the most that any crawl of
the site found; and on how many sites it is better, or worse, than without by more than .01. A list
counts as a page fetched. `--verbose` prints the sites. `--before FILE` compares with what `--json`
wrote of another version.
"""

import argparse
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from statistics import mean, median
from urllib.parse import urljoin, urlsplit

from _lab_pages import Pages
from scrapy.settings import Settings

from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.params import FocusedParams
from mmcrawl.crawling.reports import FetchedPage
from mmcrawl.discovering import (
    feed_addresses,
    listing_kind,
    read_feed,
    read_sitemap,
    sitemaps_of_robots,
    unpacked,
)
from mmcrawl.engine.crawls import make_job
from mmcrawl.errors import ListingError
from mmcrawl.frontier.records import NewLink
from mmcrawl.frontier.urls import page_digest
from mmcrawl.page.model import Page
from mmcrawl.page.urls import physical_layer
from mmcrawl.replay.handler import replay_settings

NONE, SITEMAP, FEEDS, MADE = "none", "sitemap", "feeds", "made"
_ROBOTS = "robots"
_PAGE_FILES = (".htm", ".html")


@dataclass(frozen=True)
class Task:
    """A crawl that is to be made."""

    folder: str
    site: str
    start: str
    algo: str
    way: str
    pages: int
    cache: str


@dataclass
class Found:
    """What became of it: for each page fetched whether it was relevant; media; CPU seconds."""

    site: str
    algo: str
    way: str
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


class Lab:
    """One crawl."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._pages = Pages(task.folder, task.site, Path(task.cache))
        self._job = self._made_job()
        self._ways: dict[str, str] = {}  # of addresses that are no pages
        self._relevant: list[bool] = []
        self._media: set[str] = set()

    def run(self) -> Found:
        """Crawl until there is nothing more, or the bound is reached."""
        begun = time.process_time()
        while len(self._relevant) < self._task.pages:
            link = self._job.next()
            if link is None and not self._job.interrupted:
                break
            if link is not None:
                self._fetch(link.id, link.url, link.logical_layer)
        seconds = time.process_time() - begun
        self._job.close()
        self._pages.keep()
        task = self._task
        return Found(task.site, task.algo, task.way, self._relevant, len(self._media), seconds)

    def _made_job(self) -> CrawlJob:
        task, settings = self._task, Settings()
        settings.setmodule("mmcrawl.settings")
        settings.setdict(replay_settings(task.folder), priority="spider")
        given = {
            "algo": task.algo, "web": task.folder, "store": "memory:", "archive": "none",
            "seeds": task.start, "keywords": "*",
        }  # fmt: skip
        return make_job(FocusedParams.model_validate(given), settings, self._pages.web)

    def _fetch(self, link: int, url: str, layer: int) -> None:
        if url in self._ways:
            self._read(link, url, self._ways[url])
            return
        kind, *answer = self._pages.get(url)
        if kind == "redirect":
            self._job.redirected(link, _link_to(answer[0], layer))
        elif kind == "error":
            self._job.failed(link, answer[0])
        else:
            requests = [] if self._relevant else self._ways_of(url)
            self._take(link, answer[0], answer[1], requests)

    def _take(self, link: int, page: Page, digest: int, requests: list[NewLink]) -> None:
        verdict = self._job.judge(page, digest)
        relevant = self._job.crawled(link, FetchedPage(page, 200, digest, verdict), requests)
        self._relevant.append(bool(relevant))
        self._media.update(medium.url for medium in verdict.media if relevant)

    def _ways_of(self, url: str) -> list[NewLink]:
        """Return the requests for the ways into the site of the seed's page."""
        way = self._task.way
        if way == SITEMAP:
            named = [("/robots.txt", _ROBOTS, 3), ("/sitemap.xml", SITEMAP, 2)]
        elif way == FEEDS:
            answer = self._pages.web.get(url)
            named = [
                (feed, FEEDS, 1) for feed in feed_addresses(answer.body if answer else b"", url)
            ]
        else:
            named = [("/sitemap.xml", MADE, 2)] if way == MADE else []
        return [self._asked(urljoin(url, place), kind, first) for place, kind, first in named]

    def _asked(self, url: str, kind: str, first: int) -> NewLink:
        self._ways[url] = kind
        return _link_to(url, 1, first)

    def _read(self, link: int, url: str, way: str) -> None:
        body = self._body(url, way)
        if isinstance(body, NewLink):
            self._job.redirected(link, body)
        elif body is None:
            self._job.failed(link, "HTTP 404")
        elif way == _ROBOTS:
            named = [named for named in sitemaps_of_robots(body, url) if self._is_own(named)]
            self._job.failed(link, "robots.txt", [self._asked(map_, SITEMAP, 2) for map_ in named])
        else:
            self._read_list(link, url, body)

    def _read_list(self, link: int, url: str, body: bytes) -> None:
        try:
            body = unpacked(body)
            kind = listing_kind(body)
            reader = read_sitemap if kind == "sitemap" else read_feed
            listing = reader(body, url) if kind else None
        except ListingError as error:
            self._job.failed(link, str(error))
            return
        if listing is None:
            self._job.failed(link, "no list")
            return
        further = [self._asked(one, SITEMAP, 1) for one in listing.sitemaps if self._is_own(one)]
        page = listing.page
        if page.links or page.media:
            digest = page_digest(url, body, (medium.url for medium in page.media))
            self._take(link, page, digest, further)
        else:
            self._job.failed(link, "an index", further)

    def _body(self, url: str, way: str) -> bytes | NewLink | None:
        if way == MADE:
            return made_sitemap(Path(self._task.folder) / self._task.site, self._task.site)
        answer = self._pages.web.get(url)
        if answer is not None and (location := answer.header("Location")):
            return self._asked(urljoin(url, location), way, 1)
        return answer.body if answer is not None and 200 <= answer.status < 300 else None

    def _is_own(self, url: str) -> bool:
        return urlsplit(url).hostname == self._task.site


def made_sitemap(folder: Path, site: str) -> bytes:
    """Return the sitemap that a generator of static sites would write."""
    files = (file for file in folder.rglob("*") if file.suffix.lower() in _PAGE_FILES)
    names = sorted(str(file.relative_to(folder)) for file in files)
    urls = (
        f"http://{site}/{name.removesuffix('index.html')}" for name in names if "/feed/" not in name
    )
    entries = (f"<url><loc>{url}</loc><lastmod>2020-01-01</lastmod></url>" for url in urls)
    return f"<urlset>{''.join(entries)}</urlset>".encode()


def _link_to(url: str, layer: int, priority: int = 0) -> NewLink:
    return NewLink(url, logical_layer=layer, physical_layer=physical_layer(url), priority=priority)


def crawled(task: Task) -> Found:
    """Make a crawl."""
    return Lab(task).run()


def ways_of(folder: Path, site: str) -> list[str]:
    """Return the ways that there are into a site."""
    own = folder / site
    has_sitemap = (own / "sitemap.xml").is_file()
    front = next((f for f in (own / "index.html", own / "index.htm") if f.is_file()), None)
    feeds = feed_addresses(front.read_bytes(), f"http://{site}/") if front else ()
    has_feed = any(urlsplit(feed).hostname == site for feed in feeds)
    return [NONE, SITEMAP if has_sitemap else MADE, *([FEEDS] if has_feed else [])]


def tell(found: list[Found], before: list[Found], *, verbose: bool) -> None:
    """Print the tables."""
    runs = {(one.site, one.algo, one.way): one for one in found}
    old = {(one.site, one.algo, one.way): one for one in before}
    both = [*found, *before]
    most = {site: max(sum(r.relevant) for r in both if r.site == site) for site, *_ in runs}
    pages = {site: max(len(r.relevant) for r in both if r.site == site) for site, *_ in runs}

    def area(run: Found) -> float:
        return run.area(most[run.site], pages[run.site])

    for way, algo in product((SITEMAP, MADE, FEEDS), dict.fromkeys(one.algo for one in found)):
        sites = [site for site, *rest in runs if rest == [algo, way] and most[site]]
        if not sites:
            continue
        without = [area(runs[site, algo, NONE]) for site in sites]
        line = f"{way:8}{algo:15}{len(sites):3} sites  without {mean(without):.3f}"
        for name, table in (("before", old), ("", runs)):
            if all((site, algo, way) in table for site in sites):
                line += told(name, without, [area(table[site, algo, way]) for site in sites])
        print(line)
        for site, plain in zip(sites, without, strict=True) if verbose else ():
            was = f"{area(old[site, algo, way]):7.3f}" if (site, algo, way) in old else ""
            print(f"    {site:24}{plain:7.3f}{was}{area(runs[site, algo, way]):7.3f}")


def told(name: str, without: list[float], areas: list[float]) -> str:
    """Return what is printed of one version."""
    changes = [new - old for new, old in zip(areas, without, strict=True)]
    better, worse = sum(c > 0.01 for c in changes), sum(c < -0.01 for c in changes)
    return (
        f" | {name or 'with'} {mean(areas):.3f}, median change {median(changes):+.3f},"
        f" better {better}, worse {worse}, least {min(changes):+.3f}"
    )


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cache", type=Path, help="folder for parsed pages")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--algos", default="urlrule,learned,shark-improved,breadth")
    parser.add_argument("--pages", type=int, default=300, help="most pages of a crawl")
    parser.add_argument("--only", default="", help="names of sites, parted by commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    tasks = []
    for folder in options.folders:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for site, about in manifest.items():
            if options.only and site.removesuffix(".test") not in options.only.split(","):
                continue
            for algo, way in product(options.algos.split(","), ways_of(folder, site)):
                start = about["start"]
                tasks.append(
                    Task(str(folder), site, start, algo, way, options.pages, str(options.cache))
                )
    with ProcessPoolExecutor(options.jobs) as processes:
        found = list(processes.map(crawled, tasks))
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found]))
    before = json.loads(options.before.read_text()) if options.before else []
    tell(found, [Found(**one) for one in before], verbose=options.verbose)


if __name__ == "__main__":
    main()
