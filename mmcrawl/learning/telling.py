"""Words that stand on good pages rather than on bad ones: for a person to read, and to look for."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mmcrawl.learning.examples import Example
from mmcrawl.scoring.page_features import page_texts
from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import has_han, is_stop_word, stem, unify

_LONGEST = 20_000  # characters of a text
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SHORTEST, _LONGEST_WORD = 3, 40  # letters
_LEAST_SHARE = 0.1  # of the good pages
_LEAST_RATIO = 0.8  # of the logarithms of the odds: 2.2 times as often
_WHOLE_PHRASE = 0.8  # of the pages with a word have the phrase, which is then shown alone
_NOT_READ = frozenset({"url", "anchors"})
_ALIKE = 4  # pages of a site, from which on lines that most of them share are its own, not theirs


@dataclass(frozen=True, slots=True)
class TellingWord:
    """A word or phrase that tells good pages from bad ones.

    Attributes:
        word: As it is written most often.
        good, bad: On how many of the good and of the bad pages it stands.
        score: By which words are ordered: the weightiest stand on many good pages, and seldom on
            bad ones.
    """

    word: str
    good: int
    bad: int
    score: float


def telling_words(
    good: Sequence[Example], bad: Sequence[Example], most: int = 30, known: Collection[str] = ()
) -> list[TellingWord]:
    """Return the words that stand on good pages rather than on bad ones, the weightiest first.

    Each word is told by the difference of its smoothed log-odds (Monroe, Colaresi & Quinn 2008,
    equation 15, over pages instead of tokens), times the share of good pages that hold it. Where
    the good pages are of three sites or more, words of one site only are left out: they are its
    name and its menu. So are lines that stand on more than half of the pages of a site.

    Args:
        good, bad: The pages.
        most: How many words at most.
        known: Words that are left out, as a topic may have them already.
    """
    own_lines = _lines_of_sites([*good, *bad])
    written: dict[str, Counter[str]] = defaultdict(Counter)
    sites: dict[str, set[str]] = defaultdict(set)
    on_good, on_bad = Counter[str](), Counter[str]()
    for example in good:
        for key, forms in _words_of(example, own_lines).items():
            on_good[key] += 1
            written[key].update(forms)
            sites[key].add(example.site)
    for example in bad:
        on_bad.update(_words_of(example, own_lines).keys())
    least_sites = 2 if len({example.site for example in good}) > 2 else 1
    least = max(2, math.ceil(_LEAST_SHARE * len(good)))
    left_out = {_key(word) for word in known}
    scores = {}
    for key, count in on_good.items():
        ratio = _log_odds(count, len(good)) - _log_odds(on_bad[key], len(bad))
        if count >= least and ratio >= _LEAST_RATIO and len(sites[key]) >= least_sites:
            scores[key] = ratio * math.sqrt(count / len(good))
    inside = _inside_phrases(scores, on_good)
    keys = sorted(scores.keys() - left_out - inside, key=lambda key: (-scores[key], key))
    return [
        TellingWord(written[key].most_common(1)[0][0], on_good[key], on_bad[key], scores[key])
        for key in keys[:most]
    ]


def _log_odds(count: int, pages: int) -> float:
    return math.log((count + 0.5) / (pages - count + 0.5))


def _inside_phrases(keys: Iterable[str], counts: Counter[str]) -> set[str]:
    """Return the words that hardly ever stand outside of a phrase, and the phrases' parts."""
    found = set()
    for key in keys:
        words = key.split()
        if len(words) > 1:
            found |= {w for w in words if counts[key] >= _WHOLE_PHRASE * counts[w]}
    return found


def _key(word: str) -> str:
    return " ".join(stem(part) for part in unify(word).lower().split())


def _lines_in(example: Example) -> Iterator[str]:
    for place, text in page_texts(example.page):
        if place not in _NOT_READ:
            yield from text[:_LONGEST].split("\n")


def _lines_of_sites(examples: Iterable[Example]) -> dict[str, set[str]]:
    """Return of each site the lines that stand on more than half of its pages."""
    pages, lines = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for example in examples:
        pages[example.site] += 1
        lines[example.site].update(set(_lines_in(example)))
    return {
        site: {line for line, count in lines[site].items() if count > number / 2}
        for site, number in pages.items()
        if number >= _ALIKE
    }


def _words_of(example: Example, own_lines: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the words and phrases of a page: of each stem, the forms it is written in."""
    left_out = own_lines.get(example.site, set())
    found: dict[str, set[str]] = defaultdict(set)
    for line in _lines_in(example):
        for word in _words_in(line) if line not in left_out else ():
            if key := _key(word):
                found[key].add(word)
    return found


def _words_in(text: str) -> Iterator[str]:
    """Yield words in lower case, phrases of two of them, and words of Han characters."""
    if has_han(text):
        yield from (word for word in segment(text) if len(word) > 1 and _says_something(word))
    before, end = "", -1
    for match in _WORD.finditer(unify(text).lower().replace("’", "'")):
        word = match[0]
        if has_han(word) or not _SHORTEST <= len(word) <= _LONGEST_WORD or is_stop_word(word):
            before = ""
            continue
        yield word
        if before and match.start() == end + 1 and text[end : end + 1] == " ":
            yield f"{before} {word}"
        before, end = word, match.end()


def _says_something(word: str) -> bool:
    return has_han(word) and not is_stop_word(word)
