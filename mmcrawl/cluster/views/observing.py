"""A shared crawl seen from outside: who works on it, and how fast.

Nothing is written. Clocks of other machines are not asked: a worker is seen to be alive when a
later look finds another sign of it, and rates come from the numbers of several looks. One look
alone knows neither.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote

from mmcrawl.cluster.members import Sign, signs_of
from mmcrawl.cluster.own_parts import added
from mmcrawl.cluster.places import PARTS
from mmcrawl.cluster.store import Row, no_job, open_contents
from mmcrawl.crawl.reports import Totals
from mmcrawl.errors import StoreError
from mmcrawl.store.documents import below

_SILENT_SECONDS = 4.0  # signs are given every second; a busy machine is late now and then
_RATE_SECONDS = 10.0
_ENOUGH = 2  # looks at new numbers that a rate is made of, at least
_RECENT_PAGES = 500  # of a worker, that its harvest rate is of


@dataclass(frozen=True, slots=True)
class JobView:
    """A job of a store.

    Attributes:
        name: chosen by the user or made of the arguments.
        started_at: Unix time, by the clock of the worker that began it.
        finished_at: Unix time, None while it can go on.
        reason: why it stopped last, "" if it never did.
        state: ``finished``, ``stopped`` (all workers left), ``running``, ``silent`` (no sign of any
            worker), ``starting`` (there was none yet), or "" where one look is not enough to tell.
        pages: crawled so far.
    """

    name: str
    started_at: float
    finished_at: float | None
    reason: str
    state: str
    pages: int


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker.

    Attributes:
        name: its machine, its process, and some chance.
        alive: whether it gives signs of life, None where one look is not enough to tell.
        silent_seconds: since its last sign was first seen.
        pages_per_second: fetched by it over the last seconds, None if that is not known.
        sign: what it told of itself last.
    """

    name: str
    alive: bool | None
    silent_seconds: float
    pages_per_second: float | None
    sign: Sign


@dataclass(frozen=True, slots=True)
class CrawlView:
    """A job and those who work on it.

    Attributes:
        job: the job.
        workers: sorted by name.
        parts: into how many parts it is divided.
        unowned: how many of these nobody has, nor is given or has set aside.
        mail: letters on their way from part to part.
        totals: where the crawl stands. While parts change hands after a worker died, what is in
            them may count twice.
        pages_per_second: of all workers over the last seconds, None if that is not known.
    """

    job: JobView
    workers: tuple[WorkerView, ...]
    parts: int
    unowned: int
    mail: int
    totals: Totals
    pages_per_second: float | None


