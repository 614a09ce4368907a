import os
import re
import socket
import struct
import threading
import time

import pytest
from rich.cells import cell_len

from tests.desks import Desk, end_of
from tests.waiting import HANG

fcntl = pytest.importorskip("fcntl", reason="pseudo terminals are a matter of Unix")
pty = pytest.importorskip("pty", reason="pseudo terminals are a matter of Unix")
termios = pytest.importorskip("termios", reason="pseudo terminals are a matter of Unix")

COLUMNS = 40
TITLE = "[red]optics[/red] \x1b]0;owned\x07\x1b[2J\x9b31m lens"
CURSOR_OR_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run_on_terminal(desk: Desk, pieces: list[bytes], *arguments: str) -> tuple[int, str]:
    """Crawl with standard error on a terminal of 40 columns; return code and all it was sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, COLUMNS, 0, 0))

    def read() -> None:
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:
            return  # the other side is closed

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    with desk.start("crawl", "focused", *arguments, stderr=theirs) as process:
        os.close(theirs)
        end_of(process)
    reader.join(HANG)
    os.close(ours)
    return process.returncode, b"".join(pieces).decode("utf-8")


def test_a_terminal_gets_panel_and_tables_and_nothing_a_site_could_do_to_it(desk, site):
    site.page("/", "All", "/hostile", "/slow")
    site.page("/hostile", TITLE, media="a.mp4")
    site.page("/slow", "lens")
    page = site.answers["/slow"]
    assert isinstance(page, bytes)

    drawn: list[bytes] = []

    def slowly(connection: socket.socket) -> None:
        deadline = time.monotonic() + HANG
        while b"of the last 500" not in b"".join(drawn) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)  # the panel is drawn twice a second
        connection.sendall(page)

    site.answers["/slow"] = slowly
    code, text = run_on_terminal(desk, drawn, "topic=physics-senior", f"seeds={site.url()}")
    assert code == 0
    assert "owned\x07" not in text
    assert "\x1b[2J" not in text
    plain = CURSOR_OR_COLOUR.sub("", text)
    assert not [c for c in plain if not c.isprintable() and c not in "\r\n"]
    assert "of the last 500" in plain
    assert "[red]" in plain
    tables = plain.partition("pages crawled")[2].partition("Finished")[0]
    assert "[red]" in tables
    assert all(cell_len(line) <= COLUMNS for line in tables.splitlines())
