"""Examining an archive: everything is read, every version is rebuilt.

A version stands twice: in its row, and in its entry, from which with the bytes of the page the row
can be written again. An entry without a row is a version that was lost, or what a process left that
died before it wrote the row. Where the rows are proved to be those that were written, it is the
second, and may go. Where nobody can tell, it is made a version: the page was captured then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from itertools import islice, pairwise
from operator import itemgetter

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.cutting import are_blocks_of
from mmcrawl.archive.format.facts import encoding_of, row_of
from mmcrawl.archive.format.manifest import Entry, Manifest, Run
from mmcrawl.archive.format.reading import GoneError, Reader, live_entry, named
from mmcrawl.archive.model import CheckReport, Fault, as_text
from mmcrawl.archive.purging import remove_dead
from mmcrawl.archive.row_checks import RowChecks, name_of
from mmcrawl.archive.rows import CHUNK_DIGEST, SHIFT, PackRow, VersionRow, place
from mmcrawl.errors import StoreError

_NUMBER = (1 << SHIFT) - 1
_SORTED = 200_000  # chunks of the index that are held in memory at once


class Checker:
    """One examination; nothing that was read before is trusted."""

    def __init__(self, backend: Backend, *, repair: bool) -> None:
        self._backend = backend
        self._repair = repair
        self._reader = Reader(backend)
        self._faults: list[Fault] = []
        self._damaged: list[int] = []  # places of chunks
        self._unknown: list[tuple[PackRow, list[tuple[bytes, int]]]] = []
        self._packs = self._chunks = self._versions = self._indexed = 0
        self._replaced = self._dead = self._removed = 0
        self._blamed: set[tuple[int, int]] = set()  # versions, by URL and number
        self._unfinished: list[VersionRow] = []
        self._restored: list[VersionRow] = []
        self._untrue: list[VersionRow] = []
        self._rows = RowChecks(backend, self._reader, repair=repair, note=self._faults.append)

    def report(self) -> CheckReport:
        """Examine everything; where a database itself is damaged, as far as it can be read."""
        self._faults += [Fault(problem) for problem in self._backend.problems()]
        try:
            return self._report()
        except StoreError as error:
            if not self._faults:
                raise
            self._faults.append(Fault(str(error)))
            return CheckReport(
                urls=0,
                versions=self._versions,
                packs=self._packs,
                chunks=self._chunks,
                faults=tuple(self._faults),
                leftovers=0,
                removed=0,
                completed=0,
            )

    def _report(self) -> CheckReport:
        altered = self._rows.check_groups()
        for stream in self._backend.streams():
            self._check_stream(stream)
        self._check_unknown()
        counts = self._backend.counts()
        if altered or self._versions != counts["versions"]:
            self._check_rows()
        if self._repair:
            self._backend.put_versions(self._restored + self._unfinished, self._untrue)
        if altered:
            self._rows.check_versions(self._faults)
        self._rows.check_urls()
        self._rows.check_streams()
        if self._indexed != counts["chunks"] or self._damaged:
            self._check_index()
        if self._repair and self._dead and all(fault.repaired for fault in self._faults):
            remove_dead(self._backend, Reader(self._backend))
            self._removed += self._dead
        left = self._replaced + self._dead - self._removed
        return CheckReport(
            urls=counts["urls"],
            versions=counts["versions"],
            packs=self._packs,
            chunks=self._chunks,
            faults=tuple(self._faults),
            leftovers=left if self._repair else left + len(self._unfinished),
            removed=self._removed,
            completed=len(self._unfinished) if self._repair else 0,
        )

    def _check_stream(self, stream: int) -> None:
        """Examine the packs of a stream; one that another has replaced was left behind."""
        end = 0
        packs = self._backend.packs(stream)
        for pack in sorted(packs, key=lambda pack: (pack.entry, -pack.entries)):
            if pack.entry + pack.entries <= end:
                self._replaced += 1
                if self._repair:
                    self._backend.remove_pack(pack)
                    self._removed += 1
                continue
            end = pack.entry + pack.entries
            self._packs += 1
            self._chunks += pack.chunks
            try:
                self._check_pack(pack)
            except GoneError:
                continue  # another process has replaced it meanwhile, after examining it
            except StoreError as error:
                self._faults.append(Fault(f"{named(pack)} is damaged: {error}"))

    def _check_pack(self, pack: PackRow) -> None:
        manifest = self._reader.manifest(pack)
        strange = self._strange_chunks(pack, manifest)
        touched = [
            self._check_entry(pack, index, entry) for index, entry in enumerate(manifest.entries())
        ]
        if not strange:
            return
        if all(touched):
            self._unknown.append((pack, strange))
        else:
            self._damaged += [at for _, at in strange]
            chunks = ", ".join(str(at & _NUMBER) for _, at in strange[:10])
            self._faults.append(Fault(f"{named(pack)} is damaged: chunks {chunks}"))

    def _strange_chunks(self, pack: PackRow, manifest: Manifest) -> list[tuple[bytes, int]]:
        """Return digests and places of the chunks that the index does not know."""
        first = place(pack.stream, pack.chunk)
        try:
            content = self._reader.content(pack)
        except StoreError as error:
            self._faults.append(Fault(f"{named(pack)} is damaged: {error}"))
            self._damaged += range(first, first + pack.chunks)
            return []
        digests = [
            sha256(content[start:end]).digest()[:CHUNK_DIGEST] if end > start else b""
            for start, end in pairwise(manifest.offsets)
        ]
        known = self._backend.find_chunks([digest for digest in digests if digest])
        found = [(digest, first + n) for n, digest in enumerate(digests) if digest]
        self._indexed += sum(known.get(digest) == at for digest, at in found)
        return [(digest, at) for digest, at in found if digest not in known]

    def _check_unknown(self) -> None:
        """Find what versions are made of and the index does not know.

        What no version needs belongs to a writer that died before it had told the index.
        """
        unknown = sorted(at for _, chunks in self._unknown for _, at in chunks)
        needed = self._needed(unknown) if unknown else set()
        for pack, chunks in self._unknown:
            lost = [(digest, at) for digest, at in chunks if at in needed]
            if lost:
                self._note_chunks(pack, lost)
            if self._repair and self._unfinished:  # what is completed needs them
                others = [(digest, at) for digest, at in chunks if at not in needed]
                self._backend.add_chunks(others)
                self._indexed += len(others)

    def _needed(self, places: Sequence[int]) -> set[int]:
        """Return those of some chunks, in order, that a version is made of."""
        again = {row.entry for row in self._restored}
        needed: set[int] = set()
        for stream in self._backend.streams():
            for pack in self._backend.packs(stream):
                with suppress(StoreError):  # a fault already, or being replaced
                    for index, entry in enumerate(self._reader.manifest(pack).entries()):
                        at = place(pack.stream, pack.entry + index)
                        if at in again or live_entry(self._backend, pack, index, entry):
                            needed.update(_within(places, entry.runs))
        return needed

    def _note_chunks(self, pack: PackRow, chunks: Sequence[tuple[bytes, int]]) -> None:
        if self._repair:
            self._backend.add_chunks(chunks)
            self._indexed += len(chunks)
        what = f"{named(pack)} has {len(chunks)} chunks that the index does not know"
        self._faults.append(Fault(what, repaired=self._repair))

    def _check_entry(self, pack: PackRow, index: int, entry: Entry) -> bool:
        """Rebuild a version and compare it with its row; return whether its bytes are whole."""
        row = self._backend.version(entry.url, entry.number) if entry.number else None
        at = place(pack.stream, pack.entry + index)
        if not entry.number or self._is_dead(entry, at, row):
            self._dead += entry.number > 0
            return True
        self._versions += row is not None and row.entry == at
        try:
            body = self._reader.body(entry.runs)
            written = row_of(entry, at, body)
        except (StoreError, GoneError) as error:
            self._blame(row or entry, f"it cannot be rebuilt: {error}")
            return False
        if row is None:
            self._note_lost(written)
        elif row != written and not self._note_altered(row, written, entry):
            return False
        if entry.columns is not None and not are_blocks_of(entry.columns, body, encoding_of(entry)):
            self._blame(written, "its blocks are not those of its bytes")
        return True

    def _is_dead(self, entry: Entry, at: int, row: VersionRow | None) -> bool:
        """Return whether an entry is surely nobody's.

        Two processes may have written a number at once, and one was refused.
        """
        if row is None:
            return self._backend.proves_versions(entry.url) is True
        if row.entry == at:
            return False
        try:
            self._reader.entry(row)
        except StoreError:
            return False  # the row leads elsewhere
        return True

    def _note_lost(self, written: VersionRow) -> None:
        """Note a version whose row is gone, or was never written."""
        proved = self._backend.proves_versions(written.url)
        if proved is None and written.number > self._backend.last_number(written.url):
            self._unfinished.append(written)
            return
        self._blame_and_restore(written, "its row is gone")

    def _note_altered(self, row: VersionRow, written: VersionRow, entry: Entry) -> bool:
        """Note that row and entry differ; return whether the bytes are those that were stored."""
        names = (field.name for field in fields(row))
        differ = [name for name in names if getattr(row, name) != getattr(written, name)]
        if {"digest", "size"}.intersection(differ) and not self._are_known(entry.runs):
            self._blame(row, "its bytes are not those that were stored")
            return False
        self._blame_and_restore(written, f"its {' and '.join(differ)} is not what was stored")
        return True

    def _are_known(self, runs: Iterable[Run]) -> bool:
        """Return whether all chunks of a version are those that the index knows."""
        places = [at for start, count in runs for at in range(start, start + count)]
        found = {at: self._digest_at(at) for at in places}
        return len(self._backend.find_chunks(list(set(found.values())))) == len(set(found.values()))

    def _blame(self, row: VersionRow | Entry, what: str, *, repaired: bool = False) -> None:
        name = name_of(self._backend, row.url)
        self._blamed.add((row.url, row.number))
        text = f"version {row.number} of {name} of {as_text(row.time)}: {what}"
        self._faults.append(Fault(text, name, row.number, repaired=repaired))

    def _blame_and_restore(self, written: VersionRow, what: str) -> None:
        self._restored.append(written)
        self._blame(written, what, repaired=self._repair)

    def _check_rows(self) -> None:
        """Find the versions whose entry was not met."""
        numbers = [url.id for url in self._backend.urls()]
        for url in [*numbers, *self._backend.nameless()]:
            for row in self._backend.versions(url):
                if (row.url, row.number) in self._blamed:
                    continue
                try:
                    self._reader.entry(row)
                except StoreError as error:
                    self._blame_row(row, error)

    def _blame_row(self, row: VersionRow, error: StoreError) -> None:
        """Note a row whose entry is gone, or another's."""
        if any(row.entry == known.entry for known in self._restored):
            self._untrue.append(row)
            self._blame(row, "its number was altered", repaired=self._repair)
        else:
            self._blame(row, f"it cannot be rebuilt: {error}")

    def _check_index(self) -> None:
        """Find digests that lead to bytes of another digest, or to damaged ones."""
        damaged = set(self._damaged)
        chunks = self._backend.chunks()
        wrong: list[bytes] = []
        while some := list(islice(chunks, _SORTED)):
            # In the order of places: each pack is decoded once for all of its chunks.
            for digest, at in sorted(some, key=itemgetter(1)):
                if at in damaged or self._digest_at(at) != digest:
                    wrong.append(digest)
        if wrong:
            if self._repair:
                self._backend.remove_chunks(wrong)
            what = f"the index has {len(wrong)} chunks that are not where it says, or damaged"
            self._faults.append(Fault(what, repaired=self._repair))

    def _digest_at(self, at: int) -> bytes:
        try:
            return sha256(self._reader.body([(at, 1)])).digest()[:CHUNK_DIGEST]
        except (StoreError, GoneError):
            return b""


def _within(places: Sequence[int], runs: Iterable[Run]) -> Iterator[int]:
    """Yield those of some places, in order, that are in a run."""
    for start, count in runs:
        yield from places[bisect_left(places, start) : bisect_left(places, start + count)]
