"""`mmcrawl blocks --format`: the content of pages in files, folders and WARC files."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mmcrawl.commands.terminal import run
from tests.archive.warc.warc_files import Warc
from tests.desks import end_of
from tests.programs import MMCRAWL, started
from tests.tables import each
from tests.waiting import HANG
from tests.warm import python

ROOT = Path(__file__).parents[2]
TEXT = "<p>A lever is a rigid bar on a pivot, and it makes a small force lift a great load.</p>"


def page(title: str) -> bytes:
    return f"<title>{title}</title><h1>{title}</h1>{TEXT * 2}".encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pages" / "b").mkdir(parents=True)
    (tmp_path / "pages" / "one.html").write_bytes(page("Levers"))
    (tmp_path / "pages" / "b" / "two.htm").write_bytes(page("Pulleys"))
    (tmp_path / "pages" / "b" / "three.html.gz").write_bytes(gzip.compress(page("Wheels")))
    (tmp_path / "pages" / "empty.html").write_bytes(b"")
    (tmp_path / "pages" / "style.css").write_bytes(b"p {}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def warc(path: Path, *urls: str) -> None:
    file = Warc(path)
    for url in urls:
        kind = "image/png" if url.endswith(".png") else "text/html"
        file.response(url, page(url.rpartition("/")[2]), headers=(("Content-Type", kind),))
    file.close()


def test_a_file_is_written_to_standard_output(folder, capfdbinary):
    assert run(["--format", "md", "pages/one.html"]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"# Levers\n\nA lever is")
    assert err == b""


@each("encoding", ["utf-32-be", "utf-16-be"])
def test_a_file_of_wide_characters_is_read(folder, capfdbinary, encoding):
    (folder / "wide.html").write_bytes(page("Levers").decode().encode(encoding))
    assert run(["--format", "md", "wide.html"]) == 0
    assert capfdbinary.readouterr().out.startswith(b"# Levers\n\nA lever is")


def test_a_folder_is_a_line_of_json_a_page(folder, capfdbinary):
    assert run(["--format", "json", "pages"]) == 1
    out, err = capfdbinary.readouterr()
    records = [json.loads(line) for line in out.splitlines()]
    assert [one["title"] for one in records] == ["Wheels", "Pulleys", "Levers"]
    assert records[2]["source"] == "pages/one.html"
    assert b"pages/empty.html: the page is empty" in err
    assert b"3 pages extracted, 1 not" in err


def test_a_packed_page_is_read_up_to_a_bound(folder, capfdbinary):
    (folder / "pages" / "bomb.html.gz").write_bytes(gzip.compress(b"<p>" + bytes(60 << 20)))
    assert run(["--format", "json", "pages"]) == 1
    out, err = capfdbinary.readouterr()
    assert len(out.splitlines()) == 3
    assert b"pages/bomb.html.gz: the page is larger than 50 MB" in err


def test_a_folder_is_written_into_a_folder(folder: Path) -> None:
    long = folder / "pages" / ("\u202e" + 80 * "杠")  # longer than a name, without its path
    long.mkdir()
    (long / "杠杆.html").write_bytes((folder / "pages" / "one.html").read_bytes())
    assert run(["--format", "md", "--output", "texts", "pages"]) == 1
    names = sorted(one.name for one in (folder / "texts").iterdir())
    assert names[:2] == ["pages_b_three.html.gz.md", "pages_b_two.htm.md"]
    assert names[2:] == ["pages_one.html.md", 36 * "杠" + "_杠杆.html.md"]


def test_the_pages_of_a_warc_file_have_their_addresses(folder, capfdbinary):
    warc(
        folder / "crawl.warc.gz",
        "http://h.test/a",
        "http://h.test/b.png",
        "http://h.test/2019/05/06/c",
    )
    assert run(["--format", "json", "crawl.warc.gz"]) == 0
    records = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [one["url"] for one in records] == ["http://h.test/a", "http://h.test/2019/05/06/c"]
    assert records[1]["published"]["value"] == "2019-05-06"


def test_what_is_damaged_of_a_warc_file_is_told(folder, capfdbinary):
    warc(folder / "crawl.warc.gz", "http://h.test/a", "http://h.test/b")
    whole = (folder / "crawl.warc.gz").read_bytes()
    (folder / "cut.warc.gz").write_bytes(whole[:-40] + b"\0" * 100)
    assert run(["--format", "json", "cut.warc.gz"]) == 1
    out, err = capfdbinary.readouterr()
    assert json.loads(out.splitlines()[0])["url"] == "http://h.test/a"
    assert b"Traceback" not in err


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    program = (python(), "-c", MMCRAWL)
    words = ("blocks", "--format", "md", "pages/one.html")
    with started(*words, folder=folder, program=program, stdout=writing) as process:
        os.close(writing)
        assert (end_of(process).err, process.returncode) == ("", 1)


@each(
    "words",
    [["page.html"], ["--format", "md"], ["--format", "md", "http://h.test/"],
     ["--format", "md", "--method", "bwap", "page.html"], ["--format", "pdf", "page.html"],
     ["--format", "md", "--web", "demo", "page.html"], ["--help", "--format", "md", "page.html"]],
)  # fmt: skip
def test_what_needs_more_is_left_to_the_command(words: list[str]) -> None:
    assert run(words) is None


def test_extracting_loads_neither_scrapy_nor_what_trains_models(folder: Path) -> None:
    code = (
        "import sys; sys.argv = ['mmcrawl', 'blocks', '--format', 'md', 'pages/one.html']\n"
        "from mmcrawl.commands.program import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'scrapy', 'twisted', 'sklearn', 'scipy', 'requests', 'pydantic', 'pymongo',"
        " 'jieba', 'pypinyin', 'datasketch', 'tldextract'}\n"
        "print(sorted(heavy & sys.modules.keys()), file=sys.stderr)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=folder, timeout=HANG, check=False,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert shown.stdout.startswith(b"# Levers")
    assert shown.stderr.decode().strip() == "[]"
