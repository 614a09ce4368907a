"""Temporary files without a name, for what is too much for memory and need not last.

They lie where SQLite puts its own: in the folder that SQLITE_TMPDIR or TMPDIR names, else in
/var/tmp, which is on disk where /tmp is in memory. They are gone with the process.
"""

import os
import tempfile
from io import FileIO
from pathlib import Path

from mmcrawl.errors import StoreError


def scratch_file() -> FileIO:
    """Open an empty file to write and read, without a buffer.

    Raises:
        StoreError: there is no room for one.
    """
    folders = (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp")  # noqa: S108
    usable = (name for name in folders if name and Path(name).is_dir() and os.access(name, os.W_OK))
    try:
        return tempfile.TemporaryFile(buffering=0, dir=next(usable, None))
    except OSError as error:
        raise no_room(error) from error


def no_room(error: Exception) -> StoreError:
    """Return what a user is told when a temporary file cannot be written or read."""
    return StoreError(
        f"a temporary file for waiting links cannot be used ({error}); make room, or name a folder"
        " that has room in the environment variable TMPDIR"
    )
