"""`scrapy archive` in a terminal: help, narrow windows, colours, pipes that close, Ctrl-C."""

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands import archive as module
from mmcrawl.commands.terminal import revisit_tables
from mmcrawl.spiders import Revisits
from tests import programs
from tests.commands.running import exit_code
from tests.tables import each
from tests.terminals import terminal

URL = "http://optics.test/lens.html"
PAGES = 400


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive whose list is longer than a pipe holds."""
    folder = tmp_path_factory.mktemp("desk")
    with open_archive(f"sqlite:///{folder / 'crawl-archive.db'}") as archive:
        html = (("Content-Type", "text/html; charset=utf-8"),)
        archive.store(Capture(URL, "<h1>光的折射".encode(), 1.0, headers=html))
        archive.store_many(
            Capture(f"http://long.test/{n}/{'x' * 300}", b"<p>page", 2.0) for n in range(PAGES)
        )
    return folder


def started(desk: Path, *args: str, **more: object) -> subprocess.Popen[bytes]:
    return programs.started("archive", *args, folder=desk, encoding=None, **more)


@each("args", [("list",), ("stats", "--json")])
def test_a_reader_that_goes_away_is_no_error_message(desk: Path, args: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(desk, *args, stdout=writing) as process:
        os.close(writing)
        assert process.communicate()[1] == b""
    assert process.returncode == 1


def test_colours_are_for_terminals_and_a_narrow_one_loses_no_number(desk: Path) -> None:
    with terminal(40) as (theirs, pieces), started(desk, "versions", URL, stdout=theirs) as process:
        assert process.communicate()[1] == b""
    written = b"".join(pieces).decode()
    assert "\x1b[1m" in written
    assert {"1970-01-01", "200"} <= {*written.replace("\x1b[0m", "").split()}
    with started(desk, "show", URL, stdout=subprocess.PIPE) as process:
        out, _ = process.communicate()
    assert "光的折射" in out.decode()
    assert b"\x1b" not in out


def test_ctrl_c_is_a_word_and_exit_code_130(desk, monkeypatch, capsys):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.chdir(desk)
    monkeypatch.setattr("mmcrawl.commands.archive.listing.stats", interrupted)
    assert exit_code(module.Command, "stats") == 130
    assert capsys.readouterr().err == "scrapy archive: stopped\n"


def test_revisits_that_could_not_begin_show_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    problem = "archive x cannot be reached; is the server running?"
    revisits = Revisits("x", 0, 0, 0, 0, 0, 0, 0, 0, Counter(), "store_error", problem)
    Console(width=100).print(revisit_tables(revisits))
    said = capsys.readouterr().out.split("\n")
    assert [line for line in said if line] == [
        "Revisits of x",
        "Stopped (store_error). Archive x cannot be reached; is the server running?",
    ]
