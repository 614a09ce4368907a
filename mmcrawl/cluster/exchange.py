"""The turns in which a worker and the shared store exchange what is new.

In a turn the crawl hands over a `Report`. The turn writes it and leaves `News`, which the crawl
takes in before it makes the next report, so that both sides always mean the same partitions. The
order in which a report is written loses nothing in a crash:

1. messages to other partitions, then media pages: it does no harm if these come twice;
2. log records, then the leases that make them count: from then on pages are crawled;
3. removal of the processed messages.

Every few seconds a turn also *looks* at heartbeats and leases, takes the worker's fair share of
partitions, and reads messages. An idle worker looks at every turn.
"""

from __future__ import annotations

import itertools
import json
import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Event, Lock, Thread
from typing import Any

from mmcrawl.cluster.budget import Budget
from mmcrawl.cluster.leases import Lease, Leases, Logs, Stored
from mmcrawl.cluster.members import OVER, Heartbeat, Members, heartbeats_of
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import Row, SharedStore, partition_in
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord, NearMiss

logger = logging.getLogger(__name__)

LOOK_SECONDS = 3.0
IDLE_SECONDS = 0.25
_TRUSTED = 0.8  # of a lease: for so long a worker that the store does not hear keeps its partitions
_RATE_SECONDS = 10.0
_SMALLEST_LOG = 256 << 10  # bytes that no snapshot is made for
_MESSAGES_AT_ONCE = 200  # that are read at once; the others come next time


@dataclass(slots=True)
class PartitionReport:
    """The changes in a partition of a worker."""

    epoch: int  # in which it was taken over
    rows: bytes  # that changed
    state: Mapping[str, Any]  # new fields of its lease
    taken_in: Sequence[str]  # messages that are in the rows
    given: bool  # another worker may have it: nothing is in progress
    snapshot: Sequence[bytes] = ()  # all rows, if that is due


@dataclass(slots=True, kw_only=True)
class Report:
    """The changes in the partitions of a worker."""

    since: float  # when the first of it happened, by the monotonic clock
    partitions: dict[int, PartitionReport] = field(default_factory=dict)  # that are its own
    messages: list[tuple[int, bytes]] = field(default_factory=list)  # for other partitions
    media: list[MediaPageRecord] = field(default_factory=list)  # these: see `SharedStore.publish`
    near: list[NearMiss] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    is_giving: bool = False  # partitions are given, or are to be once nothing is in progress there
    faults: dict[int, str] = field(default_factory=dict)  # why partitions cannot be read
    unread: dict[str, str] = field(default_factory=dict)  # why messages cannot be read
    wants: dict[int, int] = field(default_factory=dict)  # these two: see `Budget.grant`
    spare: dict[int, int] = field(default_factory=dict)
    idle: bool = False  # the worker has nothing to do
    crawled: int = 0  # pages
    under_way: int = 0  # links that are being fetched


@dataclass(frozen=True, slots=True)
class Over:
    """The crawl is over, and why; of one that found nothing, why of each seed."""

    reason: str
    silent: tuple[str, ...] = ()


@dataclass(slots=True)
class News:
    """The news for a worker's crawl after a turn."""

    lost: set[int] = field(default_factory=set)  # another's by now: what was not written is void
    taken: list[Stored] = field(default_factory=list)
    messages: dict[str, bytes] = field(default_factory=dict)  # by their names
    granted: dict[int, int] = field(default_factory=dict)  # pages that may be fetched in all
    give: int = 0  # how many partitions are more than its share
    moved: list[tuple[str, str]] = field(default_factory=list)  # hosts of seeds: from, to
    over: Over | None = None


