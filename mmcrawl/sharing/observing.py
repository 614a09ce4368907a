"""A shared crawl seen from outside: who works on it, and how fast.

Nothing is written. Clocks of other machines are not asked: whoever gives signs of life is seen to
be alive when a later look finds another sign, and rates come from the numbers of several looks. One
look alone knows neither.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from mmcrawl.crawling.reports import Totals
from mmcrawl.errors import StoreError
from mmcrawl.sharing.server import STORE, Row, facts_of
from mmcrawl.stores.mongodb import connect, explained

_SILENT_SECONDS = 4.0  # signs are given every second; a busy machine is late now and then
_RATE_SECONDS = 10.0
_ENOUGH = 2  # looks at new numbers that a rate is made of, at least


@dataclass(frozen=True, slots=True)
class JobView:
    """A job of a store.

    Attributes:
        name: chosen by the user or made of the arguments.
        started_at: Unix time, by the clock of the worker that began it.
        finished_at: Unix time, None while it can go on.
        reason: why it stopped last, "" if it never did.
        state: ``finished``, ``stopped``, ``running``, ``silent`` (no sign of a coordinator),
            ``starting`` (there was none yet), or "" where one look is not enough to tell.
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
        hosts: that belong to it.
        leased: links it holds.
        pages: it reported.
        pages_per_second: over the last seconds, None if that is not known.
    """

    name: str
    alive: bool | None
    silent_seconds: float
    hosts: int
    leased: int
    pages: int
    pages_per_second: float | None


@dataclass(frozen=True, slots=True)
class CrawlView:
    """A job and those who work on it.

    Attributes:
        job: the job.
        coordinator: name of the worker that coordinates, or did so last; "" if none did yet.
        term: counts the coordinators of the job.
        term_seconds: it has led for, at least.
        workers: sorted by name.
        totals: where the crawl stands.
        pages_per_second: of all workers over the last seconds, None if that is not known.
    """

    job: JobView
    coordinator: str
    term: int
    term_seconds: int
    workers: tuple[WorkerView, ...]
    totals: Totals
    pages_per_second: float | None


@dataclass(slots=True)
class _Sign:
    """The last sign of somebody, when it was seen first, and whether it came while we looked."""

    value: object
    since: float
    changed: bool = False

    def see(self, value: object, now: float) -> bool:
        """Take note of a sign; tell whether it is a new one."""
        if value == self.value:
            return False
        self.value, self.since, self.changed = value, now, True
        return True

    def alive(self, now: float) -> bool | None:
        if now - self.since > _SILENT_SECONDS:
            return False
        return True if self.changed else None


class Observer:
    """Looks at a store. A context manager.

    Args:
        uri: ``mongodb://HOST/DATABASE``.

    Raises:
        StoreError: it cannot be reached or read, or is none that this version can use.
    """

    def __init__(self, uri: str) -> None:
        self._server = connect(STORE, uri, create=False, read_only=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.client.close()

    @property
    def name(self) -> str:
        """The URI without user, password and options."""
        return self._server.name

    def jobs(self) -> list[str]:
        """Return the names of the jobs, in the order they were begun."""
        with self._explained():
            rows = list(self._server.documents("job").find({}, {"name": 1, "started_at": 1}))
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
        with self._explained():
            job = self._server.documents("job").find_one({"_id": prefix})
            leader = self._note(prefix, "leader")
            status = self._note(prefix, "status")
            keys = {"_id": {"$gt": f"{prefix}/", "$lt": f"{prefix}0"}}  # 0 is after /
            beats = list(self._server.documents("worker").find(keys))
        if job is None:
            raise StoreError(
                f"there is no job {observation.name!r} in store {self.name}; `scrapy workers`"
                " without a job tells which there are"
            )
        signs = {}
        for row in beats:
            with suppress(ValueError):  # whoever coordinates sets it aside
                signs[row["_id"].partition("/")[2]] = facts_of("worker", row)["sign"]
        observation.take(job, leader, status, signs, now)

    def _note(self, prefix: str, name: str) -> dict[str, Any]:
        row = self._server.documents("note").find_one({"_id": f"{prefix}/{name}"})
        try:
            return facts_of(name, row) if row else {}
        except ValueError:  # whoever coordinates sets it aside
            return {}

    def _explained(self) -> Any:
        return explained(f"store {self.name}")


class Observation:
    """What several looks at a job tell.

    Args:
        name: of the job.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._job: Row = {}
        self._leader: Mapping[str, Any] = {}
        self._status: Mapping[str, Any] = {}
        self._leader_sign: _Sign | None = None
        self._signs: dict[str, _Sign] = {}
        self._counts: deque[tuple[float, dict[str, int]]] = deque()
        self._now = 0.0

    def take(
        self,
        job: Row,
        leader: Mapping[str, Any],
        status: Mapping[str, Any],
        signs: Mapping[str, object],
        now: float,
    ) -> None:
        """Take down a look: documents of the shared store, and the last sign of each worker."""
        self._job, self._leader, self._status, self._now = job, leader, status, now
        for name in self._signs.keys() - signs.keys():
            del self._signs[name]
        for name, value in signs.items():
            self._signs.setdefault(name, _Sign(value, now)).see(value, now)
        value = (leader.get("term"), leader.get("sign"))
        if self._leader_sign is None:
            self._leader_sign = _Sign(value, now)
        elif self._leader_sign.see(value, now) and status:
            # The numbers of the first look may be a second old: when they came is not known.
            self._counts.append((now, self._pages()))
        while self._counts and now - self._counts[0][0] > _RATE_SECONDS:
            self._counts.popleft()

    @property
    def is_settled(self) -> bool:
        """Whether another look would tell nothing that is not known yet."""
        state = self._state()
        if state == "finished":
            return True
        if not state or any(sign.alive(self._now) is None for sign in self._signs.values()):
            return False
        return state != "running" or len(self._counts) >= _ENOUGH

    @property
    def view(self) -> CrawlView:
        """The job as it stands after the last look."""
        totals = Totals(**self._status["totals"]) if self._status else Totals()
        return CrawlView(
            JobView(
                self.name,
                self._job["started_at"],
                self._job["finished_at"],
                self._job["reason"],
                self._state(),
                totals.pages,
            ),
            self._leader.get("worker", ""),
            self._leader.get("term", 0),
            max(self._leader.get("sign", 0), 0),  # one a second, or a little less
            tuple(self._worker(name) for name in sorted(self._shown())),
            totals,
            self._rate(""),
        )

    def _state(self) -> str:
        if self._job["finished_at"] is not None:
            return "finished"
        if not self._leader:
            return "starting"
        if self._leader.get("gone"):
            return "stopped"
        if self._leader_sign is None:
            return ""
        return {None: "", True: "running", False: "silent"}[self._leader_sign.alive(self._now)]

    def _shown(self) -> set[str]:
        """Return the workers to tell of. Whoever died long ago may still have its last sign."""
        alive = {name for name, sign in self._signs.items() if sign.alive(self._now)}
        ended = self._state() in {"finished", "stopped"}
        return alive if ended else alive | set(self._status.get("workers", ()))

    def _worker(self, name: str) -> WorkerView:
        sign = self._signs.get(name)
        facts = self._status.get("workers", {}).get(name, {})
        return WorkerView(
            name,
            sign.alive(self._now) if sign else False,
            self._now - sign.since if sign else 0.0,
            facts.get("hosts", 0),
            facts.get("leased", 0),
            facts.get("pages", 0),
            self._rate(name),
        )

    def _pages(self) -> dict[str, int]:
        """Return the pages of each worker, and under "" those of all."""
        workers = self._status["workers"]
        pages = {name: int(facts["pages"]) for name, facts in workers.items()}
        return {**pages, "": int(self._status["totals"]["pages"])}

    def _rate(self, name: str) -> float | None:
        if self._state() != "running" or len(self._counts) < _ENOUGH:
            return None
        (since, before), (until, after) = self._counts[0], self._counts[-1]
        if name not in after or name not in before:
            return None
        return (after[name] - before[name]) / (until - since)
