"""Files that get their names when they are written: whole after a power cut, or not there."""

import os
from pathlib import Path


def put_in_place(part: Path, target: Path) -> None:
    """Give a written file or folder its name, in place of a file that has it.

    A name may reach the disk before the bytes: without this, a power cut can leave an empty file
    where an older one stood.

    Raises:
        OSError: as of renaming, or the disk is full.
    """
    if part.is_dir():
        os.sync()  # one step for all that is in it; each on its own takes minutes on a stick
    else:
        with part.open("r+b") as file:
            os.fsync(file.fileno())
    part.replace(target)
    _sync_folder(target.parent)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, that a power cut does not take away."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        _sync_folder(path.parent)


def _sync_folder(path: Path) -> None:
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
