"""Words that reveal the kind of a block, read on first use; and words of a page's topic."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import cache, lru_cache
from itertools import accumulate

from mmcrawl.text.resources import data_lines
from mmcrawl.text.words import HAN, is_stop_word, stem, unify

AREAS = (
    "advertisement",
    "comments",
    "noise",
    "related",
    "tags",
    "navigation",
    "meta",
    "side",
    "foot",
    "head",
    "content",
)
"""What the class and id of an element may say that it is for; the first of several counts."""

_FOLDER = "block_words"
_LISTS = ("navigation", "noise", "onward", "tags")  # whose words are looked for as whole texts
_BEGINNINGS = (  # … and at the beginnings of texts
    "advertisement", "byline", "comments", "copyright", "more", "navigation", "noise", "related",
    "tags",
)  # fmt: skip
_NO_RANK = len(AREAS)
_LONGEST_NAMES = 1000  # characters
_LONGEST_TEXT = 200
# Words of style, not of purpose: a page *with* a side bar, content that is justified.
_NO_PURPOSE = re.compile(
    r"\b(?:has|no|with|without|is|align|justify|items|text|font|col|row|bg|clear|elementor)-[\w-]+"
    r"|\b(?:tag|category)-(?!list|cloud|links)[\w-]+",
    re.IGNORECASE,
)
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")
_LONGEST_READ = 4000  # characters
_RUN = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}]{{3,64}}")
_HAN_RUN = re.compile(rf"[{HAN}]")
_LATIN = re.compile("[a-z]")
_ENDS = " \t:：»«<>›‹|/·•→←↑↓·—–-[]【】()（）<<>>…。.,，!！?？*+#=“”\"'0123456789"


def area_of_names(names: str) -> str:
    """Return the area that class and id of an element name, or "".

    >>> area_of_names("post-nav bottom"), area_of_names("with-sidebar")
    ('navigation', '')
    """
    return _area_of_names(names[:_LONGEST_NAMES])


@lru_cache(maxsize=8192)
def _area_of_names(names: str) -> str:
    if "-" in names:
        names = _NO_PURPOSE.sub(" ", names)
    words = _WORD.findall(_CAMEL_CASE.sub(" ", names).lower())
    rank = min(map(_rank, words), default=_NO_RANK)
    return AREAS[rank] if rank < _NO_RANK else ""


@lru_cache(maxsize=8192)
def _rank(word: str) -> int:
    """Return the rank of the area that a word of a class names."""
    exact, patterns = _class_words()
    if word in exact:
        return exact[word]
    match = patterns.fullmatch(word)
    return (match.lastindex or 1) - 1 if match else _NO_RANK


def holds(kind: str, text: str) -> bool:
    """Whether a text holds a word of the list of a kind anywhere."""
    return holding(kind, [unify(text)])[0]


def holding(kind: str, plain: Sequence[str]) -> list[bool]:
    """Return of each unified text whether it holds a word of a kind; looked for in all at once."""
    together = "\n".join(plain)
    ends = list(accumulate(len(text) + 1 for text in plain))
    held = [False] * len(plain)
    for word in _words(kind):
        at = together.find(word)
        while at >= 0:
            after = at + len(word)
            # A Latin word ends where no letter is; Chinese has no such ends.
            beside = together[at - 1 : at] + together[after : after + 1]
            if word[-1].isascii() and _LATIN.search(beside):
                after = at + 1
            else:
                number = bisect_right(ends, at)
                held[number] = True
                after = ends[number]
            at = together.find(word, after)
    return held


def begins_with(kind: str, text: str) -> bool:
    """Whether a text begins with a word of the list of a kind."""
    return kind in kinds_begun(text)


def kinds_begun(text: str) -> frozenset[str]:
    """Return the kinds with a word of whose list a text begins."""
    return _kinds_begun(text[:_LONGEST_TEXT])


@lru_cache(maxsize=8192)
def _kinds_begun(text: str) -> frozenset[str]:
    bare = _bare(text)
    words = _by_first_characters()
    return frozenset(
        kind
        for word, kind in (*words.get(bare[:1], ()), *words.get(bare[:2], ()))
        if bare.startswith(word)
        and not (word[-1].isascii() and "a" <= bare[len(word) :][:1] <= "z")
    )


@cache
def _by_first_characters() -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for kind in _BEGINNINGS:
        for word in _words(kind):
            found[word[:2]].append((word, kind))
    return dict(found)


def lists_of(text: str) -> frozenset[str]:
    """Return the kinds whose list has a text for a word, but for punctuation and digits.

    >>> sorted(lists_of("« Home"))
    ['navigation']
    """
    return _lists_of(text) if len(text) <= _LONGEST_TEXT else frozenset()


@lru_cache(maxsize=8192)
def _lists_of(text: str) -> frozenset[str]:
    return _all_words().get(_bare(text), frozenset())


@cache
def _all_words() -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = defaultdict(frozenset)
    for kind in _LISTS:
        for word in _words(kind):
            kinds[word] |= {kind}
    return dict(kinds)


def _bare(text: str) -> str:
    return unify(text).strip(_ENDS)


@cache
def _words(kind: str) -> tuple[str, ...]:
    """Return the words of a list, the longest first."""
    found = {unify(line.strip()) for line in data_lines(_FOLDER, f"{kind}.txt")}
    return tuple(sorted(found, key=len, reverse=True))


@cache
def _class_words() -> tuple[dict[str, int], re.Pattern[str]]:
    """Return the rank of the area of each word, and a pattern with a group for each area."""
    exact: dict[str, int] = {}
    starred: list[list[str]] = [[] for _ in AREAS]
    for line in data_lines(_FOLDER, "classes.txt"):
        area, _, words = line.partition("\t")
        rank = AREAS.index(area)
        for word in words.split():
            if "*" in word:
                starred[rank].append(re.escape(word).replace(r"\*", "[a-z]*"))
            else:
                exact[word] = min(rank, exact.get(word, rank))
    groups = (f"({'|'.join(words) or '(?!)'})" for words in starred)
    return exact, re.compile("|".join(groups))


def words_of(text: str) -> Set[str]:
    """Return the stems of the words in a text; of Chinese, every two characters that adjoin.

    Words of two Latin letters and stop words are left out. Pairs of characters do for comparing
    short texts, without a dictionary.

    >>> sorted(words_of("The optics of lenses")), sorted(words_of("光合作用"))
    (['len', 'optic'], ['作用', '光合', '合作'])
    """
    return _known_words(text) if len(text) <= _LONGEST_TEXT else _words_in(text)


def _words_in(text: str) -> Set[str]:
    found: set[str] = set()
    for run in _RUN.findall(unify(text[:_LONGEST_READ])):
        if _HAN_RUN.match(run):
            found.update(run[i : i + 2] for i in range(len(run) - 1))
        elif not is_stop_word(run):
            found.add(stem(run))
    return found


_known_words = lru_cache(maxsize=8192)(_words_in)  # of short texts: long ones seldom come again


class TopicWords:
    """The words of a page's title, headings and keywords."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: set[str] = set().union(*map(words_of, texts))

    def is_in(self, text: str) -> bool:
        """Whether a text has a word of the topic."""
        return not self._words.isdisjoint(words_of(text))
