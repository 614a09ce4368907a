"""What is known of each line of a page: the numbers that content is told from noise by.

Content features (how long, how many links, sentences, digits), tag features (which elements and
which words of class attributes stand around it), spatial features (its place on the page and in
the element that holds most of the prose), what the page says of it elsewhere (in the heading above
it and in its metadata), and those of its neighbours and of the whole page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.line_texts import LineTexts
from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.content.sections import metadata_columns, section_columns
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

_SCALES = (0.05, 0.2, 0.5)  # shares of the page's text
_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_WINDOW = 5  # lines to each side
_COUNTED = (
    "h1", "h2", "h3", "p", "li", "td", "img", "pre", "article", "time", "form", "button", "a",
)  # fmt: skip
_LEAVES = frozenset("p li td blockquote pre h1 h2 h3 h4 h5 h6 dd dt".split())

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
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        metadata: PageMetadata,
        class_weights: Mapping[str, float],
    ) -> None:
        self._tree = tree
        self._lines = lines
        self._chars = measures.chars
        self._link_chars = measures.link_chars
        self._firsts = np.array(lines.firsts, dtype=np.int64)
        self._after = np.array(tree.after, dtype=np.int64)
        links = measures.link_chars[np.array(lines.afters)] - measures.link_chars[self._firsts]
        self._texts = texts = LineTexts(lines.texts, links, lines.breaks)
        self._around = around = Surroundings(tree, measures, lines, class_weights)
        self.in_comments = around.in_comments
        kinds = self._container_kinds()
        self.best = 0
        prose, place = self._prose()
        self._context = np.hstack([texts.columns[:, [0, 1, 2, 3]], kinds[:, [0, 1, 2, 3, 5]]])
        self.page: Floats = self._page(kinds, metadata)
        self._before_around = (texts.columns, kinds)
        self._behind_around = (
            self._repeated(), section_columns(tree, lines, texts.linked),
            metadata_columns(lines, metadata), place, prose,
        )  # fmt: skip
        self._around_lines = self._window()

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def matrix(self) -> Floats:
        """The features of all lines, as training takes them."""
        return self.rows(0, len(self))

    def rows(self, start: int, end: int) -> Floats:
        """Return the features of some lines: one row a line, one column a feature."""
        these = slice(start, end)
        parts = [
            *(part[these] for part in self._before_around),
            self._around.columns(start, end),
            *(part[these] for part in self._behind_around),
            *(_shifted(self._context, by, start, end) for by in _NEIGHBOURS),
            self._around_lines[these],
        ]
        page = np.broadcast_to(self.page, (len(parts[0]), len(self.page)))
        result: Floats = np.hstack([*parts, page])
        return result

    def _repeated(self) -> Floats:
        """How many elements look like the one each line stands in, and what they hold.

        Elements look alike that have the same tag and class names, and whose parents do.
        """
        looks = np.array([self._around.looks[c] for c in self._lines.containers], dtype=np.int64)
        alike = np.maximum(np.bincount(looks), 1)
        text = np.bincount(looks, self._texts.lengths)
        linked = np.bincount(looks, self._texts.linked) / np.maximum(text, 1)
        sentences = np.bincount(looks, self._texts.sentences) / alike
        columns = [
            np.log(alike), np.log1p(text / alike), linked, np.log1p(sentences),
            text / max(1.0, float(self._texts.lengths.sum())),
        ]  # fmt: skip
        return np.stack([column[looks] for column in columns], axis=1).astype(np.float32)

    def _container_kinds(self) -> Floats:
        kinds = np.zeros((len(self._lines), len(_CONTAINERS)), dtype=np.float32)
        for row, container in enumerate(self._lines.containers):
            column = _CONTAINER_COLUMN.get(self._tree.tags[container])
            if column is not None:
                kinds[row, column] = 1
        return kinds

    def _prose(self) -> tuple[Floats, Floats]:
        """What surrounds each line at several scales, and where it lies to the prose."""
        count = len(self._tree)
        total = max(1, int(self._chars[-1]))
        nodes = np.arange(count)
        chars = (self._chars[self._after] - self._chars[nodes]).astype(np.float64)
        linked = (self._link_chars[self._after] - self._link_chars[nodes]).astype(np.float64)
        prose = np.where(
            (self._texts.sentences > 0) & (self._texts.weights > 40), self._texts.lengths, 0
        )
        inner_lines = self._inside(np.ones(len(self._lines)))
        inner_prose = self._inside(prose)
        columns = []
        for holders in self._holders(chars.tolist(), total):
            at = np.array([holders[node] for node in self._around.around_first], dtype=np.int64)
            size = np.maximum(chars[at], 1)
            columns += [
                size / total, linked[at] / size, inner_prose[at] / size,
                np.log1p(size / np.maximum(inner_lines[at], 1)),
            ]  # fmt: skip
        place = self._place(prose, chars, linked, total)
        return np.stack(columns, axis=1).astype(np.float32), place

    def _holders(self, chars: list[float], total: int) -> list[list[int]]:
        """Return for each scale the innermost large element around each element with text."""
        parents = self._tree.parents
        found = []
        for scale in _SCALES:
            least = scale * total
            holders = [0] * len(self._tree)
            for node in self._around.elements:
                holders[node] = node if chars[node] >= least else holders[parents[node]]
            found.append(holders)
        return found

    def _inside(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum a value of the lines over the subtree of each node."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        nodes = np.arange(len(self._tree))
        upto = np.searchsorted(self._firsts, self._after)
        result: NDArray[np.float64] = sums[upto] - sums[np.searchsorted(self._firsts, nodes)]
        return result

    def _place(
        self,
        prose: NDArray[np.float64],
        chars: NDArray[np.float64],
        linked: NDArray[np.float64],
        total: int,
    ) -> Floats:
        """Where each line stands on the page, to its main heading and to its prose."""
        tree, firsts = self._tree, self._firsts
        before = self._chars[firsts].astype(np.float64)
        rank = np.arange(len(firsts)) / max(1, len(firsts))
        heading = next((n for n, tag in enumerate(tree.tags) if tag == "h1" and chars[n]), -1)
        below = firsts >= heading if heading >= 0 else np.zeros(len(firsts))
        distance = (
            np.log1p(np.abs(before - self._chars[max(heading, 0)])) if heading >= 0 else below
        )
        best = self.best = self._best_element(chars, linked)
        start, end, size = self._chars[best], self._chars[self._after[best]], max(chars[best], 1)
        inside = (firsts >= best) & (firsts < self._after[best])
        parent = max(tree.parents[best], 0)
        spread = np.flatnonzero(inside & (prose > 0))
        first, last = (spread[0], spread[-1]) if len(spread) else (0, 0)
        row = np.arange(len(firsts))
        columns = [
            rank, before / total, np.full(len(firsts), heading >= 0), below, distance,
            inside, firsts < best, firsts >= self._after[best],
            (firsts >= parent) & (firsts < self._after[parent]),
            np.where(inside, (before - start) / size, -1),
            np.where(firsts < best, np.log1p(np.maximum(start - before, 0)), 0),
            np.where(firsts >= self._after[best], np.log1p(np.maximum(before - end, 0)), 0),
            (row >= first) & (row <= last),
            np.clip((row - first) / max(1, last - first), -2, 3),
            np.full(len(firsts), size / total), np.full(len(firsts), linked[best] / size),
            np.minimum(self._steps_below(best), 12) / 4,
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float32)

    def _best_element(self, chars: NDArray[np.float64], linked: NDArray[np.float64]) -> int:
        """Return the element whose own paragraphs hold most of the prose of the page."""
        tree, lines = self._tree, self._lines
        weights = (1 + 2 * self._texts.sentences + np.minimum(self._texts.weights / 100, 6)) * (
            1 - self._texts.linked / np.maximum(self._texts.lengths, 1)
        )
        scores: dict[int, float] = {}
        for row in np.flatnonzero(self._texts.weights >= 25).tolist():
            node, share = lines.containers[row], float(weights[row])
            if tree.tags[node] in _LEAVES:
                node = tree.parents[node]
            for _ in range(4):
                if node <= 0:
                    break
                scores[node] = scores.get(node, 0.0) + share
                share *= 0.55
                node = tree.parents[node]
        unlinked = 1 - linked / np.maximum(chars, 1)
        return max(scores, key=lambda node: scores[node] * float(unlinked[node]), default=0)

    def _steps_below(self, best: int) -> NDArray[np.int64]:
        depths = self._around.depths
        base = depths[best]
        return np.array([max(0, depths[c] - base) for c in self._lines.containers])

    def _window(self) -> Floats:
        """Text, links and sentences of the lines around each line."""
        kernel = np.ones(2 * _WINDOW + 1)

        def around(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.convolve(values, kernel, "full")[_WINDOW : _WINDOW + len(values)]

        text = np.maximum(around(self._texts.lengths), 1)
        links = around(self._texts.linked) / text
        sentences = around(self._texts.sentences)
        return np.stack([np.log1p(text), links, np.log1p(sentences)], axis=1).astype(np.float32)

    def _page(self, kinds: Floats, metadata: PageMetadata) -> Floats:
        """What the page as a whole is like; the same for all of its lines."""
        total = max(1.0, float(self._texts.lengths.sum()))
        share = self._texts.lengths / total
        times = Counter(self._tree.tags)
        counts = [times[tag] for tag in _COUNTED]
        return np.concatenate(
            [
                [np.log1p(total), np.log1p(len(share)), float(self._texts.linked.sum() / total)],
                share @ self._texts.columns[:, [2, 9, 14]], share @ kinds, np.log1p(counts),
                *self._around.class_shares(share), metadata.types,
            ]
        ).astype(np.float32)  # fmt: skip


def _shifted(values: Floats, by: int, start: int, end: int) -> Floats:
    """Return the row `by` lines further on of each line of a slice; -1 beyond the page."""
    rows = np.arange(start, min(end, len(values))) + by
    beyond = (rows < 0) | (rows >= len(values))
    result = values[np.where(beyond, 0, rows)]
    result[beyond] = -1
    return result
