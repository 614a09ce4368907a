"""What each line is like (length, sentences, digits, words that tell), and what the page
says of it elsewhere: in the headings above it and in its metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import compress, count
from typing import Any

import numpy as np
import re2
from numpy.typing import NDArray

from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.layout.lines import JoinedTexts, PageLines
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree
from mmcrawl.text.words import has_han

SECTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?:\d+ )?(?:comments?|leave a (?:reply|comment)|discussion|join the|responses|"
        r"(?:网友|用户|读者|最新|热门)?评论|留言|发表|kommentare?r?|commentaires?|coment[aá]rios?|"
        r"commenti|reacties|комментарии|コメント|댓글|التعليقات)\b|\bcomments?(?: \(?\d+\)?)?$|"
        r"^\d+ (?:comments|responses|replies)",
        r"^(?:related|recommended|more (?:from|in|on|stories|news|articles|like)|"
        r"you (?:may|might)|also |read (?:more|next)|see also|similar|trending|popular|most |"
        r"latest|up next|what to read|editor|customers (?:also|who)|people also|recently|"
        r"sponsored|around the web|相关|推荐|猜你|热门|更多|延伸|最新|相關|推薦|熱門|関連|おすすめ|"
        r"オススメ|あわせて|ランキング|新着|人気|관련|많이 본|추천|인기|"
        r"mehr (?:zu|aus|von|über)|weitere |lesen sie|lies auch|auch interessant|das könnte|"
        r"meistgelesen|ähnliche|empfohlen|à lire|lire aussi|sur le même|les plus |voir aussi|"
        r"te puede|más |lo más|relacionad|noticias |leggi anche|potrebbe|leia |veja |mais |"
        r"lees |meer |les (?:også|mer)|läs |læs |flere |fler |mest |siste |senaste |czytaj|"
        r"zobacz|polecane|ilgili|önerilen|en çok|читайте|по теме|похожие|популярн|"
        r"اقرأ|المزيد|مواضيع|الأكثر)",
        r"review|rating|testimonial|what (?:our )?(?:customers|people) |评价",
        r"\bfaqs?\b|questions|常见问题",
        r"newsletter|subscribe|sign up|stay (?:in|up)|get (?:the|our)|join |follow us|connect|"
        r"contact|订阅|关注",
        r"shipping|delivery|returns?\b|refund|warranty|payment|privacy|cookie|terms|policy|"
        r"disclaimer|legal|about (?:us|the author)|footnotes?|references|sources|notes|免责|版权|"
        r"声明",
    )
)
"""What a heading, in lower case, says of the lines below it: comments, related pages, reviews, …"""

_LONGEST_HEADING = 90
_LONGEST_BARE_HEADING = 50
_LEAST_REPEATED, _LEAST_ASCII_REPEATED = 10, 25  # characters
_LONGEST_FOLDED = 300

Floats = NDArray[np.float32]

MAIN_COLUMNS = 4
"""How many numbers of a line, the first ones, are looked at of neighbouring lines, too."""

SLICE = 2000
"""Lines whose numbers are in memory at once."""

_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)|\b\d{1,2}:\d\d\b")
_POINTER = re.compile(
    r"^(?:read|see|more|related|also|watch|click|subscribe|sign up|follow|share|advert|sponsor|"
    r"recommended|popular|trending|most read|延伸阅读|相关|推荐|分享|责任编辑|上一篇|下一篇|编辑|"
    r"声明|版权|相關|推薦|関連|おすすめ|あわせて|관련|mehr (?:zu|aus)|lesen sie|lies auch|à lire|"
    r"lire aussi|voir aussi|más |leggi|leia|veja|lees |les (?:også|mer)|läs |læs |czytaj|"
    r"zobacz|читайте|اقرأ|anzeige|publicité|publicidad|annonse|広告)",
    re.MULTILINE,
)
# What is looked for in lines: a part of a year or a time, the word for comments, phrases. A line in
# which one is found is read no further.
_SOUGHT = tuple(
    re2.compile(f"(?:{words})[^\n]*".encode())
    for words in (
        "19|20|:",
        "comment",
        "cookie|privacy|all rights reserved|terms of|terms and|copyright|©|newsletter|subscribe|"
        "版权|隐私|icp|datenschutz|rechte vorbehalten|impressum|abonnieren|droits réservés|"
        "derechos reservados|転載|著作権|무단|저작권|الحقوق",
        "comment|reply|replies|log in|login|sign in|评论|回复|登录|注册|kommentar|commentaire|"
        "comentario|anmelden|einloggen|コメント|ログイン|댓글|로그인",
        "getty|reuters|ap photo|photo:|photo by|image:|image credit|credit:|shutterstock|courtesy|"
        "pictured|图片|摄影|来源|foto:|bild:|quelle:|写真|撮影|사진|/dpa",
    )
)

_AVERAGED = [2, 9, 14]  # columns

_STOP, _COMMA, _DIGIT, _UPPER, _SYMBOL, _CJK, _SPACE, _CJK_STOP, _MONEY = (1 << i for i in range(9))


class Sections:
    """What the heading above each line says about it.

    A heading names all sections again. A short line that names comments, or is no link and names
    related pages, adds to what the heading has said.

    Attributes:
        levels: Of each line, 1 to 6 where it is a heading, else 0.
    """

    def __init__(self, tree: PageTree, lines: PageLines, measured: LineTexts) -> None:
        levels = {tag: int(tag[1]) for tag in HEADINGS}
        self.levels = tree.mapped(levels, 0)[np.asarray(lines.containers)]
        short = measured.lengths < _LONGEST_BARE_HEADING
        comments, related = SECTIONS[:2]
        said = [0.0] * len(SECTIONS)
        events, sections = [0], [said]
        known = zip(
            count(), lines.texts, self.levels.data, measured.comments.data, measured.linked.data
        )
        for row, line, level, has_word, linked in compress(known, (short | (self.levels > 0)).data):
            text = line.lower()
            if level > 0:
                said = _sections_named(text)
            else:
                # What names comments further on has the word; all else begins the line.
                names = comments.search if has_word else comments.match
                named = names(text) is not None
                leads_on = linked == 0 and related.match(text) is not None
                if not (named or leads_on):
                    continue
                said = [max(said[0], named), max(said[1], leads_on), *said[2:]]
            events.append(row)
            sections.append(said)
        # Of the line 0, which may be an event as well, the last entry counts.
        self._events = np.array(events)
        self._sections = np.array(sections, dtype=np.float32)

    def columns(self, start: int, end: int) -> Floats:
        """Return the numbers of some lines: one row a line."""
        levels = self.levels[start:end, None]
        rows = np.arange(start, start + len(levels))
        event = np.searchsorted(self._events, rows, side="right") - 1
        distances = np.log1p(rows - self._events[event])
        return np.hstack([self._sections[event], levels, distances[:, None]]).astype(np.float32)


def _sections_named(heading: str) -> list[float]:
    """Return which sections a heading names."""
    if len(heading) >= _LONGEST_HEADING:
        return [0.0] * len(SECTIONS)
    return [float(pattern.search(heading) is not None) for pattern in SECTIONS]


class Repetitions:
    """The lines that the page's own metadata repeats."""

    def __init__(self, lines: PageLines, metadata: PageMetadata) -> None:
        texts = lines.texts
        lengths = np.diff(texts.starts) - 1
        title, headline = metadata.title.casefold(), metadata.headline.casefold()
        summary = metadata.description[:50]
        marks = self._marks = np.zeros((len(lines), 6), dtype=np.bool_)
        # No character's folded form is shorter, or more than three times as long.
        longest = min(max(len(title), len(headline)), _LONGEST_FOLDED - 1)
        for row, text in compress(enumerate(texts), (lengths > 3).data):
            length = len(text)
            least = _LEAST_ASCII_REPEATED if text.isascii() else _LEAST_REPEATED
            start = text[:60]
            folded = text.casefold() if length < _LONGEST_FOLDED else ""
            told = (
                length >= least and start in metadata.data,
                length >= least and start in metadata.description,
                length <= longest and folded in title,
                len(title) > 10 and title in folded,
                length <= longest and folded in headline,
                len(summary) > 25 and summary in text,
            )
            if any(told):
                marks[row] = told

    def columns(self, start: int, end: int) -> Floats:
        """Return the numbers of some lines: one row a line."""
        return self._marks[start:end].astype(np.float32)


