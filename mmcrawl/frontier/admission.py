"""Which links a crawl may follow at all: its sites, its depth, and the bounds against traps.

Shapes of addresses are learnt: names that differ without end, in letters or in ids. The directories
of each host are kept as a tree. A directory with more than 200 different pages counts as one shape,
whatever its pages are called: `/x/<anything>`. Where a directory has more than 200 others directly
below it, these count as one from then on, with all that lies further below:
`/x/<anything>/<anything>`. Pages and directories are told apart, since a site with a thousand pages
at its root may have few sections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from mmcrawl.frontier.addresses import PrivateHosts, host_of
from mmcrawl.frontier.urls import shape
from mmcrawl.text.public_suffixes import split_host

_MOST_NAMES = 200
_DEEPEST = 20
_ANY = " any"  # no address has a space


@dataclass(slots=True)
class _Directory:
    """The pages fetched directly from a directory, and the directories below it.

    Attributes:
        joined: it stands for many directories, or lies below one that does.
        pages, relevant: how many pages were fetched, and were relevant.
        names: what they are called, as long as these are few.
        below: the next directories by name, or one called `_ANY` that stands for all.
    """

    joined: bool = False
    pages: int = 0
    relevant: int = 0
    names: set[str] = field(default_factory=set)
    below: dict[str, _Directory] = field(default_factory=dict)

    @property
    def is_shape(self) -> bool:
        """Whether its pages count as one shape."""
        return self.joined or len(self.names) > _MOST_NAMES

    def count(self, name: str, *, relevant: bool) -> None:
        """Count a page."""
        self.pages += 1
        self.relevant += relevant
        if not self.is_shape:
            self.names.add(name)

    def enter(self, name: str) -> _Directory:
        """Return the directory of a name, a new one if need be; too many are joined."""
        if _ANY not in self.below:
            self.below.setdefault(name, _Directory(self.joined))
            if len(self.below) > _MOST_NAMES:
                joined = _Directory(joined=True)
                for directory in self.below.values():
                    joined.take(directory)
                self.below = {_ANY: joined}
        return self.find(name) or self.below[_ANY]

    def find(self, name: str) -> _Directory | None:
        """Return the directory of a name, None if there is none yet."""
        return self.below.get(_ANY) or self.below.get(name)

    def take(self, other: _Directory) -> None:
        """Count what another directory has as this one's."""
        self.pages += other.pages
        self.relevant += other.relevant
        for name, directory in other.below.items():
            self.enter(name).take(directory)


class LearntShapes:
    """Counts fetched pages by learnt shapes."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Directory] = {}

    def crawled(self, form: str, *, relevant: bool) -> None:
        """Count a fetched page.

        Args:
            form: `shape` of its address.
            relevant: whether it was.
        """
        host, *directories, page = _names(form)
        place = self._hosts.setdefault(host, _Directory())
        for name in directories:
            place = place.enter(name)
        place.count(page, relevant=relevant)

    def revised(self, form: str) -> None:
        """Note that a page counted as relevant is not."""
        place = self._find(form)
        if place is not None:
            place.relevant -= 1

    def barren(self, form: str) -> int:
        """Return how many pages of its learnt shape were fetched; 0 if one was relevant."""
        place = self._find(form)
        if place is None or not place.is_shape or place.relevant:
            return 0
        return place.pages

    def _find(self, form: str) -> _Directory | None:
        host, *directories, _ = _names(form)
        place = self._hosts.get(host)
        for name in directories:
            if place is None:
                return None
            place = place.find(name)
        return place


def _names(form: str) -> list[str]:
    """Return host, directories and page; what one script makes is a directory of its own.

    >>> _names("h.test/"), _names("h.test/a/b/"), _names("h.test/a/show.asp?id")
    (['h.test', ''], ['h.test', 'a', 'b'], ['h.test', 'a', 'show.asp', '?id'])
    """
    path, mark, query = form.partition("?")
    host, *names = path.rstrip("/").split("/", _DEEPEST + 1)
    return [host, *names, mark + query] if mark or not names else [host, *names]


TRAP = "trap: "
"""What reasons begin with that bound endless spaces of pages."""

REDIRECT = "redirects to "
"""What stands before the target, where a link only leads on."""

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
        self._pages_of_shape: Counter[str] = Counter()
        self._good_pages_of_shape: Counter[str] = Counter()
        self._learnt = LearntShapes()
        self._pages_of_host: Counter[str] = Counter()

    def refuse(self, url: str, physical_layer: int, logical_layer: int) -> str | None:
        """Return why a link is not to be followed, one of a few reasons; None if it may be."""
        limits = self._limits
        host = host_of(url)
        rules = (
            ("other site", host not in self.sites),
            ("address too long", 0 < limits.url_length < len(url)),
            ("below max_layer", 0 < limits.max_layer < physical_layer),
            ("beyond max_depth", 0 < limits.max_depth < logical_layer),
            ("private network", not self.private_hosts.may_ask(url)),
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

    def failed(self, url: str, reason: str) -> None:
        """Count a page that cannot be had against the bounds: dead links can be endless too."""
        if not reason.startswith((TRAP, REDIRECT)):
            self.crawled(url, relevant=False)

    def revised(self, url: str) -> None:
        """Note that a page counted as relevant is not."""
        self._good_pages_of_shape[shape(url)] -= 1
        self._learnt.revised(shape(url))

    @property
    def private_hosts(self) -> PrivateHosts:
        """The hosts in private networks that may be asked."""
        return self.sites.private_hosts


@lru_cache(maxsize=16_384)
def _repeats(url: str) -> int:
    """Return how often the most frequent directory name stands in the path."""
    directories = [part for part in url.partition("?")[0].split("/")[3:-1] if part]
    return max(Counter(directories).values(), default=0)
