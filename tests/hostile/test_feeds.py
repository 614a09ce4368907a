import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime

import pytest

from mmcrawl.engine import MediaPageItem
from tests.desks import Desk, Run
from tests.tables import each

SITE = ("seeds=http://wuli.demo.test/", "topic=physics-senior")
DEMO = ("web=demo", *SITE, "store=crawl.db")
KINDS = ("audio", "video", "animation")


@dataclass
class Pieces:
    """A crawl that was run in two pieces, and once more when it was finished."""

    desk: Desk
    first: Run
    found_first: set[str]
    second: Run
    again: Run

    def json_rows(self, name: str) -> list[dict[str, object]]:
        lines = (self.desk.folder / name).read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def csv_rows(self, name: str) -> list[dict[str, str]]:
        with (self.desk.folder / name).open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))

    def resources(self, page: str, kind: str) -> list[str]:
        query = "SELECT url FROM media_resource WHERE page = '{}' AND kind = '{}' ORDER BY url"
        return [str(row[0]) for row in self.desk.rows("crawl.db", query.format(page, kind))]


def pages_of(run: Run) -> int:
    [pages] = re.findall(r"pages crawled (\d+)", run.words)
    return int(pages)


@pytest.fixture(scope="module")
def pieces(open_desk: Callable[[], Desk]) -> Pieces:
    desk = open_desk()
    first = desk.crawl(*DEMO, "max_pages=50", "-O", "first.jsonl", STATS_DUMP="1")
    found_first = desk.media_pages("crawl.db")
    (desk.folder / "media.csv").write_text("what was there before")
    feeds = ("-O", "media.jsonl", "-O", "media.csv", "-O", "table:csv")
    second = desk.crawl(*DEMO, *feeds, STATS_DUMP="1")
    again = desk.crawl(*DEMO, "-O", "again.jsonl", STATS_DUMP="1")
    return Pieces(desk, first, found_first, second, again)


def stats_of(run: Run) -> dict[str, float]:
    found = re.findall(r"'(mmcrawl/[^']+|item_scraped_count)': ([\d.e-]+)", run.err)
    return {name: float(number) for name, number in found}


def test_a_feed_holds_exactly_the_media_pages_of_the_store(pieces: Pieces) -> None:
    stored = pieces.desk.media_pages("crawl.db")
    urls = [row["url"] for row in pieces.json_rows("media.jsonl")]
    assert len(urls) == len(set(urls)) > 30
    assert set(urls) == stored
    assert {row["url"] for row in pieces.json_rows("first.jsonl")} == pieces.found_first


def test_a_resumed_crawl_writes_what_both_pieces_found_and_a_finished_one_the_same(pieces):
    assert pieces.first.code == 0, pieces.first.err
    assert pieces.second.code == 0, pieces.second.err
    assert pieces.found_first
    assert len(pieces.found_first) < len(pieces.json_rows("media.jsonl"))
    assert pieces.again.code == 0
    assert "was finished before; nothing was fetched" in pieces.again.words
    assert pieces.json_rows("again.jsonl") == pieces.json_rows("media.jsonl")


def test_a_row_holds_the_resources_of_its_page(pieces: Pieces) -> None:
    for row in pieces.json_rows("media.jsonl"):
        assert set(row) == {field.name for field in fields(MediaPageItem)}
        for kind in KINDS:
            assert row[kind] == pieces.resources(str(row["url"]), kind)
            assert row[f"{kind}_count"] == len(row[kind])  # type: ignore[arg-type]


def test_media_that_turned_out_to_be_site_wide_are_in_no_row(pieces: Pieces) -> None:
    site_wide = {row[0] for row in pieces.desk.rows("crawl.db", "SELECT url FROM site_wide")}
    assert any(str(url).endswith("/images/welcome.swf") for url in site_wide)
    scraped = sum(stats_of(run)["item_scraped_count"] for run in (pieces.first, pieces.second))
    rows = pieces.json_rows("media.jsonl")
    assert scraped > len(rows)  # some were found, and taken back
    for row in rows:
        assert not site_wide.intersection(row["audio"], row["video"], row["animation"])  # type: ignore[arg-type]


