"""The words of a URL, of its host, path and query, in the language of the topic (section 4.1.2).

The words of hosts, directories and file names are cached, since they repeat throughout a crawl.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from urllib.parse import unquote_to_bytes

from mmcrawl.text.resources import data_lines, data_words, split_host
from mmcrawl.text.segmentation import segment
from mmcrawl.text.words import HAN, has_han, stem, unify

LONGEST_URL = 2048
"""Characters of a URL that are read."""

_LONGEST_WORD = 40  # letters in a row that may still be a word, or words run together

_PARTS = re.compile(r"[^\W_]+")
_RUNS = re.compile(f"[{HAN}]+|[^\\W\\d_{HAN}]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HEX = re.compile(r"(?=.*\d.*\d)(?:[0-9a-f]{8,64}|[0-9A-F]{8,64})")
_BASE64 = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d.*\d)[0-9A-Za-z]{16,}")
_SHORT_WORDS = ("of", "to", "in", "on")  # the only two-letter words cut out of a longer one
_NOISE_WEIGHT = 8  # of 20
_SHORTEST, _LONGEST = 3, 24  # letters of a word that is cut out of a longer one
_LEAST_MEAN_LENGTH = 3.5  # of the words of a cut; below it, letters by chance make words


def split_url(url: str) -> tuple[str, ...]:
    """The words of a URL, in order and in lower case; no URL makes it fail.

    Words are separated by delimiters, capitals, letter–digit borders, and, where they are run
    together, by the table of URL words. Percent codes are read as UTF-8 or else as GBK; Han
    characters are segmented. Left out: ``www`` and the public suffix of the host, the file
    extension, numbers, single letters, session ids, and the words of ``url_words/noise.txt``.
    Only the first 2,048 characters are read.

    >>> split_url("http://www.school.com/gaozhongwuli/newtonLaws2.html?id=7")
    ('school', 'gaozhong', 'wuli', 'newton', 'laws')
    """
    rest = url[:LONGEST_URL].partition("#")[0]
    scheme, colon, after = rest.partition("//")
    if not colon or "/" in scheme or "?" in scheme:
        after = "/" + rest  # a relative URL: no host
    path, _, query = after.partition("?")
    directories, slash, name = path.rpartition("/")
    words = _directory_words(directories if slash else path)
    if name and slash:
        words += _segment_words(name, is_file=True)
    for pair in query.split("&") if query else ():
        words += _pair_words(pair)
    return words


@lru_cache(16_384)
def _directory_words(path: str) -> tuple[str, ...]:
    host, _, directories = path.partition("/")
    words = _host_words(host)
    for directory in directories.split("/"):
        words += _segment_words(directory)
    return words


@lru_cache(4_096)
def _host_words(host: str) -> tuple[str, ...]:
    if not host:
        return ()
    parts = split_host(host)
    labels = parts.subdomain.removeprefix("www").split(".")
    if parts.suffix or labels == [""]:
        labels.append(parts.domain)  # otherwise the domain is a top-level one that is not listed
    return tuple(word for label in labels for word in _words(_without_punycode(label)))


@lru_cache(16_384)
def _segment_words(segment: str, *, is_file: bool = False) -> tuple[str, ...]:
    base, _, parameters = segment.partition(";")
    words = _words(_decode(_EXTENSION.sub("", base) if is_file else base))
    return words + _pair_words(parameters) if parameters else words


@lru_cache(16_384)
def _pair_words(pair: str) -> tuple[str, ...]:
    key, _, value = pair.partition("=")
    if key.lower() in _session_keys():
        return ()
    return _words(_decode(key)) + _words(_decode(value))


def _words(text: str) -> tuple[str, ...]:
    if "-" in text:
        text = _GUID.sub(" ", text)
    words: tuple[str, ...] = ()
    for part in _PARTS.findall(text):
        if not part.isdigit():
            words += _part_words(part)
    return words


@lru_cache(16_384)
def _part_words(part: str) -> tuple[str, ...]:
    """Words of letters and digits without a delimiter between them."""
    if part.isascii():
        table, lower = url_table(), part.lower()
        if lower in table.noise or _HEX.fullmatch(part) or _BASE64.fullmatch(part):
            return ()
        if lower in table.translations:
            return (lower,)
    words: list[str] = []
    for run in _RUNS.findall(part):
        if run.isascii():
            words += _letter_words(run)
        else:
            words += segment(run) if has_han(run) else [unify(run)]
    return tuple(words)


def _letter_words(run: str) -> list[str]:
    """Words of ASCII letters in a row: by the table if it knows them, else by capitals."""
    if len(run) > _LONGEST_WORD:
        return []
    pieces = _CAMEL.findall(run)
    together = _cut(run.lower())
    if len(pieces) > 1 and together is None:
        found = [word for piece in pieces for word in _cut(piece.lower()) or (piece.lower(),)]
    else:
        found = list(together or (run.lower(),))
    noise = url_table().noise
    return [word for word in found if len(word) > 1 and word not in noise]


def _cut(letters: str) -> tuple[str, ...] | None:
    table = url_table()
    return (letters,) if letters in table.weights else table.cut(letters)


def _decode(text: str) -> str:
    if "%" not in text:
        return text
    data = unquote_to_bytes(text.encode("utf-8", "surrogatepass"))
    for encoding in ("utf-8", "gb18030"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", "replace")


def _without_punycode(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label


@cache
def _session_keys() -> frozenset[str]:
    return data_words("url_words", "session_keys.txt")


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

    First all words as they are in the URL, so that phrases hold together, then the translations.

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


@lru_cache(16_384)
def _url_word(word: str) -> UrlWord:
    if has_han(word):
        return UrlWord(word, word, word)
    return UrlWord(word, " ".join(map(stem, word.split(" "))), url_table().translation(word))


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
