"""A shared crawl seen from outside: its workers, and its speed.

Nothing is written, and clocks of other machines are not compared: a worker counts as alive when a
later look finds another heartbeat. A single look cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from mmcrawl.cluster.leases import Lease, leases_of, totals_of
from mmcrawl.cluster.members import Heartbeat, heartbeats_of
from mmcrawl.cluster.store import SharedStore, job_of, no_job, open_contents
from mmcrawl.crawl.protocol import Totals
from mmcrawl.errors import StoreError
from mmcrawl.frontier.store import Job

_SILENT_SECONDS = 6.0  # heartbeats come every 2.5 s; a busy machine is late now and then


@dataclass(frozen=True, slots=True)
class JobView:
    """A job of a store.

    Its state is ``finished``, ``stopped`` (all workers left), ``running``, ``silent`` (no worker is
    alive), ``starting`` (there was none yet), or "" where one look is not enough to tell.
    """

    name: str
    started_at: float  # Unix time, by the clock of the worker that began it
    finished_at: float | None  # None while it can go on
    reason: str  # why it stopped last, "" if it never did
    state: str
    pages: int  # crawled so far


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker."""

    name: str  # its machine, its process, and some chance
    alive: bool | None  # None where one look is not enough to tell
    silent_seconds: float  # since its last heartbeat was first seen
    heartbeat: Heartbeat
    partitions: Mapping[int, Lease]  # that it owns, by number

    @property
    def pages_per_second(self) -> float | None:
        """Fetched by it over the last seconds, None if that is not known."""
        return None if self.alive is False else self.heartbeat.rate

    @property
    def busy(self) -> int:
        """In how many of its partitions there is something to do."""
        return sum(lease.busy > 0 for lease in self.partitions.values())

    @property
    def pages(self) -> int:
        """The number of pages in its partitions."""
        return sum(lease.pages for lease in self.partitions.values())


@dataclass(frozen=True, slots=True)
class CrawlView:
    """A job and those who work on it."""

    job: JobView
    workers: tuple[WorkerView, ...]  # sorted by name
    partitions: Mapping[int, Lease]  # all in which there is, or was, a link, by number
    unowned: int  # how many of these nobody owns who is alive, nor can be read
    messages: int  # on their way from partition to partition
    totals: Totals

    @property
    def pages_per_second(self) -> float | None:
        """Of all workers over the last seconds, None if that is not known."""
        rates = [one.pages_per_second for one in self.workers if one.alive is not False]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known and len(known) == len(rates) else None

    @property
    def is_settled(self) -> bool:
        """Whether another look would tell nothing that is not known yet."""
        return self.job.state != "" and all(
            one.alive is False or (one.alive and one.pages_per_second is not None)
            for one in self.workers
        )


class Observer:
    """Observes a store repeatedly. A context manager.

    Args:
        uri: ``sqlite:///FILE`` or ``mongodb://HOST/DATABASE``.
        beats: what another one saw, and this one adds to: by job and worker the last beat, since
            when, and whether there was one before it.

    Raises:
        StoreError: it cannot be reached or read, or is none that this version can use.
    """

    def __init__(
        self, uri: str, beats: dict[tuple[str, str], tuple[int, float, bool]] | None = None
    ) -> None:
        self._documents = open_contents(uri, create=False)
        self._beats = {} if beats is None else beats

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._documents.close()

    @property
    def name(self) -> str:
        """The URI without user, password and options."""
        return self._documents.name

    def jobs(self) -> list[Job]:
        """Return the jobs, in the order they were begun."""
        rows = [row for _, row in self._documents.range("job")]
        return [job_of(r) for r in sorted(rows, key=lambda row: (row["started_at"], row["name"]))]

    def look(self, name: str, now: float) -> CrawlView:
        """Return the state of a job. Four round trips.

        Args:
            name: of the job.
            now: seconds of a monotonic clock.

        Raises:
            StoreError: the job is not there, or the server cannot be reached.
        """
        shared = SharedStore(self._documents, name, patience=0.0)
        if not (job := shared.read_job()):
            raise StoreError(no_job(name, self.name))
        messages = len(shared.names("message"))
        heartbeats = heartbeats_of(shared.all("worker"))
        leases = leases_of(shared.all("lease"))
        workers = [
            self._worker(name, worker, heartbeats[worker], leases, now)
            for worker in sorted(heartbeats)
        ]
        totals = totals_of(leases.values())
        finished_at, reason = job["finished_at"] or None, job["reason"]
        state = "finished" if finished_at else _state(reason, workers, leases.values())
        living = {one.name for one in workers if one.alive is not False}
        unowned = sum(not one.fault and one.owner not in living for one in leases.values())
        if finished_at:
            workers = [one for one in workers if one.alive]
        shown = JobView(name, job["started_at"], finished_at, reason, state, totals.pages)
        return CrawlView(shown, tuple(workers), leases, unowned, messages, totals)

    def _worker(
        self, job: str, name: str, heartbeat: Heartbeat, leases: Mapping[int, Lease], now: float
    ) -> WorkerView:
        beat, since, has_changed = self._beats.get((job, name), (heartbeat.beat, now, False))
        if beat != heartbeat.beat:
            since, has_changed = now, True
        self._beats[job, name] = heartbeat.beat, since, has_changed
        alive = False if now - since > _SILENT_SECONDS else has_changed or None
        own = {partition: lease for partition, lease in leases.items() if lease.owner == name}
        return WorkerView(name, alive, now - since, heartbeat, own)


def _state(reason: str, workers: Iterable[WorkerView], leases: Iterable[Lease]) -> str:
    """Return the state of a job that is not finished."""
    alive = {one.alive for one in workers}
    if True in alive:
        return "running"
    if None in alive:
        return ""
    if alive or any(lease.owner for lease in leases):
        return "silent"
    return "stopped" if reason or any(lease.epoch for lease in leases) else "starting"
