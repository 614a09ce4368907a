"""The numbers of an archive: what it keeps, and how much of it is equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.format.blocks import Outline
from mmcrawl.archive.format.facts import cut_by
from mmcrawl.archive.format.manifest import Manifest
from mmcrawl.archive.format.reading import GoneError, Reader, named
from mmcrawl.archive.model import ArchiveStats, HostStats
from mmcrawl.errors import StoreError

_MERGED = 200_000  # numbers that are sorted into those that are known at once


def stats_of(backend: Backend, reader: Reader) -> ArchiveStats:
    """Count what there is; reads every manifest, but no page.

    Raises:
        StoreError: a pack is damaged; the message names it.
    """
    counts = backend.counts()
    hosts = {name: HostStats(*numbers) for name, numbers in backend.totals().items()}
    blocks, layouts = _Distinct(), _Distinct()
    uncut = raw = 0
    for stream in backend.streams():
        for pack in backend.packs(stream):
            raw += pack.raw
            try:
                manifest = reader.manifest(pack)
                for outline in _outlines(manifest):
                    blocks.add(map(_key, outline.marks, outline.sizes))
                    layouts.add([int.from_bytes(outline.layout, "big")])
            except GoneError:
                continue  # being replaced now; its blocks are few
            except StoreError as error:
                raise StoreError(
                    f"{named(pack)} is damaged ({error}); check the archive"
                ) from error
            uncut += sum(bool(cut_by(entry)[0]) for entry in manifest.uncut())
    return ArchiveStats(
        urls=counts["urls"],
        versions=counts["versions"],
        visits=counts["versions"] + counts["visits"],
        blocks=blocks.count,
        distinct_blocks=blocks.distinct,
        layouts=layouts.count,
        distinct_layouts=layouts.distinct,
        uncut=uncut,
        chunks=counts["chunks"],
        raw_bytes=sum(host.raw_bytes for host in hosts.values()),
        chunk_bytes=raw,
        stored_bytes=backend.size(),
        hosts=hosts,
    )


def _outlines(manifest: Manifest) -> Iterator[Outline]:
    columns = (entry.columns for entry in manifest.entries())
    return (each.outline() for each in columns if each is not None)


def _key(mark: bytes, size: int) -> int:
    return int.from_bytes(mark, "big") << 32 | size


class _Distinct:
    """Counts numbers below 2^64, and how many different ones there are: 8 bytes for each of these.

    Attributes:
        count: Of all.
    """

    def __init__(self) -> None:
        self.count = 0
        self._known = np.empty(0, np.uint64)
        self._waiting: list[int] = []

    def add(self, numbers: Iterable[int]) -> None:
        """Count more."""
        before = len(self._waiting)
        self._waiting += numbers
        self.count += len(self._waiting) - before
        if len(self._waiting) > max(_MERGED, len(self._known) // 4):
            self._merge()

    @property
    def distinct(self) -> int:
        """How many different ones."""
        self._merge()
        return len(self._known)

    def _merge(self) -> None:
        self._known = np.union1d(self._known, np.array(self._waiting, np.uint64))
        self._waiting = []
