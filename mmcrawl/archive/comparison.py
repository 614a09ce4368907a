"""Two versions, block by block, and changed blocks word by word (Song et al. 2008, section 2.3).

The paper asks whether pages are equal: layout by layout, block by block in order (equation 1).
Here the question is what became of each block. Blocks are equal if their bytes are; one that is
whole in one version and cut further in the other is taken as whole. Of those that have no equal,
one takes the place of another between the same neighbours if it has the same words, in other
markup; else if it has nearly the same words, stands at the same element, or has much the same
words, in this order: an entry that is put at the head of a list moves all the others to the next
element.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import BlockChange, Difference, StoredBlock, WordChange, leaves
from mmcrawl.text.scripts import HAN

_ALIKE = 0.3  # share of words that two blocks must have in common to be one that changed
_NEARLY_SAME = 0.7  # the same, to be one wherever it stands
_MOST_PAIRS = 10_000  # compared between two neighbours; in longer runs, only equal words and paths
_MOST_WORDS = 4_000  # of a block; longer ones are compared from their two ends
_WORD = re.compile(rf"(?:[{HAN}]|[^\W{HAN}]+|[^\w\s])\s*|\s+")

_Changed = tuple[int, tuple[WordChange, ...]]
"""The old block, and the words of both."""

_Words = tuple[dict[int, list[str]], dict[int, list[str]]]
"""The words of blocks of the old page, and of the new one."""


def difference(old: ArchivedPage, new: ArchivedPage) -> Difference:
    """Tell what became of each block that has none inside of it."""
    before, after = _cut_as(old.blocks, new.blocks), _cut_as(new.blocks, old.blocks)
    kept, moved = _equal_blocks(before, after)
    taken = {*kept.values(), *moved.values()}
    gaps = [
        ([i for i in of if i not in taken], [i for i in index if i not in moved])
        for of, index in _gaps(kept, len(before), len(after))
    ]
    words = (
        _words(old, before, [i for gap, _ in gaps for i in gap]),
        _words(new, after, [i for _, gap in gaps for i in gap]),
    )
    changed: dict[int, _Changed] = {}
    for gap_old, gap_new in gaps:
        pairs = _same_words(gap_old, gap_new, words)
        pairs |= _by_words(gap_old, gap_new, words, pairs, _NEARLY_SAME)
        pairs |= _by_path(before, after, gap_old, gap_new, pairs)
        pairs |= _by_words(gap_old, gap_new, words, pairs, _ALIKE)
        for index, of in pairs.items():
            changed[index] = (of, tuple(_word_changes(words[0][of], words[1][index])))
    return Difference(
        old=old.version,
        new=new.version,
        blocks=tuple(_in_order(before, after, kept, moved, changed)),
        layout_changed=_layout(old.body, before) != _layout(new.body, after),
    )


def _cut_as(blocks: Sequence[StoredBlock], others: Sequence[StoredBlock]) -> list[StoredBlock]:
    """Return the innermost blocks, but as a whole what is a whole block in another version."""
    whole = {block.digest for block in leaves(others)}
    found: list[StoredBlock] = []
    end = 0
    for block in blocks:
        if block.start >= end:
            found.append(block)
            end = block.end if block.digest in whole else end
    return leaves(found)


def _equal_blocks(
    before: Sequence[StoredBlock], after: Sequence[StoredBlock]
) -> tuple[dict[int, int], dict[int, int]]:
    """Pair blocks of equal bytes, new by old: those still in order, and those that moved."""
    places: dict[str, deque[int]] = defaultdict(deque)
    for index, block in enumerate(before):
        places[block.digest].append(index)
    pairs = [
        (index, places[block.digest].popleft())
        for index, block in enumerate(after)
        if places.get(block.digest)
    ]
    in_order = _longest_rise([of for _, of in pairs])
    kept = {pairs[i][0]: pairs[i][1] for i in in_order}
    return kept, {index: of for index, of in pairs if index not in kept}


def _longest_rise(numbers: Sequence[int]) -> list[int]:
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


def _gaps(kept: dict[int, int], olds: int, news: int) -> Iterator[tuple[range, range]]:
    """Yield what stands between blocks that were kept."""
    old_start = new_start = 0
    for index, of in (*sorted(kept.items()), (news, olds)):
        if index > new_start and of > old_start:
            yield range(old_start, of), range(new_start, index)
        old_start, new_start = of + 1, index + 1


def _by_path(
    before: Sequence[StoredBlock],
    after: Sequence[StoredBlock],
    gap_old: Iterable[int],
    gap_new: Iterable[int],
    paired: dict[int, int],
) -> dict[int, int]:
    taken = set(paired.values())
    at = {before[i].path: i for i in gap_old if i not in taken}
    pairs = {}
    for index in gap_new:
        of = at.pop(after[index].path, None) if index not in paired else None
        if of is not None:
            pairs[index] = of
    return pairs


def _same_words(
    gap_old: Iterable[int],
    gap_new: Iterable[int],
    words: _Words,
) -> dict[int, int]:
    """Pair blocks of which only the markup differs, those of equal words in their order."""
    old_words, new_words = words
    waiting: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for of in gap_old:
        waiting[tuple(old_words[of])].append(of)
    return {
        index: same.popleft()
        for index in gap_new
        if new_words[index] and (same := waiting.get(tuple(new_words[index])))
    }


def _by_words(
    gap_old: Iterable[int],
    gap_new: Iterable[int],
    words: _Words,
    paired: dict[int, int],
    least: float,
) -> dict[int, int]:
    old_words, new_words = words
    taken = set(paired.values())
    gap_old = [i for i in gap_old if i not in taken]
    gap_new = [i for i in gap_new if i not in paired]
    if len(gap_old) * len(gap_new) > _MOST_PAIRS:
        return {}
    bags = {i: Counter(old_words[i]) for i in gap_old}
    found = []
    for index in gap_new:
        bag = Counter(new_words[index])
        for of in gap_old:
            count = bag.total() + bags[of].total()
            alike = 2 * (bag & bags[of]).total() / count if count else 0.0
            if alike >= least:
                found.append((alike, index, of))
    pairs: dict[int, int] = {}
    for _, index, of in sorted(found, reverse=True):
        if index not in pairs and of not in taken:
            pairs[index] = of
            taken.add(of)
    return pairs


def _words(
    page: ArchivedPage, blocks: Sequence[StoredBlock], wanted: Iterable[int]
) -> dict[int, list[str]]:
    """Return the words of some blocks, each with the white space behind it."""
    return {index: _WORD.findall(page.text(blocks[index])) for index in wanted}


def _word_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[WordChange]:
    if old == new:
        return
    start = _common(zip(old, new, strict=False))
    end = _common(zip(reversed(old[start:]), reversed(new[start:]), strict=False))
    if start:
        yield WordChange("same", "".join(old[:start]))
    old_part, new_part = old[start : len(old) - end], new[start : len(new) - end]
    yield from _middle_changes(old_part, new_part)
    if end:
        yield WordChange("same", "".join(old[len(old) - end :]))


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _middle_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[WordChange]:
    steps = [("replace", 0, len(old), 0, len(new))]
    if max(len(old), len(new)) <= _MOST_WORDS:
        steps = list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    for step, old_start, old_end, new_start, new_end in steps:
        if step == "equal":
            yield WordChange("same", "".join(old[old_start:old_end]))
            continue
        if old_end > old_start:
            yield WordChange("removed", "".join(old[old_start:old_end]))
        if new_end > new_start:
            yield WordChange("added", "".join(new[new_start:new_end]))


def _in_order(
    before: Sequence[StoredBlock],
    after: Sequence[StoredBlock],
    kept: dict[int, int],
    moved: dict[int, int],
    changed: dict[int, _Changed],
) -> Iterator[BlockChange]:
    """Yield the changes in the order of the newer; removed blocks behind what stood before them."""
    gone = sorted(
        set(range(len(before)))
        - {*kept.values(), *moved.values(), *(of for of, _ in changed.values())}
    )
    waiting = deque(gone)
    for index, block in enumerate(after):
        in_place = kept.get(index, changed[index][0] if index in changed else None)
        while in_place is not None and waiting and waiting[0] < in_place:
            yield BlockChange("removed", before[waiting.popleft()], None)
        if index in kept:
            yield BlockChange("kept", before[kept[index]], block)
        elif index in moved:
            yield BlockChange("moved", before[moved[index]], block)
        elif index in changed:
            of, words = changed[index]
            yield BlockChange("changed", before[of], block, words)
        else:
            yield BlockChange("added", None, block)
    for index in waiting:
        yield BlockChange("removed", before[index], None)


def _layout(body: bytes, blocks: Sequence[StoredBlock]) -> list[bytes]:
    ends = [0, *(block.end for block in blocks)]
    starts = [*(block.start for block in blocks), len(body)]
    return [body[end:start] for end, start in zip(ends, starts, strict=True)]