@each("name", ["media.csv", "table"])
def test_a_csv_feed_has_the_same_rows(name: str, pieces: Pieces) -> None:
    expected = {str(row["url"]): row for row in pieces.json_rows("media.jsonl")}
    assert (pieces.desk.folder / name).read_bytes().startswith(b"\xef\xbb\xbfurl,")
    for feed in (name, "media.jsonl"):
        assert "动量守恒定律flash课件" in (pieces.desk.folder / feed).read_text("utf-8")
    rows = pieces.csv_rows(name)
    assert [row["url"] for row in rows] == list(expected)
    for row in rows:
        same = expected[row["url"]]
        assert row["title"] == same["title"]
        seen = datetime.fromtimestamp(float(same["visited_at"]))  # type: ignore[arg-type]
        assert row["visited_at"] == f"{seen:%Y-%m-%d %H:%M:%S}"
        first = same["media"][0]  # type: ignore[index]
        assert row["media"].startswith(f"{first['kind']} {first['url']}")
        assert "{" not in "".join(row.values())
        assert row["words"] == "; ".join(same["words"])  # type: ignore[arg-type]
        assert [int(row[f"{kind}_count"]) for kind in KINDS] == [same[f"{k}_count"] for k in KINDS]


def test_the_stats_hold_the_numbers_of_the_closing_table(pieces: Pieces) -> None:
    stats, desk = stats_of(pieces.second), pieces.desk
    pages = desk.rows("crawl.db", "SELECT count(*) FROM page")[0][0]
    counted = {
        "pages": "page", "media_pages": "media_page", "patterns": "pattern",
        "errors": "link WHERE status = 'E'",
    }  # fmt: skip
    for name, table in counted.items():
        [(number,)] = desk.rows("crawl.db", f"SELECT count(*) FROM {table}")
        assert stats[f"mmcrawl/{name}"] == number > 0
    assert stats["mmcrawl/waiting"] == stats["mmcrawl/held"] == 0
    assert stats_of(pieces.first)["mmcrawl/waiting"] > 0
    assert 0 < stats["mmcrawl/harvest_rate"] < 1
    query = "SELECT count(DISTINCT url) FROM media_resource WHERE kind = '{}'"
    for kind in KINDS:
        count = desk.rows("crawl.db", query.format(kind))[0][0]
        assert stats[f"mmcrawl/media/{kind}"] == count
        assert f"{kind} resources {count}" in pieces.second.words
    now = pages - pages_of(pieces.first)
    assert re.search(rf"pages crawled {pages}, {now} of them in \d+ s", pieces.second.words)
    assert pages_of(pieces.again) == pages
    assert stats_of(pieces.again)["mmcrawl/harvest_rate"] == stats["mmcrawl/harvest_rate"]


def test_a_crawl_that_never_starts_leaves_the_feed_of_the_last_one(desk: Desk) -> None:
    feed = desk.folder / "media.jsonl"
    job = ("web=demo", "store=crawl.db", "job=mine", "-O", "media.jsonl")
    assert desk.crawl(*job, "max_pages=30").code == 0
    found = feed.read_bytes()
    assert found
    refused = desk.crawl(*job, "topic=biology-senior")
    assert refused.code == 1
    assert "was started with topic='physics-senior'" in refused.words
    assert feed.read_bytes() == found
    (desk.folder / "other.db").write_text("no store")
    assert desk.crawl("web=demo", "store=other.db", "-O", "media.jsonl", "-O", "new.csv").code == 1
    assert feed.read_bytes() == found
    assert not (desk.folder / "new.csv").exists()


def test_a_feed_that_cannot_be_written_is_told_before_anything_is_fetched(desk: Desk) -> None:
    (desk.folder / "folder").mkdir()
    (desk.folder / "file").write_text("kept")
    done = desk.crawl("web=demo", "-O", "file:jsonl", "-O", "folder:jsonl")
    assert (desk.folder / "file").read_text() == "kept"
    assert done.code == 2
    assert done.errors == ["Feed folder cannot be written: Is a directory"]
    assert "Traceback" not in done.err
    assert "pages crawled" not in done.err
