"""An index of the catalogue that answers lists, facets, searches and harvesters.

It is an SQLite file beside the crawl's collection, built from the catalogue and never read when it
is older: describing again rebuilds it, a correction updates the rows of its works. Deleting it
loses nothing.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from threading import RLock
from typing import Any, Self

from mmcrawl.errors import StoreError
from mmcrawl.store.sqlite_files import FileKind, connected, explained, require_ours, set_up
from mmcrawl.text.words import unify
from mmcrawl.works.catalogue import Catalogue
from mmcrawl.works.corrections import corrected
from mmcrawl.works.model import Work

FACETS = ("kind", "topic", "level", "language", "licence", "held")
"""Columns by which lists are narrowed."""

_MOST_PAGES = 20  # of a work at which it is found
_LONGEST_TEXT = 600  # characters of title, creator and caption that are searched
_KIND = FileKind(
    "index of works",
    "mmcx",
    1,
    """CREATE TABLE work (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
 kind TEXT NOT NULL, topic TEXT NOT NULL, level TEXT NOT NULL, creator TEXT NOT NULL,
 date TEXT NOT NULL, duration REAL NOT NULL, changed_at REAL NOT NULL, language TEXT NOT NULL,
 licence TEXT NOT NULL, held TEXT NOT NULL, is_film INTEGER NOT NULL, url TEXT NOT NULL,
 is_hidden INTEGER NOT NULL) STRICT;
CREATE TABLE words (place INTEGER PRIMARY KEY, facets TEXT NOT NULL, text TEXT NOT NULL) STRICT;
CREATE TABLE address (url TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (url, place))
 STRICT, WITHOUT ROWID;
CREATE TABLE correction (id TEXT PRIMARY KEY, said TEXT NOT NULL, revision INTEGER NOT NULL)
 STRICT, WITHOUT ROWID;
CREATE TABLE state (number INTEGER NOT NULL, revision INTEGER NOT NULL) STRICT;
CREATE INDEX words_facets ON words (facets);
CREATE INDEX work_changed ON work (changed_at, place)""",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A work as lists show it.

    Attributes:
        id, title, kind, topic, level, creator, date, duration, changed_at: As of `Work`.
        language, licence: The first ones, "" for none.
    """

    place: int  # in the order in which works were described
    id: str
    title: str
    kind: str
    topic: str
    level: str
    creator: str
    date: str
    duration: float
    changed_at: float
    language: str
    licence: str
    held: str  # `yes` if a file of it is kept
    is_film: bool  # whether a picture can be taken of a file that is kept
    url: str  # of its best file
    is_hidden: bool  # whether an editor has hidden it

    @classmethod
    def of(cls, place: int, work: Work) -> Self:
        held = [file for file in work.files if file.digest]
        return cls(
            place,
            work.id,
            _kept(work.title),
            work.kind,
            _kept(work.topic),
            work.level,
            _kept(work.creator),
            work.date,
            work.duration,
            work.changed_at,
            work.languages[0] if work.languages else "",
            work.licence.code if work.licence else "",
            "yes" if held else "",
            any(file.mime.startswith("video/") for file in held),
            _kept(work.files[0].url) if work.files else "",
            "hidden" in work.corrected,
        )


