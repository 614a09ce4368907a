"""Opening an SQLite file, wherever it lies and whoever made it.

The schema of a file is a program: a view in place of a table can run for ever. So every file is
opened by `connected`, and used only if its tables are ours (`require_tables`).
https://sqlite.org/security.html#untrusted_sqlite_database_files
"""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from mmcrawl.errors import StoreError

_WAIT = 30.0  # seconds for another process to finish its write
_STEPS = 1_000_000  # of SQLite's machine, some 10 ms, between looks for a signal
_LONGEST = 512 << 20  # bytes of a value or row
_LONGEST_STATEMENT = 1_000_000  # bytes


def connected(
    address: str,
    factory: type[sqlite3.Connection] = sqlite3.Connection,
    wait: float | None = None,
    *,
    trust: bool = False,
) -> sqlite3.Connection:
    """Open a file by its address (``uri=True``), for any thread.

    Args:
        address: A URI, or ``:memory:``.
        factory: The class of the connection.
        wait: Seconds for another process to finish its write; 30 by default.
        trust: Whether its schema may call what SQLite does not count as innocuous.
    """
    db = sqlite3.connect(
        address,
        uri=True,
        timeout=_WAIT if wait is None else wait,
        isolation_level=None,
        check_same_thread=False,
        factory=factory,
    )
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _LONGEST_STATEMENT)
        # Python runs handlers of signals between its own steps only: a long statement has none.
        db.set_progress_handler(lambda: 0, _STEPS)
        db.execute(f"PRAGMA trusted_schema = {'ON' if trust else 'OFF'}")
    except BaseException:
        db.close()
        raise
    return db


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether a file has no table yet, as its header says: no statement of its schema is read."""
    return not db.execute("PRAGMA schema_version").fetchone()[0]


def require_tables(
    db: sqlite3.Connection, name: str, schema: str, *, may_lack: bool = False
) -> None:
    """Refuse a file whose tables and indexes are not those that a script makes, or that has more.

    Args:
        db: Of the file.
        name: Of the file, for the message.
        schema: The script.
        may_lack: Whether some may be missing.

    Raises:
        StoreError: it is not ours.
    """
    found = _schema(db)
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(schema)
        ours = _schema(empty)
    if found == ours or (may_lack and found < ours):
        return
    raise StoreError(
        f"{name} is not used: its tables are not those of mmcrawl; was it changed by another"
        " program, or made to do harm? Restore it from a copy, or name another file"
    )


def _schema(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Return kind, name and statement of all there is."""
    try:
        rows = db.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master").fetchall()
    except sqlite3.DatabaseError as error:
        if "malformed database schema" not in str(error):
            raise
        return {("malformed", "", "")}  # SQLite itself does not write such
    return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def raise_if_interrupted(error: Exception) -> None:
    """Raise the KeyboardInterrupt that a statement was broken off by: SQLite loses it."""
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
        raise KeyboardInterrupt from error


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
