"""The record of each address of a collection, and which process fetches it.

A process that wants to fetch an address takes it, for the time of a lease: it writes itself into
the record if that is as it was read. Only the owner may settle the record, at the attempt at which
it took it. So several processes, also on several machines, share a collection without fetching
anything twice, and what a dead process had taken is fetched by another. Leases follow the clocks of
the collecting machines.
"""

import heapq
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from mmcrawl.frontier.urls import host_of
from mmcrawl.store.documents import (
    KEY,
    Change,
    Condition,
    Contents,
    Document,
    Table,
    batches,
    open_documents,
)
from mmcrawl.store.uris import is_server
from mmcrawl.text.media_kinds import KINDS

PART = "part"
"""Kind of a file that another file needs."""

EVERY_KIND = (*KINDS, PART)


class State(StrEnum):
    """The state of an address."""

    WAITING = "waiting"
    TAKEN = "taken"
    HELD = "held"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class MediaFile:
    """One address of a collection.

    Attributes:
        kind: One of the kinds of media, as the crawl took it for; ``part`` for what
            another file needs.
        title: of the page that came in its place and plays it; "" where the file itself came.
        reason: why it is not held, or why it waits once more; a sentence without a full stop.
    """

    url: str  # absolute, as the page, or the file that needs it, names it
    kind: str
    state: State = State.WAITING  # what has come of it
    digest: str = ""  # SHA-256 of its bytes, 64 hexadecimal digits; "" while they are not held
    size: int = 0  # bytes it has; of one that is not held, those announced, 0 where none were
    content_type: str = ""  # MIME type, decided by its first bytes and by what the server said
    etag: str = ""
    last_modified: str = ""
    final_url: str = ""  # where redirects led to; "" where there were none
    parent: str = ""  # address of the file that names it; "" where a page does
    page: str = ""  # address of a page it stands on, or the file that needs it; "" if none is known
    title: str = ""
    tries: int = 0
    reason: str = ""
    added_at: float = 0.0
    changed_at: float = 0.0
    owner: str = ""  # the process that has taken it; "" for none
    lease_until: float = 0.0  # Unix time at which others may take it from its owner


_FIELDS = tuple(one.name for one in fields(MediaFile) if one.name != "url")
_FILE = Table(
    "file",
    {
        **dict.fromkeys(_FIELDS, str),
        **dict.fromkeys(("size", "tries", "place"), int),
        **dict.fromkeys(("added_at", "changed_at", "lease_until"), float),
        "host": str,
    },
    orders=(("state", "place"),),
)
CONTENTS = Contents(
    noun="collection",
    mark="mmcm",
    version=3,
    prefix="media_",
    tables=(_FILE,),
    missing="`scrapy collect` begins one for a crawl",
    instead="another one with -s MMCRAWL_MEDIA=FOLDER",
)
_FREE = {"state": str(State.WAITING), "owner": "", "lease_until": 0.0}


@dataclass(frozen=True, slots=True)
class Summary:
    """The state of a collection."""

    addresses: Mapping[State, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    held_bytes: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)

    def count(self, state: State) -> int:
        return self.addresses.get(state, 0)

    @property
    def settled(self) -> int:
        """The number of settled addresses."""
        return sum(map(self.count, (State.HELD, State.FAILED, State.SKIPPED)))


