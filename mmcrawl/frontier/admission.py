"""Which links a crawl may follow at all: its sites, its depth, and limits against traps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from mmcrawl.frontier.urls import PrivateHosts, host_of, shape
from mmcrawl.text.resources import site_of

# -- What a crawl has found in each area of a host, and how many more pages it may take there -----
# An area is a directory, a script, or what the pages of one shape are (`shape`): numbers, ids and
# the values of queries are left out of their names. Areas stand in each other as a tree. An area
# that has brought something is never bounded. Of the others the budget shrinks, and is shared:
#
# * Pages of one shape end with `per_shape`, and those of one script with as many in all, whatever
#   combinations of parameters they have; what lies in a directory or below it with five times as
#   many. What was guessed gets more patience than what an address shows: of a directory with media
#   on 2 % of its pages the first 1,000 have none less than once in 10⁸ times, the first 200 once
#   in 57.
# * All areas next to each other that brought nothing have as much together, and once more for the
#   first that did, the second, the fourth and so on. When that is used up, those that had less
#   than their share of it go on to that, and new ones are tried while there are few. So names
#   without end come to an end, in letters or in ids, at every depth. Pages and directories are
#   distinguished, since a site with a thousand pages at its root may have few sections.
# * Before that an area falls behind: by a step with 10 pages in vain, with 20, with 40 and so on,
#   its own ones and those of areas around it, and where very many like it were begun before.
#
# Dead links are counted by themselves: endless ones have the same bounds, but they do not tell what
# the pages beside them hold.

_LEARNT = 5
_FREE = 10  # with 5 single webs lose up to .07 of the area, with 20 and more all lose a little
_MANY = 50
_DEEPEST = 20


@dataclass(slots=True)
class _Pool:
    """The pages, or the directories, directly in an area.

    Attributes:
        rich, poor: how many brought something, and how many nothing.
    """

    rich: int = 0
    poor: int = 0
    pages: int = 0  # fetched in poor ones
    dead: int = 0  # links there that were

    @property
    def patience(self) -> int:
        """How much more is tried here, for what was found."""
        return 1 + self.rich.bit_length()


@dataclass(slots=True)
class _Area:
    """Pages fetched in an area, the relevant ones among them, links that were dead, and what it
    consists of.

    Its place is how many like it had brought nothing when it was begun.
    """

    pages: int = 0
    dead: int = 0
    relevant: int = 0
    place: int = 0
    below: dict[str, _Area] = field(default_factory=dict)
    pools: tuple[_Pool, _Pool] | None = None

    def pool(self, *, of_pages: bool) -> _Pool:
        if self.pools is None:
            self.pools = _Pool(), _Pool()
        return self.pools[of_pages]


class Areas:
    """Counts fetched pages by area, and allows `per_shape` (from 1) while none is relevant."""

    def __init__(self, per_shape: int) -> None:
        self._per_shape = per_shape
        self._hosts: dict[str, _Area] = {}

    def crawled(self, form: str, *, relevant: bool, failed: bool = False) -> bool:
        """Count a fetched page by `shape`; return whether it is the first find of an area."""
        host, *names = _names(form)
        area, first = self._hosts.setdefault(host, _Area()), False
        area.pages += 1
        area.relevant += relevant
        for depth, name in enumerate(names, 1):
            pool = area.pool(of_pages=depth == len(names))
            inner = area.below.get(name)
            if inner is None:
                inner = area.below[name] = _Area(place=pool.poor)
                pool.poor += 1
            was_rich = inner.relevant > 0
            inner.pages += not failed
            inner.dead += failed
            inner.relevant += relevant
            if not was_rich:
                pool.pages += not failed
                pool.dead += failed
                if relevant:
                    first = True
                    _move(pool, inner, to_rich=True)
            area = inner
        return first

    def revised(self, form: str) -> None:
        """Record that a page counted as relevant is not."""
        host, *names = _names(form)
        area = self._hosts.get(host)
        for depth, name in enumerate(names, 1):
            inner = area.below.get(name) if area else None
            if area is None or inner is None:
                return
            inner.relevant -= 1
            if not inner.relevant:
                _move(area.pool(of_pages=depth == len(names)), inner, to_rich=False)
            area = inner

    def exhausted(self, form: str) -> bool:
        """Return whether an area has used up its bound without a relevant page."""
        return any(self._is_over(*step) for step in self._steps(form))

    def steps_behind(self, form: str) -> int:
        """Return by how many steps a page comes after those of other areas."""
        return sum(
            (inner.pages // _FREE).bit_length()
            + (inner.place // (_MANY * pool.patience)).bit_length()
            for inner, pool, _ in self._steps(form)
        )

    def _is_over(self, inner: _Area, pool: _Pool, is_directory: bool) -> bool:
        learnt = _LEARNT * self._per_shape
        pages = max(inner.pages, inner.dead)
        if pages >= (learnt if is_directory else self._per_shape):
            return True
        budget = learnt * pool.patience
        if max(pool.pages, pool.dead) < budget:
            return False
        return pages * pool.poor >= budget if pages else pool.poor >= _MANY

    def _steps(self, form: str) -> list[tuple[_Area, _Pool, bool]]:
        """Return those of a page that brought nothing, with their like; whether directories."""
        host, *names = _names(form)
        directories = len(names) - (2 if "?" in names[-1] else 1)
        area, steps = self._hosts.get(host), []
        for depth, name in enumerate(names, 1):
            if area is None:
                break
            is_page = depth == len(names)
            inner = area.below.get(name)
            if inner is None or not inner.relevant:
                pool = area.pool(of_pages=is_page)
                new = _Area(place=pool.poor)
                steps.append((inner or new, pool, depth <= directories))
            area = inner
        return steps


def _move(pool: _Pool, area: _Area, *, to_rich: bool) -> None:
    sign = 1 if to_rich else -1
    pool.rich += sign
    pool.poor -= sign
    pool.pages -= sign * area.pages
    pool.dead -= sign * area.dead


def _names(form: str) -> list[str]:
    """Return host, directories and page; what one script makes is a directory of its own.

    The page begins with a space, as no directory does: one may be called like the other.

    >>> _names("h.test/"), _names("h.test/a/b/"), _names("h.test/a/show.asp?id")
    (['h.test', ' '], ['h.test', 'a', ' b'], ['h.test', 'a', 'show.asp', ' ?id'])
    """
    path, mark, query = form.partition("?")
    host, *names = path.rstrip("/").split("/", _DEEPEST + 1)
    if mark or not names:
        return [host, *names, f" {mark}{query}"]
    return [host, *names[:-1], f" {names[-1]}"]


# -- Which links a crawl may follow at all: its sites, its depth, and the bounds against traps ----

TRAP = "trap: "
"""What reasons begin with that bound endless spaces of pages."""

REDIRECT = "redirects to "
"""What stands before the target, where a link only leads on."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a crawl; 0 means none.

    Attributes:
        sites: `hosts` (those of the seeds), `domains` (their registered domains), `anywhere`.
        per_shape: most pages of one URL shape (numbers and query values left out) while none of
            them was relevant. Calendars and other endless spaces end here. Of a directory five
            times as many; areas that brought nothing share a budget (see `Areas`).
        least_score: topic score that a page must have for its links to be followed, in [0, 1];
            those of seeds always are.
    """

    sites: str = "hosts"
    max_layer: int = 20  # deepest physical layer to follow
    max_depth: int = 0  # most clicks from a seed, the seed itself counting as 1
    url_length: int = 2083  # longest URL in characters
    per_host: int = 0  # most pages of one host
    per_shape: int = 200
    per_page: int = 20_000  # most links of one page, the first ones
    repeats: int = 3  # most times one directory name may stand in a path; more is a loop of links
    private: bool = False  # follow links to private networks from public pages
    least_score: float = 0.0


_domain_of = lru_cache(maxsize=16_384)(site_of)


class Sites:
    """The hosts that a crawl keeps to.

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
        """Return why a link is not to be followed, or None; `anywhere` allows other sites."""
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
        """Count a fetched or failed page against the limits; return whether it lifts some."""
        self._pages_of_host[host_of(url)] += 1
        if self._areas is None:
            return False
        return self._areas.crawled(shape(url), relevant=relevant, failed=failed)

    def failed(self, url: str, reason: str) -> None:
        """Count a failed page against the limits: dead links can be endless too."""
        if not reason.startswith((TRAP, REDIRECT)):
            self.crawled(url, relevant=False, failed=True)

    def revised(self, url: str) -> None:
        """Record that a page counted as relevant is not."""
        if self._areas is not None:
            self._areas.revised(shape(url))


@lru_cache(maxsize=16_384)
def _repeats(url: str) -> int:
    """Return how often the most frequent directory name occurs in the path."""
    directories = [part for part in url.partition("?")[0].split("/")[3:-1] if part]
    return max(Counter(directories).values(), default=0)
