"""Stores of every release, kept in `kept/`: those after it open them and go on.

A release adds a file, made by its own program: twelve pages of the demo with archive and works,
and six crawled by two workers.
"""

import json
from pathlib import Path
from zipfile import ZipFile

from tests.programs import scrapy
from tests.tables import each

KEPT = Path(__file__).with_name("kept")


@each("release", ["0.1.0"])
def test_a_store_of_a_release_opens_and_its_crawl_goes_on(release: str, tmp_path: Path) -> None:
    with ZipFile(KEPT / f"{release}.zip") as kept:
        kept.extractall(tmp_path)

    def said(*words: str) -> str:
        return str(scrapy(*words, folder=tmp_path).stdout)

    def fetched(store: str) -> list[str]:
        chosen = ("--status", "fetched", "--limit", "0", "--format", "jsonl")
        lines = said("links", "--store", store, *chosen).splitlines()
        return [json.loads(line)["url"] for line in lines]

    before = fetched("crawl.db")
    assert (len(before), len(fetched("shared.db"))) == (12, 6)
    assert "12 versions rebuilt and compared" in said("archive", "check", "-a", "store=crawl.db")
    assert "Interference and" in said("works", "list", "--store", "crawl.db")
    said("crawl", "focused", "-a", "web=demo", "-a", "max_pages=13", "-a", "store=crawl.db")
    after = fetched("crawl.db")
    assert len(after) == 13
    assert set(before) < set(after)
    assert "13 versions rebuilt and compared" in said("archive", "check", "-a", "store=crawl.db")