class Observer:
    """Looks at a store. A context manager.

    Args:
        uri: ``sqlite:///FILE`` or ``mongodb://HOST/DATABASE``.

    Raises:
        StoreError: it cannot be reached or read, or is none that this version can use.
    """

    def __init__(self, uri: str) -> None:
        self._documents = open_contents(uri, create=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._documents.close()

    @property
    def name(self) -> str:
        """The URI without user, password and options."""
        return self._documents.name

    def jobs(self) -> list[str]:
        """Return the names of the jobs, in the order they were begun."""
        rows = [row for _, row in self._documents.range("job", fields=("name", "started_at"))]
        return [
            row["name"] for row in sorted(rows, key=lambda row: (row["started_at"], row["name"]))
        ]

    def look(self, observation: Observation, now: float) -> None:
        """Look at a job. Three round trips.

        Args:
            observation: of the job; takes down what is seen.
            now: seconds of a monotonic clock.

        Raises:
            StoreError: the job is not there, or the server cannot be reached.
        """
        prefix = quote(observation.name, safe="")
        job = self._documents.get("job", [prefix]).get(prefix)
        if job is None:
            raise StoreError(no_job(observation.name, self.name))
        rows = ({"_id": key, **row} for key, row in self._documents.range("worker", *below(prefix)))
        mail = sum(1 for _ in self._documents.range("mail", *below(prefix), fields=("at",)))
        observation.take(dict(job), signs_of(rows), mail, now)


class _Seen:
    """A worker as several looks saw it: its last sign, when that came, and how its pages grew."""

    def __init__(self, sign: Sign, now: float) -> None:
        self.sign, self.since = sign, now
        self._changed = False
        self._counts: deque[tuple[float, int]] = deque()

    def see(self, sign: Sign, now: float) -> None:
        if sign.number != self.sign.number:
            self.sign, self.since, self._changed = sign, now, True
            # The numbers of the first look may be a second old: when they came is not known.
            self._counts.append((now, sign.crawled))
        while self._counts and now - self._counts[0][0] > _RATE_SECONDS:
            self._counts.popleft()

    def alive(self, now: float) -> bool | None:
        if self.sign.gone or now - self.since > _SILENT_SECONDS:
            return False
        return True if self._changed else None

    @property
    def rate(self) -> float | None:
        if len(self._counts) < _ENOUGH:
            return None
        (since, before), (until, after) = self._counts[0], self._counts[-1]
        return (after - before) / (until - since)

    def view(self, name: str, now: float) -> WorkerView:
        alive = self.alive(now)
        rate = None if alive is False else self.rate
        return WorkerView(name, alive, now - self.since, rate, self.sign)


class Observation:
    """What several looks at a job tell.

    Args:
        name: of the job.
        parts: into how many parts it is divided.
    """

    def __init__(self, name: str, parts: int = PARTS) -> None:
        self.name = name
        self._parts = parts
        self._job: Row = {}
        self._seen: dict[str, _Seen] = {}
        self._mail = 0
        self._now = 0.0

    def take(self, job: Row, signs: Mapping[str, Sign], mail: int, now: float) -> None:
        """Take down a look: the document of the job, the last signs of workers, and how many
        letters are on their way.
        """
        self._job, self._mail, self._now = job, mail, now
        for name in self._seen.keys() - signs.keys():
            del self._seen[name]
        for name, sign in signs.items():
            self._seen.setdefault(name, _Seen(sign, now)).see(sign, now)

    @property
    def is_settled(self) -> bool:
        """Whether another look would tell nothing that is not known yet."""
        if self._state() == "finished":
            return True
        states = [(one.alive(self._now), one.rate) for one in self._seen.values()]
        return all(alive is False or (alive and rate is not None) for alive, rate in states)

    @property
    def view(self) -> CrawlView:
        """The job as it stands after the last look."""
        job, state, totals = self._job, self._state(), self._totals()
        views = [one.view(name, self._now) for name, one in sorted(self._seen.items())]
        shown = [one for one in views if one.alive or not (one.sign.gone or state == "finished")]
        rates = [view.pages_per_second for view in shown if view.alive is not False]
        known = [rate for rate in rates if rate is not None]
        return CrawlView(
            JobView(
                self.name,
                job["started_at"],
                job["finished_at"] or None,
                job["reason"],
                state,
                totals.pages,
            ),
            tuple(shown),
            self._parts,
            self._unowned(),
            self._mail,
            totals,
            sum(known) if known and len(known) == len(rates) else None,
        )

    def _state(self) -> str:
        if self._job["finished_at"]:
            return "finished"
        alive = {one.alive(self._now) for one in self._seen.values()}
        if True in alive:
            return "running"
        if None in alive:
            return ""
        if any(not one.sign.gone for one in self._seen.values()):
            return "silent"
        return "stopped" if self._seen or self._job["reason"] else "starting"

    def _totals(self) -> Totals:
        """Return the totals of all parts. Dead workers' signs have theirs until others do."""
        signs = [one.sign for one in self._seen.values() if one.sign.totals]
        told = [Totals(**sign.totals) for sign in signs]
        recent = [min(sign.crawled, _RECENT_PAGES) for sign in signs]
        harvest = sum(one.harvest_rate * of for one, of in zip(told, recent, strict=True))
        return replace(added(told), harvest_rate=harvest / max(sum(recent), 1))

    def _unowned(self) -> int:
        owned: set[int] = set()
        for one in self._seen.values():
            if one.alive(self._now) is not False:
                owned.update(one.sign.parts, one.sign.aside, *one.sign.gives.values())
        return self._parts - len(owned)
