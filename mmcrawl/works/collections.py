"""Collections that people make of works: in their order, with tags, notes and ratings."""

import hashlib
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, Self

from mmcrawl.errors import CollectionError, EntryError, MissingRecordError, TopicError
from mmcrawl.topic.topic import Concept
from mmcrawl.works.catalogue import COLLECTIONS, MARKS, SUGGESTIONS, Catalogue, Change, Record
from mmcrawl.works.model import Work

BEST = 5
"""The best rating; 0 is none."""

_LONGEST_NAME, _LONGEST_NOTE, _LONGEST_TAG, _MOST_TAGS = 200, 5_000, 50, 20
_MOST = 100_000  # works


@dataclass(frozen=True, slots=True)
class Member:
    """A work in a collection.

    Attributes:
        tags, note: What people say of it.
    """

    work: str
    tags: tuple[str, ...] = ()
    note: str = ""
    rating: int = 0  # 1 to `BEST`, 0 for none


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection."""

    id: str  # 8 hexadecimal digits
    name: str
    note: str = ""
    members: tuple[Member, ...] = ()  # in their order, each work once
    changed_at: float = 0.0

    @classmethod
    def from_record(cls, id_: str, record: Mapping[str, Any]) -> Self:
        members = tuple(
            Member(**one | {"tags": tuple(one.get("tags", ()))}) for one in record["members"]
        )
        return cls(**{**record, "id": id_, "members": members})


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections of a catalogue; an EntryError or MissingRecordError changes nothing."""

    catalogue: Catalogue
    _now: Callable[[], float] = field(default=time.time)

    def all(self) -> list[Collection]:
        found = (
            Collection.from_record(*one) for one in self.catalogue.records(COLLECTIONS).items()
        )
        return sorted(found, key=lambda each: (each.name.casefold(), each.id))

    def find(self, name: str) -> Collection:
        """Return one by its id, or by its name if only one has it."""
        every = self.all()
        found = [one for one in every if one.id == name] or [o for o in every if o.name == name]
        if len(found) == 1:
            return found[0]
        there = ", ".join(f"{one.name} ({one.id})" for one in found or every) or "none yet"
        if found:
            raise CollectionError(f"several collections are {name!r}; name one by its id: {there}")
        raise MissingRecordError(f"there is no collection {name!r}; there are: {there}", name)

    def works(self, collection: Collection) -> Iterator[Work]:
        """Yield its works as they are now, with what is said of them there, in their order."""
        members = {member.work: member for member in collection.members}
        for work in self.catalogue.works_of([*members]):
            said = members[work.id]
            yield replace(work, tags=said.tags, note=said.note, rating=said.rating)

    def create(self, name: str, works: Iterable[str] = ()) -> str:
        """Create a collection of some works; return its id."""
        id_ = secrets.token_hex(4)
        made = _checked(Collection(id_, name, members=tuple(map(Member, dict.fromkeys(works)))))
        self.catalogue.change(COLLECTIONS, lambda _: {id_: self._record(made)})
        return id_

    def delete(self, id_: str) -> None:
        self.find(id_)
        self.catalogue.change(COLLECTIONS, lambda _: {id_: {}})

    def rename(self, id_: str, name: str | None = None, note: str | None = None) -> None:
        self._change(
            id_,
            lambda one: replace(
                one,
                name=one.name if name is None else name,
                note=one.note if note is None else note,
            ),
        )

    def add(self, id_: str, works: Iterable[str]) -> None:
        """Append works; those already in it stay where they are."""
        new = dict.fromkeys(works)

        def change(one: Collection) -> Collection:
            there = {member.work for member in one.members}
            added = (Member(work) for work in new if work not in there)
            return replace(one, members=(*one.members, *added))

        self._change(id_, change)

    def remove(self, id_: str, work: str) -> None:
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
        """Save other `tags`, `note` or `rating` of a work in it."""

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

        self.catalogue.change(COLLECTIONS, changed)

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


@dataclass(frozen=True, slots=True)
class Mark:
    """An editor's mark of a page."""

    topic: str
    url: str
    is_good: bool
    marked_at: float


