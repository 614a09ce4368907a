"""Pages, blocks and links of an archive, read as a stream of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import RENDERED, Version, as_unix_time
from mmcrawl.archive.processes import in_processes
from mmcrawl.archive.revisits import is_answer
from mmcrawl.blocks.link_kinds import references
from mmcrawl.blocks.partition import Block, Partition, partition
from mmcrawl.errors import StoreError
from mmcrawl.frontier.urls import host_of
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.parse import media_in
from mmcrawl.page.structured import Declared
from mmcrawl.page.urls import PAGE_SCHEMES
from mmcrawl.rank.records import (
    NOT_STORED,
    OUTSIDE,
    BlockRecord,
    Body,
    IndexBuilder,
    LinkRecord,
    MediaRecord,
    PageRecord,
    ReadPage,
    UrlIndex,
)
from mmcrawl.store.child_process import cores

_MOST_PROCESSES = 4
_MANY = 64  # pages from which on starting processes is worth it

_Made = TypeVar("_Made")


def body_of(archive: Archive, url: str, number: int, page: int) -> Body:
    version = archive.version(url, number)
    body = archive.rebuild(version).body if version.method else b""
    return Body(page, url, version.encoding or "", version.method or "", version.level or 0, body)


def over_bodies(
    make: Callable[[Body], _Made], archive: Archive, reading: Reading
) -> Iterator[tuple[str, int, _Made]]:
    """Yield URL, number of the version, and the result for each page of HTML."""
    found = _bodies(archive, reading)
    first = list(islice(found, _MANY))
    processes = min(_MOST_PROCESSES, cores())
    if len(first) < _MANY or processes < 2:
        for number, body in chain(first, found):
            yield body.url, number, make(body)
        return
    for (number, body), made in in_processes(
        partial(_of_numbered, make), chain(first, found), processes
    ):
        yield body.url, number, made


def _of_numbered(make: Callable[[Body], _Made], numbered: tuple[int, Body]) -> _Made:
    return make(numbered[1])


def _bodies(archive: Archive, reading: Reading) -> Iterator[tuple[int, Body]]:
    for page, (url, number) in enumerate(reading.versions()):
        try:
            body = body_of(archive, url, number, page)
        except StoreError as error:
            reading.unreadable.append(str(error))
            continue
        if body.method:
            yield number, body


Progress = Callable[[str, int, int], None]
"""Called with the name of the step, how many are done, and of how many (0: unknown)."""

_OFTEN = 50  # pages between two reports of progress
_REMOVED = "pages were removed from the archive while it was read; do it again"
_LONGEST_TITLE = 300  # characters
_PICTURES = ("img", "area")
_LOOKED_AT = 20  # nodes of a link without text


class PageReader:
    """Cuts pages as the archive does, and assigns links and media to blocks."""

    def __init__(self, index: UrlIndex, *, topics: bool, media: bool = False) -> None:
        self._index = index
        self._topics = topics
        self._media = media

    def read(
        self,
        page: PageRecord,
        version: Version,
        body: bytes,
        rendered: tuple[Version, bytes] | None = None,
    ) -> ReadPage:
        """Return the records of a page of HTML.

        Args:
            rendered: What a browser made of it. Blocks are those of the page as received: links
                and media that only the browser shows stand outside of them.
        """
        cut = _cut(version, body)
        blocks = list(cut)
        owners = _owners(cut, blocks)
        links = tuple(self._links(cut, owners, page))
        shown = _cut(*rendered) if rendered is not None else None
        if shown is not None:
            nowhere = np.full(len(shown.tree), OUTSIDE, dtype=np.int64)
            known = {link.url for link in links}
            more = self._links(shown, nowhere, page)
            links += tuple(link for link in more if link.url not in known)
        chars = np.diff(cut.measures.chars)
        own = np.bincount(owners + 1, weights=chars, minlength=len(blocks) + 1).astype(int).tolist()
        linking = {link.block for link in links}
        records = tuple(self._blocks(cut, blocks, own, linking, page.id))
        media = tuple(_media(cut, shown, page.url, records)) if self._media else ()
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
            yield block_record(cut, block, page, number, own[number + 1], topics=self._topics)

    def _links(
        self, cut: Partition, owners: np.ndarray[tuple[int], np.dtype[np.int64]], page: PageRecord
    ) -> Iterable[LinkRecord]:
        tree = cut.tree
        resolve = Declared(tree).resolver(page.url)
        found: dict[tuple[int, str], LinkRecord] = {}
        for node, reference in references(tree):
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


def block_record(
    cut: Partition, block: Block, page: int, number: int, text_chars: int, *, topics: bool
) -> BlockRecord:
    """Return the record of a block; `topics` says whether it gets its topic, which takes long."""
    kind = cut.kind_of(block)
    return BlockRecord(
        page=page,
        number=number,
        level=block.level,
        kind=kind.name,
        kind_score=float(kind.score),
        text_chars=text_chars,
        start=block.start,
        end=block.end,
        topic=" ".join(block.topic.split()) if topics else "",
    )


def _cut(version: Version, body: bytes) -> Partition:
    return partition(
        body,
        method=version.method,
        level=version.level,
        encoding=version.encoding or None,
        url=version.url.removeprefix(RENDERED),
    )


def _owners(cut: Partition, blocks: list[Block]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of the deepest block that each node of a page begins in."""
    owners = np.full(len(cut.tree), OUTSIDE, dtype=np.int64)
    for number, block in enumerate(blocks):  # each before those inside it
        owners[block.nodes.start : block.nodes.stop] = number
    return owners


