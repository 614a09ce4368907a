"""The blocks of stored versions: read where they are kept, else cut from the page.

Cutting a page into labelled blocks takes several times as long as storing it. It depends on
nothing but the bytes, the encoding, the method and the level, which are kept; so it is done when
somebody asks for blocks, or for good when the archive is packed.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from mmcrawl.archive.backend import Backend, PackRow, VersionRow
from mmcrawl.archive.format.facts import as_version
from mmcrawl.archive.format.manifest import Entry
from mmcrawl.archive.format.reading import Reader, live_entry
from mmcrawl.archive.model import StoredBlock, Version, digest_of
from mmcrawl.blocks.partition import Block, Partition, partition
from mmcrawl.blocks.tree import read_tree
from mmcrawl.errors import BlockError

logger = logging.getLogger(__name__)

_URLS = 64  # whose last blocks are kept while a pack is cut


@dataclass(frozen=True, eq=False)
class ArchivedPage:
    """A version with its bytes. What else is asked of it is made once: tree, blocks, texts.

    Attributes:
        version: What it is.
        body: Its bytes.
        kept: Its blocks, if they are kept; None if they are to be cut.
        before: Blocks of the version before, by digest: equal ones are labelled as they were.
    """

    version: Version
    body: bytes = field(repr=False)
    kept: Sequence[StoredBlock] | None = field(default=None, repr=False)
    before: Mapping[str, StoredBlock] = field(default_factory=dict, repr=False)

    @cached_property
    def blocks(self) -> list[StoredBlock]:
        """The blocks in order, each before those inside of it; one, if it is no page.

        Raises:
            BlockError: it is to be cut by a partitioner that is not installed here.
        """
        if self.kept is not None:
            return [*self.kept]
        if not self.version.method:
            return _whole_body(self.body)
        return stored_blocks(self._cut, self.before)

    def text(self, block: StoredBlock) -> str:
        """Return the visible text of one of the blocks; "" of what is no page."""
        if not self.version.method:
            return ""
        return Block(self._cut, block.start, block.end, block.level, node=0).text

    @cached_property
    def _cut(self) -> Partition:
        """The page in blocks, or in none if those are kept already: then only texts are asked."""
        version = self.version
        if self.kept is not None:
            tree = read_tree(self.body, encoding=version.encoding)
            return Partition(tree, (), method=version.method, level=version.level)
        return partition(
            self.body,
            method=version.method,
            level=version.level,
            encoding=version.encoding,
            url=version.url,
        )


def stored_blocks(
    page: Partition, before: Mapping[str, StoredBlock] = MappingProxyType({})
) -> list[StoredBlock]:
    """Return the blocks of a page as the archive has them, each before those inside of it.

    Args:
        page: Cut.
        before: Blocks of the version before, by digest: equal ones are labelled as they were.
    """
    blocks = []
    for block in page:
        digest = digest_of(block.content)
        known = before.get(digest)
        kind = known.kind if known is not None else block.kind
        topic = known.topic if known is not None else " ".join(block.topic.split())
        blocks.append(
            StoredBlock(block.start, block.end, kind, topic, block.level, block.path, digest)
        )
    return blocks


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
        page = ArchivedPage(version, body, entry.blocks(body), before.pop(entry.url, {}))
        try:
            blocks = page.blocks
        except BlockError as error:
            logger.warning("The blocks of %s are not kept: %s", version.url, error)
            continue
        before[entry.url] = {block.digest: block for block in blocks}
        if len(before) > _URLS:
            before.popitem(last=False)
        if page.kept is None:
            entries[index] = entry.with_blocks(blocks)
            changed = True
    return entries if changed else None


def _page_version(backend: Backend, row: VersionRow | None, entry: Entry) -> Version | None:
    url = backend.url_by_id(entry.url) if row is not None else None
    if row is None or url is None:
        return None
    version = as_version(url.url, row, entry)
    return version if version.method else None


def _whole_body(body: bytes) -> list[StoredBlock]:
    """Return what is no page as one block, or none if it is empty."""
    return [StoredBlock(0, len(body), "", "", 1, "", digest_of(body))] if body else []
