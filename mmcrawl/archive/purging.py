"""Removing versions for good.

Chunks keep their places for ever: what nothing refers to any more is left out of its pack, and its
number stands for no bytes. So nothing that stays has to be written differently.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from mmcrawl.archive.backend import SHIFT, Backend, PackRow, UrlRow, VersionRow, place
from mmcrawl.archive.frames import compressed
from mmcrawl.archive.manifest import Entry, pack_manifest
from mmcrawl.archive.model import Purged
from mmcrawl.archive.reading import Reader
from mmcrawl.archive.sealing import MANIFEST_LEVEL, TAIL_LEVEL

__all__ = ["live_entry", "purge"]

_NUMBER = (1 << SHIFT) - 1
_BLANK = Entry(0, 0, 0.0, 0, b"", ())

_Live = dict[int, set[int]]
"""Chunk numbers by stream."""


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
            live = _live_chunks(backend, reader)
            dead = [d for d, at in backend.chunks() if at & _NUMBER not in live[at >> SHIFT]]
            backend.remove_chunks(dead)
            for stream in backend.streams():
                for pack in backend.packs(stream):
                    _thin_out(backend, reader, pack, live[stream])
    backend.compact()
    return Purged(versions, visits, max(0, size - backend.size()))


def _remove_versions(backend: Backend, url: UrlRow, before: float | None) -> tuple[int, int]:
    rows = sorted(backend.versions(url.id), key=lambda row: (row.time, row.number))
    gone = set(_replaced(rows, before))
    backend.remove_versions(url.id, sorted(gone))
    visits = [visit.time for visit in backend.visits(url.id) if visit.number in gone]
    backend.remove_visits(url.id, visits)
    if len(gone) == len(rows):
        backend.remove_url(url.id)
    return len(gone), len(visits) + len(gone)


def _replaced(rows: Sequence[VersionRow], before: float | None) -> list[int]:
    """Return the numbers of the versions, in order of time, that are to go."""
    if before is None:
        return [row.number for row in rows]
    return [row.number for row, after in pairwise(rows) if after.time <= before]


def live_entry(backend: Backend, pack: PackRow, index: int, entry: Entry) -> VersionRow | None:
    """Return the version that an entry of a pack belongs to, None if it is nobody's."""
    row = backend.version(entry.url, entry.number) if entry.number else None
    return row if row and row.entry == place(pack.stream, pack.entry + index) else None


def _live_chunks(backend: Backend, reader: Reader) -> _Live:
    live: _Live = defaultdict(set)
    for stream in backend.streams():
        for pack in backend.packs(stream):
            for index, entry in enumerate(reader.manifest(pack).entries()):
                if live_entry(backend, pack, index, entry):
                    for start, count in entry.runs:
                        number = start & _NUMBER
                        live[start >> SHIFT].update(range(number, number + count))
    return live


def _thin_out(backend: Backend, reader: Reader, pack: PackRow, live: set[int]) -> None:
    """Write a pack without what is dead; not at all if nothing is left."""
    manifest = reader.manifest(pack)
    old = manifest.entries()
    entries = [
        entry if live_entry(backend, pack, index, entry) else _BLANK
        for index, entry in enumerate(old)
    ]
    kept = [
        (start, end) if pack.chunk + index in live else (start, start)
        for index, (start, end) in enumerate(pairwise(manifest.offsets))
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
