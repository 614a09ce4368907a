"""What search by URL patterns (`urlrule.py`) knows of each host, and of the directories there.

The addresses of a site's waiting links, kept so that all are measured against a pattern at once.

Links of as many directories and with the same query keys are of one form. A form is a table of
numbers, a row a link: the 64-bit hashes of its directories and query values. Two different parts
have the same hash with probability 2⁻⁶⁴.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmcrawl.scoring.link_features import directory_of
from mmcrawl.scoring.patterns import ANY, Pattern, SitePatterns, UrlParts, query_keys

_Ids = np.ndarray[Any, np.dtype[Any]]
_Rows = np.ndarray[Any, np.dtype[np.int64]]
_Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(slots=True)
class _Form:
    """Links with the same number of directories and the same query keys."""

    directories: int
    keys: tuple[str, ...]
    links: "array[int]" = field(default_factory=lambda: array("I"))
    parts: "array[int]" = field(default_factory=lambda: array("q"))

    def ids(self) -> _Ids:
        return np.frombuffer(self.links, dtype=np.uint32)

    def rows(self) -> _Rows:
        return np.frombuffer(self.parts, dtype=np.int64).reshape(len(self.links), -1)

    def keep(self, kept: _Flags) -> None:
        links, rows = self.ids()[kept], self.rows()[kept]
        self.links, self.parts = array("I", links.tobytes()), array("q", rows.tobytes())

    def gaps(self, pattern: Pattern) -> _Ids:
        """Return the distance of every link to a pattern of its host (4.3)."""
        rows, own = self.rows(), len(pattern.directories)
        unequal = _unequal(rows[:, : self.directories], pattern.directories).sum(axis=1)
        missing = max(own - self.directories, 0 if pattern.longer else self.directories - own)
        other_query: _Ids = np.ones(len(rows), dtype=bool)
        if self.keys == tuple(key for key, _ in pattern.query):
            values = [value for _, value in pattern.query]
            other_query = np.any(_unequal(rows[:, self.directories :], values), axis=1)
        return np.asarray((4 * unequal + 2 * missing + 1) * (1 + other_query) - 1)


class WaitingUrls:
    """Links of one host with what their addresses are made of, in no order."""

    def __init__(self) -> None:
        self._forms: dict[tuple[int, tuple[str, ...]], _Form] = {}

    def __len__(self) -> int:
        return sum(len(form.links) for form in self._forms.values())

    def add(self, link: int, url: UrlParts) -> None:
        """Take in a link that is not there yet."""
        key = len(url.directories), query_keys(url)
        form = self._forms.get(key)
        if form is None:
            form = self._forms[key] = _Form(*key)
        form.links.append(link)
        form.parts.extend(map(hash, url.directories))
        form.parts.extend(hash(value) for _, value in url.query)

    def keep(self, states: _Ids, state: int) -> None:
        """Forget the links whose entry in `states` is another than `state`."""
        for key, form in list(self._forms.items()):
            form.keep(states[form.ids()] == state)
            if not form.links:
                del self._forms[key]

    def gaps(self, pattern: Pattern) -> Iterator[tuple[_Ids, _Ids]]:
        """Yield links with their distances to a pattern (0: it matches), a few arrays for all."""
        for form in self._forms.values():
            yield form.ids(), form.gaps(pattern)


def _unequal(rows: _Rows, parts: Sequence[str]) -> _Flags:
    """Tell for every row which of its numbers are not those of `parts`; `*` equals any."""
    count = min(rows.shape[1], len(parts))
    wanted = np.array([hash(part) for part in parts[:count]], dtype=np.int64)
    literal = np.array([part != ANY for part in parts[:count]], dtype=bool)
    return np.asarray((rows[:, :count] != wanted) & literal)


_Numbers = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(slots=True)
class Site:
    """What is known of one host.

    `probed` and `unprobed` count, by physical layer, the probes begun and the waiting links that
    match no pattern; `under_way` are the probes whose outcome is not known yet, and `holding` says
    whether links that are no probes wait for them. `measured` is how many URLs each pattern
    generalised when all waiting links were last measured against it.
    """

    host: str
    patterns: SitePatterns
    links: "array[int]" = field(default_factory=lambda: array("I"))
    urls: WaitingUrls = field(default_factory=WaitingUrls)
    measured: list[int] = field(default_factory=list)
    probing: bool = True
    holding: bool = True
    probed: Counter[int] = field(default_factory=Counter)
    unprobed: Counter[int] = field(default_factory=Counter)
    under_way: int = 0
    largest: float = 0.0
    fetched_since_rescore: int = 0


class Directories:
    """How many links, pages and media pages each directory has.

    The pages that one script makes (`show.asp?id=…`) count as a directory of their own.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.links = array("i")
        self.pages = array("i")
        self.relevant = array("i")

    def place(self, url: str) -> int:
        """Return the number of the directory a new link is in, and count the link."""
        number = self._numbers.setdefault(directory_of(url), len(self.links))
        if number == len(self.links):
            for column in (self.links, self.pages, self.relevant):
                column.append(0)
        self.links[number] += 1
        return number

    def count(self, number: int, *, relevant: bool) -> None:
        """Count a page fetched from a directory."""
        self.pages[number] += 1
        self.relevant[number] += relevant

    def rates(self, numbers: _Ids) -> _Numbers:
        """Return the share of media pages to expect in each of some directories, in (0, 1)."""
        relevant = np.frombuffer(self.relevant, dtype=np.int32)[numbers]
        return np.asarray((relevant + 1) / (np.frombuffer(self.pages, dtype=np.int32)[numbers] + 2))
