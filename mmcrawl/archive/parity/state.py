"""Whether a file is as it was when its parity was written, but for damage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO


def time_of(file: BinaryIO) -> int:
    """Return when a file was last written to, in nanoseconds.

    What a disk damages leaves that time as it is. Nothing within the file would do: SQLite counts
    changes in its header, but not all of those that it makes through a log.
    """
    return os.fstat(file.fileno()).st_mtime_ns


def is_at_rest(path: Path) -> bool:
    """Return whether nothing stands beside a file that belongs into it: no journal, no log."""
    beside = (path.with_name(path.name + ending) for ending in ("-journal", "-wal"))
    return not any(journal.exists() and journal.stat().st_size for journal in beside)
