"""One search result as it is displayed."""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, leaves
from mmcrawl.archive.search.blocks import areas_around, outside_of
from mmcrawl.archive.search.finding import Found, Whole
from mmcrawl.archive.search.index import KIND_NAMES, unpacked
from mmcrawl.archive.search.query import MEDIA, Term, media_bit
from mmcrawl.archive.search.tokens import Run, tokens
from mmcrawl.errors import StoreError
from mmcrawl.page.model import MediaResource
from mmcrawl.page.parse import media_in

_MORE = 3  # further blocks of a page
_SNIPPET = 240  # characters
_LEAD = 60  # of them, before the first mark
_FIRST = 600  # characters that are looked through before the rest of a text


@dataclass(frozen=True, slots=True)
class Snippet:
    """Part of the text of a block; ``…`` where it continues."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()  # what matches: (start, end), in order


@dataclass(frozen=True, slots=True)
class Hit:
    """A block that matches, on one page."""

    url: str
    version: int  # number of the last version with the block, within the time asked for
    time: float  # of that
    first_version: int
    first_time: float
    digest: str  # of the block, as StoredBlock
    kind: str  # in that last version
    topic: str
    snippet: Snippet  # of its text
    media: tuple[str, ...]  # kinds of media in the block, or right behind it
    score: float  # of the page's best block; of those in `more`, their own
    blocks: int = 1  # how many blocks of the page match; 1 for those in `more`
    more: tuple[Hit, ...] = ()  # the next best of them


@dataclass(frozen=True, slots=True)
class ArchivedHit:
    """Where a hit is in the archived page, and its media."""

    block: StoredBlock
    media: tuple[MediaResource, ...]


_DIGESTS = """
SELECT document.id, lower(hex(digest)), name.text, topic, document.text
FROM document JOIN name ON name.id = encoding
WHERE document.id IN (SELECT value FROM json_each(?))
"""
_SEEN = """
SELECT url, last.number, last.time, early.number, early.time FROM page
JOIN version AS last ON last.page = page.id JOIN version AS early ON early.page = page.id
WHERE page.id = ? AND last.place = ? AND early.place = ?
"""


def hits_of(
    db: sqlite3.Connection, words: Sequence[Term], found: Found, pages: Iterable[int]
) -> list[Hit]:
    """Return the hits of some of the pages that were found; marked are `words`."""
    hits = []
    for page in pages:
        blocks = found.blocks_of(page)
        first, *others = (_hit(db, found, *one, words) for one in _shown(db, found, blocks))
        hits.append(replace(first, blocks=len(blocks), more=tuple(others)))
    return hits


def _shown(
    db: sqlite3.Connection, found: Found, blocks: Whole
) -> list[tuple[int, tuple[str, str, bytes]]]:
    """Return row, digest, topic and packed text of the blocks of a page that are shown.

    What their keys leave open goes by digest, so those as good as the last one count too.
    """
    last = blocks[: 1 + _MORE][-1]
    alike = np.all([key[blocks] == key[last] for key in found.keys], axis=0)
    some = blocks[: np.flatnonzero(alike)[-1] + 1].tolist()
    documents = [int(found.document[row]) for row in some]
    said = {one: rest for one, *rest in db.execute(_DIGESTS, (json.dumps(documents),))}
    ranked = sorted(
        (*(float(key[row]) for key in found.keys), *said[document][:2], row, *said[document][2:])
        for document, row in zip(documents, some, strict=True)
    )
    return [(row, (digest, topic, text)) for *_, digest, _, row, topic, text in ranked[: 1 + _MORE]]


def _hit(
    db: sqlite3.Connection,
    found: Found,
    row: int,
    said: tuple[str, str, bytes],
    words: Sequence[Term],
) -> Hit:
    digest, topic, text = said
    place = (int(column[row]) for column in (found.page, found.version, found.first))
    seen: tuple[str, int, float, int, float] = db.execute(_SEEN, tuple(place)).fetchone()
    names = tuple(name for name in MEDIA if found.media[row] & media_bit(name))
    kind, score = KIND_NAMES[found.kind[row]], float(found.score[row])
    return Hit(*seen, digest, kind, topic, snippet_of(unpacked(text), words), names, score)


def still_there(archive: Archive, hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield hits without what was purged since the index was updated."""
    for hit in hits:
        versions = {(visit.version, visit.time) for visit in archive.visits(hit.url)}
        there = [one for one in (hit, *hit.more) if (one.version, one.time) in versions]
        if there:
            yield replace(there[0], blocks=hit.blocks, more=tuple(there[1:]))


