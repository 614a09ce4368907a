"""The topic of a block in a few words (Song et al. 2008, section 2.2).

A topic is *found* where the block shows one: text in the largest type, standing alone at the front,
or of a colour of its own. Otherwise it is *extracted* from the block's words. Both depend only on
the content of the block, not on the type and colours of the page around it, nor on the encoding, so
equal content always has the same topic.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np

from mmcrawl.blocks.partitioners.base import number, switch
from mmcrawl.blocks.phrases import extract, has_words, trim
from mmcrawl.page.html.tags import BLOCK_TAGS, HEADINGS, HIDDEN
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import PLAIN, STYLED_ATTRIBUTES, STYLED_TAGS, Look, look_of

_READ = 10_000  # characters of a block that words are extracted from
_FEW, _SHORT, _KEPT = 50, 1_000, 4_096  # pieces and characters of blocks that are remembered
_LONGEST = 200  # characters of a topic that is taken as it is

_BOLD = HEADINGS | frozenset("b strong th".split())
_NAMING = frozenset("caption legend summary".split())
_BREAKS = BLOCK_TAGS | {"br"}
_SETTING = STYLED_TAGS | _BOLD | {"a", "noscript"}
_STYLED = tuple(name.encode() for name in sorted(STYLED_ATTRIBUTES))
_PICTURES = frozenset("img area input".split())
_TELLING = re.compile(r"[^\W\d_].*?[^\W\d_]|[\u3400-\u9fff]", re.DOTALL)
_DECORATION = " \t:：|»«›‹>·•-–—→←↑↓*#"
_SENTENCE_ENDS = (".", ",", ";", "!", "。", "，", "；", "！", "…")


@dataclass(frozen=True)
class TopicRules:
    """The parameters of section 2.2, for which the paper gives no figures.

    Attributes:
        theta: The largest number of words in a topic; of a found text, none are left out up to
            here.
        delta: Words from which on words are extracted by their frequency; below, the text is
            trimmed.
        distinct: Whether the first `theta` different words are meant. As printed, algorithms 2 and
            3 look at the first `theta` words, repeated ones among them.
    """

    theta: int = 15
    delta: int = 30
    epsilon: int = 1  # occurrences that an extracted word must exceed
    distinct: bool = False

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the rules with some options, which may be text; a ValueError for a wrong value."""
        given: dict[str, Any] = {}
        for name, value in options.items():
            if name == "distinct":
                given[name] = switch(name, value)
            else:
                given[name] = number(name, value, int, int(name == "theta"))
        return cls(**given)


class PageTopics:
    """The topics of the blocks of one page.

    Blocks lie inside each other: what an element does to the text in it is found once for all
    of them, in a pass over the page.
    """

    def __init__(self, tree: PageTree, rules: TopicRules | None = None) -> None:
        self._tree = tree
        self._rules = rules or TopicRules()
        self._runs = _Runs(tree)

    def of(self, nodes: range) -> str:
        """Return the topic of nodes in a row, of images alone by ``alt`` and ``title``; or ""."""
        pieces = self._runs.pieces(nodes)
        if not pieces:
            texts = _picture_texts(self._tree, nodes)
            return _shortened(" ".join(dict.fromkeys(texts)), self._rules)
        is_short = len(pieces) <= _FEW and sum(len(piece.text) for piece in pieces) <= _SHORT
        return (_known_topic if is_short else _topic)(tuple(pieces), self._rules)


def _topic(pieces: Sequence[_Piece], rules: TopicRules) -> str:
    if found := _found(pieces, rules.theta):
        return _shortened(found, rules)
    text = "\n".join([piece.text for piece in pieces])[:_READ]
    if has_words(text, rules.delta):
        return extract(text, rules.theta, rules.epsilon, distinct=rules.distinct)
    return trim(text, rules.theta, distinct=rules.distinct)


# The same menus, boxes and footers stand on every page of a site.
_known_topic = lru_cache(_KEPT)(_topic)


# ---------------------------------------------------------------- reading


class _Setting(NamedTuple):
    """The look of text inside an element, as far as the block itself declares it."""

    look: Look = PLAIN
    bold: bool = False
    heading: bool = False
    linked: bool = False
    fallback: bool = False  # for readers without scripts


