"""The index as it is at one moment, ready to be searched and continued."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import DamagedError, Ints, as_ints
from mmcrawl.archive.search_index import (
    Bundles,
    Documents,
    Head,
    IndexStore,
    Segment,
    joined_documents,
    read_bundles,
    read_documents,
)
from mmcrawl.archive.search_joining import joined
from mmcrawl.archive.search_postings import Inverted, Postings, find, merged, read_bundle
from mmcrawl.archive.search_sightings import Names, Sightings, read_sightings
from mmcrawl.archive.search_texts import Text, read_texts

__all__ = ["Current", "GoneError", "View", "all_of", "read_all_texts", "read_inverted"]


class GoneError(Exception):
    """A segment was replaced by another while it was read."""


class Hosts(NamedTuple):
    """Of each page, its host: an index into `names`, lower case, "" for none."""

    of_page: Ints
    names: Sequence[str]


@dataclass(frozen=True, eq=False)
class _Part:
    """What is kept in memory of one segment."""

    documents: Documents
    sightings: Sightings
    bundles: Bundles


class View:
    """One generation of the index.

    Attributes:
        head: Of that generation.
        documents: Of all segments, by id.
        seen: What is true of all pages; runs name documents by id.
        has_resets: Whether some segment voids what others say.
    """

    def __init__(self, store: IndexStore, head: Head, parts: Sequence[_Part]) -> None:
        self._store = store
        self._parts = parts
        self.head = head
        self.documents = joined_documents([part.documents for part in parts])
        seen = [part.sightings for part in parts] or [_NOTHING]
        self.seen = joined(seen, from_the_first=True)
        self.has_resets = any(bool(part.reset.any()) for part in seen)

    @cached_property
    def run_document(self) -> Ints:
        """Of each run, the row of its document."""
        return self.rows_of(self.seen.document)

    @cached_property
    def alive(self) -> NDArray[np.bool_]:
        """Of each document, whether it is on some page still."""
        alive = np.zeros(len(self.documents.id), dtype=bool)
        alive[self.run_document] = True
        return alive

    @cached_property
    def mean_length(self) -> float:
        """Words of a living document, on average; 1 if there are none."""
        count = int(self.alive.sum())
        total = int(self.documents.length[self.alive].sum())
        return total / count if total else 1.0

    @cached_property
    def url_runs(self) -> Ints:
        """Of each run, its page."""
        return self.seen.url[self.seen.first]

    @cached_property
    def hosts(self) -> Hosts:
        """The hosts of the pages."""
        names = Names()
        return Hosts(as_ints([names.number(_host(url)) for url in self.seen.urls]), names.names)

    @cached_property
    def _keys(self) -> tuple[NDArray[np.uint64], Ints]:
        masks = np.array([encoding_mask(n) for n in self.documents.encodings], dtype=np.uint64)
        if not len(masks):
            return masks, as_ints([])
        keys = self.documents.digest ^ masks[self.documents.encoding]
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def rows_of(self, ids: Ints) -> Ints:
        """Return the rows of documents that are known to be there."""
        return np.searchsorted(self.documents.id, ids).astype(np.int64)

    def document_of(self, digest: int, encoding: str) -> tuple[int, int]:
        """Return the id and the media of a block in an encoding; -1 and 0 if it is unknown."""
        keys, order = self._keys
        wanted = np.uint64(digest ^ encoding_mask(encoding))
        at = int(np.searchsorted(keys, wanted))
        if at == len(keys) or keys[at] != wanted:
            return -1, 0
        row = order[at]
        return int(self.documents.id[row]), int(self.documents.media[row])

    def digests_of(self, url: str) -> Callable[[str], frozenset[int]]:
        """Return what tells the digests of the blocks of a page in an encoding, as indexed."""
        page = bisect_left(self.seen.urls, url)
        start, end = np.searchsorted(self.url_runs, (page, page + 1)).tolist()
        rows = self.run_document[start:end] if url in self.seen.urls[page : page + 1] else _NO_INTS

        def in_encoding(encoding: str) -> frozenset[int]:
            names = self.documents.encodings
            number = names.index(encoding) if encoding in names else -1
            these = rows[self.documents.encoding[rows] == number]
            return frozenset(self.documents.digest[these].tolist())

        return in_encoding

    def versions_of(self, page: int) -> slice:
        """Return the rows of the versions of a page."""
        start, end = np.searchsorted(self.seen.url, (page, page + 1)).tolist()
        return slice(start, end)

    def texts(self, rows: Iterable[int]) -> dict[int, Text]:
        """Return the texts of some documents, by their rows.

        Raises:
            GoneError: the index was changed, and this generation is no longer there.
        """
        places: dict[int, tuple[str, int]] = {}
        ends = np.cumsum([len(part.documents.id) for part in self._parts])
        for row in set(rows):
            number = int(np.searchsorted(ends, row, side="right"))
            part, ids = self._parts[number], self._parts[number].documents.id
            document = int(self.documents.id[row])
            bundle = bisect_right(part.bundles.texts, document) - 1
            first, here = np.searchsorted(ids, (part.bundles.texts[bundle], document)).tolist()
            places[row] = f"{self.head.segments[number].name}/t{bundle}", here - first
        objects = all_of(self._store, {key for key, _ in places.values()})
        texts = {key: read_texts(content) for key, content in objects.items()}
        return {row: texts[key][place] for row, (key, place) in places.items()}

    def postings(
        self, terms: Collection[str], with_positions: Collection[str] = ()
    ) -> dict[str, Postings]:
        """Return the postings of terms, empty ones too, with rows in place of ids.

        Args:
            terms: Whose.
            with_positions: For which of them positions are needed.

        Raises:
            GoneError: the index was changed, and this generation is no longer there.
        """
        places = {}
        for term in terms:
            for segment, part in zip(self.head.segments, self._parts, strict=True):
                number = bisect_right(part.bundles.terms, term) - 1
                if number >= 0:
                    places[term, segment.name] = number
        words = {key: f"{key[1]}/w{number}" for key, number in places.items()}
        positions = {
            key: f"{key[1]}/p{number}" for key, number in places.items() if key[0] in with_positions
        }
        objects = all_of(self._store, {*words.values(), *positions.values()})
        found: dict[str, list[Postings]] = {term: [] for term in terms}
        for segment in self.head.segments:
            for term in terms:
                key = (term, segment.name)
                if key not in places:
                    continue
                behind = objects[positions[key]] if key in positions else None
                one = find(term, objects[words[key]], behind)
                if one is not None:
                    found[term].append(one)
        return {term: self._joined(parts, term in with_positions) for term, parts in found.items()}

    def _joined(self, parts: Sequence[Postings], with_positions: bool) -> Postings:
        """Join the postings of one term from several segments; the dead are left out."""
        empty = as_ints([])
        rows = self.rows_of(np.concatenate([empty, *(part.documents for part in parts)]))
        counts = np.concatenate([empty, *(part.counts for part in parts)])
        alive = self.alive[rows]
        steps = None
        if with_positions:
            steps = np.concatenate([empty, *(p.steps for p in parts if p.steps is not None)])
            steps = steps[np.repeat(alive, counts)]
        return Postings(rows[alive], counts[alive], steps)


class Current:
    """The newest view. What was read of a segment is kept while the segment counts."""

    def __init__(self, store: IndexStore) -> None:
        self._store = store
        self._parts: dict[str, _Part] = {}
        self._view: View | None = None

    def view(self) -> View:
        """Return the newest view; an empty one if nothing was written, or in another format.

        Raises:
            GoneError: the index changes faster than it is read.
            StoreError: it is damaged, or the store fails.
        """
        head = self._head()
        if self._view is None or self._view.head != head:
            self._parts = {
                segment.name: self._parts.get(segment.name) or self._read(segment)
                for segment in head.segments
            }
            self._view = View(self._store, head, list(self._parts.values()))
        return self._view

    def forget(self) -> None:
        """Read everything anew next time."""
        self._parts, self._view = {}, None

    def _head(self) -> Head:
        stored = self._store.head()
        if stored is None:
            return Head()
        return Head.read(*stored) or Head(stored[0])

    def _read(self, segment: Segment) -> _Part:
        keys = [f"{segment.name}/{part}" for part in ("documents", "sightings", "bundles")]
        objects = all_of(self._store, keys)
        return _Part(
            read_documents(objects[keys[0]]),
            read_sightings(objects[keys[1]]),
            read_bundles(objects[keys[2]]),
        )


def read_inverted(store: IndexStore, segment: Segment) -> Inverted | None:
    """Return all postings of a segment, None if it has none."""
    names = [f"{segment.name}/{{}}{n}" for n in range(segment.bundles)]
    objects = all_of(store, [name.format(kind) for name in names for kind in "wp"])
    parts = [read_bundle(objects[n.format("w")], objects[n.format("p")]) for n in names]
    return merged(parts, as_ints([])) if parts else None


def read_all_texts(store: IndexStore, segment: Segment) -> list[Text]:
    """Return the texts of all documents of a segment in order."""
    keys = [f"{segment.name}/t{number}" for number in range(segment.texts)]
    objects = all_of(store, keys)
    texts = [text for key in keys for text in read_texts(objects[key])]
    if len(texts) != segment.documents:
        raise DamagedError("texts are missing")
    return texts


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@lru_cache(maxsize=64)
def encoding_mask(encoding: str) -> int:
    """Return what makes the key of a document from its digest, by exclusive or."""
    return int.from_bytes(sha256(encoding.encode()).digest()[:8], "little")


def all_of(store: IndexStore, keys: Collection[str]) -> dict[str, bytes]:
    """Return objects; raises GoneError if one is no longer there."""
    objects = store.get(keys) if keys else {}
    if len(objects) < len(set(keys)):
        raise GoneError
    return objects


_NO_FLOATS = np.zeros(0)
_NO_INTS = as_ints([])
_NOTHING = Sightings(
    urls=(),
    reset=_NO_FLOATS.astype(bool),
    before=_NO_FLOATS,
    url=_NO_INTS,
    number=_NO_INTS,
    time=_NO_FLOATS,
    until=_NO_FLOATS,
    language=_NO_INTS,
    languages=(),
    document=_NO_INTS,
    kind=_NO_INTS,
    media=_NO_INTS,
    first=_NO_INTS,
    last=_NO_INTS,
    kinds=(),
)
