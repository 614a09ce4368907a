"""What a block is about, in a few words (Song et al. 2008, section 2.2).

A topic is *found*, where the block shows one: text in the largest type, standing alone at the
front, or of a colour of its own. Else it is *extracted* from the block's words. Either depends on
nothing but what stands in the block: not on the type and colours of the page around it, nor on the
encoding. The same content has the same topic, always.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.sizes import start_tag_has
from mmcrawl.blocks.partitioners.base import number, switch
from mmcrawl.blocks.phrases import extract, trim, words_of
from mmcrawl.blocks.tags import BLOCK_TAGS, HEADINGS, HIDDEN
from mmcrawl.blocks.tree import PageTree
from mmcrawl.page.looks import PLAIN, STYLED_ATTRIBUTES, STYLED_TAGS, Look, look_of

_READ = 10_000  # characters of a block that words are extracted from
_LONGEST = 200  # characters of a topic that is taken as it is

_BOLD = HEADINGS | frozenset("b strong th".split())
_NAMING = frozenset("caption legend summary".split())
_BREAKS = BLOCK_TAGS | {"br"}
_STYLED = tuple(name.encode() for name in sorted(STYLED_ATTRIBUTES))
_PICTURES = frozenset("img area input".split())
_TELLING = re.compile(r"[^\W\d_].*?[^\W\d_]|[\u3400-\u9fff]", re.DOTALL)
_DECORATION = " \t:：|»«›‹>·•-–—→←↑↓*#"
_SENTENCE_ENDS = (".", ",", ";", "!", "。", "，", "；", "！", "…")


@dataclass(frozen=True)
class TopicRules:
    """The parameters of section 2.2, for which the paper gives no figures.

    Attributes:
        theta: Words that a topic is made of, at most; of a found text, none are left out up to
            here.
        delta: Words from which on words are extracted by their frequency; below, the text is
            trimmed.
        epsilon: Occurrences that an extracted word must exceed.
        distinct: Whether the first `theta` different words are meant. As printed, algorithms 2 and
            3 look at the first `theta` words, repeated ones among them.
    """

    theta: int = 15
    delta: int = 30
    epsilon: int = 1
    distinct: bool = False

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the rules with some options, which may be given as text.

        Raises:
            ValueError: an option is no number, is negative, or is neither on nor off.
        """
        given: dict[str, Any] = {}
        for name, value in options.items():
            if name == "distinct":
                given[name] = switch(name, value)
            else:
                given[name] = number(name, value, int, int(name == "theta"))
        return cls(**given)


def block_topic(tree: PageTree, nodes: range, rules: TopicRules | None = None) -> str:
    """Return the topic of what stands in a range of nodes, "" if nothing does.

    A block of images alone is about what their ``alt`` and ``title`` say.

    Args:
        tree: The page.
        nodes: Neighbouring nodes of it.
        rules: How long topics are, and of which words; None takes the defaults.
    """
    rules = rules or TopicRules()
    pieces = _pieces(tree, nodes)
    if not pieces:
        return _shortened(" ".join(dict.fromkeys(_picture_texts(tree, nodes))), rules)
    if found := _found(pieces, rules.theta):
        return _shortened(found, rules)
    text = "\n".join(piece.text for piece in pieces)[:_READ]
    if _has_at_least(text, rules.delta):
        return extract(text, rules.theta, rules.epsilon, distinct=rules.distinct)
    return trim(text, rules.theta, distinct=rules.distinct)


# ---------------------------------------------------------------- reading


class _Setting(NamedTuple):
    """How text inside an element is set, as far as the block itself says."""

    look: Look = PLAIN
    bold: bool = False
    heading: bool = False
    linked: bool = False
    fallback: bool = False  # for readers without scripts
    hidden: bool = False
    container: int = -1  # block-level element


@dataclass(slots=True)
class _Piece:
    """Text of one line that is set in one way, white space collapsed."""

    text: str
    setting: _Setting
    line: int
    tag: str  # of its block-level element


def _pieces(tree: PageTree, nodes: range) -> list[_Piece]:
    """Return the visible text of a block, cut where its line or its setting ends."""
    pieces: list[_Piece] = []
    gathered: list[str] = []
    setting, line, gathered_line = _Setting(), 0, 0
    for node, own in _settings(tree, nodes):
        if tree.tags[node] != TEXT:
            line += 1
            continue
        if own.container != setting.container:
            line += 1
        if own != setting or line != gathered_line:
            _add(pieces, gathered, setting, gathered_line, tree)
            gathered, gathered_line = [], line
        setting = own
        gathered.append(" " if node in tree.spaced else "")
        gathered.append(tree.raw_text(node))
    _add(pieces, gathered, setting, gathered_line, tree)
    fallback = sum(len(piece.text) for piece in pieces if piece.setting.fallback)
    if 2 * fallback > sum(len(piece.text) for piece in pieces):
        return pieces
    return [piece for piece in pieces if not piece.setting.fallback]


