"""The partitions that a worker owns, each a whole crawl of its own, all in one store in memory.

The best link of all partitions comes next. Their best links are compared in the order of the
scores that these had, on whatever host, when each partition last changed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from math import inf

from mmcrawl.cluster.changes import Changes
from mmcrawl.cluster.exchange import PartitionReport, Report
from mmcrawl.cluster.leases import Stored
from mmcrawl.cluster.partition import (
    PageElsewhere,
    PartitionJob,
    encode_message,
    numbered,
    own_number,
    partition_of,
)
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import partition_in
from mmcrawl.crawl.protocol import Reporter
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import open_store
from mmcrawl.scoring.base import NoLinks

SIBLINGS = 64
"""Among so many partitions memory is divided: of more only some have very many links."""
_FEW_PAGES = 32  # of the budget, at which more are asked for
_UNUSED_SECONDS = 20.0  # after which pages of the budget are given back


class OwnPartitions:
    """The crawls of a worker's partitions.

    Args:
        name: of the job.
        crawl: what the crawl is made of.
        reporter: makes the reports of its pages.
        rules: how the crawl is shared.
        clock: seconds, monotonic.

    Attributes:
        jobs: the crawls, by the numbers of the partitions.
        sites: the hosts that the crawl keeps to.
        seeds: by the partitions that they are in.
        contents: what pages without links and media consist of, by their links.
        giving: partitions that are to be another worker's; nothing is fetched from them.
    """

    def __init__(
        self,
        name: str,
        crawl: CrawlSetup,
        reporter: Reporter,
        rules: Rules,
        clock: Callable[[], float],
    ) -> None:
        self._name, self._crawl, self._reporter = name, crawl, reporter
        self._rules, self._clock = rules, clock
        self._link_model = crawl.scorer(NoLinks(), reporter.similarity).link_model
        if self._link_model is not None:  # what the partitions learn into
            self._link_model.in_memory //= SIBLINGS
        self._learnt: dict[int, int] = {}  # how many ended links of each it has learnt from
        self._store = open_store("memory:")  # the truth is on the shared store
        self._changes = Changes(self._store)
        self.jobs: dict[int, PartitionJob] = {}
        self.sites = Sites(crawl.limits, crawl.seeds)
        self.seeds: dict[int, list[str]] = {}
        for seed in crawl.seeds:
            self.seeds.setdefault(rules.partition_of(reporter.real(seed)), []).append(seed)
        self.contents: Mapping[int, str] = {}
        self.giving: set[int] = set()
        self._outbox: dict[int, dict[PageElsewhere | None, list[NewLink]]] = {}
        self._best: dict[int, float] = {}  # the score of each one's best link, when it changed last
        self._changed: set[int] = set()  # partitions, since their best link was looked for
        self._dirty: set[int] = set()  # partitions, since the last report
        self._since = inf

    def close(self) -> None:
        """Remove all of it."""
        self._store.close()

    # -- what there is --------------------------------------------------------------------------

    @property
    def ready(self) -> int:
        """How many links wait and may be fetched."""
        return sum(
            job.ready for partition, job in self.jobs.items() if partition not in self.giving
        )

    @property
    def under_way(self) -> int:
        """How many links are being fetched."""
        return sum(len(job.under_way) for job in self.jobs.values())

    @property
    def can_give(self) -> bool:
        """Whether nothing is in progress in a partition that is to be another worker's."""
        return any(not self.jobs[partition].under_way for partition in self.giving)

    @property
    def is_reported(self) -> bool:
        """Whether all that has happened was reported, and nothing is in progress."""
        return not (self._dirty or self._outbox or self.giving or self.under_way)

    # -- partitions that come and go ------------------------------------------------------------

    def take(self, stored: Stored) -> Iterator[None]:
        """Make a partition from what the shared store has of it, little by little.

        Raises:
            ValueError, LookupError, OverflowError, sqlite3.Error, StoreError: that is damaged.
        """
        partition, epoch = stored.lease.partition, stored.lease.epoch
        learnt = self._learnt.get(partition, 0)  # as it had it before
        for rows in stored.decoded():
            self._changes.put(partition, [rows])
            yield
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
            learnt_links=learnt,
        )
        for settled in job.begin():
            self._learnt[partition] = max(settled, learnt)
            yield
        job.reported = job.written = job.frontier.settled
        job.epoch = epoch
        if epoch > 1:  # its former owner may just have asked its hosts
            job.rests_until = self._clock() + self._rules.rest
            job.granted = -1  # perhaps more than it will ever use: what that was is not known
        self.jobs[partition] = job
        self.note(partition)

    def forget(self, partition: int) -> None:
        """Release a partition, with everything unreported."""
        if (job := self.jobs.pop(partition, None)) is not None:
            self._learnt[partition] = job.written
        self._best.pop(partition, None)
        for some in (self._changed, self._dirty, self.giving):
            some.discard(partition)
        self._changes.remove(partition)

    def choose(self, count: int) -> None:
        """Choose some partitions with something to do for others; the largest stays.

        Those with much to do and little history come first: a new owner replays all of it.
        """
        busy = {partition: job for partition, job in self.jobs.items() if job.ready}
        busy.pop(max(busy, key=lambda partition: busy[partition].ready, default=-1), None)

        def gain(partition: int) -> float:
            return busy[partition].ready / (1 + busy[partition].frontier.settled)

        self.giving = set(sorted(busy, key=gain, reverse=True)[:count])
        self._changed |= self.giving

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
        job.under_way.add(link.id)
        return replace(link, id=numbered(partition, link.id)), False

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
            job = self.jobs[partition]
            if job.rests_until > now:
                continue
            job.wanted_at = now
            may_fetch = not self._rules.max_pages or job.granted > job.used
            if is_any_ready and not may_fetch:
                continue  # that not all hosts are left alone is known
            score = job.frontier.best(ready)
            is_any_ready |= score is not None
            if may_fetch and score is not None and score > best:
                best, found = score, partition
        return found

    def running(self, link: int) -> PartitionJob | None:
        """Return the crawl in which a link is being fetched.

        None if its partition is another worker's by now, which fetches the link again.
        """
        job = self.jobs.get(partition_of(link))
        return job if job is not None and own_number(link) in job.under_way else None

    def end(self, link: int) -> None:
        """Record that a link is not being fetched any more."""
        self.jobs[partition_of(link)].under_way.discard(own_number(link))
        self.note(partition_of(link))

    def note(self, partition: int) -> None:
        """Record that something has changed in a partition."""
        self._changed.add(partition)
        self._dirty.add(partition)
        self._since = min(self._since, self._clock())

    def send(self, link: NewLink, page: PageElsewhere | None = None) -> None:
        """Lay out a link for the partition it belongs to, with the page that it was found on."""
        pages = self._outbox.setdefault(self._rules.partition_of(link.url), {})
        pages.setdefault(page, []).append(link)

    def receive(self, name: str, message: bytes) -> None:
        """Process a message; it is removed once what it brought is written.

        Raises:
            Exception: it cannot be processed.
        """
        partition = partition_in(name)
        if partition in self.jobs:
            self.note(partition)
            self.jobs[partition].receive(message)
            self.jobs[partition].taken_in.append(name)

    # -- reports --------------------------------------------------------------------------------

    def report(self, copy: Container[int], *, left_alone: bool, is_last: bool) -> Report:
        """Return what has happened since this was called last.

        Args:
            copy: partitions of which a snapshot is due.
            left_alone: whether all that waits is of hosts that need not be asked soon.
            is_last: whether the worker leaves.
        """
        report = Report(since=min(self._since, self._clock()), under_way=self.under_way)
        for partition in sorted(self._dirty & self.jobs.keys()):
            job = self.jobs[partition]
            job.commit()
            for link, page in job.take_outgoing():
                self.send(link, page)
            changed, dropped = job.findings.take_changes()
            report.media += changed
            report.near += job.near
            report.dropped += dropped
            job.near = []
        report.messages = [
            (partition, encode_message((page, tuple(pages[page])) for page in pages))
            for partition, pages in self._outbox.items()
        ]
        rows = self._changes.take()
        for partition, job in self.jobs.items():
            standing = job.standing(left_alone=left_alone)
            is_new = is_last or partition in self._dirty or standing != job.stated
            job.stated = standing
            job.written, job.reported = job.reported, job.frontier.settled
            report.partitions[partition] = changes = PartitionReport(
                job.epoch,
                rows=rows[partition].encode() if partition in rows else b"",
                state=job.state(self.contents, is_last=is_last) if is_new else {},
                taken_in=job.taken_in,
                given=partition in self.giving and not job.under_way,
            )
            job.taken_in = []
            if partition in copy and not changes.given:
                changes.snapshot = [*self._changes.all_of(partition)]
        if self._rules.max_pages:
            self._ask_for_budget(report)
        report.is_giving = bool(self.giving)
        for partition, changes in report.partitions.items():
            if changes.given:
                self.forget(partition)
        self._outbox, self._since = {}, inf
        self._dirty.clear()
        return report

    def _ask_for_budget(self, report: Report) -> None:
        """Report what partitions have used that need more, and what others do not use."""
        now = self._clock()
        for partition in sorted(self.jobs, key=lambda one: -self._best.get(one, -inf)):
            job = self.jobs[partition]
            busy, _ = job.stated
            left, is_wanted = job.granted - job.used, now - job.wanted_at < _UNUSED_SECONDS
            is_spare = left > 0 or job.granted < 0
            if is_spare and not job.under_way and not (busy and is_wanted):
                report.spare[partition] = job.granted = job.pages
            elif busy and job.ready and left < _FEW_PAGES and is_wanted:
                report.wants[partition] = job.used
