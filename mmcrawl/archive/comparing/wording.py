"""Two texts word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from mmcrawl.archive.comparing.changes import WordChange
from mmcrawl.archive.comparing.headlines import longest_rise
from mmcrawl.text.words import HAN

_MOST_PAIRS = 10_000  # of words that difflib compares at once, in cubic time
_SHORTEST_MOVED = 12  # characters
_WORD = re.compile(rf"(?:[{HAN}]|[^\W{HAN}]+|[^\w\s])\s*")


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text, each with the white space behind it.

    >>> words_of("Levers lift.")
    ['Levers ', 'lift', '.']
    """
    return _WORD.findall(text)


def word_changes(old: Iterable[str], new: Iterable[str]) -> tuple[WordChange, ...]:
    """Return what became of the words of a text, given in runs; nothing if they are the same.

    White space between words does not count.
    """
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

    Long texts are first cut at words that both have once. What has none of these and is long stays
    whole: it was replaced.
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
