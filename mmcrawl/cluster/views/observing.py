"""A shared crawl seen from outside: who works on it, and how fast.

Nothing is written. Clocks of other machines are not asked: a worker is seen to be alive when a
later look finds another heartbeat, and rates come from the numbers of several looks. One look alone
knows neither.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import quote

from mmcrawl.cluster.leases import Lease, leases_of
from mmcrawl.cluster.members import Heartbeat, heartbeats_of
from mmcrawl.cluster.own_parts import added
from mmcrawl.cluster.store import Row, no_job, open_contents
from mmcrawl.crawl.reports import Totals
from mmcrawl.errors import StoreError
from mmcrawl.store.documents import below

_SILENT_SECONDS = 6.0  # heartbeats come every 2.5 s; a busy machine is late now and then
_RATE_SECONDS = 10.0
_ENOUGH = 2  # looks at new numbers that a rate is made of, at least
_RECENT_PAGES = 500  # of a partition, that its harvest rate is of


@dataclass(frozen=True, slots=True)
class JobView:
    """A job of a store.

    Attributes:
        name: chosen by the user or made of the arguments.
        started_at: Unix time, by the clock of the worker that began it.
        finished_at: Unix time, None while it can go on.
        reason: why it stopped last, "" if it never did.
        state: ``finished``, ``stopped`` (all workers left), ``running``, ``silent`` (no worker is
            alive), ``starting`` (there was none yet), or "" where one look is not enough to tell.
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
        alive: whether its heart beats, None where one look is not enough to tell.
        silent_seconds: since its last heartbeat was first seen.
        pages_per_second: fetched by it over the last seconds, None if that is not known.
        heartbeat: what it told of itself last.
        partitions: that it owns, by number.
    """

    name: str
    alive: bool | None
    silent_seconds: float
    pages_per_second: float | None
    heartbeat: Heartbeat
    partitions: Mapping[int, Lease]

    @property
    def busy(self) -> int:
        """In how many of its partitions there is something to do."""
        return sum(lease.busy > 0 for lease in self.partitions.values())

    @property
    def pages(self) -> int:
        """How many pages its partitions have."""
        return sum(lease.pages for lease in self.partitions.values())


@dataclass(frozen=True, slots=True)
class CrawlView:
    """A job and those who work on it.

    Attributes:
        job: the job.
        workers: sorted by name.
        partitions: all in which there is, or was, a link, by number.
        unowned: how many of these nobody owns who is alive, nor can be read.
        messages: on their way from partition to partition.
        totals: where the crawl stands.
        pages_per_second: of all workers over the last seconds, None if that is not known.
    """

    job: JobView
    workers: tuple[WorkerView, ...]
    partitions: Mapping[int, Lease]
    unowned: int
    messages: int
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
        """Look at a job. Four round trips.

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
        messages = sum(1 for _ in self._documents.range("message", *below(prefix), fields=("at",)))
        heartbeats = heartbeats_of(self._all("worker", prefix))
        leases = leases_of(self._all("lease", prefix), observation.leases)
        observation.take(dict(job), heartbeats, leases, messages, now)

    def _all(self, table: str, prefix: str) -> list[Row]:
        return [{"_id": k, **row} for k, row in self._documents.range(table, *below(prefix))]


class _Seen:
    """A worker as several looks saw it: its last heartbeat, since when, and how its pages grew."""

    def __init__(self, heartbeat: Heartbeat, now: float) -> None:
        self.heartbeat, self.since = heartbeat, now
        self._changed = False
        self._counts: deque[tuple[float, int]] = deque()

    def see(self, heartbeat: Heartbeat, now: float) -> None:
        if heartbeat.beat != self.heartbeat.beat:
            self.heartbeat, self.since, self._changed = heartbeat, now, True
            # The numbers of the first look may be older: when they came is not known.
            self._counts.append((now, heartbeat.crawled))
        while self._counts and now - self._counts[0][0] > _RATE_SECONDS:
            self._counts.popleft()

    def alive(self, now: float) -> bool | None:
        if now - self.since > _SILENT_SECONDS:
            return False
        return True if self._changed else None

    @property
    def rate(self) -> float | None:
        if len(self._counts) < _ENOUGH:
            return None
        (since, before), (until, after) = self._counts[0], self._counts[-1]
        return (after - before) / (until - since)

    def view(self, name: str, leases: Mapping[int, Lease], now: float) -> WorkerView:
        alive = self.alive(now)
        rate = None if alive is False else self.rate
        own = {part: lease for part, lease in leases.items() if lease.owner == name}
        return WorkerView(name, alive, now - self.since, rate, self.heartbeat, own)


class Observation:
    """What several looks at a job tell.

    Args:
        name: of the job.

    Attributes:
        leases: as of the last one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._job: Row = {}
        self._seen: dict[str, _Seen] = {}
        self.leases: dict[int, Lease] = {}
        self._messages = 0
        self._now = 0.0

    def take(
        self,
        job: Row,
        heartbeats: Mapping[str, Heartbeat],
        leases: dict[int, Lease],
        messages: int,
        now: float,
    ) -> None:
        """Take down a look: the document of the job, the last heartbeats of workers, the leases of
        partitions, and how many messages are on their way.
        """
        self._job, self._messages, self._now = job, messages, now
        self.leases = leases
        for name in self._seen.keys() - heartbeats.keys():
            del self._seen[name]
        for name, one in heartbeats.items():
            self._seen.setdefault(name, _Seen(one, now)).see(one, now)

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
        views = [one.view(name, self.leases, self._now) for name, one in self._seen.items()]
        shown = sorted(
            (one for one in views if one.alive or state != "finished"), key=lambda one: one.name
        )
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
            self.leases,
            self._unowned(),
            self._messages,
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
        leases = self.leases.values()
        if self._seen or any(lease.owner for lease in leases):
            return "silent"
        return "stopped" if self._job["reason"] or any(one.epoch for one in leases) else "starting"

    def _totals(self) -> Totals:
        """Return the totals of all partitions."""
        facts = [lease.plain_facts for lease in self.leases.values()]
        told = [Totals(**one["totals"]) for one in facts if "totals" in one]
        recent = [min(one.pages, _RECENT_PAGES) for one in told]
        harvest = sum(one.harvest_rate * of for one, of in zip(told, recent, strict=True))
        return replace(added(told), harvest_rate=harvest / max(sum(recent), 1))

    def _unowned(self) -> int:
        alive = {name for name, one in self._seen.items() if one.alive(self._now) is not False}
        return sum(not one.fault and one.owner not in alive for one in self.leases.values())
