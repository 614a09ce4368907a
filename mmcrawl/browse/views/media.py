"""The media that pages show or link to: a gallery, and one of them with a player on demand."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from mmcrawl.archive.search.finding import ORDERS
from mmcrawl.archive.search.hits import Hit, read_hit
from mmcrawl.archive.search.query import MEDIA, as_filter
from mmcrawl.archive.search.searching import Results
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.lists import MOST_ROWS, facets_of, table, wants_table
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import live_address, when
from mmcrawl.errors import SearchError, StoreError
from mmcrawl.media.parts import has_pictures
from mmcrawl.page.model import MediaResource
from mmcrawl.page.parse import parse_page
from mmcrawl.text.writing import as_called
from mmcrawl.works.index import Asked, Entry

_PER_PAGE = 12  # blocks with media
_MOST_PAGES = 1_000
_MOST_OF_BLOCK = 12
_FLASH = (".swf", ".spl")
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*\.?")


@dataclass(frozen=True, slots=True)
class _Item:
    """A resource, in a block of a page, and the work that it is a file of, if it is known."""

    resource: MediaResource
    hit: Hit
    work: Entry | None


@dataclass(frozen=True, slots=True)
class MediaViews:
    context: Context

    def gallery(self, arguments: Arguments) -> Response:
        """Show the media of blocks, those seen last first."""
        kind, number = arguments.choice("kind", MEDIA), arguments.whole("p", 1)
        topic, site = arguments.text("topic", longest=200), arguments.text("site", longest=300)
        filters = [as_filter("media", one) for one in ([kind] if kind else MEDIA)]
        filters += [as_filter("topic", topic)] if topic else []
        filters += [as_filter("site", site)] if site else []
        wrong, items, total = "", [], 0
        try:
            results = self.context.found(
                " ".join(filters),
                order="newest",
                limit=_PER_PAGE,
                offset=_PER_PAGE * (number - 1),
            )
            items, total = list(self._items(results.hits, kind)), results.total
        except SearchError as error:
            wrong = arguments.said(error)
        number, last = arguments.list_page(min(total, _MOST_PAGES * _PER_PAGE), _PER_PAGE)
        return page(
            arguments,
            "media",
            status=400 if wrong else 200,
            wrong=wrong,
            items=items,
            pictures=has_pictures(),
            total=total,
            kind=kind,
            topic=topic,
            site=site,
            number=number,
            last=last,
        )

    def item(self, arguments: Arguments) -> Response:
        """Show one of the media of a version; its player only if that is asked for."""
        url, archive = arguments.url(), self.context.archive
        version = self.context.version(arguments, self.context.visits(url))
        found = parse_page(archive.rebuild(version).body, version.url, version.content_type).media
        wanted = arguments.url("m")
        resource = next((one for one in found if one.url == wanted), None)
        if resource is None:
            raise Problem(404, "medium", url=url, media=wanted)
        address = live_address(resource.url)
        player = _player(resource, self.context.options.ruffle is not None) if address else ""
        play = bool(arguments.choice("play", ("1",))) and bool(player)
        return page(
            arguments,
            "media_item",
            headers={"Content-Security-Policy": _policy(arguments, address, player)}
            if play
            else None,
            resource=resource,
            version=version,
            address=address,
            player=player,
            play=play,
            needs_ruffle=resource.kind == "animation" and not player and _is_flash(resource),
            archived=bool(archive.visits(resource.url)),
        )

    def _items(self, hits: tuple[Hit, ...], kind: str) -> Iterator[_Item]:
        shown = set()
        for hit in hits:
            for resource in _media_of(self.context, hit):
                if (not kind or resource.kind == kind) and resource.url not in shown:
                    shown.add(resource.url)
                    works = self.context.catalogue.works_at(resource.url)
                    yield _Item(resource, hit, works[0] if works else None)


@lru_cache(maxsize=4_096)
def _media_of(context: Context, hit: Hit) -> tuple[MediaResource, ...]:
    """Return the media of a hit: of its block if the blocks are kept, else of its page.

    To cut a gallery of pages into blocks takes longer than a reader waits.
    """
    archive = context.archive
    try:
        stored = archive.page(archive.version(hit.url, hit.version))
        if stored.kept is not None:
            return read_hit(stored, hit).media[:_MOST_OF_BLOCK]
    except StoreError:  # purged since, or its segment is damaged: the page itself tells
        return ()
    version = stored.version
    found = parse_page(stored.body, version.url, version.content_type).media
    return tuple(one for one in found if one.kind in hit.media)[:_MOST_OF_BLOCK]


def _is_flash(resource: MediaResource) -> bool:
    try:
        return urlsplit(resource.url).path.lower().endswith(_FLASH)
    except ValueError:
        return False


def _player(resource: MediaResource, has_ruffle: bool) -> str:
    """Return what plays a resource: ``audio``, ``video``, ``ruffle``, or "" for nothing."""
    if not _origin(resource.url):
        return ""
    if resource.kind in ("audio", "video") and resource.tag != "iframe":
        return resource.kind
    return "ruffle" if has_ruffle and _is_flash(resource) else ""


def _origin(url: str) -> str:
    """Return the origin of an address as a policy names it; "" if it cannot be named there."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:
        return ""
    named = parts.scheme in ("http", "https") and _HOST.fullmatch(host)
    return f"{parts.scheme}://{host}{port}" if named else ""


