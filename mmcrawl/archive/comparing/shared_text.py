"""Text that two versions of a page share although it is in different blocks.

A page is prepared as its innermost blocks and the runs of text in and between them
(:class:`ComparedPage`). When a page is redesigned or gains a paragraph, the same text may be cut
into other blocks, or lie between blocks. :class:`SharedText` matches the runs of text that remain
on both sides, each once and in order. What is left unmatched is what was really added or removed;
:func:`word_changes` compares it word by word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain

from mmcrawl.archive.comparing.changes import WordChange, longest_rise
from mmcrawl.archive.format.cutting import ArchivedPage
from mmcrawl.archive.model import StoredBlock, digest_of, leaves
from mmcrawl.page.html.building import TEXT
from mmcrawl.text.words import HAN

_TARGETS = ("src", "srcset", "data-src", "href")
_WITH_TARGET = frozenset("a area audio embed iframe img input object source video".split())

_Owner = int | None  # a block, None for the layout
_Runs = list[tuple[_Owner, list[str]]]

_MOST_PAIRS = 10_000  # of words that difflib compares at once, in cubic time
_SHORTEST_MOVED = 12  # characters
_WORD = re.compile(rf"(?:[{HAN}]|[^\W{HAN}]+|[^\w\s])\s*")


@dataclass(frozen=True, eq=False)
class ComparedPage:
    """One of two pages.

    Attributes:
        identities: Of each block: equal where their bytes are, or their characters, if the pages
            are in different encodings.
    """

    page: ArchivedPage  # as archived
    blocks: list[StoredBlock]  # those that are compared, none inside another
    identities: list[str]

    def __len__(self) -> int:
        return len(self.blocks)

    @cached_property
    def layout(self) -> list[bytes]:
        """The bytes before, between and behind the blocks."""
        body = self.page.body
        ends = [0, *(block.end for block in self.blocks)]
        starts = [*(block.start for block in self.blocks), len(body)]
        return [body[end:start] for end, start in zip(ends, starts, strict=True)]

    @cached_property
    def texts(self) -> list[str]:
        """The text of each block; of one without, its pictures and links."""
        return [
            " ".join(runs) or "\0".join(self.targets(index)) for index, runs in enumerate(self.runs)
        ]

    @property
    def runs(self) -> list[list[str]]:
        """The runs of visible text of each block."""
        return self._all_runs[0]

    @property
    def layout_runs(self) -> list[str]:
        """The title and the runs of visible text that are in no block."""
        return self._all_runs[1]

    @property
    def all_text(self) -> Counter[str] | None:
        """The runs of visible text of the page; None of a body that is no page."""
        if not self.page.version.method:
            return None
        return Counter([*self.layout_runs, *chain.from_iterable(self.runs)])

    def visible_text(self, index: int) -> str:
        """Return the visible text of a block."""
        return self.page.text(self.blocks[index])

    def spaced_runs(self, index: int) -> list[str]:
        """Return the runs of a block, with a space behind those that white space follows."""
        text, at = self.visible_text(index), 0
        found = []
        for run in self.runs[index]:
            at += len(run)
            space = text[at : at + 1] == " "
            at += space
            found.append(f"{run} " if space else run)
        return found

    def targets(self, index: int) -> list[str]:
        """Return the addresses of pictures, media and links of a block."""
        return self._targets(self.blocks[index].start, self.blocks[index].end)

    @cached_property
    def all_targets(self) -> set[str]:
        """The addresses of pictures, media and links of the page."""
        return set(self._targets(0, len(self.page.body)))

    def _targets(self, start: int, end: int) -> list[str]:
        if not self.page.version.method:
            return []
        tree = self.page.tree
        nodes = range(bisect_left(tree.starts, start, 1), bisect_left(tree.starts, end, 1))
        found = []
        for node in nodes:
            if tree.tags[node] in _WITH_TARGET:
                attributes = tree.attributes(node)
                found += [attributes[name] for name in _TARGETS if attributes.get(name)]
        return found

    @cached_property
    def _all_runs(self) -> tuple[list[list[str]], list[str]]:
        inside: list[list[str]] = [[] for _ in self.blocks]
        outside: list[str] = []
        if not self.page.version.method:
            return inside, outside
        tree, hidden = self.page.tree, self.page.parsed.measures.hidden
        if "title" in tree.tags:
            outside.append(" ".join(tree.raw_content(tree.tags.index("title")).split()))
        waiting = iter(enumerate(self.blocks))
        index, block = next(waiting, (-1, None))
        for node, tag in enumerate(tree.tags):
            if tag != TEXT or hidden[node] or not (text := tree.text(node)):
                continue
            start = tree.starts[node]
            while block is not None and block.end <= start:
                index, block = next(waiting, (-1, None))
            within = block is not None and block.start <= start
            (inside[index] if within else outside).append(text)
        return inside, outside


def compared_pages(old: ArchivedPage, new: ArchivedPage) -> tuple[ComparedPage, ComparedPage]:
    """Return two pages cut alike: a block that is whole in one version is whole in both."""
    known = old.version.encoding == new.version.encoding
    blocks = old.blocks, new.blocks
    identities = [
        [b.digest if known else _of_characters(page, b) for b in cut]
        for page, cut in zip((old, new), blocks, strict=True)
    ]
    whole = [
        {name for block, name in zip(cut, names, strict=True) if block in innermost}
        for cut, names, innermost in zip(
            blocks, identities, (set(leaves(b)) for b in blocks), strict=True
        )
    ]
    return (
        _cut_as(old, blocks[0], identities[0], whole[1]),
        _cut_as(new, blocks[1], identities[1], whole[0]),
    )


def _cut_as(
    page: ArchivedPage, blocks: Sequence[StoredBlock], names: Sequence[str], whole: set[str]
) -> ComparedPage:
    """Take the innermost blocks, but as a whole what is a whole block in another version."""
    found: list[StoredBlock] = []
    end = 0
    for block, name in zip(blocks, names, strict=True):
        if block.start >= end:
            found.append(block)
            end = block.end if name in whole else end
    innermost = leaves(found)
    name_of = {(b.start, b.end): name for b, name in zip(blocks, names, strict=True)}
    return ComparedPage(page, innermost, [name_of[b.start, b.end] for b in innermost])


def _of_characters(page: ArchivedPage, block: StoredBlock) -> str:
    """Return a digest of the characters of a block, or of its bytes if they cannot be decoded."""
    content = page.body[block.start : block.end]
    if not page.version.encoding:
        return block.digest
    return digest_of(content.decode(page.version.encoding, "replace").encode("utf-8", "replace"))


class SharedText:
    """The matched runs of two pages.

    Args:
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

        One without text is there if all its pictures and links are.
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


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, each with the white space behind it.

    >>> words_of("Levers lift.")
    ['Levers ', 'lift', '.']
    """
    return _WORD.findall(text)


def word_changes(old: Iterable[str], new: Iterable[str]) -> tuple[WordChange, ...]:
    """Return what became of a text's words, given in runs; nothing if only white space differs."""
    words = ([word for run in runs for word in words_of(run)] for runs in (old, new))
    return tuple(_with_moved([*_changes(*words)]))


