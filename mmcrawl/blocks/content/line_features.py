"""What is known of each line of a page: the numbers that content is told from noise by.

Content features (how long, how many links, sentences, digits), tag features (which elements and
which words of class attributes stand around it), spatial features (its place on the page and in
the element that holds most of the prose), what the page says of it elsewhere (in the heading above
it and in its metadata), and those of its neighbours and of the whole page.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.line_texts import MAIN_COLUMNS, SLICE, LineTexts
from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.content.prose import Prose
from mmcrawl.blocks.content.sections import Repetitions, Sections
from mmcrawl.blocks.content.surroundings import Surroundings
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree

Floats = NDArray[np.float32]

_CONTAINERS: tuple[frozenset[str], ...] = tuple(
    frozenset((group).split())
    for group in (
        "p", "h1", "h2", "h3", "h4 h5 h6", "li", "td th", "dt dd", "blockquote", "pre",
        "figcaption caption", "div", "section article main", "label legend button",
    )
)  # fmt: skip
_CONTAINER_COLUMN = {tag: i for i, group in enumerate(_CONTAINERS) for tag in group}

_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_REACH = max(_NEIGHBOURS)
_CONTEXT_KINDS = [0, 1, 2, 3, 5]
_CONTEXT = MAIN_COLUMNS + len(_CONTEXT_KINDS)  # numbers of each neighbour
_WINDOW = 5  # lines to each side
_COUNTED = (
    "h1", "h2", "h3", "p", "li", "td", "img", "pre", "article", "time", "form", "button", "a",
)  # fmt: skip

PAGE_COLUMNS = 93
"""How many columns, the last ones, are the same for all lines of a page."""


class LineFeatures:
    """The features of the lines of a page.

    A page of a few megabytes may have a million lines, for which the whole matrix would take
    gigabytes: it is made a slice at a time, of what no other column says.

    Attributes:
        page: The numbers that are the same for all lines.
        in_comments: Of each line, whether it stands among readers' comments.
        best: The element that holds most of the prose, an index into the tree; 0 if none does.
        words: Of each line, how many it has; at least 1.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        metadata: PageMetadata,
        class_weights: Mapping[str, float],
    ) -> None:
        containers = np.asarray(lines.containers, dtype=np.int32)
        links = measures.link_chars[np.asarray(lines.afters)] - measures.link_chars[lines.firsts]
        self._texts = texts = LineTexts(lines.texts, links, np.asarray(lines.breaks))
        self._around = around = Surroundings(tree, measures, lines, class_weights)
        self.in_comments = around.in_comments
        self._kinds = tree.mapped(_CONTAINER_COLUMN, -1)[containers]
        self._looks = around.looks(containers)
        self._alike = self._repeated()
        self._sections = Sections(tree, lines, texts)
        self._said = Repetitions(lines, metadata)
        self._prose = Prose(tree, measures, lines, texts, around)
        self.best = self._prose.best
        self.page: Floats = self._page(tree, metadata)
        self.words = texts.words

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def matrix(self) -> Floats:
        """The features of all lines, as training takes them."""
        slices = [self.rows(start, start + SLICE) for start in range(0, len(self), SLICE)]
        return np.concatenate(slices)

    def rows(self, start: int, end: int) -> Floats:
        """Return the features of some lines: one row a line, one column a feature."""
        result: Floats = np.hstack(list(self.groups(start, min(end, len(self))).values()))
        return result

    def groups(self, start: int, end: int) -> dict[str, Floats]:
        """Return the features of some lines by what they are of, in the order of the columns."""
        # Of the lines around them, too: what is none of the page is -1.
        context = np.full((end - start + 2 * _REACH, _CONTEXT), -1, dtype=np.float32)
        first, after = max(0, start - _REACH), min(len(self), end + _REACH)
        context[first - start + _REACH : after - start + _REACH] = self._context(first, after)
        beside = [context[_REACH + by : _REACH + by + end - start] for by in _NEIGHBOURS]
        return {
            "text": self._texts.columns(start, end),
            "own element": _marks(self._kinds[start:end], len(_CONTAINERS)),
            "elements around": self._around.columns(start, end),
            "elements alike": self._alike[self._looks[start:end]],
            "headings above": self._sections.columns(start, end),
            "metadata": self._said.columns(start, end),
            "place": self._prose.place(start, end),
            "parts of the page": self._prose.scales(start, end),
            "lines beside": np.hstack([*beside, self._window(start, end)]),
            "page": np.broadcast_to(self.page, (end - start, len(self.page))),
        }

    def _context(self, start: int, end: int) -> Floats:
        kinds = _marks(self._kinds[start:end], len(_CONTAINERS))
        return np.hstack([self._texts.main_columns(start, end), kinds[:, _CONTEXT_KINDS]])

    def _repeated(self) -> Floats:
        """Return of each look how many lines have it, and what they are like."""
        texts, looks = self._texts, self._looks
        alike = np.maximum(np.bincount(looks), 1)
        text = np.bincount(looks, texts.lengths)
        linked = np.bincount(looks, texts.linked) / np.maximum(text, 1)
        sentences = np.bincount(looks, texts.sentences) / alike
        columns = [
            np.log(alike), np.log1p(text / alike), linked, np.log1p(sentences),
            text / max(1.0, float(texts.lengths.sum())),
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float32)

    def _window(self, start: int, end: int) -> Floats:
        """Return text, links and sentences of the lines around some lines."""
        first, after = max(0, start - _WINDOW), min(len(self), end + _WINDOW)
        rows = np.arange(start, end)
        begins = np.maximum(rows - _WINDOW, 0) - first
        ends = np.minimum(rows + _WINDOW + 1, len(self)) - first

        def around(values: NDArray[np.int32]) -> NDArray[np.int64]:
            sums = np.concatenate([[0], np.cumsum(values[first:after], dtype=np.int64)])
            result: NDArray[np.int64] = sums[ends] - sums[begins]
            return result

        text = np.maximum(around(self._texts.lengths), 1)
        links = around(self._texts.linked) / text
        sentences = around(self._texts.sentences)
        return np.stack([np.log1p(text), links, np.log1p(sentences)], axis=1).astype(np.float32)

    def _page(self, tree: PageTree, metadata: PageMetadata) -> Floats:
        """What the page as a whole is like; the same for all of its lines."""
        texts = self._texts
        total = max(1.0, float(texts.lengths.sum()))
        share = texts.lengths / total
        in_kinds = np.bincount(self._kinds + 1, share, minlength=len(_CONTAINERS) + 1)[1:]
        return np.concatenate(
            [
                [np.log1p(total), np.log1p(len(share)), float(texts.linked.sum() / total)],
                texts.shares, in_kinds, np.log1p(tree.counts(_COUNTED)),
                *self._around.class_shares(share), metadata.types,
            ]
        ).astype(np.float32)  # fmt: skip


def _marks(columns: NDArray[np.int8], count: int) -> Floats:
    """Return rows of which each has a one in a column, or none."""
    marks: Floats = (columns[:, None] == np.arange(count)).astype(np.float32)
    return marks
