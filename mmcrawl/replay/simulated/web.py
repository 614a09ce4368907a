"""The simulated web: its responses, and its relevant pages."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from mmcrawl.replay.simulated.config import QuickDice, SimulationConfig
from mmcrawl.replay.simulated.designs import ENDINGS, HOSTED, month_table, respond
from mmcrawl.replay.simulated.layout import (
    BANNER,
    CALENDAR,
    Directory,
    Group,
    Link,
    Medium,
    Page,
    Site,
    lay_out,
    month_of,
    number_of_month,
)
from mmcrawl.replay.simulated.texts import NAMES, Lesson, fill, lessons, prose
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    content_type,
    for_method,
    host_of,
    moved,
    moved_to_host,
    not_found,
    page_key,
    split_url,
)

OFF_TOPIC_MEDIA = 0.4  # share of pages with media in directories of games, music and the like
NUMBER = re.compile(r"([0-9]{1,9})(?:\.[a-z0-9]+)?\Z")
TURNS = (-10, -3, -2, -1, 0, 1, 2, 3, 10)  # which lists a list links to, besides first and last
FEWEST_CROSS_LINKS, MOST_CROSS_LINKS = 3, 40
NEAR = 0.8  # share of the cross links on topic that stay in their directory
DEAD, OTHER_SITE = 0.1, 0.2  # shares of the noise
DEAD_PAGES = 3  # of a directory
POPULARITY = 3  # the lower a page's number, the more links lead to it
FRIENDS = 3


class Item(NamedTuple):
    url: str
    title: str
    lesson: Lesson | None
    medium: Medium | None
    relevant: bool

    @property
    def link(self) -> Link:
        return Link(self.url, self.title)


def item(directory: Directory, number: int, seed: int) -> Item:
    """The page of this number, 1 to `directory.items`."""
    dice = QuickDice(seed, directory.url, number)
    relevant = dice.chance(directory.relevant_share)
    lesson = None
    if relevant or directory.kind != "other":
        lesson = dice.pick(lessons(directory.language))
        title = dice.pick(directory.subject.titles or NAMES[directory.language].stray)
        title = title.format(topic=lesson.name)
    else:
        titles = prose(directory.language)[directory.subject.prose].titles
        title = fill(dice.pick(titles), directory.language, dice)
    slug = lesson.slug if lesson else directory.subject.prose
    plays = relevant or (directory.subject.plays and dice.chance(OFF_TOPIC_MEDIA))
    medium = _medium(directory, number, slug, title, dice) if plays else None
    url = directory.url + directory.naming.format(slug=slug, n=number)
    return Item(url, title, lesson, medium, relevant)


def number_in(name: str) -> int:
    """The number at the end of a file's name, before its ending; 0 if there is none.

    >>> number_in("niudun012.htm"), number_in("show.asp?id=7"), number_in("a.htm")
    (12, 7, 0)
    """
    found = NUMBER.search(name)
    return int(found[1]) if found else 0


def _medium(directory: Directory, number: int, slug: str, title: str, dice: QuickDice) -> Medium:
    form = dice.pick(directory.forms)
    if form in HOSTED:
        address = HOSTED[form].format(id=f"{slug[:3]}{dice.number(10000000, 99999999)}")
    else:
        address = f"{directory.url}{slug}{number:03}.{ENDINGS[form]}"
    return Medium(form, address, title)


def list_url(directory: Directory, number: int) -> str:
    """The URL of a directory's list, counted from 1."""
    return directory.url + (directory.listing.format(n=number) if number > 1 else "")


def tunnel_url(directory: Directory, step: int) -> str:
    """The URL of a page before a directory of media, counted from 1."""
    name = f"zhuanti{directory.number}-{step}.htm"
    return (directory.parent.url if directory.parent else _root(directory)) + name


def month_url(site: Site, number: int) -> str:
    """The URL of a page of a site's calendar, counted from 0, the last month first."""
    year, month = month_of(number)
    return site.root + CALENDAR.format(year=year, month=month)


