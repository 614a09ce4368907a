"""Writes files under their final names only when complete: after a power cut a file is whole or
missing.
"""

import errno
import os
from pathlib import Path

_UNSYNCED = (errno.EINVAL, errno.EACCES)  # of folders that cannot be synced, as on some networks


def put_in_place(part: Path, target: Path) -> None:
    """Give a written file or folder its final name, replacing a file of that name.

    A name may reach the disk before the bytes: without this, a power cut can leave an empty file
    where an older one stood.

    Raises:
        OSError: as of renaming, or a file does not fit on the disk; of a folder nothing tells that.
    """
    if part.is_dir():
        sync_all()  # one step for all that is in it; each on its own takes minutes on a stick
    else:
        with part.open("r+b") as file:
            os.fsync(file.fileno())
    part.replace(target)
    _sync_folder(target.parent)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, that survive a power cut."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        _sync_folder(path.parent)


def sync_all() -> None:
    """Flush everything written to the disks, where the system offers that."""
    if os.name == "posix":
        os.sync()


def _sync_folder(path: Path) -> None:
    if os.name == "posix":  # elsewhere a folder cannot be opened
        try:
            folder = os.open(path, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno not in _UNSYNCED:
                raise
