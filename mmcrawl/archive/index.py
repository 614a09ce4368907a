"""The index of an archive: where its records are. One implementation, on documents of any store.

Records of versions and visits stand in *segments*, which are the archive; the other tables only say
where, and can be made again from them (:mod:`mmcrawl.archive.checking`).

* ``url``: by URL; its canonical form if that is another, its number, its host, and how it stands:
  what was seen of it last.
* ``version``: by URL and number; time, status, and the place of its record.
* ``visit``: of those that found what was known, by the place of the record.
* ``stream``: by name, a host or ``#`` and the number of a URL; the next free place.
* ``segment``: records that follow each other in a stream, with the bodies of the versions, as
  :mod:`mmcrawl.archive.format.head` writes them. What is large stands in pieces in ``part``.
* ``reservation``: segments that a process is about to put another one in place of.
* ``change``: kinds of blocks that were found changed between two versions; found again if lost.
* ``counter``: the next numbers of URLs and of streams. ``loss``: what a repair could not make good.

A place (:func:`place`) is the number of a record with that of its stream. It never changes,
whatever segments the record moves between.

What is written becomes durable in the order segments, versions, visits, how URLs stand: nothing
refers to what is not there. A store without transactions may keep the first of these alone when a
process dies; a check tells of it, and completes it.
"""

from __future__ import annotations

import secrets
import time as clock
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from math import inf
from operator import attrgetter
from typing import Any, ClassVar
from zlib import crc32

from mmcrawl.archive.model import is_text
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import canonical, host_of
from mmcrawl.store.documents import (
    BLOB,
    KEY,
    OPTIONAL,
    Change,
    Condition,
    Contents,
    Document,
    Store,
    Table,
    below,
    get_blob,
    put_blob,
)

SHIFT = 32
NUMBERS = 24
"""Bits of the number of a version in its key."""

_ATTEMPTS = 1_000
_LARGE = 7 << 20  # bytes; a document of a server holds two of these
_CLAIMED = 60.0  # seconds until a claim expires: its process is presumed dead; a claim lasts a few
_ORPHAN = 86_400.0  # seconds after which pieces that no segment names are removed
_AT_ONCE = 500
_SHOWN = ("stream", "first", "entries", "raw", "level", "size")  # of a segment without reading it

CONTENTS = Contents(
    "archive",
    "mmca",
    8,
    "archive_",
    (
        Table(
            "url",
            {
                **{"page": OPTIONAL, "id": int, "host": str, "own": int, "last": int},
                **{"seen": float, "version": int, "at": int},
            },
            (("page",),),
        ),
        Table("version", {"time": float, "status": int, "at": int}, numbered=True),
        Table(
            "visit",
            {"url": int, "time": float, "version": int, "status": int, "headed": int},
            (("url", "time"),),
            numbered=True,
        ),
        Table("stream", {"id": int, "next": int}),
        Table(
            "segment",
            {**dict.fromkeys(_SHOWN, int), "head": bytes, "data": bytes},
            (("stream", "first"), ("level",)),
        ),
        Table("part", BLOB),
        Table("reservation", {"heir": str}),
        Table("change", {"kinds": str}),
        Table("counter", {"next": int}),
        Table("loss", {"found": float}),
    ),
    missing="store a page there first, or name another",
    instead="another",
    damaged="check it",
    packed=frozenset({"segment", "part"}),
)
_FIELDS = {table.name: table.fields for table in CONTENTS.tables}


def place(stream: int, number: int) -> int:
    """Return the place of a record."""
    return stream << SHIFT | number


def stream_of(at: int) -> int:
    """Return the stream that a place is in."""
    return at >> SHIFT


class _Row:
    """A row, stored as a document without its key."""

    __slots__ = ()
    _table: ClassVar[str]

    @property
    def document(self) -> dict[str, Any]:
        """What is kept; of a segment, what is known of it without reading it."""
        return {name: getattr(self, name) for name in _FIELDS[self._table] if hasattr(self, name)}


