"""The SQLite file (or memory) that holds the state of a crawl, and the jobs in it.

One file can hold many jobs; one crawl at a time writes to it, enforced by a lock beside the file.
Everything between two commits is one transaction: if the process dies, the file is as it was after
the last commit.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Self

from filelock import FileLock, Timeout

from mmcrawl.errors import StoreError
from mmcrawl.frontier.database import connect, connect_read_only, remove_own_file, why_it_failed
from mmcrawl.frontier.records import KnownLink
from mmcrawl.store.uris import file_of


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl in a store."""

    number: int  # its number in the store, from 0
    name: str  # chosen by the user or made from the arguments
    arguments: dict[str, Any]  # what decides which pages the crawl is about; a job keeps its own
    finished_at: float | None  # Unix time, None while it can go on
    reason: str  # why it stopped last


def open_store(uri: str, *, afresh: bool = False, read_only: bool = False) -> "SqliteStore":
    """Open the store named by `uri`: `memory:` or `sqlite:///FILE` (absolute: `sqlite:////FILE`).

    Args:
        afresh: leave out what mmcrawl kept in that file.
        read_only: only read a file, as it is now, even while another process writes to it.

    Raises:
        StoreError: the URI is of no known kind, the file cannot be used, or there is none to look
            at.
    """
    if uri == "memory:" and not read_only:
        return SqliteStore(None)
    if path := file_of(uri):
        return SqliteStore(Path(path), afresh=afresh, read_only=read_only)
    raise StoreError(f"store {uri!r} is not understood; use sqlite:///FILE.db or memory:")


