"""A worker of a shared crawl: what Scrapy's scheduler asks and tells, as with `CrawlJob`.

Each part of the web that is this worker's is a whole crawl of its own, all of them in one scratch
file: whose link is the best comes next, and nobody else is asked. What changes in them is reported
to the shared store about once a second (:mod:`~mmcrawl.sharing.exchange`), and counts from then on.
"""

import logging
import os
import secrets
import socket
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

from mmcrawl.crawling.job import CrawlJob, Portion
from mmcrawl.crawling.parts import CrawlParts
from mmcrawl.crawling.reports import FetchedPage, RecentHarvest, Totals
from mmcrawl.errors import StoreError, raise_if_fatal
from mmcrawl.frontier.addresses import PrivateHosts
from mmcrawl.frontier.admission import Sites
from mmcrawl.frontier.findings import MediaPageRecord, PatternRecord
from mmcrawl.frontier.records import NewLink, WaitingLink
from mmcrawl.frontier.store import Job, open_store
from mmcrawl.page.model import Page
from mmcrawl.scoring.knowledge import Contribution
from mmcrawl.scoring.relevance import Verdict
from mmcrawl.sharing.changes import Changes
from mmcrawl.sharing.exchange import Exchange
from mmcrawl.sharing.learnt import Learnt
from mmcrawl.sharing.mail import Outgoing
from mmcrawl.sharing.members import Sign
from mmcrawl.sharing.messages import (
    Arrived,
    Broken,
    Copied,
    Handed,
    Heard,
    Lost,
    Moved,
    News,
    Over,
    Report,
    SnapshotDue,
    Taken,
    Wanted,
)
from mmcrawl.sharing.places import Rules
from mmcrawl.sharing.sender import Sender
from mmcrawl.sharing.store import SharedStore
from mmcrawl.topic.topic import Topic

logger = logging.getLogger(__name__)

FOLDER = "mmcrawl-"
"""What names of temporary folders begin with; the process that made it follows."""
_SIBLINGS = 64  # parts among which memory is divided: of more only some have very many links
_SHIFT = 32  # a link of a part has the number of the part before its own
_LAST_WAIT = 5.0  # seconds for the thread to end when its shared store is closed
_MOST_UNWRITTEN = 30.0  # seconds that reports may wait before no more links are given out
_FEW_PAGES = 16  # of the budget, at which the next slice is asked for
_FEWEST_LEARNT, _GROWTH = 50, 1.25  # pages, and times the pages, after which it is told anew


