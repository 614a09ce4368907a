"""Ranks that were computed: for each method, the last ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.archive import Archive
from mmcrawl.errors import RankError
from mmcrawl.rank.graph import Numbers
from mmcrawl.rank.results.kept import Kept, keep, open_kept
from mmcrawl.stores.documents import Document

DUPLICATES = "duplicates"
"""Name under which :mod:`mmcrawl.rank.duplicates.results` keeps groups in the same store."""

_ANEW = "compute the ranks anew with `scrapy rank`"


@dataclass(frozen=True, eq=False)
class RankedPages:
    """The pages of an archive and their ranks, in parallel.

    Attributes:
        method: Name of the method.
        computed: Unix seconds.
        at: The time whose versions were ranked, Unix seconds; None for the newest.
        topic: Name of the topic, "" for none.
        archive_urls, archive_versions: How many the archive held when it was read.
        urls: Of the pages, as stored, by id.
        versions: Numbers of the versions that were ranked.
        scores: They sum to 1.
    """

    method: str
    computed: float
    at: float | None
    topic: str
    archive_urls: int
    archive_versions: int
    urls: list[str]
    versions: NDArray[np.int64]
    scores: Numbers


def save_ranks(uri: str, pages: RankedPages) -> None:
    """Keep ranks beside their archive, in place of those of the same method.

    Raises:
        StoreError: they cannot be written.
    """
    said = ("computed", "at", "topic", "archive_urls", "archive_versions")
    facts = {name: getattr(pages, name) for name in said} | {"pages": len(pages.urls)}
    keep(uri, pages.method, facts, pages.urls, {"scores": pages.scores.astype("<f8")})


def open_ranks(uri: str, method: str | None = None) -> Ranks:
    """Return the ranks that are kept of an archive.

    Args:
        uri: Of the archive.
        method: Which; by default those computed last.

    Raises:
        RankError: there are none.
        StoreError: they cannot be read.
    """
    kept = open_kept(uri, _latest if method is None else lambda _: method, _ANEW)
    if kept is not None:
        return Ranks(kept)
    which, how = (f" by {method}", f" --method {method}") if method else ("", "")
    raise RankError(f"the archive has no ranks{which}; `scrapy rank{how}` computes them")


class Ranks(Mapping[str, float]):
    """The scores of pages by URL, in any spelling; use it ``with`` or :meth:`close` it.

    A page that was not ranked is not in it: :meth:`scores` gives 0 for those. Iterating yields the
    URLs in no particular order.

    Attributes:
        method: Name of the method.
        computed: When, in Unix seconds.
        at: The time whose versions were ranked; None for the newest.
        topic: Name of the topic, "" for none.
    """

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self.method = kept.name
        self.computed = float(kept.facts["computed"])
        self.at: float | None = kept.facts["at"]
        self.topic = str(kept.facts["topic"])
        self._scores = kept.column("scores", "<f8")

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store."""
        self._kept.close()

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, url: str) -> float:
        (place,) = self._kept.places([url])
        if place < 0:
            raise KeyError(url)
        return float(self._scores[place])

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept.urls)

    def scores(self, urls: Iterable[str]) -> Numbers:
        """Return the scores of many pages at once, 0 for those that were not ranked."""
        places = self._kept.places(urls)
        found = np.zeros(len(places))
        found[places >= 0] = self._scores[places[places >= 0]]
        return found

    def is_stale(self, archive: Archive) -> bool:
        """Whether the archive has changed since: it holds more or fewer URLs or versions."""
        return self._kept.is_stale(archive)


def _latest(results: Mapping[str, Document]) -> str:
    times = {method: facts["computed"] for method, facts in results.items()}
    times.pop(DUPLICATES, None)
    return max(times, key=lambda method: (times[method], method), default="")
