"""CPU milliseconds of the browser's pages over a large store.

    python benchmarks/browse_pages.py FOLDER [--pages 20000] [--works 100000] [--words 20]

FOLDER is filled if it is empty: pages of 100 sites, a third of which changed, with words that are
drawn from so many (few make long lists: half of all pages match), and works of an eighth of them.
Printed is what each page takes when it is asked for first, and for the third time.
"""

import argparse
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import process_time

from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Options, create_app, open_context
from mmcrawl.media import folder_of
from mmcrawl.works import Appearance, Work, WorkFile, open_catalogue

HTML = (("Content-Type", "text/html; charset=utf-8"),)
DAY, START = 86_400.0, 1_700_000_000.0
TOPICS = ("力学", "光学", "声学", "电磁学")
VOCABULARY = "力学 光学 声学 实验 lever wave light sound motion lens school energy".split()


def url_of(page: int) -> str:
    return f"http://s{page % 100}.test/lessons/{page // 100}.html"


def captures(pages: int, words: list[str]) -> Iterator[Capture]:
    chance = random.Random(1)
    for page in range(pages):
        said = [" ".join(chance.choices(words, k=12)) for _ in range(4)]
        for version in range(1 + (page % 3 == 0)):
            said[-1] += f" lesson {version}"
            body = "".join(
                f"<div><p>{one}. It goes on, as every lesson does.</p></div>" for one in said
            )
            links = "".join(f"<li><a href=/lessons/{n}.html>{words[n]}</a>" for n in range(6))
            head = f"<title>{said[0]}</title><h1>{said[0]}</h1><ul>{links}</ul>"
            html = f"{head}{body}<p><a href=/{page}.mp4>{said[1]}</a></p>".encode()
            yield Capture(url_of(page), html, START + DAY * version + page, headers=HTML)


def works(count: int, pages: int, words: list[str]) -> Iterator[tuple[Work, tuple[str, ...]]]:
    chance = random.Random(2)
    for number in range(count):
        url, page = f"http://s{number % 100}.test/{number}.mp4", url_of(number % (pages // 8))
        file = WorkFile(url, "video", "video/mp4", 1_000)
        seen = (Appearance(page, "A lesson", "topic", START),)
        title = f"{' '.join(chance.choices(words, k=4))} {number}"
        work = Work(
            f"{number:016x}", title, "anchor", "video", (file,), seen, topic=TOPICS[number % 4]
        )
        yield work, (url,)


def filled(folder: Path, pages: int, count: int, words: list[str]) -> tuple[str, Options]:
    """Return the URI of the archive, and where the works are."""
    archive, store = (f"sqlite:///{folder / name}.db" for name in ("archive", "crawl"))
    if not folder.exists():
        folder.mkdir(parents=True)
        with open_archive(archive) as opened:
            made = captures(pages, words)
            while some := list(islice(made, 500)):
                opened.store_many(some)
        with open_catalogue(store, folder_of(store, None)) as catalogue:
            catalogue.describe(works(count, pages, words))
    return archive, Options(store=store)


def addresses(word: str) -> list[str]:
    page = "url=http://s0.test/lessons/0.html"
    return [
        *("/", "/sites", "/site?host=s0.test", "/works", f"/works?q={word}", "/works?topic=力学"),
        *(f"/search?q={word}", f"/search?q={word}+lever", f"/search?q={word}&p=9"),
        *(f"/search?q={word}&media=video", f"/search.json?q={word}", "/search?media=video"),
        *("/watch", "/watch?site=s0.test", "/watch.atom", f"/page?{page}", f"/version?{page}"),
        *(f"/diff?{page}", f"/view?{page}", "/crawls", "/topics", "/collections", "/help"),
        *("/oai?verb=ListRecords&metadataPrefix=oai_dc", "/cdx?url=s0.test/*"),
        *(f"/timemap/link/http://s0.test/lessons/{n}.html" for n in (0,)),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    for name, default in (("pages", 20_000), ("works", 100_000), ("words", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    words = (VOCABULARY + [f"word{number}" for number in range(args.words)])[: args.words]
    archive, options = filled(args.folder, args.pages, args.works, words)
    print("| page | status | first | third |\n|---|---|---|---|")
    with open_context(archive, options=options) as context:
        context.surveyor.survey(context.archive.counts())
        client = TestClient(create_app(context), base_url="http://127.0.0.1:8000")
        for address in addresses(words[0]):
            took = []
            for _ in range(3):
                began = process_time()
                status = client.get(address).status_code
                took.append(1_000 * (process_time() - began))
            print(f"| {address} | {status} | {took[0]:.0f} | {took[-1]:.0f} |", flush=True)


if __name__ == "__main__":
    main()
