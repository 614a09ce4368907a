"""The layout of a simulated web: sites and directories, and what pages are made of.

Memory grows with the directories, some √pages/2 a site, never with the pages.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from urllib.parse import urlsplit

from mmcrawl.replay.simulated.config import FEWEST_PAGES_PER_SITE, QuickDice, SimulationConfig
from mmcrawl.replay.simulated.texts import NAMES, Lesson, Subject


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Medium:
    """A media file on a page; `form` tells how the page refers to it, see `markup`."""

    form: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Style:
    """The design that pages of one part of a site share."""

    design: str  # table, div or html5
    language: str
    site: str
    nav: tuple[Link, ...]
    charset: str = "utf-8"  # what the bytes are in
    declared: str = "utf-8"  # what the page says they are in
    banner_swf: str = ""  # the path of an animation above every page


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is written: of `lesson`, else of the subject `prose`, or of nothing."""

    url: str
    title: str
    style: Style
    lesson: Lesson | None = None
    prose: str = ""
    keywords: tuple[str, ...] = ()  # of a page that is about no lesson
    sentences: int = 8
    groups: tuple[Group, ...] = ()
    media: tuple[Medium, ...] = ()
    relevant: bool = False
    extra: str = ""  # HTML put below the text as it is

    def reference(self, url: str) -> str:
        """Return a link as this page writes it: short on old pages, with a host only to others."""
        here, there = urlsplit(self.url), urlsplit(url)
        if here.netloc != there.netloc:
            return url
        path = there.path + (f"?{there.query}" if there.query else "")
        directory = here.path.rpartition("/")[0] + "/"
        short = path.removeprefix(directory)
        if self.style.design == "table" and short and "/" not in short:
            return short
        return path


# -- what pages are made of -----------------------------------------------------------------------


BANNER = "/images/welcome.swf"
CALENDAR = "calendar.asp?month={month}&year={year}"

DENSITY = 0.8  # share of relevant pages in the directories kept for them, at adjacency 1
DEEPEST = 3
MONTHS_SHARE, MOST_MONTHS, LAST_YEAR = 0.02, 120, 2009
SKEW = 0.7  # sizes fall with this power of their rank
NAMINGS = ("{slug}{n:03}.htm", "{n}.html", "art{n:04}.htm")


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """A section of a site: lists, and the pages that they list."""

    url: str
    number: int
    parent: "Directory | None"  # None for one that the front page leads to
    kind: str  # media (relevant pages are gathered here), topic or other
    subject: Subject
    language: str
    style: Style
    naming: str
    listing: str
    forms: tuple[str, ...]
    lists: int
    per_list: int
    items: int
    relevant_share: float

    @property
    def is_hidden(self) -> bool:
        """Does a tunnel lead to it, if there are tunnels?"""
        return self.kind == "media"


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    number: int
    host: str
    language: str
    style: Style  # of its front page
    months: int  # of its calendar
    directories: tuple[Directory, ...]
    by_path: Mapping[str, Directory] = field(repr=False)

    @property
    def root(self) -> str:
        return f"http://{self.host}/"

    def of_kind(self, kind: str) -> list[Directory]:
        return [directory for directory in self.directories if directory.kind == kind]


@dataclass(slots=True)
class _Plot:
    """A directory that has its place but not its size."""

    kind: str
    subject: Subject
    parent: int  # -1 for the front page
    path: str
    depth: int


def lay_out(config: SimulationConfig) -> tuple[Site, ...]:
    """All sites of the web that `config` describes."""
    spare = config.pages - FEWEST_PAGES_PER_SITE * config.sites
    sizes = [FEWEST_PAGES_PER_SITE + extra for extra in _split(spare, config.sites)]
    return tuple(_Planner(number, size, config).site() for number, size in enumerate(sizes))


def month_of(number: int) -> tuple[int, int]:
    """Year and month of a calendar's page, counted back from the last month it has."""
    return LAST_YEAR - number // 12, 12 - number % 12


def number_of_month(year: int, month: int) -> int:
    """The inverse of `month_of`; of a month that does not exist the result means nothing."""
    return (LAST_YEAR - year) * 12 + 12 - month


