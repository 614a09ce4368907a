"""Memory and time of a site whose sitemaps name millions of pages.

    python benchmarks/sitemap_memory.py [--addresses 4000000] [--store FILE.db]

A server on this machine gives an index of sitemaps of 50,000 addresses each, packed, made as they
are asked for. They are fetched one after the other, read, and taken into a crawl in a file, as a
crawl with discover=sitemap does. Printed: peak of resident memory and seconds after every ten
sitemaps, and the size of the store.
"""

import argparse
import gzip
import resource
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.reports import FetchedPage, Reporter
from mmcrawl.discovering import read_sitemap, unpacked
from mmcrawl.frontier import Limits, NewLink, open_store
from mmcrawl.page.model import Page
from mmcrawl.scoring import LinkSimilarity, TopicTest
from mmcrawl.scoring.registry import make_scorer
from mmcrawl.topic import topic_from_keywords

A_FILE = 50_000


class _Sitemaps(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = int(self.path.strip("/").partition(".")[0])
        first = number * A_FILE
        entries = (
            f"<url><loc>/section-{n % 977}/page-{n}.html</loc><lastmod>2026-01-01</lastmod></url>"
            for n in range(first, first + A_FILE)
        )
        body = gzip.compress(f"<urlset>{''.join(entries)}</urlset>".encode(), 1)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[str]:
    """Serve sitemaps on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sitemaps)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def main() -> None:
    """Print a line for every ten sitemaps."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--addresses", type=int, default=4_000_000)
    parser.add_argument("--store", type=Path, help="new file for the crawl")
    options = parser.parse_args()
    files = -(-options.addresses // A_FILE)
    with tempfile.TemporaryDirectory() as folder, served() as site:
        store = options.store or Path(folder) / "crawl.db"
        topic = topic_from_keywords("*")
        opened, similarity = open_store(f"sqlite:///{store}"), LinkSimilarity(topic)
        job = CrawlJob(
            opened,
            opened.job("sitemaps", {}),
            reporter=Reporter(TopicTest(topic, {"video"}), similarity),
            make_scorer=lambda frontier: make_scorer("urlrule", frontier, similarity),
            limits=Limits(private=True),
            seeds=[f"{site}/"],
        )
        seed = job.next()
        assert seed is not None
        asked = [NewLink(f"{site}/{number}.xml.gz", priority=2) for number in range(files)]
        # A link that waits, so that listed addresses stay where they are.
        page = Page(seed.url)
        job.crawled(seed.id, FetchedPage(page), [*asked, NewLink(f"{site}/wait")])
        print(f"{'addresses':>11} {'peak MB':>8} {'seconds':>8} {'store MB':>9}")
        begun = time.monotonic()
        for number in range(1, files + 1):
            link = job.next()
            assert link is not None
            with urlopen(link.url) as answer:
                body = answer.read()
            listing = read_sitemap(unpacked(body), link.url)
            job.crawled(link.id, FetchedPage(listing.page))
            job.commit()
            if number % 10 == 0 or number in {1, files}:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                size = store.stat().st_size / 2**20
                seconds = time.monotonic() - begun
                print(f"{number * A_FILE:11,} {peak:8.0f} {seconds:8.0f} {size:9.0f}", flush=True)
        job.close()


if __name__ == "__main__":
    main()
