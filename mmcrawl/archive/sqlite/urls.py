"""The SQLite tables of URLs, versions and visits, and the transactions that change them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, replace
from math import inf
from pathlib import Path

from mmcrawl.archive.common import PAGE, CommonBackend, guarded
from mmcrawl.archive.rows import SHIFT, UrlRow, VersionRow, VisitRow
from mmcrawl.archive.sqlite.file import KIND, connect
from mmcrawl.archive.sqlite.proofs import Proofs
from mmcrawl.stores.sqlite_files import explained

_URL = "SELECT url.id, url, name, stream, last, late FROM url JOIN host ON host.id = url.host"
_VISIT = "SELECT url, time, number, status, head FROM visit"
_VERSION = (
    "SELECT url, number, time, status, digest, size, entry, method, level, location FROM version"
)


_GREATEST = (1 << SHIFT) - 1


class UrlTables(CommonBackend):
    """An open file, and what of it is about URLs."""

    others_wait = True

    def __init__(self, path: Path, *, create: bool = True, read_only: bool = False) -> None:
        super().__init__(str(path), read_only=read_only)
        self._path = path
        self._db: sqlite3.Connection = connect(path, create=create, read_only=read_only)
        self._proofs = Proofs(self._db)

    @contextmanager
    def _guard(self) -> Iterator[None]:
        with self._lock, explained(KIND, self.name):
            yield

    def writing(self) -> AbstractContextManager[None]:
        return self._changing(self._transaction())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._proofs.write()
            self._db.execute("COMMIT")
        except BaseException:
            self._proofs.drop()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    sole = writing

    # -- URLs and streams ---------------------------------------------------------------------

    @guarded
    def url(self, url: str) -> UrlRow | None:
        return self._url(url)

    def _url(self, url: str) -> UrlRow | None:
        row = self._db.execute(f"{_URL} WHERE url = ?", (url,)).fetchone()
        return _url(row) if row else None

    @guarded
    def urls_named(self, urls: Iterable[str]) -> dict[str, UrlRow]:
        return {url: row for url in urls if (row := self._url(url)) is not None}

    @guarded
    def urls_by_key(self, key: int) -> list[UrlRow]:
        rows = self._db.execute(f"{_URL} WHERE key = ? ORDER BY url.id", (key,))
        return [_url(row) for row in rows]

    @guarded
    def url_by_id(self, number: int) -> UrlRow | None:
        row = self._db.execute(f"{_URL} WHERE url.id = ?", (number,)).fetchone()
        return _url(row) if row else None

    @guarded
    def _urls_from(self, after: str, inclusive: bool, host: str | None) -> list[UrlRow]:
        rows = self._db.execute(
            f"{_URL} WHERE url {'>=' if inclusive else '>'} ? AND (? IS NULL OR name = ?)"
            f" ORDER BY url LIMIT {PAGE}",
            (after, host, host),
        )
        return [_url(row) for row in rows]

    @guarded
    def hosts(self) -> list[str]:
        rows = self._db.execute(
            "SELECT name FROM host WHERE EXISTS (SELECT 1 FROM url WHERE host = host.id)"
            " ORDER BY name"
        )
        return [name for (name,) in rows]

    def add_urls(self, urls: Mapping[str, tuple[int, str]]) -> dict[str, UrlRow]:
        with self.writing():
            hosts = {host: self._numbered("host", host) for host in {h for _, h in urls.values()}}
            added = {}
            for url, (key, host) in urls.items():
                done = self._db.execute(
                    "INSERT OR IGNORE INTO url (url, key, host) VALUES (?, ?, ?)",
                    (url, key, hosts[host]),
                )
                if done.rowcount == 1 and done.lastrowid is not None:
                    row = (done.lastrowid, url, key, hosts[host], None, 0, 0)
                    self._proofs.add("url", row)
                    added[url] = UrlRow(done.lastrowid, url, host, None)
            return {**added, **self.urls_named(url for url in urls if url not in added)}

    def _numbered(self, table: str, name: str) -> int:
        """Return the number of a host or a stream, made now if there is none."""
        find = f"SELECT id FROM {table} WHERE name = ?"  # noqa: S608
        row = self._db.execute(find, (name,)).fetchone()
        if row is None:
            self._db.execute(f"INSERT INTO {table} (name) VALUES (?)", (name,))  # noqa: S608
            row = self._db.execute(find, (name,)).fetchone()
            self._proofs.add_where(table, "name = ?", (name,))
        return int(row[0])

    def note_urls(self, rows: Sequence[UrlRow]) -> None:
        with self.writing():
            for row in rows:
                with self._changing_url(row.id):
                    self._db.execute(
                        "UPDATE url SET stream = coalesce(?, stream), last = max(last, ?),"
                        " late = max(late, ?) WHERE id = ?",
                        (row.stream, row.last, row.late, row.id),
                    )

    @contextmanager
    def _changing_url(self, url: int) -> Iterator[None]:
        self._proofs.remove_where("url", "id = ?", (url,))
        yield
        self._proofs.add_where("url", "id = ?", (url,))

    def remove_url(self, url: int) -> None:
        with self.writing():
            self._remove("url", "id = ?", (url,))

    def _remove(self, table: str, condition: str, values: tuple[object, ...]) -> None:
        self._proofs.remove_where(table, condition, values)
        self._db.execute(f"DELETE FROM {table} WHERE {condition}", values)  # noqa: S608

    # -- versions and visits ------------------------------------------------------------------

    def add_versions(self, versions: Sequence[VersionRow]) -> list[VersionRow]:
        with self.writing():
            return [version for version in versions if not self._is_added(version)]

    def _is_added(self, version: VersionRow) -> bool:
        added = self._insert_versions([version]) == 1
        if added:
            self._proofs.add("version", _as_kept(version))
        return added

    def _insert_versions(self, versions: Sequence[VersionRow]) -> int:
        return self._db.executemany(
            "INSERT OR IGNORE INTO version (url, number, time, status, digest, size, entry, method,"
            " level, location) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(_as_kept, versions),
        ).rowcount

    @guarded
    def version(self, url: int, number: int) -> VersionRow | None:
        return self._one_version("WHERE url = ? AND number = ?", (url, number))

    @guarded
    def versions(self, url: int) -> list[VersionRow]:
        rows = self._db.execute(f"{_VERSION} WHERE url = ? ORDER BY number", (url,))
        return [VersionRow(*row) for row in rows]

    @guarded
    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        if self._is_in_order(url):
            number = self._number_at(url, inf if time is None else time)
            return self._one_version("WHERE url = ? AND number = ?", (url, number))
        return self._one_version(
            "WHERE url = ? AND (? IS NULL OR time <= ?) ORDER BY time DESC, number DESC LIMIT 1",
            (url, time, time),
        )

    @guarded
    def version_after(self, url: int, time: float) -> VersionRow | None:
        if self._is_in_order(url):
            before = self._number_at(url, time)
            condition = "WHERE url = ? AND number > ? ORDER BY number LIMIT 1"
            return self._one_version(condition, (url, before))
        condition = "WHERE url = ? AND time > ? ORDER BY time, number LIMIT 1"
        return self._one_version(condition, (url, time))

    def _is_in_order(self, url: int) -> bool:
        """Return whether times ascend with numbers; an index of times would take more room."""
        row = self._db.execute("SELECT late FROM url WHERE id = ?", (url,)).fetchone()
        return row is not None and not row[0]

    def _number_at(self, url: int, time: float) -> int:
        """Return the greatest number of a version up to a time, 0 for none; by bisection."""
        find = (
            "SELECT number, time FROM version WHERE url = ? AND number <= ?"
            " ORDER BY number DESC LIMIT 1"
        )
        found, low, high = 0, 0, _GREATEST
        while low < high:
            middle = high if high == _GREATEST else (low + high + 1) // 2
            number, at = self._db.execute(find, (url, middle)).fetchone() or (0, -inf)
            if at <= time:
                found, low = number, middle
            else:
                high = number - 1
        return found

    def _one_version(self, condition: str, values: tuple[object, ...]) -> VersionRow | None:
        row = self._db.execute(f"{_VERSION} {condition}", values).fetchone()
        return VersionRow(*row) if row else None

    @guarded
    def last_versions(self, urls: Sequence[UrlRow]) -> dict[int, VersionRow]:
        found = {}
        for url in urls:
            condition = "WHERE url = ? AND number >= ? ORDER BY number DESC LIMIT 1"
            version = self._one_version(condition, (url.id, url.last))
            if version is not None:
                found[url.id] = version
        return found

    @guarded
    def last_number(self, url: int) -> int:
        row = self._db.execute(
            "SELECT max(last, coalesce((SELECT max(number) FROM version WHERE url = id), 0))"
            " FROM url WHERE id = ?",
            (url,),
        ).fetchone()
        return int(row[0]) if row else 0

    def remove_versions(self, url: int, numbers: Sequence[int]) -> None:
        with self.writing():
            with self._changing_url(url):  # a number is never given again
                self._db.execute(
                    "UPDATE url SET last = ? WHERE id = ?", (self.last_number(url), url)
                )
            for number in numbers:
                self._remove("version", "url = ? AND number = ?", (url, number))
            self._remove("change", "url = ?", (url,))

    @guarded
    def changes(self, url: int) -> dict[tuple[int, int], frozenset[str]]:
        rows = self._db.execute("SELECT old, new, kinds FROM change WHERE url = ?", (url,))
        return {(old, new): frozenset(kinds.split()) for old, new, kinds in rows}

    def note_changes(self, url: int, changes: Mapping[tuple[int, int], frozenset[str]]) -> None:
        with self.writing():
            for pair, kinds in changes.items():
                row = (url, *pair, " ".join(sorted(kinds)))
                self._remove("change", "url = ? AND old = ? AND new = ?", row[:3])
                self._db.execute("INSERT INTO change VALUES (?, ?, ?, ?)", row)
                self._proofs.add("change", row)

    def add_visits(self, visits: Sequence[VisitRow]) -> None:
        with self.writing():
            for visit in visits:
                row = _as_kept(visit)
                self._remove("visit", "url = ? AND time = ?", row[:2])
                self._db.execute(
                    "INSERT INTO visit (url, time, number, status, head) VALUES (?, ?, ?, ?, ?)",
                    row,
                )
                self._proofs.add("visit", row)

    @guarded
    def visits(self, url: int) -> list[VisitRow]:
        rows = self._db.execute(f"{_VISIT} WHERE url = ? ORDER BY time", (url,))
        return [VisitRow(*row) for row in rows]

    @guarded
    def visit_at(self, url: int, time: float | None) -> VisitRow | None:
        condition = "WHERE url = ? AND time <= ifnull(?, 9e999) ORDER BY time DESC LIMIT 1"
        return self._one_visit(condition, (url, time))

    @guarded
    def visit_after(self, url: int, time: float) -> VisitRow | None:
        return self._one_visit("WHERE url = ? AND time > ? ORDER BY time LIMIT 1", (url, time))

    @guarded
    def visit_with_head(self, version: VersionRow, after: float, until: float) -> VisitRow | None:
        return self._one_visit(
            "WHERE url = ? AND time > ? AND time <= ? AND number = ? AND head IS NOT NULL"
            " ORDER BY time DESC LIMIT 1",
            (version.url, after, until, version.number),
        )

    def _one_visit(self, condition: str, values: tuple[object, ...]) -> VisitRow | None:
        row = self._db.execute(f"{_VISIT} {condition}", values).fetchone()
        return VisitRow(*row) if row else None

    @guarded
    def visited_since(self, times: Mapping[int, float]) -> set[int]:
        find = "SELECT 1 FROM visit WHERE url = ? AND time >= ? LIMIT 1"
        return {
            url for url, time in times.items() if self._db.execute(find, (url, time)).fetchone()
        }

    def remove_visits(self, url: int, times: Sequence[float]) -> None:
        with self.writing():
            for time in times:
                self._remove("visit", "url = ? AND time = ?", (url, time))


def _as_kept(row: VersionRow | VisitRow) -> tuple[object, ...]:
    """Return a row as SQLite gives it back."""
    return astuple(replace(row, time=row.time + 0.0))


def _url(row: tuple[int, str, str, int | None, int, int]) -> UrlRow:
    number, url, host, stream, last, late = row
    return UrlRow(number, url, host, stream, last, bool(late))
