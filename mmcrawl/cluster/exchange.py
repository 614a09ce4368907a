"""What a worker has to do with the shared store, step by step.

The crawl of the worker hands over what a step is to do, most of all *reports* that are to be
written, rows of its parts that changed and what belongs to them; and it takes *news* from here:
parts it has now, letters, what others learnt. A report is written in an order in which no crash
loses anything:

1. letters to other parts, then media pages: that one comes twice does no harm;
2. the logs: now the pages count;
3. letters that were taken in are removed.

A step may raise StoreError, after which nothing more is done here.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from threading import Condition, Lock

from mmcrawl.cluster.budget import Budget
from mmcrawl.cluster.holdings import Holdings
from mmcrawl.cluster.learnt import Learnt, LearntStore
from mmcrawl.cluster.log import PartLogs
from mmcrawl.cluster.mail import Mailboxes, decode_letters
from mmcrawl.cluster.members import Members, Sign
from mmcrawl.cluster.messages import (
    Arrived,
    Heard,
    Moved,
    News,
    Over,
    Report,
    Wanted,
)
from mmcrawl.cluster.places import Rules
from mmcrawl.cluster.store import Row, SharedStore

logger = logging.getLogger(__name__)

OVER = "over"
"""Names, among the signs, the document by which the workers that were there are told of the end."""
SIGN_SECONDS = 1.0
_MAIL_SECONDS = 1.0
_IDLE_SECONDS = 0.25
_BEATS = 16  # four a lease: for so long a sign is repeated while the next one is late
_TRUSTED = 0.8  # of a lease: for so long a worker that the server does not hear keeps its parts
_NEWS_AT_ONCE = 16


@dataclass(eq=False)
class Exchange:
    """A worker's side of the shared store.

    Args:
        documents: the shared store of the job.
        name: of the worker.
        rules: how the crawl is shared.
        clock: seconds, monotonic.

    Attributes:
        standing: what the crawl told of itself last.
        budget: pages that may be fetched.
        holdings: the worker's parts.
        wants_pages: the crawl has room for another slice of it.
        changed: guards what both sides use, and tells that there is something to do.
        leaving: the last task was handed over.
        has_left: nothing more is to be done.
        others: what other workers last told of themselves.
    """

    documents: SharedStore
    name: str
    rules: Rules
    clock: Callable[[], float]
    standing: Sign = field(default_factory=Sign)
    wants_pages: bool = False
    changed: Condition = field(default_factory=Condition)
    leaving: bool = False
    has_left: bool = False
    others: list[Sign] = field(default_factory=list)

    def __post_init__(self) -> None:
        now = self.clock()
        self.budget = Budget(self.documents, self.rules)
        self._mail = Mailboxes(self.documents, self.rules.parts)
        self._learnt = LearntStore(self.documents, self.name)
        self._members = Members(self.name, self.rules, now)
        self.holdings = Holdings(
            PartLogs(self.documents, self.name, self._keep_alive),
            self._mail,
            self._members,
            self._learnt.taught,
            tell=self._tell,
            sign=self._sign,
            keep_alive=self._keep_alive,
        )
        self._tasks: deque[tuple[Callable[[], object], float]] = deque()
        self._news: deque[News] = deque()
        self._moved: set[tuple[str, str]] = set()
        self._signs = self._told = 0
        self._looked_at = self._signed_at = self._asked_at = now - SIGN_SECONDS
        self._heard_at = now
        self._is_over = False
        self._earlier_end: Row | None = None
        self._is_fresh = not self.documents.job.reason  # nobody has stopped it before
        self._is_heard = False
        self._used = 0
        self._signing, self._last = Lock(), Sign(gone=True)

    # -- what the crawl calls -------------------------------------------------------------------

    def hand(self, task: Callable[[], object], since: float = inf) -> None:
        """Hand over what is to be done in a step; it is done in this order.

        Args:
            task: does it.
            since: when what it writes happened, by the clock.
        """
        with self.changed:
            self._tasks.append((task, since))
            self.changed.notify()

    def take_news(self) -> list[News]:
        """Take out some of what has happened, in order; `stand` tells when it was taken in."""
        with self.changed:
            news = [self._news.popleft() for _ in range(min(len(self._news), _NEWS_AT_ONCE))]
            self._is_heard = self._is_heard and not news
        return news

    def stand(self, standing: Sign, used: int, *, heard: bool) -> None:
        """Tell where the crawl stands.

        Args:
            standing: what the crawl knows of it.
            used: pages of the budget of its round.
            heard: all news that were taken out are in that.
        """
        with self.changed:
            self.standing, self._used, self._is_heard = standing, used, heard

    def unwritten(self, now: float) -> float:
        """Return for how many seconds the oldest report has been waiting to be written."""
        with self.changed:
            return now - min([now, *(since for _, since in self._tasks)])

    @property
    def has_company(self) -> bool:
        """Whether other workers are alive, as far as is known."""
        return bool(self._members.living)

    def is_cut_off(self, now: float) -> bool:
        """Tell whether the server heard nothing for so long that parts may be others' by now."""
        return now - self._heard_at > _TRUSTED * self.rules.lease

    def beat(self, now: float) -> None:
        """Repeat the last sign if the next one is late, while a step waits for the server.

        Others wait for a new one all the same before they call the crawl over.
        """
        with self._signing:
            pause = self.rules.lease / 4
            if self._last.gone or now - self._signed_at < pause or self._last.beat >= _BEATS:
                return
            self._put_sign(replace(self._last, beat=self._last.beat + 1))
        if not self.is_cut_off(now):
            self._heard_at = now

    # -- a step ---------------------------------------------------------------------------------

    def due(self, now: float) -> float:
        """Return the seconds until the next step is due."""
        with self.changed:
            if self._tasks or self.leaving or (self.wants_pages and self.budget.round):
                return 0.0
        return min(self._looked_at + self._look_seconds, self._asked_at + self._mail_seconds) - now

    def step(self, now: float) -> None:
        """Do what is due."""
        while self._tasks:
            self._tasks[0][0]()
            with self.changed:
                self._tasks.popleft()
            self._keep_alive()
        if self.leaving:
            self._leave()
            return
        if now - self._looked_at >= self._look_seconds:
            self._looked_at = now
            self._look(now)
        if now - self._asked_at >= self._mail_seconds:
            self._asked_at = now
            self._read_mail()
        if self.wants_pages and self.budget.round:
            self.wants_pages = False
            self.budget.take()

    @property
    def _mail_seconds(self) -> float:
        return _IDLE_SECONDS if self.standing.idle else _MAIL_SECONDS

    @property
    def _look_seconds(self) -> float:
        """Who has nothing to do looks more often where others may give him parts, or all end."""
        soon = self.standing.idle and self._members.may_give_or_end
        return _IDLE_SECONDS if soon else SIGN_SECONDS

    # -- what is handed over --------------------------------------------------------------------

    def write(self, report: Report) -> None:
        """Write a report."""
        if report.letters:
            self._mail.send(report.letters)
        self.documents.publish(report.media, report.dropped)
        self._mail.remove(self.holdings.write(report))

    def publish(self, learnt: Learnt) -> None:
        """Tell what the worker learnt."""
        self._learnt.publish(learnt)
        self._sign()

    # -- others ---------------------------------------------------------------------------------

    def _tell(self, *news: News) -> None:
        with self.changed:
            self._told += len(news)
            self._news.extend(news)

    def _own_sign(self) -> Sign:
        with self.changed:
            standing, used = self.standing, self._used
            counted = self._is_heard and not self._news
            idle = counted and standing.idle and not self._tasks
            if standing.round != self.budget.round:
                idle, used = False, 0
        return replace(
            standing,
            number=self._signs,
            parts=self.holdings.terms,
            gives=self.holdings.gives,
            aside=sorted(self.holdings.aside),
            counted=counted,
            idle=idle,
            activity=standing.activity + self._told,
            round=self.budget.round,
            unused=max(self.budget.granted - used, 0),
            gone=self.leaving,
            learnt=self._learnt.token,
        )

    def _keep_alive(self) -> None:
        """Give a sign in the midst of something long, if it is time for one."""
        now = self.clock()
        if now - self._signed_at >= SIGN_SECONDS:
            self._sign()
            if not self.is_cut_off(now):  # else only a look tells which parts are still its own
                self._heard_at = now

    def _sign(self) -> Sign:
        with self._signing:
            self._signs += 1
            self._put_sign(sign := self._own_sign())
        return sign

    def _put_sign(self, sign: Sign) -> None:
        self._last, self._signed_at = sign, self.clock()
        self.documents.put("worker", self.name, {"facts": sign.encode()})

    def _look(self, now: float) -> None:
        """Give a sign of life, look for those of others, and do what follows."""
        sign = self._sign()
        signs, over = {}, None
        for row in self.documents.all("worker"):
            name = row["_id"].partition("/")[2]
            if name == OVER:
                over = json.loads(row["facts"])
                continue
            try:
                signs[name] = Sign.decode(row["facts"])
            except (ValueError, LookupError) as error:
                self.documents.set_aside("worker", name, str(error))
        members = self._members
        members.look(signs, now)
        self.others = list(members.everybody)
        if self._signs == 1 and members.living:
            logger.info(
                "Other workers of the crawl: %d; of those that give no sign for %g seconds the"
                " parts are taken over",
                len(members.living),
                self.rules.lease,
            )
        if self._is_over:
            return
        if self._signs == 1:
            self._earlier_end = over
        # Who joined just now, or was taken for dead, is not among those that were there.
        if over and (self.name in over["workers"] or (sign.idle and over != self._earlier_end)):
            self._stop(over["reason"], over["silent"])
            return
        holdings = self.holdings
        holdings.lose(members.lost(holdings.terms))
        if self.is_cut_off(now):
            self.budget.leave()
        self._heard_at = now  # after the crawl can hear of parts that it lost meanwhile
        refused = holdings.end_giving()
        self._hear(signs)
        free, offered = members.free(holdings.all)
        holdings.take(free | refused, offered)
        to, active, others = members.to_give(self._own_sign())
        if to and not holdings.gives:
            self._tell(Wanted(to, active, others))
        buried = members.buried(self._own_sign())
        self.documents.delete("worker", buried)
        if self.rules.max_pages and not self.budget.keep(self._own_sign(), members.living.values()):
            self._end("max_pages")
            return
        if members.at_rest(sign, self._mail.is_empty):
            self._conclude(self._own_sign())

    def _hear(self, signs: Mapping[str, Sign]) -> None:
        """Tell of what others learnt and found out."""
        alone = not self._members.living
        first = not self._learnt.has_begun
        tokens = {name: sign.learnt for name, sign in signs.items() if name != self.name}
        if learnt := self._learnt.hear(tokens):
            self._tell(Heard(learnt, as_own=first and alone))
        moved = {pair for sign in signs.values() for pair in sign.moved} - self._moved
        if moved:
            self._moved |= moved
            self._tell(Moved(tuple(sorted(moved))))

    def _read_mail(self) -> None:
        parts = self.holdings.parts.keys()
        if not parts:
            return
        for name, (part, data) in self._mail.receive(parts).items():
            try:
                letters = decode_letters(data)
            except ValueError as error:
                self.documents.set_aside("mail", name, str(error))
                continue
            self._tell(Arrived(name, part, letters))

    # -- budget and end -------------------------------------------------------------------------

    def _conclude(self, sign: Sign) -> None:
        """End the crawl, of which nobody has anything to do, or give out what is left to fetch."""
        others = self._members.living.values()
        signs = (sign, *others)
        waiting = [one.left_alone for one in signs if one.totals.get("waiting", 0)]
        if self.rules.max_pages and not all(waiting):
            if not self.budget.begin_next(sign, others):
                self._end("max_pages")
            return
        silent = [line for one in signs for line in one.silent]
        if not any(one.pages for one in signs):
            self._end("nothing_fetched")
        elif any(waiting):
            self._end("hosts_unreachable")
        elif not silent or not self._is_fresh or any(one.has_found for one in signs):
            self._end("finished")
        else:
            self._end("nothing_found", silent)

    def _end(self, reason: str, silent: Sequence[str] = ()) -> None:
        """Tell all who are there that the crawl is over, and why."""
        workers = [self.name, *self._members.living]
        told = {"reason": reason, "workers": workers, "silent": silent}
        self.documents.stop_job(reason, finished=reason == "finished")
        self.documents.put("worker", OVER, {"facts": json.dumps(told)})
        self._stop(reason, silent)

    def _stop(self, reason: str, silent: Sequence[str]) -> None:
        self._is_over = True
        self._tell(Over(reason, tuple(silent)))

    def _leave(self) -> None:
        """Leave a last sign, by which others take the parts."""
        self._sign()
        self.has_left = True
