"""Which part of a crawl an address belongs to, and what the workers of a crawl agree on."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from mmcrawl.frontier.urls import host_of
from mmcrawl.text.resources import split_host

PARTS = 1_024
"""Into so many parts a job is divided. All hosts of a registered domain are in one part."""


WORKER = "_MMCRAWL_WORKER"
"""The variable by which a worker is told which of a machine's it is, from 0, and by what its name
is to end: ``0/TOKEN``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a crawl is shared.

    Attributes:
        parts: into how many parts it is divided.
        lease: seconds without a sign of life after which a worker's parts go to others.
        rest: seconds a part rests when it moves between workers, at least the delay of its hosts.
        max_pages: most pages to fetch, over all workers; 0 for all.
    """

    parts: int = PARTS
    lease: float = 15.0
    rest: float = 1.0
    max_pages: int = 0

    def part_of(self, url: str) -> int:
        """Return the number of the part that an address belongs to."""
        return _number(host_of(url)) % self.parts


@lru_cache(maxsize=65_536)
def _number(host: str) -> int:
    domain = split_host(host).top_domain_under_public_suffix or host
    return int.from_bytes(blake2b(domain.encode(), digest_size=8).digest())
