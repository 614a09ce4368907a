"""Files that get their names when they are written."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from time import sleep

import pytest

from mmcrawl.media import FolderFiles
from mmcrawl.store import ChildProcess, Questions, make_folder, put_in_place
from tests.store.power import Power
from tests.tables import each

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for open files")


@pytest.fixture
def power(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Power:
    (tmp_path / "old").write_bytes(b"old")
    return Power(tmp_path, monkeypatch)


def test_a_file_takes_the_place_of_another_whole(power: Power, tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"new")
    assert power.left() == {"old": b"old"}
    put_in_place(tmp_path / "part", tmp_path / "old")
    assert power.left() == {"old": b"new"}


def test_a_folder_is_whole_and_those_above_it_are_there(power: Power, tmp_path: Path) -> None:
    part = tmp_path / "part" / "in"
    part.mkdir(parents=True)
    (part / "file").write_bytes(b"new")
    make_folder(tmp_path / "a" / "b")
    put_in_place(tmp_path / "part", tmp_path / "a" / "b" / "c")
    assert power.left()["a/b/c/in/file"] == b"new"


@each("error, is_told", [(errno.EINVAL, False), (errno.EACCES, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synced_costs_no_file(error, is_told, tmp_path, monkeypatch):
    def fsync(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir():
            raise OSError(error, "not here")

    monkeypatch.setattr(os, "fsync", fsync)
    (tmp_path / "part").write_bytes(b"new")
    with pytest.raises(OSError, match="not here") if is_told else nullcontext():
        put_in_place(tmp_path / "part", tmp_path / "new")
    assert (tmp_path / "new").read_bytes() == b"new"


def test_a_file_of_media_outlasts_a_power_cut(power: Power, tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"film")
    FolderFiles(tmp_path / "media").keep(tmp_path / "part", "ab12")
    assert power.left()["media/files/ab/ab12"] == b"film"


def test_a_child_whose_listener_fails_ends_and_its_parent_does_not_wait():
    child = ChildProcess(__name__)
    with pytest.raises(EOFError):
        child.ask("what it cannot understand")
    child.end()
    assert child.process.returncode == 1


def serve() -> None:
    """In the child: a listener that fails, beside work that does not end."""
    questions = Questions()

    def listen() -> None:
        asked, _ = questions.next()
        raise ValueError(asked)

    questions.in_thread(listen)
    while True:
        sleep(1)
