"""What those who share a crawl agree on: a few numbers, and what counts as silence."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """How a crawl is shared.

    Attributes:
        lease: seconds without a sign of life after which a worker's links go to others, and after
            which another coordinator takes over.
        rest: seconds a host rests when it moves between workers, at least its delay.
        per_host: links of one host that may be under way at once.
        max_pages: most pages to fetch, over all workers; 0 for all.
    """

    lease: float = 15.0
    rest: float = 1.0
    per_host: int = 8
    max_pages: int = 0


class ListeningClock:
    """Seconds in which others could be heard.

    Between two looks nobody is heard, and a server that is away keeps the others from giving signs:
    what comes between counts, but only so much. So whoever looks after a long time does not take
    for dead who could not be heard, and who looks but seldom still does whoever is.

    Args:
        most: seconds that count between two looks, at most.
    """

    def __init__(self, most: float) -> None:
        self._most = most
        self._looked = time.monotonic()
        self._now = 0.0

    def look(self) -> float:
        """Return the seconds counted until this look; call it at each."""
        now = time.monotonic()
        self._now += min(now - self._looked, self._most)
        self._looked = now
        return self._now
