"""What is shown of a match: read from the archive, since the index keeps no text.

Reading a version back takes a few milliseconds, and no more than a page of results is shown; kept
in the index, the text would take nearly half as much again as all the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, leaves
from mmcrawl.archive.search_documents import (
    Snippet,
    areas_around,
    block_text,
    media_in,
    snippet_of,
)
from mmcrawl.archive.search_ranking import Ranking
from mmcrawl.errors import StoreError
from mmcrawl.page import MediaResource

__all__ = ["Hit", "HitReader"]

_MORE = 3  # further blocks of a page


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that matches, on one page.

    Attributes:
        url: Of the page.
        version, time: Number and time of the last version with the block, within the time asked
            for.
        first_version, first_time: Of the first version with it.
        block: The block in that version.
        snippet: Of its text, with the words that match.
        media: In the block, or right behind it.
        score: Greater for a better match.
        blocks: How many blocks of the page match; 1 for those in `more`.
        more: The next best of them.
    """

    url: str
    version: int
    time: float
    first_version: int
    first_time: float
    block: StoredBlock
    snippet: Snippet
    media: tuple[MediaResource, ...]
    score: float
    blocks: int = 1
    more: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    """A version, read to show its blocks."""

    body: bytes
    blocks: list[StoredBlock]
    encoding: str

    def place_of(self, digest: str, kind: str) -> int | None:
        """Return which block it is: of several alike, the first of the kind."""
        alike = [n for n, block in enumerate(self.blocks) if block.digest == digest]
        return next((n for n in alike if self.blocks[n].kind == kind), next(iter(alike), None))

    def media_of(self, url: str, place: int) -> tuple[MediaResource, ...]:
        """Return the media in a block and of it, each once."""
        block = self.blocks[place]
        areas = [(block.start, block.end), *areas_around(self.blocks, len(self.body))[place]]
        parts = (self.body[start:end] for start, end in areas)
        found = (one for part in parts for one in media_in(part, self.encoding, url, self.body))
        return tuple({one.url: one for one in found}.values())


class HitReader:
    """Reads from the archive what hits show, what several of them show once."""

    def __init__(self, archive: Archive, ranking: Ranking, words: frozenset[str]) -> None:
        self._archive = archive
        self._ranking = ranking
        self._words = words
        self._versions: dict[tuple[str, int], _Read | None] = {}
        self._snippets: dict[int, Snippet] = {}

    def page(self, match: int) -> Hit | None:
        """Return the hit of a page, None if it was purged."""
        self._versions.clear()
        matches = self._ranking.of_page(int(self._ranking.matches.page[match])).tolist()
        found = [hit for one in matches[: 1 + _MORE] if (hit := self._hit(one)) is not None]
        if not found:
            return None
        return replace(found[0], blocks=len(matches), more=tuple(found[1:]))

    def _hit(self, match: int) -> Hit | None:
        found = self._ranking.matches
        seen, row, first = found.view.seen, int(found.version[match]), int(found.first[match])
        url, number = seen.urls[found.page[match]], int(seen.number[row])
        read = self._version(url, number)
        document = int(found.document[match])
        digest = f"{int(found.view.documents.digest[document]):016x}"
        kind = seen.kinds[found.kind[match]]
        place = read.place_of(digest, kind) if read is not None else None
        if read is None or place is None:
            return None
        return Hit(
            url=url,
            version=number,
            time=float(seen.time[row]),
            first_version=int(seen.number[first]),
            first_time=float(seen.time[first]),
            block=replace(read.blocks[place], kind=kind),
            snippet=self._snippet(document, read, read.blocks[place]),
            media=read.media_of(url, place) if found.media[match] else (),
            score=float(found.score[match]),
        )

    def _snippet(self, document: int, read: _Read, block: StoredBlock) -> Snippet:
        snippet = self._snippets.get(document)
        if snippet is None:
            text = block_text(read.body[block.start : block.end], read.encoding, block.topic)
            snippet = self._snippets[document] = snippet_of(text, self._words)
        return snippet

    def _version(self, url: str, number: int) -> _Read | None:
        key = (url, number)
        if key not in self._versions:
            try:
                version = self._archive.version(url, number)
                blocks = leaves(self._archive.blocks_of(version))
                body = self._archive.rebuild(version).body
                self._versions[key] = _Read(body, blocks, version.encoding)
            except StoreError:
                self._archive.visits(url)  # if the store fails altogether, so does the search
                self._versions[key] = None
        return self._versions[key]
