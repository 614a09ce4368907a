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
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, leases: Iterable[Lease]) -> None:
        """Add leases in the order they were given."""
        for lease in leases:
            origin = split_origin(lease.link.url)[0]
            self._of.setdefault(origin, deque()).append(lease)
            self._size += 1

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
        self._size -= 1
        return lease

    def clear(self) -> list[Lease]:
        """Take out everything."""
        leases = sorted(
            (lease for waiting in self._of.values() for lease in waiting),
            key=lambda lease: lease.number,
        )
        self._of.clear()
        self._size = 0
        return leases
