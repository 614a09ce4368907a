"""Which link is with which worker, and which worker a host belongs to.

A host belongs to one worker at a time, so that its delay and its bound of requests at once hold for
the crawl as a whole. It belongs to the worker that was first given a link of it, until that worker
goes or has hosts to spare while another one has nothing to do. A host that moves rests first: no
link of it is given out until all its leases have ended and some time has passed.
"""

from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Mapping
from urllib.parse import urlsplit

from mmcrawl.frontier.records import WaitingLink
from mmcrawl.frontier.urls import split_origin
from mmcrawl.sharing.messages import Lease

_MOST_MOVING_SECONDS = 5.0


def host_name(url: str) -> str:
    """Return what requests to `url` are counted by: its host name without the port."""
    return urlsplit(url).hostname or ""


class Leases:
    """The links that workers hold.

    Attributes:
        next_number: number of the lease that is given next; they count from 0.
    """

    def __init__(self) -> None:
        self.next_number = 0
        self._of: dict[str, dict[int, Lease]] = {}
        self._on_host: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def give(self, worker: str, link: WaitingLink, referrer: str | None) -> Lease:
        """Lease a link to a worker."""
        lease = Lease(self.next_number, link, referrer)
        self.next_number += 1
        self._of.setdefault(worker, {})[link.id] = lease
        self._on_host[host_name(link.url)] += 1
        return lease

    def end(self, worker: str, link: int, number: int) -> Lease | None:
        """End a lease; return it, None if the worker does not hold it (any more)."""
        held = self._of.get(worker, {})
        lease = held.get(link)
        if lease is None or lease.number != number:
            return None
        del held[link]
        self._end_on_host(lease)
        return lease

    def end_all(self, worker: str) -> list[Lease]:
        """End all leases of a worker and return them, in the order they were given."""
        held = self._of.pop(worker, {})
        for lease in held.values():
            self._end_on_host(lease)
        return list(held.values())

    def of(self, worker: str) -> Iterable[Lease]:
        """Return the leases of a worker in the order they were given."""
        return self._of.get(worker, {}).values()

    def count(self, worker: str) -> int:
        """Return how many links a worker holds."""
        return len(self._of.get(worker, {}))

    def on_host(self, host: str) -> int:
        """Return how many links of a host are held."""
        return self._on_host[host]

    def workers(self) -> list[str]:
        """Return the workers that hold links."""
        return [worker for worker, held in self._of.items() if held]

    def hosts(self) -> dict[str, str]:
        """Return the hosts of which links are held, and the worker that holds them."""
        return {
            host_name(lease.link.url): worker
            for worker, held in self._of.items()
            for lease in held.values()
        }

    def state(self) -> dict[str, object]:
        """Return everything as plain data; of links, their numbers."""
        held = {
            worker: [[lease.link.id, lease.number] for lease in leases.values()]
            for worker, leases in self._of.items()
        }
        return {"next": self.next_number, "held": held}

    def restore(self, worker: str, number: int, link: WaitingLink, referrer: str | None) -> None:
        """Take over a lease that `state` told of."""
        self.next_number = number
        self.give(worker, link, referrer)

    def _end_on_host(self, lease: Lease) -> None:
        host = host_name(lease.link.url)
        self._on_host[host] -= 1
        if not self._on_host[host]:
            del self._on_host[host]


class LeaseBuffer:
    """The leases a worker holds and has not begun to fetch, by origin.

    The one that was given first comes first: links are leased best first.
    """

    def __init__(self) -> None:
        self._of: dict[str, deque[Lease]] = {}
        self._links: set[int] = set()

    def __len__(self) -> int:
        return len(self._links)

    def add(self, leases: Iterable[Lease]) -> None:
        """Add leases in the order they were given; the later one of a link takes its place."""
        for lease in leases:
            waiting = self._of.setdefault(split_origin(lease.link.url)[0], deque())
            known = lease.link.id in self._links
            ids = [before.link.id for before in waiting] if known else []
            if lease.link.id in ids:
                waiting[ids.index(lease.link.id)] = lease
            else:
                waiting.append(lease)
                self._links.add(lease.link.id)

    def pop(self, ready: Callable[[str], bool]) -> Lease | None:
        """Take out the first lease of an origin that is `ready`; None if there is none."""
        heads = sorted((leases[0].number, origin) for origin, leases in self._of.items())
        origin = next((origin for _, origin in heads if ready(origin)), None)
        if origin is None:
            return None
        leases = self._of[origin]
        lease = leases.popleft()
        if not leases:
            del self._of[origin]
        self._links.discard(lease.link.id)
        return lease

    def clear(self) -> list[Lease]:
        """Take out everything."""
        leases = sorted(
            (lease for waiting in self._of.values() for lease in waiting),
            key=lambda lease: lease.number,
        )
        self._of.clear()
        self._links.clear()
        return leases