class PageMaker:
    """Makes pages; a page does not depend on which ones were made before it."""

    def __init__(self, sites: tuple[Site, ...], config: SimulationConfig) -> None:
        self._sites = sites
        self._seed, self._tunnel, self._noise = config.seed, config.tunnel, config.noise
        self._most_in_menu = config.menu
        self._menus: dict[str, tuple[Link, ...]] = {}

    def item(self, directory: Directory, number: int) -> Item:
        return item(directory, number, self._seed)

    def front(self, site: Site) -> Page:
        """A site's home page: its sections, news of some, other sites."""
        words = NAMES[site.language].words
        sections = [self._entrance(d) for d in site.directories if d.parent is None]
        fresh = []
        for directory in site.directories[:3]:
            shown = range(1, min(5, directory.items) + 1)
            fresh += [self.item(directory, number).link for number in shown]
        older = [
            Link(f"{site.root}index.asp", words["front"]),
            Link(f"{site.root}old/", words["old"]),
        ]
        groups = [
            Group(words["sections"], tuple(sections)),
            Group(words["fresh"], tuple(fresh)),
            Group(words["more"], tuple(older)),
        ]
        friends = [self._sites[n] for n in self._friends(site)]
        if friends:
            links = tuple(Link(friend.root, friend.style.site) for friend in friends)
            groups.append(Group(words["friends"], links))
        return Page(site.root, site.style.site, site.style, groups=tuple(groups))

    def list(self, site: Site, directory: Directory, number: int) -> Page:
        """A list of a directory's pages, counted from 1; the first leads to its sections too."""
        words = NAMES[directory.language].words
        first = (number - 1) * directory.per_list + 1
        shown = range(first, min(first + directory.per_list, directory.items + 1))
        by_title: dict[str, list[Link]] = {}
        for entry in (self.item(directory, n) for n in shown):
            title = words["list"].format(title=directory.subject.title)
            if entry.lesson and directory.kind != "other":
                title = entry.lesson.chapter
            by_title.setdefault(title, []).append(entry.link)
        groups = [Group(title, tuple(links)) for title, links in by_title.items()]
        if directory.lists > 1:
            near = {number + turn for turn in TURNS} | {1, directory.lists}
            turns = sorted(n for n in near if 1 <= n <= directory.lists)
            links = tuple(Link(list_url(directory, n), str(n)) for n in turns)
            groups.append(Group(words["pages"], links))
        inner = [self._entrance(d) for d in site.directories if d.parent is directory]
        if inner and number == 1:
            groups.append(Group(words["sections"], tuple(inner)))
        groups += self._menu(directory)
        return Page(
            list_url(directory, number),
            directory.subject.title,
            directory.style,
            keywords=(directory.subject.title,),
            groups=tuple(groups),
        )

    def article(self, site: Site, directory: Directory, number: int) -> Page:
        words = NAMES[directory.language].words
        this = self.item(directory, number)
        near = [self.item(directory, n).link for n in (number - 1, number + 1)]
        near = near[number == 1 : 2 - (number == directory.items)]
        back = Link(directory.url, directory.subject.title)
        related = {link.url: link for link in self._cross_links(site, directory, number)}
        related.pop(this.url, None)
        return Page(
            this.url,
            this.title,
            directory.style,
            this.lesson,
            "" if this.lesson else directory.subject.prose,
            () if this.lesson else (directory.subject.title, this.title),
            sentences=5 + number % 6,
            groups=(
                Group(words["near"], (*near, back)),
                Group(words["related"], tuple(related.values())),
                *self._menu(directory),
            ),
            media=(this.medium,) if this.medium else (),
            relevant=this.relevant,
        )

    def tunnel(self, site: Site, directory: Directory, step: int) -> Page:
        """A page off the topic on the way to a directory of media, counted from 1."""
        names = NAMES[directory.language]
        subject = names.tunnel[(directory.number + step) % len(names.tunnel)]
        above = directory.parent
        back = Link(above.url, above.subject.title) if above else _home(site)
        dice = QuickDice(self._seed, directory.url, "tunnel", step)
        others = dice.sample(site.of_kind("other"), 3)
        links = (
            self._way_in(directory, step + 1),
            back,
            *(Link(other.url, other.subject.title) for other in others),
        )
        return Page(
            tunnel_url(directory, step),
            self._tunnel_title(directory, step),
            directory.style,
            prose=subject,
            groups=(Group(names.words["more"], links),),
        )

    def month(self, site: Site, number: int) -> Page:
        """A month of the calendar, counted from 0, the last one first."""
        words = NAMES[site.language].words
        year, month = month_of(number)
        turning = [
            Link(month_url(site, n), anchor)
            for n, anchor in ((number + 1, words["before"]), (number - 1, words["after"]))
            if 0 <= n < site.months
        ]
        return Page(
            month_url(site, number),
            f"{words['calendar']} {year}-{month:02}",
            site.style,
            groups=(Group(words["calendar"], tuple(turning)),),
            extra=month_table(year, month),
        )

    def _friends(self, site: Site) -> Iterable[int]:
        """The sites that a front page links to: the next ones, round in a circle."""
        count = len(self._sites)
        return ((site.number + n) % count for n in range(1, min(FRIENDS, count - 1) + 1))

    def _entrance(self, directory: Directory) -> Link:
        """How the page above a directory leads to it."""
        if directory.is_hidden:
            return self._way_in(directory, 1)
        return Link(directory.url, directory.subject.title)

    def _way_in(self, directory: Directory, step: int) -> Link:
        """The link to a page of a tunnel, or to the directory behind the last one."""
        if step <= self._tunnel:
            return Link(tunnel_url(directory, step), self._tunnel_title(directory, step))
        words = NAMES[directory.language].words
        return Link(directory.url, words["onward"] if self._tunnel else directory.subject.title)

    def _tunnel_title(self, directory: Directory, step: int) -> str:
        names = NAMES[directory.language]
        subject = names.tunnel[(directory.number + step) % len(names.tunnel)]
        dice = QuickDice(self._seed, directory.url, "tunnel title", step)
        titles = prose(directory.language)[subject].titles
        return fill(dice.pick(titles), directory.language, dice)

    def _menu(self, directory: Directory) -> tuple[Group, ...]:
        if directory.url not in self._menus:
            numbers = range(1, min(self._most_in_menu, directory.items) + 1)
            self._menus[directory.url] = tuple(self.item(directory, n).link for n in numbers)
        links = self._menus[directory.url]
        return (Group(NAMES[directory.language].words["pages"], links),) if links else ()

    def _cross_links(self, site: Site, directory: Directory, number: int) -> Iterator[Link]:
        """Related pages, a few on most pages and many on some."""
        dice = QuickDice(self._seed, directory.url, number, "links")
        spread = FEWEST_CROSS_LINKS / (dice.share() + 0.005) ** 0.5
        for _ in range(min(MOST_CROSS_LINKS, int(spread))):
            if dice.chance(self._noise):
                yield self._noise_link(site, directory, dice)
                continue
            near = dice.chance(NEAR)
            alike = directory if near else dice.pick(site.of_kind(directory.kind))
            yield self._popular(alike, dice)

    def _noise_link(self, site: Site, directory: Directory, dice: QuickDice) -> Link:
        where = dice.share()
        if where < DEAD:
            titles = prose(directory.language)[NAMES[directory.language].tunnel[0]].titles
            title = fill(dice.pick(titles), directory.language, dice)
            return Link(f"{directory.url}old{dice.number(1, DEAD_PAGES)}.htm", title)
        there = site
        if where < DEAD + OTHER_SITE:
            there = self._sites[int(len(self._sites) * dice.share() ** POPULARITY)]
        return self._popular(dice.pick(there.of_kind("other")), dice)

    def _popular(self, directory: Directory, dice: QuickDice) -> Link:
        if not directory.items:
            return Link(directory.url, directory.subject.title)
        return self.item(directory, 1 + int(directory.items * dice.share() ** POPULARITY)).link