def _policy(arguments: Arguments, address: str, player: str) -> str:
    """Return the policy of a page with a player: it may ask the host of the file, nothing else."""
    own = str(arguments.request.base_url).rstrip("/")
    policy = (
        f"default-src 'none'; style-src {own}/static/; img-src {own}/static/; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    )
    if player == "ruffle":
        return (
            f"{policy}; script-src {own}/ruffle/ 'wasm-unsafe-eval'; connect-src {own}/ruffle/"
            f" {_origin(address)}; style-src-elem {own}/static/ 'unsafe-inline'"
        )
    return f"{policy}; media-src {_origin(address)}"


_HITS_PER_PAGE = 20
_MOST_HIT_PAGES = 500
_MOST_WORKS = 3  # of a page that are shown
_MOST_TITLED = 6  # works that are shown before the pages
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


@dataclass(frozen=True, slots=True)
class _Group:
    """A hit, and hits on other pages whose block is the same byte for byte."""

    hit: Hit
    title: str
    works: Sequence[Entry]
    alike: list[Hit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SearchViews:
    context: Context

    def page(self, arguments: Arguments) -> Response:
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
        rows = range(MOST_ROWS) if wants_table(arguments) else _rows(number)
        try:
            results = self._found(query, form, rows)
        except SearchError as error:
            shown["wrong"] = arguments.said(error)
            return page(arguments, "search", status=400, **shown)
        if wants_table(arguments):
            titled = [(hit, self.context.title(hit.url, hit.version)) for hit in results.hits]
            return table(arguments, "search", _COLUMNS, titled)
        most = min(results.total, _MOST_HIT_PAGES * _HITS_PER_PAGE)
        number, last = arguments.list_page(most, _HITS_PER_PAGE)
        shown |= {
            "results": results,
            "groups": self._grouped(results.hits),
            "pictures": has_pictures(),
            "collapses": bool(self.context.alike()),
            "works": self._works(form, number),
            "facets": facets_of(arguments, "/search", given, _counts(results)),
            "first": 1 + _HITS_PER_PAGE * (number - 1),
            "number": number,
            "last": last,
        }
        return page(arguments, "search", **shown)

    def json(self, arguments: Arguments) -> Response:
        form, number = self._form(arguments), arguments.whole("p", 1, most=_MOST_HIT_PAGES)
        query, indexing = _query(form), self.context.surveyor.indexing
        try:
            results = self._found(query, form, _rows(number))
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

    def _found(self, query: str, form: dict[str, str], rows: range) -> Results:
        order = form["order"]
        by_rank = self.context.rank_scores() if order == "rank" else None
        if order == "rank" and not by_rank:
            message = as_called("there are no ranks yet; `scrapy rank` computes them")
            raise SearchError(message, "ranks")
        return self.context.found(
            query,
            order=by_rank or order or "relevance",
            collapse=None if form["alike"] == _ALL else self.context.alike() or None,
            limit=len(rows),
            offset=rows.start,
            everywhere=form["alike"] == _ALL,
        )

    def _works(self, form: dict[str, str], number: int) -> tuple[int, Sequence[Entry]]:
        """Return how many works have all words in their titles, and the first of them."""
        is_plain = number == 1 and form["q"] and not (set(':"“”„') & set(form["q"]))
        if not is_plain or not self.context.catalogue.is_there:
            return 0, ()
        catalogue, asked = self.context.catalogue, Asked(form["q"])
        return catalogue.counts(asked)[0], catalogue.entries(asked, most=_MOST_TITLED)

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


def _rows(number: int) -> range:
    return range(_HITS_PER_PAGE * (number - 1), _HITS_PER_PAGE * number)


def _counts(results: Results) -> dict[str, Mapping[str, int]]:
    counts = results.counts
    return {"media": counts.media, "site": counts.hosts, "kind": counts.kinds}


def _record(hit: Hit) -> dict[str, Any]:
    record = asdict(hit)
    record["date"] = when(hit.time, "%Y-%m-%dT%H:%M:%SZ")
    return record
