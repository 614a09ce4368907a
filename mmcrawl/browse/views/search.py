"""Searching: a page, and the same as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from starlette.responses import JSONResponse, Response

from mmcrawl.archive.search.finding import ORDERS
from mmcrawl.archive.search.hits import Hit
from mmcrawl.archive.search.query import MEDIA, as_filter
from mmcrawl.archive.search.searching import Results
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.browse.arguments import Arguments
from mmcrawl.browse.catalogue import Entry
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import address, when
from mmcrawl.collecting.pictures import has_pictures
from mmcrawl.errors import SearchError
from mmcrawl.terminal.program import as_called

_PER_PAGE = 20
_MOST_PAGES = 500
_MOST_FACETS = 5
_MOST_WORKS = 3  # of a page that are shown
_ALL = "all"
"""Asks for every page, also those that say nearly the same as one before."""


@dataclass(frozen=True, slots=True)
class _Group:
    """A hit, and hits on other pages whose block is the same byte for byte.

    Attributes:
        hit, alike: These.
        title: Of the page, "" for none.
        works: That it shows, some of them.
    """

    hit: Hit
    title: str
    works: Sequence[Entry]
    alike: list[Hit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SearchViews:
    """The search page and its JSON."""

    context: Context

    def page(self, arguments: Arguments) -> Response:
        """Show the form, and what was found."""
        form, number = self._form(arguments), arguments.whole("p", 1)
        orders = (*ORDERS, "rank") if self.context.ranks() is not None else ORDERS
        given = {name: value for name, value in form.items() if value}
        shown: dict[str, Any] = {
            "form": form,
            "given": given,
            "orders": orders,
            "narrowed": bool(given.keys() - {"q", "alike"}),
            "wrong": "",
            "results": None,
            "indexing": self.context.surveyor.indexing,  # before the search: it may end meanwhile
        }
        query = _query(form)
        if not query:
            return page(arguments, "search", **shown)
        try:
            results = self._found(query, form, number)
        except SearchError as error:
            return page(arguments, "search", status=400, **(shown | {"wrong": str(error)}))
        most = min(results.total, _MOST_PAGES * _PER_PAGE)
        number, last = arguments.list_page(most, _PER_PAGE)
        shown |= {
            "results": results,
            "groups": self._grouped(results.hits),
            "pictures": has_pictures(),
            "collapses": bool(self.context.alike()),
            "facets": _facets(results, arguments, given),
            "first": 1 + _PER_PAGE * (number - 1),
            "number": number,
            "last": last,
        }
        return page(arguments, "search", **shown)

    def json(self, arguments: Arguments) -> Response:
        """Answer with the hits as JSON."""
        form, number = self._form(arguments), arguments.whole("p", 1, most=_MOST_PAGES)
        query, indexing = _query(form), self.context.surveyor.indexing
        try:
            results = self._found(query, form, number)
        except SearchError as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse(
            {
                "query": query,
                "order": form["order"] or "relevance",
                "total": results.total,
                "page": number,
                "per_page": _PER_PAGE,
                "indexing": dict(zip(("done", "of"), indexing, strict=True)) if indexing else None,
                "counts": asdict(results.counts),
                "hits": [_record(hit) for hit in results.hits],
            }
        )

    def _form(self, arguments: Arguments) -> dict[str, str]:
        start, end = arguments.day("from"), arguments.day("to")
        return {
            "q": arguments.text("q"),
            "topic": arguments.text("topic", longest=200),
            "kind": arguments.choice("kind", KINDS),
            "media": arguments.choice("media", MEDIA),
            "site": arguments.text("site", longest=300),
            "from": start.isoformat() if start else "",
            "to": end.isoformat() if end else "",
            "order": arguments.choice("order", (*ORDERS, "rank")),
            "alike": arguments.choice("alike", (_ALL,)),
        }

    def _found(self, query: str, form: dict[str, str], number: int) -> Results:
        order = form["order"]
        by_rank = self.context.rank_scores() if order == "rank" else None
        if order == "rank" and not by_rank:
            raise SearchError(as_called("there are no ranks yet; `scrapy rank` computes them"))
        return self.context.found(
            query,
            order=by_rank or order or "relevance",
            collapse=None if form["alike"] == _ALL else self.context.alike() or None,
            limit=_PER_PAGE,
            offset=_PER_PAGE * (number - 1),
        )

    def _grouped(self, hits: tuple[Hit, ...]) -> list[_Group]:
        """Put hits with the same block together, under the first of them."""
        groups: dict[str, _Group] = {}
        for hit in hits:
            if hit.digest in groups:
                groups[hit.digest].alike.append(hit)
            else:
                works = self.context.catalogue.works_at(hit.url)[:_MOST_WORKS]
                title = self.context.title(hit.url, hit.version)
                groups[hit.digest] = _Group(hit, title, works)
        return list(groups.values())


def _query(form: dict[str, str]) -> str:
    filters = [
        as_filter(name, form[name])
        for name in ("topic", "kind", "media", "site", "from", "to")
        if form[name]
    ]
    return " ".join([form["q"], *filters]).strip()


def _facets(
    results: Results, arguments: Arguments, given: dict[str, str]
) -> list[tuple[str, str, int]]:
    """Return how the search can be narrowed: what to, its address, and how many pages it has."""
    words = arguments.words
    counts = results.counts
    fields = (
        ("kind", "kind.", counts.kinds),
        ("media", "media.", counts.media),
        ("site", "", counts.hosts),
    )
    found = []
    for name, prefix, numbers in fields:
        if name in given or len(numbers) < 2:
            continue
        for value, number in list(numbers.items())[:_MOST_FACETS]:
            label = words.maybe(prefix + (value or "body")) if prefix else value
            lang = words.language if words.chosen else None
            narrowed = given | {name: value}
            found.append((label, address("/search", **narrowed, lang=lang), number))
    return found


def _record(hit: Hit) -> dict[str, Any]:
    record = asdict(hit)
    record["date"] = when(hit.time, "%Y-%m-%dT%H:%M:%SZ")
    return record
