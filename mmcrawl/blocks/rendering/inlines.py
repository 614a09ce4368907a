"""What stands in one line: runs with the elements around them, put into each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mmcrawl.blocks.rendering.parts import Break, Formula, Image, Inline, Link, Styled

Run = tuple[tuple[int, ...], Inline]
"""A stretch of a line, behind the inline elements around it, from the outermost on."""


def nested(runs: Sequence[Run], parts: Mapping[int, Styled | Link], depth: int = 0) -> list[Inline]:
    """Put runs that have the same element around them into one part.

    Args:
        runs: Of a line, in order.
        parts: What the elements are, empty.
        depth: How many of the elements around them have been looked at.
    """
    found: list[Inline] = []
    place = 0
    while place < len(runs):
        path, part = runs[place]
        if len(path) == depth:
            found.append(part)
            place += 1
            continue
        end = place
        while end < len(runs) and runs[end][0][depth : depth + 1] == (path[depth],):
            end += 1
        around, inside = parts[path[depth]], nested(runs[place:end], parts, depth + 1)
        if isinstance(around, Link):
            found.append(Link(around.address, inside))
        else:
            found.append(Styled(around.style, inside))
        place = end
    return found


def stripped(runs: list[Run]) -> list[Run]:
    """Return a line without breaks and white space at its end."""
    while runs and (isinstance(runs[-1][1], Break) or runs[-1][1] == " "):
        runs.pop()
    if runs and isinstance(last := runs[-1][1], str):
        runs[-1] = (runs[-1][0], last.rstrip())
    return runs


def plain_text(inlines: Sequence[Inline]) -> str:
    """Return what stands in a line without markup."""
    pieces = []
    for part in inlines:
        match part:
            case str():
                pieces.append(part)
            case Formula():
                pieces.append(part.tex)
            case Styled() | Link():
                pieces.append(plain_text(part.inlines))
            case Break():
                pieces.append(" ")
            case Image():
                pass
    return "".join(pieces).strip()
