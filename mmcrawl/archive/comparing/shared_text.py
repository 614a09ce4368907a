"""Text that two versions of a page share although it is in different blocks.

When a page is redesigned or gains a paragraph, the same text may be cut into other blocks, or lie
between blocks. This module matches the runs of text that remain on both sides, each once and in
order. What is left unmatched is what was really added or removed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from mmcrawl.archive.comparing.changes import WordChange
from mmcrawl.archive.comparing.compared_page import ComparedPage
from mmcrawl.archive.comparing.wording import word_changes

_Owner = int | None  # a block, None for the layout
_Runs = list[tuple[_Owner, list[str]]]


class SharedText:
    """The matched runs of two pages.

    Args:
        before, after: The pages.
        pairs: Blocks known to be the same block, old ones by new ones. What both have of text is
            not for other blocks.
    """

    def __init__(self, before: ComparedPage, after: ComparedPage, pairs: Mapping[int, int]) -> None:
        self._sides = before, after
        self._unpaired = (
            set(range(len(before.runs))) - set(pairs.values()),
            set(range(len(after.runs))) - set(pairs),
        )
        left = _left_of(before, after, pairs, self._unpaired)
        counts = [Counter(run for _, runs in side for run in runs) for side in left]
        shared = counts[0] & counts[1]
        # Of each side: the matched runs of every owner, and the owners of every run.
        self._matched: list[dict[_Owner, Counter[str]]] = []
        owners = []
        for side in left:
            matched, owners_of = _matched(side, shared)
            self._matched.append(matched)
            owners.append(owners_of)
        self._partners = _partners(*owners)
        occurring = [Counter(chain(*side.runs, side.layout_runs)) for side in (before, after)]
        self._once = {run for run in shared if occurring[0][run] == 1 == occurring[1][run]}

    def recut(self, side: int) -> dict[int, _Owner]:
        """Return blocks of matched text only, old (0) or new, with the block that has most of it.

        A block without text is there as well if all its pictures and links are.
        """
        compared, other = self._sides[side], self._sides[1 - side]
        found: dict[int, _Owner] = {}
        for index in self._unpaired[side]:
            if runs := compared.runs[index]:
                there = Counter(runs) == self._matched_in(side, index)
            else:
                targets = compared.targets(index)
                there = bool(targets) and other.all_targets >= set(targets)
            if there:
                found[index] = self._partners[side].get(index)
        return found

    def is_sure(self, of: int, index: int) -> bool:
        """Whether two blocks share text that occurs once in either page."""
        runs = {*self._sides[0].runs[of]} & {*self._sides[1].runs[index]}
        return not runs.isdisjoint(self._once)

    def words(self, of: int, index: int) -> tuple[WordChange, ...]:
        """Return what changed of the words of an old block that is a new one now."""
        before, after = self._sides
        if before.texts[of] == after.texts[index]:
            return ()
        if before.visible_text(of) == after.visible_text(index):
            return ()
        both = self._matched_in(0, of) & self._matched_in(1, index)
        old, new = (
            _without(compared.spaced_runs(block), self._matched_in(side, block) - both)
            for side, (compared, block) in enumerate(((before, of), (after, index)))
        )
        return word_changes(old, new)

    def own_words(self, side: int, index: int) -> tuple[WordChange, ...]:
        """Return what of the words of an unpaired block is nowhere else; nothing if all are."""
        waiting = Counter(self._matched_in(side, index))
        if not waiting:
            return ()
        words = []
        for run in self._sides[side].runs[index]:
            words.append(
                WordChange("same" if waiting[run] > 0 else ("removed", "added")[side], f"{run} ")
            )
            waiting[run] -= 1
        return tuple(words)

    def layout_words(self) -> tuple[WordChange, ...]:
        """Return what changed of the text between the blocks."""
        runs = [side.layout_runs for side in self._sides]
        both = Counter(runs[0]) & Counter(runs[1])
        before, after = (
            [f"{run} " for run in _without(of, both + self._matched_in(side, None))]
            for side, of in enumerate(runs)
        )
        return word_changes(before, after)

    def _matched_in(self, side: int, owner: _Owner) -> Counter[str]:
        return self._matched[side].get(owner, Counter())


def _left_of(
    before: ComparedPage,
    after: ComparedPage,
    pairs: Mapping[int, int],
    unpaired: tuple[set[int], set[int]],
) -> tuple[_Runs, _Runs]:
    """Return the runs that paired blocks, or the layouts, do not share."""
    left: tuple[_Runs, _Runs] = (
        [(i, before.runs[i]) for i in sorted(unpaired[0])],
        [(i, after.runs[i]) for i in sorted(unpaired[1])],
    )
    both: list[tuple[_Owner, _Owner, Sequence[str], Sequence[str]]] = [
        (of, index, before.runs[of], after.runs[index])
        for index, of in sorted(pairs.items())
        if before.texts[of] != after.texts[index]
    ]
    both.append((None, None, before.layout_runs, after.layout_runs))
    for of, index, old, new in both:
        common = Counter(old) & Counter(new)
        left[0].append((of, _without(old, common)))
        left[1].append((index, _without(new, common)))
    return left


def _without(runs: Iterable[str], others: Counter[str]) -> list[str]:
    """Return runs without the first of each that is counted."""
    waiting = Counter(others)
    found = []
    for run in runs:
        if waiting[key := run.rstrip()] > 0:
            waiting[key] -= 1
        else:
            found.append(run)
    return found


def _matched(
    side: _Runs, shared: Counter[str]
) -> tuple[dict[_Owner, Counter[str]], dict[str, list[_Owner]]]:
    waiting = Counter(shared)
    matched: dict[_Owner, Counter[str]] = {}
    owners: dict[str, list[_Owner]] = defaultdict(list)
    for owner, runs in side:
        found: Counter[str] = Counter()
        for run in runs:
            if waiting[run] > 0:
                waiting[run] -= 1
                found[run] += 1
                owners[run].append(owner)
        matched[owner] = found
    return matched, owners


def _partners(
    old: Mapping[str, Sequence[_Owner]], new: Mapping[str, Sequence[_Owner]]
) -> tuple[dict[_Owner, _Owner], dict[_Owner, _Owner]]:
    """Return the partner with which each block shares most characters, for both sides."""
    shares: Counter[tuple[_Owner, _Owner]] = Counter()
    for run, owners in old.items():
        for pair in zip(owners, new[run], strict=True):
            shares[pair] += len(run)
    of_old: dict[_Owner, _Owner] = {}
    of_new: dict[_Owner, _Owner] = {}
    for (of, index), _ in shares.most_common():
        of_old.setdefault(of, index)
        of_new.setdefault(index, of)
    return of_old, of_new
