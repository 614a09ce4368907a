"""What changed from one version of a page to another: the kinds of blocks whose words differ.

A block that only moved, or of which only markup differs, is no change: what people read is the
same. The archive keeps what was found of two versions, so that it is found once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from mmcrawl.archive.backend import Backend
from mmcrawl.archive.comparison import difference
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import BlockChange, Difference
from mmcrawl.errors import BlockError, StoreError

logger = logging.getLogger(__name__)

Pair = tuple[int, int]
"""Numbers of two versions, the older one first."""

WHOLE = "body"
"""Stands for the whole of what is no page, and for the status and where a redirect leads."""


def is_change(change: BlockChange) -> bool:
    """Return whether a block came, went, or has other words; what is no page, or other bytes."""
    if change.change == "changed":
        return bool(change.words) or not change.kind
    return change.change in ("added", "removed")


def changed_kinds(difference: Difference) -> frozenset[str]:
    """Return the kinds of the blocks that came, went or changed.

    :data:`WHOLE` stands for a body that is no page, and is among them if the answer is another.
    """
    found = frozenset(change.kind or WHOLE for change in difference.blocks if is_change(change))
    old, new = ((v.status, v.header("location")) for v in (difference.old, difference.new))
    return found if old == new else found | {WHOLE}


def noted_changes(
    backend: Backend, url: int, read: Callable[[int], ArchivedPage], pairs: Collection[Pair]
) -> dict[Pair, frozenset[str]]:
    """Return the kinds of blocks that changed between versions of a URL, and note what is new.

    Two versions of which one cannot be read, or was purged, differ as a whole; that is not noted.

    Args:
        backend, url: Where it is noted.
        read: Returns a version by its number.
        pairs: Asked for.
    """
    known = backend.changes(url)
    missing = sorted(pair for pair in pairs if pair not in known)
    new: dict[Pair, frozenset[str]] = {}
    last: dict[int, ArchivedPage] = {}
    for pair in missing:
        try:
            last = {number: last.get(number) or read(number) for number in pair}
            new[pair] = changed_kinds(difference(*(last[number] for number in pair)))
        except (StoreError, BlockError) as error:
            logger.warning("What changed cannot be told: %s", error)
    if new and not backend.read_only:
        backend.note_changes(url, new)
    found = {**dict.fromkeys(missing, frozenset({WHOLE})), **known, **new}
    return {pair: found[pair] for pair in pairs}


def counts(changed: Collection[str], kinds: Collection[str]) -> bool:
    """Return whether what changed is of a kind that counts."""
    return WHOLE in changed or any(kind in kinds for kind in changed)
