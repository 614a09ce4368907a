"""Which page of an archive a URL leads to: spellings folded, redirects followed.

Kept are 24 bytes a page and one entry of a dictionary a redirect; no URLs.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.frontier.urls import url_key
from mmcrawl.page.urls import Resolver
from mmcrawl.rank.records import NOT_STORED

_MOST_HOPS = 20


class UrlIndex:
    """Finds pages by URL."""

    def __init__(
        self,
        keys: NDArray[np.int64],
        names: NDArray[np.int64],
        numbers: NDArray[np.int64],
        redirects: Mapping[int, int],
    ) -> None:
        self.numbers = numbers
        self._names = names
        self._ids = np.argsort(keys, kind="stable")
        self._keys = keys[self._ids]
        self._redirects = redirects

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, url: str) -> int:
        """Return the id of the page a URL leads to, or NOT_STORED."""
        key = _key(url)
        return NOT_STORED if key is None else self._find_key(key)

    def id_of(self, url: str) -> int:
        """Return the id of the page that is stored under exactly this URL, or NOT_STORED."""
        key = _key(url)
        found = NOT_STORED if key is None else self._own(key)
        return found if found >= 0 and self._names[found] == hash(url) else NOT_STORED

    def _find_key(self, key: int) -> int:
        for _ in range(_MOST_HOPS):
            found = self._own(key)
            if found >= 0 or key not in self._redirects:
                return found
            key = self._redirects[key]
        return NOT_STORED

    def _own(self, key: int) -> int:
        place = int(np.searchsorted(self._keys, key))
        found = place < len(self._keys) and self._keys[place] == key
        return int(self._ids[place]) if found else NOT_STORED


class IndexBuilder:
    """Takes in what was seen last of the URLs of an archive, in their order."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._keys = array("q")
        self._names = array("q")
        self._numbers = array("q")
        self._times = array("d")
        self._redirects: dict[int, int] = {}

    def add(self, url: str, number: int, time: float, status: int) -> None:
        """Take in what was seen last of a URL: a page, if the status is one from 200 to 299."""
        key = _key(url)
        if key is None:
            self.skipped["URL that is none"] += 1
        elif 200 <= status < 300:
            self._keys.append(key)
            self._names.append(hash(url))
            self._numbers.append(number)
            self._times.append(time)
        else:
            self.skipped[f"status {status}"] += 1

    def add_redirect(self, url: str, status: int, location: str) -> None:
        """Take in a URL that leads to another one, as its header says, or to none."""
        key, target = _key(url), Resolver(url, "utf-8")(location) if location else None
        target_key = _key(target.url) if target is not None else None
        if key is None or target_key is None:
            self.skipped[f"status {status}"] += 1
            return
        self.skipped["redirect"] += 1
        self._redirects[key] = target_key

    def index(self) -> UrlIndex:
        """Return the index; of pages with one key, the one fetched last is kept."""
        keys = _numbers(self._keys)
        order = np.lexsort((-np.arange(len(keys)), np.array(self._times), keys))
        ordered = keys[order]
        last = np.ones(len(keys), dtype=bool)
        last[:-1] = ordered[1:] != ordered[:-1]
        kept = np.sort(order[last])
        if len(kept) < len(keys):
            self.skipped["other spelling of a URL"] += len(keys) - len(kept)
        return UrlIndex(
            keys[kept], _numbers(self._names)[kept], _numbers(self._numbers)[kept], self._redirects
        )


def _numbers(values: array[Any]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _key(url: str) -> int | None:
    try:
        return url_key(0, url)
    except ValueError:
        return None
