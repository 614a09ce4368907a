"""What is shown of a match."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import StoredBlock, leaves
from mmcrawl.archive.search_documents import areas_around, media_in
from mmcrawl.archive.search_query import MEDIA
from mmcrawl.archive.search_ranking import Ranking
from mmcrawl.archive.search_snippets import Snippet, snippet_of
from mmcrawl.archive.search_texts import Text
from mmcrawl.errors import StoreError
from mmcrawl.page import MediaResource

__all__ = ["ArchivedHit", "Hit", "hits_of", "read_hit"]

_MORE = 3  # further blocks of a page


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that matches, on one page.

    Attributes:
        url: Of the page.
        version, time: Number and time of the last version with the block, within the time asked
            for.
        first_version, first_time: Of the first version with it.
        digest: Of the block, as StoredBlock.
        kind: Of the block in that version.
        topic: Of the block.
        snippet: Of its text, with the words that match.
        media: Kinds of media in the block, or right behind it.
        score: Greater for a better match.
        blocks: How many blocks of the page match; 1 for those in `more`.
        more: The next best of them.
    """

    url: str
    version: int
    time: float
    first_version: int
    first_time: float
    digest: str
    kind: str
    topic: str
    snippet: Snippet
    media: tuple[str, ...]
    score: float
    blocks: int = 1
    more: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivedHit:
    """Where a hit stands in the archived page, and its media."""

    block: StoredBlock
    media: tuple[MediaResource, ...]


def hits_of(
    archive: Archive, ranking: Ranking, pages: Iterable[int], words: frozenset[str]
) -> list[Hit]:
    """Return the hits of some pages, without what was purged since the index was updated.

    Args:
        archive: Asked what is there still.
        ranking: The matches.
        pages: The best matches of the pages to show.
        words: That are marked.

    Raises:
        GoneError: the index was changed.
    """
    found = ranking.matches
    groups = [ranking.of_page(int(found.page[match])).tolist() for match in pages]
    shown = [group[: 1 + _MORE] for group in groups]
    texts = found.view.texts(int(found.document[match]) for group in shown for match in group)
    hits = []
    for group, some in zip(groups, shown, strict=True):
        visits = archive.visits(found.view.seen.urls[found.page[group[0]]])
        versions = {(visit.version, visit.time) for visit in visits if visit.changed}
        these = [_hit(ranking, match, texts[int(found.document[match])], words) for match in some]
        there = [hit for hit in these if (hit.version, hit.time) in versions]
        if there:
            hits.append(replace(there[0], blocks=len(group), more=tuple(there[1:])))
    return hits


def _hit(ranking: Ranking, match: int, text: Text, words: frozenset[str]) -> Hit:
    found = ranking.matches
    seen, row, first = found.view.seen, int(found.version[match]), int(found.first[match])
    media = int(found.media[match])
    return Hit(
        url=seen.urls[found.page[match]],
        version=int(seen.number[row]),
        time=float(seen.time[row]),
        first_version=int(seen.number[first]),
        first_time=float(seen.time[first]),
        digest=f"{int(found.view.documents.digest[found.document[match]]):016x}",
        kind=seen.kinds[found.kind[match]],
        topic=text.topic,
        snippet=snippet_of(text.text, words),
        media=tuple(name for bit, name in enumerate(MEDIA) if media >> bit & 1),
        score=float(found.score[match]),
    )


def read_hit(archive: Archive, hit: Hit) -> ArchivedHit:
    """Read a hit from the archive: its page is cut into blocks, if that was not done yet.

    Raises:
        StoreError: the version was purged, or is damaged.
    """
    version = archive.version(hit.url, hit.version)
    blocks, body = leaves(archive.blocks_of(version)), archive.rebuild(version).body
    alike = [n for n, block in enumerate(blocks) if block.digest == hit.digest]
    place = next((n for n in alike if blocks[n].kind == hit.kind), next(iter(alike), None))
    if place is None:
        raise StoreError(
            f"version {hit.version} of {hit.url} has no block {hit.digest}; rebuild the index"
        )
    areas = [(blocks[place].start, blocks[place].end), *areas_around(blocks, len(body))[place]]
    parts = (body[start:end] for start, end in areas)
    found = (one for part in parts for one in media_in(part, version.encoding, version.url, body))
    return ArchivedHit(blocks[place], tuple({one.url: one for one in found}.values()))