@dataclass(frozen=True, slots=True)
class UrlRow(_Row):
    """A URL, and its state."""

    _table: ClassVar[str] = "url"
    url: str
    page: str | None  # its canonical form, None if it is that itself
    id: int
    host: str  # lower case, "" if it has none
    own: int = 0  # 1 if its versions go to a stream of its own, 0 while they go to that of the host
    last: int = 0  # the greatest number that a version of it ever had, 0 for none
    seen: float = -inf  # when it was visited last
    version: int = 0  # number of the version that was seen last, 0 for none
    at: int = 0  # place of its record

    @classmethod
    def new(cls, url: str, number: int) -> UrlRow:
        """Return the row of a new URL."""
        page = canonical(url)
        return cls(url, None if page == url else page, number, host_of(url))

    @property
    def stream(self) -> str:
        """The name of the stream that its versions go to."""
        return f"#{self.id}" if self.own else self.host


@dataclass(frozen=True, slots=True)
class VersionRow(_Row):
    """A version; what else is known of it is in its record."""

    _table: ClassVar[str] = "version"
    url: int  # number of the URL
    number: int  # from 1
    time: float  # Unix seconds
    status: int  # HTTP status
    at: int  # place of its record

    @property
    def key(self) -> int:
        """What it is kept under."""
        return self.url << NUMBERS | self.number


@dataclass(frozen=True, slots=True)
class VisitRow(_Row):
    """A visit that found a known version."""

    _table: ClassVar[str] = "visit"
    url: int  # number of the URL
    time: float  # Unix seconds
    version: int  # number of the version that it found, which may have been captured later
    status: int  # HTTP status of the answer
    at: int  # place of its record
    headed: int  # 1 if it came with headers of its own


@dataclass(frozen=True, slots=True)
class Segment(_Row):
    """A segment, as far as it is known without reading it."""

    _table: ClassVar[str] = "segment"
    key: str  # its name, which no other ever has
    stream: int  # its stream
    first: int  # the number of its first record
    entries: int  # how many it has
    raw: int  # bytes of the bodies before compression
    level: int  # zstd level; 0 in the tail of a stream, which is still to be sealed
    size: int  # bytes of head and data as stored

    @staticmethod
    def new_key(stream: int, first: int) -> str:
        """Return a name that holds the time it was made."""
        return f"{stream:08x}/{first:08x}/{int(clock.time()):08x}{secrets.token_hex(3)}"

    @property
    def at(self) -> int:
        """The place of its first record."""
        return place(self.stream, self.first)

    @property
    def end(self) -> int:
        """The number after that of its last record."""
        return self.first + self.entries

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"segment {self.stream}/{self.first}"

    def holds(self, at: int) -> bool:
        """Return whether a place is in it."""
        return self.at <= at < place(self.stream, self.end)


Packed = tuple[Segment, bytes, bytes]
"""A segment, its head and its data."""


