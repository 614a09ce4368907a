"""Which words a page is about, and whether a link has any of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mmcrawl.text import is_stop_word, stem, unify
from mmcrawl.text.scripts import HAN

__all__ = ["TopicWords", "words_of"]

_LONGEST = 4000
_RUN = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}]{{3,64}}")
_HAN_RUN = re.compile(rf"[{HAN}]")


def words_of(text: str) -> set[str]:
    """Return the stems of the words in a text; of Chinese, every two characters that adjoin.

    Words of two Latin letters and stop words are left out. Pairs of characters do for comparing
    short texts, without a dictionary.

    >>> sorted(words_of("The optics of lenses")), sorted(words_of("光合作用"))
    (['len', 'optic'], ['作用', '光合', '合作'])
    """
    found: set[str] = set()
    for run in _RUN.findall(unify(text[:_LONGEST])):
        if _HAN_RUN.match(run):
            found.update(run[i : i + 2] for i in range(len(run) - 1))
        elif not is_stop_word(run):
            found.add(stem(run))
    return found


class TopicWords:
    """The words of a page's title, headings and keywords.

    Args:
        texts: What names the page's topic.
        not_of: Texts that stand on every page of the site; their words say nothing.
    """

    def __init__(self, texts: Iterable[str], not_of: Iterable[str] = ()) -> None:
        self._words: set[str] = set().union(*map(words_of, texts))
        self._words -= set().union(*map(words_of, not_of))

    def share(self, anchors: Iterable[str]) -> float:
        """Return the share of texts of links that have a word of the topic."""
        shared = [not self._words.isdisjoint(words_of(anchor)) for anchor in anchors]
        return sum(shared) / len(shared) if shared else 0.0
