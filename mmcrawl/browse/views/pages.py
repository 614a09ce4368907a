"""The sites, the pages of one of them, and a page through time."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from starlette.responses import RedirectResponse, Response

from mmcrawl.archive.model import HostStats, Visit
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, numbers_of
from mmcrawl.browse.figures import months_of
from mmcrawl.browse.lists import table, wants_table
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import when
from mmcrawl.frontier.urls import host_of
from mmcrawl.works.collections import Marks

_NO_HOST = "-"  # stands in addresses for the site of URLs without a host
_MOST_ROWS = 20_000  # URLs of a site that a table has
_MOST_SKIPPED = 100_000  # URLs of a site that a page of the list may be away

_SITE_COLUMNS: dict[str, Callable[[tuple[str, HostStats | None]], object]] = {
    "site": lambda row: row[0],
    "home.pages": lambda row: row[1] and row[1].urls,
    "home.versions": lambda row: row[1] and row[1].versions,
    "bytes": lambda row: row[1] and row[1].raw_bytes,
}
_Seen = tuple[str, list[Visit]]
_PAGE_COLUMNS: dict[str, Callable[[_Seen], object]] = {
    "page": lambda row: row[0],
    "home.versions": lambda row: sum(visit.changed for visit in row[1]),
    "visits": lambda row: len(row[1]),
    "first": lambda row: when(row[1][0].time),
    "last": lambda row: when(row[1][-1].time),
}


def sites_page(context: Context, arguments: Arguments) -> Response:
    known = dict(hosts_of(context))
    hosts = [(name, known.get(name)) for name in context.archive.hosts()]
    if wants_table(arguments):
        return table(arguments, "sites", _SITE_COLUMNS, hosts)
    part = arguments.list_page(len(hosts), context.limits.per_page)
    return page(arguments, "sites", hosts=part.of(hosts), total=len(hosts), part=part)


def site_page(context: Context, arguments: Arguments) -> Response:
    host = arguments.text("host", longest=300).lower()
    prefix = arguments.text("prefix", longest=context.limits.longest_url)
    if not host:
        raise Problem(400, "missing", name="host")
    known = "" if host == _NO_HOST else host
    number, per_page = arguments.whole("p", 1), context.limits.per_page
    skipped = per_page * (number - 1)
    if skipped > _MOST_SKIPPED:
        raise Problem(404, "far", last=1 + _MOST_SKIPPED // per_page)
    listed = context.archive.urls(known, prefix or None)

    def seen(urls: Iterable[str]) -> Iterator[_Seen]:
        found = ((url, context.archive.visits(url)) for url in urls)
        return (each for each in found if each[1])  # else it was purged since

    if wants_table(arguments):
        rows = seen(islice(listed, _MOST_ROWS))
        return table(arguments, "site", _PAGE_COLUMNS, rows)
    urls = list(islice(listed, skipped, skipped + per_page + 1))
    if not urls and not prefix:
        raise Problem(404, "host" if number == 1 else "further", host=host)
    return page(
        arguments,
        "site",
        host=host,
        prefix=prefix,
        urls=urls,
        rows=seen(urls[:per_page]),
        more=len(urls) > per_page,
        number=number,
        facts=dict(hosts_of(context)).get(known),
    )


def hosts_of(context: Context) -> list[tuple[str, HostStats]]:
    """Return the sites as counted last, those with most versions first."""
    overview = context.surveyor.latest
    hosts = overview.stats.hosts if overview else {}
    return sorted(hosts.items(), key=lambda item: (-item[1].versions, item[0]))


# -- a page through time --------------------------------------------------------------------------


def history_page(context: Context, arguments: Arguments) -> Response:
    url = arguments.url()
    visits = context.visits(url)
    known = next((visit.version for visit in visits if visit.version), None)
    if known is None:
        raise Problem(404, "url", url=url)
    url = context.archive.version(url, known).url  # as it is stored
    month = arguments.text("month", longest=20)
    only_new = bool(arguments.choice("only", ("new",)))
    wanted = [visit for visit in reversed(visits) if visit.changed or not only_new]
    listed = [v for v in wanted if not month or when(v.time, "%Y-%m") == month]
    part = arguments.list_page(len(listed), context.limits.per_page)
    if not listed:
        raise Problem(404, "month", month=month)
    numbers = numbers_of(visits)
    return page(
        arguments,
        "page",
        url=url,
        title=context.title(url, numbers[-1]),
        host=host_of(url) or "",
        visits=visits,
        listed=part.of(listed),
        numbers=numbers,
        month=month,
        only_new=only_new,
        calendar=months_of(visits),
        before=dict(zip(numbers[1:], numbers, strict=False)),
        part=part,
        marks=Marks(context.catalogue).of_page(url),
        topics=context.topics.names() if context.catalogue.can_keep else None,
    )


def find_page(context: Context, arguments: Arguments) -> Response:
    """Lead to the page whose address was typed, with or without the scheme."""
    typed = arguments.url()
    for url in (typed, f"http://{typed}", f"https://{typed}", f"{typed}/"):
        if context.archive.visits(url):
            return RedirectResponse(arguments.to("/page", url=url), 303)
    raise Problem(404, "url", url=typed)
