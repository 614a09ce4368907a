"""Compares two versions block by block, and changed blocks word by word (Song et al. 2008, section
2.3).

The paper asks whether two pages are equal: layout by layout, block by block in order (equation 1).
This module asks what became of each block, in five steps:

1. Blocks of equal bytes stay in place unless another such pair crosses them; blocks that occur once
   are matched first. The same follows for blocks of equal text in the gaps.
2. Of the remaining blocks, those with equal bytes or equal text have moved.
3. A block with nearly the same words, between the same neighbours or elsewhere, is the same block
   with changed words.
4. Runs of text left on both sides are text that was cut into other blocks or into the layout: a
   block made of such runs alone is marked as recut.
5. Of the rest, a block replaced another between the same neighbours if it stands at the same
   element or shares much of its words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mmcrawl.archive.comparing.changes import (
    BlockChange,
    Difference,
    WordChange,
    changed_headlines,
    longest_rise,
)
from mmcrawl.archive.comparing.shared_text import (
    ComparedPage,
    SharedText,
    compared_pages,
    words_of,
)
from mmcrawl.archive.format.cutting import ArchivedPage

_ALIKE = 0.3  # share of words that two blocks must have in common to be one that changed
_NEARLY_SAME = 0.7  # the same, to be one wherever it stands
_FEWEST_WORDS = 4  # of a block that moved and changed
_MOST_PAIRS = 10_000  # compared at once; of more, only equal texts and paths are looked for
_MOST_WORDS = 4_000_000  # of all pairs of two pages: some 3 seconds; and of what is left likewise
_PAIR = 8  # words that are compared while a pair is begun

_Gaps = list[tuple[list[int], list[int]]]
"""Blocks of the old and of the new page that stand between the same neighbours."""


def difference(old: ArchivedPage, new: ArchivedPage) -> Difference:
    """Return what became of each innermost block."""
    before, after = compared_pages(old, new)
    layout_changed = before.layout != after.layout
    changes: Iterable[BlockChange]
    layout_words: tuple[WordChange, ...] = ()
    same_text = same_targets = old.version.digest == new.version.digest
    headlines = None
    if before.identities == after.identities and not layout_changed:
        pairs = zip(before.blocks, after.blocks, strict=True)
        changes = (BlockChange("kept", one, other) for one, other in pairs)
    else:
        comparison = _Comparison(before, after)
        changes, layout_words = comparison.changes(), comparison.layout_words
        same_text = before.all_text is not None and before.all_text == after.all_text
        same_targets = not same_text or before.all_targets == after.all_targets
        headlines = changed_headlines(old, new, before.blocks, after.blocks)
    told = layout_changed, layout_words, same_text, same_targets, headlines
    return Difference(old.version, new.version, tuple(changes), *told)


class _Comparison:
    """Which block of the newer page is which of the older.

    Attributes:
        in_place, moved: Old blocks by new ones.
        recut: Old blocks that are cut otherwise, with new ones that have most of their text or None
            if the layout has; and new blocks with old ones.
        layout_words: What changed of the text between the blocks.
    """

    def __init__(self, before: ComparedPage, after: ComparedPage) -> None:
        self.before, self.after = before, after
        self.in_place: dict[int, int] = {}
        self.moved: dict[int, int] = {}
        self._taken: set[int] = set()  # old blocks that are paired
        self._bags: tuple[dict[int, Counter[str]], dict[int, Counter[str]]] = ({}, {})
        self._words = _MOST_WORDS
        self._align(before.identities, after.identities, once=True)
        self._align(before.texts, after.texts, once=True)
        self._align(before.texts, after.texts)
        self._align(before.identities, after.identities)
        self._find_moved(before.identities, after.identities)
        self._find_moved(before.texts, after.texts)
        gaps = self._gaps()
        for gap in gaps:
            self._place(self._alike(*gap, _NEARLY_SAME))
        self._find_moved_and_changed()
        for gap_old, gap_new in gaps:  # of what has no text, the place is all that tells
            old, new = (
                [i for i in gap if not page.runs[i]]
                for page, gap in ((before, gap_old), (after, gap_new))
            )
            self._place(self._same_path(old, new))
        self._shared = SharedText(before, after, self.in_place | self.moved)
        self.recut = self._shared.recut(0), self._shared.recut(1)
        for sides in gaps:
            old, new = ([i for i in sides[n] if i not in self.recut[n]] for n in (0, 1))
            self._place(self._same_path(old, new))
            self._place(self._alike(old, new, _ALIKE))
        self.layout_words = self._shared.layout_words()
        self._places = sorted(self.in_place)

    def _place(self, pairs: Mapping[int, int]) -> None:
        self.in_place.update(pairs)
        self._taken.update(pairs.values())

    def _move(self, pairs: Mapping[int, int]) -> None:
        self.moved.update(pairs)
        self._taken.update(pairs.values())

    def _left(self) -> tuple[list[int], list[int]]:
        return (
            [i for i in range(len(self.before)) if i not in self._taken],
            [i for i in range(len(self.after)) if i not in self.in_place and i not in self.moved],
        )

    def _gaps(self) -> _Gaps:
        """Return the gaps between blocks that are in their place."""
        left_old, left_new = self._left()
        gaps: _Gaps = []
        at_old = at_new = 0
        for index, of in (*sorted(self.in_place.items()), (len(self.after), len(self.before))):
            end_old = bisect_left(left_old, of, at_old)
            end_new = bisect_left(left_new, index, at_new)
            if at_old < end_old and at_new < end_new:
                gaps.append((left_old[at_old:end_old], left_new[at_new:end_new]))
            at_old, at_new = end_old, end_new
        return gaps

    def _align(self, old: Sequence[str], new: Sequence[str], *, once: bool = False) -> None:
        """Pair what is equal and in order between blocks that are in their place."""
        for left_old, left_new in self._gaps():
            gap_old, gap_new = left_old, left_new
            if once:
                counts = Counter(old[i] for i in gap_old), Counter(new[i] for i in gap_new)
                gap_old = [i for i in gap_old if counts[0][old[i]] == 1 == counts[1][old[i]]]
                gap_new = [i for i in gap_new if counts[0][new[i]] == 1 == counts[1][new[i]]]
            pairs = [*_equal(old, new, gap_old, gap_new)]
            self._place(dict(pairs[i] for i in longest_rise([of for _, of in pairs])))

    def _find_moved(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._move(dict(_equal(old, new, *self._left())))

    def _find_moved_and_changed(self) -> None:
        old, new = (
            [i for i in left if self._bag(side, i).total() >= _FEWEST_WORDS]
            for side, left in enumerate(self._left())
        )
        self._move(self._alike(old, new, _NEARLY_SAME))

    def _same_path(self, gap_old: Iterable[int], gap_new: Iterable[int]) -> dict[int, int]:
        at = {self.before.blocks[i].path: i for i in gap_old if i not in self._taken}
        pairs = {}
        for index in gap_new:
            if index in self.in_place or index in self.moved:
                continue
            of = at.pop(self.after.blocks[index].path, None)
            if of is not None:
                pairs[index] = of
        return pairs

    def _alike(self, old: Iterable[int], new: Iterable[int], least: float) -> dict[int, int]:
        """Pair blocks by the share of words that they have in common, those nearest first."""
        old = [i for i in old if i not in self._taken]
        new = [i for i in new if i not in self.in_place and i not in self.moved]
        if len(old) * len(new) > _MOST_PAIRS:
            return {}
        words = len(old) * sum(len(self._bag(1, index)) + _PAIR for index in new)
        if words > self._words:
            return {}
        self._words -= words
        found = []
        sizes = {of: self._bag(0, of).total() for of in old}
        for index in new:
            bag = self._bag(1, index)
            size = bag.total()
            for of in old:
                count = size + sizes[of]
                if 2 * min(size, sizes[of]) < least * count or not count:
                    continue  # not even if one has all words of the other
                alike = 2 * (bag & self._bag(0, of)).total() / count
                if alike >= least:
                    found.append((alike, index, of))
        pairs: dict[int, int] = {}
        taken = set()
        for _, index, of in sorted(found, reverse=True):
            if index not in pairs and of not in taken:
                pairs[index] = of
                taken.add(of)
        return pairs

    def _bag(self, side: int, index: int) -> Counter[str]:
        bags = self._bags[side]
        if index not in bags:
            page = (self.before, self.after)[side]
            bags[index] = Counter(word.rstrip() for word in words_of(page.texts[index]))
        return bags[index]

    def changes(self) -> Iterator[BlockChange]:
        """Yield the changes in the newer page's order; removed blocks follow their predecessor."""
        recut_old, recut_new = self.recut
        told = self._taken | (recut_old.keys() & recut_new.values())
        waiting = deque(i for i in range(len(self.before)) if i not in told)
        for index in range(len(self.after)):
            of = self.in_place.get(index)
            while of is not None and waiting and waiting[0] < of:
                yield self._gone(waiting.popleft())
            if index in recut_new:
                yield self._recut(recut_new[index], index)
            else:
                yield self._of_new(index)
        for of in waiting:
            yield self._gone(of)

    def _gone(self, of: int) -> BlockChange:
        if of in self.recut[0]:
            return self._recut(of, self.recut[0][of])
        return BlockChange("removed", self.before.blocks[of], None, self._shared.own_words(0, of))

    def _recut(self, of: int | None, index: int | None) -> BlockChange:
        old = None if of is None else self.before.blocks[of]
        new = None if index is None else self.after.blocks[index]
        if of is None or index is None or not self._shared.is_sure(of, index):
            return BlockChange("recut", old, new)
        places = self._places
        before, behind = bisect_left(places, index), bisect_right(places, index)
        first = self.in_place[places[before - 1]] if before else 0
        last = self.in_place[places[behind]] if behind < len(places) else len(self.before)
        return BlockChange("recut" if first <= of <= last else "moved", old, new)

    def _of_new(self, index: int) -> BlockChange:
        block = self.after.blocks[index]
        of = self.in_place.get(index, self.moved.get(index))
        if of is None:
            return BlockChange("added", None, block, self._shared.own_words(1, index))
        old = self.before.blocks[of]
        same = self.before.identities[of] == self.after.identities[index]
        if index in self.in_place and same:
            return BlockChange("kept", old, block)
        words = () if same else self._shared.words(of, index)
        in_it = {word.change for word in words} - {"same"} == {"moved"}
        return BlockChange(
            "changed" if index in self.in_place and not in_it else "moved", old, block, words
        )


def _equal(
    old: Sequence[str], new: Sequence[str], among_old: Iterable[int], among_new: Iterable[int]
) -> Iterator[tuple[int, int]]:
    """Yield new and old blocks that are equal and not nothing, those that occur often in order."""
    places: dict[str, deque[int]] = defaultdict(deque)
    for of in among_old:
        if old[of]:
            places[old[of]].append(of)
    for index in among_new:
        if places.get(new[index]):
            yield index, places[new[index]].popleft()