class SqliteStore:
    """An open store. Its failures are StoreErrors; changes are made `with store.writing()`."""

    def __init__(self, path: Path | None, *, afresh: bool = False, read_only: bool = False) -> None:
        self.path = path
        if path is not None and not path.parent.is_dir():
            raise StoreError(
                f"store {path} cannot be opened: there is no folder {path.parent}; make it first"
            )
        self.known_links: dict[int, KnownLink] = {}  # read by `LinkTable.known`, of all jobs
        if read_only and path is not None:
            self._lock, self.db = None, connect_read_only(path)
            return
        self._lock = None if path is None else FileLock(f"{path}.lock", timeout=0)
        self._acquire()
        try:
            if path is not None and afresh:
                remove_own_file(path)
            self.db = connect(path)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The name of this store in messages."""
        return str(self.path) if self.path else "memory"

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for a change that the next commit makes durable."""
        try:
            if not self.db.in_transaction:
                self.db.execute("BEGIN IMMEDIATE")
            yield self.db
        except sqlite3.Error as error:
            raise StoreError(why_it_failed(self.name, error)) from error

    def commit(self) -> None:
        """Make all changes since the last commit durable together."""
        if self.db.in_transaction:
            with self.writing():
                self.db.commit()

    def roll_back(self) -> None:
        """Discard what was not committed."""
        self.known_links.clear()
        if self.db.in_transaction:
            self.db.rollback()

    def close(self) -> None:
        """Close without committing."""
        self.roll_back()
        self.db.close()
        self._release()

    # -- jobs ---------------------------------------------------------------------------------

    def jobs(self) -> list[Job]:
        """Return the jobs of the store in the order they were started."""
        rows = self.db.execute(
            "SELECT id, name, arguments, finished_at, reason FROM job ORDER BY id"
        )
        return [Job(row[0], row[1], json.loads(row[2]), row[3], row[4]) for row in rows]

    def job(self, name: str, arguments: Mapping[str, Any]) -> Job:
        """Return the job `name`, started now if the store has none of that name.

        Of one that is not over it is forgotten why it stopped last, so that whoever looks at the
        store sees that it continues.

        Raises:
            StoreError: the job exists with other arguments.
        """
        for job in self.jobs():
            if job.name == name:
                refuse_other_arguments(self.name, job, arguments)
                if job.finished_at is None and job.reason:
                    self.stop_job(job.number, "", finished=False)
                    return replace(job, reason="")
                return job
        number = self.db.execute("SELECT coalesce(max(id) + 1, 0) FROM job").fetchone()[0]
        return self.begin(number, name, arguments)

    def begin(self, number: int, name: str, arguments: Mapping[str, Any]) -> Job:
        """Begin a job under a free number and name; commits."""
        with self.writing():
            self.db.execute(
                "INSERT INTO job (id, name, arguments, started_at) VALUES (?, ?, ?, ?)",
                (number, name, json.dumps(arguments, ensure_ascii=False), time.time()),
            )
        self.commit()
        return Job(number, name, dict(arguments), None, "")

    def stop_job(self, number: int, reason: str, *, finished: bool) -> None:
        """Record why a job stopped, and whether it is finished; commits."""
        with self.writing():
            self.db.execute(
                "UPDATE job SET finished_at = ?, reason = ? WHERE id = ?",
                (time.time() if finished else None, reason, number),
            )
        self.commit()

    def archived_since(self, number: int, archive: str, pages: int) -> int:
        """Return how many pages a job had when it first used an archive; now, if it is new."""
        row = self.db.execute("SELECT archives FROM job WHERE id = ?", (number,)).fetchone()
        archives: dict[str, int] = json.loads(row[0])
        if archive not in archives:
            archives[archive] = pages
            with self.writing():
                self.db.execute(
                    "UPDATE job SET archives = ? WHERE id = ?", (json.dumps(archives), number)
                )
            self.commit()
        return archives[archive]

    def memory(self, number: int) -> dict[str, Any]:
        """Return the data that a job saved with `remember`."""
        row = self.db.execute("SELECT memory FROM job WHERE id = ?", (number,)).fetchone()
        memory: dict[str, Any] = json.loads(row[0])
        return memory

    def note(self, number: int, note: Any) -> None:
        """Append plain data of a job, kept until the next `remember`."""
        with self.writing():
            self.db.execute(
                "INSERT INTO note (job, text) VALUES (?, ?)",
                (number, json.dumps(note, ensure_ascii=False)),
            )

    def notes(self, number: int) -> list[Any]:
        """Return what was appended since the last `remember`, in order."""
        rows = self.db.execute("SELECT text FROM note WHERE job = ? ORDER BY id", (number,))
        return [json.loads(row[0]) for row in rows]

    def remember(self, number: int, memory: Mapping[str, Any]) -> None:
        """Save a job's plain data, e.g. word counts, in place of what was saved and appended."""
        with self.writing():
            self.db.execute("DELETE FROM note WHERE job = ?", (number,))
            self.db.execute(
                "UPDATE job SET memory = json_patch(?, json_object("
                "'requisites', json_extract(memory, '$.requisites'))) WHERE id = ?",
                (json.dumps(memory, ensure_ascii=False), number),
            )

    def _acquire(self) -> None:
        if self._lock is None:
            return
        try:
            self._lock.acquire()
        except Timeout:
            raise StoreError(self._why_not_locked(self._lock.lock_file)) from None
        except OSError as error:
            raise StoreError(f"store {self.name} cannot be opened: {error.strerror}") from error

    def _why_not_locked(self, lock_file: str) -> str:
        """Return the reason: to FileLock, a file that cannot be made is one that others hold."""
        try:  # a file without a name: the lock file itself would stay after its owner took it away
            TemporaryFile(dir=Path(lock_file).parent).close()
        except OSError as error:
            return (
                f"store {self.name} cannot be opened ({error.strerror}); name a file in a folder"
                " where you may write"
            )
        return f"store {self.name} is in use by another crawl; wait for it, or name another store"

    def _release(self) -> None:
        """Release the store, and leave no lock file."""
        if self._lock is not None and self._lock.is_locked:
            # While it is held: a lock on a file without a name counts as none to filelock.
            with suppress(PermissionError):  # Windows: an open file stays
                Path(self._lock.lock_file).unlink(missing_ok=True)
            self._lock.release()


def refuse_other_arguments(store: str, job: Job, arguments: Mapping[str, Any]) -> None:
    """Ensure that a job continues with the arguments it began with; else a StoreError."""
    new = json.loads(json.dumps(arguments))
    different = sorted(
        key for key in {*job.arguments, *new} if job.arguments.get(key) != new.get(key)
    )
    if different:
        key = different[0]
        raise StoreError(
            f"job {job.name!r} in {store} was started with {key}={job.arguments.get(key)!r}, not"
            f" {new.get(key)!r}; use the same arguments to continue, or -a job=NAME for another job"
        )
