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
from itertools import chain, islice
from typing import NamedTuple

from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import HAN, LONGEST_WORD, has_han, is_stop_word, stem, unify

_RUN = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*")

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
        start, is_han = run.start(), has_han(run[0])
        for key in _keys(run[0]):
            end = start + len(key) if is_han else run.end()
            yield Word(key, start, end)
            start = end


def has_words(text: str, count: int) -> bool:
    """Whether a text has so many words; reads no more of it than it must, and stems none."""
    if len(text) < (count if has_han(text) else 2 * count - 1):
        return False
    for match in _RUN.finditer(text):
        if count <= 0:
            break
        run = match[0]
        if has_han(run):
            count -= len(_keys(run))
        else:
            count -= len(run if run.isascii() else unify(run)) <= LONGEST_WORD
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
    counts = Counter(chain.from_iterable(map(_telling, _RUN.findall(text))))
    telling = (w for w in words_of(text) if _says_something(w.key, text[w.start : w.end]))
    looked_at = telling if distinct else islice(telling, theta)
    found = _first((one for one in looked_at if counts[one.key] > epsilon), theta, distinct=True)
    if len(found) >= min(_FEWEST, theta):
        return _phrase(text, found)
    return trim(text, theta, distinct=distinct)


def _telling_of(run: str) -> Sequence[str]:
    return [key for key in _keys(run) if _says_something(key, run)]


_short_telling = lru_cache(_KEPT_RUNS)(_telling_of)


def _telling(run: str) -> Sequence[str]:
    """Return the keys of those words of a run that say something."""
    return (_short_telling if len(run) <= LONGEST_WORD else _telling_of)(run)


def _says_something(key: str, run: str) -> bool:
    is_han = has_han(run)
    length = len(key if is_han else run)
    if length < 2 or key.isnumeric() or is_stop_word(key):
        return False
    return length > 2 or is_han or not run.islower()


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
