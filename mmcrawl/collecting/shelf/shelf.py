"""Where works and an editor's corrections are kept: a file beside the crawl, or its database.

Describing anew puts other works in place of the former ones; corrections stay, and are laid over
whatever is found. A work keeps its id as long as it has one of the files it had.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any, Self

from mmcrawl.collecting.shelf.corrections import Correction, corrected, merged
from mmcrawl.collecting.works.model import Work
from mmcrawl.errors import CollectionError, StoreError

Described = tuple[Work, tuple[str, ...]]
"""A work, and the keys of its files."""


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
    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the works as they were found, in order, as JSON can say them."""

    @abstractmethod
    def ids(self) -> dict[str, str]:
        """Return the id of the work that each file belongs to, by the mark of the file."""

    @abstractmethod
    def put(self, works: Sequence[tuple[dict[str, Any], Sequence[str]]]) -> None:
        """Keep works, each with the marks of its files, in place of all; wholly or not at all."""

    @abstractmethod
    def corrections(self) -> dict[str, dict[str, Any]]:
        """Return the values of corrected fields, by id of the work."""

    @abstractmethod
    def put_corrections(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep the corrected fields of some works, in place of what was kept for each of them."""

    # -- what all do alike ------------------------------------------------------------------

    def works(self) -> Iterator[Work]:
        """Yield the works as they are, with what was corrected; hidden ones are left out."""
        corrections = self.corrections()
        for row in self.rows():
            values = corrections.get(row["id"], {})
            if not values.get("hidden"):
                yield corrected(Work.from_plain(row), values)

    def find(self, id_: str) -> Work:
        """Return a work by its id.

        Raises:
            CollectionError: there is none.
        """
        for row in self.rows():
            if row["id"] == id_:
                return corrected(Work.from_plain(row), self.corrections().get(id_, {}))
        raise CollectionError(f"there is no work {id_!r}; `scrapy works list` shows all")

    def describe(self, works: Iterable[Described]) -> int:
        """Keep works in place of the former ones, under the ids they had; return how many."""
        found = [(work, [_mark(key) for key in keys]) for work, keys in works]
        before, moved = self.ids(), {}
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
            named.append((replace(work, id=id_).as_plain(), keys))
        self.put(named)
        self._move_corrections({old: new for old, new in moved.items() if old not in taken})
        return len(named)

    def correct(self, corrections: Iterable[Correction]) -> int:
        """Take over corrections; return how many works they are of.

        Raises:
            CollectionError: a work is not there, or was corrected before it was; nothing changes.
        """
        known = {row["id"] for row in self.rows()}
        before = self.corrections()
        changed: dict[str, dict[str, Any]] = {}
        for one in corrections:
            if one.work not in known and one.work not in before:
                raise CollectionError(
                    f"there is no work {one.work!r}; `scrapy works list` shows all"
                )
            changed[one.work] = merged(changed.get(one.work, before.get(one.work, {})), one.values)
        self.put_corrections(changed)
        return len(changed)

    def _move_corrections(self, moved: Mapping[str, str]) -> None:
        """Give what was corrected of works that are part of another one now to that one."""
        kept = self.corrections()
        changed = {new: kept[old] | kept.get(new, {}) for old, new in moved.items() if old in kept}
        if changed:
            gone: dict[str, dict[str, Any]] = {old: {} for old in moved if old in kept}
            self.put_corrections(changed | gone)


def _mark(key: str) -> str:
    """Return what tells a file from others: addresses may hold what no database takes."""
    return blake2b(key.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _free(id_: str, taken: set[str]) -> str:
    """Return an id that no other work has."""
    number = int(id_, 16)
    while f"{number:016x}" in taken:
        number = (number + 1) % (1 << 64)
    return f"{number:016x}"


def as_row(text: str) -> dict[str, Any]:
    """Return what a row of JSON says.

    Raises:
        StoreError: it is none.
    """
    try:
        row: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise StoreError(
            f"a record of the works is damaged ({error}); run `scrapy works describe` again,"
            " or restore it from a copy"
        ) from error
    return row
