"""What the coordinator does while it leads: step by step, each step an entry of the log."""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any, Self

from mmcrawl.crawling.job import CrawlJob
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.frontier.store import Job, SqliteStore
from mmcrawl.sharing.allocator import Allocator, KnownWorker
from mmcrawl.sharing.crawl import SharedCrawl
from mmcrawl.sharing.messages import Entry, Grant, Mail, Message, Pointless, read_all
from mmcrawl.sharing.rules import ListeningClock, Rules
from mmcrawl.sharing.snapshots import Snapshots
from mmcrawl.sharing.store import SharedStore
from mmcrawl.sharing.working_copy import open_working_copy, replay_log

logger = logging.getLogger(__name__)

MakeJob = Callable[[SqliteStore, Job], CrawlJob]

SIGN_SECONDS = 1.0
_SHORTEST_STEP, _LONGEST_STEP, _STARVING_STEP = 0.02, 0.25, 0.05
_PAGES_A_STEP = 16
_RATE_SECONDS = 5.0
_MAIL_AGAIN_SECONDS = 3.0
_STATUS_SHARE = 20  # the numbers for people take at most one part in so many of the time
_CLAIM_SECONDS = 1.0


class Leader:
    """The time in which a coordinator leads. A context manager.

    Args:
        shared: where the crawl is shared.
        make_job: makes the crawl over a working copy of the store.
        folder: an empty folder for the working copy.
        worker: name of the worker whose process this is.
        rules: how the crawl is shared.
        closing: set when the process is to end.

    Attributes:
        outcome: why the crawl is over, "" if it goes on without this coordinator.
    """

    def __init__(
        self,
        shared: SharedStore,
        make_job: MakeJob,
        folder: Path,
        *,
        worker: str,
        rules: Rules,
        closing: Signal,
    ) -> None:
        self.outcome = ""
        self._shared = shared
        self._make_job = make_job
        self._folder = folder
        self._worker = worker
        self._rules = rules
        self._closing = closing
        self._workers: dict[str, KnownWorker] = {}
        self._strangers: dict[str, object] = {}
        self._snapshots = Snapshots(shared, folder)
        self._store: SqliteStore | None = None
        self._crawl: SharedCrawl
        self._allocator: Allocator
        self._term = 0
        self._signs = 0
        self._signed_at = self._status_due = 0.0
        self._clock = ListeningClock(rules.lease / 2)
        self._patterns: list[PatternRecord] | None = None
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])
        self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._snapshots.wait()
        if self._store is not None:
            self._store.close()

    # -- beginning and end ----------------------------------------------------------------------

    def begin(self) -> bool:
        """Read the crawl from the shared store and take the lead; tell whether that succeeded.

        Raises:
            StoreError: the shared store fails, or its log was written under other settings.
        """
        with _Claim(self._shared, self._worker):
            crawl = self._read()
        if crawl is None:
            return False
        self._crawl = crawl
        first = Entry(crawl.term + 1, self._worker, crawl.known)
        if not self._shared.append(crawl.number, first.encode()):
            return False
        crawl.advance(first)
        self._term = first.term
        self._allocator = Allocator(crawl, self._rules)
        now = self._clock.look()
        self._workers = {worker: KnownWorker(now) for worker in crawl.leases.workers()}
        self._publish()
        pages, waiting = crawl.job.pages, crawl.job.ready
        logger.info("Coordinating the crawl: %d pages so far, %d links wait", pages, waiting)
        return True

    def end(self, reason: str) -> None:
        """Take in what has come, and hand over; without other workers, note why the crawl stops."""
        if not self.step():
            return
        alone = not set(self._workers) - {self._worker}
        if alone:
            self._close_job(reason, finished=False)
        self._hand_over(reason if alone else "")

    def _hand_over(self, stop: str) -> None:
        """Leave a note that nobody leads, and why the crawl stopped if it did."""
        self._tell_status(last=True)
        note = {"term": self._term, "worker": self._worker, "sign": -1, "gone": True}
        self._shared.lead(note | ({"stop": stop} if stop else {}))

    def _read(self) -> SharedCrawl | None:
        """Return the crawl as the shared store has it; None if the process is to end meanwhile."""
        self._store, state = open_working_copy(self._shared, self._folder)
        own = self._store.job(self._shared.job.name, self._shared.job.arguments)
        crawl = SharedCrawl(self._make_job(self._store, own), state)
        crawl.job.findings.changed = set()
        for size in replay_log(self._shared, crawl):
            if self._closing.is_set():
                return None
            self._snapshots.log_grew(size)
        return crawl

    def _keep_snapshot(self) -> None:
        if self._store is not None:
            crawl = self._crawl
            self._snapshots.make(self._store, crawl.number, crawl.state(), self._sign_on)

    def _close_job(self, reason: str, *, finished: bool) -> None:
        self._keep_snapshot()
        self._snapshots.wait(self._sign_on)
        self._shared.stop_job(reason, finished=finished)

    # -- one step -------------------------------------------------------------------------------

    def step(self) -> bool:
        """Take in what has come, give out what workers have room for, and write both down.

        Returns:
            False if there is nothing more to do: the crawl is over, or another coordinator leads.
        """
        began, heard = time.monotonic(), self._clock.look()
        if began - self._signed_at >= SIGN_SECONDS and not self._show_life(began, heard):
            return False
        arrived = self._shared.receive()
        messages, unreadable = read_all(arrived)
        known = self._crawl.known
        self._hear([message for message, _ in messages], heard)
        gone = self._give_up(unreadable, heard)
        self._take_in([message for message, _ in messages])
        starts = self._allocator.give(self._workers, news=bool(messages or gone))
        stop = "" if messages else self._allocator.is_over
        if messages or gone or starts or stop:
            entry = Entry(
                self._term,
                self._worker,
                known,
                tuple(gone),
                tuple(data for _, data in messages),
                tuple(starts),
                stop,
            )
            if not self._write(entry):
                logger.info("Another worker coordinates the crawl now")
                return False
        for name, why in unreadable.items():
            self._shared.set_aside("inbox", name, why)
        self._shared.remove([name for name, _ in arrived])
        if stop:
            self._finish(stop)
            return False
        self._mail(starts)
        self._pause(began)
        return True

    def _hear(self, messages: Iterable[Message], now: float) -> None:
        """Note what messages tell of their workers; `now` is by the listening clock."""
        for message in messages:
            known = self._workers.setdefault(message.worker, KnownWorker(now))
            known.seen = now
            if known.sign is not None:  # else it may have sent this long ago, and died
                known.capacity = message.capacity
            known.received = max(known.received, message.received)

    def _give_up(self, unreadable: Iterable[str], now: float) -> list[str]:
        """Let links wait again whose workers were silent for too long, or are not understood.

        What a message that cannot be read said of links is lost, and they would be held as long as
        its worker lives. It keeps its hosts, and gets the links again.

        Args:
            unreadable: names of messages.
            now: by the listening clock.

        Returns:
            The workers.
        """
        silent = [name for name, w in self._workers.items() if now - w.seen > self._rules.lease]
        for name in silent:
            logger.warning("Worker %s gives no sign of life; others get its links", name)
            self._forget(name)
        senders = {name.rpartition("/")[0] for name in unreadable}
        gone = silent + [name for name in self._crawl.leases.workers() if name in senders]
        for name in gone:
            self._crawl.give_up(name)
        return gone

    def _take_in(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._crawl.take(message)
            self._taken += len(message.events)
            if message.leaving:
                self._forget(message.worker)

    def _forget(self, worker: str) -> None:
        self._workers.pop(worker, None)
        self._allocator.forget(worker)
        self._shared.forget(worker)

    def _write(self, entry: Entry) -> bool:
        data = entry.encode()
        if not self._shared.append(self._crawl.number, data):
            return False
        self._crawl.advance(entry)
        self._publish()
        self._snapshots.log_grew(len(data))
        if self._snapshots.is_due:
            self._keep_snapshot()
        return True

    def _finish(self, reason: str) -> None:
        self.outcome = reason
        scorer = self._crawl.job.scorer
        for remark in scorer.remarks():
            logger.warning("%s: %s", scorer.name, remark)
        self._close_job(reason, finished=reason == "finished")
        self._hand_over(reason)

    def _publish(self) -> None:
        findings = self._crawl.job.findings
        changed, dropped = findings.take_changes()
        if changed or dropped:
            self._shared.publish(changed, dropped, self._crawl.number)

    def _mail(self, starts: list[Grant | Pointless]) -> None:
        """Write to workers that have new leases, or did not take those in their mail."""
        now = time.monotonic()
        given = {start.worker for start in starts if isinstance(start, Grant)}
        mails = {}
        for name, known in self._workers.items():
            forgotten = (
                known.mailed > known.received and now - known.mailed_at > _MAIL_AGAIN_SECONDS
            )
            if name not in given and not forgotten and known.mailed_at:
                continue
            leases = [k for k in self._crawl.leases.of(name) if k.number > known.received]
            moved = tuple(self._crawl.job.moved_seeds.hosts)
            mails[name] = Mail(self._term, tuple(leases), moved).encode()
            known.mailed_at = now
            known.mailed = max([known.mailed, *(lease.number for lease in leases)])
        if mails:
            self._shared.put_mail(mails)

    def _pause(self, began: float) -> None:
        """Wait as long as is good for few, large steps without letting workers run dry."""
        now = time.monotonic()
        self._recent.append((now, self._taken))
        while now - self._recent[0][0] > _RATE_SECONDS:
            self._recent.popleft()
        since, before = self._recent[0]
        rate = (self._taken - before) / max(now - since, SIGN_SECONDS)
        step = min(max(_PAGES_A_STEP / max(rate, 1.0), _SHORTEST_STEP), _LONGEST_STEP)
        if not self._crawl.job.ready:
            step = min(step, _STARVING_STEP)
        self._closing.wait(max(0.0, began + step - now))

    # -- what others see ------------------------------------------------------------------------

    def _show_life(self, now: float, heard: float) -> bool:
        """Give a sign of life and look for those of the workers; False if another one leads."""
        leader = self._shared.leader()
        if leader is not None and leader["term"] > self._term:
            return False
        self._sign(now)
        for name, facts in self._shared.beats().items():
            self._see(name, facts, heard)
        if now >= self._status_due:
            self._tell_status()
            cost = time.monotonic() - now
            self._status_due = now + cost * _STATUS_SHARE
        return True

    def _sign(self, now: float) -> None:
        self._signs += 1
        self._signed_at = now
        self._shared.lead({"term": self._term, "worker": self._worker, "sign": self._signs})

    def _sign_on(self) -> None:
        """Give a sign of life in the midst of something long, if it is time for one."""
        now = time.monotonic()
        if now - self._signed_at >= SIGN_SECONDS:
            self._sign(now)

    def _see(self, name: str, facts: Mapping[str, Any], now: float) -> None:
        """Note a worker's sign of life.

        The first one that is read may be old, and its worker dead: it counts once it changes.
        """
        sign = facts["sign"]
        known = self._workers.get(name)
        if known is None:
            if self._strangers.setdefault(name, sign) == sign:
                return
            known = self._workers[name] = KnownWorker(now, self._strangers.pop(name))
        if known.sign is None:
            known.sign = sign
        elif known.sign != sign:
            known.seen, known.sign, known.capacity = now, sign, facts["capacity"]

    def _tell_status(self, *, last: bool = False) -> None:
        """Tell people how the crawl goes; the last time also what went wrong, which costs more."""
        crawl = self._crawl
        patterns = crawl.job.scorer.patterns()
        if patterns != self._patterns:
            self._shared.publish_patterns(patterns)
            self._patterns = patterns
        hosts: Counter[str] = Counter(self._allocator.hosts.counts())
        workers = {
            name: {
                "hosts": hosts[name],
                "leased": crawl.leases.count(name),
                "pages": crawl.pages[name],
            }
            for name in self._workers
        }
        totals = crawl.job.totals()
        self._shared.set_status(
            {
                "coordinator": self._worker,
                "term": self._term,
                "totals": totals.as_plain(),
                "workers": workers,
                "errors": dict(crawl.job.error_reasons()) if last else {},
            }
        )


class _Claim:
    """Lets others see that the crawl is being read by one who will lead. A context manager."""

    def __init__(self, shared: SharedStore, worker: str) -> None:
        self._shared = shared
        self._worker = worker
        self._done = Signal()
        self._thread = Thread(target=self._show, name="mmcrawl-claim", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _show(self) -> None:
        with suppress(StoreError):  # who reads the crawl meets it as well
            term, sign = (self._shared.leader() or {"term": 0})["term"], 0
            while not self._done.wait(_CLAIM_SECONDS):
                sign += 1
                self._shared.lead({"term": term, "worker": self._worker, "sign": sign})