_OUTSIDE = _Setting()


class _Piece(NamedTuple):
    """Text of one line that is set in one way, white space collapsed."""

    text: str
    line: int  # in the block
    tag: str  # of its block-level element
    setting: _Setting


class _Runs:
    """The runs of text of a page, each with the elements around it that do something to it.

    Of these the innermost ones are known: one that hides the text, one that is block-level, one
    that sets it otherwise (0 where there is none). To a block, those count that begin in it.
    """

    def __init__(self, tree: PageTree) -> None:
        self._tree = tree
        self._nodes: list[int] = tree.runs.tolist()
        self._styled = set(tree.mentioning(*_STYLED))
        self._has_fallbacks = bool(tree.elements("noscript"))
        sets = tree.having(_SETTING)
        sets[list(self._styled)] = True
        hidden_by = tree.innermost(tree.having(HIDDEN))
        self._hidden_by: list[int] = hidden_by.tolist()
        self._containers: list[int] = tree.innermost(tree.having(BLOCK_TAGS)).tolist()
        self._set_by: list[int] = tree.innermost(sets).tolist()
        # Of each run: of the elements since the last one that break the line, the least one that
        # is hidden inside an element, by that element.
        self._broken: list[int] = []
        if self._nodes:
            broken = np.where(tree.having(_BREAKS), hidden_by, len(tree))[: self._nodes[-1] + 1]
            since = np.append(0, tree.runs[:-1])
            self._broken = np.minimum.reduceat(broken, since).tolist()

    def pieces(self, nodes: range) -> list[_Piece]:
        """Return the visible text of a block, cut where its line or its setting ends."""
        pieces = [
            _Piece(text, *place)
            for place, runs in groupby(self._visible(nodes), itemgetter(0))
            if (text := self._joined([run for _, run in runs]))
        ]
        if not self._has_fallbacks or _mostly(pieces, "fallback"):
            return pieces
        return [piece for piece in pieces if not piece.setting.fallback]

    def _visible(self, nodes: range) -> Iterator[tuple[tuple[int, str, _Setting], int]]:
        """Yield the visible runs of a block, each behind its line, tag and setting."""
        tags, start = self._tree.tags, max(nodes.start, 1)
        settings: dict[int, _Setting] = {}
        last, line = -1, 0
        first = bisect_left(self._nodes, start)
        for run in range(first, bisect_left(self._nodes, nodes.stop, first)):
            node = self._nodes[run]
            line += run > first and self._broken[run] < start
            if self._hidden_by[node] >= start:
                continue
            container, set_by = self._containers[node], self._set_by[node]
            if container < start:
                container = -1
            line += container != last
            last = container
            setting = self._setting(set_by, start, settings) if set_by >= start else _OUTSIDE
            yield (line, tags[container] if container >= 0 else "", setting), run

    def _joined(self, runs: Sequence[int]) -> str:
        if len(runs) == 1:
            return self._texts[runs[0]]
        texts, nodes, apart = self._tree.texts, self._nodes, self._tree.apart
        pieces = [f" {texts[run]}" if apart[nodes[run]] else texts[run] for run in runs]
        return " ".join("".join(pieces).split())

    @cached_property
    def _texts(self) -> list[str]:
        """The text of each run by itself: most are alone in their line, in blocks of all levels."""
        return [" ".join(text.split()) for text in self._tree.texts]

    def _setting(self, node: int, start: int, known: dict[int, _Setting]) -> _Setting:
        """Return the setting inside an element that sets text, in a block from `start` on."""
        chain: list[int] = []
        while node >= start and node not in known:
            chain.append(node)
            node = self._set_by[self._tree.parents[node]]
        setting = known.get(node, _OUTSIDE)
        for node in reversed(chain):
            setting = known[node] = self._inner(node, setting)
        return setting

    def _inner(self, node: int, around: _Setting) -> _Setting:
        tag, look = self._tree.tags[node], around.look
        if tag in STYLED_TAGS or node in self._styled:
            look = look_of(tag, self._tree.attributes(node), look)
        return _set_by(tag, look, around)


