"""The partitions that a worker owns, each a whole crawl of its own, all in one scratch file.

A link has the number of its partition before its own. Whose link is the best comes next: the heads
of all partitions are compared, those first whose best link, on whatever host, was the best when the
partition last changed.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from mmcrawl.cluster.changes import Changes
from mmcrawl.cluster.exchange import Report
from mmcrawl.cluster.leases import Stored
from mmcrawl.cluster.messages import encode_message
from mmcrawl.cluster.partition import PageElsewhere, PartitionJob
from mmcrawl.cluster.places import Rules
from mmcrawl.crawl.history import why_silent
from mmcrawl.crawl.reports import Reporter, Totals
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.findings import MediaPageRecord, NearMiss
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import open_store
from mmcrawl.scoring.link_model import LinkModel

FOLDER = "mmcrawl-"
"""What names of temporary folders begin with; the process that made it follows."""
SIBLINGS = 64
"""Among so many partitions memory is divided: of more only some have very many links."""
_SCRATCH = "partitions.db"  # no crawl of a user is called so
_SURELY_LOCKED = 60.0  # seconds after which a worker has the lock of the folder that it made
_SHIFT = 32
_MOST_REASONS = 50  # for which links ended in error
_FEW_PAGES = 16  # of the budget, at which more are asked for


class OwnPartitions:
    """The crawls of a worker's partitions.

    Args:
        name: of the job.
        crawl: what the crawl is made of.
        reporter: makes the reports of its pages.
        link_model: that the partitions learn into, if the algorithm has any.
        rules: how the crawl is shared.
        clock: seconds, monotonic.

    Attributes:
        giving: partitions that are to be another worker's; nothing is fetched from them.
        granted: pages of each that may be fetched in all, if the crawl has a budget.
        outbox: links for other partitions, those of one page together.
    """

    def __init__(
        self,
        name: str,
        crawl: CrawlSetup,
        reporter: Reporter,
        link_model: LinkModel | None,
        *,
        rules: Rules,
        clock: Callable[[], float],
    ) -> None:
        self._name, self._crawl, self._reporter = name, crawl, reporter
        self._link_model, self._rules, self._clock = link_model, rules, clock
        _remove_orphans()
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")
        self._file = Path(self._folder.name, _SCRATCH)
        self._store = open_store(f"sqlite:///{self._file}")
        self._store.db.execute("PRAGMA synchronous = OFF")  # the truth is on the shared store
        self._changes = Changes(self._store)
        self.sites = Sites(crawl.limits, crawl.seeds)  # the hosts that the crawl keeps to
        self.seeds: dict[int, list[str]] = {}  # by the partitions that they are in
        for seed in crawl.seeds:
            self.seeds.setdefault(rules.partition_of(reporter.real(seed)), []).append(seed)
        self.contents: Mapping[int, str] = {}  # what pages without links and media consist of
        self.held: dict[int, int] = {}  # the partitions, with their epochs
        self.jobs: dict[int, PartitionJob] = {}  # the crawls of those in which there is something
        self.under_way: set[int] = set()  # links that are being fetched
        self.giving: set[int] = set()
        self.granted: dict[int, int] = {}
        self.outbox: dict[int, dict[PageElsewhere | None, list[NewLink]]] = {}
        self._under_way_in: Counter[int] = Counter()
        self._rests_until: dict[int, float] = {}
        self._best: dict[int, float] = {}
        self._changed: set[int] = set()  # partitions, since their best link was looked for
        self._dirty: set[int] = set()  # partitions, since the last report
        self._since = inf
        self._taken_in: dict[str, int] = {}
        self._settled: dict[int, int] = {}  # of a partition that is being taken over
        self._told: dict[int, tuple[int, int]] = {}  # busy and alone, as of the last report
        self.totals: dict[int, Totals] = {}  # where each stands, as of the last report

    def close(self) -> None:
        """Remove all of it."""
        self._store.close()
        self._folder.cleanup()

    # -- what there is --------------------------------------------------------------------------

    @property
    def ready(self) -> int:
        """How many links wait and may be fetched."""
        return sum(
            job.ready for partition, job in self.jobs.items() if partition not in self.giving
        )

    @property
    def can_give(self) -> bool:
        """Whether nothing is in progress in a partition that is to be another worker's."""
        return any(not self._under_way_in[partition] for partition in self.giving)

    @property
    def is_reported(self) -> bool:
        """Whether all that has happened was reported, and nothing is in progress."""
        return not (self.under_way or self._dirty or self.outbox or self.giving)

    @property
    def settled(self) -> dict[int, int]:
        """The number of ended links of each partition that the algorithm has received."""
        return self._settled | {
            partition: job.frontier.settled for partition, job in self.jobs.items()
        }

    # -- partitions that come and go ------------------------------------------------------------

    def take(self, stored: Stored, learnt_links: int) -> Iterator[None]:
        """Make a partition from what the shared store has of it, little by little.

        Raises:
            ValueError, LookupError, OverflowError, sqlite3.Error, StoreError: that is damaged.
        """
        partition = stored.lease.partition
        if stored.lease.next or partition in self.seeds:
            for rows in stored.decoded():
                self._changes.put(partition, [rows])
                yield
            job = self._made(partition, learnt_links)
            for told in job.begin():
                self._settled = {partition: max(told, learnt_links)}
                yield
            self._settled = {}
            self.jobs[partition] = job
            self.note(partition)
        self._told[partition] = (stored.lease.busy, stored.lease.alone)
        self.held[partition] = stored.lease.epoch
        if stored.lease.epoch > 1:  # another worker may just have asked its hosts
            self._rests_until[partition] = self._clock() + self._rules.rest

    def job_of(self, partition: int) -> PartitionJob:
        """Return the crawl of a partition, a new one if there was none."""
        if partition not in self.jobs:
            job = self._made(partition)
            deque(job.begin(), maxlen=0)
            self.jobs[partition] = job
        return self.jobs[partition]

    def _made(self, partition: int, learnt_links: int = 0) -> PartitionJob:
        """Return the crawl of a partition, which is still to be begun."""
        job = PartitionJob(
            self._store,
            self._store.begin(partition, f"{self._name}/{partition}", {}),
            self._crawl,
            reporter=self._reporter,
            seeds=self.seeds.get(partition, ()),
            sites=self.sites,
            elsewhere=lambda url: self._rules.partition_of(url) != partition,
            siblings=SIBLINGS,
            link_model=self._link_model,
            learnt_links=learnt_links,
        )
        job.findings.changed = set()
        return job

    def forget(self, partition: int) -> None:
        """Release a partition, with everything unreported."""
        self.held.pop(partition, None)
        self.jobs.pop(partition, None)
        self._settled.pop(partition, None)
        self.under_way = {link for link in self.under_way if partition_of(link) != partition}
        for known in (
            *(self._under_way_in, self._best, self.totals, self._rests_until),
            *(self.granted, self._told),
        ):
            known.pop(partition, None)
        for some in (self._changed, self._dirty, self.giving):
            some.discard(partition)
        self._taken_in = {name: of for name, of in self._taken_in.items() if of != partition}
        self._changes.remove(partition)

    def choose(self, count: int) -> None:
        """Choose some partitions with something to do for others; the largest stays.

        First those with much to do and little history: who takes one over goes through all of it.
        """
        busy = {partition: job for partition, job in self.jobs.items() if job.ready}
        busy.pop(max(busy, key=lambda partition: busy[partition].ready, default=-1), None)

        def gain(partition: int) -> float:
            return busy[partition].ready / (1 + busy[partition].frontier.settled)

        self.giving = set(sorted(busy, key=gain, reverse=True)[:count])
        self._changed |= self.giving

    def left(self, partition: int) -> int:
        """Return how many of the pages granted to a partition are left."""
        job = self.jobs[partition]
        return self.granted.get(partition, 0) - job.pages - self._under_way_in[partition]

    # -- links ----------------------------------------------------------------------------------

    def next(self, ready: Callable[[str], bool]) -> tuple[WaitingLink | None, bool]:
        """Take the best link of a host that is `ready`; return whether it was given up early."""
        partition = self._best_partition(ready)
        if partition is None:
            return None, False
        job = self.jobs[partition]
        link = job.next(ready)
        self.note(partition)
        if link is None:
            return None, job.interrupted
        link = replace(link, id=partition << _SHIFT | link.id)
        self.under_way.add(link.id)
        self._under_way_in[partition] += 1
        return link, False

    def _best_partition(self, ready: Callable[[str], bool]) -> int | None:
        for partition in self._changed:
            score = None
            if partition in self.jobs and partition not in self.giving:
                score = self.jobs[partition].frontier.best(lambda origin: True)
            if score is None:
                self._best.pop(partition, None)
            else:
                self._best[partition] = score
        self._changed.clear()
        now, best, found = self._clock(), -inf, None
        is_any_ready = False
        for partition, bound in sorted(self._best.items(), key=lambda pair: -pair[1]):
            if bound <= best:
                break
            if self._rests_until.get(partition, now) > now:
                continue
            may_fetch = not self._rules.max_pages or self.left(partition) > 0
            if is_any_ready and not may_fetch:
                continue  # its hosts need not tell too that not all are left alone
            score = self.jobs[partition].frontier.best(ready)
            is_any_ready |= score is not None
            if may_fetch and score is not None and score > best:
                best, found = score, partition
        return found

    def end(self, link: int) -> PartitionJob | None:
        """Record that a link is not being fetched any more; return the crawl of its partition.

        None if the partition is another worker's by now, who fetches the link again.
        """
        if link not in self.under_way:
            return None
        self.under_way.discard(link)
        self._under_way_in[partition_of(link)] -= 1
        return self.jobs.get(partition_of(link))

    def note(self, partition: int) -> None:
        """Record that something has changed in a partition; lay out what it found for others."""
        self._changed.add(partition)
        self._dirty.add(partition)
        self._since = min(self._since, self._clock())
        job = self.jobs.get(partition)
        if job is None or not job.frontier.outgoing:
            return
        pages: dict[int | None, PageElsewhere | None] = {None: None}
        for link, parent in job.frontier.outgoing:
            if parent is not None and parent not in pages:
                pages[parent] = job.page_above(parent)
            self.send(link, pages[parent])
        job.frontier.outgoing.clear()

    def send(self, link: NewLink, page: PageElsewhere | None = None) -> None:
        """Lay out a link for the partition it belongs to, with the page that it was found on."""
        pages = self.outbox.setdefault(self._rules.partition_of(link.url), {})
        pages.setdefault(page, []).append(link)

    def took_in(self, name: str, partition: int) -> None:
        """Record that a message was processed; it is removed once that is written."""
        self._taken_in[name] = partition
        self.note(partition)

    # -- reports --------------------------------------------------------------------------------

    def report(self, copy: Iterable[int], *, left_alone: bool) -> Report:
        """Return what has happened since this was called last.

        Args:
            copy: partitions of which a snapshot is due.
            left_alone: whether all that waits is of hosts that need not be asked soon.
        """
        media, near, dropped = list[MediaPageRecord](), list[NearMiss](), list[str]()
        for partition in sorted(self._dirty & self.jobs.keys()):
            job = self.jobs[partition]
            job.commit()
            changed, gone = job.findings.take_changes()
            media += changed
            near += job.near
            dropped += gone
            job.near.clear()
        rows = self._changes.take()
        states = dict(self._states(left_alone=left_alone))
        given = frozenset(
            partition for partition in self.giving if not self._under_way_in[partition]
        )
        report = Report(
            partitions=dict(self.held),
            rows={
                partition: some.encode()
                for partition, some in rows.items()
                if partition in self.held
            },
            states=states,
            messages=[
                (partition, encode_message((page, tuple(pages[page])) for page in pages))
                for partition, pages in self.outbox.items()
            ],
            media=media,
            near=near,
            dropped=dropped,
            taken_in=self._taken_in,
            given=given,
            giving=len(self.giving - given),
            copies={
                partition: self._copied(partition)
                for partition in copy
                if partition in self.jobs.keys() - given
            },
            since=min(self._since, self._clock()),
            under_way=len(self.under_way),
        )
        if self._rules.max_pages:
            report.wants, report.spare = self._budget()
        self._taken_in, self.outbox, self._since = {}, {}, inf
        self._dirty.clear()
        for partition in given:
            self.forget(partition)
        return report

    def _states(self, *, left_alone: bool) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield partitions that stand elsewhere than when they were reported last."""
        for partition in self.held:
            job = self.jobs.get(partition)
            busy = (job.ready if job else 0) + self._under_way_in[partition]
            told = (0, busy) if left_alone else (busy, 0)
            if partition not in self._dirty and self._told.get(partition) == told:
                continue
            self._told[partition] = told
            state = {"busy": told[0], "alone": told[1], "pages": 0, "facts": "{}"}
            if job is not None:
                self.totals[partition] = job.totals()
                facts = self._facts(partition, job, is_idle=not told[0])
                state |= {"pages": job.pages, "facts": json.dumps(facts)}
            yield partition, state

    def _facts(self, partition: int, job: PartitionJob, *, is_idle: bool) -> dict[str, Any]:
        """Return the figures of a partition for observers."""
        facts: dict[str, Any] = {"totals": self.totals[partition].as_plain()}
        if job.moved_seeds.hosts:
            facts["moved"] = job.moved_seeds.hosts
        if is_idle:
            facts["errors"] = dict(job.error_reasons().most_common(_MOST_REASONS))
            own = {
                own_number(k): text
                for k, text in self.contents.items()
                if partition_of(k) == partition
            }
            facts["silent"] = silent = why_silent(job.frontier, own)
            facts["has_found"] = silent is None
        return facts

    def _budget(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return of partitions that need more of the budget what they have used, and of others
        what they need of it.
        """
        wants, spare = {}, {}
        for partition, (busy, _) in self._told.items():
            job = self.jobs.get(partition)
            if job is not None and busy and job.ready and self.left(partition) < _FEW_PAGES:
                wants[partition] = job.pages + self._under_way_in[partition]
            elif job is not None and not busy and self.granted.get(partition, 0) > job.pages:
                spare[partition] = job.pages
        return wants, spare

    def _copied(self, partition: int) -> tuple[sqlite3.Connection, Iterator[bytes]]:
        """Return the contents of a partition after the report that is being made.

        The connection is what that is read from, by whoever closes it.
        """
        db = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM job").fetchone()  # what is written from now on is not seen
        return db, self._changes.all_of(db, partition)


