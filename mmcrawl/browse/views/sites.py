"""Home, the sites, and the pages of one of them."""

from dataclasses import dataclass
from itertools import islice

from starlette.responses import Response

from mmcrawl.archive.model import HostStats
from mmcrawl.archive.uris import shown
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context
from mmcrawl.browse.rendering import page

_NO_HOST = "-"
"""Stands in addresses for the site of URLs without a host."""
_LARGEST = 10  # sites on the first page
_MOST_SKIPPED = 100_000  # URLs of a site that a page of the list may be away


@dataclass(frozen=True, slots=True)
class _Row:
    """A page of a site, with its versions and visits."""

    url: str
    versions: int
    visits: int
    first: float
    last: float


@dataclass(frozen=True, slots=True)
class SiteViews:
    """What is in the archive."""

    context: Context

    def home(self, arguments: Arguments) -> Response:
        """Show what there is."""
        archive, overview = self.context.archive, self.context.surveyor.latest
        return page(
            arguments,
            "home",
            archive=shown(self.context.uri),
            counts=archive.counts(),
            sites=len(archive.hosts()),
            overview=overview,
            media=overview.media if overview else {},
            hosts=self._hosts()[:_LARGEST],
        )

    def sites(self, arguments: Arguments) -> Response:
        """Show all sites."""
        per_page = self.context.limits.per_page
        names = self.context.archive.hosts()
        known = dict(self._hosts())
        number, last = arguments.list_page(len(names), per_page)
        some = names[per_page * (number - 1) : per_page * number]
        return page(
            arguments,
            "sites",
            hosts=[(name, known.get(name)) for name in some],
            total=len(names),
            number=number,
            last=last,
        )

    def site(self, arguments: Arguments) -> Response:
        """Show the pages of a site."""
        host = arguments.text("host", longest=300).lower()
        prefix = arguments.text("prefix", longest=self.context.limits.longest_url)
        if not host:
            raise Problem(400, "missing", name="host")
        known = "" if host == _NO_HOST else host
        number, per_page = arguments.whole("p", 1), self.context.limits.per_page
        skipped = per_page * (number - 1)
        if skipped > _MOST_SKIPPED:
            raise Problem(404, "far", last=1 + _MOST_SKIPPED // per_page)
        listed = self.context.archive.urls(known, prefix or None)
        urls = list(islice(listed, skipped, skipped + per_page + 1))
        if not urls and not prefix:
            raise Problem(404, "host" if number == 1 else "further", host=host)
        return page(
            arguments,
            "site",
            host=host,
            prefix=prefix,
            rows=[self._row(url) for url in urls[:per_page]],
            more=len(urls) > per_page,
            number=number,
            facts=dict(self._hosts()).get(known),
        )

    def _row(self, url: str) -> _Row:
        visits = self.context.archive.visits(url)
        if not visits:  # purged since
            return _Row(url, 0, 0, 0.0, 0.0)
        versions = sum(visit.changed for visit in visits)
        return _Row(url, versions, len(visits), visits[0].time, visits[-1].time)

    def _hosts(self) -> list[tuple[str, HostStats]]:
        """Return the sites as counted last, those with most versions first."""
        overview = self.context.surveyor.latest
        hosts = overview.hosts if overview else {}
        return sorted(hosts.items(), key=lambda item: (-item[1].versions, item[0]))
