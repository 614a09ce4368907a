"""`scrapy rank`: what a person types, and what comes back."""

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import rank as module
from mmcrawl.rank import METHODS, open_ranks
from tests import programs
from tests.commands.running import Run, runner
from tests.tables import each

HTML = (("Content-Type", "text/html; charset=utf-8"),)
HUB = "http://optics.test/lens.html"


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the archive of a crawl: all pages link to one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with open_archive("sqlite:///crawl-archive.db") as archive:
        archive.store(Capture(HUB, b"<h1>A lens</h1>", 100.0, headers=HTML))
        for number in range(5):
            body = b"<p>Light: <a href=/lens.html>the lens</a></p>"
            url = f"http://optics.test/{number}.html"
            archive.store(Capture(url, body, 100.0 + number, headers=HTML))
    return tmp_path


@pytest.fixture
def run(desk: Path, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process."""

    return runner(module.Command, capfd)


@each("method", [name for name in METHODS if name != "topic-pagerank"])
def test_the_first_pages_are_shown_and_ranks_are_kept(run, method: str):
    said = run("--method", method, "--limit", "2")
    assert (said.code, said.err) == (0, "")
    rows = [line.split() for line in said.out.splitlines() if "http://" in line]
    assert [row[0] for row in rows] == ["1", "2"]
    if method != "hubs":
        assert rows[0][-1] == HUB
        assert rows[0][-2] == "5"  # pages that link to it
    assert "6 pages" in said.out
    assert "kept in crawl-archive.db-rank" in said.out
    with open_ranks("sqlite:///crawl-archive.db") as ranks:
        assert (ranks.method, len(ranks)) == (method, 6)


def test_a_program_gets_all_pages_or_the_first(run):
    lines = [json.loads(line) for line in run("--format", "jsonl").out.splitlines()]
    assert len(lines) == 6
    assert lines[0]["url"] == HUB
    assert sum(line["score"] for line in lines) == pytest.approx(1)
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv", "--limit", "3").out)))
    assert [row["place"] for row in rows] == ["1", "2", "3"]
    assert float(rows[0]["score"]) == lines[0]["score"]


def test_blocks_and_media_are_ranked_and_not_kept(run, desk: Path):
    with open_archive("sqlite:///crawl-archive.db") as archive:
        body = b"<p>A film: <a href=/a.mp4>light</a></p>"
        archive.store(Capture("http://optics.test/9.html", body, 200.0, headers=HTML))
    run("--method", "pagerank")
    kept = (desk / "crawl-archive.db-rank").read_bytes()
    blocks = [
        json.loads(line) for line in run("--of", "blocks", "--format", "jsonl").out.splitlines()
    ]
    assert blocks[0]["url"] == HUB
    assert blocks[0]["end"] > blocks[0]["start"]
    assert sum(block["score"] for block in blocks) == pytest.approx(1)
    [shown] = [x for x in run("--of", "blocks", "--limit", "1").out.splitlines() if "http://" in x]
    assert {"1", blocks[0]["kind"], HUB} <= set(shown.split())
    [film] = csv.DictReader(io.StringIO(run("--of", "media", "--format", "csv").out))
    assert (film["url"], film["kind"], film["pages"]) == ("http://optics.test/a.mp4", "video", "1")
    assert (film["best_page"], film["score"]) == ("http://optics.test/9.html", "1.0")
    said = run("--of", "media", "--method", "pagerank")
    assert (said.code, said.err) == (0, "")
    assert "http://optics.test/a.mp4" in said.out
    assert "pagerank of 1 media: 7 pages" in said.out
    assert (desk / "crawl-archive.db-rank").read_bytes() == kept


def test_the_archive_is_ranked_as_of_a_time_and_for_a_topic(run):
    assert run("--method", "topic-pagerank", "--topic", "physics-senior").code == 0
    with open_ranks("sqlite:///crawl-archive.db") as ranks:
        assert ranks.topic == "physics-senior"
    assert "4 pages" in run("--at", "@102", MMCRAWL_ARCHIVE="crawl-archive.db").out
    with open_archive("sqlite:///lone.db") as archive:
        archive.store(Capture(HUB, b"<h1>A lens</h1>", 1.0, headers=HTML))
    assert "all ranks are equal" in run("-a", "archive=lone.db").out


def test_commands_load_no_slow_or_optional_library() -> None:
    libraries = ("datasketch", "matplotlib", "pyarrow", "pyspark", "scipy", "sklearn")
    code = (
        "import sys; from scrapy.commands import ScrapyCommand\n"
        "from scrapy.utils.misc import walk_modules\n"
        "assert len(walk_modules('mmcrawl.commands')) > 5\n"
        f"print([name for name in {libraries} if name in sys.modules])"
    )
    assert programs.run(sys.executable, "-c", code).stdout == "[]\n"
