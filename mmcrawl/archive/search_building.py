"""Making a new segment, document by document and page by page."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from mmcrawl.archive.search_codec import Ints, as_ints
from mmcrawl.archive.search_documents import IndexedBlock
from mmcrawl.archive.search_index import Content, Documents
from mmcrawl.archive.search_postings import invert
from mmcrawl.archive.search_query import TOPIC
from mmcrawl.archive.search_sightings import NONE, Names, Sightings
from mmcrawl.archive.search_texts import Text
from mmcrawl.archive.search_words import tokens

__all__ = ["SegmentBuilder"]

_MOST_WORDS = 100_000  # of a block


class SegmentBuilder:
    """Gathers what a segment will hold.

    Args:
        first: Id of its first document.
    """

    def __init__(self, first: int) -> None:
        self._first = first
        self._terms = Names()
        self._occurrences = tuple(array("q") for _ in range(3))  # term, document, position
        self._encodings = Names()
        self._documents = tuple(array("q") for _ in range(4))  # digest, encoding, length, media
        self._texts: list[Text] = []
        self._known: dict[tuple[int, str], int] = {}
        self._languages, self._kinds = Names(), Names()
        self._pages: list[tuple[str, bool, float]] = []
        self._versions = tuple(array("q") for _ in range(3))  # page, number, language
        self._times, self._untils = array("d"), array("d")
        self._runs = tuple(array("q") for _ in range(5))  # document, kind, media, first, last
        self._open: dict[tuple[int, int, int], int] = {}

    @property
    def positions(self) -> int:
        """Occurrences of words so far."""
        return len(self._occurrences[0])

    @property
    def pages(self) -> int:
        """Pages so far."""
        return len(self._pages)

    @property
    def runs(self) -> int:
        """Runs so far."""
        return len(self._runs[0])

    @property
    def next(self) -> int:
        """Id of the next document."""
        return self._first + len(self._documents[0])

    def known(self, digest: int, encoding: str) -> int | None:
        """Return the id of a document of this segment."""
        return self._known.get((digest, encoding))

    def add_document(self, block: IndexedBlock, text: str, encoding: str) -> int:
        """Take in a block that is new to the index, with its text, and return its id."""
        document = self.next
        length = self._add_words(document, text, "")
        self._add_words(document, block.topic, TOPIC)
        digest = block.digest
        signed = digest - (1 << 64) if digest >> 63 else digest
        row = (signed, self._encodings.number(encoding), length, block.inside)
        for column, value in zip(self._documents, row, strict=True):
            column.append(value)
        self._texts.append(Text(block.topic, text))
        self._known[digest, encoding] = document
        return document

    def _add_words(self, document: int, text: str, prefix: str) -> int:
        terms, documents, positions = self._occurrences
        length = 0
        for token in tokens(text):
            if length == _MOST_WORDS:
                break
            terms.append(self._terms.number(prefix + token.word))
            documents.append(document)
            positions.append(token.position)
            length += not token.inner
        return length

    def begin_page(self, url: str, *, reset: bool, before: float = NONE) -> None:
        """Begin what is new of a page; `reset` and `before` as in Sightings."""
        self._pages.append((url, reset, before))
        self._open = {}

    def add_version(
        self,
        number: int,
        time: float,
        until: float,
        language: str,
        blocks: Iterable[tuple[int, str, int]],
    ) -> None:
        """Take in the next version of the page that was begun.

        Args:
            number, time, until, language: As in Sightings.
            blocks: Id, kind and media of each.
        """
        row = len(self._times)
        spoken = self._languages.number(language)
        goes_on = row > 0 and self._versions[2][-1] == spoken
        self._times.append(time)
        self._untils.append(until)
        for column, value in zip(
            self._versions, (len(self._pages) - 1, number, spoken), strict=True
        ):
            column.append(value)
        before, self._open = self._open, {}
        for key in sorted(
            {(document, self._kinds.number(k), media) for document, k, media in blocks}
        ):
            run = before.get(key) if goes_on else None
            if run is None:
                run = len(self._runs[0])
                for column, value in zip(self._runs, (*key, row, row), strict=True):
                    column.append(value)
            self._runs[4][run] = row
            self._open[key] = run

    def content(self) -> Content:
        """Return the segment."""
        inverted = invert(self._terms.names, *map(_ints, self._occurrences))
        digest, encoding, length, media = map(_ints, self._documents)
        ids = np.arange(self._first, self.next, dtype=np.int64)
        documents = Documents(
            ids, digest.view(np.uint64), encoding, length, media, self._encodings.names
        )
        return Content(inverted, documents, self._texts, self._sightings())

    def _sightings(self) -> Sightings:
        """Return what was seen, pages in order."""
        urls = [url for url, _, _ in self._pages]
        ranked = sorted(range(len(urls)), key=urls.__getitem__)
        rank = np.empty(len(urls), dtype=np.int64)
        rank[ranked] = np.arange(len(urls))
        url, number, language = map(_ints, self._versions)
        order = np.argsort(rank[url], kind="stable")
        row = np.empty(len(order), dtype=np.int64)
        row[order] = np.arange(len(order))
        document, kind, media, first, last = map(_ints, self._runs)
        return Sightings(
            urls=[urls[i] for i in ranked],
            reset=np.array([self._pages[i][1] for i in ranked], dtype=bool),
            before=np.array([self._pages[i][2] for i in ranked], dtype=np.float64),
            url=rank[url][order],
            number=number[order],
            time=np.array(self._times)[order],
            until=np.array(self._untils)[order],
            language=language[order],
            languages=self._languages.names,
            document=document,
            kind=kind,
            media=media,
            first=row[first],
            last=row[last],
            kinds=self._kinds.names,
        )


def _ints(column: Iterable[int]) -> Ints:
    return as_ints(column)  # type: ignore[arg-type]