def _media(
    cut: Partition, rendered: Partition | None, url: str, blocks: Iterable[BlockRecord]
) -> Iterator[MediaRecord]:
    """Yield the media of a page by the deepest blocks whose bytes name them, then the others."""
    pages = (page for page in (rendered, cut) if page is not None)
    kinds = {one.url: one.kind for page in pages for one in media_in(page.body, page.encoding, url)}
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
    if text := cut.facts.texts.of_link(node, tree.after[node]):
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


class Reading:
    """The pages of an archive as they were at a time; iterate over it once.

    First every URL is looked up, so that links can be told by their targets; then page after page
    is rebuilt, cut and read. Kept in memory are 32 bytes a page (:class:`UrlIndex`), one page, and
    the addresses of those that a browser rendered, whose links and media count as the page's.

    Args:
        at: Unix seconds, or a datetime (UTC if it names no zone); by default, the newest versions.
        topics: Whether blocks get their topics, which takes longer than all else.
        media: Whether pages get their media, for which their blocks are parsed once more.

    Attributes:
        skipped: How many URLs were left out, by the reason: redirects, error pages, what cannot be
            read. Complete when the iteration has ended.
        unreadable: Pages that are damaged: they have a record, without text, blocks and links.
    """

    def __init__(
        self,
        archive: Archive,
        *,
        at: datetime | float | None = None,
        topics: bool = True,
        media: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._archive = archive
        self._at = as_unix_time(at) if at is not None else None
        self._topics = topics
        self._media = media
        self._progress = progress or (lambda what, done, total: None)
        self.skipped: Counter[str] = Counter()
        self.unreadable: list[str] = []
        self._rendered: set[str] = set()

    def __iter__(self) -> Iterator[ReadPage]:
        """Yield the pages in order of their ids."""
        index = self._index()
        reader = PageReader(index, topics=self._topics, media=self._media)
        for page, (url, number) in enumerate(self._chosen(index)):
            yield self._read(reader, url, number, page)

    def versions(self) -> Iterator[tuple[str, int]]:
        """Yield URL and number of the version of each page, and read none of them."""
        return self._chosen(self._index())

    def _chosen(self, index: UrlIndex) -> Iterator[tuple[str, int]]:
        expected = 0
        for url in self._archive.urls():
            page = index.id_of(url)
            if page < 0:
                continue
            if page != expected:
                break
            yield url, int(index.numbers[page])
            expected += 1
            if not expected % _OFTEN or expected == len(index):
                self._progress("reading", expected, len(index))
        if expected != len(index):
            raise StoreError(_REMOVED)

    def _index(self) -> UrlIndex:
        total = self._archive.counts()["urls"]
        builder = IndexBuilder()
        for done, url in enumerate(self._archive.urls(), start=1):
            if url.startswith(RENDERED):
                self._rendered.add(url)
            else:
                self._look_up(url, builder)
            if not done % (20 * _OFTEN) or done == total:
                self._progress("listing", done, total)
        index = builder.index()
        self.skipped.update(builder.skipped)
        return index

    def _look_up(self, url: str, builder: IndexBuilder) -> None:
        """Add what was last seen of a URL, without reading the record of the version."""
        visits = self._archive.visits(url)
        # An early visit may have found a version that was captured later.
        statuses = {visit.version: visit.status for visit in visits if visit.changed}
        if self._at is not None:
            visits = [visit for visit in visits if visit.time <= self._at]
        for visit in reversed(visits):
            status = statuses.get(visit.version)
            if visit.version is None or status is None:
                continue
            if visit.changed or visit.status == status or is_answer(visit.status):
                break
        else:
            self.skipped["not stored at that time"] += 1
            return
        if 300 <= status < 400:
            builder.add_redirect(url, status, self._location(url, visit.version))
        else:
            builder.add(url, visit.version, visit.time, status)

    def _location(self, url: str, number: int) -> str:
        try:
            return self._archive.version(url, number).header("location")
        except StoreError as error:
            self.unreadable.append(str(error))
            return ""

    def _read(self, reader: PageReader, url: str, number: int, page: int) -> ReadPage:
        visits = self._archive.visits(url)
        first = next((v for v in visits if v.changed and v.version == number), None)
        if first is None:
            raise StoreError(_REMOVED)
        host = host_of(url)
        bare = PageRecord(page, url, host, number, first.time, first.status, "", "", 0)
        try:
            version = self._archive.version(url, number)
            body = self._archive.rebuild(version).body if version.method else b""
        except StoreError as error:
            self.unreadable.append(str(error))
            return ReadPage(bare, (), ())
        bare = replace(bare, language=version.language)
        if not version.method:
            return ReadPage(bare, (), ())
        return reader.read(bare, version, body, self._rendered_of(url, first.time))

    def _rendered_of(self, url: str, since: float) -> tuple[Version, bytes] | None:
        """Return the last stored rendering of a page since a time."""
        address = RENDERED + url
        if address not in self._rendered:
            return None
        until = float("inf") if self._at is None else self._at
        visits = (visit for visit in self._archive.visits(address) if since <= visit.time <= until)
        numbers = [visit.version for visit in visits if visit.version is not None]
        if not numbers:
            return None
        try:
            version = self._archive.version(address, numbers[-1])
            return (version, self._archive.rebuild(version).body) if version.method else None
        except StoreError as error:
            self.unreadable.append(str(error))
            return None
