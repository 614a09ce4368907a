"""Headlines of front pages: which are gone, which are new, which have moved.

A headline is a heading that is or contains a link, or a link of several words outside headings.
Only blocks that belong to the content count, not menus or advertisements.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock
from mmcrawl.blocks.kinds import KEPT

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FEWEST = 10  # of each version of a front page
_WORDS, _CHARACTERS = 4, 12  # of a link at least; the latter where words are not separated
_LONGEST, _LARGEST = 200, 100  # characters and nodes; what is more was never ended


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
    """Return what became of the headlines; None where one of the pages is no front page.

    Of the blocks of either none is inside another.
    """
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
