"""Runs of content: the visible parts of a page, cut where the owner changes.

A partitioner assigns an owner to each piece of content (a run of text, an image, a control).
Consecutive pieces of one owner are one run. The byte range of a run is as wide as whole elements
allow, so that a heading keeps its tags and bare markup between runs stays out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tree import PageTree

SHOWN_TAGS = frozenset(
    """
    img image svg math canvas video audio object embed applet iframe frame select textarea button
    meter progress isindex input a area
    """.split()
)
"""Elements that a reader may see although they hold no text; see `is_shown_element`."""

_LINKS = frozenset("a area".split())


class Run(NamedTuple):
    """Neighbouring pieces of content of one owner.

    Attributes:
        owner: As given.
        node: The innermost element that the run lies in, or is.
        nodes: The nodes of the run.
        start, end: Byte range.
    """

    owner: int
    node: int
    nodes: range
    start: int
    end: int


def is_shown_element(tree: PageTree, measures: Measures, node: int) -> bool:
    """Whether an element without text is seen: an image, a control, a link drawn by a style."""
    tag = tree.tags[node]
    if tag not in SHOWN_TAGS:
        return False
    around = tree.parents[node]
    if tag == "area" and tree.tags[around] == "map":
        around = tree.parents[around]  # a map's text is hidden, its links lie over a picture
    if measures.hidden[around]:
        return False
    if tag in _LINKS:
        return bool(tree.attributes(node).get("href"))
    return tag != "input" or tree.attributes(node).get("type", "").lower() != "hidden"


def shown_nodes(tree: PageTree, measures: Measures) -> list[int]:
    """Return the pieces of content of a page in order, none inside another."""
    tags, after = tree.tags, tree.after
    is_text = measures.chars[1:] > measures.chars[:-1]
    found: list[int] = []
    for node in range(len(tree) - 1, 0, -1):
        if tags[node] == TEXT:
            if is_text[node]:
                found.append(node)
        elif not (found and found[-1] < after[node]) and is_shown_element(tree, measures, node):
            found.append(node)
    found.reverse()
    return found


def content_runs(
    tree: PageTree, pieces: Sequence[int], owners: Sequence[int], *, within_owners: bool = False
) -> list[Run]:
    """Cut content into runs.

    Args:
        tree: The page.
        pieces: Nodes in order, none inside another.
        owners: Of each piece, any number.
        within_owners: The owners are nodes around the pieces, or the pieces themselves, and no run
            reaches beyond its owner; else it reaches as far as the page lets it.

    Returns:
        The runs in order; their byte ranges do not overlap.
    """
    bounds = [i for i in range(1, len(pieces)) if owners[i] != owners[i - 1]]
    runs = []
    for start, stop in pairwise([0, *bounds, len(pieces)] if pieces else []):
        before = pieces[start - 1] if start else -1
        behind = pieces[stop] if stop < len(pieces) else len(tree)
        top = owners[start] if within_owners else 0
        first, last = pieces[start], pieces[stop - 1]
        left = right = _widest(tree, first, top, before, behind)
        if tree.after[left] <= last:
            right = _widest(tree, last, top, before, behind)
        runs.append(_run(tree, owners[start], left, right))
    return runs


def _widest(tree: PageTree, piece: int, top: int, before: int, behind: int) -> int:
    """Return the outermost element around a piece, up to a top, without foreign content."""
    parents, after = tree.parents, tree.after
    node = piece
    while node != top:
        parent = parents[node]
        if parent <= before or after[parent] > behind:
            break
        node = parent
    return node


def _run(tree: PageTree, owner: int, left: int, right: int) -> Run:
    after = tree.after[right]
    node = left
    while tree.after[node] < after:
        node = tree.parents[node]
    return Run(owner, node, range(left, after), tree.starts[left], tree.ends[right])
