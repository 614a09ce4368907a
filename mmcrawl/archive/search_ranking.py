"""Which blocks match a query, how well, and in what order pages are shown.

A block's score is that of BM25 (Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework:
BM25 and Beyond", equations 3.6 and 3.15), times a weight of its kind::

    score(q, d) = w(kind) · Σ_t idf(t) · f · (k₁ + 1) / (f + k₁ · (1 - b + b · |d| / avg))
    idf(t) = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

with f how often word t occurs in block d, \\|d\\| the words of d and avg their mean, N all
blocks and n(t) those with t. The 1 in the logarithm keeps a word that is in most blocks from
counting against them (as in Lucene). Only blocks that are on some page count. So a score depends on
what the archive holds, and neither on the store nor on how the index came about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import Ints
from mmcrawl.archive.search_postings import Postings
from mmcrawl.archive.search_query import MEDIA, Query
from mmcrawl.archive.search_view import View
from mmcrawl.errors import SearchError

__all__ = [
    "KIND_WEIGHTS",
    "ORDERS",
    "Counts",
    "Matches",
    "Order",
    "Ranking",
    "bm25",
    "collapsed",
    "counts_of",
    "ranked",
]

Floats = NDArray[np.float64]

KIND_WEIGHTS: Mapping[str, float] = {
    "title": 2.0,
    "topic": 1.5,
    "image": 1.0,
    "small": 0.7,
    "related-links": 0.6,
    "navigation": 0.3,
    "copyright": 0.2,
    "noise-links": 0.2,
    "advertisement": 0.1,
}
"""What a block of a kind counts; 1 for any other."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Blocks that match, once for each page they are on, in parallel arrays.

    Attributes:
        view: Of the index.
        page: Index into ``view.seen.urls``, which are in order.
        document: Row of ``view.documents``.
        kind: That the block has in `version`, an index into ``view.seen.kinds``.
        media: Kinds of its media in `version`, as bits.
        version: The last version with the block within the time that is asked for, a row of
            ``view.seen``.
        first: The first version with the block.
        score: As described above.
    """

    view: View
    page: Ints
    document: Ints
    kind: Ints
    media: Ints
    version: Ints
    first: Ints
    score: Floats

    @property
    def time(self) -> Floats:
        """Of `version`."""
        return self.view.seen.time[self.version]

    @property
    def first_time(self) -> Floats:
        """Of `first`."""
        return self.view.seen.time[self.first]


Order = str | Mapping[str, float]
"""``relevance``, ``newest`` (seen last, of those seen until then what appeared last) or ``oldest``;
or the scores of pages by URL, such as page ranks: greater ones first, then pages without."""

_Keys = tuple[NDArray[np.generic], ...]
_ORDERS: Mapping[str, Callable[[Matches], _Keys]] = {
    "relevance": lambda found: (-found.score,),
    "newest": lambda found: (-found.time, -found.first_time, -found.score),
    "oldest": lambda found: (found.first_time, found.time, -found.score),
}
ORDERS = tuple(_ORDERS)


def _keys(found: Matches, order: Order) -> _Keys:
    """Return what matches are sorted by, ascending, the most significant first."""
    if isinstance(order, str):
        if order not in _ORDERS:
            raise SearchError(f"there is no order {order!r}; use {', '.join(ORDERS)}")
        return _ORDERS[order](found)
    pages = np.array([order.get(url, -math.inf) for url in found.view.seen.urls], dtype=np.float64)
    return (-pages[found.page], -found.score)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Matches in order, and grouped by page.

    Whatever reorders pages, or takes some out, makes another `pages` of this one.

    Attributes:
        matches: All of them.
        order: Rows of `matches` from the best to the last.
        pages: The best match of each page, rows of `matches`, in order.
    """

    matches: Matches
    order: Ints
    pages: Ints

    def of_page(self, page: int) -> Ints:
        """Return the matches of a page in order."""
        return np.asarray(self.order[self.matches.page[self.order] == page])