def _remove_orphans() -> None:
    """Remove the folders of this user's workers that were killed: nobody holds their locks."""
    for lock in Path(tempfile.gettempdir()).glob(f"{FOLDER}[0-9]*-*/{_SCRATCH}.lock"):
        with suppress(OSError, Timeout):
            is_ours = lock.parent.lstat().st_uid == os.geteuid() and not lock.parent.is_symlink()
            if is_ours and time.time() - lock.stat().st_mtime > _SURELY_LOCKED:
                with FileLock(lock, timeout=0):
                    shutil.rmtree(lock.parent)


def partition_of(link: int) -> int:
    """Return the partition that a link belongs to."""
    return link >> _SHIFT


def own_number(link: int) -> int:
    """Return the number that a link has in its partition."""
    return link & ((1 << _SHIFT) - 1)


def added(totals: Sequence[Totals]) -> Totals:
    """Return the totals of several partitions as one; the harvest rate is that of the first."""
    media: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for one in totals:
        media.update(one.media)
        refused.update(one.refused)
    names = ("pages", "media_pages", "waiting", "held", "patterns", "errors")
    return Totals(
        **{name: sum(getattr(one, name) for one in totals) for name in names},
        media=dict(media),
        refused=dict(refused),
        harvest_rate=totals[0].harvest_rate if totals else 0.0,
    )
