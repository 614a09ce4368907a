"""Which worker gets which link: the best first, each host to one worker."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from mmcrawl.frontier.records import WaitingLink
from mmcrawl.sharing.crawl import SharedCrawl
from mmcrawl.sharing.leases import Hosts, host_name
from mmcrawl.sharing.messages import Grant, Pointless
from mmcrawl.sharing.rules import Rules

_SPARE = 4  # links of a host that lie ready beside those that may be under way
_SPREAD_SECONDS = 1.0
_TIDY_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.25
_MOST_PASSED_OVER = 20


@dataclass(slots=True)
class KnownWorker:
    """What the coordinator knows of a worker.

    Attributes:
        seen: when it last gave a sign of life, by the `ListeningClock` of the coordinator.
        sign: that sign.
        capacity: how many links it wants to hold.
        received: number of the last lease it has got.
        mailed: number of the last lease in its mail.
        mailed_at: when that was written, by the monotonic clock.
    """

    seen: float
    sign: object = None
    capacity: int = 0
    received: int = -1
    mailed: int = -1
    mailed_at: float = 0.0


class Allocator:
    """Leases links to workers.

    Args:
        crawl: the crawl it leads.
        rules: how the crawl is shared.
    """

    def __init__(self, crawl: SharedCrawl, rules: Rules) -> None:
        self._crawl = crawl
        self._rules = rules
        self.hosts = Hosts(rules.rest)
        for host, worker in crawl.leases.hosts().items():
            self.hosts.own(host, worker)
        self.hosts.rest_all(time.monotonic())
        self._capacity: dict[str, int] = {}
        self._room: dict[str, int] = {}
        self._most_on_host: dict[str, int] = {}
        self._spread_at = self._tidied_at = time.monotonic()
        self._found_nothing_at = -_LOOK_AGAIN_SECONDS

    def give(
        self, workers: Mapping[str, KnownWorker], *, news: bool = True
    ) -> list[Grant | Pointless]:
        """Lease as many links as workers have room for; return what was done, in order.

        Where no link could be given before, and there is no `news` from workers, it is not tried
        again at once: to find that all hosts are busy takes a look at each.
        """
        now = time.monotonic()
        leases = self._crawl.leases
        self.hosts.settle(leases, now)
        self._capacity = {name: known.capacity for name, known in workers.items()}
        self._room = {name: most - leases.count(name) for name, most in self._capacity.items()}
        owned = self.hosts.counts()
        self._most_on_host = {
            name: max(self._rules.per_host + _SPARE, known.capacity // max(owned.get(name, 0), 1))
            for name, known in workers.items()
        }
        if not news and now - self._found_nothing_at < _LOOK_AGAIN_SECONDS:
            return []
        starts = self._starts()
        if now - self._spread_at > _SPREAD_SECONDS:
            self._spread_at = now
            self._spread(workers)
        if now - self._tidied_at > _TIDY_SECONDS:
            self._tidied_at = now
            self.hosts.tidy(self._waiting(), leases, now)
        return starts

    def forget(self, worker: str) -> None:
        """Free the hosts of a worker that has gone."""
        self.hosts.free(worker, time.monotonic())

    @property
    def is_over(self) -> str:
        """Why nothing is left to be done, "" while something is."""
        job, rules = self._crawl.job, self._rules
        if len(self._crawl.leases):
            return ""
        if not job.ready:
            return "finished" if job.pages else "nothing_fetched"
        return "max_pages" if 0 < rules.max_pages <= job.pages else ""

    def _starts(self) -> list[Grant | Pointless]:
        starts: list[Grant | Pointless] = []
        interruptions = 0
        while self._may_fetch_more and any(room > 0 for room in self._room.values()):
            link, passed = self._crawl.choose(self._is_free)
            starts += passed
            if link is not None:
                starts.append(self._crawl.give(link, self._worker_for(link)))
                continue
            interruptions += 1
            if not self._crawl.job.interrupted or interruptions > _MOST_PASSED_OVER:
                self._found_nothing_at = time.monotonic()
                break
        return starts

    @property
    def _may_fetch_more(self) -> bool:
        most = self._rules.max_pages
        return not most or self._crawl.job.pages + len(self._crawl.leases) < most

    def _is_free(self, origin: str) -> bool:
        """Tell whether a link of an origin may be leased now."""
        host = host_name(origin)
        if self.hosts.is_resting(host, time.monotonic()):
            return False
        owner = self.hosts.owner(host)
        if owner is None:
            return True
        held = self._crawl.leases.on_host(host)
        return self._room.get(owner, 0) > 0 and held < self._most_on_host[owner]

    def _worker_for(self, link: WaitingLink) -> str:
        host = host_name(link.url)
        worker = self.hosts.owner(host)
        if worker is None:
            worker = max(self._room, key=self._need)
            self.hosts.own(host, worker)
        self._room[worker] -= 1
        return worker

    def _need(self, worker: str) -> tuple[float, int, str]:
        """Return how much a worker needs a host: one that has nothing to do comes before one that
        wants much and has most of it."""
        room = self._room[worker]
        return room / max(self._capacity[worker], 1), room, worker

    def _spread(self, workers: Mapping[str, KnownWorker]) -> None:
        idle = [name for name, room in self._room.items() if room > workers[name].capacity // 2]
        if not idle or len(workers) < 2:
            return
        busy = [name for name in workers if name not in idle]
        self.hosts.spread(self._waiting(), idle, busy, time.monotonic())

    def _waiting(self) -> dict[str, int]:
        """Return how many links wait for each host that has any."""
        waiting: dict[str, int] = {}
        for origin, count in self._crawl.job.frontier.waiting_by_origin().items():
            host = host_name(origin)
            waiting[host] = waiting.get(host, 0) + count
        return waiting
