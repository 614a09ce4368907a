"""Changes in the part of a page that a user watches: blocks of some kinds, or a CSS selector."""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import inf

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.comparing.change_kinds import shown_kinds, word_changes
from mmcrawl.archive.comparing.changes import BlockChange, WordChange
from mmcrawl.archive.comparing.comparison import difference
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, Version
from mmcrawl.archive.revisits import is_answer
from mmcrawl.blocks.selecting import ElementSelector
from mmcrawl.errors import BlockError, StoreError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched.

    Attributes:
        kinds: Of blocks, of `CHANGE_KINDS`; None for all. :func:`shown_kinds` says what
            `MAIN_TEXT` stands for. What is no page is watched whatever they are.
        selector: Chooses the blocks that an element it matches overlaps; None for all, and the text
            outside of them.
        since, until: Unix seconds in which the change was seen, the latter not included.
    """

    kinds: Collection[str] | None = None
    selector: ElementSelector | None = None
    since: float = -inf
    until: float = inf


@dataclass(frozen=True, slots=True)
class WatchedChange:
    """A visit that found watched blocks changed."""

    time: float  # of the visit, in Unix seconds
    old: Version  # the version before
    new: Version  # the one that was found
    blocks: tuple[BlockChange, ...]  # those that came, went or changed, each with its words

    @property
    def url(self) -> str:
        """The page, as stored."""
        return self.new.url


def watched_changes(
    archive: Archive,
    urls: Mapping[str, float],
    watch: Watch,
    *,
    compare: Callable[[Version, Version, Watch], tuple[BlockChange, ...]] | None = None,
    failed: Callable[[str], object] = logger.warning,
    stop: Callable[[float], bool] = lambda _: False,
) -> Iterator[WatchedChange]:
    """Yield the changes of pages, the newest first.

    The visits of a URL are read once no change is left that is newer than its last visit, then two
    versions for each change that was seen in time, so that the newest ones cost little however many
    pages there are and however long their history is.

    Args:
        urls: Of the pages, each with when it was visited last, or `inf`.
        compare: Does what :func:`watched_blocks` does of two versions, which never change; by
            default they are read from the archive.
        failed: Called for versions that cannot be compared.
        stop: Called with the time of a change before versions are compared; True ends the search.

    Raises:
        SearchError: the selector cannot be asked of a page.
    """
    read = lru_cache(3)(archive.page)  # what is new in one step is old in another
    compare = compare or (lambda old, new, watch: watched_blocks(read(old), read(new), watch))
    for time, url, *numbers in _in_order(archive, urls, watch):
        if stop(time):
            return
        try:
            before, after = (archive.version(url, number) for number in numbers)
            blocks = compare(before, after, watch)
        except (StoreError, BlockError) as error:
            between = " to ".join(map(str, numbers))
            failed(f"changes from version {between} of {url} could not be determined: {error}")
            continue
        if blocks:
            yield WatchedChange(time, before, after, blocks)


def _in_order(
    archive: Archive, urls: Mapping[str, float], watch: Watch
) -> Iterator[tuple[float, str, int, int]]:
    """Yield the steps of all URLs, the newest first."""
    waiting = sorted((seen, url) for url, seen in urls.items() if seen >= watch.since)
    steps: list[tuple[float, str, int, int]] = []
    while waiting or steps:
        while waiting and (not steps or waiting[-1][0] >= -steps[0][0]):
            _, url = waiting.pop()
            for time, old, new in _steps(archive, url, watch):
                heappush(steps, (-time, url, old, new))
        if steps:
            ago, url, old, new = heappop(steps)
            yield -ago, url, old, new


def _steps(archive: Archive, url: str, watch: Watch) -> Iterator[tuple[float, int, int]]:
    """Yield the times at which another version was seen than before, and their numbers."""
    seen = [visit for visit in archive.visits(url) if visit.version and is_answer(visit.status)]
    for before, after in pairwise(seen):
        if before.version != after.version and watch.since <= after.time < watch.until:
            yield after.time, before.version or 0, after.version or 0


def watched_blocks(old: ArchivedPage, new: ArchivedPage, watch: Watch) -> tuple[BlockChange, ...]:
    """Return the watched blocks that came, went or changed, each with its words."""
    found = [*word_changes(difference(old, new))]
    if watch.kinds is not None:
        kinds = shown_kinds(old, new, watch.kinds, {change.kind for change in found})
        found = [change for change in found if not change.kind or change.kind in kinds]
    if found and watch.selector is not None:
        before, after = _matched(old, watch.selector), _matched(new, watch.selector)
        found = [c for c in found if _overlaps(c.old, before) or _overlaps(c.new, after)]
    return tuple(replace(c, words=c.words or tuple(_all_words(old, new, c))) for c in found)


def _matched(page: ArchivedPage, selector: ElementSelector) -> tuple[list[int], list[int]]:
    """Return where elements begin, in order, and how far those up to each reach."""
    ranges = sorted(selector.ranges(page.tree)) if page.version.method else []
    return [start for start, _ in ranges], [*accumulate((end for _, end in ranges), max)]


def _overlaps(block: StoredBlock | None, matched: tuple[list[int], list[int]]) -> bool:
    if block is None:
        return False
    starts, reach = matched
    before = bisect_left(starts, block.end)
    return before > 0 and reach[before - 1] > block.start


def _all_words(old: ArchivedPage, new: ArchivedPage, change: BlockChange) -> Iterator[WordChange]:
    """Yield the text of an added or removed block."""
    for page, block, name in ((old, change.old, "removed"), (new, change.new, "added")):
        if block is not None and (text := page.text(block)):
            yield WordChange(name, text)
