"""Which links a crawl may follow at all: its sites, its depth, and the bounds against traps."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from mmcrawl.frontier.addresses import PrivateHosts, host_of
from mmcrawl.frontier.shapes import LearntShapes
from mmcrawl.frontier.urls import shape
from mmcrawl.text import split_host

__all__ = ["TRAP", "Admission", "Limits"]

TRAP = "trap: "
"""What reasons begin with that bound endless spaces of pages."""

# What was guessed gets more patience than what an address shows. Of a directory with media on 2 %
# of its pages the first 1,000 have none less than once in 10^8 times, the first 200 once in 57.
_LEARNT = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a crawl; 0 means none.

    Attributes:
        sites: `hosts` (those of the seeds), `domains` (their registered domains), `anywhere`.
        max_layer: deepest physical layer to follow.
        max_depth: most clicks from a seed, the seed itself counting as 1.
        url_length: longest URL in characters.
        per_host: most pages of one host.
        per_shape: most pages of one URL shape (numbers and query values left out) while none of
            them was relevant. Calendars and other endless spaces end here. Of a directory, or
            another shape that is learnt (`LearntShapes`), five times as many.
        per_page: most links of one page, the first ones.
        repeats: most times one directory name may stand in a path; more is a loop of links.
        private: follow links to private networks from public pages.
    """

    sites: str = "hosts"
    max_layer: int = 20
    max_depth: int = 0
    url_length: int = 2083
    per_host: int = 0
    per_shape: int = 200
    per_page: int = 20_000
    repeats: int = 3
    private: bool = False


@lru_cache(maxsize=16_384)
def _domain_of(host: str) -> str:
    return split_host(host).top_domain_under_public_suffix or host


class Admission:
    """Decides which links may be followed, and gives the reason where one may not.

    Attributes:
        private_hosts: those in private networks that may be asked: the seeds' own; all, if the
            limits say so.
    """

    def __init__(self, limits: Limits, seeds: Iterable[str]) -> None:
        self._limits = limits
        seeds = list(seeds)
        self._hosts = {host_of(seed) for seed in seeds}
        self._domains = {_domain_of(host) for host in self._hosts}
        self.private_hosts = PrivateHosts.of(seeds, all=limits.private)
        self._pages_of_shape: Counter[str] = Counter()
        self._good_pages_of_shape: Counter[str] = Counter()
        self._learnt = LearntShapes()
        self._pages_of_host: Counter[str] = Counter()

    def refuse(self, url: str, physical_layer: int, logical_layer: int) -> str | None:
        """Return why a link is not to be followed, one of a few reasons; None if it may be."""
        limits = self._limits
        host = host_of(url)
        rules = (
            ("other site", not self._in_sites(host)),
            ("address too long", 0 < limits.url_length < len(url)),
            ("below max_layer", 0 < limits.max_layer < physical_layer),
            ("beyond max_depth", 0 < limits.max_depth < logical_layer),
            ("private network", not self.private_hosts.may_ask(url)),
            (f"{TRAP}repeating path", 0 < limits.repeats < _repeats(url)),
        )
        return next((reason for reason, broken in rules if broken), None) or self.exhausted(url)

    def exhausted(self, url: str) -> str | None:
        """Return why no more pages like this one are fetched, None if they are."""
        limits = self._limits
        if limits.per_host and self._pages_of_host[host_of(url)] >= limits.per_host:
            return f"{TRAP}host has its share"
        if limits.per_shape:
            form = shape(url)
            barren = not self._good_pages_of_shape[form]
            if barren and (
                self._pages_of_shape[form] >= limits.per_shape
                or self._learnt.barren(form) >= _LEARNT * limits.per_shape
            ):
                return f"{TRAP}nothing found on pages like this"
        return None

    def crawled(self, url: str, *, relevant: bool) -> None:
        """Count a fetched page against the bounds."""
        self._pages_of_host[host_of(url)] += 1
        form = shape(url)
        self._pages_of_shape[form] += 1
        self._good_pages_of_shape[form] += relevant
        self._learnt.crawled(form, relevant=relevant)

    def revised(self, url: str) -> None:
        """Note that a page counted as relevant is not."""
        self._good_pages_of_shape[shape(url)] -= 1
        self._learnt.revised(shape(url))

    def admit(self, url: str) -> None:
        """Count the host of `url` among the sites of the crawl: a seed redirects there."""
        self._hosts.add(host_of(url))
        self._domains.add(_domain_of(host_of(url)))

    def _in_sites(self, host: str) -> bool:
        if not host:
            return False
        if self._limits.sites == "hosts":
            return host in self._hosts
        if self._limits.sites == "domains":
            return _domain_of(host) in self._domains
        return True


@lru_cache(maxsize=16_384)
def _repeats(url: str) -> int:
    """Return how often the most frequent directory name stands in the path."""
    directories = [part for part in url.partition("?")[0].split("/")[3:-1] if part]
    return max(Counter(directories).values(), default=0)
