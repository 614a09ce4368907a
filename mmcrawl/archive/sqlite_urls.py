"""The SQLite tables of URLs, versions and visits, and the transactions that change them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from mmcrawl.archive.backend import UrlRow, VersionRow, VisitRow
from mmcrawl.archive.sqlite_file import connect, explained
from mmcrawl.errors import StoreError

__all__ = ["PAGE", "UrlTables", "guarded"]

PAGE = 1_000
"""Rows that are read at once, so that none is being read while others are written."""

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S", bound="UrlTables")
_URL = "SELECT url.id, url, name, stream FROM url JOIN host ON host.id = url.host"
_VERSION = "SELECT url, number, time, status, digest, size, entry FROM version"


def guarded(
    method: Callable[Concatenate[_S, _P], _R],
) -> Callable[Concatenate[_S, _P], _R]:
    """Let one thread at a time into a method, and explain what fails."""

    @wraps(method)
    def one_at_a_time(self: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        with self._lock, explained(self.name):
            return method(self, *args, **kwargs)

    return one_at_a_time


class UrlTables:
    """An open file, and what of it is about URLs."""

    def __init__(self, path: Path, *, create: bool = True, read_only: bool = False) -> None:
        self.name = str(path)
        self.read_only = read_only
        self._path = path
        self._lock = threading.RLock()
        self._depth = 0
        self._db: sqlite3.Connection = connect(path, create=create, read_only=read_only)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction."""
        with self._lock:
            if self._depth:
                yield
                return
            if self.read_only:
                raise StoreError(f"archive {self.name} was opened for reading only")
            with explained(self.name):
                self._db.execute("BEGIN IMMEDIATE")
                self._depth = 1
                try:
                    yield
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
                finally:
                    self._depth = 0

    sole = writing

    # -- URLs and streams ---------------------------------------------------------------------

    @guarded
    def url(self, url: str) -> UrlRow | None:
        row = self._db.execute(f"{_URL} WHERE url = ?", (url,)).fetchone()
        return UrlRow(*row) if row else None

    @guarded
    def urls_by_key(self, key: int) -> list[UrlRow]:
        rows = self._db.execute(f"{_URL} WHERE key = ? ORDER BY url.id", (key,))
        return [UrlRow(*row) for row in rows]

    @guarded
    def url_by_id(self, number: int) -> UrlRow | None:
        row = self._db.execute(f"{_URL} WHERE url.id = ?", (number,)).fetchone()
        return UrlRow(*row) if row else None

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[UrlRow]:
        after, inclusive = prefix or "", True
        while rows := self._urls_from(after, inclusive, host):
            for row in rows:
                if prefix and not row.url.startswith(prefix):
                    return
                yield row
            after, inclusive = rows[-1].url, False

    @guarded
    def _urls_from(self, url: str, inclusive: bool, host: str | None) -> list[UrlRow]:
        rows = self._db.execute(
            f"{_URL} WHERE url {'>=' if inclusive else '>'} ? AND (? IS NULL OR name = ?)"
            f" ORDER BY url LIMIT {PAGE}",
            (url, host, host),
        )
        return [UrlRow(*row) for row in rows]

    @guarded
    def hosts(self) -> list[str]:
        rows = self._db.execute(
            "SELECT name FROM host WHERE EXISTS (SELECT 1 FROM url WHERE host = host.id)"
            " ORDER BY name"
        )
        return [name for (name,) in rows]

    def add_url(self, url: str, key: int, host: str) -> UrlRow:
        with self.writing():
            if (known := self.url(url)) is not None:
                return known
            self._db.execute("INSERT OR IGNORE INTO host (name) VALUES (?)", (host,))
            self._db.execute(
                "INSERT INTO url (url, key, host) SELECT ?, ?, id FROM host WHERE name = ?",
                (url, key, host),
            )
            row = self._db.execute(f"{_URL} WHERE url = ?", (url,)).fetchone()
            return UrlRow(*row)

    def set_stream(self, url: int, stream: int) -> None:
        with self.writing():
            self._db.execute("UPDATE url SET stream = ? WHERE id = ?", (stream, url))

    def remove_url(self, url: int) -> None:
        with self.writing():
            self._db.execute("DELETE FROM url WHERE id = ?", (url,))

    # -- versions and visits ------------------------------------------------------------------

    def add_version(self, version: VersionRow) -> bool:
        with self.writing():
            done = self._db.execute(
                "INSERT OR IGNORE INTO version (url, number, time, status, digest, size, entry)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    version.url,
                    version.number,
                    version.time,
                    version.status,
                    version.digest,
                    version.size,
                    version.entry,
                ),
            )
            self._db.execute(
                "UPDATE url SET last = max(last, ?) WHERE id = ?", (version.number, version.url)
            )
            return done.rowcount == 1

    @guarded
    def version(self, url: int, number: int) -> VersionRow | None:
        return self._one_version("WHERE url = ? AND number = ?", (url, number))

    @guarded
    def versions(self, url: int) -> list[VersionRow]:
        rows = self._db.execute(f"{_VERSION} WHERE url = ? ORDER BY number", (url,))
        return [VersionRow(*row) for row in rows]

    @guarded
    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        return self._one_version(
            "WHERE url = ? AND (? IS NULL OR time <= ?) ORDER BY time DESC, number DESC LIMIT 1",
            (url, time, time),
        )

    def _one_version(self, condition: str, values: tuple[object, ...]) -> VersionRow | None:
        row = self._db.execute(f"{_VERSION} {condition}", values).fetchone()
        return VersionRow(*row) if row else None

    @guarded
    def last_number(self, url: int) -> int:
        row = self._db.execute("SELECT last FROM url WHERE id = ?", (url,)).fetchone()
        return int(row[0]) if row else 0

    def remove_versions(self, url: int, numbers: Sequence[int]) -> None:
        with self.writing():
            self._db.executemany(
                "DELETE FROM version WHERE url = ? AND number = ?",
                ((url, number) for number in numbers),
            )

    def add_visit(self, visit: VisitRow) -> None:
        with self.writing():
            self._db.execute(
                "INSERT OR REPLACE INTO visit (url, time, number, status) VALUES (?, ?, ?, ?)",
                (visit.url, visit.time, visit.number, visit.status),
            )

    @guarded
    def visits(self, url: int) -> list[VisitRow]:
        rows = self._db.execute(
            "SELECT url, time, number, status FROM visit WHERE url = ? ORDER BY time", (url,)
        )
        return [VisitRow(*row) for row in rows]

    def remove_visits(self, url: int, times: Sequence[float]) -> None:
        with self.writing():
            self._db.executemany(
                "DELETE FROM visit WHERE url = ? AND time = ?", ((url, time) for time in times)
            )
