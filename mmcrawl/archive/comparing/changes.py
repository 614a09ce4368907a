"""The result of comparing two versions: for each block, for the layout, for the whole page.

A front page is also told by its headlines: which are gone, which are new, which have moved. A
headline is a heading that is or contains a link, or a link of several words outside headings. Only
blocks that belong to the content count, not menus or advertisements.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, Version
from mmcrawl.blocks.kinds import KEPT

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FEWEST = 10  # of each version of a front page
_WORDS, _CHARACTERS = 4, 12  # of a link at least; the latter where words are not separated
_LONGEST, _LARGEST = 200, 100  # characters and nodes; what is more was never ended

CHANGES = ("changed", "moved", "recut", "added", "removed", "kept")
"""What may become of a block, in the order in which it is told."""


@dataclass(frozen=True, slots=True)
class Headlines:
    """What became of the headlines of a front page, each in the order of its version."""

    gone: tuple[str, ...]
    new: tuple[str, ...]
    moved: tuple[str, ...]


def changed_headlines(
    old: ArchivedPage,
    new: ArchivedPage,
    old_blocks: Sequence[StoredBlock],
    new_blocks: Sequence[StoredBlock],
) -> Headlines | None:
    """Return what became of the headlines of disjoint blocks; None unless both are front pages."""
    if not (old.version.method and new.version.method):
        return None
    before = list(dict.fromkeys(_headlines(old, old_blocks)))
    after = list(dict.fromkeys(_headlines(new, new_blocks)))
    if min(len(before), len(after)) < _FEWEST:
        return None
    places = {text: place for place, text in enumerate(before)}
    both = [text for text in after if text in places]
    in_place = set(longest_rise([places[text] for text in both]))
    here = set(after)
    return Headlines(
        tuple(text for text in before if text not in here),
        tuple(text for text in after if text not in places),
        tuple(text for place, text in enumerate(both) if place not in in_place),
    )


def _headlines(page: ArchivedPage, blocks: Sequence[StoredBlock]) -> Iterator[str]:
    tree, starts = page.tree, [block.start for block in blocks]
    heading_end = link_end = 0
    for node, tag in enumerate(tree.tags):
        is_heading = tag in _HEADINGS
        if (not is_heading and tag != "a") or tree.after[node] - node > _LARGEST:
            continue
        at = bisect_right(starts, tree.starts[node]) - 1
        if at >= 0 and blocks[at].end > tree.starts[node] and blocks[at].kind not in KEPT:
            continue
        inside = tree.tags[node + 1 : tree.after[node]]
        text = " ".join(tree.texts_in(node, _LONGEST + 1).split())
        if len(text) > _LONGEST:
            continue
        if is_heading:
            heading_end = tree.after[node]
            if text and (node < link_end or "a" in inside):
                yield text
            continue
        link_end = tree.after[node]
        is_long = len(text.split()) >= _WORDS or (" " not in text and len(text) >= _CHARACTERS)
        if node >= heading_end and is_long and _HEADINGS.isdisjoint(inside):
            yield text


def longest_rise(numbers: Sequence[int]) -> list[int]:
    """Return the positions of a longest rising subsequence."""
    ends: list[int] = []  # numbers; the least end of a rise of each length
    positions: list[int] = []
    before: list[int] = []
    for position, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(positions[length - 1] if length else -1)
        if length == len(ends):
            ends.append(number)
            positions.append(position)
        else:
            ends[length] = number
            positions[length] = position
    rise = []
    at = positions[-1] if positions else -1
    while at >= 0:
        rise.append(at)
        at = before[at]
    return rise[::-1]


@dataclass(frozen=True, slots=True)
class WordChange:
    """Words ``same``, ``removed``, ``added`` or ``moved``; what moved stands at its new place."""

    change: str
    text: str


@dataclass(frozen=True, slots=True)
class BlockChange:
    """What became of a block.

    Attributes:
        change: One of :data:`CHANGES`. ``kept``: same bytes, same order (same characters, where
            the encoding of the page changed). ``moved``: stands elsewhere in the order of blocks,
            with the same text or nearly so; or a part of its text stands elsewhere in it.
            ``changed``: took the place of `old`. ``recut``: its text is in both versions, cut into
            other blocks; `old` and `new` are blocks that share text, of which one may be recut
            with others too, and None is the layout. ``added``, ``removed``: neither.
        old, new: The block in either version; None where it has none. One of them is there.
        words: For ``changed`` and ``moved``: the text of both, word by word, without text that
            other blocks have in the other version; empty if the text is the same and at most
            markup differs. For ``added`` and ``removed``: its text, ``same`` what is in other
            blocks of the other version; empty if nothing is.
    """

    change: str
    old: StoredBlock | None
    new: StoredBlock | None
    words: tuple[WordChange, ...] = ()

    @property
    def block(self) -> StoredBlock:
        """The block as it is in the newer version, where that has it."""
        return self.new or cast("StoredBlock", self.old)

    @property
    def kind(self) -> str:
        """Kind of the block."""
        return self.block.kind

    @property
    def markup_only(self) -> bool:
        """Whether it is in its place with the same text in other markup."""
        return self.change == "changed" and not self.words


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions, block by block, in the order of the newer; removed ones where they were.

    Attributes:
        old, new: The versions.
        layout_words: The title and the text between the blocks, word by word; empty if it is the
            same.
        headlines: What became of those of a front page; None of other pages, and of the same.
    """

    old: Version
    new: Version
    blocks: tuple[BlockChange, ...]  # what became of each block that has none inside it
    layout_changed: bool  # whether the bytes between the blocks differ
    layout_words: tuple[WordChange, ...] = ()
    same_text: bool = False  # whether both show the same runs of text, in whatever order
    same_targets: bool = True  # whether both have the same addresses of links, pictures and media
    headlines: Headlines | None = None

    @property
    def same(self) -> bool:
        """Whether both have the same bytes."""
        return self.old.digest == self.new.digest

    @property
    def encoding_changed(self) -> bool:
        """Whether the bytes are in another encoding."""
        return self.old.encoding != self.new.encoding

    @property
    def verdict(self) -> str:
        """What changed of the page as a whole.

        ``same`` (no byte), ``encoding`` (its encoding, and at most markup), ``markup`` (attributes,
        white space, scripts; not a word), ``layout`` (blocks moved, stand in other elements or are
        cut otherwise; not a word), ``links`` (links, pictures or media; not a word), ``content``.
        """
        if self.same:
            return "same"
        if self.same_text and not self.same_targets:
            return "links"
        words = (word for block in self.blocks for word in block.words)
        other = any(w.change in ("removed", "added") for w in (*self.layout_words, *words)) or any(
            block.change in ("added", "removed") or (block.change == "changed" and not block.kind)
            for block in self.blocks  # of no kind: what is no page, of which other bytes are known
        )
        if other and not self.same_text:
            return "content"
        paths = ((b.old.path, b.new.path) for b in self.blocks if b.old and b.new)
        moved = any(block.change in ("moved", "recut") for block in self.blocks)
        if other or moved or any(old != new for old, new in paths):
            return "layout"
        return "encoding" if self.encoding_changed else "markup"

    def without(self, kinds: Iterable[str] = ("advertisement",)) -> Difference:
        """Return the difference as seen without blocks of some kinds; the archive keeps them."""
        hidden = frozenset(kinds)
        return replace(self, blocks=tuple(b for b in self.blocks if b.kind not in hidden))

    def count(self, change: str) -> int:
        """Return to how many blocks this happened, one of :data:`CHANGES`."""
        return sum(block.change == change for block in self.blocks)

    def summary(self) -> dict[str, dict[str, int]]:
        """Return how many blocks of which kind changed, by change; those most frequent first.

        Changes of which there is none are left out; ``body`` is the kind of a body that is no page.
        """
        found: dict[str, dict[str, int]] = {}
        for change in CHANGES:
            kinds = Counter(b.kind or "body" for b in self.blocks if b.change == change)
            if kinds:
                found[change] = dict(kinds.most_common())
        return found
