"""The words of a URL in the language of the topic (section 4.1.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from mmcrawl.text.scripts import has_han
from mmcrawl.text.url_splitting import split_url
from mmcrawl.text.url_table import url_table
from mmcrawl.text.words import stem

__all__ = ["UrlWord", "translate_url", "url_text", "url_words"]


@dataclass(frozen=True, slots=True)
class UrlWord:
    """One word of a URL, or a phrase of a few words that has a translation of its own."""

    source: str
    """As in the URL, in lower case: ``physics``, ``wuli``, ``物理``, ``high school``."""

    stem: str
    """Stem of each word of the source; Han characters as they are."""

    translation: str | None
    """In Chinese; ``None`` if the table has none. A Chinese source is its own translation."""

    @property
    def text(self) -> str:
        """The translation, or the stem of a word that has none."""
        return self.translation or self.stem


def url_words(url: str) -> tuple[UrlWord, ...]:
    """The words of `url` with their translations, in order; see :func:`split_url`.

    >>> [word.text for word in url_words("http://h.cn/chuzhong/physics/kejian/")]
    ['初中', '物理', '课件']
    """
    words = split_url(url)
    if _phrases().keys().isdisjoint(words):
        return tuple([_url_word(word) for word in words])
    return tuple(map(_url_word, _with_phrases(words)))


def translate_url(url: str) -> tuple[str, ...]:
    """The words of `url` in Chinese; a word without translation is given as its stem."""
    return tuple([word.text for word in url_words(url)])


def url_text(url: str) -> str:
    """The words of `url` as text in which a lexicon of either language finds its words.

    First all words as they stand in the URL, so that phrases hold together, then the translations.

    >>> url_text("http://h/physics/newton-laws.html")
    'physics newton laws 物理 牛顿 法律'
    """
    words = url_words(url)
    texts = [word.source for word in words]
    texts += [word.translation for word in words if word.translation not in (None, word.source)]
    return " ".join(texts)


def _with_phrases(words: tuple[str, ...]) -> Iterator[str]:
    """The words, those that make a phrase of the table joined; longest phrase first."""
    phrases, end = _phrases(), 0
    for start, word in enumerate(words):
        if start < end:
            continue
        end = start + 1
        for size in phrases.get(word, ()):
            if " ".join(words[start : start + size]) in url_table().translations:
                end = start + size
                break
        yield " ".join(words[start:end])


@cache
def _phrases() -> dict[str, list[int]]:
    """For the first word of each phrase, how many words such phrases have, most first."""
    sizes: dict[str, set[int]] = {}
    for key in url_table().translations:
        if " " in key:
            first, *tail = key.split(" ")
            sizes.setdefault(first, set()).add(1 + len(tail))
    return {first: sorted(counts, reverse=True) for first, counts in sizes.items()}


@lru_cache(65_536)
def _url_word(word: str) -> UrlWord:
    if has_han(word):
        return UrlWord(word, word, word)
    return UrlWord(word, " ".join(map(stem, word.split(" "))), url_table().translation(word))
