"""The parts of the web that a worker has, each a whole crawl of its own, all in one scratch file.

A link has the number of its part before its own. Whose link is the best comes next: the heads of
all parts are compared, those first whose best link, on whatever host, was the best when the part
last changed.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path

from mmcrawl.cluster.changes import Changes
from mmcrawl.cluster.log import StoredPart
from mmcrawl.cluster.mail import Outgoing
from mmcrawl.cluster.messages import Report
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import SharedStore
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.parts import CrawlParts
from mmcrawl.crawl.portion import PageElsewhere, Portion
from mmcrawl.crawl.reports import Reporter, Totals
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.records import WaitingLink
from mmcrawl.frontier.store import open_store
from mmcrawl.scoring.knowledge import Knowledge

FOLDER = "mmcrawl-"
"""What names of temporary folders begin with; the process that made it follows."""
SIBLINGS = 64
"""Among so many parts memory is divided: of more only some have very many links."""
_SHIFT = 32


class OwnParts:
    """The crawls of a worker's parts.

    Args:
        shared: tells how media pages are published, and the name of the job.
        crawl: what the crawl is made of.
        reporter: makes the reports of its pages.
        knowledge: that the parts learn into, if the algorithm has any.
        rules: how the crawl is shared.
        clock: seconds, monotonic.

    Attributes:
        held: the parts, with the terms of their logs.
        jobs: the crawls of those in which there is something.
        sites: the hosts that the crawl keeps to.
        under_way: links that are being fetched.
        giving: parts that another worker is to get, by its name; nothing is fetched from them.
        moved: hosts of seeds and the hosts they redirect to.
    """

    def __init__(
        self,
        shared: SharedStore,
        crawl: CrawlParts,
        reporter: Reporter,
        knowledge: Knowledge | None,
        *,
        rules: Rules,
        clock: Callable[[], float],
    ) -> None:
        self._shared, self._crawl, self._reporter = shared, crawl, reporter
        self._knowledge, self._rules, self._clock = knowledge, rules, clock
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")
        self._file = Path(self._folder.name, "crawl.db")
        self._store = open_store(f"sqlite:///{self._file}")
        self._store.db.execute("PRAGMA synchronous = OFF")  # the truth is on the shared store
        self._changes = Changes(self._store)
        self.sites = Sites(crawl.limits, crawl.seeds)
        self._seeds: dict[int, list[str]] = {}
        for seed in crawl.seeds:
            self._seeds.setdefault(rules.part_of(reporter.real(seed)), []).append(seed)
        self.held: dict[int, int] = {}
        self.jobs: dict[int, CrawlJob] = {}
        self.under_way: set[int] = set()
        self.giving: dict[str, set[int]] = {}
        self.moved: set[tuple[str, str]] = set()
        self.letters = Outgoing()
        self._under_way_in: Counter[int] = Counter()
        self._rests_until: dict[int, float] = {}
        self._best: dict[int, float] = {}
        self._changed: set[int] = set()  # parts, since their best link was looked for
        self._dirty: set[int] = set()  # parts, since the last report
        self._since = inf
        self._taken_in: dict[str, int] = {}
        self._settled: dict[int, int] = {}  # of a part that is being taken over
        self._totals: dict[int, Totals] = {}

    def close(self) -> None:
        """Remove all of it."""
        self._store.close()
        self._folder.cleanup()

    # -- what there is --------------------------------------------------------------------------

    @property
    def ready(self) -> int:
        """How many links wait and may be fetched."""
        given = set().union(*self.giving.values())
        return sum(job.ready for part, job in self.jobs.items() if part not in given)

    @property
    def active(self) -> int:
        """In how many parts there is something to do."""
        return sum(job.ready > 0 or self._under_way_in[part] > 0 for part, job in self.jobs.items())

    @property
    def may_have_links(self) -> bool:
        """Whether a link waits that may be fetched, as far as was looked."""
        return bool(self._best or self._changed)

    @property
    def can_give(self) -> bool:
        """Whether nothing is under way in a part that was chosen for another worker."""
        return any(not self._under_way_in[p] for parts in self.giving.values() for p in parts)

    @property
    def is_reported(self) -> bool:
        """Whether all that has happened was reported, and nothing is under way."""
        return not (self.under_way or self._dirty or self.letters or self.giving)

    @property
    def totals(self) -> Totals:
        """Where the parts stand together, as of the last report."""
        return added([*self._totals.values()])

    @property
    def settled(self) -> dict[int, int]:
        """How many links of each part had ended, of those that the algorithm was told of."""
        return self._settled | {part: job.frontier.settled for part, job in self.jobs.items()}

    def errors(self) -> dict[str, int]:
        """Return how many links ended in error, by the most frequent reasons."""
        reasons: Counter[str] = Counter()
        for job in self.jobs.values():
            reasons.update(job.error_reasons())
        return dict(reasons.most_common(50))

    # -- parts that come and go -----------------------------------------------------------------

    def take(self, part: int, stored: StoredPart, taught: int) -> Iterator[None]:
        """Make a part of the crawl from what the shared store has of it, little by little.

        Raises:
            ValueError, LookupError, OverflowError, sqlite3.Error, StoreError: that is damaged.
        """
        if stored.rows or part in self._seeds:
            for rows in stored.decoded():
                self._changes.put(part, [rows])
                yield
            job = self._made(part, taught)
            for told in job.begin():
                self._settled = {part: max(told, taught)}
                yield
            self._settled = {}
            self.jobs[part] = job
            self.note(part)
        self.held[part] = stored.term + 1
        if stored.rows:
            self._rests_until[part] = self._clock() + self._rules.rest

    def job_of(self, part: int) -> CrawlJob:
        """Return the crawl of a part, a new one if there was none."""
        if part not in self.jobs:
            job = self._made(part)
            deque(job.begin(), maxlen=0)
            self.jobs[part] = job
        return self.jobs[part]

    def _made(self, part: int, taught: int = 0) -> CrawlJob:
        """Return the crawl of a part, which is still to be begun."""
        portion = Portion(
            sites=self.sites,
            elsewhere=lambda url: self._rules.part_of(url) != part,
            siblings=SIBLINGS,
            knowledge=self._knowledge,
            taught=taught,
        )
        job = self._crawl.job(
            self._store,
            self._store.begin(part, f"{self._shared.job.name}/{part}", {}),
            reporter=self._reporter,
            seeds=self._seeds.get(part, ()),
            portion=portion,
        )
        job.findings.changed = set()
        return job

    def forget(self, part: int) -> None:
        """Let a part go, with all that was not reported of it."""
        self.held.pop(part, None)
        self.jobs.pop(part, None)
        self._settled.pop(part, None)
        self.under_way = {link for link in self.under_way if part_of(link) != part}
        for known in (self._under_way_in, self._best, self._totals, self._rests_until):
            known.pop(part, None)
        self._changed.discard(part)
        self._dirty.discard(part)
        self._taken_in = {name: of for name, of in self._taken_in.items() if of != part}
        self._changes.remove(part)

    def choose(self, to: str, active: int, others: int) -> None:
        """Choose parts for another worker: with something to do, the largest stays, and others."""
        busy = {part: job.ready for part, job in self.jobs.items() if job.ready}
        given = sorted(busy, key=lambda part: -busy[part])[1 : 1 + active]
        given += islice(sorted(self.held.keys() - busy.keys()), others)
        if given and not self.giving:
            self.giving[to] = set(given)
            self._changed.update(given)

    def give(self) -> list[tuple[str, dict[int, int]]]:
        """Let parts go that were chosen and of which nothing is under way; return them by receiver,
        with their terms. All that happened in them was reported.
        """
        given = []
        for to, parts in list(self.giving.items()):
            free = {part for part in parts if not self._under_way_in[part]}
            own = {part: self.held[part] for part in free & self.held.keys()}
            for part in own:
                self.forget(part)
            if own:
                given.append((to, own))
            if left := parts - free:
                self.giving[to] = left
            else:
                del self.giving[to]
        return given

    # -- links ----------------------------------------------------------------------------------

    def next(self, ready: Callable[[str], bool]) -> tuple[WaitingLink | None, bool]:
        """Take the best link of a host that is `ready`; tell whether it was given up early."""
        part = self._best_part(ready)
        if part is None:
            return None, False
        job = self.jobs[part]
        link = job.next(ready)
        self.note(part)
        if link is None:
            return None, job.interrupted
        link = replace(link, id=part << _SHIFT | link.id)
        self.under_way.add(link.id)
        self._under_way_in[part] += 1
        return link, False

    def _best_part(self, ready: Callable[[str], bool]) -> int | None:
        given = set().union(*self.giving.values())
        for part in self._changed:
            score = None
            if part in self.jobs and part not in given:
                score = self.jobs[part].frontier.best(lambda origin: True)
            if score is None:
                self._best.pop(part, None)
            else:
                self._best[part] = score
        self._changed.clear()
        now, best, found = self._clock(), -inf, None
        for part, bound in sorted(self._best.items(), key=lambda pair: -pair[1]):
            if bound <= best:
                break
            if self._rests_until.get(part, now) > now:
                continue
            score = self.jobs[part].frontier.best(ready)
            if score is not None and score > best:
                best, found = score, part
        return found

    def end(self, link: int) -> CrawlJob | None:
        """Note that a link is not being fetched any more; return the crawl of its part.

        None if the part is another worker's by now, who fetches the link again.
        """
        if link not in self.under_way:
            return None
        self.under_way.discard(link)
        self._under_way_in[part_of(link)] -= 1
        return self.jobs.get(part_of(link))

    def note(self, part: int) -> None:
        """Note that something has changed in a part; lay out what it found for others."""
        self._changed.add(part)
        self._dirty.add(part)
        self._since = min(self._since, self._clock())
        job = self.jobs.get(part)
        if job is None or not job.frontier.outgoing:
            return
        pages: dict[int | None, PageElsewhere | None] = {None: None}
        for link, parent in job.frontier.outgoing:
            if parent is not None and parent not in pages:
                pages[parent] = job.page_above(parent)
            self.letters.add(self._rules.part_of(link.url), pages[parent], link)
        job.frontier.outgoing.clear()

    def took_in(self, name: str, part: int) -> None:
        """Note that letters were taken in; they are removed once that is written."""
        self._taken_in[name] = part
        self.note(part)

    # -- reports --------------------------------------------------------------------------------

    def report(self) -> Report | None:
        """Return what has happened since this was called last; None for nothing."""
        if not (self._dirty or self.letters):
            return None
        media, gone = [], []
        for part in sorted(self._dirty & self.jobs.keys()):
            job = self.jobs[part]
            job.commit()
            changed, dropped = job.findings.take_changes()
            media += [self._shared.media_row(page) for page in changed]
            gone += [self._shared.media_key(url) for url in dropped]
            self._totals[part] = job.totals()
            self.moved.update(job.moved_seeds.hosts)
        rows = self._changes.take()
        entries = {part: some.encode() for part, some in rows.items() if part in self.held}
        letters, since = self.letters.take(), min(self._since, self._clock())
        report = Report(entries, letters, media, gone, self._taken_in, since, dict(self.held))
        self._taken_in, self._since = {}, inf
        self._dirty.clear()
        return report if entries or letters or media or gone or report.taken_in else None

    def copied(self, part: int) -> tuple[int, int, sqlite3.Connection, Iterator[bytes]]:
        """Return a part, its term, and what it consists of after the last report, for a snapshot.

        The connection is what that is read from, by whoever closes it.
        """
        db = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM job").fetchone()  # what is written from now on is not seen
        return part, self.held[part], db, self._changes.all_of(db, part)


def part_of(link: int) -> int:
    """Return the part that a link belongs to."""
    return link >> _SHIFT


def own_number(link: int) -> int:
    """Return the number that a link has in its part."""
    return link & ((1 << _SHIFT) - 1)


def added(totals: Sequence[Totals]) -> Totals:
    """Return the totals of several parts as one; the harvest rate is that of the first."""
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
