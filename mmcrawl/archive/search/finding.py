"""From a query to the pages that are shown: SQL yields what matches, numpy orders it.

A block's score is that of BM25 as FTS5 computes it over its text, times the weight of its kind
(:data:`~mmcrawl.archive.search.index.KIND_WEIGHTS`)::

    score(q, d) = w(kind) · Σ_t idf(t) · f · (k₁ + 1) / (f + k₁ · (1 - b + b · |d| / avg))
    idf(t) = max(ln((N - n(t) + 0.5) / (n(t) + 0.5)), 10⁻⁶),  k₁ = 1.2,  b = 0.75

with f how often term t occurs in block d, \\|d\\| the tokens of d and avg their mean, N all blocks
and n(t) those with t. Without words, all blocks score 1.

Titles and main text come before all other blocks. Menus, advertisements and the like stand on most
pages of a site: words are found there only if no other block has them, or if that is asked for.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search.index import (
    BESIDE_KINDS,
    KIND_NAMES,
    KIND_NUMBERS,
    KIND_WEIGHTS,
    MAIN_KINDS,
)
from mmcrawl.archive.search.query import MEDIA, Choice, Query, media_bit
from mmcrawl.errors import SearchError

Order = str | Mapping[str, float]
"""``relevance``, ``newest`` (seen last, of those seen until then what appeared last) or ``oldest``;
or the scores of pages by URL, such as page ranks: greater ones first, then pages without."""

ORDERS = ("relevance", "newest", "oldest")

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Runs = tuple[Whole, Whole, Whole, Real]

# Each column of a row takes its time: here four numbers are packed into one, and two into another.
_RUNS = """
{matches} SELECT (run.page << 32) + run.document,
  ({version} << 35) + (run.kind << 31) + (run.media << 24) + run.first {score}
FROM {source} WHERE {where}
"""
_MATCHES = (
    "WITH match AS MATERIALIZED (SELECT rowid AS document, -bm25(word, 1, 0) AS score"
    " FROM word WHERE word MATCH :match)"
)
_OF_MATCHES = "match CROSS JOIN run ON run.document = match.document"
_OF_PAGES = "json_each(:pages) AS some CROSS JOIN run INDEXED BY run_page ON run.page = some.value"
_WITH_MEDIA = "run INDEXED BY run_media"
_LAST = "SELECT max(place) FROM version WHERE version.page = run.page AND time < :end"
_OF_VERSION = "(SELECT {} FROM version WHERE version.page = run.page AND place = run.{})"
_LANGUAGE = (
    "(SELECT substr(replace(text, '_', '-') || '-', 1, length(?) + 1) FROM version"
    " JOIN name ON name.id = language WHERE version.page = run.page AND place = run.first)"
    " = ? || '-'"
)
_SITE = "substr('.' || host, -length(?) - 1) = '.' || ?"
_URL = "(substr(url, 1, length(?)) = ? OR substr(url, instr(url, '://') + 3, length(?)) = ?)"
_HOSTS = "SELECT host, count(*) FROM json_each(?) CROSS JOIN page ON page.id = value GROUP BY host"
_BY_URL = "SELECT page.id FROM json_each(?) CROSS JOIN page ON page.id = value ORDER BY url LIMIT ?"
_SHARE = 4  # of less than one page in so many the runs are looked up
_WEIGHTS = np.array([KIND_WEIGHTS.get(kind, 1.0) for kind in KIND_NAMES])
_IS_MAIN = np.isin(KIND_NAMES, MAIN_KINDS)
_IS_BESIDE = np.isin(KIND_NAMES, BESIDE_KINDS)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many pages have a block that matches, the greatest number first.

    A page may count several times: for each kind of its blocks, and for each kind of media.
    """

    kinds: Mapping[str, int]
    media: Mapping[str, int]
    hosts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Found:
    """Blocks that match, in columns by page; a block is there once for each page that it is on."""

    page: Whole
    document: Whole
    version: Whole  # place of the last version with the block, within the time asked for
    first: Whole  # and of the first
    kind: Whole  # in that last version, as is `media`
    media: Whole
    score: Real
    keys: tuple[Real, ...]  # that blocks are sorted by, the smallest first
    total: int  # pages, without those that were collapsed into others
    beside: int  # further ones, which have the words in menus only
    pages: Sequence[int]  # the first of them, in order
    counts: Counts  # of all pages

    def blocks_of(self, page: int) -> Whole:
        """Return the rows of the blocks of a page, the best first."""
        rows = np.arange(*np.searchsorted(self.page, (page, page + 1)))
        return rows[np.lexsort([key[rows] for key in reversed(self.keys)])]


