"""Statistics of an archive: what it keeps, and how much of it is equal."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import numpy as np

from mmcrawl.archive.format.blocks import Outline
from mmcrawl.archive.format.head import CUT, Entry
from mmcrawl.archive.format.reading import GoneError, Reader, live_versions
from mmcrawl.archive.index import Index, Segment, standing
from mmcrawl.archive.model import ArchiveStats, HostStats


def stats_of(index: Index, reader: Reader) -> ArchiveStats:
    """Count what there is; reads every head, but no page.

    Raises:
        StoreError: a segment is damaged; the message names it.
    """
    of_url = {row.id: row.host for row in index.urls()}
    hosts = {host: [0, 0, 0] for host in sorted(set(of_url.values()))}
    for name in of_url.values():
        hosts[name][0] += 1
    blocks, layouts = array("Q"), array("Q")  # a number for each
    unsegmented = raw = 0
    for segments in index.all_segments():
        for segment in standing(segments)[0]:
            raw += segment.raw
            for entry in _entries(index, reader, segment):
                if (host := of_url.get(entry.url)) is None:
                    continue  # its URL is being written now
                counted = hosts[host]
                counted[1] += 1
                counted[2] += entry.size
                unsegmented += entry.kind != CUT and bool(entry.facts.method)
                if entry.columns is not None:
                    outline: Outline = entry.columns.outline()
                    blocks.extend(map(_key, outline.marks, outline.sizes))
                    layouts.append(int.from_bytes(outline.layout, "big"))
    versions = index.store.count("version")
    return ArchiveStats(
        urls=len(of_url),
        versions=versions,
        visits=versions + index.store.count("visit"),
        blocks=len(blocks),
        distinct_blocks=len(np.unique(blocks)),
        layouts=len(layouts),
        distinct_layouts=len(np.unique(layouts)),
        unsegmented=unsegmented,
        raw_bytes=sum(size for _, _, size in hosts.values()),
        kept_bytes=raw,
        stored_bytes=index.store.size(),
        hosts={host: HostStats(*numbers) for host, numbers in hosts.items()},
    )


def _entries(index: Index, reader: Reader, segment: Segment) -> Iterator[Entry]:
    try:
        live = live_versions(index, segment, reader.head(segment))
    except GoneError:
        return  # being replaced now
    yield from live.values()


def _key(mark: bytes, size: int) -> int:
    return int.from_bytes(mark, "big") << 32 | size