class LineTexts:
    """The texts of lines, measured; what is not asked for often is measured a slice at a time.

    Args:
        links: Characters of each inside links.
        breaks: How many ``<br>`` stand before each.

    Attributes:
        lengths: Characters of each line.
        linked: Those inside links.
        sentences: How many end in it.
        weights: Characters, Chinese ones counting more.
        words: About how many each has.
        equal: Numbers of which lines of the same text have the same.
        comments: Which hold the word "comment".
        shares: Of the page: the means, over its characters, of the columns of sentences, of Chinese
            characters and of prices.
    """

    def __init__(
        self, texts: JoinedTexts, links: NDArray[np.int64], breaks: NDArray[np.int32]
    ) -> None:
        self._texts = texts
        self._breaks = breaks
        self.lengths = np.diff(texts.starts) - 1
        self.linked = np.minimum(links, self.lengths).astype(np.int32)
        # Equal texts have equal hashes, and no two others are to be expected in any page.
        hashes = np.fromiter(map(hash, texts), np.int64, len(texts))
        _, first, which, times = np.unique(
            hashes, return_index=True, return_inverse=True, return_counts=True
        )
        self._again = first[which] < np.arange(len(texts))
        self._times = times[which].astype(np.int32)
        self.words = line_words(texts)
        folded = texts.folded()
        maybe_times, self.comments, *phrases = texts.holding(_SOUGHT, folded)
        if folded is texts.joined:  # in which there may be capitals
            self.comments = np.array(["comment" in text.lower() for text in texts])
        phrases = [self._named_times(maybe_times), self._pointers(folded), *phrases]
        self._phrases = np.stack(phrases, axis=1)
        self._last = (-1, -1, np.zeros((0, 0), dtype=np.float32))
        self.sentences = np.zeros(len(texts), dtype=np.int32)
        self.weights = np.zeros(len(texts), dtype=np.float64)
        self._stopped = np.zeros(len(texts), dtype=np.bool_)
        share = self.lengths / max(1.0, float(self.lengths.sum()))
        self.shares = np.zeros(len(_AVERAGED))
        for start in range(0, len(texts), SLICE):
            end = min(start + SLICE, len(texts))
            self._measure(start, end)
            self.shares += share[start:end] @ self._last[2][:, _AVERAGED]

    def columns(self, start: int, end: int) -> Floats:
        """Return the numbers of some lines: one row a line, one column a number."""
        first, after, measured = self._last
        if not first <= start <= end <= after:
            self._measure(start, end)
            return self._last[2]
        return measured[start - first : end - first]

    def main_columns(self, start: int, end: int) -> Floats:
        """Return the first columns of some lines."""
        these = slice(start, end)
        return np.stack(self._main(these), axis=1).astype(np.float32)

    def _main(self, these: slice) -> list[NDArray[Any]]:
        lengths = self.lengths[these]
        return [
            np.log1p(lengths),
            self.linked[these] / np.maximum(lengths, 1),
            np.log1p(self.sentences[these]),
            self._stopped[these],
        ]

    def _measure(self, start: int, end: int) -> None:
        """Count the characters of some lines by their classes."""
        these = slice(start, end)
        bounds = self._texts.starts[start : end + 1]
        starts = bounds[:-1] - bounds[0]
        joined = self._texts.joined[bounds[0] : bounds[-1]]
        points = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype="<u4")
        classes = _character_classes()[np.minimum(points, 0xFFFF)]
        lengths = self.lengths[these]

        def count(bits: int) -> NDArray[np.float64]:
            return np.add.reduceat((classes & bits) > 0, starts, dtype=np.float64)

        ended = np.flatnonzero(classes & (_STOP | _CJK_STOP))
        behind = classes[np.minimum(ended + 1, len(classes) - 1)]
        is_end = (classes[ended] & _CJK_STOP > 0) | (behind & _SPACE > 0)
        lines = np.searchsorted(starts, ended[is_end], side="right") - 1
        number = np.maximum(lengths, 1)
        cjk = count(_CJK)
        words = count(_SPACE) + cjk / 2
        self.sentences[these] = np.bincount(lines, minlength=len(lengths))
        self.weights[these] = lengths + 1.5 * cjk
        self._stopped[these] = (classes[starts + lengths - 1] & (_STOP | _CJK_STOP)) > 0
        columns = [
            *self._main(these),
            np.log1p(words),
            np.log1p(count(_COMMA)),
            count(_DIGIT) / number,
            count(_UPPER) / number,
            count(_SYMBOL) / number,
            cjk / number,
            lengths / np.maximum(words, 1) / 10,
            np.minimum(self._breaks[these], 3),
            self._again[these],
            np.log(self._times[these]),
            count(_MONEY) > 0,
            *self._phrases[these].T,
        ]
        self._last = (start, end, np.stack(columns, axis=1).astype(np.float32))

    def _named_times(self, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The lines that hold a year or a time, of those that may."""
        for row in np.flatnonzero(found).tolist():
            found[row] = _YEAR.search(self._texts[row]) is not None
        return found

    def _pointers(self, folded: str) -> NDArray[np.bool_]:
        """The lines that begin like a pointer to something else."""
        match = _POINTER.match
        starts = self._texts.starts[:-1].tolist()
        return np.array([match(folded, at) is not None for at in starts], dtype=np.bool_)


def line_words(texts: Iterable[str]) -> NDArray[np.float64]:
    """Return about how many words each line has; Chinese characters count one each."""
    return np.array(
        [
            text.count(" ") + 1 if text.isascii() or not has_han(text) else len(text)
            for text in texts
        ],
        dtype=np.float64,
    )


@cache
def _character_classes() -> NDArray[np.uint16]:
    """Return the classes of the characters up to U+FFFF as bits."""
    classes = np.zeros(0x10000, dtype=np.uint16)
    for characters, bit in (
        (".!?…؟۔।", _STOP),
        (",;:、，；：،؛", _COMMA),
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
