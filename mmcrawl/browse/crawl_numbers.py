"""Where the crawls of a store stand, seen from outside while they run.

A SQLite store is read through a connection that cannot write and waits for nobody; a store on a
server is looked at as `scrapy workers` does.
"""

import json
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mmcrawl.frontier.admission import REDIRECT, TRAP
from mmcrawl.frontier.database import reading
from mmcrawl.frontier.reading import JOB_SHIFT
from mmcrawl.frontier.twins import TWIN
from mmcrawl.stores.uris import file_of

_KEPT_SECONDS = 3.0  # numbers are shown that long before they are read again
_ALIVE_SECONDS = 60.0  # without a page, after which a crawl is not said to run
_RATE_SECONDS = 120.0

_STATUSES = "SELECT status, count(*) FROM link WHERE id >= ? AND id < ? GROUP BY status"
_PAGES = "SELECT count(*) FROM page WHERE id >= ? AND id < ?"
_LAST_PAGES = (
    "SELECT page.relevant, page.visited_at FROM page JOIN link USING (id)"
    " WHERE id >= ? AND id < ? ORDER BY link.settled DESC LIMIT 500"
)
_ERRORS = (
    "SELECT error, count(*) FROM link WHERE id >= ? AND id < ? AND status = 'E'"
    " GROUP BY error ORDER BY 2 DESC LIMIT 8"
)
_ERROR_KINDS = (
    "SELECT kind_of_error(error), count(*) FROM link WHERE id >= ? AND id < ? AND status = 'E'"
    " GROUP BY 1 ORDER BY 2 DESC, 1"
)

_KINDS = {
    "trap": re.escape(TRAP),
    "twin": re.escape(TWIN),
    "moved": re.escape(REDIRECT),
    "robots": r"forbidden by robots\.txt",
    "gone": "HTTP 4(04|10)",
    "closed": "HTTP 4(01|03|07|51)",
    "busy": "HTTP (429|503)",
    "server": "HTTP 5",
    "loop": "redirect loop",
    "name": "host not found",
    "slow": "no answer in time",
    "connection": "connection refused|connection broken|broken compression",
    "large": "too large",
    "address": "bad address",
}
_KIND = re.compile("|".join(f"(?P<{name}>{begin})" for name, begin in _KINDS.items()))
_SKIPPED = frozenset(("trap", "twin", "moved", "robots"))


def kind_of_error(reason: str) -> str:
    """Return the kind of a reason for which a link came to no page; ``other`` for a rare one.

    >>> kind_of_error("HTTP 404"), kind_of_error("trap: host has its share")
    ('gone', 'trap')
    """
    found = _KIND.match(reason)
    return (found.lastgroup or "other") if found else "other"


@dataclass(frozen=True, slots=True)
class CrawlNumbers:
    """Where a crawl stands.

    Attributes:
        state: ``running``, ``stopped``, ``finished``, or another word of the store.
        started_at, finished_at: Unix seconds; None if unknown, or not yet.
        reason: Why it stopped last.
        pages, media_pages, waiting, errors, patterns: Counts.
        harvest_rate: Share of relevant pages among the last 500, in [0, 1]; None without pages.
        pages_per_second: None if that is not known, or nothing runs.
        error_reasons: How many links failed, by reason.
        error_kinds: The same by :func:`kind_of_error`, the most frequent first.
        workers: How many are alive; None for a crawl that is not shared.
    """

    name: str
    state: str
    started_at: float | None
    finished_at: float | None
    reason: str
    arguments: dict[str, Any]
    pages: int
    media_pages: int
    waiting: int
    errors: int
    patterns: int
    harvest_rate: float | None
    pages_per_second: float | None
    error_reasons: dict[str, int] = field(default_factory=dict)
    workers: int | None = None
    error_kinds: dict[str, int] = field(default_factory=dict)

    @property
    def skipped(self) -> dict[str, int]:
        """The links that were left alone on purpose, by kind: these are no errors."""
        return {kind: count for kind, count in self.error_kinds.items() if kind in _SKIPPED}

    @property
    def failed(self) -> dict[str, int]:
        """The links that could not be had, by kind."""
        return {kind: count for kind, count in self.error_kinds.items() if kind not in _SKIPPED}

    @property
    def failures(self) -> int:
        """How many links could not be had; where the kinds are unknown, what was left alone too."""
        return self.errors - sum(self.skipped.values())


