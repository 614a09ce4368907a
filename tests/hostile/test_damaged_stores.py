"""Bytes of a store that are not what they were: one sentence, whoever reads it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.desks import Desk
from tests.programs import run
from tests.warm import python

ROOT = Path(__file__).parents[2]
CRAWL = ("topic=physics-senior", "web=demo", "store=crawl.db", "archive=none", "job=j")

# Goes on with crawl.db after each of many damages, and shows its numbers.
READ_DAMAGED = """
import json, logging, random, resource
from pathlib import Path
from scrapy.settings import Settings
from mmcrawl.browse.runs import CrawlWatch
from mmcrawl.engine.crawls import make_job
from mmcrawl.errors import StoreError
from mmcrawl.page import parse_page
from mmcrawl.crawl.params import FocusedParams
from mmcrawl.crawl.protocol import FetchedPage
from mmcrawl.replay import open_web

logging.disable(logging.CRITICAL)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # ids may seem to be huge
settings, web = Settings(), open_web("demo")
settings.setmodule("mmcrawl.settings")
path, whole = Path("damaged.db"), Path("crawl.db").read_bytes()


def damage(data, dice):
    at = dice.randrange(len(data))
    match dice.choice(["bit", "bytes", "run", "page", "end"]):
        case "bit":
            data[at] ^= 1 << dice.randrange(8)
        case "bytes":
            for _ in range(30):
                data[dice.randrange(len(data))] = dice.randrange(256)
        case "run":
            data[at : at + 40] = dice.randbytes(len(data[at : at + 40]))
        case "page":
            data[at & ~4095 : (at & ~4095) + 4096] = dice.choice([bytes, dice.randbytes])(4096)
        case "end":
            del data[at:]


def go_on():
    args = {"web": "demo", "topic": "physics-senior", "store": str(path), "job": "j"}
    job = make_job(FocusedParams(**args), settings, web)
    try:
        for _ in range(10):
            if (link := job.next()) is not None:
                page = parse_page(web.get(link.url).body, link.url)
                job.crawled(link.id, FetchedPage(page, verdict=job.judge(page)))
        job.totals(), job.best(9), list(job.media_pages()), job.patterns(), job.error_reasons()
        job.stop("test", finished=False)
    finally:
        job.close()


told = []
for seed in range(20):
    data = bytearray(whole)
    damage(data, random.Random(seed))
    for read in (CrawlWatch(f"sqlite:///{path}").crawls, go_on):
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
        path.write_bytes(data)
        try:
            read()
        except StoreError as error:
            told.append(str(error))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def crawled(open_desk: Callable[[], Desk]) -> Desk:
    """A folder with the store of a crawl that was stopped."""
    desk = open_desk()
    assert desk.crawl(*CRAWL, "max_pages=30").code == 0
    return desk


def test_whatever_bytes_are_damaged_it_is_told_in_a_sentence_that_says_what_to_do(crawled):
    told = json.loads(run(python(), "-c", READ_DAMAGED, folder=crawled.folder).stdout)
    assert len(told) > 10
    assert [line for line in told if "\n" in line or "name another file" not in line] == []
    assert any("is damaged" in line and "restore it from a copy" in line for line in told)


def test_a_crawl_of_a_damaged_store_ends_with_that_sentence(crawled: Desk) -> None:
    store = crawled.folder / "crawl.db"
    data = store.read_bytes()
    place = data.index(b"http://", 3 * 4096)
    store.write_bytes(data[: place - 2_000] + bytes(4_000) + data[place + 2_000 :])
    run = crawled.crawl(*CRAWL)
    assert run.code == 1
    [line] = run.errors
    assert line.startswith("store crawl.db is damaged (")
    assert "restore it from a copy, or name another file" in line
    assert "Traceback" not in run.err
    assert not store.with_name("crawl.db.lock").exists()
