"""How a crawl is shared: the few numbers that workers and coordinator must agree on."""

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
