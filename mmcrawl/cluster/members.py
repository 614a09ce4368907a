"""The workers of a crawl, and the fair share of each.

* ``worker``: ``JOB/NAME``, its heartbeat: `beat` grows several times in a lease; ``facts``, JSON.

Clocks are not compared: a worker is alive while its beat grows, by the observer's clock. A worker
that leaves removes its heartbeat; its parent removes that of a process that died.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b

from mmcrawl.cluster.leases import Lease
from mmcrawl.cluster.store import Row, SharedStore

OVER = "over"
"""Names, among the heartbeats, the document by which all who are there are told of the end."""
_ENOUGH = 32  # partitions with something to do, among which a worker always finds pages to fetch


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a worker publishes about itself."""

    beat: int = 0  # grows
    crawled: int = 0  # pages
    rate: float | None = None  # of these a second, over the last heartbeats; None at the first one
    under_way: int = 0  # links that it is fetching
    lag: float = 0.0  # seconds for which the oldest of what it crawled waits to be written

    @property
    def row(self) -> Row:
        """The document of it."""
        facts = {name: value for name, value in asdict(self).items() if name != "beat"}
        return {"beat": self.beat, "facts": json.dumps(facts)}


def heartbeats_of(rows: Mapping[str, Row]) -> dict[str, Heartbeat]:
    """Return the heartbeats of documents, by the names of workers; of a damaged one, the beat."""
    found = {}
    for name, row in rows.items():
        if name != OVER:
            try:
                plain = json.loads(row["facts"])
                facts = {one.name: plain[one.name] for one in fields(Heartbeat)[1:]}
            except (ValueError, KeyError, TypeError):
                facts = {}
            found[name] = Heartbeat(row.get("beat", 0), **facts)
    return found


def free_leases(shared: SharedStore, token: str) -> None:
    """Free the partitions of a dead worker, whose name ends with a token, before its lease ends.

    The caller must know that its process is gone.
    """
    shared.delete("worker", [n for n in shared.names("worker") if n.endswith(f"-{token}")])


class Members:
    """The workers of a crawl as one of them sees them.

    Args:
        name: of this worker.
        lease: seconds without another beat after which a worker counts as dead.
        now: seconds of a monotonic clock.
    """

    def __init__(self, name: str, lease: float, now: float) -> None:
        self._name, self._lease = name, lease
        self._looked_at = now
        self._heard = 0.0  # seconds in which others could be heard
        self._seen: dict[str, tuple[int, float]] = {}
        self.living = {name}  # the names of those that are alive, this one's among them

    def look(self, heartbeats: Mapping[str, Heartbeat], now: float) -> None:
        """Process the newest heartbeats.

        A worker that did not look for a while, or whose store was away, saw no heartbeats then: at
        most half a lease of that time counts, so that it takes no living worker for dead.
        """
        self._heard += min(now - self._looked_at, self._lease / 2)
        self._looked_at = now
        before, self._seen = self._seen, {}
        for name, one in heartbeats.items():
            last = before.get(name)
            self._seen[name] = last if last and last[0] == one.beat else (one.beat, self._heard)
        alive = {n for n, (_, since) in self._seen.items() if self._heard - since <= self._lease}
        self.living = alive | {self._name}

    def buried(self, leases: Collection[Lease]) -> set[str]:
        """Return those that died and own nothing any more."""
        return self._seen.keys() - self.living - {lease.owner for lease in leases}

    def is_free(self, lease: Lease) -> bool:
        """Return whether a partition may be taken."""
        return not lease.fault and lease.owner not in self.living

    def share(self, leases: Iterable[Lease]) -> int:
        """Return this worker's fair share of some partitions.

        Workers that see the same get shares that add up: the remainder stays where most are.
        """
        count, free = self._owned(leases)
        least, over = divmod(count.total() + free, len(count))
        ranked = sorted(count, key=lambda name: (-count[name], name))
        return least + (ranked.index(self._name) < over)

    def surplus(self, leases: Collection[Lease]) -> int:
        """Return how many partitions this worker is to hand over, of those with something to do.

        None while each worker has enough. Partitions run dry and fill again; to hand one over at
        each such change costs more than it brings, as a new owner replays its history.
        """
        count, _ = self._owned(leases)
        share = self.share(leases)
        is_any_short = min(count.values()) < min(share / 2, _ENOUGH)
        return max(count[self._name] - share, 0) if is_any_short else 0

    def _owned(self, leases: Iterable[Lease]) -> tuple[Counter[str], int]:
        """Return how many of some partitions each living worker has, and how many are free."""
        count = Counter(dict.fromkeys(self.living, 0))
        free = 0
        for lease in leases:
            if lease.owner in self.living:
                count[lease.owner] += 1
            else:
                free += not lease.fault
        return count, free

    def first(self, leases: Iterable[Lease], most: int) -> list[Lease]:
        """Return some of the partitions that may be taken: others begin with others."""
        free = [lease for lease in leases if self.is_free(lease)]
        return sorted(free, key=self._order)[: max(most, 0)]

    def _order(self, lease: Lease) -> bytes:
        return blake2b(f"{lease.partition} {self._name}".encode(), digest_size=8).digest()