def collapsed(ranking: Ranking, groups: Mapping[str, object]) -> Ranking:
    """Return a ranking with the first page of each group, and all pages that are in none.

    Args:
        ranking: With all of them.
        groups: The group of pages, by URL.
    """
    urls, known, kept = ranking.matches.view.seen.urls, set(), []
    for row, page in zip(ranking.pages, ranking.matches.page[ranking.pages], strict=True):
        group = groups.get(urls[page])
        if group is None or group not in known:
            kept.append(int(row))
            known.add(group)
    return replace(ranking, pages=np.array(kept, dtype=ranking.pages.dtype))


def bm25(
    query: Query,
    postings: Mapping[str, Postings],
    view: View,
    documents: Ints,
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> Floats:
    """Return the scores of documents, without the weight of their kinds; 1 if no word is asked for.

    Args:
        query: Whose words count.
        postings: Of its words; all of the documents are in each.
        view: Of the index.
        documents: Rows.
        k1: How soon further occurrences stop to count.
        b: How much long blocks are held back, in [0, 1].
    """
    if not query.words:
        return np.ones(len(documents))
    total = int(view.alive.sum())
    length = view.documents.length[documents] / view.mean_length
    score = np.zeros(len(documents))
    for word in query.words:
        found = postings[word]
        having = len(found.documents)
        idf = float(np.log(1 + (total - having + 0.5) / (having + 0.5)))
        count = found.counts[np.searchsorted(found.documents, documents)]
        score += idf * count * (k1 + 1) / (count + k1 * (1 - b + b * length))
    return score


def weights_of(view: View) -> Floats:
    """Return the weight of each kind of a view."""
    return np.array([KIND_WEIGHTS.get(kind, 1.0) for kind in view.seen.kinds], dtype=np.float64)


def ranked(matches: Matches, order: Order) -> Ranking:
    """Sort matches; what an order leaves open goes by URL, then by digest.

    Raises:
        SearchError: there is no such order.
    """
    documents = matches.view.documents
    encoding = np.argsort(np.argsort(np.array(documents.encodings, dtype=str)))
    ties = (
        encoding[documents.encoding[matches.document]],
        documents.digest[matches.document],
        matches.page,
    )
    sorted_ = np.lexsort((*ties, *reversed(_keys(matches, order)))).astype(np.int64)
    _, firsts = np.unique(matches.page[sorted_], return_index=True)
    return Ranking(matches, sorted_, sorted_[np.sort(firsts)])


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pages have a block that matches, by something about it; the greatest first.

    A page may count several times: for each kind of its blocks, and for each kind of media.

    Attributes:
        kinds, media, hosts: By kind of block, kind of media, host of the page.
    """

    kinds: Mapping[str, int]
    media: Mapping[str, int]
    hosts: Mapping[str, int]


def counts_of(found: Matches) -> Counts:
    """Count the pages of all matches."""
    view, hosts = found.view, found.view.hosts
    media = [np.unique(found.page[found.media >> bit & 1 > 0]) for bit in range(len(MEDIA))]
    bits = np.repeat(np.arange(len(MEDIA)), [len(pages) for pages in media])
    pages = np.unique(found.page)
    return Counts(
        kinds=_counted(found.page, found.kind, view.seen.kinds),
        media=_counted(np.concatenate(media), bits, MEDIA),
        hosts=_counted(pages, hosts.of_page[pages], hosts.names),
    )


def _counted(page: Ints, value: Ints, names: Sequence[str]) -> dict[str, int]:
    if not len(page):
        return {}
    pairs = np.unique(page * len(names) + value)
    numbers = np.bincount(pairs % len(names), minlength=len(names)).tolist()
    found = sorted(zip(names, numbers, strict=True), key=lambda item: (-item[1], item[0]))
    return {name: number for name, number in found if number}
