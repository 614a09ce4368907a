"""The partition of an address, and the settings that all workers of a crawl must share."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from mmcrawl.frontier.urls import host_of
from mmcrawl.text.resources import site_of

PARTITIONS = 1_024
"""How many partitions a job has. All hosts of a registered domain are in one partition."""


WORKER = "_MMCRAWL_WORKER"
"""The variable by which a worker is told which of a machine's it is, from 0, and by what its name
is to end: ``0/TOKEN``."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules by which a crawl is shared."""

    partitions: int = PARTITIONS
    lease: float = 15.0  # seconds of silence after which a worker's partitions go to others
    rest: float = 1.0  # seconds a partition rests when it moves; at least its hosts' delay
    max_pages: int = 0  # most pages to fetch, over all workers; 0 for all

    def partition_of(self, url: str) -> int:
        """Return the number of the partition that an address belongs to."""
        return _number(host_of(url)) % self.partitions


@lru_cache(maxsize=16_384)
def _number(host: str) -> int:
    return int.from_bytes(blake2b(site_of(host).encode(), digest_size=8).digest())