class Index:
    """The index of an open archive. Any thread may ask; one at a time writes."""

    def __init__(self, store: Store, *, read_only: bool = False) -> None:
        self.store = store
        self.name = store.name
        self.read_only = read_only
        self._streams: dict[str, tuple[int, int]] = {}  # number and next place, as met last

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make what is written inside durable as one, where the store can do that."""
        if self.read_only:
            raise StoreError(f"archive {self.name} was opened for reading only")
        try:
            with self.store.together():
                yield
        except BaseException:
            self._streams.clear()  # what was noted may have been undone
            raise

    # -- URLs ---------------------------------------------------------------------------------

    def urls_named(self, urls: Iterable[str]) -> dict[str, UrlRow]:
        """Return the rows of the known ones of some URLs, given exactly."""
        found = self.store.get("url", [url for url in dict.fromkeys(urls) if is_text(url)])
        return {url: self.read_url(url, row) for url, row in found.items()}

    def url(self, url: str) -> UrlRow | None:
        """Return the row of a URL: of exactly this, or of the first of its other spellings."""
        exact = self.urls_named([url]).get(url)
        if exact is not None or not is_text(url):
            return exact
        try:
            page = canonical(url)
        except ValueError:
            return None  # no URL that could be stored
        rows = [*self._urls(("page", "=", page)), *self.urls_named([page]).values()]
        return min(rows, key=attrgetter("id"), default=None)

    def changed_urls(self, host: str | None) -> dict[str, float]:
        """Return those with two versions or more, purged ones too, with their last visits."""
        where: list[Condition] = [("last", ">", 1)]
        where += [] if host is None else [("host", "=", host)]
        rows = self.store.range("url", *where, fields=("seen",))
        return {url: self._whole("url", row, ("seen",))["seen"] for url, row in rows}

    def urls(self, host: str | None = None, prefix: str | None = None) -> Iterator[UrlRow]:
        """Yield the rows with a version, purged ones too, in the order of URLs (code points)."""
        where: list[Condition] = [("last", ">", 0)]
        if host is not None:
            where.append(("host", "=", host))
        if prefix:
            if not is_text(prefix):
                return
            where.append((KEY, ">=", prefix))
        for url, row in self.store.range("url", *where):
            if prefix and not url.startswith(prefix):
                return
            yield self.read_url(url, row)

    def hosts(self) -> list[str]:
        """Return the hosts of all URLs in order."""
        rows = self.store.range("url", ("last", ">", 0), fields=("host",))
        return sorted({str(row["host"]) for _, row in rows})

    def add_urls(self, urls: Collection[str]) -> dict[str, UrlRow]:
        """Return the rows of URLs, made now where there is none."""
        first = self.take("url", len(urls))
        rows = {url: UrlRow.new(url, first + n) for n, url in enumerate(urls)}
        taken = self.store.insert_new("url", {url: row.document for url, row in rows.items()})
        return rows | (self.urls_named(taken) if taken else {})

    def note_urls(self, rows: Sequence[UrlRow]) -> None:
        """Write the state of URLs, unless other processes have written a later one."""
        changes: list[Change] = []
        for row in rows:
            is_behind = ("last", "<=", row.last), ("seen", "<=", row.seen)
            changes.append((((KEY, "=", row.url), *is_behind), row.document))
        if self.store.change("url", changes) < len(rows):
            # Another process has removed one while this one wrote a version of it.
            self.store.insert_new("url", {row.url: row.document for row in rows})

    def put_url(self, row: UrlRow) -> None:
        """Write the state of a URL, whatever was written before."""
        self.store.put("url", {row.url: row.document})

    def _urls(self, *where: Condition) -> list[UrlRow]:
        return [self.read_url(*row) for row in self.store.range("url", *where)]

    def read_url(self, url: str, row: Document) -> UrlRow:
        """Return a URL, given its document."""
        return UrlRow(url, **self._whole("url", row))

    # -- numbers ------------------------------------------------------------------------------

    def take(self, name: str, count: int) -> int:
        """Take the next numbers of a counter; return the first."""
        for _ in range(_ATTEMPTS):
            row = self.store.get("counter", [name]).get(name)
            if row is None:
                self.store.insert_new("counter", {name: {"next": 1}})
                continue
            free = int(self._whole("counter", row)["next"])
            condition = (KEY, "=", name), ("next", "=", free)
            if self.store.change("counter", [(condition, {"next": free + count})]):
                return free
        raise StoreError(
            f"archive {self.name} is written so much that no number is free; try again"
        )

    def reserve(self, wanted: Mapping[str, int]) -> dict[str, int]:
        """Take places of streams by name, made if need be; return each first"""
        for _ in range(_ATTEMPTS):
            known = self._known_streams(wanted)
            changes: list[Change] = []
            for name, (_, free) in known.items():
                condition = (KEY, "=", name), ("next", "=", free)
                changes.append((condition, {"next": free + wanted[name]}))
            done = self.store.change("stream", changes) == len(changes)
            for name, (number, free) in known.items():
                if done:
                    self._streams[name] = number, free + wanted[name]
                else:
                    self._streams.pop(name, None)
            if done:
                return {name: place(number, free) for name, (number, free) in known.items()}
        raise StoreError(f"archive {self.name} is too busy to find a free place; try again")

    def _known_streams(self, names: Iterable[str]) -> dict[str, tuple[int, int]]:
        known = {name: self._streams[name] for name in names if name in self._streams}
        left = [name for name in names if name not in known]
        known |= self._found_streams(left)
        if missing := [name for name in left if name not in known]:
            first = self.take("stream", len(missing))
            rows = {name: {"id": first + n, "next": 0} for n, name in enumerate(missing)}
            taken = self.store.insert_new("stream", rows)
            known |= {name: (row["id"], 0) for name, row in rows.items()}
            known |= self._found_streams(taken)
        return known

    def _found_streams(self, names: Collection[str]) -> dict[str, tuple[int, int]]:
        rows = self.store.get("stream", names)
        whole = ((name, self._whole("stream", row)) for name, row in rows.items())
        return {name: (row["id"], row["next"]) for name, row in whole}

    # -- segments -----------------------------------------------------------------------------

    def add_segments(self, packed: Sequence[Packed]) -> None:
        """Write segments."""
        documents = {}
        for segment, head, data in packed:
            row = segment.document | {"head": b"", "data": b""}
            for name, content in (("head", head), ("data", data)):
                if len(content) > _LARGE:
                    put_blob(self.store, "part", f"{segment.key}/{name}", content)
                else:
                    row[name] = content
            documents[segment.key] = row
        self.store.insert_new("segment", documents)

    def segments(self, streams: Collection[int]) -> dict[int, list[Segment]]:
        """Return the segments of streams in order, without those that others have replaced."""
        found: defaultdict[int, list[Segment]] = defaultdict(list)
        if streams:
            for segment in self._segments(("stream", "in", streams), order=("stream", "first")):
                found[segment.stream].append(segment)
        return {stream: standing(segments)[0] for stream, segments in found.items()}

    def all_segments(self) -> Iterator[list[Segment]]:
        """Yield the segments of each stream in order, with those that others have replaced."""
        for _, segments in groupby(self._segments(), key=attrgetter("stream")):
            yield [*segments]

    def replaced_by(self, segment: Segment) -> list[Segment]:
        """Return the segments that one has replaced: a process died before it removed them."""
        first, end = ("first", ">=", segment.first), ("first", "<", segment.end)
        found = self._segments(("stream", "=", segment.stream), first, end)
        return [one for one in found if one.end <= segment.end and one.key != segment.key]

    def unproved_segments(self) -> Iterator[Segment]:
        """Yield all segments, with -1 in place of what is no number in their rows."""
        for key, row in self.store.range("segment", fields=_SHOWN):
            numbers = {name: row.get(name) for name in _SHOWN}
            yield Segment(key, **{n: v if type(v) is int else -1 for n, v in numbers.items()})

    def streams(self, *where: Condition) -> list[int]:
        """Return the streams that have segments, by default any, in order."""
        rows = self.store.range("segment", *where, fields=("stream",))
        return sorted({self._whole("segment", row, ("stream",))["stream"] for _, row in rows})

    def _segments(self, *where: Condition, order: tuple[str, ...] = ()) -> Iterator[Segment]:
        for key, row in self.store.range("segment", *where, order=order, fields=_SHOWN):
            yield Segment(key, **self._whole("segment", row, _SHOWN))

    def heads(self, segments: Sequence[Segment]) -> dict[str, bytes]:
        """Return the heads of segments by their keys; those that are gone are left out."""
        return self._content("head", segments)

    def data(self, segment: Segment) -> bytes | None:
        """Return the data of a segment; None if it is gone."""
        return self._content("data", [segment]).get(segment.key)

    def _content(self, name: str, segments: Sequence[Segment]) -> dict[str, bytes]:
        found = {}
        for start in range(0, len(segments), _AT_ONCE):
            keys = [segment.key for segment in segments[start : start + _AT_ONCE]]
            where = (KEY, "=", keys[0]) if len(keys) == 1 else (KEY, "in", keys)
            for key, row in self.store.range("segment", where, fields=(name,)):
                content = self._whole("segment", row, (name,))[name]
                content = content or get_blob(self.store, "part", f"{key}/{name}")
                if content is not None:
                    found[key] = content
        return found

    def replace(
        self,
        old: Sequence[Segment],
        packed: Packed,
        *,
        base: Segment | None = None,
        unless: Callable[[], object] = lambda: False,
    ) -> bool:
        """Put one segment in place of others with the same records.

        Reservations let only one of two processes do so at once. One that was held up for so long
        that it was taken for dead finds its reservations gone, and takes back what it
        wrote.

        Args:
            base: Whose bodies are its dictionary: it may not go meanwhile.
            unless: Is asked when no other may replace these: what speaks against it.

        Returns:
            False, and nothing done, if one of those is gone, or another process is at it.
        """
        heir = packed[0].key
        keys = [segment.key for segment in (*old, *([base] if base is not None else []))]
        with self.writing():
            taken = self.store.insert_new("reservation", {key: {"heir": heir} for key in keys})
            there = {segment.key for segment in self._segments((KEY, "in", keys))}
            if taken or len(there) < len(keys) or unless():
                self._give_up_reservations(keys, taken, heir)
                return False
            self.add_segments([packed])
            held = self.store.get("reservation", keys).values()
            if [row["heir"] for row in held] != [heir] * len(keys):
                self.remove_segments([packed[0]])
                self._give_up_reservations(keys, (), heir)
                return False
            self.remove_segments(old)
            self.store.delete("reservation", (KEY, "in", keys), ("heir", "=", heir))
            return True

    def _give_up_reservations(self, keys: Sequence[str], taken: Collection[str], heir: str) -> None:
        """Remove reservations, also those of a process that has surely died."""
        self.store.delete("reservation", (KEY, "in", keys), ("heir", "=", heir))
        others = {str(row["heir"]) for row in self.store.get("reservation", list(taken)).values()}
        for other in others:
            if _age(other) > _CLAIMED:
                self.store.delete("reservation", (KEY, "in", list(taken)), ("heir", "=", other))

    def remove_segments(self, segments: Sequence[Segment]) -> None:
        """Remove segments, and their pieces after them."""
        self.store.delete("segment", (KEY, "in", [segment.key for segment in segments]))
        for segment in segments:
            if segment.size > _LARGE:
                self._remove_parts(segment.key)

    def _remove_parts(self, key: str) -> None:
        self.store.delete("part", *below(key))

    def remove_orphans(self) -> None:
        """Remove pieces without a name: a process died before it wrote that."""
        names = {key.rsplit("/", 2)[0] for key, _ in self.store.range("part", fields=("content",))}
        old = [name for name in names if _age(name) > _ORPHAN]
        there = {segment.key for segment in self._segments((KEY, "in", old))} if old else set()
        for name in set(old) - there:
            self._remove_parts(name)

    # -- versions and visits ------------------------------------------------------------------

    def add_versions(self, versions: Sequence[VersionRow]) -> set[int]:
        """Write versions; return the keys of those that were not, as their numbers are taken."""
        rows = {version.key: version.document for version in versions}
        taken = self.store.insert_new("version", rows)
        if not taken:
            return taken
        # The same one, if the driver sent it again because it heard nothing.
        there = self.store.get("version", taken)
        return {key for key in taken if there.get(key) != rows[key]}

    def version(self, url: int, number: int) -> VersionRow | None:
        """Return one version."""
        return next(iter(self.versions_by_key([url << NUMBERS | number]).values()), None)

    def versions_by_key(self, keys: Collection[int]) -> dict[int, VersionRow]:
        """Return versions by their keys."""
        rows = self.store.get("version", keys)
        return {key: self.read_version(key, row) for key, row in rows.items()}

    def versions(self, url: int) -> list[VersionRow]:
        """Return the versions of a URL by number."""
        return [self.read_version(*row) for row in self.store.range("version", *_all_of(url))]

    def version_at(self, url: int, time: float | None) -> VersionRow | None:
        """Return the version with the greatest time up to `time`, of several the last number."""
        rows = self._first("version", *_all_of(url), *_up_to(time), backwards=True)
        return next((self.read_version(*row) for row in rows), None)

    def version_after(self, url: int, time: float) -> VersionRow | None:
        """Return the version with the least time after `time`, of several the first number."""
        rows = self._first("version", *_all_of(url), ("time", ">", time))
        return next((self.read_version(*row) for row in rows), None)

    def _first(
        self, table: str, *where: Condition, backwards: bool = False
    ) -> Iterator[tuple[Any, Document]]:
        order = ("time", KEY)
        return self.store.range(table, *where, order=order, limit=1, backwards=backwards)

    def read_version(self, key: int, row: Document) -> VersionRow:
        """Return a version, given its key and its document."""
        whole = self._whole("version", row)
        return VersionRow(key >> NUMBERS, key & ((1 << NUMBERS) - 1), **whole)

    def add_visits(self, visits: Sequence[VisitRow]) -> None:
        """Write visits."""
        self.store.insert_new("visit", {visit.at: visit.document for visit in visits})

    def visits(self, url: int) -> list[VisitRow]:
        """Return the visits of a URL that found nothing new, by time; of one time the last."""
        return list({visit.time: visit for visit in self.all_visits(url)}.values())

    def all_visits(self, url: int) -> Iterator[VisitRow]:
        """Yield the visits of a URL that found nothing new, by time, in the order of storing."""
        rows = self.store.range("visit", ("url", "=", url), order=("time", KEY))
        return (self.read_visit(*row) for row in rows)

    def visit_at(self, url: int, time: float | None) -> VisitRow | None:
        """Return the visit with the greatest time up to `time`, of those that found nothing new."""
        return self._one_visit(("url", "=", url), *_up_to(time), backwards=True)

    def visit_after(self, url: int, time: float) -> VisitRow | None:
        """Return the visit with the least time after `time`, of those that found nothing new."""
        first = self._one_visit(("url", "=", url), ("time", ">", time))
        return self.visit_at(url, first.time) if first is not None else None  # of one time the last

    def visit_with_head(self, version: VersionRow, after: float, until: float) -> VisitRow | None:
        """Return the last visit in a time that found a version and has a head."""
        which = ("url", "=", version.url), ("version", "=", version.number), ("headed", "=", 1)
        return self._one_visit(*which, ("time", ">", after), *_up_to(until), backwards=True)

    def _one_visit(self, *where: Condition, backwards: bool = False) -> VisitRow | None:
        rows = self._first("visit", *where, backwards=backwards)
        return next((self.read_visit(*row) for row in rows), None)

    def read_visit(self, at: int, row: Document) -> VisitRow:
        """Return a visit, given its place and its document."""
        return VisitRow(at=at, **self._whole("visit", row))

    def remove(self, url: UrlRow, versions: Sequence[VersionRow], visits: Sequence[int]) -> None:
        """Forget versions of a URL, and visits by their places; the URL too if nothing is left."""
        keys = [row.key for row in versions]
        for table, gone in (("visit", visits), ("version", keys)):  # no visit without its version
            for start in range(0, len(gone), _AT_ONCE):
                self.store.delete(table, (KEY, "in", gone[start : start + _AT_ONCE]))
        self.store.delete("change", *below(f"{url.id:010x}"))

    def remove_url(self, url: UrlRow) -> None:
        """Forget a URL that has neither versions nor visits, unless another writes some now."""
        self.store.delete("url", (KEY, "=", url.url), ("last", "=", url.last))

    # -- what changed between versions --------------------------------------------------------

    def changes(self, url: int) -> dict[tuple[int, int], frozenset[str]]:
        """Return the recorded changes between versions of a URL, by number; their order counts."""
        rows = self.store.range("change", *below(f"{url:010x}"))
        found = ((key, _read_kinds(key, str(row["kinds"]))) for key, row in rows)
        return {
            (int(k[11:17], 16), int(k[18:], 16)): kinds for k, kinds in found if kinds is not None
        }

    def damaged_changes(self) -> list[str]:
        """Return the keys of recorded changes that are damaged."""
        rows = self.store.range("change")
        return [key for key, row in rows if _read_kinds(key, str(row.get("kinds"))) is None]

    def note_changes(self, url: int, changes: Mapping[tuple[int, int], frozenset[str]]) -> None:
        """Record the kinds of blocks that changed between versions; it goes when they do."""
        with self.writing():
            rows = {f"{url:010x}/{old:06x}/{new:06x}": some for (old, new), some in changes.items()}
            written = {key: {"kinds": _written_kinds(key, some)} for key, some in rows.items()}
            self.store.put("change", written)

    # -- what is damaged ----------------------------------------------------------------------

    def losses(self) -> set[str]:
        """Return the reported losses, one sentence each."""
        return {key for key, _ in self.store.range("loss")}

    def note_losses(self, losses: Iterable[str]) -> None:
        """Store the reported losses, one sentence each."""
        self.store.insert_new("loss", {loss: {"found": clock.time()} for loss in losses})

    def forget_losses(self, losses: Collection[str]) -> None:
        """Remove losses that are made good."""
        self.store.delete("loss", (KEY, "in", list(losses)))

    def _whole(
        self, table: str, row: Document, names: tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Return the fields of a document; a StoreError if they are gone or of another type."""
        kinds = _FIELDS[table]
        found = {name: row.get(name) for name in names or kinds}
        for name, value in found.items():
            kind = kinds[name]
            if not isinstance(value, kind) and not (kind is float and isinstance(value, int)):
                raise StoreError(
                    f"archive {self.name} is damaged: a document of {table} is not as it was"
                    " written; check it"
                )
        return found


