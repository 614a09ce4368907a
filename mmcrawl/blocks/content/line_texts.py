"""What the text of each line of a page is like: length, sentences, digits, words that tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

TEXT_COLUMNS = 20
"""How many numbers there are of each line."""

_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)|\b\d{1,2}:\d\d\b")
_POINTER = re.compile(
    r"^(?:read|see|more|related|also|watch|click|subscribe|sign up|follow|share|advert|sponsor|"
    r"recommended|popular|trending|most read|延伸阅读|相关|推荐|分享|责任编辑|上一篇|下一篇|编辑|"
    r"声明|版权)",
    re.MULTILINE,
)
_PHRASES = (
    ("cookie", "privacy", "all rights reserved", "terms of", "terms and", "copyright", "©",
     "newsletter", "subscribe", "版权", "隐私", "icp"),
    ("comment", "reply", "replies", "log in", "login", "sign in", "评论", "回复", "登录", "注册"),
    ("getty", "reuters", "ap photo", "photo:", "photo by", "image:", "image credit", "credit:",
     "shutterstock", "courtesy", "pictured", "图片", "摄影", "来源"),
)  # fmt: skip

_STOP, _COMMA, _DIGIT, _UPPER, _SYMBOL, _CJK, _SPACE, _CJK_STOP, _MONEY = (1 << i for i in range(9))


class LineTexts:
    """The texts of lines, measured.

    Args:
        texts: Of the lines, none empty.
        links: Characters of each inside of links.
        breaks: How many ``<br>`` stand before each.

    Attributes:
        lengths: Characters of each line.
        linked: Those inside of links.
        sentences: How many end in it.
        weights: Characters, Chinese ones counting more.
        columns: One row a line, one column a number.
    """

    def __init__(
        self, texts: Sequence[str], links: NDArray[np.int64], breaks: Sequence[int]
    ) -> None:
        self._texts = texts
        joined = "\n".join(texts) + "\n"
        points = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype="<u4")
        classes = _character_classes()[np.minimum(points, 0xFFFF)]
        lengths = np.array([len(text) for text in texts])
        starts = np.concatenate([[0], np.cumsum(lengths[:-1] + 1)])
        behind = np.append(classes[1:], _SPACE)
        ends_sentence = ((classes & _STOP) > 0) & ((behind & _SPACE) > 0)
        sentences = ends_sentence | ((classes & _CJK_STOP) > 0)

        def count(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.add.reduceat(which, starts, dtype=np.float64)

        number = np.maximum(lengths, 1)
        cjk = count((classes & _CJK) > 0)
        words = count((classes & _SPACE) > 0) + cjk / 2
        self.lengths = lengths.astype(np.float64)
        self.linked = np.minimum(links, lengths).astype(np.float64)
        self.sentences = count(sentences)
        self.weights = self.lengths + 1.5 * cjk
        last = classes[starts + lengths - 1]
        times = Counter(texts)
        seen: set[str] = set()
        again = []
        for text in texts:
            again.append(text in seen)
            seen.add(text)
        columns = [
            np.log1p(lengths),
            self.linked / number,
            np.log1p(self.sentences),
            (last & (_STOP | _CJK_STOP)) > 0,
            np.log1p(words),
            np.log1p(count((classes & _COMMA) > 0)),
            count((classes & _DIGIT) > 0) / number,
            count((classes & _UPPER) > 0) / number,
            count((classes & _SYMBOL) > 0) / number,
            cjk / number,
            lengths / np.maximum(words, 1) / 10,
            np.minimum(breaks, 3),
            again,
            np.log([times[text] for text in texts]),
            count((classes & _MONEY) > 0) > 0,
            *self._phrases(joined, starts),
        ]
        self.columns: Floats = np.stack(columns, axis=1).astype(np.float32)

    def _phrases(self, joined: str, starts: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """Which lines hold a year or a time, begin like a pointer, or hold words of a group."""
        folded = joined.lower()
        if len(folded) != len(joined):
            folded = joined
        columns = [
            np.array([_names_time(text) for text in self._texts], dtype=np.float32),
            np.array([_POINTER.match(folded, at) is not None for at in starts.tolist()]).astype(
                np.float32
            ),
        ]
        for words in _PHRASES:
            found = [at for word in words for at in _occurrences(folded, word)]
            columns.append(_lines_at(found, starts))
        return columns


def _names_time(text: str) -> bool:
    return ("19" in text or "20" in text or ":" in text) and _YEAR.search(text) is not None


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _lines_at(places: list[int], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    marks = np.zeros(len(starts), dtype=np.float32)
    if places:
        marks[np.searchsorted(starts, places, side="right") - 1] = 1
    return marks


@cache
def _character_classes() -> NDArray[np.uint16]:
    """Return the classes of the characters up to U+FFFF as bits."""
    classes = np.zeros(0x10000, dtype=np.uint16)
    for characters, bit in (
        (".!?…", _STOP),
        (",;:、，；：", _COMMA),
        ("|»›©®→←·•/$€£¥￥", _SYMBOL),
        ("。！？…", _CJK_STOP),
        ("$€£¥￥₹", _MONEY),
        (" \n", _SPACE),
    ):
        for character in characters:
            classes[ord(character)] |= bit
    for code in range(0x700):
        character = chr(code)
        classes[code] |= (_DIGIT if character.isdigit() else 0) | (
            _UPPER if character.isupper() else 0
        )
    for first, last in ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF)):
        classes[first : last + 1] |= _CJK
    return classes
