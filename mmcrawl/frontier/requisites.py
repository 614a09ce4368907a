"""What the pages of a crawl need to be displayed, in a queue separate from that of the links.

Each address is requested once in a crawl, however many pages name it, and counts against the page
that named it first. What style sheets name, and targets of redirects, come before what pages name.
Changes become durable with the next commit of the crawl, like everything in its store. Requisites
added since the last commit are not handed out: after a kill the archive holds nothing that the
store does not know.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mmcrawl.frontier.database import REQUISITES
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import split_origin, url_key

_STEPS = 5  # imports, and redirects, that lead from a page to what it needs
_MOST_PAGES = 10_000  # of which it is kept in memory how many bytes came with them
_IS_FULL = "more bytes than its page, or the crawl, may have"


@dataclass(frozen=True, slots=True)
class Requisite:
    """An address that is needed."""

    id: int  # its number in the store
    url: str
    page: int  # id of the link of the page that named it first
    steps: int  # how many style sheets and redirects led to it
    room: int = 0  # bytes that it may have


@dataclass(frozen=True, slots=True)
class RequisiteLimits:
    """How much is kept."""

    per_page: int  # addresses of a page, and as many more that its style sheets name
    page_bytes: int  # bytes that come with one page
    most: int  # addresses of the crawl
    most_bytes: int  # bytes of the crawl


class RequisiteQueue:
    """The requisites of one job.

    Attributes:
        waiting: how many wait, by their origin; the one that was taken from last is the last, so
            that those before it are likely to be free.
        since: Unix time at which the job began.
    """

    def __init__(self, store: SqliteStore, job: int, limits: RequisiteLimits) -> None:
        self._store, self._job, self._limits = store, job, limits
        self._left_out = 0
        self._accepted: dict[Requisite, int] = {}
        self._used: dict[int, int] = {}  # bytes that are kept or accepted, by page
        self._last = self._durable = 0  # ids
        with store.writing() as db:
            if not _has_tables(store):
                for statement in REQUISITES.split(";\n"):
                    db.execute(statement)
            db.execute("UPDATE requisite SET status = 'W' WHERE job = ? AND status = 'R'", (job,))
            # For a process that continues the job without knowing how it began.
            db.execute(
                "UPDATE job SET memory = json_set(memory, '$.requisites', 1) WHERE id = ?", (job,)
            )
        store.commit()
        of_origins = self._rows("origin, count(*)", "status = 'W' GROUP BY origin")
        self.waiting = Counter[str](dict(of_origins))
        [totals] = self._rows("count(*), coalesce(sum(bytes), 0), coalesce(max(id), 0)", "true")
        self._all, self._bytes, self._last = totals
        self.committed()
        self.since = float(
            store.db.execute("SELECT started_at FROM job WHERE id = ?", (job,)).fetchone()[0]
        )

    def committed(self) -> None:
        """Record that everything added is durable."""
        self._durable = self._last

    def keep(self, urls: Sequence[str], page: int, by: Requisite | None = None) -> None:
        """Add a page's new requisites, named by a style sheet or redirect if `by` is given."""
        steps, most = (
            (by.steps + 1, 2 * self._limits.per_page) if by else (0, self._limits.per_page)
        )
        if steps > _STEPS:
            return
        [(own,)] = self._rows("count(*)", "page = ?", page)
        room = min(most - own, self._limits.most - self._all)
        with self._store.writing() as db:
            for place, url in enumerate(urls):
                if room <= 0:
                    self._left_out += len(urls) - place
                    break
                key, origin = url_key(self._job, url), split_origin(url).origin
                added = db.execute(
                    "INSERT OR IGNORE INTO requisite (job, key, origin, url, page, steps)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    (self._job, key, origin, url, page, steps),
                )
                if added.rowcount:
                    room, self._all, self._last = room - 1, self._all + 1, added.lastrowid or 0
                    self.waiting[origin] += 1

    def take(self, is_free: Callable[[str], bool]) -> Requisite | None:
        """Take the next one whose origin is free; None if there is none."""
        for origin in filter(is_free, list(self.waiting)):
            while found := self.of_origin(origin, 1):
                [one] = self.taken(found)
                if (room := self.room(one)) > 0:
                    return replace(one, room=room)
                self.end(one, _IS_FULL)
        return None

    def of_origin(self, origin: str, most: int = -1) -> list[Requisite]:
        """Return the waiting ones of an origin, in their order."""
        where = "origin = ? AND status = 'W' AND id <= ? ORDER BY steps DESC, id LIMIT ?"
        rows = self._rows("id, url, page, steps", where, origin, self._durable, most)
        return [Requisite(*row) for row in rows]

    def taken(self, found: Sequence[Requisite]) -> Sequence[Requisite]:
        """Record that some no longer wait; return them."""
        with self._store.writing() as db:
            for one in found:
                db.execute("UPDATE requisite SET status = 'R' WHERE id = ?", (one.id,))
                origin = split_origin(one.url).origin
                if left := self.waiting.pop(origin) - 1:
                    self.waiting[origin] = left
        return found

    def end(self, one: Requisite, error: str = "", size: int = 0) -> None:
        """Record that one which was taken is kept, or why it is not."""
        self._use(one, size - self._accepted.get(one, 0))
        self._accepted.pop(one, None)
        with self._store.writing() as db:
            db.execute(
                "UPDATE requisite SET status = ?, bytes = ?, error = ? WHERE id = ?",
                ("E" if error else "C", size, error, one.id),
            )

    def room(self, one: Requisite) -> int:
        """Return how many bytes one may have, given what was kept or accepted."""
        of_page = self._limits.page_bytes - self._used_by(one.page)
        of_all: int = self._limits.most_bytes - self._bytes
        return min(of_page, of_all)

    def accept(self, one: Requisite, size: int) -> bool:
        """Reserve bytes until it has ended; return whether there is room for them."""
        fits = size <= self.room(one)
        if fits:
            self._use(one, size)
            self._accepted[one] = size
        return fits

    def _use(self, one: Requisite, size: int) -> None:
        self._used[one.page] = self._used_by(one.page) + size
        self._bytes += size

    def _used_by(self, page: int) -> int:
        if page not in self._used:
            if len(self._used) >= _MOST_PAGES:
                self._used.clear()
            [(used,)] = self._rows("coalesce(sum(bytes), 0)", "page = ?", page)
            accepted = sum(size for one, size in self._accepted.items() if one.page == page)
            self._used[page] = int(used) + accepted
        return self._used[page]

    def tally(self) -> tuple[int, int, Counter[str]]:
        """Return how many were kept, their bytes, and how many were not, by the reason."""
        [(kept, size)] = self._rows("count(*), coalesce(sum(bytes), 0)", "status = 'C'")
        errors = Counter[str](dict(self._rows("error, count(*)", "status = 'E' GROUP BY error")))
        return kept, size, errors + Counter({"too many": self._left_out})

    def _rows(self, what: str, where: str, *values: object) -> list[tuple[Any, ...]]:
        query = f"SELECT {what} FROM requisite WHERE job = ? AND {where}"  # noqa: S608 - our words
        return list(self._store.db.execute(query, (self._job, *values)))


def keeps_requisites(store: SqliteStore, job: int) -> bool:
    """Return whether a job keeps requisites: it noted so, or as older versions has some."""
    if store.memory(job).get("requisites"):
        return True
    named = "SELECT 1 FROM requisite WHERE job = ? LIMIT 1"
    return _has_tables(store) and store.db.execute(named, (job,)).fetchone() is not None


def _has_tables(store: SqliteStore) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE name = 'requisite'"
    return store.db.execute(query).fetchone() is not None
