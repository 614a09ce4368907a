"""Cutting text into words."""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from mmcrawl.text.lexicon import Lexicon
from mmcrawl.text.scripts import HAN, unify
from mmcrawl.text.words import stems

__all__ = ["segment"]

_HAN_RUN = re.compile(f"([{HAN}]+)")


def segment(text: str, lexicon: Lexicon | None = None) -> list[str]:
    """The words of `text`, in order (section 4.1.1).

    Words of the lexicon come first, by forward maximum matching, under the lexicon's spelling.
    Of the rest, Han characters are cut by jieba (in simplified form), words of other scripts are
    put in lower case and stemmed; digits stay, punctuation and runs of more than 64 letters go.

    >>> segment("牛頓的 Experiments, 1687")
    ['牛顿', '的', 'experi', '1687']
    """
    if lexicon is None:
        return list(_plain_words(unify(text)))
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
        for start, after, name in lexicon.phrase_hits(sequence):
            yield from filter(None, sequence[end:start])
            yield name
            end = after
        yield from filter(None, sequence[end:])


def _plain_words(text: str) -> Iterator[str]:
    for run in _HAN_RUN.split(text):
        if _HAN_RUN.match(run):
            yield from _cut(run)
        else:
            yield from filter(None, stems(run))


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
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
