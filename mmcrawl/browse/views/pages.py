"""The sites, the pages of one of them, and a page through time.

Of a page: its visits and versions, and which of its blocks change how often. A block lives from
version to version: where :meth:`mmcrawl.archive.Archive.diff` says that it was kept, moved, changed
or cut otherwise, it is the same block still."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice, pairwise

from starlette.responses import RedirectResponse, Response

from mmcrawl.archive.comparing.changes import Difference
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.model import HostStats, StoredBlock, Visit
from mmcrawl.browse.arguments import Arguments, Problem
from mmcrawl.browse.context import Context, numbers_of
from mmcrawl.browse.figures import months_of, timeline_of
from mmcrawl.browse.lists import table, wants_table
from mmcrawl.browse.rendering import page
from mmcrawl.browse.text import address, when
from mmcrawl.frontier.urls import host_of

_NO_HOST = "-"
"""Stands in addresses for the site of URLs without a host."""
_MOST_ROWS = 20_000  # URLs of a site that a table has
_MOST_SKIPPED = 100_000  # URLs of a site that a page of the list may be away


@dataclass(frozen=True, slots=True)
class _Row:
    url: str
    versions: int
    visits: int
    first: float
    last: float


_SITE_COLUMNS: dict[str, Callable[[tuple[str, HostStats | None]], object]] = {
    "site": lambda row: row[0],
    "home.pages": lambda row: row[1] and row[1].urls,
    "home.versions": lambda row: row[1] and row[1].versions,
    "bytes": lambda row: row[1] and row[1].raw_bytes,
}
_PAGE_COLUMNS: dict[str, Callable[[_Row], object]] = {
    "page": lambda row: row.url,
    "home.versions": lambda row: row.versions,
    "visits": lambda row: row.visits,
    "first": lambda row: when(row.first),
    "last": lambda row: when(row.last),
}


@dataclass(frozen=True, slots=True)
class SiteViews:
    context: Context

    def sites(self, arguments: Arguments) -> Response:
        per_page = self.context.limits.per_page
        names = self.context.archive.hosts()
        known = dict(hosts_of(self.context))
        if wants_table(arguments):
            rows = [(name, known.get(name)) for name in names]
            return table(arguments, "sites", _SITE_COLUMNS, rows)
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
        if wants_table(arguments):
            rows = map(self._row, islice(listed, _MOST_ROWS))
            return table(arguments, "site", _PAGE_COLUMNS, rows)
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
            facts=dict(hosts_of(self.context)).get(known),
        )

    def _row(self, url: str) -> _Row:
        visits = self.context.archive.visits(url)
        if not visits:  # purged since
            return _Row(url, 0, 0, 0.0, 0.0)
        versions = sum(visit.changed for visit in visits)
        return _Row(url, versions, len(visits), visits[0].time, visits[-1].time)


def hosts_of(context: Context) -> list[tuple[str, HostStats]]:
    """Return the sites as counted last, those with most versions first."""
    overview = context.surveyor.latest
    hosts = overview.hosts if overview else {}
    return sorted(hosts.items(), key=lambda item: (-item[1].versions, item[0]))


# -- a page through time --------------------------------------------------------------------------


_COMPARED = ("6", "12", "24", "48")  # versions, of which is told what changes how often
_MOST_LIVES = 60


@dataclass(slots=True)
class BlockLife:
    """A block over several versions.

    Attributes:
        block: As it was last.
        first, last: Numbers of the first and the last version with it.
        steps: From one version to the next, while it was there.
        changes: Of these, those that changed its bytes.
        pattern: For each step ``kept``, ``moved``, ``changed`` or ``recut``; ``absent`` before it
            appeared and after it went.
    """

    block: StoredBlock
    first: int
    last: int
    steps: int = 0
    changes: int = 0
    pattern: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """How many of the steps changed it, in [0, 1]."""
        return self.changes / self.steps if self.steps else 0.0


def lives_of(differences: Iterable[Difference]) -> list[BlockLife]:
    """Return the blocks of a page, those that changed most often first."""
    lives: list[BlockLife] = []
    now: dict[tuple[int, int], BlockLife] = {}
    for step, told in enumerate(differences):
        later: dict[tuple[int, int], BlockLife] = {}
        for change in told.blocks:
            life = None
            if change.old is not None:
                place = change.old.start, change.old.end
                life = now.get(place)
                if life is not None and len(life.pattern) > step:
                    life = None  # cut into several blocks, of which the first goes on with it
                elif life is None:
                    number = told.old.number
                    life = BlockLife(change.old, number, number, pattern=["absent"] * step)
                    lives.append(life)
                    now[place] = life
            if change.new is None:
                continue
            span = change.new.start, change.new.end
            if change.change == "recut" and span in later:
                continue  # of several blocks that are one now, the first goes on
            if life is None:
                number = told.new.number
                life = BlockLife(change.new, number, number, pattern=["absent"] * (step + 1))
                lives.append(life)
            else:
                life.steps += 1
                life.changes += change.change == "changed"
                life.pattern.append(change.change)
            life.block, life.last = change.new, told.new.number
            later[span] = life
        for life in lives:
            life.pattern += ["absent"] * (step + 1 - len(life.pattern))
        now = later
    return sorted(lives, key=lambda life: (-life.changes, -life.share, -life.steps))


@dataclass(frozen=True, slots=True)
class PageViews:
    context: Context

    def through_time(self, arguments: Arguments) -> Response:
        url, visits = self._visits(arguments.url())
        per_page = self.context.limits.per_page
        month = arguments.text("month", longest=20)
        listed = [v for v in reversed(visits) if not month or when(v.time, "%Y-%m") == month]
        only_new = bool(arguments.choice("only", ("new",)))
        if only_new:
            listed = [visit for visit in listed if visit.changed]
        number, last = arguments.list_page(len(listed), per_page)
        if not listed:
            raise Problem(404, "month", month=month)
        numbers = numbers_of(visits)
        return page(
            arguments,
            "page",
            url=url,
            host=host_of(url) or "",
            visits=visits,
            listed=listed[per_page * (number - 1) : per_page * number],
            versions=len(numbers),
            month=month,
            only_new=only_new,
            timeline=timeline_of(visits),
            calendar=months_of(visits),
            before=dict(zip(numbers[1:], numbers, strict=False)),
            number=number,
            last=last,
            newest=numbers[-2:] if len(numbers) > 1 else None,
            marks=self.context.topics.marks_of_page(url),
            topics=self.context.topics.names() if self.context.topics.can_mark else None,
        )

    def blocks(self, arguments: Arguments) -> Response:
        url, visits = self._visits(arguments.url())
        archive = self.context.archive
        count = arguments.choice("of", _COMPARED, _COMPARED[0])
        numbers = numbers_of(visits)
        some = [archive.version(url, number) for number in numbers[-int(count) :]]
        versions = [version for version in some if version.method]
        if len(versions) < 2:
            raise Problem(404, "alone", url=url)
        pages = map(self.context.page, versions)
        lives = lives_of(difference(old, new) for old, new in pairwise(pages))
        shown = lives[:_MOST_LIVES]
        texts: dict[tuple[int, int, int], str] = {}
        for version in versions:  # read again: not all fit into memory at once
            if ended := [life.block for life in shown if life.last == version.number]:
                stored = self.context.page(version)
                texts |= {(version.number, b.start, b.end): stored.text(b)[:300] for b in ended}
        return page(
            arguments,
            "page_blocks",
            url=url,
            versions=versions,
            lives=[
                (life, texts.get((life.last, life.block.start, life.block.end), ""))
                for life in shown
            ],
            left_out=len(lives) - len(shown),
            counts=[one for one in _COMPARED if len(numbers) > int(one) or one == count],
            count=count,
        )

    def find(self, arguments: Arguments) -> Response:
        """Lead to the page whose address was typed, with or without the scheme."""
        typed = arguments.url()
        for url in (typed, f"http://{typed}", f"https://{typed}", f"{typed}/"):
            if self.context.archive.visits(url):
                lang = arguments.words.language if arguments.words.chosen else None
                return RedirectResponse(address("/page", url=url, lang=lang), 303)
        raise Problem(404, "url", url=typed)

    def _visits(self, url: str) -> tuple[str, list[Visit]]:
        """Return the visits of a URL, and the URL as it is stored."""
        visits = self.context.visits(url)
        number = next((visit.version for visit in visits if visit.version), None)
        if number is None:
            raise Problem(404, "url", url=url)
        return self.context.archive.version(url, number).url, visits