class CrawlWatch:
    """Reads the crawls of a store, and keeps what it read for a few seconds."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._lock = threading.Lock()
        self._read_at = float("-inf")
        self._numbers: list[CrawlNumbers] = []
        self._observations: dict[str, Any] = {}

    def crawls(self) -> list[CrawlNumbers]:
        """Return where each crawl stands, those begun last first."""
        with self._lock:
            if time.monotonic() - self._read_at > _KEPT_SECONDS:
                self._numbers = self._read()
                self._read_at = time.monotonic()
            return self._numbers

    def _read(self) -> list[CrawlNumbers]:
        from mmcrawl.cluster.store import is_shared  # slow to load

        if is_shared(self._uri):
            return self._shared()[::-1]
        path = file_of(self._uri)
        return list(_sqlite_crawls(Path(path)))[::-1] if path and Path(path).exists() else []

    def _shared(self) -> list[CrawlNumbers]:
        from mmcrawl.cluster.views.observing import Observation, Observer

        found = []
        with Observer(self._uri) as observer:
            for name in observer.jobs():
                observation = self._observations.setdefault(name, Observation(name))
                observer.look(observation, time.monotonic())
                view = observation.view
                totals = view.totals
                found.append(
                    CrawlNumbers(
                        name,
                        view.job.state or "running",
                        view.job.started_at,
                        view.job.finished_at,
                        view.job.reason,
                        {},
                        totals.pages,
                        totals.media_pages,
                        totals.waiting,
                        totals.errors,
                        totals.patterns,
                        totals.harvest_rate if totals.pages else None,
                        view.pages_per_second,
                        workers=sum(worker.alive is not False for worker in view.workers),
                    )
                )
        return found


def _sqlite_crawls(path: Path) -> Iterator[CrawlNumbers]:
    with reading(path) as db:
        jobs = db.execute(
            "SELECT id, name, arguments, started_at, finished_at, reason FROM job ORDER BY id"
        )
        for number, *facts in jobs.fetchall():
            yield _sqlite_crawl(db, number, facts)


def _sqlite_crawl(db: sqlite3.Connection, number: int, facts: Sequence[Any]) -> CrawlNumbers:
    name, arguments, started, finished, reason = facts
    ids = (number << JOB_SHIFT, (number + 1) << JOB_SHIFT)
    statuses = dict(db.execute(_STATUSES, ids))
    last = db.execute(_LAST_PAGES, ids).fetchall()
    pages = db.execute(_PAGES, ids).fetchone()[0]
    media = db.execute("SELECT count(*) FROM media_page WHERE job = ?", (number,)).fetchone()[0]
    patterns = db.execute("SELECT count(*) FROM pattern WHERE job = ?", (number,)).fetchone()[0]
    errors = db.execute(_ERRORS, ids).fetchall()
    db.create_function("kind_of_error", 1, kind_of_error, deterministic=True)
    kinds = db.execute(_ERROR_KINDS, ids).fetchall()
    times = sorted(visited for _, visited in last)
    is_over = finished is not None or bool(reason)
    running = not is_over and bool(times) and time.time() - times[-1] < _ALIVE_SECONDS
    return CrawlNumbers(
        name,
        "finished" if finished is not None else "running" if running else "stopped",
        started,
        finished,
        reason,
        json.loads(arguments),
        pages,
        media,
        statuses.get("W", 0),
        statuses.get("E", 0),
        patterns,
        sum(relevant for relevant, _ in last) / len(last) if last else None,
        _rate(times) if running else None,
        dict(errors),
        error_kinds=dict(kinds),
    )


def _rate(times: list[float]) -> float | None:
    """Return the pages a second of the last two minutes."""
    recent = [one for one in times if one > times[-1] - _RATE_SECONDS]
    span = recent[-1] - recent[0]
    return (len(recent) - 1) / span if span > 1 else None
