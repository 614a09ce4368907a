"""What changed between two versions of a page: the kinds of blocks whose words differ, and whether
the main text does.

A block that only moved, or whose markup alone differs, is unchanged: readers see the same text. The
archive stores the result for each pair of versions, so it is computed once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator

from mmcrawl.archive.comparing.changes import BlockChange, Difference
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.index import Index
from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.revisits import MAIN_TEXT, WHOLE, Pair
from mmcrawl.blocks.kinds import KEPT, KINDS
from mmcrawl.errors import BlockError, StoreError

logger = logging.getLogger(__name__)


LAYOUT = "layout"
"""Stands among kinds of blocks for the title and the text outside of all blocks."""

CHANGE_KINDS = (*KINDS, LAYOUT, MAIN_TEXT)
"""What changes can be chosen by."""

_BESIDE = frozenset({WHOLE, "advertisement", "copyright"})  # never of the main text
_OUTSIDE = StoredBlock(0, 0, LAYOUT, "", 0, "", "")


def word_changes(difference: Difference) -> Iterator[BlockChange]:
    """Yield the blocks that were added, removed or have other words; outside pages, other bytes.

    The text outside of all blocks, if it has other words, is the last one, of the kind `LAYOUT`.
    """
    layout = BlockChange("changed", _OUTSIDE, _OUTSIDE, difference.layout_words)
    return filter(_is_change, (*difference.blocks, layout))


def _is_change(change: BlockChange) -> bool:
    if change.change in ("added", "removed"):
        return True
    if not change.kind:
        return change.change == "changed"
    return any(word.change in ("added", "removed") for word in change.words)


def changed_kinds(difference: Difference) -> frozenset[str]:
    """Return the kinds of blocks that were added, removed or changed, see `word_changes`.

    :data:`WHOLE` stands for a body that is no page, and is among them if the answer is another.
    """
    found = frozenset(change.kind or WHOLE for change in word_changes(difference))
    old, new = ((v.status, v.header("location")) for v in (difference.old, difference.new))
    return found if old == new else found | {WHOLE}


def main_text_changed(old: ArchivedPage, new: ArchivedPage, kinds: frozenset[str]) -> bool:
    """Return whether the main text of two versions differs.

    Where one of them has no main text, the kinds of the blocks that have other words tell: some
    are kept, see :data:`mmcrawl.blocks.kinds.KEPT`.
    """
    if kinds <= _BESIDE:
        return False
    texts = old.main_text, new.main_text
    return texts[0] != texts[1] if all(texts) else not KEPT.isdisjoint(kinds)


def shown_kinds(
    old: ArchivedPage, new: ArchivedPage, wanted: Collection[str], changed: Collection[str]
) -> Collection[str]:
    """Return the kinds of the blocks to show where some of `CHANGE_KINDS` are wanted.

    `MAIN_TEXT` stands for the blocks that are kept, where the main text changed; for all that
    changed, if none of them is.
    """
    kinds = frozenset(changed)
    if MAIN_TEXT not in wanted or not main_text_changed(old, new, kinds):
        return wanted
    return {*wanted, *(kinds & KEPT or kinds)}


def noted_changes(
    index: Index,
    url: int,
    pairs: Collection[Pair],
    read: Callable[[int], ArchivedPage],
    compare: Callable[[ArchivedPage, ArchivedPage], Difference],
) -> dict[Pair, frozenset[str]]:
    """Return the kinds of blocks that changed between versions of a URL, and note what is new.

    `MAIN_TEXT` is among them if that changed. Two versions of which one cannot be read, or was
    purged, differ as a whole; that is not noted.
    """
    known = index.changes(url)
    missing = sorted({*pairs} - known.keys())
    new: dict[Pair, frozenset[str]] = {}
    last: dict[int, ArchivedPage] = {}
    for pair in missing:
        try:
            last = {number: last.get(number) or read(number) for number in pair}
            before, after = (last[number] for number in pair)
            kinds = changed_kinds(compare(before, after))
            if main_text_changed(before, after, kinds):
                kinds |= {MAIN_TEXT}
            new[pair] = kinds
        except (StoreError, BlockError) as error:
            logger.warning("Changes could not be determined: %s", error)
    if new and not index.read_only:
        index.note_changes(url, new)
    found = {**known, **dict.fromkeys(missing, frozenset({WHOLE})), **new}
    return {pair: found[pair] for pair in pairs}
