"""What takes long says so, and Ctrl-C ends what may be broken off at once."""

import io
import re
import signal
import sys
from pathlib import Path
from threading import Event

from mmcrawl.archive import Capture, open_archive
from mmcrawl.commands.terminal import Telling, telling
from tests.archive.warc.warc_files import BODY, URL, Warc
from tests.commands.running import ran
from tests.desks import ended_by
from tests.media.serving import MediaDesk
from tests.programs import started
from tests.tables import each
from tests.waiting import HANG
from tests.warm import python

# A step of a command takes for ever, in code that hears no signal, or else in Python.
LONG = """
import signal, sqlite3, sys, threading
from importlib import import_module
from operator import attrgetter
from mmcrawl.commands.terminal import telling
from scrapy.cmdline import execute

def deaf(*_, **__):
    forever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    sqlite3.connect(":memory:").execute(forever).fetchall()

def hearing(*_, **__):
    threading.Event().wait()

for number in (signal.SIGINT, signal.SIGTERM):  # a shell may have had one ignored
    signal.signal(number, signal.default_int_handler)
how, module, owner, name, *words = sys.argv[1:]
telling._SHOWN_AFTER = 0.1
telling._BROKEN_OFF_AFTER = 0.1 if how == "deaf" else 1e6  # whatever else the machine does
module = import_module(module)
setattr(attrgetter(owner)(module) if owner else module, name, globals()[how])
execute(["scrapy", *words])
"""
STEPS = [
    (
        ("deaf", "mmcrawl.archive.format.sealing", "Sealer", "finish"),
        ("archive", "import-warc", "page.warc", "-a", "archive=a.db"),
        "compressing what was stored; Ctrl-C stops at once, and nothing is lost",
        signal.SIGINT,
    ),
    (
        ("hearing", "mmcrawl.commands.works", "", "describe"),
        ("works", "describe", "crawl.db"),
        "scrapy works: working",
        signal.SIGTERM,
    ),
]


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if not path.name.endswith(("-shm", "-wal"))}


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


@each("live", [True, False])
def test_long_work_is_told_and_output_makes_room(live, monkeypatch, capsys):
    monkeypatch.setattr(telling, "_SHOWN_AFTER", 0.01)
    monkeypatch.setattr(telling, "_DRAWN_EVERY", 0.01)
    heard = Heard(live=live)
    monkeypatch.setattr(sys, "stderr", heard)
    with Telling("scrapy works", "describing") as telling_:
        assert heard.written.wait(HANG)
        print("a row")
        heard.written.clear()
        telling_.progress("indexing", 1_200, 5_000)
        while "indexing" not in heard.getvalue():
            assert heard.written.wait(HANG)
            heard.written.clear()
    said = heard.getvalue()
    assert re.search(r"scrapy works: describing \(\d+ s\)", said)
    assert re.search(r"scrapy works: indexing new versions: 1,200 of 5,000 \(\d+ s\)", said)
    assert ("\x1b[K" in said) == live
    assert not live or said.endswith("\r\x1b[K")
    assert capsys.readouterr().out == "a row\n"


@each("step, words, told, sent", STEPS)
def test_what_takes_long_says_so_and_ctrl_c_ends_it_without_loss(step, words, told, sent, tmp_path):
    MediaDesk(tmp_path).found(["http://h.test/film.mp4"])
    described = ran("works", "describe", "crawl.db", folder=tmp_path)
    assert described.returncode == 0, described.stderr
    with open_archive(f"sqlite:///{tmp_path}/a.db") as archive:
        archive.store(Capture("http://h.test/", b"<p>lens", 1.0, content_type="text/html"))
    Warc(tmp_path / "page.warc").response(URL, BODY)
    files = names_in(tmp_path)
    program = (python(), "-c", LONG, *step)
    with started(*words, folder=tmp_path, program=program) as process:
        try:
            assert process.stderr is not None
            assert any(told in line for line in process.stderr)
            said = ended_by(process, sent).err
        finally:
            process.kill()
    lines = [line for line in said.splitlines() if not line.endswith(" s)")]  # said again
    assert (process.returncode, lines) == (130, [f"scrapy {words[0]}: stopped"])
    assert names_in(tmp_path) == files
    with open_archive(f"sqlite:///{tmp_path}/a.db") as archive:
        assert {*archive.urls()} == {"http://h.test/", *([URL] if "import-warc" in words else [])}
        assert archive.check().clean
    assert "film" in ran("works", "list", "crawl.db", "--json", folder=tmp_path).stdout
