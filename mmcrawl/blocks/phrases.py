"""Short phrases made of the words of a text: algorithms 2 and 3 of Song et al. 2008.

Words are told apart by their stems (Chinese: by the simplified form, cut by jieba), but shown as
the text first writes them. Words that adjoin in the text adjoin in the phrase, so that Chinese
reads as written; where something was left out, or the text has a space, there is one space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import HAN, LONGEST_WORD, has_han, is_stop_word, stem, unify

_RUN = re.compile(rf"([{HAN}]+)|[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*")

_FEWEST = 3
_KEPT_RUNS = 20_000


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        key: What it has in common with its other forms.
        start, end: Where it stands in the text.
    """

    key: str
    start: int
    end: int


def _keys_of(run: str) -> Sequence[str]:
    if has_han(run):
        return segment(run)
    key = stem(unify(run))
    return (key,) if key else ()


_short_keys = lru_cache(_KEPT_RUNS)(_keys_of)


def _keys(run: str) -> Sequence[str]:
    """Return the keys of the words of a run of letters, or of Han characters."""
    return _short_keys(run) if len(run) <= LONGEST_WORD else _keys_of(run)


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text in order; runs of more than 64 letters are none.

    >>> [word.key for word in words_of("牛頓的 Experiments")]
    ['牛顿', '的', 'experi']
    """
    for run in _RUN.finditer(text):
        start = run.start()
        for key in _keys(run[0]):
            end = run.end() if run.lastindex is None else start + len(key)
            yield Word(key, start, end)
            start = end


def has_words(text: str, count: int) -> bool:
    """Whether a text has so many words; reads no more of it than it must, and stems none."""
    if len(text) < (count if has_han(text) else 2 * count - 1):
        return False
    for run in _RUN.finditer(text):
        if count <= 0:
            break
        if run.lastindex is None:
            word = run[0] if run[0].isascii() else unify(run[0])
            count -= len(word) <= LONGEST_WORD
        else:
            count -= len(_keys(run[0]))
    return count <= 0


def trim(text: str, theta: int, *, distinct: bool = False) -> str:
    """Return the first `theta` words that are no stop words, each once (algorithm 2).

    A text of stop words alone gives its first `theta` words. As printed, a word that is repeated
    among the first ones takes a place and is left out; with `distinct`, another one has its place.

    >>> trim("lever, lever, pulley and wheel", 3), trim("lever, lever, pulley and wheel", 3,
    ... distinct=True)
    ('lever pulley', 'lever pulley wheel')
    """
    telling = (word for word in words_of(text) if not is_stop_word(word.key))
    found = _first(telling, theta, distinct=distinct)
    return _phrase(text, found or islice(words_of(text), theta))


def extract(text: str, theta: int, epsilon: int, *, distinct: bool = False) -> str:
    """Return those of the first `theta` words that occur more than `epsilon` times (algorithm 3).

    With `distinct`, these are the first `theta` different ones that do.

    Stop words do not count, nor do numbers, single characters, and two small letters: in languages
    whose stop words are not known, these are articles and prepositions. A text that repeats fewer
    than three words is trimmed.
    """
    words = words_of(text)
    telling = (word for word in words if _says_something(text, word))
    looked_at = list(telling if distinct else islice(telling, theta))
    counts = Counter(word.key for word in looked_at)
    again = (word for word in words if word.key in counts and _says_something(text, word))
    counts.update(word.key for word in again)
    frequent = [word for word in looked_at if counts[word.key] > epsilon]
    found = _first(frequent, theta, distinct=True)
    if len(found) >= min(_FEWEST, theta):
        return _phrase(text, found)
    return trim(text, theta, distinct=distinct)


def _says_something(text: str, word: Word) -> bool:
    length = word.end - word.start
    if length < 2 or word.key.isnumeric() or is_stop_word(word.key):
        return False
    return length > 2 or has_han(word.key) or not text[word.start : word.end].islower()


def _first(words: Iterable[Word], count: int, *, distinct: bool) -> list[Word]:
    """Return the different words among the first ones, or the first different ones."""
    found: dict[str, Word] = {}
    for word in words if distinct else islice(words, count):
        if len(found) == count:
            break
        found.setdefault(word.key, word)
    return list(found.values())


def _phrase(text: str, words: Iterable[Word]) -> str:
    parts: list[str] = []
    end = 0
    for word in words:
        if parts and word.start != end:
            parts.append(" ")
        parts.append(text[word.start : word.end])
        end = word.end
    return "".join(parts)
