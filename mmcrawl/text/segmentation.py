"""Finds a lexicon's words in text by forward maximum matching, and cuts text into words (4.1.1).

A lexicon keeps two tables. Words with a Han character (力学, X射线) are matched as characters,
with or without a blank between Han and other letters (X 射线): a compiled character class finds
the places of a word's first two characters, and only there the table of words is searched, longest
first. Words of other scripts ("Newton's second law") are matched as sequences of their base forms,
longest first: waves are a wave, but probably is not probability. Both are linear in the text: each
place costs at most one look for each different length of the words that begin there.
"""

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from mmcrawl.errors import TopicError
from mmcrawl.text.words import HAN, LONGEST_WORD, base_forms, has_han, stems, unify

_SHORT_TEXT = 200  # characters: anchors and titles repeat on every page of a site, bodies do not
_KEPT_TEXTS = 20_000
_OTHER = f"[^\\W_{HAN}]"
# Begins with the blank, which is quickly found.
_BLANK_AT_HAN = re.compile(f" (?:(?=[{HAN}])(?<={_OTHER} )|(?<=[{HAN}] )(?={_OTHER}))")
_ALL_HAN = re.compile(f"[{HAN}]+")
_HAN_RUN = re.compile(f"([{HAN}]+)")

Hit = tuple[int, int, str]
"""Start, end (exclusive) and the lexicon's word."""


class Lexicon:
    """Words to be found in text, each known by the spelling it was given in.

    Two words that read the same (``Optics`` and ``optics``, 力學 and 力学) are one: the first
    spelling is its name. Raises :class:`~mmcrawl.errors.TopicError` for a word without a letter
    or digit, or longer than 64 characters.

    >>> dict(Lexicon(["力学", "newton's second law"]).find("力學: Newton’s second laws"))
    {'力学': 1, "newton's second law": 1}
    """

    def __init__(self, words: Iterable[str], language: str = "english") -> None:
        self.words: tuple[str, ...] = tuple(words)
        self.language = language
        self._han = _HanWords()
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        names: dict[str | tuple[str, ...], str] = {}
        for word in self.words:
            key = self.key(word)
            if key in names:
                continue
            names[key] = word
            if isinstance(key, str):
                self._han.add(key, word)
                self._han.add(_form(" ".join(unify(word).split())), word)  # 阿基米德 原理
            else:
                self._phrases[key[0]].append((key[1:], word))
        self._names = names
        self._han.compile()
        self._phrases = {
            first: sorted(tails, key=lambda tail: -len(tail[0]))
            for first, tails in self._phrases.items()
        }
        self._find_short = lru_cache(_KEPT_TEXTS)(self._find)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, word: str) -> bool:
        return self.name_of(word) is not None

    def __reduce__(self) -> tuple[type["Lexicon"], tuple[tuple[str, ...], str]]:
        return Lexicon, (self.words, self.language)

    def name_of(self, word: str) -> str | None:
        """The spelling under which the lexicon holds `word`, ``None`` when it does not."""
        try:
            return self._names.get(self.key(word))
        except TopicError:
            return None

    def key(self, word: str) -> str | tuple[str, ...]:
        """The key of `word`, the same for the same word; a TopicError for what cannot be one."""
        if len(word) > LONGEST_WORD:
            raise TopicError(f"the word {word[:20]!r}… is longer than {LONGEST_WORD} characters")
        text = unify(word)
        if has_han(text):
            return "".join(text.split())
        sequence = tuple(form for form in base_forms(text, self.language) if form)
        if not sequence:
            raise TopicError(f"the word {word!r} holds no letter and no digit")
        return sequence

    def find(self, text: str) -> Mapping[str, int]:
        """The number of occurrences in `text` of each word of the lexicon that it contains.

        Longest match first, hits do not overlap. The mapping is read-only; short texts are cached.
        """
        return self._find_short(text) if len(text) <= _SHORT_TEXT else self._find(text)

    def form(self, text: str) -> str:
        """`text` as the words are looked for in it: unified, no blank between Han and letters."""
        text = unify(text)
        return _form(text) if self._han.mixed and not text.isascii() else text

    def han_hits(self, text: str) -> Iterator[Hit]:
        """Places of the words with Han characters in a text in its :meth:`form`, from the left."""
        return self._han.hits(text)

    def phrase_hits(self, sequence: list[str]) -> Iterator[Hit]:
        """Places (indices) of the other words in a sequence of base forms, from the left."""
        phrases, end = self._phrases, 0
        for start in [i for i, stem in enumerate(sequence) if stem in phrases]:
            if start < end:
                continue
            for tail, word in phrases[sequence[start]]:
                after = start + 1 + len(tail)
                if not tail or tuple(sequence[start + 1 : after]) == tail:
                    yield start, after, word
                    end = after
                    break

    def _find(self, text: str) -> Mapping[str, int]:
        text = self.form(text)
        counts: Counter[str] = Counter()
        if not text.isascii():
            hits = list(self._han.hits(text))
            counts.update(word for _, _, word in hits)
            if self._han.mixed:
                text = _blank(text, hits)
        if self._phrases:
            counts.update(word for _, _, word in self.phrase_hits(base_forms(text, self.language)))
        return MappingProxyType(dict(counts))


