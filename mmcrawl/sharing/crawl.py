"""The frontier of a shared crawl as its log says it stands.

Everything that changes it is in the log: what workers told, and which links were given out. Told
the same entries in the same order, every `SharedCrawl` comes to the same links under the same
numbers; only the one that leads chooses what comes next.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from mmcrawl.crawling.job import CrawlJob
from mmcrawl.crawling.reports import settle
from mmcrawl.errors import StoreError, raise_if_fatal
from mmcrawl.frontier.records import WaitingLink
from mmcrawl.sharing.leases import Leases
from mmcrawl.sharing.messages import (
    Added,
    Entry,
    Event,
    Failed,
    Fetched,
    Grant,
    Message,
    Pointless,
    Redirected,
    Retried,
    Returned,
)

logger = logging.getLogger(__name__)

_DIGEST = 16


class SharedCrawl:
    """The frontier, the leases, and how far in the log they stand.

    Args:
        job: the crawl over a working copy of the store, which belongs to this process alone.
        state: what `state` gave with the snapshot that the working copy comes from, if any.

    Attributes:
        job: the crawl.
        leases: which link is with which worker.
        number: number of the next entry of the log.
        term: of the last coordinator the log tells of, 0 if there was none.
        pages: how many pages each worker reported.
        stop: why the crawl was stopped last, "" if it goes on.
    """

    def __init__(self, job: CrawlJob, state: Mapping[str, Any] | None = None) -> None:
        self.job = job
        self.leases = Leases()
        self.number = 0
        self.term = 0
        self.pages: Counter[str] = Counter()
        self.stop = ""
        self._last: dict[str, int] = {}
        self._known, self._digested = b"", 0
        if state is not None:
            self._restore(state)

    # -- what happens ---------------------------------------------------------------------------

    def take(self, message: Message) -> None:
        """Take in what a worker tells; what it says of links it does not hold is left aside.

        A message that was taken in before may come again: it changes nothing.
        """
        if message.number <= self._last.get(message.worker, -1):
            return
        self._last[message.worker] = message.number
        for event in message.events:
            self._take_event(message.worker, event)
        if message.leaving:
            self.give_up(message.worker)

    def give_up(self, worker: str) -> None:
        """Let the links of a worker wait again."""
        for lease in self.leases.end_all(worker):
            self.job.retry(lease.link.id, lease.link.request, lease.link.priority)

    def choose(self, ready: Callable[[str], bool]) -> tuple[WaitingLink | None, list[Pointless]]:
        """Take the best link of an origin that is `ready`, and tell what was passed over for it."""
        link = self.job.next(ready)
        return link, [Pointless(number, reason) for number, reason in self.job.passed_over]

    def give(self, link: WaitingLink, worker: str) -> Grant:
        """Lease a link that was chosen."""
        lease = self.leases.give(worker, link, self.job.referrer(link))
        return Grant(link.id, lease.number, worker)

    # -- the log --------------------------------------------------------------------------------

    def replay(self, entry: Entry) -> None:
        """Do what an entry of the log says.

        Raises:
            StoreError: it does not fit what was read before it.
        """
        if entry.known != self.known:
            raise StoreError(
                f"entry {self.number} of the crawl's log was written by a process with other"
                " settings or another version of mmcrawl; use those, or -a job=NAME for another"
                " job"
            )
        for worker in entry.gone:
            self.give_up(worker)
        for data in entry.messages:
            self.take(Message.decode(data))
        for start in entry.starts:
            self._replay_start(start)
        self.advance(entry)

    def advance(self, entry: Entry) -> None:
        """Note that an entry is in the log and was done."""
        self.number += 1
        self.term = entry.term
        self.stop = entry.stop
        self.job.commit()

    @property
    def known(self) -> str:
        """Digest of the addresses of all links, in the order of their numbers, with their parents.

        Settings that would bring other links under the same numbers give another one.
        """
        for url, parent in self.job.frontier.links_from(self._digested):
            text = f"{parent} {url}".encode("utf-8", "surrogatepass")
            self._known = blake2b(text, digest_size=_DIGEST, key=self._known).digest()
        self._digested = len(self.job.frontier)
        return self._known.hex()

    def state(self) -> dict[str, Any]:
        """Return as plain data what the working copy does not hold."""
        return {
            "number": self.number,
            "term": self.term,
            "pages": dict(self.pages),
            "last": dict(self._last),
            "known": self._known.hex(),
            "digested": self._digested,
            "leases": self.leases.state(),
        }

    # -- inside ---------------------------------------------------------------------------------

    def _restore(self, state: Mapping[str, Any]) -> None:
        self.number, self.term = state["number"], state["term"]
        self.pages.update(state["pages"])
        self._last.update(state["last"])
        self._known, self._digested = bytes.fromhex(state["known"]), state["digested"]
        leases = state["leases"]
        held = [
            (number, link, worker)
            for worker, links in leases["held"].items()
            for link, number in links
        ]
        for number, number_of_link, worker in sorted(held):
            link = self.job.start(number_of_link)
            self.leases.restore(worker, number, link, self.job.referrer(link))
        self.leases.next_number = leases["next"]

    def _replay_start(self, start: Grant | Pointless) -> None:
        link = self.job.start(start.link)
        if isinstance(start, Pointless):
            self.job.failed(start.link, start.reason)
        else:
            self.leases.next_number = start.lease
            self.give(link, start.worker)

    def _take_event(self, worker: str, event: Event) -> None:
        if isinstance(event, Added):
            try:
                self.job.add(event.links)
            except Exception as error:
                raise_if_fatal(error)
                logger.exception("Links that were asked for could not be taken in")
            return
        lease = self.leases.end(worker, event.link, event.lease)
        if lease is None:
            logger.debug("%s tells of link %d, which it does not hold", worker, event.link)
            return
        settle(self.job, event.link, lambda: self._settle(event, lease.link))
        if isinstance(event, Fetched):
            self.pages[worker] += 1

    def _settle(self, event: Event, link: WaitingLink) -> None:
        match event:
            case Fetched():
                self.job.take_in(event.link, event.report, event.requests)
            case Failed():
                self.job.failed(event.link, event.reason, event.requests)
            case Redirected():
                self.job.redirected(event.link, event.target)
            case Retried():
                self.job.retry(event.link, event.request, event.priority)
            case Returned():
                self.job.retry(event.link, link.request, link.priority)