class MediaIndex:
    """The records of a collection. Safe to be used by several threads; writes are durable.

    All methods raise StoreError where the index cannot be read or written.

    Args:
        store: URI of the crawl's store. One on a server has the index in its database.
        folder: where the index of all other stores is kept.

    Attributes:
        name: its name in messages.
    """

    def __init__(self, store: str, folder: Path, *, create: bool = True) -> None:
        path = None if is_server(store) else folder / "index.db"
        self._store = open_documents(CONTENTS, store, path, create=create)
        self.name = self._store.name

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, files: Iterable[MediaFile]) -> int:
        """Add addresses; known ones stay as they are. Return how many are new."""
        added = 0
        for some in batches((file.url, _row(file)) for file in files):
            first = time.time_ns()
            rows = {url: {**row, "place": first + n} for n, (url, row) in enumerate(some.items())}
            added += len(rows) - len(self._store.insert_new("file", rows))
        return added

    def take(
        self,
        owner: str,
        now: float,
        until: float,
        most: int,
        *,
        kinds: Collection[str] = EVERY_KIND,
        busy: Collection[str] = (),
        lives: Callable[[str], bool] = lambda owner: False,
    ) -> list[MediaFile]:
        """Take addresses that wait, or with expired leases unless of owners alive, oldest first."""
        wanted = ("kind", "in", kinds), ("host", "not in", busy)
        waiting = self._in(State.WAITING, *wanted, most=most)
        late = ("lease_until", "<", now)
        if len(waiting) < most:
            owners = {file.owner for file in self._in(State.TAKEN, late)}
            dead = ("owner", "not in", [owner for owner in owners if lives(owner)])
            waiting += self._in(State.TAKEN, late, dead, *wanted, most=most - len(waiting))
        # A cursor may meet documents that others change meanwhile: again, or as they are by now.
        free = (file for file in waiting if file.state is State.WAITING or file.lease_until < now)
        waiting = list({file.url: file for file in free}.values())
        ours: dict[str, Any] = {
            "state": State.TAKEN,
            "owner": owner,
            "lease_until": until,
            "changed_at": now,
        }
        taken = [replace(file, **ours, tries=file.tries + 1) for file in waiting]
        changes = [(_as_is(file), {**ours, "tries": file.tries + 1}) for file in waiting]
        if not changes or self._store.change("file", changes) == len(changes):
            return taken
        # Others were faster with some: those are ours that name us and this try.
        now_there = self._store.get("file", [file.url for file in taken])
        return [
            file
            for file in taken
            if (row := now_there.get(file.url))
            and (row["owner"], row["tries"]) == (owner, file.tries)
        ]

    def renew(self, owner: str, until: float) -> None:
        self._store.change("file", [(_owned(owner), {"lease_until": until})])

    def settle(self, files: Sequence[MediaFile], owner: str) -> int:
        """Replace the records that `owner` has taken; return how many it had."""
        changes: list[Change] = []
        for file in files:
            ours = (KEY, "=", file.url), ("tries", "=", file.tries), *_owned(owner)
            changes.append((ours, _row(replace(file, owner="", lease_until=0.0))))
        return self._store.change("file", changes) if changes else 0

    def give_back(self, owner: str) -> None:
        """Release what an owner has taken."""
        self._store.change("file", [(_owned(owner), _FREE)])

    def owners(self) -> set[str]:
        return {file.owner for file in self._in(State.TAKEN)}

    def again(self, states: Collection[State]) -> int:
        """Requeue all addresses in some states; return how many."""
        free = _FREE | {"changed_at": time.time()}
        return self._store.change("file", [(_states(states), free)])

    def find(self, url: str) -> MediaFile | None:
        row = self._store.get("file", [url]).get(url)
        return None if row is None else _file(url, row)

    def files(self, states: Collection[State] = ()) -> Iterator[MediaFile]:
        """Yield the records in some states, by default all, in the order they were added."""
        each = [self._ordered(State(state)) for state in states or State]
        for url, row in heapq.merge(*each, key=lambda one: int(one[1]["place"])):
            yield _file(url, row)

    def summary(self) -> Summary:
        addresses: dict[State, int] = {}
        reasons: dict[str, int] = {}
        files: dict[str, tuple[str, int]] = {}
        asked = ("state", "kind", "digest", "size", "reason")
        for _, row in self._store.range("file", fields=asked):
            state = State(row["state"])
            addresses[state] = addresses.get(state, 0) + 1
            if state is State.HELD:
                kind, size = row["kind"], row["size"]
                before = files.get(row["digest"], (kind, size))
                files[row["digest"]] = min(kind, before[0]), size
            elif state in (State.FAILED, State.SKIPPED):
                reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
        held: dict[str, int] = {}
        held_bytes: dict[str, int] = {}
        for kind, size in files.values():
            held[kind] = held.get(kind, 0) + 1
            held_bytes[kind] = held_bytes.get(kind, 0) + size
        return Summary(addresses, held, held_bytes, reasons)

    def _in(self, state: State, *conditions: Condition, most: int | None = None) -> list[MediaFile]:
        return [_file(url, row) for url, row in self._ordered(state, *conditions, most=most)]

    def _ordered(
        self, state: State, *conditions: Condition, most: int | None = None
    ) -> Iterator[tuple[str, Document]]:
        asked = (("state", "=", str(state)), *conditions)
        return self._store.range("file", *asked, order=("place",), limit=most)


def _states(states: Collection[State]) -> tuple[Condition]:
    return (("state", "in", [str(state) for state in states]),)


def _owned(owner: str) -> tuple[Condition, ...]:
    return ("state", "=", str(State.TAKEN)), ("owner", "=", owner)


def _as_is(file: MediaFile) -> tuple[Condition, ...]:
    """Return the conditions under which nobody took an address since its record was read."""
    state, tries = ("state", "=", str(file.state)), ("tries", "=", file.tries)
    return (KEY, "=", file.url), state, tries, ("lease_until", "=", file.lease_until)


def _row(file: MediaFile) -> dict[str, Any]:
    row = {name: getattr(file, name) for name in _FIELDS}
    return row | {"state": str(file.state), "host": host_of(file.url)}


def _file(url: str, row: Document) -> MediaFile:
    known = {name: row[name] for name in _FIELDS}
    return MediaFile(url, **known | {"state": State(row["state"])})