_COLUMNS = tuple(field.name for field in fields(Entry))
_NAMES = ", ".join(_COLUMNS)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query for works.

    Attributes:
        since, until: Unix seconds at which they changed, from the first to before the second.
    """

    query: str = ""  # words that title, creator or caption have to hold, all of them
    facets: tuple[tuple[str, str], ...] = ()  # columns, each with the value it has
    since: float | None = None
    until: float | None = None
    hidden: bool = False  # whether hidden ones count

    def clause(self) -> tuple[str, list[Any]]:
        """Return the condition of a query, and its values."""
        words = _searched(self.query).split()
        told: list[tuple[str, Any]] = [("instr(text, ?)", word) for word in words]
        told += [] if self.hidden else [("is_hidden = ?", 0)]
        told += [(f"{name} = ?", value) for name, value in self.facets]
        bounds = (("changed_at >= ?", self.since), ("changed_at < ?", self.until))
        told += [bound for bound in bounds if bound[1] is not None]
        where = " AND ".join(condition for condition, _ in told)
        return f" WHERE {where}" if where else "", [value for _, value in told]


def open_index(folder: Path) -> "WorkIndex":
    """Open the index of the works in a folder; in memory where there is no such folder."""
    return WorkIndex(folder / "works-index.db" if folder.is_dir() else None)


class WorkIndex:
    """An open index, in memory without a usable file; thread-safe; methods raise StoreError."""

    def __init__(self, path: Path | None) -> None:
        self._lock = RLock()
        self._name = str(path)
        try:
            self._db = self._opened(path.absolute().as_uri() if path else "file::memory:")
        except StoreError:
            self._db = self._opened("file::memory:")

    def _opened(self, address: str) -> sqlite3.Connection:
        with explained(_KIND, self._name):
            db = connected(address)
            try:
                set_up(db, _KIND)
                require_ours(db, self._name, _KIND)
                db.execute("BEGIN IMMEDIATE").execute("ROLLBACK")  # whether it can be written
            except BaseException:
                db.close()
                raise
        return db

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- made from the catalogue ----------------------------------------------------------------

    def update(self, catalogue: Catalogue) -> int:
        """Bring it up to date; return the revision of the works that it is of."""
        number, revision = catalogue.number(), catalogue.revision()
        if self._state() != (number, revision):
            with self._changing():
                before = self._state()
                said = {id_: json.dumps(one) for id_, one in catalogue.corrections().items()}
                if before[0] != number:
                    self._make(catalogue, said, revision)
                else:
                    self._correct(catalogue, said, before[1], revision)
                self._db.execute("DELETE FROM state")
                self._db.execute("INSERT INTO state VALUES (?, ?)", (number, revision))
        return revision

    def _make(self, catalogue: Catalogue, said: Mapping[str, str], revision: int) -> None:
        for table in ("work", "words", "address", "correction"):
            self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
        for place, row in enumerate(catalogue.rows()):
            self._put(place, row, said.get(row["id"], "{}"))
        rows = ((id_, one, revision) for id_, one in said.items())
        self._db.executemany("INSERT INTO correction VALUES (?, ?, ?)", rows)

    def _correct(
        self, catalogue: Catalogue, said: dict[str, str], before: int, revision: int
    ) -> None:
        """Read again works corrected since, and the last ones: corrections may come late."""
        for id_, known, read in self._db.execute("SELECT * FROM correction").fetchall():
            if read != before and said.get(id_, "{}") == known:
                said.pop(id_, None)
            else:
                said.setdefault(id_, "{}")
        for id_, one in said.items():
            row = catalogue.row(id_)
            place = self._db.execute("SELECT place FROM work WHERE id = ?", (id_,)).fetchone()
            if row is not None and place is not None:
                self._put(place[0], row, one)
            values = (id_, one, revision)
            self._db.execute("INSERT OR REPLACE INTO correction VALUES (?, ?, ?)", values)

    def _put(self, place: int, row: Mapping[str, Any], said: str) -> None:
        work = corrected(Work.from_plain(row), json.loads(said))
        entry = Entry.of(place, work)
        text = _searched(f"{work.title} {work.creator} {work.caption}"[:_LONGEST_TEXT])
        places = ", ".join("?" * len(_COLUMNS))
        values = [getattr(entry, name) for name in _COLUMNS]
        self._db.execute(f"INSERT OR REPLACE INTO work VALUES ({places})", values)  # noqa: S608
        # Together in a column, which is counted in half the time that columns take.
        of = json.dumps([entry.is_hidden, *(getattr(entry, name) for name in FACETS)])
        self._db.execute("INSERT OR REPLACE INTO words VALUES (?, ?, ?)", (place, of, text))
        pages = (one.url for one in work.pages[:_MOST_PAGES])
        urls = {_kept(url) for url in (*(file.url for file in work.files), *pages)}
        self._db.executemany(
            "INSERT OR IGNORE INTO address VALUES (?, ?)", [(url, place) for url in urls]
        )

    def _state(self) -> tuple[int, int]:
        number, revision = next(self._rows("SELECT number, revision FROM state"), (-1, -1))
        return number, revision

    # -- what is asked --------------------------------------------------------------------------

    def entries(
        self, asked: Asked, most: int = -1, start: int = 0, order: str = "place"
    ) -> list[Entry]:
        """Return works in an order: by ``place``, or by ``changed_at``, also with ``DESC``."""
        where, values = asked.clause()
        # To sort what another index finds takes longer than to read on in the order.
        found = f"work {'NOT INDEXED' if order == 'place' else 'INDEXED BY work_changed'}"
        if asked.query.split():
            found = "words CROSS JOIN work USING (place)"  # the words first: they are shorter
        statement = f"SELECT {_NAMES} FROM {found}{where} ORDER BY {order} LIMIT ? OFFSET ?"  # noqa: S608
        return [Entry(*row) for row in self._rows(statement, (*values, most, start))]

    def size(self, asked: Asked) -> int:
        """Return how many works there are."""
        where, values = asked.clause()
        found = "words CROSS JOIN work USING (place)" if asked.query.split() else "work"
        (count,) = next(self._rows(f"SELECT count(*) FROM {found}{where}", values))  # noqa: S608
        return int(count)

    def counts(self, asked: Asked) -> tuple[int, dict[str, Counter[str]]]:
        """Return how many works there are, and of each facet's values as if it were not chosen."""
        where, values = Asked(asked.query, hidden=True).clause()
        found = f"words NOT INDEXED{where}" if where else "words"
        statement = f"SELECT facets, count(*) FROM {found} GROUP BY facets"  # noqa: S608
        total, counts = 0, {facet: Counter[str]() for facet in FACETS}
        for facets, count in self._rows(statement, values):
            is_hidden, *row = json.loads(facets)
            of = dict(zip(FACETS, row, strict=True))
            missed = [facet for facet, value in asked.facets if of[facet] != value]
            if is_hidden and not asked.hidden:
                continue
            total += 0 if missed else count
            for facet in FACETS:
                if missed in ([], [facet]):
                    counts[facet][of[facet]] += count
        return total, counts

    def named(self, ids: Sequence[str]) -> list[Entry]:
        """Return the works of some ids that exist, also hidden ones."""
        found = self._rows(
            f"SELECT {_NAMES} FROM work WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps(ids),),
        )
        return [Entry(*row) for row in found]

    def at(self, url: str) -> list[Entry]:
        """Return the works that an address shows or is a file of."""
        found = self._rows(
            f"SELECT {_NAMES} FROM work WHERE NOT is_hidden"  # noqa: S608
            " AND place IN (SELECT place FROM address WHERE address.url = ?) ORDER BY place",
            (_kept(url),),
        )
        return [Entry(*row) for row in found]

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with self._lock, explained(_KIND, self._name):
            return iter(self._db.execute(statement, values).fetchall())

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with self._lock, explained(_KIND, self._name):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise


def _searched(text: str) -> str:
    return _kept(unify(text).casefold())


def _kept(text: str) -> str:
    """Return a text as SQLite can keep it: without halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()
