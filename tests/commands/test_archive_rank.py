"""`scrapy archive export-parquet`, `duplicates` and `classes`, and what search makes of them."""

import json
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import archive, rank
from tests.commands.running import Run, Said, runner

HTML = (("Content-Type", "text/html; charset=utf-8"),)
TEXT = "A lens bends light towards its axis, and the image stands where the rays meet again. " * 4
URLS = [f"http://{host}.test/{n}" for host in ("a", "b") for n in range(3)]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `scrapy archive` on an archive of six pages, two of them alike."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with open_archive("sqlite:///crawl-archive.db") as opened:
        for number, url in enumerate(URLS):
            own = TEXT if number in (1, 4) else f"Lesson {number} of optics: " + TEXT[number * 60 :]
            own = own if number in (1, 4) else own + f"Nothing else says {number}. " * 40
            menu = "<ul class=nav><li><a href='/2'>menu</a></ul>" * number
            body = f"{menu}<div><h1>Lens</h1><p>{own}</p></div>".encode()
            opened.store(Capture(url, body, 100.0 + number, headers=HTML))
    return runner(archive.Command, capfd)


def good(run: Run, *words: str) -> Said:
    said = run(*words)
    assert (said.code, said.err) == (0, "")
    return said


def a_page_more() -> None:
    with open_archive("sqlite:///crawl-archive.db") as opened:
        opened.store(Capture("http://c.test/", b"<p>lens</p>", 200.0, headers=HTML))


def test_duplicates_are_shown_and_search_collapses_them(run: Run) -> None:
    said = run("search", "lens", "--collapse")
    assert said.code == 1
    assert "`scrapy archive duplicates` finds out" in said.err
    out = good(run, "duplicates").out
    assert "2 pages on 2 sites, the same:\n  http://a.test/1\n  http://b.test/1\n" in out
    assert "6 pages with text; 2 are like another, in 1 groups" in out
    group = run("duplicates", "--near", "1", "--json").json()
    assert (group["versions"], group["exact"], group["hosts"]) == ([1, 1], True, 2)
    every = [hit["url"] for hit in run("search", "lens", "--json").lines()]
    found = [hit["url"] for hit in good(run, "search", "lens", "--json", "--collapse").lines()]
    assert (len(every), len(found)) == (6, 5)
    assert len({"http://a.test/1", "http://b.test/1"} & set(found)) == 1
    a_page_more()
    assert "has changed since its pages were compared" in run("search", "lens", "--collapse").err


def test_search_goes_by_rank(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    said = run("search", "lens", "--order", "rank")
    assert said.code == 1
    assert "the archive has no ranks; `scrapy rank` computes them" in said.err
    order = [page["url"] for page in runner(rank.Command, capfd)("--format=jsonl").lines()]
    found = [hit["url"] for hit in good(run, "search", "lens", "--order", "rank", "--json").lines()]
    assert found[:2] == order[:2]
    assert set(order[:2]) == {"http://a.test/2", "http://b.test/2"}
    a_page_more()
    assert "has changed since it was ranked" in run("search", "lens", "--order", "rank").err


def test_classes_are_shown(run: Run) -> None:
    lines = good(run, "classes").out.splitlines()
    assert [line.split()[-1] for line in lines[:-1]] == URLS
    assert lines[-1].startswith("6 pages: ")
    rows = run("classes", "--json").lines()
    assert [row["url"] for row in rows] == URLS
    for row in rows:
        assert row["probabilities"][row["class"]] == max(row["probabilities"].values())


def test_an_export_is_written(run: Run) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    from pyarrow.parquet import read_metadata, read_table

    assert good(run, "export-parquet", "export").out.startswith("export: 6 pages, ")
    assert read_table("export/pages.parquet")["url"].to_pylist() == URLS
    noted = json.loads(read_metadata("export/pages.parquet").metadata[b"mmcrawl"])
    assert noted["archive_urls"] == 6
    said = run("export-parquet", "export")
    told = "scrapy archive: folder export is not empty; name a new one\n"
    assert (said.code, said.err) == (1, told)
    assert run("export-parquet", "early", "--at", "@102", "--json").json()["rows"]["pages"] == 3
