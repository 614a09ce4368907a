"""Two texts word by word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from mmcrawl.archive.comparing.changes import WordChange
from mmcrawl.text.words import HAN

_MOST_WORDS = 4_000  # of a text; longer ones are compared from their two ends
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
    if start:
        yield WordChange("same", "".join(new[:start]))
    old_end, new_end = len(old) - end, len(new) - end
    for step, i, j, k, m in _steps(old_keys[start:old_end], new_keys[start:new_end]):
        before, after = "".join(old[start + i : start + j]), "".join(new[start + k : start + m])
        if step == "equal":
            yield WordChange("same", after)
            continue
        if before:
            yield WordChange("removed", before)
        if after:
            yield WordChange("added", after)
    if end:
        yield WordChange("same", "".join(new[new_end:]))


def _common(pairs: Iterable[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _steps(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    if max(len(old), len(new)) > _MOST_WORDS:
        return [("replace", 0, len(old), 0, len(new))]
    return list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
