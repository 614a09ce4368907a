"""Quark: blocks from what the tags mean, found bottom-up.

Source: the thesis on Quark, the module of the search engine TianWang that cuts pages into blocks
("Design and Implementation of Large Scale Web Template Detection and Information Extraction
System", section 3.1).

Each node is looked at once, children before their parents. A node becomes a block and takes the
text that no block inside it has taken, or hands its counts to its parent. What is left at the
top is closed by the page itself: no text is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mmcrawl.blocks.layout.measures import SHOWN_TAGS, Measures, content_runs, is_shown_element
from mmcrawl.blocks.partitioners.base import Cut, number
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree

TAG_CLASSES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # Always a block. Of HTML 5: what is embedded, like OBJECT, and TEMPLATE, like SCRIPT.
        "S": frozenset(
            """
            head script style object fieldset frameset iframe applet embed video audio canvas
            template noembed
            """.split()
        ),
        # A block if ripe. Of HTML 5: the sections, and what groups like them.
        "B": frozenset(
            """
            div td table form center noframes noscript pre body html section article main aside
            header footer nav search figure details dialog xmp listing plaintext marquee
            """.split()
        ),
        # Sets out text: makes the block around it riper.
        "L": frozenset(
            """
            p ul ol dl dir li dt blockquote address br hr col colgroup img menu select figcaption
            summary hgroup
            """.split()
        ),
        # Changes how text is shown, not where; here also every tag that is in no list.
        "D": frozenset(
            """
            a abbr acronym area b base basefont bdo big button caption cite code dd del dfn em font
            h1 h2 h3 h4 h5 h6 i ins kbd label small strike strong sub sup q s samp span thead tfoot
            textarea u tt var o:smarttagtype bdi data mark meter nobr output picture progress rp rt
            ruby slot svg math time wbr
            """.split()
        ),
        # Goes with an element of another class. (The thesis lists TD here too: as B it counts.)
        "A": frozenset(
            """
            frame input isindex legend link map meta option optgroup param th tr tbody title
            datalist source track
            """.split()
        ),
    }
)
"""Classes of tags: S(uper), B(ig), L(ayout), D(isplay), A(ffiliated). See `Quark` for the sixth,
C(ustomised). The first two lines or so of each are the thesis's own list for HTML 4.01; FIELDSET,
which it lists as S and as B, is S."""

_CLASS = {tag: name for name, tags in TAG_CLASSES.items() for tag in tags}
_KEEPS_TOGETHER = (TAG_CLASSES["S"] - frozenset("head fieldset frameset".split())) | frozenset(
    """
    svg math select
    """.split()
)
"""Elements that are cut by nothing inside of them: a player and its fallback, a drawing."""

_CONTENT = _KEEPS_TOGETHER | SHOWN_TAGS
_ALWAYS = TAG_CLASSES["S"] | {"html"}
_NAME = re.compile(r"[A-Za-z][\w:.-]*")
_LEAST_LAYOUT = 2  # "several" layout tags
_MATCHED = 200  # characters of an element that a pattern is tried on


class Quark:
    """Cuts a page into blocks by the classes of its tags.

    S and C elements are blocks. A B element is one if it is ripe: the visible text that no block
    inside it took has `min_text` characters, or it holds several elements of class L, which
    make up `min_layout_share` of the elements handed up to it. Else it hands up what it holds, as
    L, D and A elements do. Where blocks lie inside a block, each run of content between them is
    a cut of its own, and bare markup falls to the layout.

    Args:
        custom_tags: Tags of class C, as names or as a text (``"h1 h2 title"``).
        custom_text: Regular expression: an S, B or L element in whose own text (not taken by
            blocks inside it, white space collapsed, the first 200 characters) it is found
            becomes a block of its own, as a line with a date between headline and body. Its
            author is trusted: a pattern such as ``(a+)+$`` takes for ever on any text.
        min_text: Characters, at least 1. The thesis gives no figure.
        min_layout_share: From 0 to 1; above 1, layout never ripens a block. Likewise.

    Raises:
        ValueError: an option is not what it should be.
    """

    def __init__(
        self,
        *,
        custom_tags: str | Iterable[str] = (),
        custom_text: str = "",
        min_text: int | str = 100,
        min_layout_share: float | str = 0.6,
    ) -> None:
        if isinstance(custom_tags, str):
            custom_tags = custom_tags.replace(",", " ").split()
        self.custom_tags = frozenset(map(_tag_name, custom_tags))
        self.custom_text = _pattern(custom_text)
        self.min_text = number("min_text", min_text, int, 1)
        self.min_layout_share = number("min_layout_share", min_layout_share, float, 0)

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the blocks of a page; there are no levels."""
        recognizer = _Recognizer(self, tree)
        recognizer.read()
        pieces = recognizer.pieces
        owners = _owners(tree, recognizer.is_block)
        piece_owners = [owners[piece] for piece in pieces]
        runs = content_runs(tree, pieces, piece_owners, within_owners=True)
        return [Cut(run.owner, run.start, run.end) for run in runs]


