"""`scrapy archive export-parquet`, `duplicates` and `classes`, and what search makes of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import archive, rank
from tests.commands.running import exit_code

HTML = (("Content-Type", "text/html; charset=utf-8"),)
TEXT = "A lens bends light towards its axis, and the image stands where the rays meet again. " * 4
URLS = [f"http://{host}.test/{n}" for host in ("a", "b") for n in range(3)]

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Run `scrapy archive`, or another command, on an archive of six pages, two of them alike."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    with open_archive("sqlite:///crawl-archive.db") as opened:
        for number, url in enumerate(URLS):
            own = TEXT if number in (1, 4) else f"Lesson {number} of optics: " + TEXT[number * 60 :]
            own = own if number in (1, 4) else own + f"Nothing else says {number}. " * 40
            menu = "<ul class=nav><li><a href='/2'>menu</a></ul>" * number
            body = f"{menu}<div><h1>Lens</h1><p>{own}</p></div>".encode()
            opened.store(Capture(url, body, 100.0 + number, headers=HTML))

    def run(*args: str, module: object = archive) -> tuple[int, str, str]:
        code = exit_code(module.Command, *args)  # type: ignore[attr-defined]
        out, err = capfdbinary.readouterr()
        return code, out.decode("latin-1"), err.decode()

    return run


def test_duplicates_are_shown_and_search_collapses_them(run: Run) -> None:
    code, _, err = run("search", "lens", "--collapse")
    assert code == 1
    assert "`scrapy archive duplicates` finds out" in err
    code, out, err = run("duplicates")
    assert (code, err) == (0, "")
    assert "2 pages on 2 sites, the same:\n  http://a.test/1\n  http://b.test/1\n" in out
    assert "6 pages with text; 2 are like another, in 1 groups" in out
    [group] = map(json.loads, run("duplicates", "--near", "1", "--json")[1].splitlines())
    assert (group["versions"], group["exact"], group["hosts"]) == ([1, 1], True, 2)
    every = [json.loads(line)["url"] for line in run("search", "lens", "--json")[1].splitlines()]
    code, out, err = run("search", "lens", "--json", "--collapse")
    assert (code, err) == (0, "")
    found = [json.loads(line)["url"] for line in out.splitlines()]
    assert len(every) == 6
    assert len(found) == 5
    assert len({"http://a.test/1", "http://b.test/1"} & set(found)) == 1
    with open_archive("sqlite:///crawl-archive.db") as opened:
        opened.store(Capture("http://c.test/", b"<p>lens</p>", 200.0, headers=HTML))
    assert "has changed since its pages were compared" in run("search", "lens", "--collapse")[2]


def test_search_goes_by_rank(run: Run) -> None:
    code, _, err = run("search", "lens", "--order", "rank")
    assert code == 1
    assert "the archive has no ranks; `scrapy rank` computes them" in err
    ranks = run("--format=jsonl", module=rank)[1]
    order = [json.loads(line)["url"] for line in ranks.splitlines()]
    code, out, err = run("search", "lens", "--order", "rank", "--json")
    assert (code, err) == (0, "")
    found = [json.loads(line)["url"] for line in out.splitlines()]
    assert found[:2] == order[:2]
    assert set(order[:2]) == {"http://a.test/2", "http://b.test/2"}
    with open_archive("sqlite:///crawl-archive.db") as opened:
        opened.store(Capture("http://c.test/", b"<p>lens</p>", 200.0, headers=HTML))
    assert "has changed since it was ranked" in run("search", "lens", "--order", "rank")[2]


def test_classes_are_shown(run: Run) -> None:
    code, out, err = run("classes")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[-1] for line in lines[:-1]] == URLS
    assert lines[-1].startswith("6 pages: ")
    rows = [json.loads(line) for line in run("classes", "--json")[1].splitlines()]
    assert [row["url"] for row in rows] == URLS
    for row in rows:
        assert row["probabilities"][row["class"]] == max(row["probabilities"].values())


def test_an_export_is_written(run: Run) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is missing")
    from pyarrow.parquet import read_metadata, read_table

    code, out, err = run("export-parquet", "export")
    assert (code, err) == (0, "")
    assert out.startswith("export: 6 pages, ")
    assert read_table("export/pages.parquet")["url"].to_pylist() == URLS
    noted = json.loads(read_metadata("export/pages.parquet").metadata[b"mmcrawl"])
    assert noted["archive_urls"] == 6
    code, _, err = run("export-parquet", "export")
    assert (code, err) == (1, "scrapy archive: folder export is not empty; name a new one\n")
    code, out, _ = run("export-parquet", "early", "--at", "@102", "--json")
    assert code == 0
    assert json.loads(out)["rows"]["pages"] == 3
