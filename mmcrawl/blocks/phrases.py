"""Short phrases made of the words of a text: algorithms 2 and 3 of Song et al. 2008.

Words are told apart by their stems (Chinese: by the simplified form, cut by jieba), but shown as
the text first writes them. Words that adjoin in the text adjoin in the phrase, so that Chinese
reads as written; where something was left out, or the text has a space, there is one space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mmcrawl.text.scripts import HAN, has_han, unify
from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import is_stop_word, stem

_RUN = re.compile(rf"([{HAN}]+)|[^\W_{HAN}]+(?:['’][^\W_{HAN}]+)*")

_FEWEST = 3


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        key: What it has in common with its other forms.
        start, end: Where it stands in the text.
    """

    key: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text in order; runs of more than 64 letters are none.

    >>> [word.key for word in words_of("牛頓的 Experiments")]
    ['牛顿', '的', 'experi']
    """
    for run in _RUN.finditer(text):
        start = run.start()
        if run.lastindex is None:
            if key := stem(unify(run[0])):
                yield Word(key, start, run.end())
            continue
        for key in segment(run[0]):
            yield Word(key, start, start + len(key))
            start += len(key)


def trim(text: str, theta: int) -> str:
    """Return the first `theta` distinct words that are no stop words (algorithm 2).

    A text of stop words alone gives its first `theta` words.

    >>> trim("The laws of the lever and of pulleys", 3)
    'laws lever pulleys'
    """
    words = list(words_of(text))
    telling = (word for word in words if not is_stop_word(word.key))
    return _phrase(text, _first_distinct(telling, theta) or words[:theta])


def extract(text: str, theta: int, epsilon: int) -> str:
    """Return the first `theta` distinct words that occur more than `epsilon` times (algorithm 3).

    Stop words do not count, nor do numbers, single characters, and two small letters: in languages
    whose stop words are not known, these are articles and prepositions. A text that repeats fewer
    than three words is trimmed.
    """
    words = [word for word in words_of(text) if _says_something(text, word)]
    counts = Counter(word.key for word in words)
    frequent = _first_distinct((word for word in words if counts[word.key] > epsilon), theta)
    return _phrase(text, frequent) if len(frequent) >= _FEWEST else trim(text, theta)


def _says_something(text: str, word: Word) -> bool:
    length = word.end - word.start
    if length < 2 or word.key.isnumeric() or is_stop_word(word.key):
        return False
    return length > 2 or has_han(word.key) or not text[word.start : word.end].islower()


def _first_distinct(words: Iterable[Word], count: int) -> list[Word]:
    found: dict[str, Word] = {}
    for word in words:
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
