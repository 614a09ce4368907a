"""An SQLite file of ours, which several processes may use at once."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mmcrawl.errors import MissingStoreError, StoreError
from mmcrawl.stores.sqlite_files import (
    address_to_read,
    connected,
    is_empty,
    may_be_written,
    raise_if_interrupted,
    require_tables,
)


@dataclass(frozen=True, slots=True)
class Form:
    """What a file of a kind is.

    Attributes:
        noun: How messages call it.
        missing: What is said where there is none.
        marks: Number of the application and of the version.
        schema: Script that makes its tables.
        may_lack: Whether some of them may be missing.
        instead: What is to be named where its folder cannot be made.
    """

    noun: str
    missing: str
    marks: tuple[int, int]
    schema: str
    may_lack: bool = False
    instead: str = "another one"


class SqliteFile:
    """A file of a form; for several threads.

    Args:
        path: Of the file.
        create: Whether it is made, with its folder, where there is none.

    Raises:
        StoreError: it is missing, damaged, or none that this version can use.
    """

    form: Form

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.name = str(path)
        self._lock = threading.RLock()
        if not create and not path.is_file():
            raise MissingStoreError(self.form.missing.format(path))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"folder {path.parent} cannot be made ({error.strerror}); name {self.form.instead}"
            ) from error
        with self._explained():
            writes = create or may_be_written(path)
            self._db = connected(path.absolute().as_uri() if writes else address_to_read(path))
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            yield self._db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _prepare(self) -> None:
        """Set up an empty file, or check that it is ours."""
        db, form = self._db, self.form
        if is_empty(db):
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if is_empty(db):  # else another process has set it up in the meantime
                for statement in form.schema.split(";\n"):
                    db.execute(statement)
                for pragma, mark in zip(
                    ("application_id", "user_version"), form.marks, strict=True
                ):
                    db.execute(f"PRAGMA {pragma} = {mark}")
            db.execute("COMMIT")
        application, version = (
            db.execute(f"PRAGMA {pragma}").fetchone()[0]
            for pragma in ("application_id", "user_version")
        )
        if application != form.marks[0]:
            raise StoreError(f"{self.name} is not {form.noun} of mmcrawl; name another folder")
        if version != form.marks[1]:
            raise StoreError(
                f"{self.name} was written by another version of mmcrawl (schema {version}, this"
                f" one has {form.marks[1]}); use that version, or name another folder"
            )
        require_tables(db, self.name, form.schema, may_lack=form.may_lack)
        db.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise_if_interrupted(error)
            raise StoreError(self._why(str(error))) from error

    def _why(self, text: str) -> str:
        if "not a database" in text:
            return f"{self.name} is not {self.form.noun} of mmcrawl; name another folder"
        for signs, what in (
            (("disk is full", "disk I/O"), "make room and run the same command again"),
            (("malformed", "corrupt"), "it is damaged: restore it from a copy, or remove it"),
            (("locked", "busy"), "another process has it: wait for that, and go on"),
        ):
            if any(sign in text for sign in signs):
                return f"{self.name} cannot be read or written ({text}); {what}"
        return f"{self.name} cannot be read or written: {text}"