def content_first(hit: Hit) -> Hit:
    """Return a hit whose first block is of the page's topic, if one of those that are shown is.

    Headlines, menus and lists of links match well and tell little.
    """
    shown = (hit, *hit.more)
    wanted = (n for n, one in enumerate(shown) if (one.version, one.kind) == (hit.version, "topic"))
    if not (place := next(wanted, 0)):
        return hit
    others = (replace(hit, blocks=1, more=()), *hit.more[: place - 1], *hit.more[place:])
    return replace(shown[place], score=hit.score, blocks=hit.blocks, more=others)


def read_hit(page: ArchivedPage, hit: Hit) -> ArchivedHit:
    """Read a hit from its page, which is cut into blocks if that was not done yet.

    Raises:
        StoreError: the page has no such block.
    """
    version = page.version
    blocks, body = leaves(page.blocks), page.body
    alike = [n for n, block in enumerate(blocks) if block.digest == hit.digest]
    place = next((n for n in alike if blocks[n].kind == hit.kind), next(iter(alike), None))
    if place is None:
        for block in outside_of(blocks, body, version.encoding):
            if block.digest == hit.digest:
                return ArchivedHit(block, ())
        raise StoreError(
            f"version {hit.version} of {hit.url} has no block {hit.digest}; rebuild the index"
        )
    areas = [(blocks[place].start, blocks[place].end), *areas_around(blocks, len(body))[place]]
    parts = (body[start:end] for start, end in areas)
    found = (one for part in parts for one in media_in(part, version.encoding, version.url, body))
    return ArchivedHit(blocks[place], tuple({one.url: one for one in found}.values()))


# ---------------------------------------------------------------- snippets


def snippet_of(text: str, words: Sequence[Term]) -> Snippet:
    """Return where most of the words occur close together, marked; else the beginning."""
    lines = " · ".join(text.split("\n"))
    best, head = 0, ""
    found: list[tuple[int, int, int]] = []
    for size in (_FIRST, len(lines)) if words else ():
        head = lines[: _word_end(lines, size)]
        found = sorted(_places(head, words))
        best, most = _closest(found)
        if most == len(words) or size >= len(lines):
            break  # further down they cannot be closer
    start, end = _window(lines, best)
    if words and end > len(head):
        found = sorted(_places(lines[: _word_end(lines, end)], words))
    before, after = "…" if start else "", "…" if end < len(lines) else ""
    marks: list[tuple[int, int]] = []
    for first, last, _ in found:
        if first < start or last > end:
            continue
        if marks and first < marks[-1][1]:  # pairs of characters overlap
            marks[-1] = marks[-1][0], max(marks[-1][1], last)
        else:
            marks.append((first, last))
    shift = len(before) - start
    shifted = tuple((first + shift, last + shift) for first, last in marks)
    return Snippet(before + lines[start:end] + after, shifted)


def _word_end(text: str, place: int) -> int:
    """Return where the word ends in which a place of a text is; not far behind it, if ever."""
    end = text.find(" ", place, place + _LEAD)
    return end if end >= 0 else place


def _places(text: str, words: Sequence[Term]) -> Iterator[tuple[int, int, int]]:
    """Yield where the tokens of terms stand that occur in a text, with the number of the term."""
    found = list(tokens(text))
    said = [token.word for token in found]
    for number, term in enumerate(words):
        for run in term.runs:
            for at in _occurrences(run, said):
                for token, word in zip(found[at : at + len(run)], run, strict=True):
                    cut = len(word) - 1 if word.endswith("*") else token.end - token.start
                    yield token.start, token.start + cut, number


def _occurrences(run: Run, words: list[str]) -> Iterator[int]:
    """Yield where a run begins among the words of a text."""
    *head, last = run
    for at in range(len(words) - len(head)):
        word = words[at + len(head)]
        ends = word == last or (last.endswith("*") and word.startswith(last[:-1]))
        if ends and words[at : at + len(head)] == head:
            yield at


def _closest(found: Sequence[tuple[int, int, int]]) -> tuple[int, int]:
    """Return where the most distinct words begin that fit a snippet, of several the first; and how
    many they are."""
    best, most = 0, 0
    for place, (start, _, _) in enumerate(found):
        near = found[place : bisect_left(found, (start + _SNIPPET - _LEAD, 0, 0))]
        if (distinct := len({number for *_, number in near})) > most:
            best, most = start, distinct
    return best, most


def _window(text: str, best: int) -> tuple[int, int]:
    """Return the range of a snippet."""
    start = max(0, min(best - _LEAD, len(text) - _SNIPPET))
    if start:  # not in the middle of a word
        space = text.find(" ", start, min(best, start + _LEAD // 2))
        start = space + 1 if space >= 0 else start
    return start, min(len(text), start + _SNIPPET)
