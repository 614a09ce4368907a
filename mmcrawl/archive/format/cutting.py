"""The blocks of stored versions: read where they are kept, else cut from the page.

Cutting a page into labelled blocks takes several times as long as storing it. It depends on
nothing but the bytes, the encoding, the method and the level, which are kept; so it is done when
somebody asks for blocks, or for good when the archive is packed.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping

from mmcrawl.archive.backend import Backend, PackRow, VersionRow
from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.manifest import Entry
from mmcrawl.archive.format.reading import Reader, live_entry
from mmcrawl.archive.model import StoredBlock, Version, digest_of
from mmcrawl.blocks.partition import Partition, partition
from mmcrawl.errors import BlockError

logger = logging.getLogger(__name__)

_URLS = 64  # whose last blocks are kept while a pack is cut


def blocks_of_version(
    version: Version,
    entry: Entry,
    body: bytes,
    known: Mapping[str, StoredBlock] | None = None,
) -> list[StoredBlock]:
    """Return the blocks of a version, as kept or as cut now."""
    if not version.method:
        return _whole_body(body)
    kept = entry.blocks(body)
    if kept is not None:
        return kept
    return blocks_of_page(
        body,
        url=version.url,
        encoding=version.encoding,
        method=version.method,
        level=version.level,
        known=known,
    )


def is_cut(entry: Entry) -> bool:
    """Return whether the blocks of an entry are kept."""
    return entry.columns is not None


def cut_entries(backend: Backend, reader: Reader, pack: PackRow) -> list[Entry] | None:
    """Return the entries of a pack with blocks; None if all have theirs.

    A block that the version before had too is labelled as it was. A page whose partitioner is not
    installed here stays as it is.
    """
    entries = reader.manifest(pack).entries()
    changed = False
    before: OrderedDict[int, dict[str, StoredBlock]] = OrderedDict()
    for index, entry in enumerate(entries):
        row = live_entry(backend, pack, index, entry)
        version = _page_version(backend, row, entry)
        if row is None or version is None:
            continue
        body = reader.body(entry.runs)
        try:
            blocks = blocks_of_version(version, entry, body, before.pop(entry.url, None))
        except BlockError as error:
            logger.warning("The blocks of %s are not kept: %s", version.url, error)
            continue
        before[entry.url] = {block.digest: block for block in blocks}
        if len(before) > _URLS:
            before.popitem(last=False)
        if not is_cut(entry):
            entries[index] = entry.with_blocks(blocks)
            changed = True
    return entries if changed else None


def _page_version(backend: Backend, row: VersionRow | None, entry: Entry) -> Version | None:
    url = backend.url_by_id(entry.url) if row is not None else None
    if row is None or url is None:
        return None
    version = as_version(url.url, row, entry)
    return version if version.method else None


def blocks_of_page(
    body: bytes,
    *,
    url: str,
    encoding: str,
    method: str,
    level: int,
    known: Mapping[str, StoredBlock] | None = None,
) -> list[StoredBlock]:
    """Cut a page into labelled blocks, each before those inside of it.

    Args:
        body, url, encoding, method, level: As :func:`mmcrawl.blocks.partition` takes them.
        known: Blocks of the version before, by digest: equal ones are labelled as they were.
    """
    page = partition(body, method=method, level=level, encoding=encoding, url=url)
    return _labelled(page, known or {})


def _labelled(page: Partition, known: Mapping[str, StoredBlock]) -> list[StoredBlock]:
    blocks = []
    for block in page:
        digest = digest_of(block.content)
        before = known.get(digest)
        kind = before.kind if before is not None else block.kind
        topic = before.topic if before is not None else " ".join(block.topic.split())
        blocks.append(
            StoredBlock(block.start, block.end, kind, topic, block.level, block.path, digest)
        )
    return blocks


def _whole_body(body: bytes) -> list[StoredBlock]:
    """Return what is no page as one block, or none if it is empty."""
    return [StoredBlock(0, len(body), "", "", 1, "", digest_of(body))] if body else []
