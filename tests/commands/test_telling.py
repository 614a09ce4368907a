"""What takes long says so, and Ctrl-C ends what may be broken off at once."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from threading import Event
from typing import Any

import pytest

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands.archive import Command
from mmcrawl.terminal import Telling, telling
from tests.commands.running import exit_code
from tests.waiting import HANG

IN_C = """
import signal, sqlite3, sys
from mmcrawl.terminal.telling import ended_at_once
for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have had one ignored
    signal.signal(number, lambda *_: None)
with ended_at_once("nothing is lost"):
    print("closing", flush=True)
    forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    sqlite3.connect(":memory:").execute(forever).fetchall()
"""


class Heard(io.StringIO):
    """Standard error, of which it is known when something was written."""

    def __init__(self, *, live: bool) -> None:
        super().__init__()
        self.live, self.written = live, Event()

    def isatty(self) -> bool:
        return self.live

    def write(self, text: str) -> int:
        written = super().write(text)
        self.written.set()
        return written


@pytest.mark.parametrize("live", [True, False], ids=["terminal", "file"])
def test_long_work_is_told_and_output_makes_room(
    live: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(telling, "_SHOWN_AFTER", 0.01)
    monkeypatch.setattr(telling, "_DRAWN_EVERY", 0.01)
    heard = Heard(live=live)
    monkeypatch.setattr(sys, "stderr", heard)
    with Telling("scrapy works", "describing", said_after=0.01):
        assert heard.written.wait(60)
        print("a row")
    said = heard.getvalue()
    assert re.search(r"scrapy works: describing \(\d+ s\)", said)
    assert ("\x1b[K" in said) == live
    assert not live or said.endswith("\r\x1b[K")
    assert capsys.readouterr().out == "a row\n"


def test_quick_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with Telling("scrapy works", "describing"):
        print("a row")
    assert capsys.readouterr() == ("a row\n", "")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_what_is_deaf_to_signals_ends_at_once(sent: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", IN_C], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "closing\n"
        process.send_signal(sent)
        try:
            _, said = process.communicate(timeout=HANG)
        finally:
            process.kill()
    assert (process.returncode, said) == (130, "nothing is lost\n")


def test_closing_an_archive_is_told(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []
    monkeypatch.chdir(tmp_path)
    with open_archive("sqlite:///a.db") as archive:
        archive.store(Capture("http://h.test/", b"<p>lens", 1.0, content_type="text/html"))
        close = type(archive).close
    command: list[Command] = []
    init = Command.__init__
    monkeypatch.setattr(Command, "__init__", lambda self: (command.append(self), init(self))[1])
    monkeypatch.setattr(
        type(archive), "close", lambda self: (seen.append(command[0].telling.what), close(self))[1]
    )
    assert exit_code(Command, "stats", "-a", "archive=a.db") == 0
    assert "Ctrl-C ends that at once, and nothing is lost" in seen[0]
    assert capsys.readouterr().err == ""


def test_ctrl_c_compresses_nothing_and_keeps_what_was_stored(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(archive: Any, *_: object, **__: object) -> None:
        archive.store(Capture("http://h.test/", b"<p>lens", 1.0, content_type="text/html"))
        raise KeyboardInterrupt

    def finish(_: object) -> None:
        raise AssertionError("it is compressed")

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("mmcrawl.archive.warc.importing.import_warc", interrupted)
        patched.setattr("mmcrawl.archive.format.sealing.Sealer.finish", finish)
        assert exit_code(Command, "import-warc", "x.warc", "-a", "archive=a.db") == 130
    with open_archive("sqlite:///a.db") as archive:
        assert archive.get("http://h.test/").number == 1
        assert archive.check().clean
