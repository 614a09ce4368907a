"""A command that is asked to end by SIGTERM clears up behind itself."""

import signal
import sys
from pathlib import Path
from subprocess import DEVNULL

import psutil
import pytest

from mmcrawl.archive import Capture, open_archive
from tests.desks import ended_by
from tests.programs import started
from tests.waiting import HANG, until


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of so many pages that processes are started to read them."""
    path = tmp_path / "archive.db"
    words = ["lens", "prism", "mirror", "focus", "light", "wave", "ray", "beam"]
    text = "".join(f"<div><h2>{word}</h2><p>{word * 40}</p></div>" for word in words * 2)
    pages = [
        Capture(
            f"http://a.test/{n}", f"<p>{n}</p>{text}".encode(), time=1.0, content_type="text/html"
        )
        for n in range(70)
    ]
    with open_archive(f"sqlite:///{path}") as opened:
        opened.store_many(pages)
    return path


def test_a_command_that_reads_with_several_processes_leaves_none_of_their_semaphores(
    archive: Path,
) -> None:
    program = (sys.executable, "-m", "scrapy")
    words = ("archive", "search", "lens", "-a", f"archive={archive}")
    with started(*words, folder=archive.parent, program=program, stdout=DEVNULL) as process:
        try:
            children = wait_for_readers(psutil.Process(process.pid))
        finally:
            said = ended_by(process, signal.SIGTERM).err
    assert process.returncode in (0, 130), said
    assert "leaked" not in said
    assert "Traceback" not in said
    assert psutil.wait_procs(children, timeout=HANG)[1] == []


def wait_for_readers(process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that a process has started, once one of them reads."""
    until(lambda: any("spawn_main" in " ".join(one.cmdline()) for one in process.children()), 0.02)
    return process.children()
