"""The lines of a page: its text between two breaks; and the text of its parts.

A line is a run of text within one block-level element, without a ``<br>``: a paragraph, a heading,
an item of a list, a cell, a link of a menu. Text of hidden elements (scripts, forms' options, …) is
left out.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import integers
from mmcrawl.page.html.tags import BLOCK_TAGS
from mmcrawl.page.html.tree import PageTree, RunTexts

_BREAKS = BLOCK_TAGS | {"br"}
_SPACE, _LINE_END = b" \n"
_SLICE = 10_000  # lines


@dataclass(frozen=True, slots=True, eq=False)
class PageLines:
    """The lines of a page in document order, in parallel arrays.

    Attributes:
        firsts, afters: The first node of each, and the node behind its last run of text.
    """

    texts: JoinedTexts  # their visible text, white space collapsed, never empty
    firsts: array[int]
    afters: array[int]
    containers: array[int]  # the block-level element each is in
    breaks: array[int]  # how many `<br>` stand before each, since the line before
    container_of: array[int]  # of each node of the page, the block-level element it is in

    @classmethod
    def of(cls, tree: PageTree, measures: Measures) -> PageLines:
        """Cut the visible text of a page into lines."""
        is_block = tree.having(BLOCK_TAGS)
        container_of = tree.innermost(is_block)
        runs = tree.runs
        visible = np.frombuffer(measures.hidden, dtype=np.bool_)[runs] == 0
        shown = runs[visible]
        breaks = np.cumsum(tree.having(_BREAKS))[shown]
        containers = container_of[shown]
        begins = np.ones(len(shown), dtype=np.bool_)
        begins[1:] = (breaks[1:] != breaks[:-1]) | (containers[1:] != containers[:-1])
        firsts = np.flatnonzero(begins)  # here and below: among the visible runs
        lasts = np.append(firsts[1:], len(shown))[: len(firsts)] - 1
        breaks_before = _breaks_before(tree, is_block, shown[firsts])
        numbers = np.zeros(len(runs), dtype=np.int32)
        numbers[visible] = np.cumsum(begins)
        spaced = visible & np.frombuffer(tree.apart, dtype=np.bool_)[runs]
        texts = JoinedTexts(tree.texts, numbers, spaced)
        kept = texts.numbers - 1  # a line without any text is none, but parts what is around it
        return cls(
            texts=texts,
            firsts=integers(shown[firsts[kept]]),
            afters=integers(shown[lasts[kept]] + 1),
            containers=integers(containers[firsts[kept]]),
            breaks=integers(breaks_before[kept]),
            container_of=integers(container_of),
        )

    def __len__(self) -> int:
        return len(self.firsts)


def _breaks_before(
    tree: PageTree, is_block: NDArray[np.bool_], firsts: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return how many ``<br>`` stand before each line since the line, or block, before."""
    nodes = np.arange(len(tree), dtype=np.int32)
    since = np.maximum.accumulate(np.where(is_block, nodes, 0))[firsts]
    since[1:] = np.maximum(since[1:], firsts[:-1])
    upto = np.cumsum(tree.having(("br",)), dtype=np.int32)
    result: NDArray[np.int32] = upto[firsts] - upto[since]
    return result


class JoinedTexts(Sequence[str]):
    """The texts of lines: one string, in which a line end is behind each.

    Args:
        texts: Of the runs of text of a page.
        lines: Of each run, the number of its line, from 1 on; 0 of one that is in none.
        spaced: The runs that begin with a space, whatever their text.

    Attributes:
        joined: All of them.
        starts: Where each begins, and what is behind the last.
        run_starts: Where the first character of each run stands, or of one behind it; and the end.
        numbers: Of each line, which are those that have any text.
    """

    def __init__(
        self, texts: RunTexts, lines: NDArray[np.int32], spaced: NDArray[np.bool_]
    ) -> None:
        begins = np.flatnonzero(lines > np.maximum.accumulate(np.append(0, lines[:-1])))
        pieces, lengths, numbers, run_starts = [], [], [], []
        size = 0
        for runs in texts.slices(begins):
            piece, starts, kept, own_starts = _joined(texts, runs, lines, spaced)
            pieces.append(piece)
            lengths.append(np.diff(starts, append=np.int32(len(piece))))
            numbers.append(kept)
            run_starts.append(own_starts + size)
            size += len(piece)
        self.joined = "".join(pieces)
        self.run_starts: NDArray[np.int64] = np.concatenate([*run_starts, np.array([size])])
        self.numbers: NDArray[np.int32] = np.concatenate([np.zeros(0, dtype=np.int32), *numbers])
        self.starts = np.zeros(len(self.numbers) + 1, dtype=np.int32)
        np.cumsum(np.concatenate([self.starts[:0], *lengths]), out=self.starts[1:])
        self._bounds = self.starts.data  # quicker to be read one by one

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, row: int) -> str: ...
    @overload
    def __getitem__(self, row: slice) -> list[str]: ...

    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if row < 0:
            row += len(self)
        return self.joined[self._bounds[row] : self._bounds[row + 1] - 1]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _SLICE):  # a page may have a million lines
            after = min(first + _SLICE, len(self))
            yield from self.joined[self._bounds[first] : self._bounds[after] - 1].split("\n")

    def folded(self) -> str:
        """Return all of them in lower case, or as they are if that would change a length."""
        folded = self.joined.lower()
        return folded if len(folded) == len(self.joined) else self.joined

    def holding(self, patterns: Sequence[Any], joined: str) -> NDArray[np.bool_]:
        """Return of each pattern in which texts it is found: patterns × texts.

        Args:
            patterns: Of RE2, for UTF-8; none matches a line end.
            joined: The texts, or as :meth:`folded` gives them.
        """
        written = joined.encode("utf-8", "replace")
        ends = np.flatnonzero(np.frombuffer(written, dtype=np.uint8) == _LINE_END)
        marks = np.zeros((len(patterns), len(self)), dtype=np.bool_)
        for row, pattern in zip(marks, patterns, strict=True):
            row[np.searchsorted(ends, [m.start() for m in pattern.finditer(written)])] = True
        return marks


