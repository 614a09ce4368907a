"""The store of works and an editor's corrections: a file beside the crawl, or its database.

Describing again replaces the previous works; corrections stay, and override what is found. A work
keeps its id as long as it has one of its former files.

Works are written under a new number each time. Then `state` is set to that number, so that readers
see all of them or none, and works of other numbers are removed, including those of a killed
process. A record that people change has an `edition`: an editor names the edition they have read.
"""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from mmcrawl.errors import MissingRecordError, StoreError
from mmcrawl.store.documents import (
    KEY,
    Condition,
    Contents,
    Document,
    Store,
    Table,
    batches,
    open_documents,
)
from mmcrawl.store.uris import is_server
from mmcrawl.works.corrections import Correction, corrected, merged
from mmcrawl.works.model import Work

Record = dict[str, Any]
"""What JSON can say of something."""

Change = Callable[[Mapping[str, Record]], Mapping[str, Record]]
"""Given all records of a kind by id, returns those to be put in place; an empty one is removed."""

CORRECTIONS = "correction"
"""Kind of records: the values of corrected fields, by id of the work."""

COLLECTIONS = "collection"
"""Kind of records: what people collected, see `mmcrawl.works.collections`."""

MARKS = "mark"
"""Kind of records: pages marked as right or wrong, see `mmcrawl.works.collections`."""

SUGGESTIONS = "suggestion"
"""Kind of records: words for topics, see `mmcrawl.works.collections`."""

RECORD = {"edition": int, "record": dict}
"""The fields of a table of records."""


def change_records(store: Store, kind: str, change: Change) -> set[str]:
    """Change records of a kind; `change` may be called several times. Return their ids."""
    every: set[str] = set()
    lost: set[str] | None = None
    while lost is None or lost:  # those that somebody else changed meanwhile
        before = dict(store.range(kind))
        changed = change({id_: document["record"] for id_, document in before.items()})
        if lost is not None:
            changed = {id_: record for id_, record in changed.items() if id_ in lost}
        every.update(changed)
        lost = _not_replaced(store, kind, before, changed)
    return every


def _not_replaced(
    store: Store, kind: str, before: Mapping[str, Document], changed: Mapping[str, Record]
) -> set[str]:
    """Replace records that are still as read; return those that have changed."""
    edition = secrets.randbits(63)  # of nobody else
    new: dict[str, Document] = {}
    other: dict[str, tuple[list[Condition], Document]] = {}
    lost = set()
    for id_, record in changed.items():
        document = {"edition": edition, "record": record}
        if id_ in before:
            as_read = [(KEY, "=", id_), ("edition", "=", before[id_]["edition"])]
            if record:
                other[id_] = as_read, document
            elif not store.delete(kind, *as_read):
                lost.add(id_)
        elif record:
            new[id_] = document
    lost |= store.insert_new(kind, new) if new else set()
    if other and store.change(kind, other.values()) < len(other):
        there = store.get(kind, other)
        lost |= {i for i in other if i not in there or there[i]["edition"] != edition}
    return lost


Described = tuple[Work, tuple[str, ...]]
"""A work, and the keys of its files."""

_CONTENTS = Contents(
    noun="catalogue of works",
    mark="mmcw",
    version=4,
    prefix="works_",
    tables=(
        Table(
            "work",
            {"number": int, "place": int, "changed_at": float, "record": dict, "files": dict},
            orders=(("number", "place"),),
        ),
        *(Table(kind, RECORD) for kind in (CORRECTIONS, COLLECTIONS, MARKS, SUGGESTIONS)),
        Table("state", {"number": int, "revision": int}),
    ),
    missing="`scrapy works describe` makes it",
    instead="another one with -s MMCRAWL_MEDIA=FOLDER",
    damaged="run `scrapy works describe` again, or restore it from a copy",
)
_AT_ONCE = 100  # works that are read together
_STATE = "works"
_NOTHING: Document = {"number": 0, "revision": 0}


def open_catalogue(store: str, folder: Path, *, create: bool = True) -> "Catalogue":
    """Open the works of a crawl.

    Args:
        store: URI of the crawl's store. One on a server has the works in its database.
        folder: Where the works of all other stores are kept, in ``works.db``.
        create: Whether it is made where there is none.
    """
    path = None if is_server(store) else folder / "works.db"
    return Catalogue(open_documents(_CONTENTS, store, path, create=create))


