"""Checks an archive: reads every record, rebuilds the index from the records, and compares.

A record without a row has two possible causes: the row was lost, or a process died before writing
it. If the row of its URL says that the URL had been seen by then, the row was lost: a fault.
Otherwise the record is an orphan. A repair writes the row in both cases, since the page was
captured.

Two processes may write a version with the same number at once. One of the two rows is refused; that
record is dead, and its page was written again under another number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from mmcrawl.archive.format.columns import decompressed
from mmcrawl.archive.format.cutting import are_blocks_of
from mmcrawl.archive.format.head import GONE, HEADED, VISIT, Entry, Head, read_head
from mmcrawl.archive.format.reading import GoneError, PurgedError, Reader
from mmcrawl.archive.index import (
    NUMBERS,
    Index,
    Segment,
    UrlRow,
    VersionRow,
    VisitRow,
    standing,
)
from mmcrawl.archive.lookup import standing_of
from mmcrawl.archive.model import CheckReport, Fault, as_text
from mmcrawl.archive.purging import forget_records, is_blank
from mmcrawl.errors import StoreError
from mmcrawl.store.documents import KEY

_LOST = "it cannot be rebuilt"

_R = TypeVar("_R")
_Row = TypeVar("_Row", VersionRow, VisitRow)


class _Record(NamedTuple):
    """What a record says, as far as rows are compared with it."""

    row: VersionRow
    digest: bytes


class Checker:
    """One examination; nothing that was read before is trusted."""

    def __init__(self, index: Index, *, repair: bool) -> None:
        self._index = index
        self._repair = repair
        self._reader = Reader(index)
        self._faults: list[Fault] = []
        self._segments = self._read = self._left = self._completed = 0
        self._replaced: list[Segment] = []
        self._dead: set[int] = set()  # places of records
        self._names: dict[int, str] = {}  # of URLs
        self._records: defaultdict[int, list[_Record]] = defaultdict(list)  # by key of the version
        self._places: set[int] = set()  # of these
        self._visits: dict[int, VisitRow] = {}  # by place
        self._tails: list[list[int]] = []  # places of visits that were written at once
        self._gone: dict[int, int] = {}  # numbers of purged versions by place
        self._greatest: defaultdict[int, int] = defaultdict(int)  # of these, by URL
        self._streams: dict[int, tuple[str, int]] = {}  # names and ends
        self._hurt: set[int] = set()  # URLs of which a record cannot be read
        self._half_gone: set[int] = set()  # URLs of which a purge was interrupted
        self._urls: dict[str, UrlRow] = {}
        self._ids: dict[int, str] = {}  # of these

    def report(self) -> CheckReport:
        """Examine everything; where a database itself is damaged, as far as it can be read."""
        self._faults += [Fault(problem) for problem in self._index.store.problems()]
        removed = 0
        try:
            self._read_records()
            with self._index.writing() if self._repair else nullcontext():
                removed = self._compare()
        except StoreError as error:
            if not self._faults:
                raise
            self._faults.append(Fault(str(error)))
        found = len(self._urls), self._read, self._segments, tuple(self._faults)
        return CheckReport(*found, self._left, removed, self._completed)

    def _tell(
        self, what: str, url: str = "", version: int | None = None, *, good: bool = True
    ) -> None:
        """Record a fault, which a repair makes good or not."""
        self._faults.append(Fault(what, url, version, repaired=self._repair and good))

    # -- records ------------------------------------------------------------------------------

    def _read_records(self) -> None:
        streams: defaultdict[int, list[Segment]] = defaultdict(list)
        for row in self._index.unproved_segments():
            with self._telling(row):
                segment = self._as_its_head_says(row)
                streams[segment.stream].append(segment)
        for segments in streams.values():
            stand, replaced = standing(segments)
            self._replaced += replaced
            for segment in stand:
                with self._telling(segment):
                    self._read_segment(segment)

    @contextmanager
    def _telling(self, segment: Segment) -> Iterator[None]:
        try:
            yield
        except GoneError:
            pass  # another process has replaced it meanwhile, after examining it
        except StoreError as error:
            self._segments += 1
            self._tell(f"{segment.label} is damaged: {error}", good=False)

    def _as_its_head_says(self, row: Segment) -> Segment:
        """Return a segment; what its row says of it is not trusted."""
        frame = self._index.heads([row]).get(row.key)
        if frame is None:
            if self._index.store.get("segment", [row.key]):
                raise StoreError("its head is gone")
            raise GoneError
        head = read_head(frame)
        try:
            data = self._index.data(row)
        except StoreError:
            if not head.raw:
                raise
            data = None
        is_whole = data is not None or not head.raw  # else its versions tell of it
        size = len(frame) + len(data or b"")
        if not is_whole or (size != row.size and not self._is_whole(row, data or b"", head)):
            size = row.size
        about = head.about
        identity = about.number, about.first, len(head), head.raw, about.level, size
        segment = Segment(row.key, *identity)
        if segment != row:
            self._tell(f"the row of {segment.label} was altered")
            if self._repair:
                change = [(KEY, "=", row.key)], segment.document
                self._index.store.change("segment", [change])
        return segment

    def _is_whole(self, row: Segment, data: bytes, head: Head) -> bool:
        """Return whether data are those that were written, as far as can be told."""
        try:
            like = self._reader.dictionary(self._reader.base_of(row))
            return not head.raw or len(decompressed(data, head.raw, like=like)) == head.raw
        except StoreError:
            return False

    def _read_segment(self, segment: Segment) -> None:
        head = self._reader.head(segment)
        about = head.about
        self._segments += 1
        if is_blank(head):
            self._replaced.append(segment)
        self._names |= about.urls
        end = max(segment.end, self._streams.get(about.number, ("", 0))[1])
        self._streams[about.number] = about.stream, end
        for n, entry in enumerate(head.entries()):
            self._read_entry(segment, n, entry)
        if not segment.level:
            kinds = enumerate(head.kinds(), segment.at)
            self._tails.append([at for at, kind in kinds if kind in (VISIT, HEADED)])

    def _read_entry(self, segment: Segment, n: int, entry: Entry) -> None:
        at = segment.at + n
        if entry.kind == GONE:
            self._gone[at] = entry.number
            self._greatest[entry.url] = max(entry.number, self._greatest[entry.url])
        elif entry.is_visit:
            what = entry.url, entry.time, entry.number, entry.status
            self._visits[at] = VisitRow(*what, at, int(entry.kind == HEADED))
        else:
            identity = entry.url, entry.number, entry.time, entry.status
            row = VersionRow(*identity, at)
            self._records[row.key].append(_Record(row, entry.digest))
            self._places.add(at)
            self._read += 1
            try:
                body = self._reader.body(segment, n, entry)
            except StoreError as error:
                is_gone = isinstance(error, GoneError)
                if is_gone and not self._index.heads([segment]):
                    return
                why = "its bytes are gone" if is_gone else error
                self._blame(row, f"{_LOST}: {segment.label}: {why}", good=False)
                return
            columns = entry.columns
            if columns is not None and not are_blocks_of(columns, body, entry.facts.encoding):
                self._blame(row, "its blocks are not those of its bytes", good=False)

    def _blame(self, row: VersionRow, what: str, *, good: bool = True) -> None:
        name = self._name_of(row.url)
        text = f"version {row.number} of {name} of {as_text(row.time)}: {what}"
        self._tell(text, name, row.number, good=good)

    def _name_of(self, number: int) -> str:
        """Return how messages call a URL: as records do, or its row if they are damaged."""
        return self._names.get(number) or self._ids.get(number) or f"URL {number}"

    # -- rows ---------------------------------------------------------------------------------

    def _compare(self) -> int:
        """Compare the index with the records; return how many orphans were removed."""
        index = self._index
        self._reader = Reader(index)  # what was purged since the records were read is asked for
        rows, bad = _rows(index.store.range("url"), index.read_url)
        self._urls = rows
        self._ids = {row.id: row.url for row in rows.values()}
        for url in bad:
            self._tell(f"the row of {url} was altered", str(url))
        versions = self._compare_versions()
        visits = self._compare_visits(versions)
        self._compare_urls(versions, visits)
        self._compare_streams()
        self._compare_numbers()
        for key in index.damaged_changes():
            self._tell(f"what was noted of two versions was altered ({key})")
            self._delete("change", [key])
        orphans = len(self._replaced) + len(self._dead)
        if self._repair and all(fault.repaired for fault in self._faults):
            index.remove_segments(self._replaced)
            forget_records(index, Reader(index), self._dead)
            return orphans
        self._left += orphans
        return 0

    def _put(self, table: str, documents: dict[Any, Any]) -> None:
        if self._repair and documents:
            self._index.store.put(table, documents)

    def _delete(self, table: str, keys: list[Any]) -> None:
        if self._repair and keys:
            self._index.store.delete(table, (KEY, "in", keys))

    def _leave(self, count: int = 1, *, completed: bool = False) -> None:
        """Count what an interrupted write left behind, which a repair removes or completes."""
        if self._repair and completed:
            self._completed += count
        elif not self._repair:
            self._left += count

    def _compare_versions(self) -> dict[int, VersionRow]:
        """Return the versions as they are, or are to be, by their keys."""
        index = self._index
        found: dict[int, VersionRow]
        found, bad = _rows(index.store.range("version"), index.read_version)
        last = {row.id: row.last for row in self._urls.values()}
        copies: defaultdict[tuple[int, float, bytes], set[int]] = defaultdict(set)
        for key, records in self._records.items():
            for row, digest in records:
                copies[row.url, row.time, digest].add(key)
        right: dict[int, VersionRow] = {}
        wrong: dict[int, VersionRow] = {}
        for key, records in self._records.items():
            was = found.pop(key, None)
            mine = next((one.row for one in records if was and one.row.at == was.at), None)
            if was is None and all(map(self._is_gone, (one.row for one in records))):
                continue
            if mine is None and was is not None and self._is_elsewhere(was, records, copies):
                right[key] = was  # told below if its record is damaged; the others are dead
                found[key] = was
            elif mine is None:
                alone = [r.row for r in records if len(copies[r.row.url, r.row.time, r.digest]) < 2]
                if not alone and was is None and self._is_written_again(records, copies):
                    self._dead |= {one.row.at for one in records}
                    continue
                mine = (alone or [one.row for one in records])[0]
                wrong[key] = mine
                if was is not None or key in bad:
                    self._blame(mine, "its row was altered")
                elif mine.number > last.get(mine.url, 0):
                    self._leave(completed=True)
                else:
                    self._blame(mine, "its row is gone")
            elif was != mine:
                wrong[key] = mine
                self._blame(mine, "its row was altered")
            if mine is not None:
                right[key] = mine
            self._dead |= {one.row.at for one in records} - {right[key].at}
        lie = "its number was altered, or it was never written by an archive"
        untrue = self._untrue(found, right, self._blame, lie)
        self._delete("version", untrue + [key for key in bad if key not in right])
        self._put("version", {key: row.document for key, row in wrong.items()})
        return right

    def _is_elsewhere(
        self,
        row: VersionRow,
        records: list[_Record],
        copies: dict[tuple[int, float, bytes], set[int]],
    ) -> bool:
        """Return whether the record of a row is none of those with its number, but was not read."""
        if not self._is_hidden(row):
            return False
        return self._is_written_again(records, copies) or self._why_unreadable(row) is None

    def _is_written_again(
        self, records: list[_Record], copies: dict[tuple[int, float, bytes], set[int]]
    ) -> bool:
        """Return whether all records of a number stand there with another number, too."""
        return all(
            any(key > row.key for key in copies[row.url, row.time, digest])
            for row, digest in records
        )

    def _untrue(
        self,
        found: dict[int, _Row],
        right: dict[int, _Row],
        tell: Callable[..., None],
        lie: str,
        restored: Collection[tuple[int, float]] = (),
    ) -> list[int]:
        """Tell of the rows that no record proves; return the keys of those that are none.

        What may be, as its record is damaged, is added to `right`.
        """
        untrue = []
        for key, row in found.items():
            if row.at in self._gone:  # a purge was interrupted
                self._leave()
                self._half_gone.add(row.url)
                untrue.append(key)
            elif self._is_hidden(row) and (row.url, row.time) not in restored:
                right[key] = row  # if it can be read, another process wrote it meanwhile
                if (error := self._why_unreadable(row)) is not None:
                    self._hurt.add(row.url)
                    loss = _LOST if isinstance(row, VersionRow) else "cannot be read"
                    tell(row, f"{loss}: {error}", good=False)
            else:
                tell(row, lie)
                untrue.append(key)
        return untrue

    def _is_hidden(self, row: VersionRow | VisitRow) -> bool:
        """Return whether nothing was read at the place of a row: it is damaged, lost, or new."""
        return not (row.at in self._visits or row.at in self._gone or row.at in self._places)

    def _is_gone(self, row: VersionRow | VisitRow) -> bool:
        """Return whether a record was purged since it was read."""
        segment = self._reader.segments_of([row.at]).get(row.at)
        return segment is None or isinstance(self._why_unreadable(row), PurgedError)

    def _why_unreadable(self, row: VersionRow | VisitRow) -> StoreError | None:
        try:
            self._reader.entry(row)
        except StoreError as error:
            return error
        return None

    def _compare_visits(self, versions: dict[int, VersionRow]) -> dict[int, list[VisitRow]]:
        """Return the visits as they are, or are to be, by URL."""
        index = self._index
        found, bad = _rows(index.store.range("visit"), index.read_visit)
        seen = {row.id: row.seen for row in self._urls.values()}
        times = {(row.url, row.time) for row in versions.values()}
        times |= {(row.url, row.time) for at, row in found.items() if at in self._visits}
        # Another process may have noted later visits of a URL than one that died.
        unfinished = {at for some in self._tails if found.keys().isdisjoint(some) for at in some}
        right: dict[int, VisitRow] = {}
        wrong: dict[int, VisitRow] = {}
        for at, mine in self._visits.items():
            row = found.pop(at, None)
            if row is None and at not in bad and (mine.url, mine.time) in times:
                self._dead.add(at)  # it was written again
                continue
            if row is None and self._is_gone(mine):
                continue
            right[at] = mine
            if row == mine:
                continue
            wrong[at] = mine
            noted = seen.get(mine.url, mine.time)
            is_unnoted = mine.time > noted or (at in unfinished and mine.time < noted)
            if row is None and at not in bad and is_unnoted:
                self._leave(completed=True)
            else:
                self._tell_visit(mine, "was altered" if row or at in bad else "is gone")
        restored = {(row.url, row.time) for row in wrong.values()}
        lie = "was never written by an archive"
        untrue = self._untrue(found, right, self._tell_visit, lie, restored)
        self._delete("visit", untrue + [at for at in bad if at not in right])
        self._put("visit", {at: row.document for at, row in wrong.items()})
        by_url: defaultdict[int, dict[float, VisitRow]] = defaultdict(dict)
        for _, row in sorted(right.items()):
            by_url[row.url][row.time] = row
        lost = (row for row in right.values() if row.url << NUMBERS | row.version not in versions)
        for row in lost:
            self._tell_visit(row, f"found version {row.version}, which is gone", good=False)
        return {url: [*some.values()] for url, some in by_url.items()}

    def _tell_visit(self, row: VisitRow, what: str, *, good: bool = True) -> None:
        name = self._name_of(row.url)
        self._tell(f"the visit of {name} at {as_text(row.time)} {what}", name, good=good)

    def _compare_urls(
        self, versions: dict[int, VersionRow], visits: dict[int, list[VisitRow]]
    ) -> None:
        by_url: defaultdict[int, list[VersionRow]] = defaultdict(list)
        for version in versions.values():
            by_url[version.url].append(version)
        own = {name for name, _ in self._streams.values()}
        own |= {name for name, _ in self._index.store.range("stream") if name.startswith("#")}
        for number, url in self._names.items():
            if number in by_url or number in visits:  # else its records are dead
                new = replace(UrlRow.new(url, number), own=int(f"#{number}" in own))
                new = replace(new, last=self._greatest[number])
                events = by_url[number], visits.get(number, [])
                self._compare_url(standing_of(new, *events))
        ids = {*by_url, *visits}
        for url, row in self._urls.items():
            if self._names.get(row.id) == url or (row.id in ids and row.id not in self._names):
                continue  # its records, or that they are damaged, were told of
            if row.last and row.at not in self._gone:
                self._tell(f"the row of {url} was never written by an archive", url)
            else:  # made for a version that was never written, or a purge was interrupted
                self._leave()
            self._delete("url", [url])
        for number in sorted(ids - self._names.keys() - {row.id for row in self._urls.values()}):
            count = len(by_url[number]), len(visits.get(number, []))
            what = f"URL {number} is gone, which has {count[0]} versions and {count[1]} visits"
            self._tell(what, f"URL {number}", good=False)

    def _compare_url(self, mine: UrlRow) -> None:
        """Compare the row of a URL with what it is to be."""
        url, row = mine.url, self._urls.get(mine.url)
        if row == mine or (row is not None and mine.id in self._hurt and row.id == mine.id):
            return
        if row is None:
            self._tell(f"the row of {url} is gone", url)
        elif row.id == mine.id and (row.last < mine.last or row.seen < mine.seen):
            self._leave(completed=True)
        elif row.id == mine.id and mine.id in self._half_gone:
            self._leave()
        else:
            self._tell(f"the row of {url} was altered", url)
        self._put("url", {url: mine.document})

    def _compare_streams(self) -> None:
        rows = dict(self._index.store.range("stream"))
        for number, (name, end) in self._streams.items():
            row = rows.get(name)
            free = row.get("next") if row is not None else None
            if row is None or row.get("id") != number or not isinstance(free, int):
                what = "is gone" if row is None else "was altered"
                self._tell(f"the row of stream {name!r} {what}")
            elif free < end:
                self._tell(f"stream {number} would give numbers again that are taken")
            else:
                continue
            self._put("stream", {name: {"id": number, "next": end}})
        for name, row in rows.items():
            number = row.get("id")
            if not isinstance(number, int) or self._streams.get(number, (name, 0))[0] != name:
                self._tell(f"the row of stream {name!r} was never written by an archive")
                self._delete("stream", [name])

    def _compare_numbers(self) -> None:
        rows = self._index.store.get("counter", ["url", "stream"])
        greatest = {"url": max(self._names, default=0), "stream": max(self._streams, default=0)}
        for name, last in greatest.items():
            free = rows.get(name, {}).get("next")
            if last and (not isinstance(free, int) or free <= last):
                self._tell(f"the counter of {name}s would give numbers again that are taken")
                self._put("counter", {name: {"next": last + 1}})


def _rows(
    documents: Iterator[tuple[Any, Any]], read: Callable[[Any, Any], _R]
) -> tuple[dict[Any, _R], set[Any]]:
    """Return rows by their keys, and the keys of those that are none."""
    found: dict[Any, _R] = {}
    bad = set()
    for key, document in documents:
        try:
            found[key] = read(key, document)
        except StoreError:
            bad.add(key)
    return found, bad
