"""The tables of sentences, read on first use, and how paragraphs are made of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import mmcrawl.replay.demo.texts_en as english
import mmcrawl.replay.demo.texts_zh as chinese
from mmcrawl.replay.demo.dice import Dice


@dataclass(frozen=True, slots=True)
class Lesson:
    """A subject of senior physics, with what can be said about it."""

    slug: str
    name: str
    chapter: str
    words: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """What is said about a subject other than physics."""

    titles: tuple[str, ...]
    sentences: tuple[str, ...]


@cache
def lessons(language: str) -> tuple[Lesson, ...]:
    """The lessons in `zh` or `en`."""
    return tuple(_lesson(block) for block in _tables(language).LESSONS.strip().split("\n\n"))


@cache
def prose(language: str) -> dict[str, Prose]:
    """Subject → prose, in `zh` or `en`."""
    return dict(map(_prose, _tables(language).PROSE.strip().split("\n\n")))


def fill(template: str, language: str, dice: Dice) -> str:
    """Put names, places and numbers into a sentence; each gap gets its own."""
    table = _tables(language)
    gaps: dict[str, Sequence[object]] = {
        "{name}": table.NAMES,
        "{place}": table.PLACES,
        "{year}": range(2003, 2011),
        "{n}": range(2, 10),
    }
    for gap, values in gaps.items():
        while gap in template:
            template = template.replace(gap, str(dice.pick(values)), 1)
    return template


def about(lesson: Lesson, count: int, language: str, dice: Dice) -> tuple[str, ...]:
    """All sentences of a lesson, and `count` of those that suit every lesson."""
    general = _tables(language).GENERAL.strip().split("\n")
    made = [sentence.replace("{topic}", lesson.name) for sentence in dice.sample(general, count)]
    for index, sentence in enumerate(made):
        for word in dice.sample(lesson.words, sentence.count("{word}")):
            made[index] = made[index].replace("{word}", word, 1)
    return lesson.sentences + tuple(made)


def paragraphs(sentences: tuple[str, ...], count: int, language: str, dice: Dice) -> list[str]:
    """`count` of the sentences in random order, in paragraphs of two to four."""
    space = "" if language == "zh" else " "
    chosen = [fill(sentence, language, dice) for sentence in dice.sample(sentences, count)]
    made = []
    while chosen:
        length = dice.number(2, 4)
        made.append(space.join(chosen[:length]))
        chosen = chosen[length:]
    return made


def _tables(language: str) -> ModuleType:
    return chinese if language == "zh" else english


def _lesson(block: str) -> Lesson:
    head, *sentences = block.split("\n")
    front, _, words = head.partition(" | ")
    slug, _, rest = front.partition(" ")
    name, _, chapter = rest.rpartition(" ")
    terms = words.split(", ") if ", " in words else words.split()
    return Lesson(slug, name, chapter, tuple(terms), tuple(sentences))


def _prose(block: str) -> tuple[str, Prose]:
    key, *lines = block.split("\n")
    titles = [title for line in lines if "|" in line for title in line.split("|")]
    return key, Prose(tuple(titles), tuple(line for line in lines if "|" not in line))
