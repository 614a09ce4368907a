"""The part of a text that is shown of a hit, with the words that match."""

from __future__ import annotations

from dataclasses import dataclass

from mmcrawl.archive.search_words import Token, tokens

__all__ = ["Snippet", "snippet_of"]

_SNIPPET = 240  # characters
_LEAD = 60  # of them, before the first mark


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some of the text of a block.

    Attributes:
        text: Plain; ``…`` stands where it goes on.
        marks: (start, end) of what matches, in order, not overlapping.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet_of(text: str, words: frozenset[str]) -> Snippet:
    """Return where most of the words occur close together, marked; else the beginning."""
    lines = " · ".join(text.split("\n"))
    found = [token for token in tokens(lines) if token.word in words]
    start, end = _window(lines, found)
    before, after = "…" if start else "", "…" if end < len(lines) else ""
    shift = len(before) - start
    marks: list[tuple[int, int]] = []
    free = start
    for token in found:
        if free <= token.start and token.end <= end:
            marks.append((token.start + shift, token.end + shift))
            free = token.end
    return Snippet(before + lines[start:end] + after, tuple(marks))


def _window(text: str, found: list[Token]) -> tuple[int, int]:
    """Return the range with the most distinct words, of several the first."""
    if len(text) <= _SNIPPET:
        return 0, len(text)
    best, most = 0, 0
    inside: dict[str, int] = {}
    after = 0
    for token in found:
        while after < len(found) and found[after].end <= token.start + _SNIPPET - _LEAD:
            inside[found[after].word] = inside.get(found[after].word, 0) + 1
            after += 1
        if len(inside) > most:
            best, most = token.start, len(inside)
        left = inside.get(token.word, 1) - 1
        inside[token.word] = left
        if not left:
            del inside[token.word]
    start = max(0, min(best - _LEAD, len(text) - _SNIPPET))
    if start:
        start = _to_word(text, start, best)
    return start, min(len(text), start + _SNIPPET)


def _to_word(text: str, start: int, limit: int) -> int:
    """Move a beginning behind the next space, if there is one soon."""
    space = text.find(" ", start, min(limit, start + _LEAD // 2))
    return space + 1 if space >= 0 else start
