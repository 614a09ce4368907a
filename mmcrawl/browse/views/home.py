"""The first page: what was found, what to do next, and what the archive holds."""

from collections.abc import Iterator
from heapq import nlargest

from starlette.responses import Response

from mmcrawl.browse.arguments import Arguments
from mmcrawl.browse.context import Context
from mmcrawl.browse.lists import facets_of
from mmcrawl.browse.rendering import page
from mmcrawl.browse.runs import CrawlNumbers
from mmcrawl.browse.views.crawls import RUNNING, near_misses
from mmcrawl.browse.views.pages import hosts_of
from mmcrawl.cluster.views.found import FoundMedia
from mmcrawl.store.uris import is_server, shown
from mmcrawl.works.index import Asked, Entry

_NEWEST = 8  # works
_LARGEST = 10  # sites
_CRAWLS = 3  # of which it is said what to do next, those begun last
_DAY = 86_400


def home(context: Context, arguments: Arguments) -> Response:
    archive, overview = context.archive, context.surveyor.latest
    catalogue = context.catalogue
    total, counts = catalogue.counts(Asked()) if catalogue.is_there else (0, {})
    shown_counts = {name: counts[name] for name in ("topic", "kind") if name in counts}
    return page(
        arguments,
        "home",
        newest=_newest(context) if total else [],
        total=total,
        facets=facets_of(shown_counts, {}),
        steps=list(_steps(context, total)),
        archive=shown(context.uri),
        counts=archive.counts(),
        sites=len(overview.stats.hosts if overview else archive.hosts()),
        overview=overview,
        hosts=hosts_of(context)[:_LARGEST],
    )


def _newest(context: Context) -> list[Entry]:
    """Return the newest works; of a day, those with a picture come first."""
    index, films = context.catalogue.index()[1], Asked(facets=(("is_film", "1"),))
    newest = (index.entries(asked, _NEWEST, order="changed_at DESC") for asked in (Asked(), films))
    found = {entry.id: entry for entries in newest for entry in entries}
    return nlargest(
        _NEWEST,
        found.values(),
        key=lambda one: (one.changed_at // _DAY, one.is_film, one.changed_at),
    )


def _steps(context: Context, works: int) -> Iterator[tuple[str, int, CrawlNumbers | None]]:
    """Yield what to do next, the most urgent first: its sentence, a count, the crawl it is of."""
    catalogue = context.catalogue
    if not catalogue.can_keep:
        return
    crawls = context.watch.crawls()
    for crawl in crawls[:_CRAWLS]:
        if crawl.state in RUNNING:
            yield "running", crawl.pages, crawl
            continue
        if crawl.reason == "max_pages" and crawl.waiting:
            yield "go-on", crawl.waiting, crawl
        store = context.options.store
        if not is_server(store):  # which has no near misses
            near, _ = near_misses(context, FoundMedia(store, crawl.name))
            if near:
                yield "near", len(near), crawl
    if not crawls:
        yield "start", 0, None
    elif not works:
        yield "describe", 0, None
    else:
        yield "export" if catalogue.collections() else "collect", 0, None
