"""Cuts text into tokens, for the index and for queries alike.

Words of alphabetic scripts are stemmed (:func:`mmcrawl.text.stem`). Chinese and Japanese have no
spaces: each character forms a token with its successor in the run, the last one alone. So any part
of a run is found as a phrase of such pairs: 二泉 in 二泉映月. All forms are unified (力學 = 力学).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from mmcrawl.text.words import HAN, stem, unify

Run = tuple[str, ...]
"""Tokens one behind the other; the last may end in ``*``, for any token that begins so."""

_CJK = f"{HAN}\u3041-\u309f\u30a0-\u30ff\uff66-\uff9f"
_WORD = f"[^\\W_{_CJK}]+"
_RUN = re.compile(f"([{_CJK}]+)|{_WORD}(?:['’]{_WORD})*")
_GAP = re.compile(rf"(?<=[{_CJK}])\s+(?=[{_CJK}])")


class Token(NamedTuple):
    """A token of a text, and the characters it stands for."""

    word: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text in order; runs of more than 64 letters are none.

    >>> [token.word for token in tokens("Levers 天气预報")]
    ['lever', '天气', '气预', '预报', '报']
    """
    for run in _RUN.finditer(text):
        start, end = run.span()
        if run.lastindex is None:
            if word := _stemmed(run[0]):
                yield Token(word, start, end)
            continue
        plain = unify(run[0])  # half-width kana with a voicing mark become one character
        for at in range(len(plain)):
            yield Token(plain[at : at + 2], min(start + at, end - 1), min(start + at + 2, end))


@lru_cache(maxsize=65_536)
def _stemmed(word: str) -> str:
    return stem(unify(word))


def phrase_runs(text: str) -> tuple[Run, ...]:
    """Return the runs one of which stands where a text is a part of another; () if it has no token.

    Spaces between Chinese characters count, or not.

    >>> phrase_runs("学 和")
    (('学', '和*'), ('学和',))
    """
    forms = (_run(text), _run(_GAP.sub("", text)))
    return tuple(dict.fromkeys(form for form in forms if form))


def _run(text: str) -> Run:
    found = list(tokens(text))
    words = [token.word for token in found]
    if found and re.match(f"[{_CJK}]", words[-1]):
        # What comes behind the last character of a query is not known.
        before = len(found) > 1 and found[-2].end == found[-1].end
        words[-1:] = [] if before else [words[-1] + "*"]
    return tuple(words)
