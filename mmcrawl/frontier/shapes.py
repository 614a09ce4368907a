"""Shapes of addresses that are learnt: names that differ without end, in letters or in ids.

The directories of each host are kept as a tree. A directory with more than 200 different pages
counts as one shape, whatever its pages are called: `/x/<anything>`. Where a directory has more than
200 others directly below it, these count as one from then on, with all that lies further below:
`/x/<anything>/<anything>`. Pages and directories are told apart, since a site with a thousand pages
at its root may have few sections.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["LearntShapes"]

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