def _add(
    pieces: list[_Piece], gathered: list[str], setting: _Setting, line: int, tree: PageTree
) -> None:
    if text := " ".join("".join(gathered).split()):
        tag = tree.tags[setting.container] if setting.container >= 0 else ""
        pieces.append(_Piece(text, setting, line, tag))


def _settings(tree: PageTree, nodes: range) -> Iterator[tuple[int, _Setting]]:
    """Yield the runs of visible text with their settings, and the elements that break a line."""
    tags, parents = tree.tags, tree.parents
    outside = _Setting()
    inside: list[_Setting] = []
    for node in nodes:
        tag, parent = tags[node], parents[node] - nodes.start
        around = inside[parent] if parent >= 0 else outside
        if tag == TEXT:
            inside.append(around)
            if not around.hidden:
                yield node, around
            continue
        own = around if around.hidden else _setting(tree, node, tag, around)
        inside.append(own)
        if tag in _BREAKS and not own.hidden:
            yield node, own


def _setting(tree: PageTree, node: int, tag: str, around: _Setting) -> _Setting:
    if tag in HIDDEN:
        return around._replace(hidden=True)
    look = around.look
    if tag in STYLED_TAGS or start_tag_has(tree, node, _STYLED):
        look = look_of(tag, tree.attributes(node), look)
    container = node if tag in BLOCK_TAGS else around.container
    bold, heading = around.bold or tag in _BOLD, around.heading or tag in HEADINGS
    linked, fallback = around.linked or tag == "a", around.fallback or tag == "noscript"
    own = _Setting(look, bold, heading, linked, fallback, False, container)
    return around if own == around else own


def _picture_texts(tree: PageTree, nodes: range) -> Iterator[str]:
    for node in nodes:
        if tree.tags[node] in _PICTURES:
            attributes = tree.attributes(node)
            for name in ("alt", "title"):
                if text := " ".join(attributes.get(name, "").split()):
                    yield text


# ---------------------------------------------------------------- finding


def _found(pieces: list[_Piece], theta: int) -> str:
    telling = [piece for piece in pieces if _TELLING.search(piece.text)]
    if not telling:
        return ""
    return _largest(telling) or _alone_at_front(telling, theta) or _of_own_colour(telling)


def _largest(pieces: list[_Piece]) -> str:
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


def _whole(pieces: list[_Piece], first: _Piece) -> str:
    """Return the text of a piece and of those of its line that are as large."""
    size = first.setting.look.size
    return " ".join(
        piece.text
        for piece in pieces
        if piece.line == first.line and piece.setting.look.size == size
    )


def _alone_at_front(pieces: list[_Piece], theta: int) -> str:
    """Return the first line, if it is short and nothing follows, or lines unlike it.

    It is the caption, or bold, or no link before links, or a line before paragraphs.
    """
    first = [piece for piece in pieces if piece.line == pieces[0].line]
    rest = pieces[len(first) :]
    text = " ".join(piece.text for piece in first)
    if len(text) > _LONGEST or _has_at_least(text, theta + 1):
        return ""
    if not rest:
        return text
    if text.endswith(_SENTENCE_ENDS):
        return ""
    second = " ".join(piece.text for piece in rest if piece.line == rest[0].line)
    if (
        pieces[0].tag in _NAMING
        or (_all(first, "bold") and not _mostly(rest, "bold"))
        or (not any(piece.setting.linked for piece in first) and _mostly(rest, "linked"))
        or _has_at_least(second, 2 * theta)
    ):
        return text
    return ""


def _of_own_colour(pieces: list[_Piece]) -> str:
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


def _all(pieces: list[_Piece], quality: str) -> bool:
    return all(getattr(piece.setting, quality) for piece in pieces)


def _mostly(pieces: list[_Piece], quality: str) -> bool:
    having = sum(len(piece.text) for piece in pieces if getattr(piece.setting, quality))
    return 2 * having > sum(len(piece.text) for piece in pieces)


# ---------------------------------------------------------------- shortening


def _shortened(text: str, rules: TopicRules) -> str:
    """Return a found text: as it is, or trimmed if it has more than `theta` words."""
    text = text.strip(_DECORATION)
    if len(text) <= _LONGEST and not _has_at_least(text, rules.theta + 1):
        return text
    return trim(text[:_READ], rules.theta, distinct=rules.distinct)


def _has_at_least(text: str, count: int) -> bool:
    """Whether a text has so many words; reads no more of it than it must."""
    return any(number >= count for number, _ in enumerate(words_of(text[:_READ]), start=1))
