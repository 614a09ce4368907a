"""Opens SQLite files safely, wherever they are and whoever made them.

The schema of a file is a program: a view in place of a table can run for ever. So every file is
opened by `connected`, and used only if its tables are ours (`require_ours`).
https://sqlite.org/security.html#untrusted_sqlite_database_files
"""

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from urllib.parse import quote

from mmcrawl.errors import StoreError, UnreachableError

# -- Temporary files without a name, for what is too much for memory and need not last ------------
# They lie where SQLite puts its own: in the folder that SQLITE_TMPDIR or TMPDIR names, else in
# /var/tmp, which is on disk where /tmp is in memory. They are gone with the process.


def scratch_file() -> FileIO:
    """Open an empty unbuffered file to write and read; a StoreError if there is no room."""
    folders = (os.environ.get("SQLITE_TMPDIR"), os.environ.get("TMPDIR"), "/var/tmp")  # noqa: S108
    usable = (name for name in folders if name and Path(name).is_dir() and os.access(name, os.W_OK))
    try:
        return tempfile.TemporaryFile(buffering=0, dir=next(usable, None))
    except OSError as error:
        raise no_room(error) from error


def no_room(error: Exception) -> StoreError:
    """Return the message for a temporary file that cannot be written or read."""
    return StoreError(
        f"a temporary file for waiting links cannot be used ({error}); make room, or name a folder"
        " that has room in the environment variable TMPDIR"
    )


# -- Opening an SQLite file, wherever it lies and whoever made it ---------------------------------

_WAIT = 30.0  # seconds for another process to finish its write
_STEPS = 1_000_000  # of SQLite's machine, some 10 ms, between looks for a signal
_LONGEST = 512 << 20  # bytes of a value or row
_LONGEST_STATEMENT = 1_000_000  # bytes
_PASSING = ("locked", "busy")
_NETWORK = re.compile("nfs|cifs|smb|afs$|.*sshfs|ceph|.*gluster|lustre|beegfs")  # kinds of folders
_MOUNTS = Path("/proc/mounts")

SHARED_CRAWL = "mmcs"
"""The mark of a file that several workers of a crawl share."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file of ours."""

    noun: str  # its name in messages: `archive`
    mark: str  # four letters in its header
    version: int  # of its tables; a file of another version is refused
    schema: str  # script that makes them
    instead: str = "another file"  # what to name instead if it cannot be used
    later: str = ""  # script of tables that are made when they are first needed

    @property
    def application(self) -> int:
        """Its mark as SQLite has it."""
        return int.from_bytes(self.mark.encode())


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


def set_up(db: sqlite3.Connection, kind: FileKind, pragmas: Sequence[str] = ()) -> bool:
    """Make the tables of an empty file, after the pragmas; return whether it was empty."""
    if not is_empty(db):
        return False
    for pragma in (*pragmas, "journal_mode = WAL"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("BEGIN IMMEDIATE")
    try:
        if is_empty(db):  # else another process has set it up in the meantime
            for statement in kind.schema.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {kind.application}")
            db.execute(f"PRAGMA user_version = {kind.version}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return True


def require_ours(db: sqlite3.Connection, name: str, kind: FileKind) -> None:
    """Raise a StoreError for a file that is not of a kind, or of another version."""
    application, version = (
        db.execute(f"PRAGMA {pragma}").fetchone()[0]
        for pragma in ("application_id", "user_version")
    )
    if application != kind.application:
        raise StoreError(why_not(kind, name, "not a database"))
    if version != kind.version:
        age = "a newer" if version > kind.version else "an older"
        raise StoreError(
            f"{kind.noun} {name} was written by {age} version of mmcrawl (schema {version}, this"
            f" one has {kind.version}); use that version, or name {kind.instead}"
        )
    require_tables(db, name, kind.schema, kind.later)
    db.execute("PRAGMA synchronous = FULL")


@contextmanager
def explained(kind: FileKind, name: str) -> Iterator[None]:
    """Turn an error of SQLite into a StoreError of one sentence."""
    try:
        yield
    except sqlite3.Error as error:
        raise_if_interrupted(error)
        passes = any(sign in str(error) for sign in _PASSING)
        failure = UnreachableError if passes else StoreError
        raise failure(why_not(kind, name, str(error))) from error


def why_not(kind: FileKind, name: str, text: str) -> str:
    """Return our message for a message of SQLite."""
    what = f"{kind.noun} {name}"
    if "not a database" in text:
        article = "an" if kind.noun[0] in "aeiou" else "a"
        return f"{name} is not {article} {kind.noun} of mmcrawl; name {kind.instead}"
    for signs, sentence in (
        (
            ("disk is full", "disk I/O"),
            f"cannot be written ({text}); make room and run the same command again",
        ),
        (
            ("malformed", "corrupt"),
            f"is damaged ({text}); restore it from a copy, or see what `sqlite3 {name} .recover`"
            " brings back",
        ),
        (
            ("unable to open",),
            "cannot be opened; does its folder exist, and may you write there?",
        ),
        (("readonly",), f"is read-only; change its permissions, or name {kind.instead}"),
        (_PASSING, "is locked by another process; wait until it has ended"),
        (("closed database",), "is closed; open it again"),
    ):
        if any(sign in text for sign in signs):
            return f"{what} {sentence}"
    return f"{what} failed: {text}"


def is_empty(db: sqlite3.Connection) -> bool:
    """Whether a file has no table yet, as its header says: no statement of its schema is read."""
    return not db.execute("PRAGMA schema_version").fetchone()[0]


def require_tables(db: sqlite3.Connection, name: str, schema: str, optional: str = "") -> None:
    """Raise a StoreError unless tables and indexes are the script's, and maybe `optional` ones."""
    found = _schema(db)
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(schema)
        least = _schema(empty)
        empty.executescript(optional)
        if least <= found <= _schema(empty):
            return
    raise StoreError(
        f"{name} is not used: its tables are not those of mmcrawl; was it changed by another"
        " program, or made to do harm? Restore it from a copy, or name another file"
    )


def _schema(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Return kind, name and statement of everything in the schema."""
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


def mark_of(path: Path) -> str:
    """Return the mark of an SQLite file; "" if it has none."""
    if not path.is_file():
        return ""
    try:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as db:
            number: int = db.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error:
        return ""
    return (number % (1 << 32)).to_bytes(4).decode("latin-1").strip("\0")


def refuse_network_folder(path: Path) -> None:
    """Raise a StoreError for a folder of another machine, as processes share mapped memory."""
    folder, kind, longest = path.absolute().parent.resolve(), "", -1
    try:
        lines = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:  # not Linux
        return
    for _, place, what, *_ in map(str.split, lines):
        at = place.replace("\\040", " ")
        if folder.is_relative_to(at) and len(at) > longest:
            kind, longest = what, len(at)
    if _NETWORK.match(kind):
        raise StoreError(
            f"folder {folder} is of another machine ({kind}), where several workers cannot share a"
            " file; name one on a local disk, or a MongoDB database"
        )


def may_be_written(path: Path) -> bool:
    """Whether a file can be written, and what SQLite puts beside it."""
    own = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=own) for place in (path, path.parent))


def _has_log(path: Path) -> bool:
    try:
        return Path(f"{path}-wal").stat().st_size > 0
    except OSError:
        return False