def find(
    db: sqlite3.Connection,
    runs: Runs,
    query: Query,
    order: Order,
    groups: Mapping[str, object] | None = None,
    *,
    most: int,
    everywhere: bool = False,
) -> Found:
    """Return the pages of the blocks that match, in order.

    Of pages that are in one group, by URL, only the first is kept. `most` pages will be looked at;
    behind these, equally good ones are in any order. Menus count like the rest if `everywhere`.
    `runs` is what `runs_of` returns.

    Raises:
        SearchError: there is no such order.
    """
    if isinstance(order, str) and order not in ORDERS:
        raise SearchError(f"there is no order {order!r}; use {', '.join(ORDERS)}")
    where, latest, first, score = runs
    pages_of_all = _distinct(where >> 32)
    told = ~_IS_BESIDE[latest >> 31 & 15]
    if query.words and not query.kind and not everywhere and told.any():
        where, latest, first, score = (column[told] for column in (where, latest, first, score))
    page, version = where >> 32, latest >> 35
    kind, media = latest >> 31 & 15, latest >> 24 & 127
    score = score * _WEIGHTS[kind]
    if order == "relevance":
        keys: tuple[Real, ...] = (1.0 - _IS_MAIN[kind], -score)
    elif isinstance(order, str):
        last, early = _times(db, page, version, first)
        keys = (-last, -early, -score) if order == "newest" else (early, last, -score)
    else:
        keys = (-_given(db, order, page), -score)
    starts = np.flatnonzero(np.diff(page, prepend=-1))
    total, beside = len(starts), pages_of_all - len(starts)
    pages = _ordered(db, page, starts, keys, most if groups is None else total)
    if groups is not None:
        pages = _collapsed(pages, urls_of(db, pages), groups)
        total, pages = len(pages), pages[:most]
    counts = _counts(db, page, starts, kind, media)
    document = where & 0xFFFFFFFF
    return Found(
        page, document, version, first, kind, media, score, keys, total, beside, pages, counts
    )


def runs_of(db: sqlite3.Connection, query: Query) -> Runs:
    """Return page and document, the latest run and the first version of each, and the score.

    The latest run of a block on a page says of what kind it is there, and which media it has.
    """
    terms = (*query.words, *query.topics)
    given: dict[str, Any] = {"match": " AND ".join(term.expression for term in terms)}
    are_few = _choose_pages(db, query, given)
    if terms:
        source = _OF_MATCHES
    elif query.media.wanted:
        source = _WITH_MEDIA
    elif are_few:
        source = _OF_PAGES
    else:
        source = "run"
    statement = _RUNS.format(
        matches=_MATCHES if terms else "",
        score=", match.score" if query.words else "",
        version="run.last" if query.end is None else f"min(run.last, ({_LAST}))",
        where=" AND ".join(_conditions(query, given)) or "1",
        source=source,
    )
    row = [("where", "i8"), ("run", "i8"), *([("score", "f8")] if query.words else [])]
    runs = np.fromiter(db.execute(statement, given), np.dtype(row))
    runs = runs[np.argsort(runs["where"], kind="stable")]
    starts = np.flatnonzero(np.diff(runs["where"], prepend=-1))
    where, run = runs["where"][starts], runs["run"]
    latest = np.maximum.reduceat(run, starts) if len(run) else run
    first = np.minimum.reduceat(run & 0xFFFFFF, starts) if len(run) else run
    score = runs["score"][starts] if query.words else np.ones(len(where))
    return where, latest, first, score


def _choose_pages(db: sqlite3.Connection, query: Query, given: dict[str, Any]) -> bool:
    """Put the pages that a site or URL leaves into `given`; return whether they are few."""
    where = (query.site, _SITE), (query.url, _URL)
    found = (_admitted(choice, given, _alike(choice, condition)) for choice, condition in where)
    conditions = " AND ".join(chain.from_iterable(found))
    if not conditions:
        return False
    rows = db.execute(f"SELECT id FROM page WHERE {conditions}", given)  # noqa: S608
    pages = [page for (page,) in rows]
    given["pages"] = json.dumps(pages)
    (count,) = db.execute("SELECT count(*) FROM page").fetchone()
    return len(pages) * _SHARE <= int(count)


