"""Workers that meet with trouble between any two operations, and what must hold all the same.

Trouble comes at the k-th operation of a worker from now on: its process ends, it is held up while
the others go on, or the answer to a write is lost and the write is repeated later. Its crawl can be
held up as well, while its own exchange goes on, as these are two threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mmcrawl.cluster import (
    Changes,
    Lease,
    Logs,
    Rules,
    SharedStore,
    decode_message,
    leases_of,
)
from mmcrawl.frontier import JOB_SHIFT, SqliteStore, open_store

from .memory import Crash, Gang, MadeWeb, Worker, memory_store, rows

STEP = 0.5  # seconds


class TroubledWorker(Worker):
    """A worker that trouble comes to."""

    gang: TroubledGang

    def __init__(self, gang: TroubledGang, name: str, store: SharedStore) -> None:
        super().__init__(gang, name, store)
        self._troubles: dict[str, list[int]] = {}
        self._busy = self._corresponds = False
        self._turned_at = gang.now
        self.documents.before = self._before
        self.documents.again = self._is_again
        exchange = self.job.exchange
        take_news, hand = exchange.take_news, exchange.hand

        def held_up_taking() -> Any:
            if news := take_news():
                self._hold_up("crawl")
            return news

        def held_up_handing(report: Any) -> None:
            self._hold_up("crawl")
            hand(report)

        exchange.take_news, exchange.hand = held_up_taking, held_up_handing

    def _stop(self, reason: str) -> None:
        super()._stop(reason)
        self.gang.check_end()

    def trouble(self, kind: str, at: int, seconds: int = 0) -> None:
        """Let trouble come.

        Args:
            kind: "crash", "hold" or "again" at an operation, "crawl" of its crawl.
            at: how many operations go well before.
            seconds: for which the others go on meanwhile.
        """
        self._troubles[kind] = [at, seconds]

    def _is_due(self, kind: str) -> int:
        """Return for how many seconds trouble of a kind comes now, -1 if it does not."""
        due = self._troubles.get(kind)
        if due is None:
            return -1
        if due[0]:
            due[0] -= 1
            return -1
        del self._troubles[kind]
        return due[1]

    def _before(self, operation: str, table: str) -> None:
        self.gang.check()  # it could die here
        if self._is_due("crash") >= 0:
            raise Crash
        self._hold_up("hold")

    def _is_again(self, operation: str, table: str) -> bool:
        return self._hold_up("again")

    def _hold_up(self, kind: str) -> bool:
        seconds = self._is_due(kind)
        if seconds >= 0:
            self.gang.note_held_up(seconds)
            busy, self._busy = self._busy, True
            for _ in range(int(seconds / STEP)):
                self.gang.pass_time(STEP)
                if kind == "crawl" and not self._corresponds:
                    self.correspond()
            self._busy = busy
        return seconds >= 0

    def act(self, action: str) -> None:
        if not self._busy:
            super().act(action)

    def correspond(self) -> None:
        self.gang.note_held_up(self.gang.now - self._turned_at)
        self._turned_at = self.gang.now
        self._corresponds = True
        try:
            super().correspond()
        finally:
            self._corresponds = False

    def die(self) -> None:
        written, _ = self.gang.crawled_and_known()
        self.gang.unwritten.update(self.fetched - written.keys())
        super().die()


class TroubledGang(Gang):
    """A gang, with a record of what its workers fetched.

    Attributes:
        harmed: whether a worker that lives may have lost partitions.
        unwritten: pages that no log had when the workers died who had fetched them.
        damaged: partitions of which something stored was destroyed.
    """

    workers: dict[str, TroubledWorker]

    def __init__(self, web: MadeWeb, rules: Rules, **kwargs: Any) -> None:
        super().__init__(web, rules, kind=TroubledWorker, **kwargs)
        self.harmed = False
        self.unwritten: Counter[str] = Counter()
        self.damaged: set[int] = set()
        self._checked: tuple[Any, ...] = ()
        self._leases: dict[int, Lease] = {}  # as they were checked last

    def note_held_up(self, seconds: float) -> None:
        self.harmed |= seconds > 0.5 * self.rules.lease

    @property
    def leases(self) -> dict[int, Lease]:
        return leases_of(memory_store(self.tables).all("lease"))

    # -- what is stored ---------------------------------------------------------------------------

    def destroy(self, index: int, *, wholly: bool) -> bool:
        """Destroy a record of a log that counts; tell whether there was one."""
        log, leases = self.tables.get("log", {}), self.leases
        counting = {}
        for key in sorted(log):  # of one number the last epoch counts
            partition, number = map(int, key.split("/")[1:3])
            if leases[partition].first <= number < leases[partition].next:
                counting[partition, number] = key
        if not counting:
            return False
        (partition, _), key = [*counting.items()][index % len(counting)]
        if wholly:
            del log[key]
        else:
            log[key]["bytes"] = log[key]["bytes"][:-3]
        self.damaged.add(partition)
        return True

    def crawled_and_known(self) -> tuple[Counter[str], set[str]]:
        """Return the pages that the logs have, how often, and the links in logs and messages."""
        pages: Counter[str] = Counter()
        known: set[str] = set()
        with self._restored() as store:
            found = store.db.execute(
                f"SELECT l.id >> {JOB_SHIFT}, h.origin || l.path, l.status FROM link l JOIN host h"
                f" ON h.job = l.id >> {JOB_SHIFT} AND h.id = l.host"
            )
            for partition, url, status in found:
                if partition == self.rules.partition_of(
                    url
                ):  # others are pages that links came from
                    known.add(url)
                    pages[url] += status == "C"
        for row in rows(self.tables, "message"):
            for _, links in decode_message(row["bytes"]):
                known.update(link.url for link in links)
        return +pages, known

    @contextmanager
    def _restored(self) -> Iterator[SqliteStore]:
        """Give all partitions as they stand in the logs, in one store."""
        found = Logs(memory_store(self.tables)).read([*self.leases.values()])
        with open_store("memory:") as store:
            changes = Changes(store)
            for stored in found:
                partition = stored.lease.partition
                if partition not in self.damaged:
                    assert not stored.fault, f"partition {partition}: {stored.fault}"
                    store.begin(partition, str(partition), {})
                    changes.put(partition, stored.decoded())
            yield store

    # -- what must hold ---------------------------------------------------------------------------

    def check(self) -> None:
        """See that no link is lost, each partition has one owner, and pages that count are few."""
        leases = self.leases
        self._check_leases(leases)
        versions = tuple((partition, lease.version) for partition, lease in leases.items())
        stored = (*versions, len(self.tables.get("log", ())), *self.tables.get("message", ()))
        if stored == self._checked:
            return
        self._checked = stored
        pages, known = self.crawled_and_known()
        assert not pages or max(pages.values()) == 1
        for page in pages:
            for url in self.web.links(page):
                assert url in known or self.rules.partition_of(url) in self.damaged, (
                    f"{url} is lost"
                )
        if self.rules.max_pages:
            assert pages.total() <= self.rules.max_pages

    def _check_leases(self, leases: dict[int, Lease]) -> None:
        """See that nobody changed a lease that another one had changed or taken."""
        for partition, lease in leases.items():
            before = self._leases.get(partition, lease)
            assert lease.version > before.version or lease == before, f"{before}, then {lease}"
            assert lease.epoch > before.epoch or lease.owner in {before.owner, ""}
            assert lease.next >= before.next
            own = (worker.job.exchange.leases.own for worker in self.workers.values())
            assert sum(one.get(partition, Lease(0)).epoch == lease.epoch > 0 for one in own) <= 1
        self._leases = leases

    def finish(self) -> None:
        """Have the crawl finished without further trouble, and see what came of it."""
        for worker in self.workers.values():
            worker.asleep = False
            worker._troubles.clear()
        self.join()
        self.run(1_000)
        self.check()
        if self.damaged:
            self._check_set_aside()
        pages, _ = self.crawled_and_known()
        if not (self.harmed or self.damaged):
            again = {url: times - 1 for url, times in self.web.fetched.items() if times > 1}
            assert Counter(again) <= self.unwritten
        if not self.damaged:
            self._check_totals(pages.total())

    def check_end(self) -> None:
        """See that a crawl which is said to be over is so."""
        if self.damaged:
            return
        pages, _ = self.crawled_and_known()
        if self.rules.max_pages:
            assert pages.total() == min(self.rules.max_pages, len(self.web.urls)), "too early"
        else:
            assert pages.keys() == self.web.urls, "too early"
            assert self.media == self.web.media

    def _check_set_aside(self) -> None:
        pages, known = self.crawled_and_known()
        whole = {url for url in known if self.rules.partition_of(url) not in self.damaged}
        if not self.rules.max_pages:
            assert pages.keys() >= whole & self.web.urls

    def _check_totals(self, pages: int) -> None:
        leases = self.leases.values()
        assert sum(lease.pages for lease in leases) == pages
        told = [lease.plain_facts.get("totals", {}) for lease in leases]
        assert sum(totals.get("pages", 0) for totals in told) == pages
        assert self.rules.max_pages or not any(lease.busy for lease in leases)