@dataclass(eq=False)
class Exchange:
    """A worker's side of the shared store.

    Args:
        documents: the shared store of the job.
        name: of the worker.
        rules: how the crawl is shared.
        seeds: partitions that the crawl begins in.
        clock: seconds, monotonic.

    Attributes:
        handed: set when there is a report.
    """

    documents: SharedStore
    name: str
    rules: Rules
    seeds: Collection[int]
    clock: Callable[[], float]
    report: Report | None = None  # that is to be written, or is being written
    news: News | None = None  # that were not taken yet
    handed: Event = field(default_factory=Event)
    ended: bool = False  # no turn comes after this one
    pause: float = IDLE_SECONDS  # seconds until the next turn, if there is nothing to write

    def __post_init__(self) -> None:
        now = self.clock()
        self.leases = Leases(self.documents, self.name)
        self._logs = Logs(self.documents)
        self._writer, self._number = secrets.token_hex(6), itertools.count()
        self._budget = Budget(self.documents, self.rules.max_pages)
        self._members = Members(self.name, self.rules.lease, now)
        self._beating = Lock()
        self._beats = self._crawled = self._under_way = 0
        self._counts: deque[tuple[float, int]] = deque()
        self._looked_at = now - LOOK_SECONDS
        self._heard_at = now
        self._still: dict[int, int] | None = None
        self._earlier_end: Row | None = None
        self._is_fresh = not self.documents.job.reason  # nobody has stopped it before
        self._has_looked = self._is_over = False
        self._moved: set[tuple[str, str]] = set()

    # -- what the crawl calls -------------------------------------------------------------------

    def hand(self, report: Report) -> None:
        """Hand over a report, after processing the news of the last turn."""
        self.report = report
        self.handed.set()

    def take_news(self) -> News | None:
        """Remove and return the news of the last turn, if that is over."""
        news, self.news = self.news, None
        return news

    @property
    def is_free(self) -> bool:
        """Whether a report can be handed over."""
        return self.report is None and self.news is None and not self.ended

    @property
    def long_logs(self) -> set[int]:
        """The partitions of which a snapshot is due; known while no turn is under way."""
        own = self.leases.own.values()
        return {one.partition for one in own if one.log > max(_SMALLEST_LOG, one.size // 2)}

    def unwritten(self, now: float) -> float:
        """Return for how many seconds what is being written has been waiting."""
        report = self.report
        return 0.0 if report is None else now - report.since

    @property
    def has_company(self) -> bool:
        """Whether other workers are alive, as far as is known."""
        return len(self._members.living) > 1

    def is_cut_off(self, now: float) -> bool:
        """Return whether the last heartbeat is so old that partitions may be others' by now."""
        return now - self._heard_at > _TRUSTED * self.rules.lease

    # -- heartbeats -------------------------------------------------------------------------------

    @property
    def beat_seconds(self) -> float:
        """Seconds between two heartbeats: several may be lost before a lease runs out."""
        return self.rules.lease / 6

    def beat(self, now: float) -> None:
        """Write the heartbeat of this worker, also during a long turn."""
        with self._beating:
            if self.ended:
                return
            self._beats += 1
            self._counts.append((now, self._crawled))
            while len(self._counts) > 1 and now - self._counts[1][0] >= _RATE_SECONDS:
                self._counts.popleft()
            (since, before), lag = self._counts[0], round(self.unwritten(now), 1)
            rate = (self._crawled - before) / (now - since) if now > since else None
            told = self._crawled, rate, self._under_way, lag
            self.documents.put("worker", self.name, Heartbeat(self._beats, *told).row)
        if not self.is_cut_off(now):  # else only a look tells which partitions are still its own
            self._heard_at = now

    # -- a turn ---------------------------------------------------------------------------------

    def turn(self) -> None:
        """Write the report that was handed over, look if that is due, and leave news."""
        report, began = self.report, self.clock()
        if report is None:
            return
        news = News()
        self._crawled, self._under_way = report.crawled, report.under_way
        self._write(report, news)
        has_looked = began - self._looked_at >= (IDLE_SECONDS if report.idle else LOOK_SECONDS)
        if has_looked:
            self._looked_at = began
            self._look(report, news, began)
            partitions = report.partitions.keys() & self.leases.own.keys()
            messages = self.documents.at("message", partitions, _MESSAGES_AT_ONCE)
            news.messages = {name: row.get("bytes", b"") for name, row in messages.items()}
        if (report.wants or report.spare) and not self._is_over:
            leases = self.leases
            wants, spare, seen = report.wants, report.spare, leases.seen.values()
            news.granted = self._budget.grant(leases.own, wants, spare, seen)
        if has_looked:
            self._heard_at = began
        self.news = news  # first: there is always a report or news until these are taken
        self.report = None

    def leave(self, report: Report) -> None:
        """Write a last report, and let others have the partitions."""
        self.report = report
        self._write(report, News())
        self.leases.change([replace(one, owner="") for one in self.leases.own.values()])
        with self._beating:
            self.ended, self.report = True, None
        self.documents.delete("worker", [self.name])
        self.leases.read()

    def _write(self, report: Report, news: News) -> None:
        own = self.leases.own
        if report.messages:
            self.leases.make({partition for partition, _ in report.messages})
            self._send(report.messages)
        self.documents.publish(report.media, report.near, report.dropped)
        told = {p: one for p, one in report.partitions.items() if _has(own, p, one.epoch)}
        rows = {own[partition]: one.rows for partition, one in told.items() if one.rows}
        wanted = {lease.partition: lease for lease in self._logs.append(rows)}
        for partition, one in told.items():
            if one.state or one.taken_in or one.given:
                lease, owner = wanted.get(partition, own[partition]), "" if one.given else self.name
                wanted[partition] = replace(lease, owner=owner, **one.state)
        news.lost |= self._change([*wanted.values()])
        counted = told.keys() - news.lost
        self.documents.delete("message", [n for p in counted for n in told[p].taken_in])
        for partition, one in report.partitions.items():
            if one.snapshot and partition in counted:
                copied = self._logs.append_snapshot(own[partition], one.snapshot)
                news.lost |= self._change([copied])
                if partition in own:
                    self._logs.shorten(own[partition])
        for name, why in report.unread.items():
            self.documents.quarantine("message", name, why)
        for partition, why in report.faults.items():
            if partition in own:
                self._quarantine(own[partition], why)

    def _send(self, messages: Iterable[tuple[int, bytes]]) -> None:
        """Write messages, each for a partition, under names that nobody else gives."""
        rows = (
            self.documents.row_of(partition, f"{self._writer}/{next(self._number):09d}", bytes=data)
            for partition, data in messages
        )
        self.documents.insert("message", dict(rows))

    def _change(self, wanted: Sequence[Lease]) -> set[int]:
        lost = self.leases.change(wanted) if wanted else set()
        if lost:
            logger.info("Partitions of the crawl that another worker owns now: %d", len(lost))
        return lost

    def _quarantine(self, lease: Lease, why: str) -> None:
        """Leave a partition alone that cannot be read; the others go on."""
        logger.error(
            "Partition %d of the crawl cannot be read (%s) and is left alone, with its hosts;"
            " restore the database from a copy to continue with it",
            lease.partition,
            why,
        )
        if self.rules.max_pages:
            self._budget.grant(self.leases.own, {}, {lease.partition: lease.pages}, [])
        self._change([replace(lease, owner="", fault=why)])

    # -- a look ---------------------------------------------------------------------------------

    def _look(self, report: Report, news: News, now: float) -> None:
        """Read heartbeats and leases, and act on them."""
        members = self._members
        if not self._has_looked:
            self.leases.make(self.seeds, busy=1)
            self.beat(now)
        rows = self.documents.all("worker")
        members.look(heartbeats_of(rows), now)
        over = rows.get(OVER)
        if not self._has_looked:
            self._has_looked, self._earlier_end = True, over
        if self._is_over:
            return
        if over is not None and over != self._earlier_end:
            self._is_over, news.over = True, Over(**json.loads(over["facts"]))
            return
        seen = self.leases.read()
        for partition in [*self.leases.own]:
            if not _has(seen, partition, self.leases.own[partition].epoch):
                del self.leases.own[partition]
                news.lost.add(partition)
        sound = [lease for lease in seen.values() if not lease.fault]
        if self._is_at_rest(sound) or self._is_spent:
            news.over = self._conclude(sound)
            return
        self._hear(sound, news)
        self._take(sound, report, news)
        self.documents.delete("worker", members.buried(sound))
        # An idle worker looks more often while others can hand over partitions, or all are idle.
        most = max(Counter(one.owner for one in sound if one.busy).values(), default=0)
        self.pause = IDLE_SECONDS if report.idle and most != 1 else 1.0

    def _take(self, sound: Sequence[Lease], report: Report, news: News) -> None:
        """Take what is missing of the fair share, and have surplus partitions handed over."""
        members, wanted = self._members, list[Lease]()
        busy = [one for one in sound if one.busy or one.alone]
        quiet = [one for one in sound if not (one.busy or one.alone)]
        for some in (busy, quiet):
            has = sum(one.owner == self.name and one.partition in self.leases.own for one in some)
            wanted += members.first(some, members.share(some) - has)
        if not report.is_giving:
            news.give = members.surplus(busy)
        # A lease that names this worker, but is not its own, was taken and the answer was lost.
        wanted += [o for o in sound if o.owner == self.name and o.partition not in self.leases.own]
        taken = self.leases.take(wanted) if wanted else []
        news.taken = self._logs.read(taken)

    def _hear(self, sound: Iterable[Lease], news: News) -> None:
        """Read where seeds have led other workers."""
        told = (one.plain_facts for one in sound if '"moved"' in one.facts)
        found = {(host, target) for one in told for host, target in one["moved"]}
        news.moved = sorted(found - self._moved)
        self._moved |= found

    # -- the end --------------------------------------------------------------------------------

    @property
    def _is_spent(self) -> bool:
        return 0 < self.rules.max_pages <= sum(one.pages for one in self.leases.seen.values())

    def _is_at_rest(self, sound: Sequence[Lease]) -> bool:
        """Return whether nothing is left to do: see the protocol."""
        still = {one.partition: one.version for one in sound}
        before, self._still = self._still, None
        if any(one.busy or (one.alone and self._members.is_free(one)) for one in sound):
            return False
        if still == before:
            return True
        if not any(partition_in(name) in still for name in self.documents.names("message")):
            self._still = still
        return False

    def _conclude(self, sound: Sequence[Lease]) -> Over:
        """End the crawl, and write the reason where all workers read it."""
        facts = [one.plain_facts for one in sound]
        silent = [line for one in facts for line in one.get("silent") or ()]
        if self._is_spent:
            over = Over("max_pages")
        elif not any(one.pages for one in sound):
            over = Over("nothing_fetched")
        elif any(one.alone for one in sound):
            over = Over("hosts_unreachable")
        elif silent and self._is_fresh and not any(one.get("has_found") for one in facts):
            over = Over("nothing_found", tuple(silent))
        else:
            over = Over("finished")
        self._is_over = True
        self.documents.stop_job(over.reason, finished=over.reason == "finished")
        told = json.dumps({"reason": over.reason, "silent": over.silent})
        beat = secrets.randbits(40)  # another one than that of an end before
        self.documents.put("worker", OVER, {"beat": beat, "facts": told})
        return over


def _has(leases: Mapping[int, Lease], partition: int, epoch: int) -> bool:
    return partition in leases and leases[partition].epoch == epoch


class Sender:
    """The threads in which a worker exchanges what is new: its crawl never waits for the store.

    Args:
        exchange: of the worker.
        updated: called from a thread after each turn, and while there is nothing to do.
        failed: called from a thread when the shared store fails.
    """

    def __init__(
        self,
        exchange: Exchange,
        *,
        updated: Callable[[], object],
        failed: Callable[[StoreError], object],
    ) -> None:
        self._exchange, self._updated, self._failed = exchange, updated, failed
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="mmcrawl-turns", daemon=True)
        self._thread.start()
        Thread(target=self._beat, name="mmcrawl-beats", daemon=True).start()

    def end(self, timeout: float | None = None) -> None:
        """Let the current turn finish, and begin none."""
        self._stopping.set()
        self._exchange.handed.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        exchange = self._exchange
        try:
            while not self._stopping.is_set():
                exchange.handed.wait(exchange.pause)
                exchange.handed.clear()
                if not self._stopping.is_set():
                    exchange.turn()
                    self._updated()
        except StoreError as error:
            self._fail(error)
        except Exception as error:
            logger.exception("The exchange with the shared store failed")
            self._fail(StoreError(f"the worker lost its store: {type(error).__name__}: {error}"))

    def _fail(self, error: StoreError) -> None:
        self._exchange.ended = True
        self._failed(error)

    def _beat(self) -> None:
        with suppress(StoreError):  # which ends the turns as well
            while not self._exchange.ended:
                self._exchange.beat(time.monotonic())
                time.sleep(self._exchange.beat_seconds)
