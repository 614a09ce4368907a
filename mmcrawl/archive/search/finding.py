"""From a query to the pages that are shown, in SQL.

A block's score is that of BM25 as FTS5 computes it over its text and, at half, its pinyin, times
the weight of its kind (:data:`~mmcrawl.archive.search.index.KIND_WEIGHTS`)::

    score(q, d) = w(kind) · Σ_t idf(t) · f · (k₁ + 1) / (f + k₁ · (1 - b + b · |d| / avg))
    idf(t) = max(ln((N - n(t) + 0.5) / (n(t) + 0.5)), 10⁻⁶),  k₁ = 1.2,  b = 0.75

with f how often term t occurs in block d, \\|d\\| the tokens of d and avg their mean, N all blocks
and n(t) those with t. Without words, all blocks score 1.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mmcrawl.archive.search.index import KIND_NUMBERS
from mmcrawl.archive.search.query import MEDIA, Choice, Query, media_bit
from mmcrawl.errors import SearchError

Order = str | Mapping[str, float]
"""``relevance``, ``newest`` (seen last, of those seen until then what appeared last) or ``oldest``;
or the scores of pages by URL, such as page ranks: greater ones first, then pages without."""

_ORDERS = {
    "relevance": "score DESC",
    "newest": "time DESC, first_time DESC, score DESC",
    "oldest": "first_time, time, score DESC",
}
ORDERS = tuple(_ORDERS)
_GIVEN = "given(url) DESC, score DESC"

# The latest run of a block on a page says of what kind it is there, and which media it has.
_FOUND = """
{matches} INSERT INTO found
SELECT page, document, latest >> 4 & 15 AS kind, latest & 15, latest >> 8, first, score * weight
FROM (
  SELECT run.page, run.document, min(run.first) AS first, {score} AS score,
    max(({version} << 8) + (run.kind << 4) + run.media) AS latest
  FROM {source} WHERE {where} GROUP BY run.page, run.document
) JOIN kind ON kind.id = latest >> 4 & 15
"""
_MATCHES = (
    "WITH match AS MATERIALIZED (SELECT rowid AS document, -bm25(word, 1, 0.5, 0) AS score"
    " FROM word WHERE word MATCH :match)"
)
_LAST = "SELECT max(place) FROM version WHERE version.page = run.page AND time < :end"
_OF_VERSION = "(SELECT {} FROM version WHERE version.page = run.page AND place = run.{})"
_LANGUAGE = (
    "(SELECT substr(replace(text, '_', '-') || '-', 1, length(?) + 1) FROM version"
    " JOIN name ON name.id = language WHERE version.page = run.page AND place = run.first)"
    " = ? || '-'"
)
_SITE = "run.page IN (SELECT id FROM page WHERE substr('.' || host, -length(?) - 1) = '.' || ?)"
_URL = (
    "run.page IN (SELECT id FROM page WHERE substr(url, 1, length(?)) = ?"
    " OR substr(url, instr(url, '://') + 3, length(?)) = ?)"
)
_TIMED = """
SELECT found.*, url, last.time, early.time AS first_time
FROM found JOIN page ON page.id = found.page
JOIN version AS last ON last.page = found.page AND last.place = found.version
JOIN version AS early ON early.page = found.page AND early.place = found.first
"""
_BEST = """
INSERT INTO best (page) SELECT page FROM (
  SELECT *, row_number() OVER (PARTITION BY page ORDER BY {keys}) AS place FROM ({matches})
) WHERE place = 1 ORDER BY {keys}, url
"""
_BEST_SCORE = """
INSERT INTO best (page) SELECT page
FROM (SELECT page, max(score) AS score FROM found GROUP BY page) JOIN page ON page.id = page
ORDER BY score DESC, url
"""
_KINDS = "SELECT DISTINCT page, name FROM found JOIN kind ON kind.id = kind"
_HOSTS = "SELECT DISTINCT page, host AS name FROM found JOIN page ON page.id = page"
_MEDIA = " UNION ".join(
    f"SELECT page, '{name}' AS name FROM found WHERE media & {media_bit(name)}"  # noqa: S608
    for name in MEDIA
)


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


def find(
    db: sqlite3.Connection, query: Query, order: Order, groups: Mapping[str, object] | None = None
) -> None:
    """Put the blocks that match into the table ``found``, and their pages into ``best``, in order.

    Of pages that are in one of the `groups`, by URL, only the first is put there.

    Raises:
        SearchError: there is no such order.
    """
    keys = keys_of(db, order)
    db.execute("DELETE FROM found")
    db.execute("DELETE FROM best")
    terms = (*query.words, *query.topics)
    given = {"match": " AND ".join(term.expression for term in terms)}
    statement = _FOUND.format(
        matches=_MATCHES if terms else "",
        source="match CROSS JOIN run ON run.document = match.document" if terms else "run",
        score="match.score" if query.words else "1.0",
        version="run.last" if query.end is None else f"min(run.last, ({_LAST}))",
        where=" AND ".join(_conditions(query, given)) or "1",
    )
    db.execute(statement, given)
    # A page is as good as its best block; what an order leaves open goes by URL.
    db.execute(_BEST_SCORE if order == "relevance" else _BEST.format(keys=keys, matches=_TIMED))
    if groups is not None:
        _collapse(db, groups)


def _collapse(db: sqlite3.Connection, groups: Mapping[str, object]) -> None:
    known: set[object] = set()
    for rank, url in db.execute(
        "SELECT rank, url FROM best JOIN page ON page.id = page ORDER BY rank"
    ).fetchall():
        group = groups.get(url)
        if group is not None and group in known:
            db.execute("DELETE FROM best WHERE rank = ?", (rank,))
        known.add(group)


def keys_of(db: sqlite3.Connection, order: Order) -> str:
    """Return what the rows of :func:`matches_of` are sorted by."""
    if not isinstance(order, str):
        db.create_function("given", 1, order.get, deterministic=True)
        return _GIVEN
    if order not in _ORDERS:
        raise SearchError(f"there is no order {order!r}; use {', '.join(ORDERS)}")
    return _ORDERS[order]


def matches_of(order: Order) -> str:
    """Return the rows of ``found`` with what an order sorts them by."""
    return "SELECT * FROM found" if order == "relevance" else _TIMED


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
    yield from _admitted(query.media, given, bits)
    yield from _admitted(query.kind, given, kinds)
    for choice, condition in ((query.lang, _LANGUAGE), (query.site, _SITE), (query.url, _URL)):
        yield from _admitted(
            choice, given, dict.fromkeys((*choice.wanted, *choice.unwanted), condition)
        )


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


def counts(db: sqlite3.Connection) -> Counts:
    """Count the pages of all that was found."""
    return Counts(*(_counted(db, pages) for pages in (_KINDS, _MEDIA, _HOSTS)))


def _counted(db: sqlite3.Connection, pages: str) -> dict[str, int]:
    count = f"SELECT name, count(*) AS pages FROM ({pages}) GROUP BY name"  # noqa: S608
    return dict(db.execute(f"{count} ORDER BY pages DESC, name"))