def _joined(
    texts: RunTexts, runs: range, lines: NDArray[np.int32], spaced: NDArray[np.bool_]
) -> tuple[str, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the texts of the lines of some runs, where each begins, their numbers; and of runs
    where each begins."""
    points, places, run, blank = texts.ink(runs)
    blank = blank.copy()
    shown = lines[run] > 0
    points, places, run = points[shown], places[shown], run[shown]
    line = lines[run]
    ends_line = line[1:] != line[:-1]
    # White space counts in the runs of lines only; a run that begins with one has it in front.
    starts = texts.starts[runs.start : runs.stop + 1] - texts.starts[runs.start]
    these = slice(runs.start, runs.stop)
    if not lines[these].all():
        blank &= np.repeat(lines[these] > 0, np.diff(starts))[: len(blank)]
    fronts = starts[:-1][spaced[these]] - 1
    blank[fronts[fronts >= 0]] = True
    before = np.cumsum(blank, dtype=np.int32)[places]
    separated = ends_line | (before[1:] != before[:-1])
    at = np.arange(len(points), dtype=np.int32)
    at[1:] += np.cumsum(separated, dtype=np.int32)
    joined = np.full(at[-1] + 2 if len(at) else 0, _SPACE, dtype="<u4")
    joined[at] = points
    joined[at[1:][ends_line] - 1] = _LINE_END
    joined[-1:] = _LINE_END
    text = joined.tobytes().decode("utf-32-le", "surrogatepass")
    firsts = np.searchsorted(run, np.arange(runs.start, runs.stop))
    line_starts = np.append(at[:1], at[1:][ends_line])
    numbers = np.append(line[:1], line[1:][ends_line])
    return text, line_starts, numbers, np.append(at, len(joined))[firsts]


LONGEST_LINK_TEXT = 300
"""Characters that are read of a link's text."""


class PageText:
    """The visible text of any part of a page, white space collapsed.

    Inline elements separate no words; a space separates lines.

    >>> from mmcrawl.page.html.tree import read_tree
    >>> tree = read_tree(b"<p><b>H</b>ello <i>you</i><p>there")
    >>> PageText(tree, Measures(tree)).of(range(len(tree)))
    'Hello you there'
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        texts = PageLines.of(tree, measures).texts
        self._after = tree.after
        self._runs = integers(tree.runs)
        self._text = texts.joined.replace("\n", " ")
        self._starts: list[int] = texts.run_starts.tolist()

    def of(self, nodes: range) -> str:
        """Return the text of some nodes."""
        first = bisect_left(self._runs, nodes.start)
        after = bisect_left(self._runs, nodes.stop, first)
        return self._text[self._starts[first] : self._starts[after]].strip()

    def of_link(self, link: int, stop: int) -> str:
        """Return the text of a link as far as it stands before the node `stop`.

        Links may stand in each other, as when a table parts them. Each is read as far as
        :data:`LONGEST_LINK_TEXT`: all the links of a page take time proportional to the page.
        """
        first = bisect_left(self._runs, link + 1)
        after = bisect_left(self._runs, min(self._after[link], stop), first)
        start = self._starts[first]
        end = min(self._starts[after], start + LONGEST_LINK_TEXT)
        return self._text[start:end].rstrip()
