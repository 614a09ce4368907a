"""`scrapy archive` in a terminal: help, narrow windows, colours, pipes that close, Ctrl-C."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from mmcrawl.archive import Capture, Due, StoredAnew, Version, Visit, open_archive
from mmcrawl.commands import archive as module
from mmcrawl.commands import due_lines, version_lines
from mmcrawl.commands.terminal import revisit_tables
from mmcrawl.spiders import Revisits
from tests import programs
from tests.commands.running import exit_code
from tests.tables import each

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


def on_a_terminal(desk: Path, columns: int, *args: str) -> str:
    """Run the command on a terminal so wide; return what it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with started(desk, *args, stdout=theirs) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
        os.close(ours)
        assert process.stderr.read() == b""
    return written.decode()


def test_the_help_tells_of_every_subcommand_in_lines_of_its_own(desk: Path) -> None:
    with started(desk, "--help", stdout=subprocess.PIPE) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    starts = {line.split(" ")[0] for line in out.decode().splitlines() if line}
    assert {one.name for one in module.Command.subcommands} <= starts
    assert all(len(line) < 80 for line in module.Command().long_desc().splitlines())


@each("args", [("list",), ("list", "--json"), ("stats", "--json")])
def test_a_reader_that_goes_away_is_no_error_message(desk: Path, args: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with started(desk, *args, stdout=writing) as process:
        os.close(writing)
        assert process.communicate()[1] == b""
    assert process.returncode == 1


def test_colours_are_for_terminals(desk: Path) -> None:
    assert "\x1b[1m" in on_a_terminal(desk, 100, "show", URL)
    with started(desk, "show", URL, stdout=subprocess.PIPE) as process:
        out, _ = process.communicate()
    assert "光的折射" in out.decode()
    assert b"\x1b" not in out


def test_a_narrow_terminal_loses_no_number(desk: Path) -> None:
    written = on_a_terminal(desk, 40, "versions", URL).replace("\x1b[0m", "").split()
    assert "1970-01-01" in written
    assert "200" in written


def test_what_a_subcommand_does_is_there() -> None:
    for one in module.Command.subcommands:
        assert all(map(callable, map(module.function_of, filter(None, (one.run, one.check)))))


def test_ctrl_c_is_a_word_and_exit_code_130(desk, monkeypatch, capsys):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.chdir(desk)
    monkeypatch.setattr("mmcrawl.commands.archive.listing.stats", interrupted)
    assert exit_code(module.Command, "stats") == 130
    assert capsys.readouterr().err == "scrapy archive: stopped\n"


def plain(lines: object) -> list[str]:
    return [line.plain for line in lines]  # type: ignore[attr-defined]


def test_versions_stand_in_columns_under_their_head() -> None:
    versions = [
        Version(URL, number, 86_400.0 * number, status, "", (), kind, "ab" * 32, size, *cut)
        for number, status, kind, size, cut in (
            (1, 200, "text/html; charset=utf-8", 1_234_567, ("en", "utf-8", "bwap", 3)),
            (12, 404, "\x1b[31mred", 0, ("", "", "", 0)),
        )
    ]
    visits = [Visit(1.0, True, 1, 200), Visit(2.0, False, 1, 304), Visit(3.0, True, 12, 404)]
    anew = {
        1: StoredAnew(1, 38, (1, 4, 9), 602, False),
        12: StoredAnew(12, None, (), 0, None),
    }
    head, first, second = plain(version_lines(versions, visits, anew))
    for name, cell, other in (
        ("new blocks", "3 of 38", "–"),
        ("bytes", "602", "–"),
    ):
        end = head.index(name) + len(name)
        assert first[:end].endswith(f" {cell}")
        assert second[:end].endswith(f" {other}")
    for name, cell in (("vers.", "    1"), ("visits", "     2"), ("status", "   200")):
        assert first[head.index(name) :].startswith(cell)
    assert first[: head.index("size") + 4].endswith(" 1,234,567")
    assert first[head.index("cut by") :].startswith("bwap 3  ")
    assert first[head.index("type") :] == "text/html; charset=utf-8"
    assert second[head.index("type") :] == "\ufffd[31mred"
    assert second.startswith("   12      1  1970-01-13")


def test_what_is_due_stands_in_two_lines() -> None:
    item = Due(URL, 0.0, 0.5, 3_600.0, "Visited once: again after 1 hour.")
    assert plain(due_lines(item, 10_800.0)) == [
        f"    2.0 h  1970-01-01 00:00:00 UTC            0.5  {URL}",
        "           Visited once: again after 1 hour.",
    ]


def test_revisits_that_could_not_begin_show_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    from collections import Counter

    from rich.console import Console

    problem = "archive x cannot be reached; is the server running?"
    revisits = Revisits("x", 0, 0, 0, 0, 0, 0, 0, 0, Counter(), "store_error", problem)
    Console(width=100).print(revisit_tables(revisits))
    said = capsys.readouterr().out.split("\n")
    assert [line for line in said if line] == [
        "Revisits of x",
        "Stopped (store_error). Archive x cannot be reached; is the server running?",
    ]
