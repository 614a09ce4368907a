import re
import socket
import time

from rich.cells import cell_len

from tests.desks import end_of
from tests.terminals import terminal
from tests.waiting import HANG

COLUMNS = 40
TITLE = "[red]optics[/red] \x1b]0;owned\x07\x1b[2J\x9b31m lens"
CURSOR_OR_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_a_terminal_gets_panel_and_tables_and_nothing_a_site_could_do_to_it(desk, site):
    site.page("/", "All", "/hostile", "/slow")
    site.page("/hostile", TITLE, media="a.mp4")
    site.page("/slow", "lens")
    page = site.answers["/slow"]
    assert isinstance(page, bytes)

    def slowly(connection: socket.socket) -> None:
        deadline = time.monotonic() + HANG
        while b"of the last 500" not in b"".join(drawn) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(1)  # the panel is drawn twice a second
        connection.sendall(page)

    site.answers["/slow"] = slowly
    words = ("crawl", "focused", "topic=physics-senior", f"seeds={site.url()}")
    with terminal(COLUMNS) as (theirs, drawn), desk.start(*words, stderr=theirs) as process:
        assert end_of(process).code == 0
    text = b"".join(drawn).decode()
    assert "owned\x07" not in text
    assert "\x1b[2J" not in text
    plain = CURSOR_OR_COLOUR.sub("", text)
    assert not [c for c in plain if not c.isprintable() and c not in "\r\n"]
    assert "of the last 500" in plain
    assert "[red]" in plain
    tables = plain.partition("pages crawled")[2].partition("Finished")[0]
    assert "[red]" in tables
    assert all(cell_len(line) <= COLUMNS for line in tables.splitlines())
