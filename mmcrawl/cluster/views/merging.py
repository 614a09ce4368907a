"""The links of all parts of a crawl as those of one job, to be looked at.

Each part has numbers of its own for its links, and counts for itself which ended when. Here all
get one numbering: in the order in which links were found, as far as the clocks of the workers tell,
but never before the page they were found on; and likewise for the order in which they ended.

A page that another part fetched has a link in every part that it leads to, which stands for it
there. These links give way to the one that was fetched.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from mmcrawl.frontier.reading import ELSEWHERE, JOB_SHIFT
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import url_key

_OWN = (1 << JOB_SHIFT) - 1
_NO_PARENT = (1 << 32) - 1

_FETCHED = """
CREATE TEMP TABLE fetched (url TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;
INSERT OR IGNORE INTO fetched SELECT url, id FROM page JOIN link USING (id)
    WHERE error = '' AND url IN (SELECT url FROM page JOIN link USING (id) WHERE error = '{0}')
    ORDER BY visited_at;
CREATE TEMP TABLE stand_in (id INTEGER PRIMARY KEY, real INTEGER NOT NULL);
INSERT INTO stand_in SELECT page.id, fetched.id FROM page JOIN link USING (id)
    JOIN fetched USING (url) WHERE error = '{0}';
"""
_FOUND = (
    "SELECT link.id, coalesce(visited_at, 0.0), parent, real, settled IS NOT NULL FROM link"
    " LEFT JOIN page ON page.id = parent LEFT JOIN temp.stand_in ON stand_in.id = link.id"
    " WHERE link.id >= ? AND link.id < ? ORDER BY link.id"
)
_ENDED = (
    "SELECT id FROM (SELECT link.id, settled,"
    " max(visited_at) OVER (PARTITION BY link.id >> 40 ORDER BY settled) AS time"
    " FROM link LEFT JOIN page USING (id) WHERE settled IS NOT NULL"
    " AND link.id NOT IN (SELECT id FROM temp.stand_in)) ORDER BY time, id >> 40, settled"
)
_HOSTS = (
    "INSERT INTO host SELECT :job, row_number() OVER (ORDER BY origin) - 1, origin"
    " FROM (SELECT DISTINCT origin FROM host)"
)
_LINKS = (
    "INSERT INTO link ({0}) SELECT {1} FROM link JOIN host old ON old.job = link.id >> 40"
    " AND old.id = link.host JOIN host new ON new.job = :job AND new.origin = old.origin"
    " WHERE link.id NOT IN (SELECT id FROM temp.stand_in)"
)
_NEW_LINK = {
    "id": "merged(link.id)",
    "key": "new_key(key, link.id >> 40, old.origin || path)",
    "host": "new.id",
    "parent": "merged(parent)",
    "settled": "ended(link.id)",
}
_OUTLINKS = (
    "SELECT coalesce(real, page.id) AS own, page.id, links FROM page"
    " LEFT JOIN temp.stand_in USING (id) ORDER BY own, real IS NOT NULL, page.id"
)
_PAGES = "INSERT INTO page ({0}) SELECT {1} FROM page JOIN temp.outlinks USING (id)"
_NEW_PAGE = {"id": "merged(page.id)", "links": "outlinks.links"}


class _Found(NamedTuple):
    """A link: when it was found, where, for which page it stands, and whether it has ended."""

    id: int
    time: float
    parent: int | None
    real: int | None
    ended: int


def merge(store: SqliteStore, job: int) -> None:
    """Make one job of the links, pages and hosts of all parts in a store.

    In memory 13 bytes a link are needed for it.

    Args:
        store: holds the parts, each under its number.
        job: number of the one, greater than those.
    """
    with store.writing() as db:
        for statement in _FETCHED.format(ELSEWHERE).split(";"):
            db.execute(statement)
        numbers = _Numbers(db)
        db.executemany("DELETE FROM temp.stand_in WHERE id = ?", [(n,) for n in numbers.unmatched])
        ended = _ended(db, numbers)
        _declare(db, job, numbers, ended)
        db.execute("CREATE TEMP TABLE outlinks (id INTEGER PRIMARY KEY, links BLOB)")
        db.executemany("INSERT INTO outlinks VALUES (?, ?)", _outlinks(db, numbers))
        db.execute(_HOSTS, {"job": job})
        for table, statement, new in (("link", _LINKS, _NEW_LINK), ("page", _PAGES, _NEW_PAGE)):
            columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
            values = (new.get(column, f"{table}.{column}") for column in columns)
            db.execute(statement.format(", ".join(columns), ", ".join(values)), {"job": job})
        followed = _followed(db, job, numbers, ended)
        db.executemany("INSERT INTO followed VALUES (?, ?, ?, ?)", followed)
    store.commit()


class _Numbers:
    """The numbers that links of parts get.

    Attributes:
        parents: the link that each was found by, `_NO_PARENT` for none.
        ended: whether each has ended.
        unmatched: links that were to give way to another one and do not, as that was found by
            them.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.parents, self.ended = array("I"), bytearray()
        self.unmatched: list[int] = []
        parts = [row[0] for row in db.execute("SELECT DISTINCT job FROM host")]
        self._new = {part: array("I") for part in parts}
        self._rows = {
            part: map(_Found._make, db.execute(_FOUND, (part << JOB_SHIFT, part + 1 << JOB_SHIFT)))
            for part in parts
        }
        self._heads: dict[int, _Found] = {}
        self._ready: list[tuple[float, int]] = []
        self._blocked: dict[int, list[int]] = {}
        for part in parts:
            self._advance(part)
        while self._heads:
            self._take_next()

    def of(self, link: int) -> int:
        """Return the new number of a link."""
        return self._new[link >> JOB_SHIFT][link & _OWN]

    def _take_next(self) -> None:
        """Number the link that was found first of those that come next in their parts."""
        if self._ready:
            part = heappop(self._ready)[1]
            link = self._heads[part]
            if link.real is not None and not self._is_known(link.real):
                self._blocked.setdefault(link.real, []).append(part)
                return
        else:  # each waits for another: a worker died, and what it found was found again elsewhere
            _, part, real = min(
                (self._heads[part].time, part, real)
                for real, parts in self._blocked.items()
                for part in parts
            )
            link = self._heads[part]
            self._blocked[real].remove(part)
            self.unmatched.append(link.id)
            link = link._replace(real=None)
        if link.real is None:
            self._new[part].append(len(self.parents))
            self.parents.append(_NO_PARENT if link.parent is None else self.of(link.parent))
            self.ended.append(link.ended)
        else:
            self._new[part].append(self.of(link.real))
        self._advance(part)
        for freed in self._blocked.pop(link.id, ()):
            heappush(self._ready, (self._heads[freed].time, freed))

    def _is_known(self, link: int) -> bool:
        return link & _OWN < len(self._new[link >> JOB_SHIFT])

    def _advance(self, part: int) -> None:
        head = next(self._rows[part], None)
        if head is None:
            self._heads.pop(part, None)
        else:
            self._heads[part] = head
            heappush(self._ready, (head.time, part))


def _ended(db: sqlite3.Connection, numbers: _Numbers) -> array[int]:
    """Return when each link ended, by new numbers, counted from 1; 0 for not yet.

    None does before the one that it was found by, as clocks may have it.
    """
    ended = array("I", bytes(4 * len(numbers.parents)))
    count = 0
    for (link,) in db.execute(_ENDED):
        number, before = numbers.of(link), []
        while number != _NO_PARENT and not ended[number] and numbers.ended[number]:
            before.append(number)
            number = numbers.parents[number]
        for number in reversed(before):
            count += 1
            ended[number] = count
    return ended


def _declare(db: sqlite3.Connection, job: int, numbers: _Numbers, ended: array[int]) -> None:
    """Give SQL the functions that it needs to copy rows."""
    base = job << JOB_SHIFT

    def merged(link: int | None) -> int | None:
        return None if link is None else base + numbers.of(link)

    def new_key(key: int | None, part: int, url: str) -> int | None:
        return url_key(job, url) if key == url_key(part, url) else key

    db.create_function("merged", 1, merged)
    db.create_function("new_key", 3, new_key)
    db.create_function("ended", 1, lambda link: ended[numbers.of(link)] or None)


def _outlinks(db: sqlite3.Connection, numbers: _Numbers) -> Iterator[tuple[int, bytes]]:
    """Yield the links on each page: those of its own part before those of others."""
    for own, some in groupby(db.execute(_OUTLINKS), key=itemgetter(0)):
        links = (
            numbers.of((page & ~_OWN) + link)
            for _, page, found in some
            for link in array("I", found)
        )
        yield own, array("I", dict.fromkeys(links)).tobytes()


def _followed(
    db: sqlite3.Connection, job: int, numbers: _Numbers, ended: Iterable[int]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the rows of `followed`, those of links that are not neighbours any more apart."""
    ends = list(ended)
    for part, first, last, settled in db.execute("SELECT * FROM followed").fetchall():
        row = db.execute(
            "SELECT id FROM link WHERE id >= ? AND id < ? AND settled <= ?"
            " ORDER BY settled DESC LIMIT 1",
            (part << JOB_SHIFT, part + 1 << JOB_SHIFT, settled),
        ).fetchone()
        since = ends[numbers.of(row[0])] if row else 0
        links = [numbers.of((part << JOB_SHIFT) + link) for link in range(first, last + 1)]
        for _, some in groupby(enumerate(sorted(links)), key=lambda pair: pair[1] - pair[0]):
            run = [link for _, link in some]
            yield job, run[0], run[-1], since
