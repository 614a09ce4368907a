"""What the pages of simulated webs say: ``texts_zh.toml``, ``texts_en.toml``, read on first use."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from mmcrawl.replay.simulated.dice import Dice


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


@dataclass(frozen=True, slots=True)
class Texts:
    """All that is said in one language.

    Attributes:
        names, places: what sentences are filled in with.
        general: what can be said about every lesson.
        lessons: of senior physics.
        prose: what is said about other subjects, by subject.
    """

    names: tuple[str, ...]
    places: tuple[str, ...]
    general: tuple[str, ...]
    lessons: tuple[Lesson, ...]
    prose: dict[str, Prose]


@cache
def texts(language: str) -> Texts:
    """The texts in `zh` or `en`."""
    source = files("mmcrawl.replay.simulated") / f"texts_{language}.toml"
    return TypeAdapter(Texts).validate_python(tomllib.loads(source.read_text(encoding="utf-8")))


def lessons(language: str) -> tuple[Lesson, ...]:
    """The lessons in `zh` or `en`."""
    return texts(language).lessons


def prose(language: str) -> dict[str, Prose]:
    """Subject → prose, in `zh` or `en`."""
    return texts(language).prose


def fill(template: str, language: str, dice: Dice) -> str:
    """Put names, places and numbers into a sentence; each gap gets its own."""
    table = texts(language)
    gaps: dict[str, Sequence[object]] = {
        "{name}": table.names,
        "{place}": table.places,
        "{year}": range(2003, 2011),
        "{n}": range(2, 10),
    }
    for gap, values in gaps.items():
        while gap in template:
            template = template.replace(gap, str(dice.pick(values)), 1)
    return template


def about(lesson: Lesson, count: int, language: str, dice: Dice) -> tuple[str, ...]:
    """All sentences of a lesson, and `count` of those that suit every lesson."""
    general = dice.sample(texts(language).general, count)
    made = [sentence.replace("{topic}", lesson.name) for sentence in general]
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
