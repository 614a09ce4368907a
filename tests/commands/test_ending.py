"""A command that is asked to end by SIGTERM clears up behind itself."""

import os
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from mmcrawl.archive import Capture, open_archive
from tests.waiting import HANG

ROOT = Path(__file__).parents[2]


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
    with subprocess.Popen(
        [sys.executable, "-m", "scrapy", "archive", "search", "lens", "-a", f"archive={archive}"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            children = wait_for_readers(psutil.Process(process.pid))
        finally:
            process.terminate()
        said = process.communicate(timeout=HANG)[1]
    assert process.returncode in (0, 130), said
    assert "leaked" not in said
    assert "Traceback" not in said
    assert psutil.wait_procs(children, timeout=HANG)[1] == []


def wait_for_readers(process: psutil.Process) -> list[psutil.Process]:
    """Return the processes that a process has started, once one of them reads."""
    end = monotonic() + HANG
    while monotonic() < end:
        children = process.children()
        if any("spawn_main" in " ".join(child.cmdline()) for child in children):
            return children
        sleep(0.02)
    raise AssertionError("no process was started")