@lru_cache(_KEPT)
def _set_by(tag: str, look: Look, around: _Setting) -> _Setting:
    return _Setting(
        look,
        around.bold or tag in _BOLD,
        around.heading or tag in HEADINGS,
        around.linked or tag == "a",
        around.fallback or tag == "noscript",
    )


def _picture_texts(tree: PageTree, nodes: range) -> Iterator[str]:
    for node in nodes:
        if tree.tags[node] in _PICTURES:
            attributes = tree.attributes(node)
            for name in ("alt", "title"):
                if text := " ".join(attributes.get(name, "").split()):
                    yield text


# ---------------------------------------------------------------- finding


def _found(pieces: Sequence[_Piece], theta: int) -> str:
    telling = [piece for piece in pieces if _TELLING.search(piece.text)]
    if not telling:
        return ""
    if len({piece.setting.look for piece in telling}) == 1:
        return _alone_at_front(telling, theta)
    return _largest(telling) or _alone_at_front(telling, theta) or _of_own_colour(telling)


def _largest(pieces: Sequence[_Piece]) -> str:
    """Return the text in the largest type, if most text, or what a heading names, is smaller."""
    sizes: Counter[float] = Counter()
    for piece in pieces:
        sizes[piece.setting.look.size] += len(piece.text)
    if len(sizes) < 2:
        return ""
    largest = max(sizes)
    first = next((piece for piece in pieces if piece.setting.look.size == largest), None)
    if first is None:  # no number: a share of a size beyond all numbers
        return ""
    if not first.setting.heading and sizes.most_common(1)[0][0] == largest:
        return ""
    return _whole(pieces, first)


def _whole(pieces: Sequence[_Piece], first: _Piece) -> str:
    """Return the text of a piece and of those of its line that are as large."""
    size = first.setting.look.size
    return " ".join(
        piece.text
        for piece in pieces
        if piece.line == first.line and piece.setting.look.size == size
    )


def _alone_at_front(pieces: Sequence[_Piece], theta: int) -> str:
    """Return the first line, if it is short and nothing follows, or lines unlike it."""
    first = [piece for piece in pieces if piece.line == pieces[0].line]
    rest = pieces[len(first) :]
    text = " ".join([piece.text for piece in first])
    if len(text) > _LONGEST:
        return ""
    if rest and (text.endswith(_SENTENCE_ENDS) or not _stands_out(first, rest, theta)):
        return ""
    return "" if has_words(text, theta + 1) else text


def _stands_out(first: Sequence[_Piece], rest: Sequence[_Piece], theta: int) -> bool:
    """Whether a line is the caption, or bold, or no link before links, or before a paragraph."""
    if first[0].tag in _NAMING or (_all(first, "bold") and not _mostly(rest, "bold")):
        return True
    if not any(piece.setting.linked for piece in first) and _mostly(rest, "linked"):
        return True
    second = " ".join([piece.text for piece in rest if piece.line == rest[0].line])
    return has_words(second, 2 * theta)


def _of_own_colour(pieces: Sequence[_Piece]) -> str:
    """Return the first text of a colour (of type or ground) that no other text has."""
    chars: Counter[tuple[str, str]] = Counter()
    uses: Counter[tuple[str, str]] = Counter()
    for piece in pieces:
        chars[piece.setting.look[1:]] += len(piece.text)
        uses[piece.setting.look[1:]] += 1
    if len(chars) < 2:
        return ""
    usual = chars.most_common(1)[0][0]
    for piece in pieces:
        colour = piece.setting.look[1:]
        if colour != usual and uses[colour] == 1:
            return piece.text
    return ""


def _all(pieces: Sequence[_Piece], quality: str) -> bool:
    return all(getattr(piece.setting, quality) for piece in pieces)


def _mostly(pieces: Sequence[_Piece], quality: str) -> bool:
    having = sum(len(piece.text) for piece in pieces if getattr(piece.setting, quality))
    return 2 * having > sum(len(piece.text) for piece in pieces)


# ---------------------------------------------------------------- shortening


def _shortened(text: str, rules: TopicRules) -> str:
    """Return a found text: as it is, or trimmed if it has more than `theta` words."""
    text = text.strip(_DECORATION)
    if len(text) <= _LONGEST and not has_words(text, rules.theta + 1):
        return text
    return trim(text[:_READ], rules.theta, distinct=rules.distinct)
