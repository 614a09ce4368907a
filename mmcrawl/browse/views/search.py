"""Search: pages whose blocks match, works by their titles before them, as a page, CSV and JSON."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse, Response

from mmcrawl.archive.search.finding import ORDERS
from mmcrawl.archive.search.hits import Hit
from mmcrawl.archive.search.query import MEDIA, as_filter
from mmcrawl.archive.search.searching import Results
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.browse.arguments import Arguments
from mmcrawl.browse.context import Context
from mmcrawl.browse.lists import facets_of, table, wants_table
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import when
from mmcrawl.errors import SearchError
from mmcrawl.text.writing import as_called
from mmcrawl.works.index import Asked, Entry

_HITS_PER_PAGE = 20
_MOST_HIT_PAGES = 500
_SECOND = "%Y-%m-%dT%H:%M:%SZ"
_MOST_ROWS = 1_000  # of a table, whose titles are read from the archive one by one
_MOST_TITLED = 6  # works that are shown before the pages
_FILTERS = ("topic", "kind", "media", "site", "from", "to")
_ALL = "all"
"""Asks for every page: those that say nearly the same as one before, those with words in menus."""

_COLUMNS: dict[str, Callable[[tuple[Hit, str]], object]] = {
    "work.title": lambda row: row[1],
    "media.address": lambda row: row[0].url,
    "what": lambda row: row[0].snippet.text,
    "media.kind": lambda row: row[0].media,
    "first": lambda row: when(row[0].first_time),
    "last": lambda row: when(row[0].time),
}


def search_page(context: Context, arguments: Arguments) -> Response:
    form, number = _form(context, arguments), arguments.whole("p", 1)
    orders = (*ORDERS, "rank") if context.ranks() else ORDERS
    given = {name: value for name, value in form.items() if value}
    shown: dict[str, Any] = {
        "form": form,
        "given": given,
        "orders": orders,
        "wrong": "",
        "results": None,
        "indexing": context.surveyor.indexing,  # before the search: it may end meanwhile
    }
    query = _query(form)
    if not query:
        return page(arguments, "search", **shown)
    rows = range(_MOST_ROWS) if wants_table(arguments) else _rows(number)
    try:
        results = _found(context, query, form, rows)
    except SearchError as error:
        shown["wrong"] = arguments.said(error)
        return page(arguments, "search", status=400, **shown)
    if wants_table(arguments):
        titled = [(hit, context.title(hit.url, hit.version)) for hit in results.hits]
        return table(arguments, "search", _COLUMNS, titled)
    most = min(results.total, _MOST_HIT_PAGES * _HITS_PER_PAGE)
    part = arguments.list_page(most, _HITS_PER_PAGE)
    counts = results.counts
    facets = {"media": counts.media, "site": counts.hosts, "kind": counts.kinds}
    shown |= {
        "results": results,
        "groups": _grouped(results.hits),
        "title_of": context.title,
        "works_at": context.catalogue.works_at(hit.url for hit in results.hits),
        "collapses": bool(context.alike()),
        "works": _works(context, form, part.number),
        "facets": facets_of(facets, given),
        "part": part,
    }
    return page(arguments, "search", **shown)


def search_json(context: Context, arguments: Arguments) -> Response:
    form, number = _form(context, arguments), arguments.whole("p", 1, most=_MOST_HIT_PAGES)
    query, indexing = _query(form), context.surveyor.indexing
    try:
        results = _found(context, query, form, _rows(number))
    except SearchError as error:
        return JSONResponse({"error": str(error)}, 400)
    return JSONResponse(
        {
            "query": query,
            "order": form["order"] or "relevance",
            "total": results.total,
            "page": number,
            "per_page": _HITS_PER_PAGE,
            "indexing": dict(zip(("done", "of"), indexing, strict=True)) if indexing else None,
            "counts": asdict(results.counts),
            "hits": [asdict(hit) | {"date": when(hit.time, _SECOND)} for hit in results.hits],
        }
    )


def _form(context: Context, arguments: Arguments) -> dict[str, str]:
    return {
        "q": arguments.text("q"),
        "topic": arguments.text("topic", longest=200),
        "kind": arguments.choice("kind", KINDS),
        "media": arguments.choice("media", MEDIA),
        "site": arguments.text("site", longest=300),
        "from": arguments.text("from", longest=100),
        "to": arguments.text("to", longest=100),
        "order": arguments.choice("order", (*ORDERS, "rank")),
        "alike": arguments.choice("alike", (_ALL,)),
    }


def _found(context: Context, query: str, form: dict[str, str], rows: range) -> Results:
    order = form["order"]
    by_rank = context.ranks() if order == "rank" else None
    if order == "rank" and not by_rank:
        message = as_called("there are no ranks yet; `scrapy rank` computes them")
        raise SearchError(message, "ranks")
    return context.search.search(
        query,
        order=by_rank or order or "relevance",
        collapse=None if form["alike"] == _ALL else context.alike() or None,
        limit=len(rows),
        offset=rows.start,
        everywhere=form["alike"] == _ALL,
    )


def _works(context: Context, form: dict[str, str], number: int) -> tuple[int, Sequence[Entry]]:
    """Return how many works have all words in their titles, and the first of them."""
    is_plain = number == 1 and form["q"] and not (set(':"“”„') & set(form["q"]))
    if not is_plain or not context.catalogue.is_there:
        return 0, ()
    catalogue, asked = context.catalogue, Asked(form["q"])
    return catalogue.counts(asked)[0], catalogue.entries(asked, most=_MOST_TITLED)


def _grouped(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Put hits on pages whose block is the same byte for byte together."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.digest, []).append(hit)
    return list(groups.values())


def _query(form: dict[str, str]) -> str:
    filters = [as_filter(name, form[name]) for name in _FILTERS if form[name]]
    return " ".join([form["q"], *filters]).strip()


def _rows(number: int) -> range:
    return range(_HITS_PER_PAGE * (number - 1), _HITS_PER_PAGE * number)
