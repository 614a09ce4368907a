"""What changed from one version of a page to another: the kinds of blocks whose words differ.

A block that only moved, or of which only markup differs, is no change: what people read is the
same. The archive keeps what was found of two versions, so that it is found once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.comparing.changes import BlockChange, Difference
from mmcrawl.archive.model import StoredBlock
from mmcrawl.archive.revisits import WHOLE, Pair
from mmcrawl.blocks.kinds import KINDS
from mmcrawl.errors import BlockError, StoreError

_Page = TypeVar("_Page")

logger = logging.getLogger(__name__)


LAYOUT = "layout"
"""Stands among kinds of blocks for the title and the text outside of all blocks."""

CHANGE_KINDS = (*KINDS, LAYOUT)
"""What changes can be chosen by."""
_OUTSIDE = StoredBlock(0, 0, LAYOUT, "", 0, "", "")


def word_changes(difference: Difference) -> Iterator[BlockChange]:
    """Yield the blocks that came, went, or have other words; of what is no page, other bytes.

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
    """Return the kinds of what came, went or changed, see `word_changes`.

    :data:`WHOLE` stands for a body that is no page, and is among them if the answer is another.
    """
    found = frozenset(change.kind or WHOLE for change in word_changes(difference))
    old, new = ((v.status, v.header("location")) for v in (difference.old, difference.new))
    return found if old == new else found | {WHOLE}


def noted_changes(
    backend: Backend,
    url: int,
    pairs: Collection[Pair],
    read: Callable[[int], _Page],
    compare: Callable[[_Page, _Page], Difference],
) -> dict[Pair, frozenset[str]]:
    """Return the kinds of blocks that changed between versions of a URL, and note what is new.

    Two versions of which one cannot be read, or was purged, differ as a whole; that is not noted.

    Args:
        backend, url: Where it is noted.
        pairs: Asked for.
        read: Returns a version by its number.
        compare: Tells what became of its blocks.
    """
    known = backend.changes(url)
    missing = sorted(pair for pair in pairs if pair not in known)
    new: dict[Pair, frozenset[str]] = {}
    last: dict[int, _Page] = {}
    for pair in missing:
        try:
            last = {number: last.get(number) or read(number) for number in pair}
            new[pair] = changed_kinds(compare(*(last[number] for number in pair)))
        except (StoreError, BlockError) as error:
            logger.warning("What changed cannot be told: %s", error)
    if new and not backend.read_only:
        backend.note_changes(url, new)
    found = {**dict.fromkeys(missing, frozenset({WHOLE})), **known, **new}
    return {pair: found[pair] for pair in pairs}
