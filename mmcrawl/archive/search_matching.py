"""From a query to the blocks that match it, and the pages they are on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import Ints
from mmcrawl.archive.search_postings import Postings
from mmcrawl.archive.search_query import MEDIA, TOPIC, Choice, Phrase, Query
from mmcrawl.archive.search_ranking import Matches, bm25, weights_of
from mmcrawl.archive.search_view import View

__all__ = ["matching"]

Flags = NDArray[np.bool_]


def matching(query: Query, view: View) -> Matches:
    """Find all matches of a query.

    Raises:
        GoneError: the view is no longer there.
    """
    postings = _postings(query, view)
    documents = _documents(query, view, postings)
    runs = _runs(query, view, documents)
    seen = view.seen
    version = _last_until(view, seen.first[runs], seen.last[runs], query.end)
    score = np.zeros(len(view.documents.id))
    score[documents] = bm25(query, postings, view, documents)
    page, document = view.url_runs[runs], view.run_document[runs]
    # A block may have been on a page several times, or as several kinds: the latest stands for all.
    order = np.lexsort((runs, -version, document, page))
    page, document = page[order], document[order]
    starts = np.flatnonzero(
        np.concatenate(([True], (page[1:] != page[:-1]) | (document[1:] != document[:-1])))
    )[: len(order)]
    first = seen.first[runs][order]
    latest = order[starts]
    kind = seen.kind[runs][latest]
    return Matches(
        view,
        page=page[starts],
        document=document[starts],
        kind=kind,
        media=seen.media[runs][latest],
        version=version[latest],
        first=np.minimum.reduceat(first, starts) if len(starts) else first,
        score=score[document[starts]] * weights_of(view)[kind],
    )


def _postings(query: Query, view: View) -> dict[str, Postings]:
    phrases = [*query.phrases, *(phrase for phrase in query.without if len(phrase.words) > 1)]
    terms = {*query.words, *(TOPIC + word for word in query.topics)}
    terms.update(word for phrase in query.without for word in phrase.words)
    return view.postings(sorted(terms), {word for phrase in phrases for word in phrase.words})


def _documents(query: Query, view: View, postings: Mapping[str, Postings]) -> Ints:
    """Return the rows of documents that have all words and phrases, and none that is excluded."""
    wanted = [*query.words, *(TOPIC + word for word in query.topics)]
    if wanted:
        documents = _common([postings[term].documents for term in wanted])
    else:
        documents = np.flatnonzero(view.alive)
    for phrase in query.phrases:
        documents = _with_phrase(phrase, postings, documents)
    for phrase in query.without:
        having = _common([postings[word].documents for word in phrase.words])
        if len(phrase.words) > 1:
            having = _with_phrase(phrase, postings, having)
        documents = np.setdiff1d(documents, having, assume_unique=True)
    return documents


def _common(sets: Sequence[Ints]) -> Ints:
    """Return what is in all sets of distinct numbers, ascending."""
    first, *others = sorted(sets, key=len)
    for other in others:
        first = np.intersect1d(first, other, assume_unique=True)
    return first


def _with_phrase(phrase: Phrase, postings: Mapping[str, Postings], documents: Ints) -> Ints:
    """Return those of the documents, which have all words of a phrase, that have the phrase."""
    begins: NDArray[np.int64] | None = None
    for word, offset in zip(phrase.words, phrase.offsets, strict=True):
        document, position = _places(postings[word], documents)
        # Where the phrase would begin, as one number for document and position.
        here = (document << 32) + (position - offset + (1 << 31))
        begins = here if begins is None else np.intersect1d(begins, here, assume_unique=True)
    assert begins is not None  # noqa: S101 - a phrase has words
    return np.unique(begins >> 32)


def _places(found: Postings, documents: Ints) -> tuple[Ints, Ints]:
    """Return each occurrence of a term in some documents: the document and the position."""
    assert found.steps is not None  # noqa: S101 - asked for
    positions = np.cumsum(found.steps)
    starts = np.cumsum(found.counts) - found.counts
    before = np.concatenate(([0], positions))[starts]
    wanted = np.isin(found.documents, documents, assume_unique=True)
    chosen = np.repeat(wanted, found.counts)
    document = np.repeat(found.documents, found.counts)[chosen]
    return document, (positions - np.repeat(before, found.counts))[chosen]


# ---------------------------------------------------------------- where and when


def _runs(query: Query, view: View, documents: Ints) -> Ints:
    """Return the runs of documents that the fields of a query admit."""
    wanted = np.zeros(len(view.documents.id), dtype=bool)
    wanted[documents] = True
    seen = view.seen
    runs = np.flatnonzero(wanted[view.run_document])
    if query.media:
        bits = {name: seen.media[runs] >> bit & 1 > 0 for bit, name in enumerate(MEDIA)}
        runs = runs[_admitted(query.media, bits, len(runs))]
    if query.start is not None:
        runs = runs[seen.until[seen.last[runs]] >= query.start]
    if query.end is not None:
        runs = runs[seen.time[seen.first[runs]] < query.end]
    if query.kind:
        runs = runs[_named(query.kind, seen.kinds, str.__eq__)[seen.kind[runs]]]
    if query.lang:
        languages = _named(query.lang, seen.languages, _is_language)
        runs = runs[languages[seen.language[seen.first[runs]]]]
    if query.site:
        hosts = _named(query.site, view.hosts.names, _is_of_site)
        runs = runs[hosts[view.hosts.of_page[view.url_runs[runs]]]]
    if query.url:
        runs = runs[_named(query.url, seen.urls, _begins)[view.url_runs[runs]]]
    return runs


def _admitted(choice: Choice, having: Mapping[str, Flags], size: int) -> Flags:
    admitted = np.full(size, not choice.wanted)
    for value in choice.wanted:
        admitted |= having[value]
    for value in choice.unwanted:
        admitted &= ~having[value]
    return admitted


def _named(choice: Choice, names: Collection[str], fits: Callable[[str, str], bool]) -> Flags:
    """Return which of some names a choice admits."""
    values = {*choice.wanted, *choice.unwanted}
    having = {v: np.array([fits(name, v) for name in names], dtype=bool) for v in values}
    return _admitted(choice, having, len(names))


def _is_language(name: str, wanted: str) -> bool:
    return name.replace("_", "-").partition("-")[0] == wanted or name.replace("_", "-") == wanted


def _is_of_site(host: str, site: str) -> bool:
    return host == site or host.endswith("." + site)


def _begins(url: str, prefix: str) -> bool:
    return url.startswith(prefix) or url.partition("://")[2].startswith(prefix)


def _last_until(view: View, first: Ints, last: Ints, end: float | None) -> Ints:
    """Return the last version of each run that is of before `end`, by bisection of all at once."""
    if end is None:
        return last
    time = view.seen.time
    low, high = first.copy(), last.copy()
    while (low < high).any():
        middle = (low + high + 1) // 2
        before = time[middle] < end
        low, high = np.where(before, middle, low), np.where(before, high, middle - 1)
    return low
