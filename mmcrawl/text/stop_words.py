"""Words that say nothing of a topic."""

from functools import cache

from mmcrawl.text.resources import data_words
from mmcrawl.text.words import stem

__all__ = ["is_stop_word"]


def is_stop_word(word: str) -> bool:
    """Whether `word`, in lower case or as :func:`~mmcrawl.text.segment` gives it, is a stop word.

    Chinese and English function words; lists and their sources in ``dictionaries/stop_words``.
    """
    return word in _stop_words()


@cache
def _stop_words() -> frozenset[str]:
    english = data_words("stop_words", "en.txt")
    return english | {stem(word) for word in english} | data_words("stop_words", "zh.txt")
