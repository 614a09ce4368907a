"""What ranks are computed from: the pages of an archive, their blocks and their links, as records.

The records are the whole contract between those who read an archive and those who rank it: flat
values with plain types, so that each kind is also a row of a table. Every character of a page's
visible text is counted in one block, every link stands in one: the deepest that holds it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.frontier.urls import url_key
from mmcrawl.page.urls import Resolver
from mmcrawl.text.url_words import url_text
from mmcrawl.topic.topic import BooleanModel, Topic

NOT_STORED = -1
"""Target of a link to what the archive does not hold as a page."""

OUTSIDE = -1
"""Number of the rest of a page, outside all blocks, kept as a block of level 0."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page: one version of a URL that a server answered with a status from 200 to 299."""

    id: int  # from 0, without gaps, in the order of URLs
    url: str  # As stored. Of several that the frontier takes for one, the one fetched last
    host: str  # lower case, "" if it has none
    version: int
    time: float
    status: int
    language: str
    title: str  # white space collapsed, at most 300 characters
    text_chars: int  # characters of visible text; 0 for what is no HTML


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A block of a page.

    Blocks that only hold other blocks, with neither text nor links between these, are left out.

    Attributes:
        number: Place among :meth:`mmcrawl.archive.Archive.blocks_of` its version, from 0: each
            block before those inside it. :data:`OUTSIDE` for the rest of the page.
        level: 1 for a block of the page, n + 1 for one inside a block of level n, 0 for the
            rest of the page.
    """

    page: int
    number: int
    level: int
    kind: str  # one of `KINDS`, "" for the rest of the page
    kind_score: float  # how surely it is of its kind, in (0, 1]
    text_chars: int  # characters of visible text, without those of the blocks inside it
    start: int
    end: int
    topic: str  # what it is about, in a few words; "" where topics are not read


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link. A block that names a URL several times has one link to it.

    Attributes:
        target: Id of the page it leads to, redirects followed; :data:`NOT_STORED` if the archive
            has no such page. It may be the source.
    """

    source: int
    block: int  # number of the deepest block it is in, or `OUTSIDE`
    target: int
    url: str  # where it leads: absolute, as a request would be made, before redirects
    anchor: str


@dataclass(frozen=True, slots=True)
class MediaRecord:
    """A medium that a block shows or links to; a block names it once.

    Attributes:
        block: Number of the deepest of the page's :class:`BlockRecord` it is in;
            :data:`OUTSIDE` for what stands in none, also where the page has no such record.
    """

    block: int
    url: str
    kind: str


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page with its blocks in order of their numbers, its links in order, and its media."""

    page: PageRecord
    blocks: tuple[BlockRecord, ...]
    links: tuple[LinkRecord, ...]
    media: tuple[MediaRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A page as received, and how the archive cuts it."""

    page: int
    url: str
    encoding: str
    method: str
    level: int
    body: bytes


OWN_KINDS = frozenset({"title", "topic", "related-links", "image", "small"})
"""Kinds of blocks that are the page's own."""


class TopicContent:
    """content(p) of (3.7) and (3.11): |D ∩ T| / |T| (Yang 2009, 4.1).

    D is what a page says itself: its title, the topics of its blocks, and the words of its URL.
    During a crawl the words of a link stand in for it (3.8); here every page has been read.
    Navigation, advertisements and notices of rights do not count: they are not the page's own.
    """

    def __init__(self, topic: Topic) -> None:
        self._model = BooleanModel(topic)

    def of(self, read: ReadPage) -> float:
        """Return the similarity of a page, in [0, 1]. Its blocks must have their topics."""
        topics = (block.topic for block in read.blocks if block.kind in OWN_KINDS and block.topic)
        return self.score(read.page.title, read.page.url, topics)

    def score(self, title: str, url: str, topics: Iterable[str]) -> float:
        """Return the same, given the topics of the blocks that are the page's own."""
        return self._model.score(title, url_text(url), *topics)


_MOST_HOPS = 20


class UrlIndex:
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
    """Receives what was last seen of the URLs of an archive, in their order."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self._keys = array("q")
        self._names = array("q")
        self._numbers = array("q")
        self._times = array("d")
        self._redirects: dict[int, int] = {}

    def add(self, url: str, number: int, time: float, status: int) -> None:
        """Add what was last seen of a URL: a page, if the status is from 200 to 299."""
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
        """Add a URL that redirects to another one, or to none."""
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
