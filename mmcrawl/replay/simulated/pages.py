"""The pages of a simulated web, each made by itself from the layout.

The pages that the lists of a directory list are made from their number alone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mmcrawl.replay.simulated.config import SimulationConfig
from mmcrawl.replay.simulated.designs import ENDINGS, HOSTED, month_table
from mmcrawl.replay.simulated.dice import QuickDice
from mmcrawl.replay.simulated.layout import (
    CALENDAR,
    Directory,
    Group,
    Link,
    Medium,
    Page,
    Site,
    month_of,
)
from mmcrawl.replay.simulated.texts import NAMES, Lesson, fill, lessons, prose

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
    """A page of a directory, without its text and its links."""

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
    """Makes pages; a page does not depend on which ones were made before it.

    Args:
        sites: As laid out.
        config: What they were laid out by.
    """

    def __init__(self, sites: tuple[Site, ...], config: SimulationConfig) -> None:
        self._sites = sites
        self._seed, self._tunnel, self._noise = config.seed, config.tunnel, config.noise
        self._most_in_menu = config.menu
        self._menus: dict[str, tuple[Link, ...]] = {}

    def item(self, directory: Directory, number: int) -> Item:
        """What `items.item` gives for this web's seed."""
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
        """A page that a list lists, counted from 1."""
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
        """The links on all pages of a directory."""
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