class _HanWords:
    """The words that hold Han characters, by their first two characters."""

    def __init__(self) -> None:
        self.mixed = False  # whether a word also holds other letters, as X射线 does
        self._names: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}
        self._places: re.Pattern[str] | None = None

    def add(self, word: str, name: str) -> None:
        self._names[word] = name
        self.mixed = self.mixed or _ALL_HAN.fullmatch(word) is None

    def compile(self) -> None:
        if not self._names:
            return
        lengths: dict[str, set[int]] = defaultdict(set)
        for word in self._names:
            lengths[word[:2]].add(len(word))
        self._lengths = {begin: sorted(sizes, reverse=True) for begin, sizes in lengths.items()}
        first = _class(begin[0] for begin in lengths)
        second = _class(begin[1] for begin in lengths if len(begin) > 1)
        alone = _class(begin for begin in lengths if len(begin) == 1)
        rest = [f"(?={second})"] if second else []
        rest += [f"(?<={alone})"] if alone else []
        self._places = re.compile(f"{first}(?:{'|'.join(rest)})")

    def hits(self, text: str) -> Iterator[Hit]:
        if self._places is None:
            return
        lengths, names, end = self._lengths, self._names, 0
        for place in self._places.finditer(text):
            start = place.start()
            if start < end:
                continue
            sizes = lengths.get(text[start : start + 2], ())
            for size in (*sizes, 1) if text[start] in lengths else sizes:
                word = text[start : start + size]
                name = names.get(word)
                if name is not None and _stands_alone(text, start, start + len(word)):
                    end = start + len(word)
                    yield start, end, name
                    break


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a hit that begins or ends in a Latin letter or digit is not part of a longer word."""
    return not (
        (_is_latin(text[start]) and start > 0 and _is_latin(text[start - 1]))
        or (_is_latin(text[end - 1]) and end < len(text) and _is_latin(text[end]))
    )


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _form(text: str) -> str:
    """`text` without the blanks between a Han character and another letter or digit."""
    return _BLANK_AT_HAN.sub("", text)


def _blank(text: str, hits: list[Hit]) -> str:
    """`text` with every hit replaced by one Han character, which keeps words apart."""
    pieces, end = [], 0
    for start, after, _ in hits:
        pieces.append(text[end:start])
        end = after
    return "一".join([*pieces, text[end:]])


def _class(characters: Iterable[str]) -> str:
    inside = "".join(re.escape(character) for character in sorted(set(characters)))
    return f"[{inside}]" if inside else ""


def segment(text: str, lexicon: Lexicon | None = None) -> list[str]:
    """The words of `text`, in order (section 4.1.1).

    Words of the lexicon come first, by forward maximum matching, under the lexicon's spelling.
    Of the rest, Han characters are cut by jieba (in simplified form), words of other scripts are
    put in lower case and stemmed; digits stay, punctuation and runs of more than 64 letters go.

    >>> segment("牛頓的 Experiments, 1687")
    ['牛顿', '的', 'experi', '1687']
    """
    lexicon = lexicon or _no_words()
    text = lexicon.form(text)
    words: list[str] = []
    end = 0
    for start, after, name in lexicon.han_hits(text):
        words += _words(text[end:start], lexicon)
        words.append(name)
        end = after
    words += _words(text[end:], lexicon)
    return words


def _words(text: str, lexicon: Lexicon) -> Iterator[str]:
    """Words of a text without Han hits."""
    for run in _HAN_RUN.split(text):
        if _HAN_RUN.match(run):
            yield from _cut(run)
            continue
        sequence, end = stems(run, lexicon.language), 0
        for start, after, name in lexicon.phrase_hits(base_forms(run, lexicon.language)):
            yield from filter(None, sequence[end:start])
            yield name
            end = after
        yield from filter(None, sequence[end:])


@cache
def _no_words() -> Lexicon:
    return Lexicon(())


def _cut(run: str) -> Iterator[str]:
    # Without the hidden Markov model: its path lists grow quadratically on a long run of
    # characters that form no words.
    words: Iterator[str] = _tokenizer().cut(run, HMM=False)
    return words


@cache
def _tokenizer() -> Any:
    """jieba's tokenizer, loaded without the cache file that it keeps in the temporary folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its use of pkg_resources, and of its string literals
        import jieba

    tokenizer = jieba.Tokenizer()
    # Beginnings of words have no frequency. The loop of jieba itself takes half as long again; all
    # lines at once would be quicker still, but the peak of memory stays with the process.
    tokenizer.FREQ, tokenizer.total = {}, 0
    with tokenizer.get_dict_file() as file:
        while lines := file.readlines(1 << 16):
            fields = b"".join(lines).decode().split()
            words, numbers = fields[::3], list(map(int, fields[1::3]))
            for beginning in [word[:size] for word in words for size in range(1, len(word))]:
                tokenizer.FREQ.setdefault(beginning, 0)
            tokenizer.FREQ.update(zip(words, numbers, strict=True))
            tokenizer.total += sum(numbers)
    tokenizer.initialized = True
    return tokenizer
