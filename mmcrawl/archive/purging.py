"""Removing versions for good.

Chunks keep their places for ever: what nothing refers to any more is left out of its pack, and its
number stands for no bytes. So nothing that stays has to be written differently.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise

from mmcrawl.archive.backend import SHIFT, Backend, PackRow, UrlRow, place
from mmcrawl.archive.frames import compressed
from mmcrawl.archive.manifest import Entry, pack_manifest
from mmcrawl.archive.model import Purged
from mmcrawl.archive.reading import Reader, live_entry
from mmcrawl.archive.sealing import MANIFEST_LEVEL, TAIL_LEVEL
from mmcrawl.archive.timeline import Seen, line_of
from mmcrawl.archive.writing import CHUNK_DIGEST

__all__ = ["purge", "remove_dead"]

_NUMBER = (1 << SHIFT) - 1
_BLANK = Entry(0, 0, 0.0, 0, b"", ())

_LIVE, _INDEXED = 1, 2
_Marks = dict[int, bytearray]
"""Of each stream, a byte for each chunk: 0 if no version is made of it."""


def purge(backend: Backend, urls: Iterable[UrlRow], before: float | None) -> Purged:
    """Remove versions of some URLs; all of them, or those replaced before a time.

    Raises:
        StoreError: a pack is damaged, so that it cannot be told what may go; nothing is removed.
    """
    size = backend.size()
    reader = Reader(backend)
    with backend.sole():
        counts = [_remove_versions(backend, url, before) for url in urls]
        versions, visits = sum(c[0] for c in counts), sum(c[1] for c in counts)
        if versions:
            remove_dead(backend, reader)
    backend.compact()
    return Purged(versions, visits, max(0, size - backend.size()))


def remove_dead(backend: Backend, reader: Reader) -> None:
    """Remove entries that are no version's, and chunks that no version is made of.

    Raises:
        StoreError: a pack is damaged, so that it cannot be told what may go; nothing is removed.
    """
    with backend.sole():
        chunks = _live_chunks(backend, reader)
        dead = []
        for digest, at in backend.chunks():
            marks, number = chunks[at >> SHIFT], at & _NUMBER
            if number < len(marks) and marks[number]:
                marks[number] = _INDEXED
            else:
                dead.append(digest)
        if dead:
            backend.remove_chunks(dead)
            backend.add_chunks(_stored_twice(reader, chunks))
        for stream in backend.streams():
            for pack in backend.packs(stream):
                _thin_out(backend, reader, pack, chunks[stream])


def _stored_twice(reader: Reader, chunks: _Marks) -> Iterator[tuple[bytes, int]]:
    """Yield what the index knew at another place, which may be gone now."""
    for stream, marks in chunks.items():
        number = marks.find(_LIVE)
        while number >= 0:
            at = place(stream, number)
            yield sha256(reader.body([(at, 1)])).digest()[:CHUNK_DIGEST], at
            number = marks.find(_LIVE, number + 1)


def _remove_versions(backend: Backend, url: UrlRow, before: float | None) -> tuple[int, int]:
    versions, visits = backend.versions(url.id), backend.visits(url.id)
    kept = _still_seen(line_of(versions, visits), before) if before is not None else set()
    gone = [version.number for version in versions if version.number not in kept]
    times = [visit.time for visit in visits if visit.number not in kept]
    # Visits first, so that none is ever left without its version.
    backend.remove_visits(url.id, times)
    backend.remove_versions(url.id, gone)
    if not kept:
        backend.remove_url(url.id)
    return len(gone), len(times) + len(gone)


def _still_seen(line: Sequence[Seen], before: float) -> set[int]:
    """Return the numbers of the versions that were seen last at a time, and of those seen later."""
    first = bisect_right(line, before, key=lambda seen: seen.time)
    return {seen.version.number for seen in line[max(0, first - 1) :]}


def _live_chunks(backend: Backend, reader: Reader) -> _Marks:
    chunks: _Marks = defaultdict(bytearray)
    for stream in backend.streams():
        for pack in backend.packs(stream):
            for index, entry in enumerate(reader.manifest(pack).entries()):
                if live_entry(backend, pack, index, entry):
                    for start, count in entry.runs:
                        _mark(chunks[start >> SHIFT], start & _NUMBER, count)
    return chunks


def _mark(marks: bytearray, first: int, count: int) -> None:
    end = first + count
    marks.extend(bytes(max(0, end - len(marks))))
    marks[first:end] = bytes([_LIVE]) * count


def _thin_out(backend: Backend, reader: Reader, pack: PackRow, marks: bytearray) -> None:
    """Write a pack without what is dead; not at all if nothing is left."""
    manifest = reader.manifest(pack)
    old = manifest.entries()
    entries = [
        entry if live_entry(backend, pack, index, entry) else _BLANK
        for index, entry in enumerate(old)
    ]
    kept = [
        (start, end) if any(marks[number : number + 1]) else (start, start)
        for number, (start, end) in enumerate(pairwise(manifest.offsets), pack.chunk)
    ]
    raw = sum(end - start for start, end in kept)
    if not raw and all(entry is _BLANK for entry in entries):
        backend.remove_pack(pack)
        return
    if raw == pack.raw and entries == old:
        return
    content = reader.content(pack)
    level = pack.level or TAIL_LEVEL
    data = compressed(b"".join(content[start:end] for start, end in kept), level)
    written = pack_manifest(entries, [end - start for start, end in kept], MANIFEST_LEVEL)
    new = replace(pack, raw=raw, size=len(written) + len(data))
    backend.replace_packs([pack], new, written, data)
