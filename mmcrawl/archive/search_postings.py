"""The inverted part of a segment: which words stand in which documents, and where.

All postings of a segment are handled as three levels of parallel arrays: terms, pairs of a term
and a document, and positions. Building, merging and writing are sorts and running sums over them,
no loop over words.

Stored, terms in order are cut into *bundles* of about 32 KB: each holds its terms, and for each
term the documents it occurs in (first, last, and the differences as varints) and how often. The
positions stand in a bundle of their own, read for phrases only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import (
    DamagedError,
    Ints,
    as_ints,
    decoded,
    encoded_with_ends,
    pack_columns,
    unpack_columns,
)

__all__ = [
    "Bundle",
    "Inverted",
    "Postings",
    "bundles_of",
    "find",
    "invert",
    "merged",
    "read_bundle",
]

_BUNDLE = 32_768  # bytes before compression
_TERM_COST = 6  # bytes that a term takes beside its own letters


@dataclass(frozen=True, eq=False)
class Inverted:
    """Postings of many terms.

    Attributes:
        terms: In order of code points, each with at least one pair.
        term: Of each pair, an index into `terms`; ascending.
        document: Of each pair; ascending within a term.
        count: Of each pair, how often the term occurs in the document, at least 1.
        step: Of each occurrence, its distance from the one before in the same document; of the
            first, its position.
    """

    terms: Sequence[str]
    term: Ints
    document: Ints
    count: Ints
    step: Ints


@dataclass(frozen=True, eq=False)
class Postings:
    """Documents of one term, ascending, and how often it occurs in each.

    `steps` holds the positions as in :class:`Inverted`; None if they were not asked for.
    """

    documents: Ints
    counts: Ints
    steps: Ints | None = None


@dataclass(frozen=True, eq=False)
class Bundle:
    """What is stored of consecutive terms."""

    first: str
    words: bytes
    positions: bytes


def invert(terms: Sequence[str], term: Ints, document: Ints, position: Ints) -> Inverted:
    """Make postings of occurrences, given in the order of documents and positions.

    Args:
        terms: Distinct, in any order.
        term: Of each occurrence, an index into `terms`.
        document, position: Where it is.
    """
    ranked = sorted(range(len(terms)), key=terms.__getitem__)
    rank = np.empty(len(terms), dtype=np.int64)
    rank[ranked] = np.arange(len(terms))
    term = rank[term]
    order = np.argsort(term, kind="stable")
    term, document, position = term[order], document[order], position[order]
    new = np.ones(len(term), dtype=bool)
    new[1:] = (term[1:] != term[:-1]) | (document[1:] != document[:-1])
    firsts = np.flatnonzero(new)
    step = np.diff(position, prepend=0)
    step[firsts] = position[firsts]
    count = np.diff(np.append(firsts, len(term)))
    return Inverted([terms[i] for i in ranked], term[firsts], document[firsts], count, step)


def merged(parts: Sequence[Inverted], dropped: Ints) -> Inverted:
    """Join postings; documents of each part come behind those of the part before.

    Args:
        parts: At least one.
        dropped: Documents to leave out, ascending.
    """
    terms = sorted(set().union(*(part.terms for part in parts)))
    number = {term: index for index, term in enumerate(terms)}
    names = [as_ints([number[term] for term in part.terms])[part.term] for part in parts]
    term = np.concatenate(names)
    document = np.concatenate([part.document for part in parts])
    count = np.concatenate([part.count for part in parts])
    step = np.concatenate([part.step for part in parts])
    if len(dropped):
        kept = ~np.isin(document, dropped)
        step = step[np.repeat(kept, count)]
        term, document, count = term[kept], document[kept], count[kept]
    by_occurrence = np.argsort(np.repeat(term, count), kind="stable")
    order = np.argsort(term, kind="stable")
    used, term = np.unique(term[order], return_inverse=True)
    return Inverted(
        [terms[i] for i in used.tolist()],
        term.astype(np.int64),
        document[order],
        count[order],
        step[by_occurrence],
    )


# ---------------------------------------------------------------- writing


def bundles_of(inverted: Inverted) -> Iterator[Bundle]:
    """Yield what is to be stored."""
    size = len(inverted.terms)
    if not size:
        return
    firsts = np.flatnonzero(np.diff(inverted.term, prepend=-1))
    afters = np.append(firsts[1:], len(inverted.term))
    delta = np.diff(inverted.document, prepend=0)
    inner = np.ones(len(delta), dtype=bool)
    inner[firsts] = False
    documents = _Stream(delta[inner], afters - np.arange(1, size + 1))
    counts = _Stream(inverted.count, afters)
    steps = _Stream(inverted.step, np.cumsum(inverted.count)[afters - 1])
    heads = np.stack(
        (
            afters - firsts,
            inverted.document[firsts],
            inverted.document[afters - 1] - inverted.document[firsts],
            documents.lengths,
            counts.lengths,
        )
    )
    letters = as_ints([len(term) for term in inverted.terms])
    costs = np.cumsum(letters + _TERM_COST + documents.lengths + counts.lengths)
    cuts = [0, *(np.flatnonzero(np.diff(costs // _BUNDLE)) + 1).tolist(), size]
    for start, end in pairwise(cuts):
        names = "\n".join(inverted.terms[start:end]).encode("utf-8", "surrogatepass")
        head = encoded_with_ends(heads[:, start:end].ravel())[0]
        yield Bundle(
            inverted.terms[start],
            pack_columns((names, head, documents[start:end], counts[start:end])),
            pack_columns((encoded_with_ends(steps.lengths[start:end])[0], steps[start:end])),
        )


class _Stream:
    """Numbers as varints, and which bytes belong to which term."""

    def __init__(self, values: Ints, afters: Ints) -> None:
        self._data, ends = encoded_with_ends(values)
        self._ends = np.concatenate(([0], ends))[np.concatenate(([0], afters))]
        self.lengths: Ints = np.diff(self._ends)

    def __getitem__(self, terms: slice) -> bytes:
        return self._data[int(self._ends[terms.start]) : int(self._ends[terms.stop])]


# ---------------------------------------------------------------- reading


@dataclass(frozen=True, eq=False)
class _Words:
    """The columns of a bundle: of each term, the five numbers of its head."""

    terms: list[str]
    heads: NDArray[np.int64]
    documents: bytes
    counts: bytes


def find(term: str, words: bytes, positions: bytes | None) -> Postings | None:
    """Return the postings of one term of a bundle, None if it is not there.

    Args:
        term: The term.
        words: Of a :class:`Bundle`.
        positions: Of the same one, if they are wanted.
    """
    bundle = _words(words)
    index = bisect_left(bundle.terms, term)
    if index == len(bundle.terms) or bundle.terms[index] != term:
        return None
    first = int(bundle.heads[1, index])
    deltas = decoded(_slice(bundle.documents, bundle.heads[3], index))
    documents = np.cumsum(np.concatenate((as_ints([first]), deltas)))
    counts = decoded(_slice(bundle.counts, bundle.heads[4], index))
    if len(documents) != bundle.heads[0, index] or len(counts) != len(documents):
        raise DamagedError("postings are cut off")
    if positions is None:
        return Postings(documents, counts)
    lengths, data = unpack_columns(positions)
    return Postings(documents, counts, decoded(_slice(data, decoded(lengths), index)))


def read_bundle(words: bytes, positions: bytes) -> Inverted:
    """Return all that a bundle holds."""
    bundle = _words(words)
    sizes, firsts, spans = bundle.heads[:3]
    term = np.repeat(np.arange(len(bundle.terms)), sizes)
    starts = np.cumsum(sizes) - sizes
    delta = np.empty(len(term), dtype=np.int64)
    inner = np.ones(len(term), dtype=bool)
    inner[starts] = False
    delta[inner] = decoded(bundle.documents)
    delta[starts] = firsts
    delta[starts[1:]] -= (firsts + spans)[:-1]
    step = decoded(unpack_columns(positions)[1])
    return Inverted(bundle.terms, term, np.cumsum(delta), decoded(bundle.counts), step)


def _words(words: bytes) -> _Words:
    names, head, documents, counts = unpack_columns(words)
    terms = names.decode("utf-8", "surrogatepass").split("\n")
    heads = decoded(head)
    if len(heads) != 5 * len(terms):
        raise DamagedError("a bundle has other terms than it says")
    return _Words(terms, heads.reshape(5, -1), documents, counts)


def _slice(data: bytes, lengths: Ints, index: int) -> bytes:
    start = int(lengths[:index].sum())
    return data[start : start + int(lengths[index])]
