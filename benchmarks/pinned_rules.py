"""How many pages sooner a crawl has its media that is given what another has learnt.

Crawls each web with and without the rules that `scrapy rules export` makes of a first crawl with
`urlrule`, and with further rules as a person would add them (`--add`, in the order given, before
the others). One page at a time, so that the order is the algorithm's.

    python benchmarks/pinned_rules.py demo sim:pages=3000 FOLDER --algos urlrule,breadth
    python benchmarks/pinned_rules.py demo --add 're:/calendar never' --add 're:/luntan/ never'
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from mmcrawl.crawling.rules_file import rules_text
from mmcrawl.experiment.crawl import CrawlProcess
from mmcrawl.experiment.stores import read_media, read_pages, read_patterns

SHARES = (0.5, 0.8, 1.0)


def crawl(base: Path, web: str, algo: str, rules: str) -> Path:
    """Crawl a web to its end; return the store."""
    topic = {} if web == "demo" else {"keywords": "*"}
    given = {"rules": rules} if rules else {}
    process = CrawlProcess(base, {"web": web, "algo": algo, **topic, **given}, {})
    while not process.ended():
        time.sleep(0.2)
    return process.files.store


def pages_until(store: Path, share: float, of: int) -> int | None:
    """Return how many pages were fetched until a share of so many media was seen."""
    media, seen = read_media(store), set[str]()
    for number, page in enumerate(read_pages(store), 1):
        seen |= media.get(page.url, set())
        if len(seen) >= share * of:
            return number
    return None


def row(name: str, store: Path, of: int) -> str:
    until = [pages_until(store, share, of) for share in SHARES]
    cells = "".join(f"{'never' if pages is None else pages:>8}" for pages in until)
    return f"  {name:<34}{cells}{len(read_pages(store)):>8}"


def measure(web: str, algos: list[str], added: list[str], folder: Path) -> None:
    first = crawl(folder / "first", web, "urlrule", "")
    found = set().union(*read_media(first).values())
    pages, media_pages = len(read_pages(first)), len(read_media(first))
    text = rules_text(read_patterns(first), media_pages / pages)
    learnt, edited = folder / "learnt.txt", folder / "edited.txt"
    learnt.write_text(text, encoding="utf-8")
    edited.write_text("\n".join([*added, text]), encoding="utf-8")
    rules = sum(not line.startswith("#") for line in text.splitlines())
    print(f"{web}: {pages} pages, {len(found)} media, {rules} rules learnt")
    heads = "".join(f"{share:>8.0%}" for share in SHARES)
    print(f"  {'pages until this share of media':<34}{heads}{'in all':>8}")
    for algo in algos:
        runs = {"": "", ", rules fed back": str(learnt)}
        runs |= {", and edited": str(edited)} if added else {}
        for name, file in runs.items():
            print(row(f"{algo}{name}", crawl(folder / "next", web, algo, file), len(found)))
            sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("webs", nargs="+", metavar="WEB")
    parser.add_argument("--algos", default="urlrule,breadth")
    parser.add_argument("--add", action="append", default=[], metavar="RULE")
    options = parser.parse_args()
    for web in options.webs:
        with tempfile.TemporaryDirectory() as folder:
            measure(web, options.algos.split(","), options.add, Path(folder))


if __name__ == "__main__":
    main()
