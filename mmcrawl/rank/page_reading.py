"""From the bytes of one page to its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from mmcrawl.archive import Version
from mmcrawl.archive.search import media_in
from mmcrawl.blocks import Block, PageTree, Partition, partition
from mmcrawl.blocks.link_kinds import declared_base, references
from mmcrawl.page.urls import PAGE_SCHEMES, Resolver, base_url
from mmcrawl.rank.records import (
    NOT_STORED,
    OUTSIDE,
    BlockRecord,
    LinkRecord,
    MediaRecord,
    PageRecord,
    ReadPage,
)
from mmcrawl.rank.url_index import UrlIndex

__all__ = ["PageReader"]

_LONGEST_TITLE = 300  # characters
_PICTURES = ("img", "area")
_LOOKED_AT = 20  # nodes of a link without text


class PageReader:
    """Cuts pages as the archive does, and finds what stands in which block.

    Args:
        index: Tells which pages links lead to.
        topics: Whether blocks get their topics.
        media: Whether pages get their media.
    """

    def __init__(self, index: UrlIndex, *, topics: bool, media: bool = False) -> None:
        self._index = index
        self._topics = topics
        self._media = media

    def read(self, page: PageRecord, version: Version, body: bytes) -> ReadPage:
        """Return the records of a page of HTML.

        Args:
            page: What is known of it.
            version: Says how it is cut.
            body: As received.
        """
        cut = partition(
            body,
            method=version.method,
            level=version.level,
            encoding=version.encoding or None,
            url=version.url,
        )
        blocks = list(cut)
        owners = _owners(cut, blocks)
        links = tuple(self._links(cut, owners, page))
        chars = np.diff(cut.measures.chars)
        own = np.bincount(owners + 1, weights=chars, minlength=len(blocks) + 1).astype(int).tolist()
        linking = {link.block for link in links}
        records = tuple(self._blocks(cut, blocks, own, linking, page.id))
        media = tuple(_media(cut, page.url, records)) if self._media else ()
        page = replace(page, title=_title(cut.tree), text_chars=sum(own))
        return ReadPage(page, records, links, media)

    def _blocks(
        self, cut: Partition, blocks: list[Block], own: list[int], linking: set[int], page: int
    ) -> Iterator[BlockRecord]:
        if own[0] or OUTSIDE in linking:
            yield BlockRecord(page, OUTSIDE, 0, "", 1.0, own[0], 0, len(cut.body), "")
        for number, block in enumerate(blocks):
            if block.children and not own[number + 1] and number not in linking:
                continue
            kind = cut.kind_of(block)
            yield BlockRecord(
                page=page,
                number=number,
                level=block.level,
                kind=kind.name,
                kind_score=float(kind.score),
                text_chars=own[number + 1],
                start=block.start,
                end=block.end,
                topic=" ".join(block.topic.split()) if self._topics else "",
            )

    def _links(
        self, cut: Partition, owners: np.ndarray[tuple[int], np.dtype[np.int64]], page: PageRecord
    ) -> Iterable[LinkRecord]:
        tree = cut.tree
        resolve = Resolver(base_url(declared_base(tree), page.url, cut.encoding), cut.encoding)
        found: dict[tuple[int, str], LinkRecord] = {}
        for node, reference in references(tree, range(len(tree))):
            target = resolve(reference)
            if target is None:
                continue
            place = (int(owners[node]), target.url)
            known = found.get(place)
            if known is None:
                known = LinkRecord(page.id, place[0], self._target(target.url), target.url, "")
                found[place] = known
            if not known.anchor and (anchor := _anchor(cut, node)):
                found[place] = replace(known, anchor=anchor)
        return found.values()

    def _target(self, url: str) -> int:
        scheme = url.partition(":")[0]
        return self._index.find(url) if scheme in PAGE_SCHEMES else NOT_STORED


def _owners(cut: Partition, blocks: list[Block]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of the deepest block that each node of a page begins in."""
    owners = np.full(len(cut.tree), OUTSIDE, dtype=np.int64)
    for number, block in enumerate(blocks):  # each before those inside of it
        owners[block.nodes.start : block.nodes.stop] = number
    return owners


def _media(cut: Partition, url: str, blocks: Iterable[BlockRecord]) -> Iterator[MediaRecord]:
    """Yield the media of a page by the deepest blocks whose bytes name them, then the others."""
    kinds = {one.url: one.kind for one in media_in(cut.body, cut.encoding, url)}
    if not kinds:
        return
    placed: list[tuple[BlockRecord, set[str]]] = []
    inner = (block for block in blocks if block.number != OUTSIDE)
    for block in sorted(inner, key=lambda block: -block.level):
        content = cut.body[block.start : block.end]
        named = {one.url for one in media_in(content, cut.encoding, url, cut.body)} & kinds.keys()
        for other, held in placed:
            if block.start <= other.start and other.end <= block.end:
                named -= held
        if named:
            placed.append((block, named))
        yield from (MediaRecord(block.number, name, kinds[name]) for name in sorted(named))
    rest = kinds.keys() - set().union(*(held for _, held in placed))
    yield from (MediaRecord(OUTSIDE, name, kinds[name]) for name in sorted(rest))


def _anchor(cut: Partition, node: int) -> str:
    tree = cut.tree
    if text := cut.link_texts.of(node, tree.after[node]):
        return text
    texts = [tree.attributes(node).get("title", "")]
    for inner in range(node, min(tree.after[node], node + _LOOKED_AT)):
        if tree.tags[inner] in _PICTURES:
            texts.append(tree.attributes(inner).get("alt", ""))
    return next(filter(None, (" ".join(text.split())[:_LONGEST_TITLE] for text in texts)), "")


def _title(tree: PageTree) -> str:
    nodes = (node for node, tag in enumerate(tree.tags) if tag == "title")
    titles = (" ".join(tree.raw_content(node).split())[:_LONGEST_TITLE].strip() for node in nodes)
    return next(filter(None, titles), "")