def _home(site: Site) -> Link:
    return Link(site.root, NAMES[site.language].words["front"])


def _root(directory: Directory) -> str:
    return "/".join(directory.url.split("/")[:3]) + "/"


FIXTURES = frozenset({"/style.css", "/images/logo.gif", "/js/swfobject.js", BANNER})
TUNNEL_NAME = re.compile(r"zhuanti([0-9]{1,9})-([0-9]{1,9})\.htm")
MONTH_NAME = re.compile(r"calendar\.asp\?month=([0-9]{1,2})&year=([0-9]{4})")
MEDIA_NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(sorted(set(ENDINGS.values())))})")


_FIRST_BYTES = {
    "swf": b"FWS\x08",
    "mp3": b"ID3\x03",
    "mp4": b"\0\0\0\x18ftypisom",
    "wmv": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "rmvb": b".RMF\x00\x00",
    "gif": b"GIF89a\x01\x00\x01\x00",
    "css": b"body { margin: 0 }\n/* ",
    "js": b"var swfobject = {};\n// ",
}


class SimulatedWeb(StoredWeb):
    """Any number of school sites in Chinese and English, of which some pages are about physics.

    A site has a front page, directories in up to three levels with lists that lead to their pages,
    a calendar, two redirects, links to other sites and dead links. Of the directories some are
    about physics, with animations, recordings and films or with few of them, the others about other
    subjects, among them games and music with media of their own. Many links lead to few pages, and
    few pages have many links.

    The layout is made on first use; pages are written when they are asked for and not kept.
    """

    def __init__(self, config: SimulationConfig | None = None) -> None:
        self._config = config or SimulationConfig()

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        host = host_of(parts)
        site = self._sites_by_host.get(host.removeprefix("www."))
        key = page_key(url)
        if site is None or key is None:
            return None
        if host != site.host:
            return for_method(moved_to_host(parts, site.host), method)
        return for_method(self._answer(site, key[1]), method)

    def start_urls(self) -> tuple[str, ...]:
        return tuple(site.root for site in self._sites)

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType({f"www.{site.host}": site.host for site in self._sites})

    def page_urls(self) -> Iterator[str]:
        """Every page, `SimulationConfig.pages` of them."""
        for site in self._sites:
            yield site.root
            yield from (month_url(site, number) for number in range(site.months))
            for directory in site.directories:
                yield from (list_url(directory, n + 1) for n in range(directory.lists))
                if directory.is_hidden:
                    yield from (tunnel_url(directory, n + 1) for n in range(self._config.tunnel))
                yield from (self._make.item(directory, n + 1).url for n in range(directory.items))

    def relevant_urls(self) -> frozenset[str]:
        """The truth: pages on senior physics with media of their own, not a site's animation."""
        return frozenset(
            found.url
            for site in self._sites
            for directory in site.directories
            for found in (self._make.item(directory, n + 1) for n in range(directory.items))
            if found.relevant
        )

    @cached_property
    def _sites(self) -> tuple[Site, ...]:
        return lay_out(self._config)

    @cached_property
    def _sites_by_host(self) -> dict[str, Site]:
        return {site.host: site for site in self._sites}

    @cached_property
    def _make(self) -> PageMaker:
        return PageMaker(self._sites, self._config)

    def _answer(self, site: Site, path: str) -> StoredResponse:
        page = self._page(site, path)
        if page:
            return respond(page, self._config.seed)
        if path in FIXTURES or self._is_medium(site, path):
            return answer(200, content_type(path), _file(path))
        if path == "/index.asp":
            return moved(site.root)
        if path == "/old/":
            return moved(site.directories[0].url)
        if path + "/" in site.by_path:
            return moved(site.by_path[path + "/"].url)
        return not_found()

    def _page(self, site: Site, path: str) -> Page | None:
        """The page at a path; a name that only looks like one of this web's gives None."""
        if path == "/":
            return self._make.front(site)
        file, mark, query = path.partition("?")
        above, _, name = file.rpartition("/")
        name += mark + query
        return (
            self._tunnel_page(site, path, name)
            or self._directory_page(site, site.by_path.get(above + "/"), path, name)
            or (self._month_page(site, name) if not above else None)
        )

    def _tunnel_page(self, site: Site, path: str, name: str) -> Page | None:
        found = TUNNEL_NAME.fullmatch(name)
        number, step = (int(found[1]), int(found[2])) if found else (-1, 0)
        if not 0 <= number < len(site.directories) or not 1 <= step <= self._config.tunnel:
            return None
        directory = site.directories[number]
        if not directory.is_hidden or _path(tunnel_url(directory, step)) != path:
            return None
        return self._make.tunnel(site, directory, step)

    def _directory_page(
        self, site: Site, directory: Directory | None, path: str, name: str
    ) -> Page | None:
        if directory is None:
            return None
        if not name:
            return self._make.list(site, directory, 1)
        number = number_in(name)
        if 1 < number <= directory.lists and name == directory.listing.format(n=number):
            return self._make.list(site, directory, number)
        if 1 <= number <= directory.items:
            page = self._make.article(site, directory, number)
            return page if _path(page.url) == path else None
        return None

    def _month_page(self, site: Site, name: str) -> Page | None:
        found = MONTH_NAME.fullmatch(name)
        if not found:
            return None
        number = number_of_month(int(found[2]), int(found[1]))
        if 0 <= number < site.months and month_url(site, number) == site.root + name:
            return self._make.month(site, number)
        return None

    def _is_medium(self, site: Site, path: str) -> bool:
        above, _, name = path.rpartition("/")
        directory = site.by_path.get(above + "/")
        number = number_in(name) if directory and MEDIA_NAME.fullmatch(name) else 0
        if directory is None or not 1 <= number <= directory.items:
            return False
        medium = self._make.item(directory, number).medium
        return medium is not None and medium.url == f"http://{site.host}{path}"


def _file(path: str) -> bytes:
    """A file that begins as a real one does, and has nothing in it; no two are the same."""
    return _FIRST_BYTES[path.rpartition(".")[2]] + path.encode()


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")
