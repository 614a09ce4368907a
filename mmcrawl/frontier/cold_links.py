"""The waiting links that are not in memory, with the scores that order those of each host.

They lie in a scratch database of SQLite's that has no name: it stays in memory while it is small,
goes to the folder for temporary files (`SQLITE_TMPDIR`, `TMPDIR`, /var/tmp) when it grows, and is
gone with the process. What waits is also in the store of the crawl, from where it is read when the
crawl goes on; so nothing here has to last.

Changes are gathered and written by some ten thousands, sorted by link. The index by score is made
when it is first needed, and anew after very many changes at once: a sort is faster than a search
for each. About 50 bytes of disk a link.
"""

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter

from mmcrawl.store.scratch import no_room

_MOST_UNWRITTEN = 20_000
_CACHE_KILOBYTES = 16_000
_SETTINGS = (
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
    " CREATE TABLE cold (link INTEGER PRIMARY KEY, host INTEGER NOT NULL, score REAL NOT NULL)"
)
_PUT = (
    "INSERT INTO cold VALUES (?, ?, ?)"
    " ON CONFLICT DO UPDATE SET host = excluded.host, score = excluded.score"
)


class ColdLinks:
    """Links with host and score. Link and host numbers are small non-negative integers.

    Methods raise StoreError where there is no room for temporary files.

    Args:
        siblings: among so many as this its memory is divided.
    """

    def __init__(self, siblings: int = 1) -> None:
        self._most_unwritten = _MOST_UNWRITTEN // siblings
        self._cache = _CACHE_KILOBYTES // siblings
        self._opened: sqlite3.Connection | None = None
        self._unwritten: dict[int, tuple[int, float]] = {}
        self._removed: set[int] = set()
        self._has_index = False

    def put(self, link: int, host: int, score: float) -> None:
        """Add a link, or give one that is there another score."""
        self._removed.discard(link)
        self._unwritten[link] = (host, score)
        if len(self._unwritten) > self._most_unwritten:
            with self._writing():
                pass

    def put_all(self, links: Iterable[tuple[int, int, float]]) -> None:
        """Do as `put` with links, each its number, host and score, that are a good part of all."""
        with self._writing() as db:
            if self._has_index:
                db.execute("DROP INDEX cold_order")
                self._has_index = False
            rows = iter(links)
            while some := sorted(islice(rows, _MOST_UNWRITTEN), key=itemgetter(0)):
                db.executemany(_PUT, some)

    def remove(self, link: int) -> None:
        """Take out a link that is there."""
        self._unwritten.pop(link, None)
        self._removed.add(link)
        if len(self._removed) > self._most_unwritten:
            with self._writing():
                pass

    def score(self, link: int) -> float:
        """Return the score of a link that is there."""
        if link in self._unwritten:
            return self._unwritten[link][1]
        with self._writing() as db:
            row = db.execute("SELECT score FROM cold WHERE link = ?", (link,)).fetchone()
        return float(row[0])

    def take_best(self, host: int, most: int) -> list[tuple[int, float]]:
        """Take out the links of a host with the best scores, the best first; of equals the oldest.

        Returns:
            Number and score of each.
        """
        with self._writing() as db:
            if not self._has_index:
                # Its last column is the number of the link, as in each index of SQLite's.
                db.execute("CREATE INDEX cold_order ON cold (host, score DESC)")
                self._has_index = True
            found = db.execute(
                "SELECT link, score FROM cold WHERE host = ? ORDER BY score DESC, link LIMIT ?",
                (host, most),
            ).fetchall()
            db.executemany("DELETE FROM cold WHERE link = ?", [row[:1] for row in found])
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Give the database for changes and questions, with all that was gathered written."""
        try:
            db = self._opened or self._open()
            db.execute("BEGIN")
            if self._removed:
                rows = [(link,) for link in sorted(self._removed)]
                db.executemany("DELETE FROM cold WHERE link = ?", rows)
            if self._unwritten:
                changed = sorted(self._unwritten.items())
                db.executemany(_PUT, [(link, *values) for link, values in changed])
            self._removed.clear()
            self._unwritten.clear()
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise no_room(error) from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, db.close)
        db.executescript(_SETTINGS)
        db.execute(f"PRAGMA cache_size = -{self._cache}")
        self._opened = db
        return db