def standing(segments: Sequence[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Return a stream's segments that stand, in order, and those that later ones replace."""
    kept: list[Segment] = []
    replaced: list[Segment] = []
    for segment in sorted(segments, key=lambda one: (one.first, one.entries, one.key[-14:])):
        while kept and kept[-1].first >= segment.first and kept[-1].end <= segment.end:
            replaced.append(kept.pop())
        if kept and segment.end <= kept[-1].end:
            replaced.append(segment)
        else:
            kept.append(segment)
    return kept, replaced


def _all_of(url: int) -> tuple[Condition, Condition]:
    return (KEY, ">=", url << NUMBERS), (KEY, "<", url + 1 << NUMBERS)


def _up_to(time: float | None) -> list[Condition]:
    return [("time", "<=", time)] if time is not None else []


def _written_kinds(key: str, kinds: Iterable[str]) -> str:
    """Return kinds of blocks, with a checksum: no record proves them."""
    text = " ".join(sorted(kinds))
    return f"{text} {crc32(f'{key} {text}'.encode()):08x}"


def _read_kinds(key: str, written: str) -> frozenset[str] | None:
    """Return the kinds; None if they are not those that were written."""
    kinds = frozenset(written.split()[:-1])
    return kinds if _written_kinds(key, kinds) == written else None


def _age(key: str) -> float:
    """Return how many seconds ago a segment was named."""
    return clock.time() - int(key.rpartition("/")[2][:8], 16)
