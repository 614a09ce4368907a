"""The pages that the lists of a directory list, each made from its number alone."""

import re
from typing import NamedTuple

from mmcrawl.replay.demo.embedding import ENDINGS, HOSTED
from mmcrawl.replay.demo.model import Link, Medium
from mmcrawl.replay.demo.texts import Lesson, fill, lessons, prose
from mmcrawl.replay.simulated.dice import QuickDice
from mmcrawl.replay.simulated.layout import Directory
from mmcrawl.replay.simulated.words import NAMES

OFF_TOPIC_MEDIA = 0.4  # share of pages with media in directories of games, music and the like
NUMBER = re.compile(r"([0-9]{1,9})(?:\.[a-z0-9]+)?\Z")


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
