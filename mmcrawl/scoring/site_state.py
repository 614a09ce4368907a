"""What search by URL patterns (`urlrule.py`) knows of links and of each site.

The addresses of a site's waiting links are kept so that all are measured against a pattern at once.
Links of as many directories and with the same query keys are of one form. A form is a table of
numbers, a row a link: the 32-bit hashes of its directories and query values. Two different parts
have the same hash with probability 2⁻³².
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from mmcrawl.scoring.patterns import ANY, Pattern, SitePatterns, UrlParts, query_keys

Ids = np.ndarray[Any, np.dtype[Any]]
Numbers = np.ndarray[Any, np.dtype[np.float64]]
_Rows = np.ndarray[Any, np.dtype[np.uint32]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]

UNKNOWN, WAITING, TAKEN = range(3)
"""States of a link."""
NO_PATTERN = -1
_FAR = 2**16 - 1  # no pattern of a site is farther than that from an address that can be asked for
_HASH = 2**32 - 1


@dataclass(slots=True)
class _Form:
    """Links with the same number of directories and the same query keys."""

    directories: int
    keys: tuple[str, ...]
    links: "array[int]" = field(default_factory=lambda: array("I"))
    parts: "array[int]" = field(default_factory=lambda: array("I"))

    def ids(self) -> Ids:
        return np.frombuffer(self.links, dtype=np.uint32)

    def rows(self) -> _Rows:
        return np.frombuffer(self.parts, dtype=np.uint32).reshape(len(self.links), -1)

    def keep(self, kept: _Flags) -> None:
        links, rows = self.ids()[kept], self.rows()[kept]
        self.links, self.parts = array("I", links.tobytes()), array("I", rows.tobytes())

    def gaps(self, pattern: Pattern) -> Ids:
        """Return the distance of every link to a pattern of its host (4.3)."""
        rows, own = self.rows(), len(pattern.directories)
        unequal = _unequal(rows[:, : self.directories], pattern.directories).sum(axis=1)
        missing = max(own - self.directories, 0 if pattern.longer else self.directories - own)
        other_query: Ids = np.ones(len(rows), dtype=bool)
        if self.keys == tuple(key for key, _ in pattern.query):
            values = [value for _, value in pattern.query]
            other_query = np.any(_unequal(rows[:, self.directories :], values), axis=1)
        return np.asarray((4 * unequal + 2 * missing + 1) * (1 + other_query) - 1)


class WaitingUrls:
    """Links of one host with what their addresses are made of, in no order."""

    def __init__(self) -> None:
        self._forms: dict[tuple[int, tuple[str, ...]], _Form] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def links(self) -> Ids:
        """Return the links in ascending order."""
        ids = [form.ids() for form in self._forms.values()]
        return np.sort(np.concatenate(ids)) if ids else np.empty(0, dtype=np.uint32)

    def add(self, link: int, url: UrlParts) -> None:
        """Add a new link."""
        key = len(url.directories), query_keys(url)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = _Form(*key)
        form.links.append(link)
        form.parts.extend(map(_hash, url.directories))
        form.parts.extend(_hash(value) for _, value in url.query)
        self._size += 1

    def keep_waiting(self, states: Ids) -> None:
        """Forget the links whose entry in `states` is another than `WAITING`."""
        for key, form in list(self._forms.items()):
            form.keep(states[form.ids()] == WAITING)
            if not form.links:
                del self._forms[key]
        self._size = sum(len(form.links) for form in self._forms.values())

    def gaps(self, pattern: Pattern) -> Iterator[tuple[Ids, Ids]]:
        """Yield links with their distances to a pattern (0: it matches), a few arrays for all."""
        for form in self._forms.values():
            yield form.ids(), form.gaps(pattern)


def _hash(part: str) -> int:
    return hash(part) & _HASH


def _unequal(rows: _Rows, parts: Sequence[str]) -> _Flags:
    """Return for every row which of its numbers differ from those of `parts`; `*` equals any."""
    count = min(rows.shape[1], len(parts))
    wanted = np.array([_hash(part) for part in parts[:count]], dtype=np.uint32)
    literal = np.array([part != ANY for part in parts[:count]], dtype=bool)
    return np.asarray((rows[:, :count] != wanted) & literal)


@dataclass(slots=True)
class Site:
    """The state of one host.

    Attributes:
        number: of the site.
        host: its name.
        patterns: what was learnt.
        urls: its waiting links, and some that wait no more.
        measured: how many URLs each pattern generalised when all waiting links were last measured
            against it.
        largest: rank of a waiting link.
        fetched_since_rescore: links, since all were scored.
    """

    number: int
    host: str
    patterns: SitePatterns
    urls: WaitingUrls = field(default_factory=WaitingUrls)
    measured: list[int] = field(default_factory=list)
    largest: float = 0.0
    fetched_since_rescore: int = 0


class Links:
    """Links, in columns by their ids: 23 bytes a link.

    Attributes:
        state: one of the states above.
        site: number of its site.
        pattern: index of the pattern it matches, `NO_PATTERN` for none.
        distance: to the nearest pattern (4.3), 1 where it is less or there is none.
        content: content score (4.7).
        inflow: what pages have passed on to it (4.6).
    """

    def __init__(self) -> None:
        self.state = bytearray()
        self.site = array("i")
        self.pattern = array("i")
        self.distance = array("H")
        self.content = array("f")
        self.inflow = array("d")

    def reserve(self, link: int) -> None:
        """Make room for a link."""
        missing = link + 1 - len(self.state)
        if missing > 0:
            self.state.extend(bytes(missing))
            for ids in (self.site, self.pattern):
                ids.extend([-1] * missing)
            for numbers in (self.distance, self.content, self.inflow):
                numbers.frombytes(bytes(numbers.itemsize * missing))

    def waiting(self, site: Site) -> Ids:
        """Return the waiting links of a site, and forget the others there."""
        state = np.frombuffer(self.state, dtype=np.uint8)
        site.urls.keep_waiting(state)
        return site.urls.links()

    def measure(self, site: Site, link: int, url: UrlParts) -> None:
        """Find the pattern a new link matches, and how far the nearest is (1 if there is none)."""
        best = site.patterns.best(url)
        gap = site.patterns.distance(url)
        self.pattern[link] = NO_PATTERN if best is None else best
        self.distance[link] = 1 if gap is None else min(max(gap, 1), _FAR)

    def measure_all(self, site: Site) -> None:
        """Measure the waiting links against the patterns that changed since this was done last.

        The others cannot have become the nearest or the most general one of a link meanwhile.
        """
        links = self.waiting(site)
        pattern = np.frombuffer(self.pattern, dtype=np.int32)
        distance = np.frombuffer(self.distance, dtype=np.uint16)
        sizes = [learnt.urls for learnt in site.patterns.learnt]
        if not any(site.measured):
            pattern[links] = NO_PATTERN
            distance[links] = _FAR if any(sizes) else 1
        for index, (size, before) in enumerate(zip_longest(sizes, site.measured, fillvalue=0)):
            if size != before:
                _measure_against(site, index, np.array(sizes), pattern, distance)
        site.measured = sizes


def _measure_against(site: Site, index: int, sizes: Ids, pattern: Ids, distance: Ids) -> None:
    """Record for every waiting link whether one pattern is the nearest and the one to take.

    Of several that match, the one that generalises most URLs is taken, then the oldest.
    """
    for links, gaps in site.urls.gaps(site.patterns.learnt[index].pattern):
        distance[links] = np.minimum(distance[links], np.clip(gaps, 1, _FAR))
        matching = links[gaps == 0]
        taken = pattern[matching]
        alike = (sizes[taken] == sizes[index]) & (taken > index)
        better = (taken == NO_PATTERN) | (sizes[taken] < sizes[index]) | alike
        pattern[matching[better]] = index
