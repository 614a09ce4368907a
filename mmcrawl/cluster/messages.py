"""What a worker's crawl and its exchange with the shared store tell each other, in one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mmcrawl.cluster.learnt import Learnt
from mmcrawl.cluster.log import StoredPart
from mmcrawl.cluster.mail import Letter
from mmcrawl.cluster.store import Row


@dataclass(frozen=True, slots=True)
class Report:
    """What happened in the parts of a worker.

    Attributes:
        entries: rows that changed, encoded, by part.
        letters: for other parts, encoded.
        media: documents of media pages.
        dropped: keys of those that turned out to be none.
        taken_in: letters whose links are in the entries, by name with their part.
        since: when the first of it happened, by the monotonic clock.
        terms: in which the crawl has its parts; what is of another term is void.
    """

    entries: Mapping[int, bytes]
    letters: Sequence[tuple[int, bytes]]
    media: Sequence[Row]
    dropped: Sequence[str]
    taken_in: Mapping[str, int]
    since: float
    terms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Taken:
    """A part is this worker's; of `taught` links of it that had ended others have learnt."""

    part: int
    stored: StoredPart
    taught: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A part is another worker's; what was not written of it is void."""

    part: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """Letters for a part; `name` is to be reported with what they brought."""

    name: str
    part: int
    letters: tuple[Letter, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Another worker is to get so many parts with something to do, and so many others."""

    to: str
    active: int
    others: int


@dataclass(frozen=True, slots=True)
class SnapshotDue:
    """A snapshot of a part is to be made."""

    part: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What others learnt, by their names; `as_own` if it is to count as this worker's."""

    learnt: Mapping[str, Learnt]
    as_own: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """Hosts of seeds and the hosts they redirect to."""

    hosts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Over:
    """The crawl is over, and why; of one that found nothing, why of each seed."""

    reason: str
    silent: tuple[str, ...] = ()


News: TypeAlias = Taken | Lost | Arrived | Wanted | SnapshotDue | Heard | Moved | Over
