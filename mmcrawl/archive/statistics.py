"""Numbers of a whole archive."""

from __future__ import annotations

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.facts import cut_by
from mmcrawl.archive.model import ArchiveStats, HostStats
from mmcrawl.archive.reading import GoneError, Reader, named
from mmcrawl.errors import StoreError

__all__ = ["stats_of"]


def stats_of(backend: Backend, reader: Reader) -> ArchiveStats:
    """Count what there is; reads every manifest, but no page.

    Raises:
        StoreError: a pack is damaged; the message names it.
    """
    counts = backend.counts()
    hosts = {name: HostStats(*numbers) for name, numbers in backend.totals().items()}
    blocks = uncut = raw = 0
    for stream in backend.streams():
        for pack in backend.packs(stream):
            raw += pack.raw
            try:
                manifest = reader.manifest(pack)
            except GoneError:
                continue  # being replaced now; its blocks are few
            except StoreError as error:
                raise StoreError(
                    f"{named(pack)} is damaged ({error}); check the archive"
                ) from error
            blocks += manifest.blocks
            uncut += sum(bool(cut_by(entry)[0]) for entry in manifest.uncut())
    return ArchiveStats(
        urls=counts["urls"],
        versions=counts["versions"],
        visits=counts["versions"] + counts["visits"],
        blocks=blocks,
        uncut=uncut,
        chunks=counts["chunks"],
        raw_bytes=sum(host.raw_bytes for host in hosts.values()),
        chunk_bytes=raw,
        stored_bytes=backend.size(),
        hosts=hosts,
    )
