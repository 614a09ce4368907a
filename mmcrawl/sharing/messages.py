"""What a worker's crawl and its exchange with the shared store tell each other, in one process."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mmcrawl.sharing.learnt import Learnt
from mmcrawl.sharing.log import StoredPart
from mmcrawl.sharing.mail import Letter
from mmcrawl.stores.patient_server import Row

# -- what the crawl hands over ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Report:
    """What happened in the parts of a worker.

    Attributes:
        entries: rows that changed, encoded, by part.
        letters: for other parts, encoded.
        media: documents of media pages.
        taken_in: letters whose links are in the entries, by name with their part.
        since: when the first of it happened, by the monotonic clock.
        terms: in which the crawl has its parts; what is of another term is void.
    """

    entries: Mapping[int, bytes]
    letters: Sequence[tuple[int, bytes]]
    media: Sequence[Row]
    taken_in: Mapping[str, int]
    since: float
    terms: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Handed:
    """Parts of which everything was reported, with their terms, and who is to have them."""

    parts: Mapping[int, int]
    to: str


@dataclass(frozen=True, slots=True)
class Copied:
    """A part as a connection sees it that was opened after the last report."""

    part: int
    term: int
    chunks: Callable[[sqlite3.Connection, int], Iterable[bytes]]
    db: sqlite3.Connection


@dataclass(frozen=True, slots=True)
class Broken:
    """A part cannot be read, in its present term, and why."""

    part: int
    term: int
    why: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Letters cannot be taken in, and why."""

    name: str
    why: str


Task: TypeAlias = Report | Handed | Copied | Broken | Refused | Learnt


# -- what the crawl is told ---------------------------------------------------------------------


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
    """The crawl is over, and why."""

    reason: str


News: TypeAlias = Taken | Lost | Arrived | Wanted | SnapshotDue | Heard | Moved | Over
