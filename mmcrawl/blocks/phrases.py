"""Short phrases made of the words of a text: algorithms 2 and 3 of Song et al. 2008.

Words are distinguished by their stems (Chinese: by the simplified form, cut by jieba), but shown as
the text first writes them. Words that adjoin in the text adjoin in the phrase, so that Chinese
reads as written; where something was left out, or the text has a space, there is one space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import HAN, has_han, is_stop_word, stem, unify

_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*")

_FEWEST = 3
_KEPT_WORDS = 20_000
_KEPT_LINES, _LONG_LINE = 1_024, 1_000


class Word(NamedTuple):
    """A word of a text."""

    key: str  # what it has in common with its other forms
    text: str  # as written
    adjoins: bool  # whether nothing stands between it and the word before
    is_stop: bool  # whether it is a stop word
    tells: bool  # whether it says something: see `extract`


def words_of(text: str) -> Sequence[Word]:
    """Return the words of a text in order; runs of more than 64 letters are none.

    >>> [word.key for word in words_of("牛頓的 Experiments")]
    ['牛顿', '的', 'experi']
    """
    return list(chain.from_iterable(map(_words_of_line, text.split("\n"))))


def _words_of_line(line: str) -> Sequence[Word]:
    return (_known_words if len(line) <= _LONG_LINE else _read)(line)


def _read(line: str) -> Sequence[Word]:
    if not has_han(line):
        return list(filter(None, map(_word, _RUN.findall(line))))
    words: list[Word] = []
    end = -1
    for run in _RUN.finditer(line):
        start = run.start()
        if not has_han(run[0]):
            if word := _word(run[0]):
                words.append(word._replace(adjoins=start == end))
                end = run.end()
            continue
        for key in segment(run[0]):
            tells = len(key) > 1 and not key.isnumeric()
            stop = is_stop_word(key)
            after = start + len(key)
            words.append(Word(key, line[start:after], start == end, stop, tells and not stop))
            start = end = after
    return words


# Blocks lie inside each other, and menus stand on every page of a site.
_known_words = lru_cache(_KEPT_LINES)(_read)


@lru_cache(_KEPT_WORDS)
def _word(run: str) -> Word | None:
    """Return the word that a run of letters is, if it is one."""
    key = stem(unify(run))
    if not key:
        return None
    is_stop, size = is_stop_word(key), len(run)
    tells = size > 1 and not key.isnumeric() and not is_stop and (size > 2 or not run.islower())
    return Word(key, run, False, is_stop, tells)


def has_words(text: str, count: int) -> bool:
    """Whether a text has so many words; reads no more of it than it must.

    Han characters are cut into words only where their number, and that of other words, leave it
    open: to load the dictionary for it takes longer than to read a hundred pages.
    """
    if len(text) < (count if has_han(text) else 2 * count - 1):
        return False
    runs = (match[0] for match in _RUN.finditer(text))
    if not has_han(text):
        return len(list(islice(filter(_word, runs), count))) == count
    least = most = 0
    for run in runs:
        if least >= count:
            break
        sizes = (1, len(run)) if has_han(run) else (1, 1) if _word(run) else (0, 0)
        least, most = least + sizes[0], most + sizes[1]
    return least >= count or (most >= count and len(words_of(text)) >= count)


def trim(text: str, theta: int, *, distinct: bool = False) -> str:
    """Return the first `theta` words that are no stop words, each once (algorithm 2).

    A text of stop words alone gives its first `theta` words. As printed, a word that is repeated
    among the first ones takes a place and is left out; with `distinct`, another one has its place.

    >>> trim("lever, lever, pulley and wheel", 3), trim("lever, lever, pulley and wheel", 3,
    ... distinct=True)
    ('lever pulley', 'lever pulley wheel')
    """
    words = words_of(text)
    telling = (place for place, word in enumerate(words) if not word.is_stop)
    found = _first(words, telling if distinct else islice(telling, theta), theta)
    return _phrase(words, found or range(min(theta, len(words))))


def extract(text: str, theta: int, epsilon: int, *, distinct: bool = False) -> str:
    """Return those of the first `theta` words that occur more than `epsilon` times (algorithm 3).

    With `distinct`, these are the first `theta` different ones that do.

    Stop words do not count, nor do numbers, single characters, and two small letters: in languages
    whose stop words are not known, these are articles and prepositions. A text that repeats fewer
    than three words is trimmed.
    """
    words = words_of(text)
    counts = Counter([word.key for word in words if word.tells])
    telling = (place for place, word in enumerate(words) if word.tells)
    looked_at = telling if distinct else islice(telling, theta)
    found = _first(words, (at for at in looked_at if counts[words[at].key] > epsilon), theta)
    if len(found) >= min(_FEWEST, theta):
        return _phrase(words, found)
    return trim(text, theta, distinct=distinct)


def _first(words: Sequence[Word], places: Iterable[int], count: int) -> Sequence[int]:
    """Return the places of the first different words among some."""
    found: dict[str, int] = {}
    for place in places:
        if len(found) == count:
            break
        found.setdefault(words[place].key, place)
    return list(found.values())


def _phrase(words: Sequence[Word], places: Iterable[int]) -> str:
    parts: list[str] = []
    last = -2
    for place in places:
        if parts and not (words[place].adjoins and last == place - 1):
            parts.append(" ")
        parts.append(words[place].text)
        last = place
    return "".join(parts)
