"""Collections that people make of works: in their order, with tags, notes and ratings."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from mmcrawl.collecting.shelf.records import COLLECTIONS, Record
from mmcrawl.collecting.shelf.shelf import Shelf
from mmcrawl.collecting.works.model import Work
from mmcrawl.errors import CollectionError, EntryError, MissingRecordError

BEST = 5
"""The best rating; 0 is none."""

_LONGEST_NAME, _LONGEST_NOTE, _LONGEST_TAG, _MOST_TAGS = 200, 5_000, 50, 20
_MOST = 100_000  # works


@dataclass(frozen=True, slots=True)
class Member:
    """A work in a collection.

    Attributes:
        work: Its id.
        tags, note: What people say of it.
        rating: 1 to `BEST`, 0 for none.
    """

    work: str
    tags: tuple[str, ...] = ()
    note: str = ""
    rating: int = 0


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection.

    Attributes:
        id: 8 hexadecimal digits.
        name, note: For people.
        members: In their order, each work once.
        changed_at: Unix time.
    """

    id: str
    name: str
    note: str = ""
    members: tuple[Member, ...] = ()
    changed_at: float = 0.0

    @classmethod
    def from_record(cls, id_: str, record: Mapping[str, Any]) -> Self:
        """Return what is kept of it."""
        members = tuple(
            Member(**one | {"tags": tuple(one.get("tags", ()))}) for one in record["members"]
        )
        return cls(**{**record, "id": id_, "members": members})


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a shelf.

    What is wrong is an EntryError, or a MissingRecordError where a collection or a work in it is
    not there; nothing changes then.
    """

    shelf: Shelf
    _now: Callable[[], float] = field(default=time.time)

    def all(self) -> list[Collection]:
        """Return all, by name."""
        found = (Collection.from_record(*one) for one in self.shelf.records(COLLECTIONS).items())
        return sorted(found, key=lambda each: (each.name.casefold(), each.id))

    def find(self, name: str) -> Collection:
        """Return one by its id, or by its name if only one has it.

        Raises:
            MissingRecordError: there is none.
            CollectionError: several have the name.
        """
        every = self.all()
        found = [one for one in every if one.id == name] or [o for o in every if o.name == name]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{one.name} ({one.id})" for one in found or every) or "none yet"
        if found:
            raise CollectionError(f"several collections are {name!r}; name one by its id: {there}")
        raise MissingRecordError(f"there is no collection {name!r}; there are: {there}")

    def works(self, collection: Collection) -> Iterator[Work]:
        """Yield its works as they are now, with what is said of them there, in their order."""
        corrections = self.shelf.corrections()
        for member in collection.members:
            work = self.shelf.find_with(member.work, corrections)
            if work is not None:
                yield replace(work, tags=member.tags, note=member.note, rating=member.rating)

    def create(self, name: str, works: Iterable[str] = ()) -> str:
        """Make one of some works; return its id."""
        id_ = secrets.token_hex(4)
        made = _checked(Collection(id_, name, members=tuple(map(Member, dict.fromkeys(works)))))
        self.shelf.change(COLLECTIONS, lambda _: {id_: self._record(made)})
        return id_

    def delete(self, id_: str) -> None:
        """Remove one; its works stay."""
        self.find(id_)
        self.shelf.change(COLLECTIONS, lambda _: {id_: {}})

    def rename(self, id_: str, name: str | None = None, note: str | None = None) -> None:
        """Give one another name, note, or both."""
        self._change(
            id_,
            lambda one: replace(
                one,
                name=one.name if name is None else name,
                note=one.note if note is None else note,
            ),
        )

    def add(self, id_: str, works: Iterable[str]) -> None:
        """Put works at its end; those that are in it stay where they are."""
        new = dict.fromkeys(works)

        def change(one: Collection) -> Collection:
            there = {member.work for member in one.members}
            added = (Member(work) for work in new if work not in there)
            return replace(one, members=(*one.members, *added))

        self._change(id_, change)

    def remove(self, id_: str, work: str) -> None:
        """Take a work out."""
        self._change(
            id_,
            lambda one: replace(one, members=tuple(m for m in one.members if m.work != work)),
        )

    def move(self, id_: str, work: str, steps: int) -> None:
        """Move a work by some places, towards the end if they are positive."""

        def change(one: Collection) -> Collection:
            members = list(one.members)
            at = _place(one, work)
            member = members.pop(at)
            members.insert(max(0, at + steps), member)
            return replace(one, members=tuple(members))

        self._change(id_, change)

    def describe(self, id_: str, work: str, **changed: Any) -> None:
        """Keep what is said of a work in it: other `tags`, `note` or `rating`."""

        def change(one: Collection) -> Collection:
            members = list(one.members)
            at = _place(one, work)
            members[at] = replace(members[at], **changed)
            return replace(one, members=tuple(members))

        self._change(id_, change)

    def _change(self, id_: str, change: Callable[[Collection], Collection]) -> None:
        self.find(id_)

        def changed(before: Mapping[str, Record]) -> dict[str, Record]:
            if id_ not in before:  # somebody has removed it meanwhile
                return {}
            return {id_: self._record(_checked(change(Collection.from_record(id_, before[id_]))))}

        self.shelf.change(COLLECTIONS, changed)

    def _record(self, collection: Collection) -> Record:
        record = asdict(replace(collection, changed_at=self._now()))
        del record["id"]
        return record


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags of a text, which commas part.

    >>> tags_in("optics, 光学，optics")
    ('optics', '光学')
    """
    tags = (" ".join(tag.split()) for tag in text.replace("，", ",").split(","))
    return tuple(dict.fromkeys(tag for tag in tags if tag))


def _place(collection: Collection, work: str) -> int:
    for place, member in enumerate(collection.members):
        if member.work == work:
            return place
    raise EntryError("member", f"work {work!r} is not in the collection {collection.name!r}")


def _checked(collection: Collection) -> Collection:
    name = " ".join(collection.name.split())
    if not 0 < len(name) <= _LONGEST_NAME:
        raise EntryError("name", f"give the collection a name of 1 to {_LONGEST_NAME} characters")
    if len(collection.members) > _MOST:
        raise EntryError("works", f"a collection holds at most {_MOST:,} works")
    for note in (collection.note, *(member.note for member in collection.members)):
        if len(note) > _LONGEST_NOTE:
            raise EntryError("note", f"a note has at most {_LONGEST_NOTE:,} characters")
    for member in collection.members:
        if not 0 <= member.rating <= BEST:
            raise EntryError("rating", f"give a rating from 1 to {BEST}, or 0 for none")
        if len(member.tags) > _MOST_TAGS or any(len(tag) > _LONGEST_TAG for tag in member.tags):
            said = f"give at most {_MOST_TAGS} tags of {_LONGEST_TAG} characters"
            raise EntryError("tags", said)
    return replace(collection, name=name)