class Catalogue:
    """Works and corrections. Methods raise StoreError where they cannot be read or written.

    Attributes:
        name: Its name in messages.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.name = store.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    # -- works as they were found ---------------------------------------------------------------

    def rows(self) -> list[Record]:
        while True:
            number = self.number()
            found = self._store.range("work", ("number", "=", number), order=("place",))
            rows = [_found(document) for _, document in found]
            if self.number() == number:  # else they were replaced meanwhile
                return rows

    def row(self, id_: str) -> Record | None:
        key = _key(id_, self.number())
        document = self._store.get("work", [key]).get(key)
        return None if document is None else _found(document)

    def ids(self) -> dict[str, str]:
        """Return the id of the work that each file belongs to, by the mark of the file."""
        wanted = ("number", "=", self.number())
        found = self._store.range("work", wanted, fields=("files",))
        return {file: key.partition("/")[0] for key, row in found for file in row["files"]}

    def put(self, works: Sequence[tuple[Record, Sequence[str]]]) -> None:
        """Replace all works, each with the marks of its files; as a whole or not at all."""
        before = self._state()
        number = _after(before["number"])
        documents = (
            (
                _key(row["id"], number),
                {
                    "number": number,
                    "place": place,
                    "changed_at": float(row["changed_at"]),
                    "record": row,
                    "files": list(files),
                },
            )
            for place, (row, files) in enumerate(works)
        )
        for some in batches(documents):
            self._store.insert_new("work", some)
        if not self._write_state(number=number, known=before["number"]):
            raise StoreError(
                f"works of {self.name} were described by another process at the same time; run it"
                " again"
            )
        self._store.delete("work", ("number", "<", number))

    # -- what people say ------------------------------------------------------------------------

    def records(self, kind: str) -> dict[str, Record]:
        """Return all records of a kind, by id."""
        return {id_: document["record"] for id_, document in self._store.range(kind)}

    def change(self, kind: str, change: Change) -> None:
        """Change records of a kind; of two changes at the same time, none is lost.

        `change` may be called several times. Works that are corrected are marked as changed now.
        """
        changed = change_records(self._store, kind, change)
        if kind == CORRECTIONS:
            number, now = self.number(), {"changed_at": time.time()}
            self._store.change("work", [([(KEY, "=", _key(i, number))], now) for i in changed])
        self._write_state()

    # -- the state of all -----------------------------------------------------------------------

    def revision(self) -> int:
        """Return a number that grows with every write."""
        return int(self._state()["revision"])

    def number(self) -> int:
        """Return the number of the works that count: another one when they were described again."""
        return int(self._state()["number"])

    def _state(self) -> Document:
        return self._store.get("state", [_STATE]).get(_STATE, _NOTHING)

    def _write_state(self, number: int | None = None, known: int = 0) -> bool:
        """Record that something was written, and the number of works that count from now on."""
        while True:
            before = self._state()
            if number is not None and before["number"] != known:
                return False
            now = {
                "number": before["number"] if number is None else number,
                "revision": _after(before["revision"]),
            }
            same = ((KEY, "=", _STATE), *((name, "=", before[name]) for name in now))
            if before is _NOTHING:
                if not self._store.insert_new("state", {_STATE: now}):
                    return True
            elif self._store.change("state", [(same, now)]):
                return True

    # -- works and what is said of them ---------------------------------------------------------

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
        if any(
            self._store.range("work", ("number", "=", self.number()), fields=("place",), limit=1)
        ):
            return True
        return not any(map(self.records, (MARKS, SUGGESTIONS)))

    def find(self, id_: str) -> Work:
        """Return a work by its id, also a hidden one."""
        said, row = self._store.get(CORRECTIONS, [id_]), self.row(id_)
        if row is None:
            raise _no_work(id_)
        return corrected(Work.from_plain(row), said[id_]["record"] if id_ in said else {})

    def works_of(self, ids: Sequence[str]) -> Iterator[Work]:
        """Yield the works of some ids that exist, also hidden ones."""
        corrections = self.corrections()
        for start in range(0, len(ids), _AT_ONCE):
            number = self.number()  # asked again: works may be described anew meanwhile
            keys = {id_: _key(id_, number) for id_ in ids[start : start + _AT_ONCE]}
            found = self._store.get("work", [*keys.values()])
            for id_, key in keys.items():
                if key in found:
                    yield corrected(Work.from_plain(_found(found[key])), corrections.get(id_, {}))

    def corrections(self) -> dict[str, Record]:
        return self.records(CORRECTIONS)

    def describe(self, works: Iterable[Described]) -> int:
        """Replace the works, keeping the ids they had; return how many."""
        found = [(work, [_mark(key) for key in keys]) for work, keys in works]
        before, moved = self.ids(), {}
        try:
            kept = {row["id"]: row for row in self.rows()}
        except StoreError:  # a record is damaged: all count as changed
            kept = {}
        now = time.time()
        named, taken = [], set()
        # A work that has most of the files of a former one is that one.
        candidates = [
            (-sum(before.get(key) == id_ for key in keys), number, id_)
            for number, (_, keys) in enumerate(found)
            for id_ in {before[key] for key in keys if key in before}
        ]
        given: dict[int, str] = {}
        for _, number, id_ in sorted(candidates):
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
        """Import corrections; return the number of works corrected."""
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
    return MissingRecordError(f"there is no work {id_!r}; `scrapy works list` shows all", id_)


def _mark(key: str) -> str:
    """Return a key of a file: addresses may hold characters that no database accepts."""
    return blake2b(key.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _free(id_: str, taken: set[str]) -> str:
    """Return an id that no other work has."""
    number = int(id_, 16)
    while f"{number:016x}" in taken:
        number = (number + 1) % (1 << 64)
    return f"{number:016x}"


def _key(id_: str, number: int) -> str:
    return f"{id_}/{number}"


def _found(document: Document) -> Record:
    record: Record = document["record"]
    return record | {"changed_at": document["changed_at"]}


def _after(number: int) -> int:
    """Return a number above another one, which tells the time where clocks agree."""
    return max(time.time_ns(), number + 1)
