"""Opening an SQLite file to read it, wherever it lies."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote


def address_to_read(path: Path) -> str:
    """Return the address (``uri=True``) by which a file is opened to be read.

    A file whose changes go to a log beside it (WAL) is shared through a file that SQLite makes
    there. On a medium or in a folder that may not be written it cannot be made; if there is no log
    either, nobody writes, and nothing has to be shared.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as db:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:  # whoever opens it says what else is wrong
        # Which of the two SQLite says depends on the medium, and on who owns the folder.
        denied = any(sign in str(error) for sign in ("unable to open", "readonly"))
        if denied and not _has_log(path):
            return f"{address}&immutable=1"
    return address


def may_be_written(path: Path) -> bool:
    """Whether a file can be written, and what SQLite puts beside it."""
    own = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=own) for place in (path, path.parent))


def _has_log(path: Path) -> bool:
    try:
        return Path(f"{path}-wal").stat().st_size > 0
    except OSError:
        return False
