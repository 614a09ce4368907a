"""Words of alphabetic scripts: cut out of text, stemmed, and told apart from stop words."""

import re
import threading
import unicodedata
from functools import cache
from typing import Any

import snowballstemmer

from mmcrawl.text.resources import data_lines, data_words
from mmcrawl.text.scripts import HAN

LONGEST_WORD = 64
"""Characters. A longer run of letters is no word but data, and is dropped."""

_KEPT_STEMS = 200_000

_LETTER = f"[^\\W_{HAN}]"
_WORDS_OR_HAN = re.compile(f"({_LETTER}+(?:'+{_LETTER}+)*)|[{HAN}]+")

# Letters, digits and the apostrophe stay; everything else of ASCII separates words.
_ASCII_SEPARATORS = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum() and code != ord("'")}
)


class _Stems(dict[str, str | None]):
    """Stem of each word met so far: ``""`` for one too long, ``None`` for mere apostrophes.

    Forgets everything when full, which costs one pass of stemming and bounds the memory.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stemmer: Any = snowballstemmer.stemmer(language)
        self._singulars = _singulars() if language == "english" else {}
        self._lock = threading.Lock()  # the stemmer keeps a cursor

    def __missing__(self, word: str) -> str | None:
        if len(word) > LONGEST_WORD:
            return ""
        bare = _without_accents(word.strip("'"))
        if not bare:
            return None
        with self._lock:
            found = str(self._stemmer.stemWord(self._singulars.get(bare, bare)))
            if len(self) >= _KEPT_STEMS:
                self.clear()
            self[word] = found
        return found


def stem(word: str, language: str = "english") -> str:
    """Snowball stem of one lower-case word, its accents removed; ``""`` if over `LONGEST_WORD`.

    English plurals that Snowball does not know (lenses, nuclei) are made singular first.
    `language` is a name that snowballstemmer knows; :class:`KeyError` for another.

    >>> stem("experiments"), stem("l'hôpital")
    ('experi', "l'hopit")
    """
    return _stems(language)[word] or ""


def stems(text: str, language: str = "english") -> list[str]:
    """Stems of the words of a unified text, in order.

    ``""`` stands where words are kept apart: for each run of Han characters, and for a word over
    `LONGEST_WORD`.
    """
    known = _stems(language)
    if text.isascii():
        words = text.translate(_ASCII_SEPARATORS).split()
        return [found for word in words if (found := known[word]) is not None]
    return [known[word] or "" if word else "" for word in _WORDS_OR_HAN.findall(text)]


@cache
def _stems(language: str) -> _Stems:
    return _Stems(language)


def _singulars() -> dict[str, str]:
    pairs = (line.split("\t", 1) for line in data_lines("url_words", "plurals.tsv"))
    return dict(pairs)


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word)
    if any("a" <= letter <= "z" for letter in apart):
        return "".join(letter for letter in apart if not unicodedata.combining(letter))
    return word


def is_stop_word(word: str) -> bool:
    """Whether `word`, in lower case or as :func:`~mmcrawl.text.segment` gives it, is a stop word.

    Chinese and English function words; lists and their sources in ``dictionaries/stop_words``.
    """
    return word in _stop_words()


@cache
def _stop_words() -> frozenset[str]:
    english = data_words("stop_words", "en.txt")
    return english | {stem(word) for word in english} | data_words("stop_words", "zh.txt")
