"""The words of a text as the index knows them, and where they stand.

Words are those of :func:`mmcrawl.blocks.phrases.words_of`: Chinese cut by jieba and simplified,
others stemmed, all unified. A Chinese word of three characters or more holds shorter ones, which
can be found too: 力学 in 量子力学. Japanese kana have no spaces: each pair of neighbours is a word.
A position counts words, and characters of Chinese words and of kana, so that the words inside of
another have positions of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from mmcrawl.blocks.phrases import words_of
from mmcrawl.text import has_han, segment

__all__ = ["Token", "tokens"]

_INNER = (2, 3)  # characters of a word that is looked for in another


class Token(NamedTuple):
    """One word of a text.

    Attributes:
        word: Its stem, or simplified form.
        position: Within the text, ascending by where the words begin.
        start, end: Characters of the text.
        inner: Whether it is part of a longer word, which comes before it.
    """

    word: str
    position: int
    start: int
    end: int
    inner: bool = False


_KANA = re.compile("[\u3041-\u309f\u30a0-\u30ff]{2,}")


def tokens(text: str) -> Iterator[Token]:
    """Yield the words of a text, each before those inside of it.

    >>> [(token.word, token.position) for token in tokens("Levers 天气预报")]
    [('lever', 0), ('天气预报', 1), ('天气', 1), ('预报', 3)]
    """
    position = 0
    for word, start, end in words_of(text):
        if len(word) == end - start and _KANA.fullmatch(word):
            for offset in range(len(word) - 1):
                at = start + offset
                yield Token(word[offset : offset + 2], position + offset, at, at + 2)
            position += len(word)
            continue
        yield Token(word, position, start, end)
        if not has_han(word):
            position += 1
            continue
        if len(word) > _INNER[0]:
            for offset, inner in _inner_words(word):
                at = start + offset
                yield Token(inner, position + offset, at, at + len(inner), True)
        position += len(word)


@lru_cache(maxsize=65_536)
def _inner_words(word: str) -> tuple[tuple[int, str], ...]:
    """Return the words inside of one, with their offsets: what is one word when it stands alone."""
    found = []
    for offset in range(len(word)):
        for size in _INNER:
            part = word[offset : offset + size]
            if len(part) == size < len(word) and segment(part) == [part]:
                found.append((offset, part))
    return tuple(found)
