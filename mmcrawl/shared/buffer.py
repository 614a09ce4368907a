"""The links a worker holds and has not begun to fetch, ready to be handed out at once."""

from collections import deque
from collections.abc import Callable, Iterable

from mmcrawl.frontier.urls import split_origin
from mmcrawl.shared.messages import Lease

__all__ = ["LeaseBuffer"]


class LeaseBuffer:
    """Leases by origin. The one that was given first comes first: links are leased best first."""

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