def _conditions(query: Query, given: dict[str, Any]) -> Iterator[str]:
    """Yield what is wanted of runs; the values that it names are put into `given`."""
    if query.without:
        given["without"] = " OR ".join(term.expression for term in query.without)
        yield "run.document NOT IN (SELECT rowid FROM word WHERE word MATCH :without)"
    if query.start is not None:
        given["start"] = query.start
        yield f"{_OF_VERSION.format('until', 'last')} >= :start"
    if query.end is not None:
        given["end"] = query.end
        yield f"{_OF_VERSION.format('time', 'first')} < :end"
    bits = {name: f"run.media & {media_bit(name)}" for name in MEDIA}
    kinds = {name: f"run.kind = {number}" for name, number in KIND_NUMBERS.items()}
    if query.media.wanted:
        yield "run.media > 0"  # what the index of these is of
    yield from _admitted(query.media, given, bits)
    yield from _admitted(query.kind, given, kinds)
    yield from _admitted(query.lang, given, _alike(query.lang, _LANGUAGE))
    if "pages" in given:  # with +, not one look-up for each of them
        yield "+run.page IN (SELECT value FROM json_each(:pages))"


def _alike(choice: Choice, condition: str) -> dict[str, str]:
    return dict.fromkeys((*choice.wanted, *choice.unwanted), condition)


def _admitted(
    choice: Choice, given: dict[str, Any], conditions: Mapping[str, str]
) -> Iterator[str]:
    for values, sign in ((choice.wanted, ""), (choice.unwanted, "NOT ")):
        parts = []
        for value in values:
            given[f"value{len(given)}"] = value
            parts.append(conditions[value].replace("?", f":value{len(given) - 1}"))
        if parts:
            yield f"{sign}({' OR '.join(parts)})"


# ---------------------------------------------------------------- order


def urls_of(db: sqlite3.Connection, pages: Sequence[int]) -> dict[int, str]:
    """Return the URLs of pages."""
    query = "SELECT page.id, url FROM json_each(?) CROSS JOIN page ON page.id = value"
    return dict(db.execute(query, (json.dumps(pages),)).fetchall())


def _given(db: sqlite3.Connection, scores: Mapping[str, float], page: Whole) -> Real:
    """Return the score that was given to the page of each block."""
    ids, places = np.unique(page, return_inverse=True)
    urls = urls_of(db, ids.tolist())
    given = [scores.get(urls[one], -np.inf) for one in ids.tolist()]
    return np.array(given, dtype=np.float64)[places]


def _times(db: sqlite3.Connection, page: Whole, *places: Whole) -> list[Real]:
    """Return the times of versions of pages."""
    wanted, where = np.unique([page << 32 | place for place in places], return_inverse=True)
    query = (
        "SELECT time FROM json_each(?) AS some CROSS JOIN version"
        " ON version.page = some.value >> 32 AND place = some.value & 0xFFFFFFFF"
    )
    rows = db.execute(query, (json.dumps(wanted.tolist()),))
    times = np.fromiter((time for (time,) in rows), np.float64, len(wanted))
    return list(times[where.reshape(len(places), -1)])


def _ordered(
    db: sqlite3.Connection, page: Whole, starts: Whole, keys: Sequence[Real], most: int
) -> list[int]:
    """Return the first pages by their best blocks; what the keys leave open goes by URL."""
    best = np.lexsort((*keys[::-1], page))[starts]
    best = best[np.lexsort([key[best] for key in keys[::-1]])]
    ranked = [key[best] for key in keys]
    differ = np.any([key[1:] != key[:-1] for key in ranked], axis=0)
    pages: list[int] = []
    for start, end in pairwise((0, *(np.flatnonzero(differ) + 1).tolist(), len(best))):
        if start >= most:
            break
        alike = page[best[start:end]].tolist()
        if len(alike) > 1:
            given = (json.dumps(alike), most - start)
            alike = [one for (one,) in db.execute(_BY_URL, given)]
        pages += alike
    return pages


def _collapsed(
    pages: Sequence[int], urls: Mapping[int, str], groups: Mapping[str, object]
) -> list[int]:
    known: set[object] = set()
    kept = []
    for page in pages:
        if (group := groups.get(urls[page])) is None or group not in known:
            kept.append(page)
        known.add(group)
    return kept


def _counts(
    db: sqlite3.Connection, page: Whole, starts: Whole, kind: Whole, media: Whole
) -> Counts:
    kinds = {KIND_NAMES[one]: _distinct(page[kind == one]) for one in range(len(KIND_NAMES))}
    shown = {name: _distinct(page[media & media_bit(name) > 0]) for name in MEDIA}
    hosts = db.execute(_HOSTS, (json.dumps(page[starts].tolist()),)).fetchall()
    return Counts(_greatest_first(kinds), _greatest_first(shown), _greatest_first(dict(hosts)))


def _distinct(ordered: Whole) -> int:
    """Return how many different numbers there are among ordered ones."""
    return int(np.count_nonzero(np.diff(ordered, prepend=-1)))


def _greatest_first(counted: Mapping[str, int]) -> dict[str, int]:
    there = [(name, count) for name, count in counted.items() if count]
    return dict(sorted(there, key=lambda item: (-item[1], item[0])))
