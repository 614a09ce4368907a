"""How long the lists of works in `scrapy browse` take.

    python benchmarks/browse_works.py --works 100000

Works are made up, kept in a file, and asked for as a browser does: the first list, which reads them
all, later ones, a search, a facet, the last page, one work, and a page of OAI-PMH records.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from mmcrawl.archive import Capture, open_archive
from mmcrawl.browse import Limits, Options, open_context
from mmcrawl.browse.app import create_app
from mmcrawl.collecting.opening import folder_of
from mmcrawl.collecting.shelf.opening import open_shelf
from mmcrawl.collecting.works.model import AUDIENCES, Evidence, Licence, Sighting, Work, WorkFile

WORDS = "lever pulley optics wave energy force 杠杆 光学 力学 电路 lecture lesson notes".split()
ROUNDS = 5


def work(number: int, chance: random.Random) -> Work:
    kind = chance.choice(("audio", "video", "animation"))
    title = " ".join(chance.choices(WORDS, k=5))
    page = f"http://h{number % 50}.test/lessons/{number}.html"
    file = WorkFile(f"{page}.mp4", kind, "video/mp4", 1_000_000, 60.0, "", "")
    licence = Licence("CC-BY-4.0", "http://l.test/by", Evidence("text", "under CC BY 4.0"))
    return Work(
        f"{number:016x}",
        title,
        "headline",
        kind,
        (file,),
        (Sighting(page, title, "topic", 1.7e9),),
        " ".join(chance.choices(WORDS, k=60)),
        topic="physics",
        level=chance.choice(AUDIENCES),
        languages=(chance.choice(("zh", "en")),),
        licences=(licence,) if chance.random() < 0.5 else (),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--works", type=int, default=100_000)
    number = parser.parse_args().works
    chance = random.Random(18)
    with tempfile.TemporaryDirectory() as name:
        store = f"sqlite:///{name}/crawl.db"
        archive = f"sqlite:///{name}/crawl-archive.db"
        with open_archive(archive) as opened:
            opened.store(Capture("http://h.test/", b"<p>x", 1.7e9))
        with open_shelf(store, folder_of(store, None)) as shelf:
            shelf.describe(((one := work(n, chance)), (one.files[0].url,)) for n in range(number))
        size = (Path(name) / "crawl-media" / "works.db").stat().st_size
        print(f"{number:,} works, {size / 1e6:.0f} MB")
        limits = Limits(seconds=600)
        with open_context(archive, options=Options(store=store), limits=limits) as context:
            client = TestClient(create_app(context), "http://127.0.0.1:8000")
            report(client, "the first list", "/works", 1)
            report(client, "a list", "/works")
            report(client, "a search", "/works?q=杠杆 optics")
            report(client, "a facet", "/works?kind=video&level=primary")
            report(client, "the last page", f"/works?p={-(-number // 24)}")
            report(client, "one work", f"/work?id={number // 2:016x}")
            report(client, "OAI-PMH records", "/oai?verb=ListRecords&metadataPrefix=oai_dc")


def report(client: TestClient, what: str, path: str, rounds: int = ROUNDS) -> None:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        answer = client.get(path)
        times.append(time.process_time() - start)
        assert answer.status_code == 200, answer.text[:500]
    print(f"{what:20} {1000 * statistics.median(times):8.0f} ms of CPU")


if __name__ == "__main__":
    main()
