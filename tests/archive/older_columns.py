"""Columns of blocks as former formats of manifests had them."""

from __future__ import annotations

from collections.abc import Sequence

from mmcrawl.archive import StoredBlock
from mmcrawl.archive.format.blocks import BlockColumns, _encoder, _pieces
from mmcrawl.archive.format.frames import varints


def of_before(
    form: int, columns: BlockColumns, blocks: Sequence[StoredBlock], body: bytes, encoding: str
) -> BlockColumns:
    """Return columns as they were written in a former format of manifests."""
    starts = [0, *(block.start for block in blocks)]
    gaps = varints(block.start - before for block, before in zip(blocks, starts, strict=False))
    if form == 3:
        return columns
    if form == 1:  # topics as they are, and nothing of digests
        topics = "\n".join(block.topic for block in blocks).encode()
        return columns._replace(gaps=gaps, topics=topics, words=b"", marks=b"")
    words: list[int] = []
    for block in blocks:
        pieces = list(_pieces(block, body, _encoder(encoding))) if block.topic else []
        words += [len(pieces), *(number for piece in pieces for number in piece[:2])]
    return columns._replace(gaps=gaps, words=varints(words))