def worker_name() -> str:
    """Return a name that no other worker has: its machine, its process, and some chance."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(6)}"


class SharedJob:
    """A crawl that several processes work on; this one has the parts that are its own.

    Args:
        shared: where the crawl is shared.
        crawl: what it is made of.
        rules: how it is shared.
        name: of this worker.
        clock: seconds, monotonic.

    Attributes:
        shared: True.
        interrupted: whether the last `next` gave up early, see `CrawlJob`.
        exchange: its side of the shared store.
    """

    shared = True

    def __init__(
        self,
        shared: SharedStore,
        crawl: CrawlParts,
        rules: Rules,
        *,
        name: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.algorithm = crawl.algo
        self.interrupted = False
        self._shared, self._crawl, self._rules, self._clock = shared, crawl, rules, clock
        self.exchange = Exchange(shared, name, rules, shared.set_aside, shared.finish, now=clock())
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")
        self._file = Path(self._folder.name, "crawl.db")
        self._store = open_store(f"sqlite:///{self._file}")
        self._store.db.execute("PRAGMA synchronous = OFF")  # the truth is on the shared store
        self._changes = Changes(self._store)
        self._reporter = crawl.reporter()
        self._sites = Sites(crawl.limits, crawl.seeds)
        self._seeds: dict[int, list[str]] = {}
        for seed in crawl.seeds:
            self._seeds.setdefault(rules.part_of(self._reporter.real(seed)), []).append(seed)
        self._knowledge = crawl.scorer(_NoLinks(), self._reporter.similarity).knowledge
        if self._knowledge is not None:
            self._knowledge.begin_sharing(_SIBLINGS)
        self._held: dict[int, int] = {}  # parts, with their terms
        self._giving: dict[str, set[int]] = {}
        self._jobs: dict[int, CrawlJob] = {}
        self._rests_until: dict[int, float] = {}
        self._best: dict[int, float] = {}
        self._changed: set[int] = set()  # parts, since their best link was looked for
        self._dirty: set[int] = set()  # parts, since the last report
        self._since = inf
        self._running: set[int] = set()
        self._under_way: Counter[int] = Counter()
        self._letters = Outgoing()
        self._taken_in: dict[str, int] = {}
        self._due_snapshots: set[int] = set()
        self._totals: dict[int, Totals] = {}
        self._recent = RecentHarvest()
        self._crawled = self._activity = 0
        self._round = self._before_round = 0
        self._own = Learnt()
        self._words: Counter[str] = Counter()
        self._told_at = 0
        self._heard: dict[str, Learnt] = {}
        self._moved: set[tuple[str, str]] = set()
        self._sender: Sender | None = None
        self._stopped: Callable[[str], object] = lambda reason: None
        self._over = False
        self._broken = False

    # -- what there is --------------------------------------------------------------------------

    @property
    def job(self) -> Job:
        """The job, as the shared store had it when it was read last."""
        return self._shared.job

    @property
    def topic(self) -> Topic:
        """What the crawl looks for."""
        return self._reporter.test.topic

    @property
    def kinds(self) -> frozenset[str]:
        """The media kinds it looks for."""
        return self._reporter.test.kinds

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked."""
        return self._sites.private_hosts

    @property
    def pages(self) -> int:
        """How many pages all workers have crawled, as of a second ago."""
        return self.exchange.standing.pages + sum(sign.pages for sign in self.exchange.others)

    @property
    def ready(self) -> int:
        """How many links of this worker's parts wait and may be fetched."""
        given = set().union(*self._giving.values())
        return sum(job.ready for part, job in self._jobs.items() if part not in given)

    @property
    def more_may_come(self) -> bool:
        """Whether links may come from other workers: so it seems until the crawl is over."""
        return True  # else Scrapy would stop by itself just before, and call that finished

    @property
    def kept(self) -> bool:
        """Whether the job can be taken up again by another process."""
        return True

    @property
    def round_trips(self) -> int:
        """How many commands this process has sent to the shared store so far."""
        return self._shared.round_trips

    def totals(self) -> Totals:
        """Return where the crawl stands, all workers together, as of a second ago."""
        others = [Totals(**sign.totals) for sign in self.exchange.others if sign.totals]
        own = Totals(**self.exchange.standing.totals)
        return added([own, *others])

    def best(self, most: int) -> list[MediaPageRecord]:
        """Return the media pages with the best topic scores."""
        return list(islice(self.media_pages(), most))

    def media_pages(self) -> Iterator[MediaPageRecord]:
        """Yield the media pages that all workers found, best topic score first.

        None when the shared store has failed.
        """
        return iter(()) if self._broken else self._shared.media_pages()

    def patterns(self) -> list[PatternRecord]:
        """Return the learnt patterns; none when the shared store has failed."""
        return [] if self._broken else self._shared.patterns()

    def error_reasons(self) -> Counter[str]:
        """Return how many links ended in error, by reason, as far as others have told theirs."""
        reasons = Counter(self._errors())
        for sign in self.exchange.others:
            reasons.update(sign.errors)
        return reasons

    # -- what a fetcher calls -------------------------------------------------------------------

    def watch(
        self,
        *,
        news: Callable[[], object],
        stopped: Callable[[str], object],
        failed: Callable[[StoreError], object],
    ) -> None:
        """Join the crawl. `news` and `failed` are called from another thread."""

        def broken(error: StoreError) -> None:
            self._broken = True
            failed(error)

        self._stopped = stopped
        self._sender = Sender(self.exchange, news=news, failed=broken)

    def next(self, ready: Callable[[str], bool] = lambda origin: True) -> WaitingLink | None:
        """Take the best link of this worker's parts whose host is `ready`."""
        self.interrupted = False
        self.hear()
        if not self._may_fetch():
            return None
        part = self._best_part(ready)
        if part is None:
            return None
        job = self._jobs[part]
        link = job.next(ready)
        self._note(part)
        if link is None:
            self.interrupted = job.interrupted
            return None
        number = part << _SHIFT | link.id
        self._running.add(number)
        self._under_way[part] += 1
        return replace(link, id=number)

    def judge(self, page: Page, digest: int = 0) -> Verdict:
        """Return whether a page is relevant, and why."""
        job = self._jobs.get(self._rules.part_of(page.url))
        if job is None:
            return self._reporter.test.judge(page, page.media)
        return job.judge(page, digest)

    def crawled(self, link: int, fetched: FetchedPage, requests: Sequence[NewLink] = ()) -> bool:
        """Take in a fetched page; for the arguments see `CrawlJob.crawled`."""
        job = self._end(link)
        if job is None:
            return False
        report = self._reporter.report(fetched, time.time())
        relevant = job.take_in(_own_number(link), report, requests, fetched.verdict)
        self._words.update(set(report.words))
        self._own = replace(self._own, pages=self._own.pages + 1)
        self._recent.add(link, relevant=relevant)
        self._crawled += 1
        self._note(link >> _SHIFT)
        return relevant

    def redirected(self, link: int, target: NewLink) -> bool:
        """Note that a link only leads on."""
        job = self._end(link)
        added_here = job is not None and job.redirected(_own_number(link), target)
        self._note(link >> _SHIFT)
        return added_here

    def retry(self, link: int, request: bytes | None, priority: int) -> None:
        """Let a link that is being fetched wait again."""
        if (job := self._end(link)) is not None:
            job.retry(_own_number(link), request, priority)
            self._note(link >> _SHIFT)

    def failed(self, link: int, reason: str, requests: Sequence[NewLink] = ()) -> None:
        """Note that a link cannot be had, and why."""
        if (job := self._end(link)) is not None:
            job.failed(_own_number(link), reason, requests)
            self._note(link >> _SHIFT)

    def add(self, links: Sequence[NewLink]) -> bool:
        """Add links that come from no page; tell whether any of them is new, or is others'."""
        new = False
        for link in links:
            part = self._rules.part_of(link.url)
            if part in self._held:
                new |= self._job_of(part).add([link])
                self._note(part)
            else:
                self._letters.add(part, None, link)
                self._since = min(self._since, self._clock())
                new = True
        return new

    def is_running(self, link: int) -> bool:
        """Tell whether a link is being fetched here."""
        return link in self._running

    def referrer(self, link: WaitingLink) -> str | None:
        """Return the address of the page a link was found on, None for a seed."""
        return self._jobs[link.id >> _SHIFT].referrer(link)

    def commit(self) -> None:
        """Hand over what has happened since this was called last."""
        self.hear()
        self._report()
        for part in sorted(self._due_snapshots & self._jobs.keys()):
            self.exchange.hand(self._copied(part))
        self._due_snapshots.clear()
        self._give()
        grown = self._own.pages >= max(self._told_at * _GROWTH, self._told_at + _FEWEST_LEARNT)
        if grown:
            self._tell_learnt()
        self.exchange.stand(self._standing(), self._used())

    def stop(self, reason: str, *, finished: bool) -> None:
        """Take leave: what happened is written, and the parts are others'.

        Whether the crawl is over is not this worker's to say.

        Raises:
            StoreError: the shared store cannot be reached.
        """
        if self._sender is None or self._broken:
            return
        self.commit()
        self._tell_learnt()
        self.exchange.stand(replace(self._standing(), errors=self._errors()), self._used())
        self._sender.leave()
        if self._broken:
            return
        alone = not self.exchange.has_company
        for job in self._jobs.values():
            for remark in job.scorer.remarks():
                logger.warning("%s: %s", job.algorithm, remark)
        if alone and not self._over:
            self._shared.stop_job(reason, finished=False)

    def roll_back(self) -> None:
        """Do nothing: what was handed over is handed over."""

    def close(self) -> None:
        """Let go of the shared store; what still waits for it ends."""
        self._shared.close()
        if self._sender is not None:
            self._sender.leave(_LAST_WAIT)
        self._store.close()
        self._folder.cleanup()

    # -- parts ----------------------------------------------------------------------------------

    def hear(self) -> None:
        """Do what follows from news of the shared store."""
        for news in self.exchange.take_news():
            self._activity += 1
            self._hear(news)

    def _hear(self, news: News) -> None:
        match news:
            case Taken():
                self._take(news)
            case Lost():
                self._forget(news.part)
            case Arrived():
                self._receive(news)
            case Wanted():
                self._choose(news)
            case SnapshotDue():
                self._due_snapshots.add(news.part)
            case Heard():
                self._learn(news)
            case Moved():
                for host, target in news.hosts:
                    self._sites.admit(target)
                    self._reporter.test.moved(host, target)
            case Over():
                self._over = True
                self._stopped(news.reason)

    def _take(self, news: Taken) -> None:
        """Make a part of the crawl from what the shared store has of it."""
        part = news.part
        self._held[part] = news.stored.term + 1
        if not news.stored.rows and part not in self._seeds:
            return
        try:
            self._changes.put(part, news.stored.decoded())
            self._job_of(part, news.taught)
        except (ValueError, LookupError, OverflowError, sqlite3.Error, StoreError) as error:
            raise_if_fatal(error)
            self._forget(part)
            self.exchange.hand(Broken(part, f"{type(error).__name__}: {error}"))
            return
        if news.stored.rows:
            self._rests_until[part] = self._clock() + self._rules.rest
        self._note(part)

    def _job_of(self, part: int, taught: int = 0) -> CrawlJob:
        """Return the crawl of a part, a new one if there was none."""
        job = self._jobs.get(part)
        if job is None:
            portion = Portion(
                sites=self._sites,
                elsewhere=lambda url: self._rules.part_of(url) != part,
                siblings=_SIBLINGS,
                knowledge=self._knowledge,
                taught=taught,
            )
            own = self._store.begin(part, f"{self.job.name}/{part}", {})
            job = self._jobs[part] = self._crawl.job(
                self._store,
                own,
                reporter=self._reporter,
                seeds=self._seeds.get(part, ()),
                portion=portion,
            )
            job.findings.changed = set()
        return job

    def _forget(self, part: int) -> None:
        """Let a part go, with all that was not reported of it."""
        self._held.pop(part, None)
        self._jobs.pop(part, None)
        self._running = {link for link in self._running if link >> _SHIFT != part}
        for known in (self._under_way, self._best, self._totals, self._rests_until):
            known.pop(part, None)
        for some in (self._changed, self._dirty, self._due_snapshots):
            some.discard(part)
        self._taken_in = {name: of for name, of in self._taken_in.items() if of != part}
        self._changes.remove(part)

    def _receive(self, news: Arrived) -> None:
        """Take in letters; of a part that is another's by now they are left to that one."""
        if news.part not in self._held:
            return
        job = self._job_of(news.part)
        for letter in news.letters:
            try:
                if letter.page is None:
                    job.add(letter.links)
                else:
                    job.receive(letter.page, letter.links)
            except Exception as error:
                raise_if_fatal(error)
                logger.exception("Links for part %d could not be taken in", news.part)
        self._taken_in[news.name] = news.part
        self._note(news.part)

    def _choose(self, news: Wanted) -> None:
        """Choose parts for another worker: none of them is fetched from any more."""
        if self._giving:
            return
        busy = {part: job.ready for part, job in self._jobs.items() if job.ready}
        by_size = sorted(busy, key=lambda part: -busy[part])
        given = by_size[1 : 1 + news.active]
        given += islice(sorted(self._held.keys() - busy.keys()), news.others)
        if given:
            self._giving[news.to] = set(given)
            self._changed.update(given)

    def _give(self) -> None:
        """Give parts away of which nothing is under way any more."""
        for to, parts in list(self._giving.items()):
            if not any(self._under_way[part] for part in parts):
                own = {part: self._held[part] for part in parts & self._held.keys()}
                del self._giving[to]
                for part in own:
                    self._forget(part)
                self.exchange.hand(Handed(own, to))

    # -- links ----------------------------------------------------------------------------------

    def _may_fetch(self) -> bool:
        now = self._clock()
        if self._over or self._broken or self.exchange.is_cut_off(now):
            return False
        if self.exchange.unwritten(now) > _MOST_UNWRITTEN:
            return False
        return not self._rules.max_pages or self._has_budget()

    def _has_budget(self) -> bool:
        """Tell whether another page may be fetched; ask for more in time."""
        budget = self.exchange.budget
        left = budget.granted - self._used()
        has_links = self._best or self._changed
        if left < _FEW_PAGES and has_links and not budget.spent and budget.round:
            with self.exchange.changed:
                self.exchange.wants_pages = True
                self.exchange.changed.notify()
        return left > 0

    def _used(self) -> int:
        """Return how many pages of this round's budget are used."""
        if self.exchange.budget.round != self._round:
            self._round, self._before_round = self.exchange.budget.round, self._crawled
        return self._crawled - self._before_round + len(self._running)

    def _best_part(self, ready: Callable[[str], bool]) -> int | None:
        """Return the part with the best link of a host that is `ready`."""
        given = set().union(*self._giving.values())
        for part in self._changed:
            score = None
            if part in self._jobs and part not in given:
                score = self._jobs[part].frontier.best(lambda origin: True)
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
            score = self._jobs[part].frontier.best(ready)
            if score is not None and score > best:
                best, found = score, part
        return found

    def _end(self, link: int) -> CrawlJob | None:
        """Note that a link is not being fetched any more; return the crawl of its part.

        None if the part is another worker's by now, who fetches the link again.
        """
        if link not in self._running:
            return None
        self._running.discard(link)
        part = link >> _SHIFT
        self._under_way[part] -= 1
        return self._jobs.get(part)

    def _note(self, part: int) -> None:
        """Note that something has changed in a part; lay out what it found for others."""
        self._changed.add(part)
        self._dirty.add(part)
        self._since = min(self._since, self._clock())
        job = self._jobs.get(part)
        if job is None or not job.frontier.outgoing:
            return
        for link, parent in job.frontier.outgoing:
            page = None if parent is None else job.page_above(parent)
            self._letters.add(self._rules.part_of(link.url), page, link)
        job.frontier.outgoing.clear()

    # -- reports --------------------------------------------------------------------------------

    def _report(self) -> None:
        if not (self._dirty or self._letters):
            return
        media = []
        for part in sorted(self._dirty & self._jobs.keys()):
            job = self._jobs[part]
            job.commit()
            changed, dropped = job.findings.take_changes()
            media += [self._shared.media_row(page) for page in changed]
            media += [self._shared.dropped_row(url) for url in dropped]
            self._totals[part] = job.totals()
            self._moved.update(job.moved_seeds.hosts)
        rows = self._changes.take()
        entries = {part: some.encode() for part, some in rows.items() if part in self._held}
        report = Report(
            entries, self._letters.take(), media, self._taken_in, self._since, dict(self._held)
        )
        self._taken_in, self._since = {}, inf
        self._dirty.clear()
        if entries or report.letters or media or report.taken_in:
            self._activity += 1
            self.exchange.hand(report)

    def _copied(self, part: int) -> Copied:
        """Return a part as it stands after the last report, for a snapshot."""
        db = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        db.execute("BEGIN")
        db.execute("SELECT 1 FROM job").fetchone()  # what is written from now on is not seen
        return Copied(part, self._held[part], self._changes.all_of, db)

    def _standing(self) -> Sign:
        own = added([*self._totals.values()])
        self._used()  # of a round that was begun meanwhile
        ready = self.ready
        waits = not ready or (self._rules.max_pages > 0 and self._is_spent())
        idle = waits and not (self._running or self._dirty or self._letters or self._giving)
        return Sign(
            active=sum(1 for part, job in self._jobs.items() if job.ready or self._under_way[part]),
            pages=own.pages,
            crawled=self._crawled,
            idle=idle,
            activity=self._activity + self._crawled,
            round=self._round,
            moved=sorted(self._moved),
            lag=round(self.exchange.unwritten(self._clock()), 1),
            under_way=len(self._running),
            totals=replace(own, harvest_rate=self._recent.rate).as_plain(),
            errors=self._errors() if idle else {},
        )

    def _is_spent(self) -> bool:
        budget = self.exchange.budget
        return budget.spent and not self._has_budget()

    def _errors(self) -> dict[str, int]:
        reasons: Counter[str] = Counter()
        for job in self._jobs.values():
            reasons.update(job.error_reasons())
        return dict(reasons.most_common(50))

    # -- what is learnt -------------------------------------------------------------------------

    def _learn(self, news: Heard) -> None:
        """Take over what others learnt, in place of what they told before."""
        similarity = self._reporter.similarity
        absorbed = {name for learnt in news.learnt.values() for name in learnt.absorbed}
        # What others have absorbed comes with what they tell.
        heard = {name: Learnt() for name in absorbed & self._heard.keys()} | dict(news.learnt)
        for name, learnt in heard.items():
            old = self._heard.get(name)
            if old is not None:
                similarity.add(-old.pages, {word: -count for word, count in old.words.items()})
            similarity.add(learnt.pages, learnt.words, learnt.largest)
            if news.as_own:
                self._words.update(learnt.words)
                absorbed = (*self._own.absorbed, name)
                pages = self._own.pages + learnt.pages
                self._own = replace(self._own, pages=pages, absorbed=absorbed)
            else:
                self._heard[name] = learnt
            if self._knowledge is not None:
                knowledge = learnt.knowledge or Contribution.none()
                if news.as_own:
                    self._knowledge.absorb(knowledge)
                else:
                    self._knowledge.hear({name: knowledge})
        self._told_at = max(self._told_at, self._own.pages)

    def _tell_learnt(self) -> None:
        """Tell others what this worker learnt, and of how much of each part."""
        knowledge = self._knowledge
        self._told_at = self._own.pages
        learnt = replace(
            self._own,
            words=dict(self._words),
            largest=self._reporter.similarity.largest,
            knowledge=None if knowledge is None else knowledge.contribution(),
            taught={part: job.frontier.settled for part, job in self._jobs.items()},
            patterns=tuple(p for job in self._jobs.values() for p in job.scorer.patterns()),
        )
        self.exchange.hand(learnt)


class _NoLinks:
    """A source of links of which nothing is asked."""

    def known(self, link: int) -> Any:
        """Return nothing."""

    def outlinks(self, page: int) -> Sequence[int]:
        """Return no links."""
        return ()


def _own_number(link: int) -> int:
    """Return the number that a link has in its part."""
    return link & ((1 << _SHIFT) - 1)


def added(totals: Sequence[Totals]) -> Totals:
    """Return the totals of several parts as one; the harvest rate is that of the first."""

    def of(name: str) -> int:
        return sum(getattr(one, name) for one in totals)

    def counted(name: str) -> Mapping[str, int]:
        counts: Counter[str] = Counter()
        for one in totals:
            counts.update(getattr(one, name))
        return dict(counts)

    numbers = ("pages", "media_pages", "waiting", "held", "patterns", "errors")
    return Totals(
        **{name: of(name) for name in numbers},
        media=counted("media"),
        refused=counted("refused"),
        harvest_rate=totals[0].harvest_rate if totals else 0.0,
    )