class Hosts:
    """Which worker each host belongs to.

    Args:
        rest: seconds that a host rests between two workers.
    """

    def __init__(self, rest: float) -> None:
        self._rest = rest
        self._owner: dict[str, str] = {}
        self._moving: dict[str, float] = {}
        self._rests_until: dict[str, float] = {}
        self._all_rest_until = float("-inf")

    def owner(self, host: str) -> str | None:
        """Return the worker a host belongs to, None if any may have it."""
        return self._owner.get(host)

    def is_resting(self, host: str, now: float) -> bool:
        """Tell whether no link of a host may be given out: it is on its way to another worker."""
        if host in self._moving:
            return True
        if now < self._all_rest_until and host not in self._owner:
            return True
        until = self._rests_until.get(host)
        if until is not None and until <= now:
            del self._rests_until[host]
            return False
        return until is not None

    def rest_all(self, now: float) -> None:
        """Let all hosts rest that belong to nobody: who fetched from them before is not known."""
        self._all_rest_until = now + self._rest

    def tidy(self, waiting: Container[str], leases: Leases, now: float) -> None:
        """Forget hosts of which no link waits or is held, once they have rested."""
        for host in list(self._owner):
            if host not in waiting and not leases.on_host(host):
                self._let_go(host, now)
        for host in [host for host, until in self._rests_until.items() if until <= now]:
            del self._rests_until[host]

    def own(self, host: str, worker: str) -> None:
        """Let a host belong to a worker."""
        self._owner[host] = worker

    def free(self, worker: str, now: float) -> None:
        """Take all its hosts from a worker that has gone."""
        for host in [host for host, owner in self._owner.items() if owner == worker]:
            self._let_go(host, now)

    def of(self, worker: str) -> list[str]:
        """Return the hosts of a worker."""
        return [host for host, owner in self._owner.items() if owner == worker]

    def counts(self) -> Mapping[str, int]:
        """Return how many hosts each worker has."""
        return Counter(self._owner.values())

    def move(self, host: str, now: float) -> None:
        """Take a host from its worker as soon as no link of it is held."""
        self._moving[host] = now

    def settle(self, leases: Leases, now: float) -> None:
        """Let hosts go that were to move and of which no link is held any more.

        A host with a page that does not end stays where it is, lest its other links wait for that.
        """
        for host, since in list(self._moving.items()):
            if not leases.on_host(host):
                self._let_go(host, now)
            elif now - since > _MOST_MOVING_SECONDS:
                del self._moving[host]

    def spread(
        self,
        waiting: Mapping[str, int],
        idle: Iterable[str],
        busy: Iterable[str],
        now: float,
    ) -> None:
        """Take hosts from workers that have several, for workers that have nothing to do.

        Args:
            waiting: how many links of each host wait, for hosts that have any.
            idle: workers that could hold more links than there are for them.
            busy: all other workers.
        """
        idle, busy = list(idle), list(busy)
        if not idle or self._moving:
            return
        rich = {worker: [h for h in self.of(worker) if h in waiting] for worker in (*busy, *idle)}
        for worker in idle:
            richest = max(rich, key=lambda name: len(rich[name]), default=worker)
            surplus = len(rich[richest]) - len(rich[worker])
            if surplus < 2:
                return
            ordered = sorted(rich[richest], key=lambda host: -waiting[host])
            for host in ordered[1 : 1 + surplus // 2]:
                rich[richest].remove(host)
                rich[worker].append(host)
                self.move(host, now)

    def _let_go(self, host: str, now: float) -> None:
        self._owner.pop(host, None)
        self._moving.pop(host, None)
        self._rests_until[host] = now + self._rest
