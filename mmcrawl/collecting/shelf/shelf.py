"""Where works and an editor's corrections are kept: a file beside the crawl, or its database.

Describing anew puts other works in place of the former ones; corrections stay, and are laid over
whatever is found. A work keeps its id as long as it has one of the files it had.
"""

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Self

from mmcrawl.collecting.shelf.corrections import Correction, corrected, merged
from mmcrawl.collecting.works.model import Work
from mmcrawl.errors import MissingRecordError, StoreError

Described = tuple[Work, tuple[str, ...]]
"""A work, and the keys of its files."""

Record = dict[str, Any]
"""What JSON can say of something."""

Change = Callable[[Mapping[str, Record]], Mapping[str, Record]]
"""Given all records of a kind by id, returns those to be put in place; an empty one is removed."""

CORRECTIONS = "correction"
"""Kind of records: the values of corrected fields, by id of the work."""

COLLECTIONS = "collection"
"""Kind of records: what people collected, see `mmcrawl.collecting.shelf.collections`."""

MARKS = "mark"
"""Kind of records: pages marked as right or wrong, see `mmcrawl.collecting.shelf.marks`."""

SUGGESTIONS = "suggestion"
"""Kind of records: words for topics, see `mmcrawl.collecting.shelf.suggestions`."""


class Shelf(ABC):
    """Works and corrections. Methods raise StoreError where they cannot be read or written.

    Attributes:
        name: How messages call it.
    """

    name: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- what a database has to do ----------------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """Close it."""

    @abstractmethod
    def rows(self) -> Iterator[Record]:
        """Yield the works as they were found, in order."""

    @abstractmethod
    def row(self, id_: str) -> Record | None:
        """Return a work as it was found, None if there is none."""

    @abstractmethod
    def ids(self) -> dict[str, str]:
        """Return the id of the work that each file belongs to, by the mark of the file."""

    @abstractmethod
    def put(self, works: Sequence[tuple[Record, Sequence[str]]]) -> None:
        """Keep works, each with the marks of its files, in place of all; wholly or not at all."""

    @abstractmethod
    def records(self, kind: str) -> dict[str, Record]:
        """Return all records of a kind, by id."""

    @abstractmethod
    def change(self, kind: str, change: Change) -> None:
        """Change records of a kind, so that of two who do it at once neither is lost.

        `change` may be called several times. Works that are corrected are marked as changed now.
        """

    @abstractmethod
    def revision(self) -> int:
        """Return a number that grows with whatever is written."""

    # -- what all do alike ------------------------------------------------------------------

    def works(self, *, hidden: bool = False) -> Iterator[Work]:
        """Yield the works as they are, with what was corrected; also hidden ones if wanted."""
        corrections = self.corrections()
        for row in self.rows():
            values = corrections.get(row["id"], {})
            if hidden or not values.get("hidden"):
                yield corrected(Work.from_plain(row), values)

    @property
    def is_described(self) -> bool:
        """Whether works were described, rather than only pages marked or words suggested."""
        if next(self.rows(), None) is not None:
            return True
        return not any(map(self.records, (MARKS, SUGGESTIONS)))

    def find(self, id_: str) -> Work:
        """Return a work by its id, also a hidden one.

        Raises:
            MissingRecordError: there is none.
        """
        work = self.find_with(id_, self.corrections())
        if work is None:
            raise _no_work(id_)
        return work

    def works_of(self, ids: Iterable[str]) -> list[Work]:
        """Return the works of some ids, as far as there are any, also hidden ones."""
        corrections = self.corrections()
        return [work for id_ in ids if (work := self.find_with(id_, corrections)) is not None]

    def find_with(self, id_: str, corrections: Mapping[str, Record]) -> Work | None:
        """Return a work by its id, given what `corrections` returned; None if there is none."""
        row = self.row(id_)
        return None if row is None else corrected(Work.from_plain(row), corrections.get(id_, {}))

    def corrections(self) -> dict[str, Record]:
        """Return the values of corrected fields, by id of the work."""
        return self.records(CORRECTIONS)

    def describe(self, works: Iterable[Described]) -> int:
        """Keep works in place of the former ones, under the ids they had; return how many."""
        found = [(work, [_mark(key) for key in keys]) for work, keys in works]
        before, moved = self.ids(), {}
        try:
            kept = {row["id"]: row for row in self.rows()}
        except StoreError:  # a record is damaged: all count as changed
            kept = {}
        now = time.time()
        named, taken = [], set()
        # A work that has most of the files of a former one is that one.
        claims = [
            (-sum(before.get(key) == id_ for key in keys), number, id_)
            for number, (_, keys) in enumerate(found)
            for id_ in {before[key] for key in keys if key in before}
        ]
        given: dict[int, str] = {}
        for _, number, id_ in sorted(claims):
            if number not in given and id_ not in taken:
                given[number] = id_
                taken.add(id_)
        for number, (work, keys) in enumerate(found):
            id_ = given.get(number) or _free(work.id, taken)
            taken.add(id_)
            moved.update({before[key]: id_ for key in keys if key in before})
            row = json.loads(json.dumps(replace(work, id=id_).as_plain()))
            row["changed_at"] = _changed_at(row, kept.get(id_), now)
            named.append((row, keys))
        self.put(named)
        self._move({old: new for old, new in moved.items() if old not in taken})
        return len(named)

    def correct(self, corrections: Iterable[Correction]) -> int:
        """Take over corrections; return how many works they are of.

        Raises:
            MissingRecordError: a work is not there, nor was it corrected before; nothing changes.
        """
        said = list(corrections)
        known = {one.work for one in said if self.row(one.work) is not None}

        def change(before: Mapping[str, Record]) -> dict[str, Record]:
            changed: dict[str, Record] = {}
            for one in said:
                if one.work not in known and one.work not in before:
                    raise _no_work(one.work)
                former = changed.get(one.work, before.get(one.work, {}))
                changed[one.work] = merged(former, one.values)
            return changed

        self.change(CORRECTIONS, change)
        return len({one.work for one in said})

    def _move(self, moved: Mapping[str, str]) -> None:
        """Give what is said of works that are part of another one now to that one."""

        def corrections(before: Mapping[str, Record]) -> dict[str, Record]:
            old = [id_ for id_ in moved if id_ in before]
            changed = {moved[id_]: before[id_] | before.get(moved[id_], {}) for id_ in old}
            return changed | {id_: {} for id_ in old}

        def collections(before: Mapping[str, Record]) -> dict[str, Record]:
            return {
                id_: record | {"members": _moved(record["members"], moved)}
                for id_, record in before.items()
                if any(member["work"] in moved for member in record["members"])
            }

        if moved:
            self.change(CORRECTIONS, corrections)
            self.change(COLLECTIONS, collections)


