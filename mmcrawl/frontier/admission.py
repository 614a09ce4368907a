"""Which links a crawl may follow at all: its sites, its depth, and the bounds against traps."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from mmcrawl.frontier.addresses import PrivateHosts, host_of
from mmcrawl.frontier.areas import Areas
from mmcrawl.frontier.urls import shape
from mmcrawl.text.resources import split_host

TRAP = "trap: "
"""What reasons begin with that bound endless spaces of pages."""

REDIRECT = "redirects to "
"""What stands before the target, where a link only leads on."""


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
            them was relevant. Calendars and other endless spaces end here. Of a directory five
            times as many; areas that brought nothing share a budget (:mod:`.areas`).
        per_page: most links of one page, the first ones.
        repeats: most times one directory name may stand in a path; more is a loop of links.
        private: follow links to private networks from public pages.
        least_score: topic score that a page must have for its links to be followed, in [0, 1];
            those of seeds always are.
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
    least_score: float = 0.0


@lru_cache(maxsize=16_384)
def _domain_of(host: str) -> str:
    return split_host(host).top_domain_under_public_suffix or host


class Sites:
    """The hosts that a crawl keeps to.

    Args:
        limits: of the crawl.
        seeds: their addresses.

    Attributes:
        private_hosts: those in private networks that may be asked: the seeds' own; all, if the
            limits say so.
    """

    def __init__(self, limits: Limits, seeds: Iterable[str]) -> None:
        seeds = list(seeds)
        self._which = limits.sites
        self._hosts = {host_of(seed) for seed in seeds}
        self._domains = {_domain_of(host) for host in self._hosts}
        self.private_hosts = PrivateHosts.of(seeds, all=limits.private)

    def __contains__(self, host: str) -> bool:
        if not host:
            return False
        if self._which == "hosts":
            return host in self._hosts
        if self._which == "domains":
            return _domain_of(host) in self._domains
        return True

    def admit(self, host: str) -> None:
        """Count a host among the sites of the crawl: a seed redirects there."""
        self._hosts.add(host)
        self._domains.add(_domain_of(host))


class Admission:
    """Decides which links may be followed, and gives the reason where one may not.

    Args:
        limits: of the crawl.
        seeds: their addresses; or the sites, where several parts of a crawl have them in common.

    Attributes:
        sites: the hosts it keeps to.
    """

    def __init__(self, limits: Limits, seeds: Iterable[str] | Sites) -> None:
        self._limits = limits
        self.sites = seeds if isinstance(seeds, Sites) else Sites(limits, seeds)
        self._areas = Areas(limits.per_shape) if limits.per_shape else None
        self._pages_of_host: Counter[str] = Counter()

    def refuse(
        self, url: str, physical_layer: int, logical_layer: int, *, anywhere: bool = False
    ) -> str | None:
        """Return why a link is not to be followed, one of a few reasons; None if it may be.

        With `anywhere` it need not be of the sites of the crawl.
        """
        limits = self._limits
        host = host_of(url)
        rules = (
            ("other site", not (anywhere and host) and host not in self.sites),
            ("address too long", 0 < limits.url_length < len(url)),
            ("below max_layer", 0 < limits.max_layer < physical_layer),
            ("beyond max_depth", 0 < limits.max_depth < logical_layer),
            ("private network", not self.sites.private_hosts.may_ask(url)),
            (f"{TRAP}repeating path", 0 < limits.repeats < _repeats(url)),
        )
        return next((reason for reason, broken in rules if broken), None) or self.exhausted(url)

    def expands(self, topic_score: float, logical_layer: int) -> bool:
        """Return whether the links of a page may be followed at all."""
        return logical_layer <= 1 or topic_score >= self._limits.least_score

    def exhausted(self, url: str) -> str | None:
        """Return why no more pages like this one are fetched, None if they are."""
        limits = self._limits
        if limits.per_host and self._pages_of_host[host_of(url)] >= limits.per_host:
            return f"{TRAP}host has its share"
        if self._areas is not None and self._areas.exhausted(shape(url)):
            return f"{TRAP}nothing found on pages like this"
        return None

    def steps_behind(self, url: str) -> int:
        """Return by how many steps a link comes after others, for what its area brought."""
        return 0 if self._areas is None else self._areas.steps_behind(shape(url))

    def crawled(self, url: str, *, relevant: bool, failed: bool = False) -> bool:
        """Count a page that was fetched, or failed, against the bounds; tell if it lifts some."""
        self._pages_of_host[host_of(url)] += 1
        if self._areas is None:
            return False
        return self._areas.crawled(shape(url), relevant=relevant, failed=failed)

    def failed(self, url: str, reason: str) -> None:
        """Count a page that cannot be had against the bounds: dead links can be endless too."""
        if not reason.startswith((TRAP, REDIRECT)):
            self.crawled(url, relevant=False, failed=True)

    def revised(self, url: str) -> None:
        """Note that a page counted as relevant is not."""
        if self._areas is not None:
            self._areas.revised(shape(url))


@lru_cache(maxsize=16_384)
def _repeats(url: str) -> int:
    """Return how often the most frequent directory name stands in the path."""
    directories = [part for part in url.partition("?")[0].split("/")[3:-1] if part]
    return max(Counter(directories).values(), default=0)