class Records(Protocol):
    """What keeps records of several kinds: a catalogue, or what opens one at each call."""

    def records(self, kind: str) -> dict[str, Record]: ...

    def change(self, kind: str, change: Change) -> None: ...


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of a catalogue. Of two marks of a page for a topic the later one counts."""

    catalogue: Records
    _now: Callable[[], float] = field(default=time.time)

    def of(self, topic: str) -> list[Mark]:
        """Return the marks for a topic, the latest first."""
        found = (_mark_of(record) for record in self.catalogue.records(MARKS).values())
        own = [mark for mark in found if mark.topic == topic]
        return sorted(own, key=lambda mark: (-mark.marked_at, mark.url))

    def of_page(self, url: str) -> dict[str, bool]:
        """Return for which topics a page is marked, and whether as right."""
        found = (_mark_of(record) for record in self.catalogue.records(MARKS).values())
        return {mark.topic: mark.is_good for mark in found if mark.url == url}

    def topics(self) -> list[str]:
        return sorted({str(record["topic"]) for record in self.catalogue.records(MARKS).values()})

    def put(self, topic: str, url: str, *, is_good: bool | None) -> None:
        """Mark a page, or take its mark back with None."""
        id_ = hashlib.blake2b(
            f"{topic}\0{url}".encode(errors="surrogatepass"), digest_size=12
        ).hexdigest()
        record: Record = {}
        if is_good is not None:
            record = {"topic": topic, "url": url, "good": is_good, "at": self._now()}

        def change(_: Mapping[str, Record]) -> dict[str, Record]:
            return {id_: record}

        self.catalogue.change(MARKS, change)


def _mark_of(record: Record) -> Mark:
    return Mark(str(record["topic"]), str(record["url"]), bool(record["good"]), float(record["at"]))


MOST_WAITING = 1_000
"""Suggestions that may wait to be decided: nobody can fill the store."""

MOST_DECIDED = 1_000
"""Decided suggestions that are remembered, so as not to be asked again: the last handed in."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A concept that somebody wants to have in a topic."""

    topic: str
    words: Concept  # words that mean the same
    by: str  # who handed it in, as they called themselves
    at: float
    accepted: bool | None = None  # what was decided; None if nothing is

    @property
    def id(self) -> str:
        """The same for the same words for a topic, however they are written."""
        said = "\0".join((self.topic, *sorted(word.casefold() for word in self.words)))
        return hashlib.blake2b(said.encode(errors="surrogatepass"), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The suggestions of a catalogue."""

    catalogue: Records
    _now: Callable[[], float] = field(default=time.time)

    def waiting(self) -> list[Suggestion]:
        """Return those that nothing is decided of, the oldest first."""
        found = map(_from_record, self.catalogue.records(SUGGESTIONS).values())
        return sorted((one for one in found if one.accepted is None), key=lambda one: one.at)

    def put(self, topic: str, concepts: Iterable[Concept], by: str = "") -> int:
        """Save suggestions that are neither waiting nor decided; return how many are new."""
        made = [Suggestion(topic, words, by, self._now()) for words in concepts]
        handed = {one.id: one for one in made}
        new: dict[str, Record] = {}

        def change(before: Mapping[str, Record]) -> dict[str, Record]:
            new.clear()
            new.update({i: asdict(one) for i, one in handed.items() if i not in before})
            wait = sum(record["accepted"] is None for record in before.values())
            if new and wait + len(new) > MOST_WAITING:
                raise TopicError(f"{wait} suggestions are waiting for a decision; try again later")
            return new

        self.catalogue.change(SUGGESTIONS, change)
        return len(new)

    def decide(self, id_: str, *, accepted: bool) -> Suggestion:
        """Record a decision; return the suggestion. The oldest beyond the limit are dropped."""
        decided: list[Suggestion] = []

        def change(before: Mapping[str, Record]) -> dict[str, Record]:
            if id_ not in before or before[id_]["accepted"] is not None:
                raise TopicError("this suggestion was already decided")
            decided[:] = [replace(_from_record(before[id_]), accepted=accepted)]
            old = [(one["at"], i) for i, one in before.items() if one["accepted"] is not None]
            gone = sorted(old, reverse=True)[MOST_DECIDED - 1 :]
            return {i: {} for _, i in gone} | {id_: asdict(decided[0])}

        self.catalogue.change(SUGGESTIONS, change)
        return decided[0]


def _from_record(record: Record) -> Suggestion:
    return Suggestion(**{**record, "words": tuple(record["words"])})
