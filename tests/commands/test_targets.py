"""No command writes over a file that it did not make, unless it is told to."""

import argparse
import re
from collections.abc import Iterator
from errno import ENOSPC
from importlib import import_module
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import base
from mmcrawl.commands.terminal import Target
from tests.commands.running import exit_code
from tests.tables import each
from tests.test_documented_commands import commands, parsers_of

THESIS = b"Years of work.\n"
CASES = {
    "archive -o": "archive rebuild http://h.test/ -o thesis.txt -a archive=a.db",
    "archive export-warc": "archive export-warc thesis.txt -a archive=a.db",
    "blocks --output": "blocks --format md --output folder page.html page.html",
    "collect -o": "collect list -o thesis.txt",
    "links -o": "links -o thesis.txt",
    "rank -o": "rank -o thesis.txt -a archive=a.db",
    "rules -o": "rules export -o thesis.txt",
    "seeds -o": "seeds check seeds.txt -o thesis.txt",
    "topic -o": "topic learn lens --good page.html --bad page.html -o thesis.topic.json",
    "works -o": "works export --to csv -o thesis.txt",
}
MORE = (  # of several kinds in one command, what holds files, and what is no archive
    "archive export-warc free.warc -a archive=a.db",  # whose index would be free.cdxj
    "archive export-parquet folder -a archive=a.db",
    "archive copy thesis.txt -a archive=a.db",
    "archive import-warc page.html -a archive=thesis.txt",
    "experiment --out folder",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with open_archive("sqlite:///a.db") as archive:
        archive.store(Capture("http://h.test/", b"<p>lens", 1.0, content_type="text/html"))
    (tmp_path / "folder").mkdir()
    for name in ("thesis.txt", "thesis.topic.json", "free.cdxj", "folder/thesis.txt"):
        (tmp_path / name).write_bytes(THESIS)
    (tmp_path / "page.html").write_bytes(b"<title>Lens</title><h1>Optics</h1><p>A lens refracts.")
    (tmp_path / "seeds.txt").write_bytes(b"http://127.0.0.1:9/\n")
    (tmp_path / "crawl.db").write_bytes(b"")
    return tmp_path


def run(line: str) -> int:
    name, *words = line.split()
    return exit_code(import_module(f"mmcrawl.commands.{name}").Command, *words)


@each("line", [*CASES.values(), *MORE])
def test_a_file_of_somebody_else_stays(line, folder, capsys):
    assert run(line) in (1, 2)
    said = capsys.readouterr().err
    assert re.search(r"thesis|free|folder", said), said
    names = ("thesis.txt", "thesis.topic.json", "free.cdxj", "folder/thesis.txt")
    assert {(folder / name).read_bytes() for name in names} == {THESIS}
    assert len(list((folder / "folder").iterdir())) == 1


def test_every_command_that_writes_is_tried() -> None:
    found: set[str] = set()
    for name in commands():
        for parser, action in ((one, act) for one in parsers_of(name) for act in one._actions):
            flag = next((one for one in action.option_strings), "")
            if isinstance(action, Target):
                found.add(f"{name} {flag}")
                assert "--overwrite" in parser._option_string_actions
            writes = isinstance(action, argparse._StoreAction) and flag in ("-o", "--output")
            assert isinstance(action, Target) or not writes or name in SCRAPYS, f"{name} {flag}"
    assert found | {"archive export-warc"} == {*CASES}


SCRAPYS = {"crawl", "parse", "fetch", "shell"}
"""Their -o adds to a file, and -O is told to write it anew."""


def test_a_file_is_written_anew_where_it_is_told_or_its_own(folder: Path) -> None:
    line = "archive rebuild http://h.test/ -o thesis.txt -a archive=a.db --overwrite"
    assert run(line) == 0
    assert (folder / "thesis.txt").read_bytes() == b"<p>lens"
    assert run("archive rebuild http://h.test/ -o /dev/null -a archive=a.db") == 0


def lines_until_full() -> Iterator[str]:
    yield "half a line"
    raise OSError(ENOSPC, "the disk is full")


def test_a_file_that_the_disk_has_no_room_for_is_not_left_half_written(tmp_path: Path) -> None:
    path = tmp_path / "links.csv"
    with pytest.raises(OSError, match="full"), base.output_to(str(path)) as file:
        file.writelines(lines_until_full())
    assert not path.exists()
    path.symlink_to(tmp_path / "kept")  # as /dev/stdout is one
    with pytest.raises(OSError, match="full"), base.output_to(str(path)) as file:
        file.writelines(lines_until_full())
    assert path.is_symlink()