def _moved(members: Iterable[Record], moved: Mapping[str, str]) -> list[Record]:
    """Return the members of a collection under their new ids, each once."""
    found: dict[str, Record] = {}
    for member in members:
        id_ = moved.get(member["work"], member["work"])
        found.setdefault(id_, member | {"work": id_})
    return list(found.values())


def _changed_at(row: Record, before: Record | None, now: float) -> float:
    """Return when a work changed last: now, unless it is as it was before."""
    same = before is not None and {**row, "changed_at": 0} == {**before, "changed_at": 0}
    return float(before["changed_at"]) if same and before is not None else now


def _no_work(id_: str) -> MissingRecordError:
    return MissingRecordError(f"there is no work {id_!r}; `scrapy works list` shows all")


def _mark(key: str) -> str:
    """Return what tells a file from others: addresses may hold what no database takes."""
    return blake2b(key.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _free(id_: str, taken: set[str]) -> str:
    """Return an id that no other work has."""
    number = int(id_, 16)
    while f"{number:016x}" in taken:
        number = (number + 1) % (1 << 64)
    return f"{number:016x}"


def as_row(text: str) -> Record:
    """Return what a row of JSON says.

    Raises:
        StoreError: it is none.
    """
    try:
        row: Record = json.loads(text)
    except ValueError as error:
        raise StoreError(
            f"a record of the works is damaged ({error}); run `scrapy works describe` again,"
            " or restore it from a copy"
        ) from error
    return row