def _with_moved(changes: Sequence[WordChange]) -> Iterator[WordChange]:
    """Yield the changes, those as ``moved`` that are removed and added in another place."""
    removed, added = (
        Counter(
            key for one in changes
            if one.change == change and len(key := one.text.strip()) >= _SHORTEST_MOVED
        )
        for change in ("removed", "added")
    )  # fmt: skip
    moved = removed & added
    waiting = {"removed": Counter(moved), "added": Counter(moved), "same": Counter[str]()}
    for one in changes:
        key = one.text.strip()
        if waiting[one.change][key] > 0:
            waiting[one.change][key] -= 1
            if one.change == "added":
                yield WordChange("moved", one.text)
        else:
            yield one


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[WordChange]:
    old_keys, new_keys = ([word.rstrip() for word in words] for words in (old, new))
    if old_keys == new_keys:
        return
    start = _common(zip(old_keys, new_keys, strict=False))
    end = _common(zip(reversed(old_keys[start:]), reversed(new_keys[start:]), strict=False))
    old_end, new_end = len(old) - end, len(new) - end
    inside = _matches(old_keys[start:old_end], new_keys[start:new_end], start, start)
    at_old = at_new = 0
    same = ""
    for i, k, size in ((0, 0, start), *inside, (old_end, new_end, end)):
        before, after = "".join(old[at_old:i]), "".join(new[at_new:k])
        if same and (before or after):
            yield WordChange("same", same)
            same = ""
        if before:
            yield WordChange("removed", before)
        if after:
            yield WordChange("added", after)
        at_old, at_new = i + size, k + size
        same += "".join(new[k:at_new])
    if same:
        yield WordChange("same", same)


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _matches(
    old: Sequence[str], new: Sequence[str], at_old: int, at_new: int
) -> Iterator[tuple[int, int, int]]:
    """Yield where words of both begin, and how many: like those of difflib, in linear time.

    Long texts are first cut at words that both have once; long ones without such stay whole.
    """
    if len(old) * len(new) <= _MOST_PAIRS:
        for i, k, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            yield at_old + i, at_new + k, size
        return
    counts, places = Counter(old), {word: k for k, word in enumerate(new)}
    others = Counter(new)
    once = [(i, places[word]) for i, word in enumerate(old) if counts[word] == others[word] == 1]
    i = k = 0
    cuts = [once[n] for n in longest_rise([place for _, place in once])]
    for of, index in (*cuts, (len(old), len(new))):
        between = of - i + index - k
        if i < of and k < index and 2 * between <= len(old) + len(new):
            yield from _matches(old[i:of], new[k:index], at_old + i, at_new + k)
        if of < len(old):
            yield at_old + of, at_new + index, 1
        i, k = of + 1, index + 1
