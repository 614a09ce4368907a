"""The parts that a worker has in the shared store: what it writes of them, takes and gives."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass

from mmcrawl.cluster.log import PartLogs
from mmcrawl.cluster.mail import Mailboxes
from mmcrawl.cluster.members import Members
from mmcrawl.cluster.messages import Lost, Report, SnapshotDue, Taken

logger = logging.getLogger(__name__)

_AT_ONCE = 128  # parts that are read at once
_SMALLEST_LOG = 256 << 10  # bytes that no snapshot is made for


@dataclass(slots=True)
class _Held:
    """A part of this worker: next number and term of its log; bytes of that, and of a snapshot."""

    number: int
    term: int
    log: int
    snapshot: int
    is_due: bool = False


class Holdings:
    """The parts of a worker.

    Args:
        logs: of all parts.
        mail: for them.
        members: tell who may have a part.
        taught: so many links of each part had ended when somebody learnt from it last.
        tell: tells the crawl something.
        sign: gives a sign of the worker.
        keep_alive: does so in the midst of something long, if it is time.

    Attributes:
        parts: the worker's own.
        aside: those that cannot be read.
        gives: those it gave up, by the name of the worker that is to have them, with their terms.
    """

    def __init__(
        self,
        logs: PartLogs,
        mail: Mailboxes,
        members: Members,
        taught: Mapping[int, int],
        *,
        tell: Callable[..., None],
        sign: Callable[[], object],
        keep_alive: Callable[[], None],
    ) -> None:
        self._logs, self._mail, self._members, self._taught = logs, mail, members, taught
        self._tell, self._sign, self._keep_alive = tell, sign, keep_alive
        self.parts: dict[int, _Held] = {}
        self.aside: set[int] = set()
        self.gives: dict[str, dict[int, int]] = {}

    @property
    def terms(self) -> dict[int, int]:
        """The worker's own parts, with the terms of their logs."""
        return {part: held.term for part, held in self.parts.items()}

    @property
    def all(self) -> set[int]:
        """The parts that it has, keeps aside or gives."""
        given = (part for parts in self.gives.values() for part in parts)
        return {*self.parts, *self.aside, *given}

    def _current(self, terms: Mapping[int, int]) -> dict[int, int]:
        """Return those of some parts that are still this worker's in the terms in which they were.

        A part can be lost and taken again before the crawl hears of either.
        """
        return {
            part: term
            for part, term in terms.items()
            if part in self.parts and self.parts[part].term == term
        }

    def write(self, report: Report) -> list[str]:
        """Write what is reported of the parts; return the letters that this took in."""
        current = self._current(report.terms)
        own = {part: data for part, data in report.entries.items() if part in current}
        entries = {part: (self.parts[part].number, current[part], own[part]) for part in own}
        lost = self._logs.append(entries) if entries else set()
        for part in own.keys() - lost:
            held = self.parts[part]
            held.number += 1
            held.log += len(own[part])
            if held.log > max(_SMALLEST_LOG, held.snapshot // 2) and not held.is_due:
                held.is_due = True
                self._tell(SnapshotDue(part))
        self.lose(lost)
        current = self._current(current)
        return [name for name, part in report.taken_in.items() if part in current]

    def _drop(self, part: int) -> bool:
        """Forget a part, and its letters, which its next owner gets; tell whether it was there."""
        self._mail.leave(part)
        return self.parts.pop(part, None) is not None

    def lose(self, parts: Iterable[int]) -> None:
        """Forget parts that are others' by now, and tell the crawl."""
        lost = [part for part in parts if self._drop(part)]
        if lost:
            logger.info("Parts of the crawl that are another worker's by now: %d", len(lost))
            self._tell(*map(Lost, lost))

    def copy(self, part: int, term: int, db: sqlite3.Connection, chunks: Iterable[bytes]) -> None:
        """Write a snapshot of a part as it was in a term; close what its chunks are read from."""
        with closing(db):
            if self._current({part: term}):
                held = self.parts[part]
                alive = map(self._alive_after, chunks)
                held.snapshot = self._logs.save_snapshot(part, held.number, held.term, alive)
                held.log, held.is_due = 0, False

    def _alive_after(self, chunk: bytes) -> bytes:
        self._keep_alive()
        return chunk

    # -- what it gives and takes ----------------------------------------------------------------

    def give(self, parts: Mapping[int, int], to: str) -> None:
        """Give parts up, in the terms in which they were, for another worker to take."""
        given = self._current(parts)
        self.gives.setdefault(to, {}).update(given)
        for part in given:
            self._drop(part)
        self._sign()

    def end_giving(self) -> set[int]:
        """Forget gifts that were taken; return those whose receiver is no more.

        Nobody else takes these: the log says that they are this worker's.
        """
        living = self._members.living
        left = {
            name: {part: term for part, term in parts.items() if not self._members.has(part, term)}
            for name, parts in self.gives.items()
        }
        self.gives = {name: parts for name, parts in left.items() if parts and name in living}
        return {part for name, parts in left.items() if name not in living for part in parts}

    def take(self, parts: set[int], offered: Mapping[int, int]) -> None:
        """Take parts over that nobody has, or that were offered in their present term."""
        for first in range(0, len(parts), _AT_ONCE):
            self._take_some(sorted(parts)[first : first + _AT_ONCE], offered)
            self._keep_alive()

    def _take_some(self, parts: Collection[int], offered: Mapping[int, int]) -> None:
        # Who has just taken a part has perhaps not yet told of it.
        found = {
            part: stored
            for part, stored in self._logs.read(parts).items()
            if stored.term == offered.get(part) or not self._members.may_live(stored.owner)
        }
        sound = {part: stored for part, stored in found.items() if not stored.fault}
        for part in found.keys() - sound.keys():
            self._keep_aside(part, found[part].fault)
        if not sound:
            return
        for part in sorted(self._logs.claim(sound)):
            stored = sound[part]
            self.parts[part] = _Held(stored.number + 1, stored.term + 1, stored.log, stored.size)
            self._tell(Taken(part, stored, self._taught.get(part, 0)))
        self._sign()  # before anything is written: others may have to be told that it is not theirs

    def set_aside(self, part: int, term: int, why: str) -> None:
        """Leave a part alone that the crawl cannot read as it was in a term."""
        if self._current({part: term}):
            self._keep_aside(part, why)

    def _keep_aside(self, part: int, why: str) -> None:
        """Leave a part alone that cannot be read; the others go on."""
        logger.error(
            "Part %d of the crawl cannot be read (%s) and is left alone, with its hosts; restore"
            " the database from a copy to go on with it",
            part,
            why,
        )
        self._drop(part)
        self.aside.add(part)