class _Planner:
    def __init__(self, number: int, size: int, config: SimulationConfig) -> None:
        self._number = number
        self._size = size
        self._config = config
        self._dice = QuickDice(config.seed, "site", number)
        self._host = f"site{number + 1}.sim{config.seed}.test"
        self._language = (
            ("zh", "en")[number % 2] if config.languages == "mixed" else config.languages
        )
        self._names = NAMES[self._language]
        self._months = min(MOST_MONTHS, int(size * MONTHS_SHARE))
        self._relevant = config.media * size
        self._flat = QuickDice(config.seed, "flat", number).chance(config.flat)

    def site(self) -> Site:
        count = 1 if self._flat else max(4, round(sqrt(self._size) / 2))
        share = 0 if self._flat else self._config.media / DENSITY
        gathered = max(1, round(count * share)) if share else 0
        plots = self._plots(count, gathered)
        styles = self._styles(plots)
        pages = self._size - 1 - self._months - gathered * self._config.tunnel
        directories = tuple(self._directories(plots, pages, styles))
        by_path = {plot.path: made for plot, made in zip(plots, directories, strict=True)}
        return Site(
            self._number,
            self._host,
            self._language,
            styles[-1],
            self._months,
            directories,
            by_path,
        )

    def _plots(self, count: int, gathered: int) -> list[_Plot]:
        """Directories in a tree, those that media are gathered in last and without children."""
        plots: list[_Plot] = []
        used: set[str] = set()
        for number in range(count):
            kind, subjects = self._kind(number, last=number >= count - gathered)
            parent = self._parent(number, kind, plots)
            above, depth = (plots[parent].path, plots[parent].depth) if parent >= 0 else ("/", 0)
            subject = self._dice.pick(subjects)
            path, again = f"{above}{subject.segment}/", 1
            while path in used:
                again += 1
                path = f"{above}{subject.segment}{again}/"
            used.add(path)
            plots.append(_Plot(kind, subject, parent, path, depth + 1))
        return plots

    def _kind(self, number: int, *, last: bool) -> tuple[str, tuple[Subject, ...]]:
        if last:
            return "media", self._names.media
        # Evenly among them, but for the first: paths off the topic begin there.
        share = self._config.topic
        if number and int((number + 2) * share) > int((number + 1) * share):
            return "topic", self._names.topic
        return "other", self._names.other

    def _parent(self, number: int, kind: str, plots: list[_Plot]) -> int:
        # Below a directory on the topic, addresses off it would speak of the topic.
        kinds = ("other",) if kind == "other" else ("other", "topic")
        inner = [n for n, plot in enumerate(plots) if plot.depth < DEEPEST and plot.kind in kinds]
        at_top = number < 3 or self._dice.chance(0.3)
        return -1 if at_top else self._dice.pick(inner)

    def _styles(self, plots: list[_Plot]) -> tuple[Style, ...]:
        """The looks of the parts of the site, the oldest last."""
        words = self._names.words
        root = f"http://{self._host}/"
        nav = [Link(root, words["front"])]
        tops = [plot for plot in plots if plot.parent < 0 and plot.kind != "media"][:5]
        nav += [Link(root + plot.path[1:], plot.subject.title) for plot in tops]
        if self._months:
            year, month = month_of(0)
            nav.append(Link(root + CALENDAR.format(year=year, month=month), words["calendar"]))
        name = self._dice.pick(self._names.sites)
        banner = BANNER if self._dice.chance(self._config.banner) else ""
        if self._language == "en":
            return (Style("html5", "en", name, tuple(nav), banner_swf=banner),)
        new = Style("div", "zh", name, tuple(nav), banner_swf=banner)
        return new, replace(new, design="table", charset="gbk", declared="gb2312")

    def _directories(
        self, plots: list[_Plot], pages: int, styles: tuple[Style, ...]
    ) -> list[Directory]:
        dice = self._dice
        budgets = _budgets(plots, pages, self._relevant)
        lengths = budgets if self._flat else [dice.number(10, 30) for _ in plots]
        lists = [max(1, -(-budgets[n] // (lengths[n] + 1))) for n in range(len(plots))]
        items = [budget - count for budget, count in zip(budgets, lists, strict=True)]
        shares = self._shares(plots, items)
        made: list[Directory] = []
        for number, plot in enumerate(plots):
            is_dynamic = dice.chance(self._config.dynamic)
            made.append(
                Directory(
                    url=f"http://{self._host}{plot.path}",
                    number=number,
                    parent=made[plot.parent] if plot.parent >= 0 else None,
                    kind=plot.kind,
                    subject=plot.subject,
                    language=self._language,
                    style=dice.pick(styles),
                    naming="show.asp?id={n}" if is_dynamic else dice.pick(NAMINGS),
                    listing="list.asp?page={n}" if is_dynamic else "index_{n}.htm",
                    forms=tuple(dice.sample(self._names.forms, 2)),
                    lists=lists[number],
                    per_list=lengths[number],
                    items=items[number],
                    relevant_share=shares[number],
                )
            )
        return made

    def _shares(self, plots: list[_Plot], items: list[int]) -> list[float]:
        """Share of relevant pages in each directory."""
        gathered = sum(n for n, plot in zip(items, plots, strict=True) if plot.kind == "media")
        adjacency = 0 if self._flat else self._config.adjacency
        even = (1 - adjacency) * self._relevant / max(1, sum(items))
        near = adjacency * self._relevant / max(1, gathered)
        return [min(1.0, even + (near if plot.kind == "media" else 0)) for plot in plots]


def _budgets(plots: list[_Plot], pages: int, relevant: float) -> list[int]:
    """Pages of each directory, its lists among them."""
    gathered = sum(plot.kind == "media" for plot in plots)
    others = len(plots) - gathered
    # About one page in twenty is a list.
    for_media = min(round(relevant / DENSITY * 1.05), pages - 2 * others) if gathered else 0
    for_media = max(for_media, 2 * gathered)
    return [*_split(pages - for_media, others, 2), *_split(for_media, gathered, 2)]


def _split(total: int, parts: int, least: int = 0) -> list[int]:
    """`total` in parts of falling size, each at least `least`.

    >>> _split(10, 3)
    [5, 3, 2]
    """
    weights = [(rank + 1) ** -SKEW for rank in range(parts)]
    spare, whole = total - least * parts, sum(weights)
    sizes = [least + int(spare * weight / whole) for weight in weights]
    for rank in range(total - sum(sizes) if parts else 0):
        sizes[rank] += 1
    return sizes