class _Recognizer:
    """Finds the elements that are blocks, and the content of the page.

    Attributes:
        is_block: Of each node.
        pieces: The content, in order: visible text, what is seen without text, and what the
            reader never sees but is a block of its own.
    """

    def __init__(self, options: Quark, tree: PageTree) -> None:
        self._options = options
        self._tree = tree
        self._measures = Measures(tree)
        count = len(tree)
        self._chars: list[int] = (self._measures.chars[1:] - self._measures.chars[:-1]).tolist()
        self._layout = [0] * count  # L elements inside that were handed up
        self._elements = [0] * count  # all elements likewise
        self._words = [""] * count if options.custom_text is not None else []  # text likewise
        self._head = tree.tags.index("head") if "head" in tree.tags else -1
        self._always = _ALWAYS | options.custom_tags
        self.is_block = [False] * count
        self.pieces: list[int] = []

    def read(self) -> None:
        """Look at each node once, from the last to the first."""
        tree, chars, words = self._tree, self._chars, self._words
        layout, elements, always = self._layout, self._elements, self._always
        tags, parents, head = tree.tags, tree.parents, self._head
        for node in range(len(tree) - 1, 0, -1):
            tag, parent = tags[node], parents[node]
            if tag == TEXT:
                self._add_text(node, parent)
                continue
            if tag in _CONTENT or parent == head:
                self._add_content(node, tag)
            kind = _CLASS.get(tag, "D")
            if (
                tag in always
                or (kind == "B" and self._is_ripe(node))
                or (words and kind in "BL" and self._matches(node))
            ):
                self.is_block[node] = True
                continue
            chars[parent] += chars[node]
            layout[parent] += layout[node] + (kind == "L")
            elements[parent] += elements[node] + 1
            if words:
                self._hand_up_words(node, parent)
        self.is_block[0] = True
        self.pieces.reverse()

    def _add_text(self, node: int, parent: int) -> None:
        if not self._chars[node]:
            return
        self.pieces.append(node)
        self._chars[parent] += self._chars[node]
        if self._words:
            self._words[node] = self._tree.text(node)
            self._hand_up_words(node, parent)

    def _add_content(self, node: int, tag: str) -> None:
        """Record an element that is content if it holds none, or keeps together what it holds."""
        tree, pieces = self._tree, self.pieces
        if tag in _KEEPS_TOGETHER:
            after = tree.after[node]
            while pieces and pieces[-1] < after:
                pieces.pop()
        elif self._is_filled(node):
            return
        if (
            tag in TAG_CLASSES["S"]
            or tree.parents[node] == self._head
            or is_shown_element(tree, self._measures, node)
        ):
            pieces.append(node)

    def _matches(self, node: int) -> bool:
        pattern, words = self._options.custom_text, self._words[node]
        return pattern is not None and words != "" and pattern.search(words) is not None

    def _is_ripe(self, node: int) -> bool:
        options, layout = self._options, self._layout[node]
        if self._chars[node] >= options.min_text:
            return True
        return (
            layout >= _LEAST_LAYOUT
            and layout >= options.min_layout_share * self._elements[node]
            and self._is_filled(node)
        )

    def _is_filled(self, node: int) -> bool:
        return bool(self.pieces) and self.pieces[-1] < self._tree.after[node]

    def _hand_up_words(self, node: int, parent: int) -> None:
        words = self._words
        if words[node]:
            both = f"{words[node]} {words[parent]}" if words[parent] else words[node]
            words[parent] = both[:_MATCHED]


def _owners(tree: PageTree, is_block: list[bool]) -> list[int]:
    """Return the innermost block of each node."""
    parents = tree.parents
    owners = [0] * len(tree)
    for node in range(1, len(tree)):
        owners[node] = node if is_block[node] else owners[parents[node]]
    return owners


def _tag_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"custom_tags must be names as h1 or title, not {text!r}")
    return text.lower()


def _pattern(text: str) -> re.Pattern[str] | None:
    if not text:
        return None
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"custom_text is no regular expression: {error}") from error
