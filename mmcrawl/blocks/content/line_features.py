"""What is known of each line of a page: the numbers that content is told from noise by.

Content features (how long, how many links, sentences, digits), tag features (which elements and
which words of class attributes stand around it), spatial features (its place on the page and in
the element that holds most of the prose), what the page says of it elsewhere (in the heading above
it and in its metadata), and those of its neighbours and of the whole page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.line_texts import MAIN_COLUMNS, SLICE, LineTexts, Repetitions, Sections
from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.content.surroundings import StartTags, Surroundings
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.tree import PageTree

_SCALES = (0.05, 0.2, 0.5)  # shares of the page's text
_LEAST_PROSE = 40  # weighted characters of a line
_LEAST_PARAGRAPH = 25
_LEAVES = frozenset("p li td blockquote pre h1 h2 h3 h4 h5 h6 dd dt".split())
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


class Prose:
    """What surrounds each line at several scales, and where it lies to the prose.

    Attributes:
        best: The element whose own paragraphs hold most of the prose; 0 if none does.
        holders: Of each line, the innermost elements around it with 5, 20 and 50 % of the page's
            text.
    """

    def __init__(
        self,
        tree: PageTree,
        measures: Measures,
        lines: PageLines,
        texts: LineTexts,
        around: Surroundings,
    ) -> None:
        self._chars, self._link_chars = measures.chars, measures.link_chars
        self._after = np.asarray(tree.after, dtype=np.int32)
        self._firsts = np.asarray(lines.firsts, dtype=np.int32)
        self._containers = np.asarray(lines.containers, dtype=np.int32)
        self._around = around
        self._total = max(1, int(self._chars[-1]))
        is_prose = (texts.sentences > 0) & (texts.weights > _LEAST_PROSE)
        prose = np.where(is_prose, texts.lengths, 0)
        self._prose_before = np.concatenate([prose[:1] * 0, np.cumsum(prose, dtype=np.int32)])
        chars = self._chars[self._after] - self._chars[:-1]
        self.holders = [
            tree.innermost(around.with_text & (chars >= scale * self._total))[around.around_first]
            for scale in _SCALES
        ]
        headings = np.flatnonzero(tree.having(("h1",)) & (chars > 0))
        self._heading = int(headings[0]) if len(headings) else -1
        self.best = self._best_element(tree, lines, texts)
        self._parent = max(tree.parents[self.best], 0)
        inside = np.searchsorted(self._firsts, [self.best, self._after[self.best]])
        spread = inside[0] + np.flatnonzero(prose[inside[0] : inside[1]])
        self._first = int(spread[0]) if len(spread) else 0
        self._last = int(spread[-1]) if len(spread) else 0

    def scales(self, start: int, end: int) -> Floats:
        """Return features of the innermost large elements around some lines."""
        columns = []
        for holders in self.holders:
            at = holders[start:end]
            after = self._after[at]
            size = np.maximum(self._chars[after] - self._chars[at], 1).astype(np.float64)
            linked = self._link_chars[after] - self._link_chars[at]
            first, behind = (np.searchsorted(self._firsts, nodes) for nodes in (at, after))
            prose = self._prose_before[behind] - self._prose_before[first]
            columns += [
                size / self._total, linked / size, prose / size,
                np.log1p(size / np.maximum(behind - first, 1)),
            ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float32)

    def place(self, start: int, end: int) -> Floats:
        """Return the places of some lines, relative to the main heading and the prose."""
        firsts, best = self._firsts[start:end], self.best
        row = np.arange(start, start + len(firsts))
        before = self._chars[firsts].astype(np.float64)
        heading = self._heading
        below = (firsts >= heading) & (heading >= 0)
        distance = np.log1p(np.abs(before - self._chars[max(heading, 0)])) * (heading >= 0)
        begin, behind = self._chars[best], self._chars[self._after[best]]
        size = max(float(behind - begin), 1)
        linked = float(self._link_chars[self._after[best]] - self._link_chars[best])
        ahead, beyond = firsts < best, firsts >= self._after[best]
        inside = ~ahead & ~beyond
        steps = self._around.depths(self._containers[start:end])
        steps = np.maximum(steps - self._around.depths(np.array([best])), 0)
        columns = [
            row / max(1, len(self._firsts)), before / self._total,
            np.full(len(row), heading >= 0), below, distance, inside, ahead, beyond,
            (firsts >= self._parent) & (firsts < self._after[self._parent]),
            np.where(inside, (before - begin) / size, -1),
            np.where(ahead, np.log1p(np.maximum(begin - before, 0)), 0),
            np.where(beyond, np.log1p(np.maximum(before - behind, 0)), 0),
            (row >= self._first) & (row <= self._last),
            np.clip((row - self._first) / max(1, self._last - self._first), -2, 3),
            np.full(len(row), size / self._total), np.full(len(row), linked / size),
            np.minimum(steps, 12) / 4,
        ]  # fmt: skip
        return np.stack(columns, axis=1).astype(np.float32)

    def _best_element(self, tree: PageTree, lines: PageLines, texts: LineTexts) -> int:
        """Return the element whose own paragraphs hold most of the prose of the page."""
        rows = np.flatnonzero(texts.weights >= _LEAST_PARAGRAPH)
        weights = (1 + 2 * texts.sentences[rows] + np.minimum(texts.weights[rows] / 100, 6)) * (
            1 - texts.linked[rows] / np.maximum(texts.lengths[rows], 1)
        )
        tags, parents = tree.tags, tree.parents
        scores: dict[int, float] = {}
        for container, weight in zip(
            self._containers[rows].tolist(), weights.tolist(), strict=True
        ):
            node = parents[container] if tags[container] in _LEAVES else container
            share = weight
            for _ in range(4):
                if node <= 0:
                    break
                scores[node] = scores.get(node, 0.0) + share
                share *= 0.55
                node = parents[node]
        if not scores:
            return 0
        nodes = np.fromiter(scores, np.int64, len(scores))
        chars = self._chars[self._after[nodes]] - self._chars[nodes]
        linked = self._link_chars[self._after[nodes]] - self._link_chars[nodes]
        each = np.fromiter(scores.values(), np.float64, len(scores))
        return int(nodes[np.argmax(each * (1 - linked / np.maximum(chars, 1)))])


Floats = NDArray[np.float32]


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
        start_tags: StartTags,
    ) -> None:
        containers = np.asarray(lines.containers, dtype=np.int32)
        links = measures.link_chars[np.asarray(lines.afters)] - measures.link_chars[lines.firsts]
        self._texts = texts = LineTexts(lines.texts, links, np.asarray(lines.breaks))
        self._around = around = Surroundings(tree, measures, lines, start_tags)
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
        """Return for each look the number of lines with it, and their features."""
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
        """Features of the page as a whole, the same for all its lines."""
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
