"""Sizes as people write them, and limits on what is fetched."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from mmcrawl.text.media_kinds import KINDS, kind_named

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(I?)B?", re.IGNORECASE)
ALL = "all"


def as_size(text: str) -> int:
    """Return a number of bytes.

    >>> as_size("20GB"), as_size("1.5 MiB"), as_size("700")
    (20000000000, 1572864, 700)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size; give one as 700MB or 20GB")
    unit = _UNITS[match[2].upper()]
    if match[3]:
        unit = 1024 ** list(_UNITS).index(match[2].upper())
    return int(float(match[1]) * unit)


def as_sizes(text: str) -> dict[str, int]:
    """Return the most bytes of each kind, and under ``all`` of all together.

    >>> as_sizes("20GB,video:15GB")
    {'all': 20000000000, 'video': 15000000000}
    """
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        kind, colon, size = part.rpartition(":")
        kind = kind.strip() if colon else ALL
        try:
            name = ALL if kind == ALL else kind_named(kind)
        except ValueError as error:
            raise ValueError(f"{error}; there are {', '.join(KINDS)}") from None
        sizes[name] = as_size(size)
    return sizes


class Room(NamedTuple):
    """The bytes left."""

    size: int
    reason: str


@dataclass(slots=True)
class Budget:
    """A budget of bytes: allowed, kept, and in progress. Thread-safe.

    Attributes:
        most: most of each kind, and of ``all``; what is not named has no bound.
        used: of each kind: those held, and those promised to files in progress.
    """

    per_file: int = 0  # most of one file, 0 for any
    most: Mapping[str, int] = field(default_factory=dict)
    disk_left: int = 0  # bytes of the disk that are to stay free
    used: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def refusal(self, kind: str, more: int, size: int, free: int) -> str:
        """Return why more bytes may not be kept, "" if they may."""
        if self.per_file and size > self.per_file:
            return self._of_file.reason
        return next((room.reason for room in self._rooms(kind, free) if more > room.size), "")

    def room(self, kind: str, free: int) -> Room:
        """Return how much a further file may have; for the arguments see `refusal`."""
        rooms: list[Room] = [*self._rooms(kind, free), *([self._of_file] if self.per_file else ())]
        return min(rooms, key=lambda room: room.size)

    @property
    def _of_file(self) -> Room:
        return Room(self.per_file, f"larger than max_file ({self.per_file:,} bytes)")

    def _rooms(self, kind: str, free: int) -> Iterator[Room]:
        for name, used in ((kind, self.used.get(kind, 0)), (ALL, sum(self.used.values()))):
            most = self.most.get(name)
            if most is not None:
                of = "" if name == ALL else f" of {name}"
                yield Room(most - used, f"no room within max_media ({most:,} bytes{of})")
        yield Room(
            free - self.disk_left,
            f"no room on the disk, of which {self.disk_left:,} bytes are to stay free",
        )

    def promise(self, kind: str, size: int) -> None:
        """Count bytes of a file in progress; those of one that is given up are subtracted."""
        with self._lock:
            self.used[kind] = self.used.get(kind, 0) + size


@dataclass(slots=True)
class Share(Budget):
    """The share of a stream's pieces in a budget: they count as one file of its kind."""

    whole: Budget = field(default_factory=Budget)
    kind: str = ""
    size: int = 0

    def refusal(self, kind: str, more: int, size: int, free: int) -> str:
        return self.whole.refusal(self.kind, more, self.size + more, free)

    def promise(self, kind: str, size: int) -> None:
        with self._lock:
            self.size += size
        self.whole.promise(self.kind, size)
