"""Scripts and words: which characters belong to which script, one spelling for the variants of a
character; words of alphabetic scripts: cutting, stemming, stop words.
"""

import re
import threading
import unicodedata
from functools import cache
from itertools import takewhile
from typing import Any

import Stemmer

from mmcrawl.text.resources import data_lines, data_words

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""Han characters, as the inside of a regular expression's character class."""

_HAN = re.compile(f"[{HAN}]")

# What NFKC changes inside words: superscripts, combining marks, compatibility ideographs,
# ligatures, full-width letters and digits, half-width kana. Full-width punctuation, of which
# every Chinese page is full, is dropped anyway and must not cost a pass.
_COMPATIBILITY = re.compile(
    "[\u00b2\u00b3\u00b9\u0300-\u036f\u2070-\u209c\uf900-\ufb06"
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f]"
)
# Sorting a run of combining marks takes quadratic time; between slices it is cut. A slice ends
# before no mark, unless there are too many.
_LONG_TEXT = 512
_SLICES = re.compile("(?s).{1,512}(?![\u0300-\u036f\uff9e\uff9f])|.{1,512}")


def has_han(text: str) -> bool:
    """Whether `text` holds a Han character."""
    return not text.isascii() and _HAN.search(text) is not None


def unify(text: str) -> str:
    """`text` in lower case, full-width forms made plain (NFKC), traditional characters simplified.

    Only traditional characters that stand for one simplified character are replaced
    (table derived from CC-CEDICT). Linear in the length; texts without variants take a fast path.

    >>> unify("牛頓 Ｐｈｙｓｉｃｓ")
    '牛顿 physics'
    """
    if text.isascii():
        return text.lower()
    if _COMPATIBILITY.search(text) is not None:
        slices = (text,) if len(text) <= _LONG_TEXT else _SLICES.findall(text)
        text = "".join([unicodedata.normalize("NFKC", part) for part in slices])
    traditional, table = _simplifying()
    found = len(traditional.findall(text))
    if found * 8 > len(text):
        text = text.translate(table)
    elif found:  # a few in a simplified text: faster than looking at each character
        text = traditional.sub(lambda old: table[ord(old[0])], text)
    return text.replace("’", "'").lower()


@cache
def _simplifying() -> tuple[re.Pattern[str], dict[int, str]]:
    pairs = (line.split("\t") for line in data_lines("url_words", "traditional.tsv"))
    table = {ord(old): new for old, new in pairs}
    return re.compile(f"[{''.join(map(chr, table))}]"), table


# -- words of alphabetic scripts ------------------------------------------------------------------


LONGEST_WORD = 64
"""Characters. A longer run of letters is no word but data, and is dropped."""

_KEPT_STEMS = 200_000

_LETTER = f"[^\\W_{HAN}]"
_WORDS_OR_HAN = re.compile(f"({_LETTER}+(?:'+{_LETTER}+)*)|[{HAN}]+")

# Letters, digits and the apostrophe stay; everything else of ASCII separates words.
_ASCII_SEPARATORS = str.maketrans(
    {chr(code): " " for code in range(128) if not chr(code).isalnum() and code != ord("'")}
)


# What inflection adds to an English word that Snowball stems: waves, energy/energies, heated.
_INFLECTIONS = frozenset(("", "s", "es", "'s", "s'", "e", "ed", "d", "ing", "ings", "y", "ies"))


class _Stems(dict[str, str | None]):
    """Stem of each word met so far: ``""`` for one too long, ``None`` for mere apostrophes.

    Forgets everything when full, which costs one pass of stemming and bounds the memory.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stemmer: Any = Stemmer.Stemmer(language, 0)  # we remember ourselves
        self._singulars = _singulars() if language == "english" else {}
        self._lock = threading.Lock()  # the stemmer keeps a cursor

    def __missing__(self, word: str) -> str | None:
        if len(word) > LONGEST_WORD:
            return ""
        bare = _without_accents(word.strip("'"))
        if not bare:
            return None
        with self._lock:
            found = self._of(self._singulars.get(bare, bare))
            if len(self) >= _KEPT_STEMS:
                self.clear()
            self[word] = found
        return found

    def _of(self, word: str) -> str:
        return str(self._stemmer.stemWord(word))


class _BaseForms(_Stems):
    """Stems that join the inflections of an English word, not what is derived from it."""

    def _of(self, word: str) -> str:
        stem = super()._of(word)
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(word, stem, strict=False))
        kept = len(list(alike))
        ending = word[kept:]
        doubled = ending.removeprefix(word[kept - 1 : kept])  # plan-ned
        if ending in _INFLECTIONS or doubled in {"ed", "ing"}:
            return stem
        bare = word.removesuffix("'s")
        if bare.endswith("ies"):
            return f"{bare[:-3]}y"
        return bare if bare.endswith(("ss", "us", "is")) else bare.removesuffix("s")


def stem(word: str, language: str = "english") -> str:
    """Snowball stem of one lower-case word, its accents removed; ``""`` if over `LONGEST_WORD`.

    English plurals that Snowball does not know (lenses, nuclei) are made singular first.
    `language` is a name that PyStemmer knows; :class:`KeyError` for another.

    >>> stem("experiments"), stem("l'hôpital")
    ('experi', "l'hopit")
    """
    return _stems(language)[word] or ""


def stems(text: str, language: str = "english") -> list[str]:
    """Stems of a unified text's words in order; ``""`` for Han runs and over `LONGEST_WORD`."""
    return _looked_up(text, _stems(language))


def base_forms(text: str, language: str = "english") -> list[str]:
    """As :func:`stems`, but words of one stem stay apart if more than inflection parts them.

    ``probability`` is not ``probably``, ``solute`` not ``solution``. For a language other than
    English these are the stems.

    >>> base_forms("velocities probably solutes"), base_forms("velocity probability solution")
    (['velocity', 'probabl', 'solut'], ['velocity', 'probability', 'solution'])
    """
    return _looked_up(text, _base_forms() if language == "english" else _stems(language))


def _looked_up(text: str, known: _Stems) -> list[str]:
    if text.isascii():
        words = text.translate(_ASCII_SEPARATORS).split()
        return [found for word in words if (found := known[word]) is not None]
    return [known[word] or "" if word else "" for word in _WORDS_OR_HAN.findall(text)]


@cache
def _stems(language: str) -> _Stems:
    return _Stems(language)


@cache
def _base_forms() -> _BaseForms:
    return _BaseForms("english")


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
