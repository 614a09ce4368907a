"""The first six pages that hold each link, and what it shares with others by each of them.

A page is three numbers here, of its address, its directory and what it turned out to be, which hold
for all processes; a link keeps which pages they were, 24 bytes.
"""

from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mmcrawl.scoring.link_features import BITS, OWN

MOST = 6
"""Pages that are kept of a link."""

Ids = NDArray[np.int64]
Rows = NDArray[np.uint32]

_URL, _FOLDER, _OUTCOME = range(3)
_OF_PAGE = [_URL, _URL, _FOLDER, _OUTCOME, _FOLDER, _OUTCOME]  # in the order of `FOUND`
_OF_LINK = [OWN.index(name) for name in ("host", "path", "path", "path", "directory", "host")]
_SALT = np.array([crc32(bytes([number])) for number in range(len(_OF_PAGE))], dtype=np.uint32)
_MIX = np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)


class Inlinks:
    """Pages by link. A link that was fetched has those that were known then."""

    def __init__(self) -> None:
        self._of_link = np.zeros((1024, MOST), dtype=np.uint32)
        self._count = np.zeros(1024, dtype=np.uint8)
        self._is_fetched = np.zeros(1024, dtype=bool)
        self._pages = np.zeros((1024, 3), dtype=np.uint32)
        self._media = np.zeros((1024, 2), dtype=np.float32)
        self._page = -1

    def page(self, url: str, outcome: int, *, relevant: bool, has_media: bool) -> None:
        """Begin a page: the links named next were found on it; its address is "" for seeds.

        Args:
            url: its address.
            outcome: what it turned out to be.
            relevant, has_media: whether it is relevant, or holds media at least.
        """
        self._page += 1
        if self._page == len(self._pages):
            self._pages, self._media = grown(self._pages), grown(self._media)
        texts = url, urlsplit(url).path.rpartition("/")[0], str(outcome)
        self._pages[self._page] = [crc32(text.encode("utf-8", "replace")) for text in texts]
        self._media[self._page] = relevant, has_media

    def register(self, link: int) -> None:
        """Note that the page holds a new link."""
        while link >= len(self._count):
            self._of_link, self._count = grown(self._of_link), grown(self._count)
            self._is_fetched = grown(self._is_fetched)
        self._of_link[link, 0], self._count[link] = self._page, 1

    def fetched(self, link: int) -> None:
        """Note that a link was fetched."""
        self._is_fetched[link] = True

    def linked(self, links: Ids) -> int:
        """Note that the page holds links, each once; return how many of them are new."""
        old = links[self._of_link[links, 0] != self._page]
        few = old[(self._count[old] < MOST) & ~self._is_fetched[old]]
        self._of_link[few, self._count[few]] = self._page
        self._count[few] += 1
        return len(links) - len(old)

    def of(self, links: Ids, own: Rows) -> tuple[Rows, NDArray[np.float32], Ids]:
        """Return what links have by the pages that hold them, a row for each of those.

        Args:
            links: that are known.
            own: their features.

        Returns:
            Units, shape (m, len(FOUND)); whether the page is relevant, and whether it holds media,
            shape (m, 2); where the rows of each link begin, shape (len(links),).
        """
        count = self._count[links].astype(np.int64)
        starts = np.cumsum(count) - count
        row = np.repeat(np.arange(len(links)), count)
        pages = self._of_link[links[row], np.arange(len(row)) - starts[row]]
        mixed = self._pages[pages][:, _OF_PAGE] * _MIX[0] + own[:, _OF_LINK][row] + _SALT
        mixed = (mixed ^ (mixed >> np.uint32(15))) * _MIX[1]
        return np.maximum(mixed >> np.uint32(32 - BITS), 1), self._media[pages], starts


def grown(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column with room for an eighth more entries, at least for some."""
    more = np.zeros((max(len(column) // 8, 1_024), *column.shape[1:]), dtype=column.dtype)
    return np.concatenate([column, more])
