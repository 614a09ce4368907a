"""The table of Latin words in URLs: which words there are, and what they are in Chinese."""

from dataclasses import dataclass
from functools import cache

from mmcrawl.text.resources import data_lines, data_words
from mmcrawl.text.words import stem

_SHORT_WORDS = ("of", "to", "in", "on")  # the only two-letter words cut out of a longer one
_NOISE_WEIGHT = 8
_SHORTEST = 3
_LONGEST = 24
_LEAST_MEAN_LENGTH = 3.5


@dataclass(frozen=True)
class UrlTable:
    """English words, pinyin and curated initials of pinyin; derived from CC-CEDICT."""

    translations: dict[str, str]
    """Chinese word by Latin word; several English words are joined by a blank."""

    by_stem: dict[str, str]
    """Chinese word by the stem of an English word."""

    weights: dict[str, int]
    """The words that a run of letters may be cut into, with their weight (0 to 20)."""

    noise: frozenset[str]
    """Words that say nothing of a page's content, as ``index``."""

    def __len__(self) -> int:
        return len(self.translations)

    def translation(self, word: str) -> str | None:
        """The Chinese for a Latin word in lower case, by the word itself or else by its stem."""
        found = self.translations.get(word)
        if found is None:
            base = stem(word)
            found = self.by_stem.get(base) or self.translations.get(base)
        return found

    def cut(self, letters: str) -> tuple[str, ...] | None:
        """Run-together words, as ``gaozhongwuli``, cut apart; ``None`` if `letters` cannot be.

        Of all cuts into known words the one with fewest words is taken, of these the one with the
        greatest sum of weights. Linear in the length, the length of a word being bounded.
        """
        # For each end: how many words, minus their weight, where the last of them begins.
        best: list[tuple[int, int, int] | None] = [(0, 0, 0)]
        for end in range(1, len(letters) + 1):
            options = []
            for start in range(max(0, end - _LONGEST), end - 1):
                before = best[start]
                if before is not None:
                    weight = self._weight(letters[start:end])
                    if weight is not None:
                        options.append((before[0] + 1, before[1] - weight, start))
            best.append(min(options, default=None))
        words: list[str] = []
        end = len(letters)
        while end and (last := best[end]) is not None:
            words.append(letters[last[2] : end])
            end = last[2]
        if end or len(letters) < _LEAST_MEAN_LENGTH * len(words):
            return None
        return tuple(reversed(words))

    def _weight(self, word: str) -> int | None:
        weight = self.weights.get(word)
        if weight is None and word[-1] == "s" and len(word) > _SHORTEST:
            return self.weights.get(word[:-1])
        return weight


@cache
def url_table() -> UrlTable:
    """The table that ships with mmcrawl, read on first use."""
    translations: dict[str, str] = {}
    by_stem: dict[str, str] = {}
    noise = data_words("url_words", "noise.txt")
    weights = dict.fromkeys((word for word in noise if len(word) >= _SHORTEST), _NOISE_WEIGHT)
    weights |= dict.fromkeys(_SHORT_WORDS, _NOISE_WEIGHT)
    for word in data_words("stop_words", "en.txt"):
        if len(word) >= _SHORTEST and word.isalpha():
            weights[word] = _NOISE_WEIGHT
    for line in data_lines("url_words", "table.tsv"):
        _, key, chinese, weight, *stems = line.split("\t")
        translations[key] = chinese
        if len(key) >= _SHORTEST and " " not in key:
            weights[key] = int(weight)
        for base in stems:
            by_stem[base] = chinese
    return UrlTable(translations, by_stem, weights, noise)
