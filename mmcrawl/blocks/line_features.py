"""What is known of each line of a page: the numbers that content is told from noise by.

Content features (how long, how many links, sentences, digits), tag features (which elements and
which words of class attributes stand around it), spatial features (its place on the page and in
the element that holds most of the prose), and those of its neighbours and of the whole page.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.lines import PageLines
from mmcrawl.blocks.measures import Measures
from mmcrawl.blocks.metadata import PageMetadata
from mmcrawl.blocks.tags import HEADINGS
from mmcrawl.blocks.tree import TEXT, PageTree
from mmcrawl.page.names import names

__all__ = ["CROSSED", "PAGE_COLUMNS", "LineFeatures", "words_around"]

Floats = NDArray[np.float32]

_CONTAINERS: tuple[frozenset[str], ...] = tuple(
    names(group)
    for group in (
        "p", "h1", "h2", "h3", "h4 h5 h6", "li", "td th", "dt dd", "blockquote", "pre",
        "figcaption caption", "div", "section article main", "label legend button",
    )
)  # fmt: skip
_CONTAINER_COLUMN = {tag: i for i, group in enumerate(_CONTAINERS) for tag in group}

# Elements and roles around a line.
_AROUND = (
    "article", "main", "nav", "aside", "header", "footer", "form", "table", "list", "figure",
    "section", "blockquote", "a", "button", "details", "dialog",
)  # fmt: skip
_AROUND_BIT = {name: 1 << i for i, name in enumerate(_AROUND)} | dict.fromkeys(
    ("ul", "ol", "dl"), 1 << _AROUND.index("list")
)
# Words of class, id, role and itemprop attributes, in groups of one meaning.
_CLASS_WORDS = (
    "comment comments commentlist disqus respond livefyre spotim discussion",
    "review reviews rating ratings testimonial testimonials stars",
    "related recommend recommended recommendations recirc more trending popular similar upsell "
    "crosssell suggested latest also outbrain taboola readmore",
    "share social sharing facebook twitter follow addthis",
    "sidebar widget rail aside secondary complementary",
    "footer foot colophon bottom legal disclaimer contentinfo",
    "header masthead top topbar banner hero",
    "nav menu breadcrumb breadcrumbs navigation navbar pagination pager pages skip toc menubar",
    "promo ad ads advert advertisement sponsor sponsored promotion cta",
    "newsletter subscribe signup subscription email optin",
    "modal popup dialog alertdialog overlay cookie consent gdpr privacy drawer offcanvas tooltip "
    "toast lightbox",
    "author byline bio meta date time timestamp published posted credits info",
    "caption credit figcaption figure image img photo gallery media slide slideshow thumbnail",
    "product description details detail specs specification specifications spec features feature "
    "overview about",
    "card cards tile grid item items teaser list listing result results row",
    "faq faqs accordion question questions answer tab tabs panel tabpanel",
    "filter filters facet facets sort sorting search select option options variant swatch dropdown",
    "cart price pricing buy add checkout shipping delivery stock quantity wishlist",
    "content body post entry article text story main prose copy richtext markdown paragraph "
    "message bbcode",
    "tags tag category categories topics label labels badge",
    "user login account signature sig avatar profile member username",
    "quote blockquote quoted",
    "code highlight pre snippet codehilite",
)
_COMMENTS = 0  # column of the group of comments
_CLASS_BIT = {
    word: 1 << (len(_AROUND) + i) for i, group in enumerate(_CLASS_WORDS) for word in group.split()
}
_BITS = len(_AROUND) + len(_CLASS_WORDS)
_HIDDEN_BIT = 1 << _BITS

_NAMES = re.compile(
    rb"""\s(class|id|role|itemprop)\s*=\s*(?:"([^"]{0,400})|'([^']{0,400})|([^\s"'>]{1,400}))""",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]{2,}|[A-Z]{2,}(?![a-z])|[A-Z][a-z]+")
_UNSHOWN = re.compile(
    rb"""\shidden(?=[\s=>/])|aria-hidden\s*=\s*["']?true|display\s*:\s*none""", re.IGNORECASE
)

# What a heading says of the lines below it.
_SECTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:\d+ )?(?:comments?|leave a (?:reply|comment)|discussion|join the|responses|"
        r"(?:网友|用户|读者|最新|热门)?评论|留言|发表)\b|\bcomments?(?: \(?\d+\)?)?$|"
        r"^\d+ (?:comments|responses|replies)",
        r"^(?:related|recommended|more (?:from|in|on|stories|news|articles|like)|"
        r"you (?:may|might)|also |read (?:more|next)|see also|similar|trending|popular|most |"
        r"latest|up next|what to read|editor|customers (?:also|who)|people also|recently|"
        r"sponsored|around the web|相关|推荐|猜你|热门|更多|延伸|最新)",
        r"review|rating|testimonial|what (?:our )?(?:customers|people) |评价",
        r"\bfaqs?\b|questions|常见问题",
        r"newsletter|subscribe|sign up|stay (?:in|up)|get (?:the|our)|join |follow us|connect|"
        r"contact|订阅|关注",
        r"shipping|delivery|returns?\b|refund|warranty|payment|privacy|cookie|terms|policy|"
        r"disclaimer|legal|about (?:us|the author)|footnotes?|references|sources|notes|免责|版权|"
        r"声明",
    )
)
_LONGEST_HEADING = 90
_LONGEST_BARE_HEADING = 50

_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)|\b\d{1,2}:\d\d\b")
_POINTER = re.compile(
    r"^(?:read|see|more|related|also|watch|click|subscribe|sign up|follow|share|advert|sponsor|"
    r"recommended|popular|trending|most read|延伸阅读|相关|推荐|分享|责任编辑|上一篇|下一篇|编辑|"
    r"声明|版权)",
    re.MULTILINE,
)
_PHRASES = (
    ("cookie", "privacy", "all rights reserved", "terms of", "terms and", "copyright", "©",
     "newsletter", "subscribe", "版权", "隐私", "icp"),
    ("comment", "reply", "replies", "log in", "login", "sign in", "评论", "回复", "登录", "注册"),
    ("getty", "reuters", "ap photo", "photo:", "photo by", "image:", "image credit", "credit:",
     "shutterstock", "courtesy", "pictured", "图片", "摄影", "来源"),
)  # fmt: skip

_STOP, _COMMA, _DIGIT, _UPPER, _SYMBOL, _CJK, _SPACE, _CJK_STOP, _MONEY = (1 << i for i in range(9))
_SCALES = (0.05, 0.2, 0.5)  # shares of the page's text
_NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_WINDOW = 5  # lines to each side


# Columns of the matrix, in the order in which the constructor stacks them.
_OWN_COLUMNS = 20
_BITS_AT = _OWN_COLUMNS + len(_CONTAINERS)
_SECTIONS_AT = _BITS_AT + _BITS + 1 + 1 + 4 + 5
_CROSSED_CLASSES = (0, 1, 2, 11, 12, 13, 14, 15, 18, 20)
CROSSED = [
    *(_BITS_AT + len(_AROUND) + group for group in _CROSSED_CLASSES),
    *range(_SECTIONS_AT, _SECTIONS_AT + len(_SECTIONS)),
    0,
    1,
    2,
]
"""Columns that mean another thing in another genre of page."""

PAGE_COLUMNS = 93
"""How many columns, the last ones, are the same for all lines of a page."""


class LineFeatures:
    """The features of the lines of a page.

    Attributes:
        matrix: One row a line, one column a feature.
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
        self._class_weights = class_weights
        self._lines = lines
        self._chars = measures.chars
        self._link_chars = measures.link_chars
        self._firsts = np.array(lines.firsts, dtype=np.int64)
        self._containers = np.array(lines.containers, dtype=np.int64)
        self._after = np.array(tree.after, dtype=np.int64)
        self._around_first = [self._element_with_text(first) for first in lines.firsts]
        self._known_names: dict[tuple[tuple[bytes, ...], ...], tuple[int, float]] = {}
        self._elements = self._elements_with_text()
        own = self._own()
        flags = self._flags()
        around = self._around(flags)
        repeated = self._repeated()
        self.in_comments = around[:, len(_AROUND) + _COMMENTS] > 0
        kinds = self._container_kinds()
        self.best = 0
        prose, place = self._prose()
        sections = self._sections()
        said = self._said(metadata)
        context = np.hstack([own[:, [0, 1, 2, 3]], kinds[:, [0, 1, 2, 3, 5]]])
        page = self._page(own, kinds, flags, metadata)
        self.matrix: Floats = np.hstack(
            [
                own, kinds, around, repeated, sections, said, place, prose,
                *(_shifted(context, by) for by in _NEIGHBOURS),
                self._window(), np.repeat(page[None, :], len(lines), axis=0),
            ]
        ).astype(np.float32)  # fmt: skip

    def _own(self) -> Floats:
        """What the text of each line is like."""
        texts = self._lines.texts
        joined = "\n".join(texts) + "\n"
        points = np.frombuffer(joined.encode("utf-32-le", "replace"), dtype="<u4")
        classes = _character_classes()[np.minimum(points, 0xFFFF)]
        lengths = np.array([len(text) for text in texts])
        starts = np.concatenate([[0], np.cumsum(lengths[:-1] + 1)])
        behind = np.append(classes[1:], _SPACE)
        ends_sentence = ((classes & _STOP) > 0) & ((behind & _SPACE) > 0)
        sentences = ends_sentence | ((classes & _CJK_STOP) > 0)

        def count(which: NDArray[np.bool_]) -> NDArray[np.float64]:
            return np.add.reduceat(which, starts, dtype=np.float64)

        number = np.maximum(lengths, 1)
        cjk = count((classes & _CJK) > 0)
        words = count((classes & _SPACE) > 0) + cjk / 2
        firsts, afters = self._firsts, np.array(self._lines.afters)
        links = self._link_chars[afters] - self._link_chars[firsts]
        self._lengths = lengths.astype(np.float64)
        self._linked = np.minimum(links, lengths).astype(np.float64)
        self._sentences = count(sentences)
        self._weights = self._lengths + 1.5 * cjk
        last = classes[starts + lengths - 1]
        times = Counter(texts)
        seen: set[str] = set()
        again = []
        for text in texts:
            again.append(text in seen)
            seen.add(text)
        columns = [
            np.log1p(lengths),
            self._linked / number,
            np.log1p(self._sentences),
            (last & (_STOP | _CJK_STOP)) > 0,
            np.log1p(words),
            np.log1p(count((classes & _COMMA) > 0)),
            count((classes & _DIGIT) > 0) / number,
            count((classes & _UPPER) > 0) / number,
            count((classes & _SYMBOL) > 0) / number,
            cjk / number,
            lengths / np.maximum(words, 1) / 10,
            np.minimum(self._lines.breaks, 3),
            again,
            np.log([times[text] for text in texts]),
            count((classes & _MONEY) > 0) > 0,
            *self._phrases(joined, starts),
        ]
        return np.stack(columns, axis=1).astype(np.float32)

    def _phrases(self, joined: str, starts: NDArray[np.int64]) -> list[NDArray[np.float32]]:
        """Which lines hold a year or a time, begin like a pointer, or hold words of a group."""
        folded = joined.lower()
        if len(folded) != len(joined):
            folded = joined
        columns = [
            np.array([_names_time(text) for text in self._lines.texts], dtype=np.float32),
            np.array([_POINTER.match(folded, at) is not None for at in starts.tolist()]).astype(
                np.float32
            ),
        ]
        for words in _PHRASES:
            found = [at for word in words for at in _occurrences(folded, word)]
            columns.append(_lines_at(found, starts))
        return columns

    def _element_with_text(self, node: int) -> int:
        """Return the innermost element around a node that holds more than white space."""
        node = self._tree.parents[node]
        while node and self._chars[self._tree.after[node]] == self._chars[node]:
            node = self._tree.parents[node]
        return node

    def _elements_with_text(self) -> list[int]:
        tags = self._tree.tags
        held = self._chars[self._after] > self._chars[:-1]
        return [node for node in np.flatnonzero(held).tolist() if node and tags[node] != TEXT]

    def _flags(self) -> list[int]:
        """Of each element that holds text: which elements and class words are around it, as bits.

        Elements that hold none have none of the lines in them, and are passed over.
        """
        tree = self._tree
        tags, parents = tree.tags, tree.parents
        flags, depths, looks = ([0] * len(tree) for _ in range(3))
        scores: list[_Scores] = [_NO_SCORES] * len(tree)
        no_class: tuple[bytes, ...] = ()
        known_tags: dict[bytes, tuple[int, float, tuple[bytes, ...]]] = {}
        known_looks: dict[tuple[int, str, tuple[bytes, ...]], int] = {}
        starts, inner_starts = tree.starts, tree.inner_starts
        for node in self._elements:
            parent, tag = parents[node], tags[node]
            bits = flags[parent] | _AROUND_BIT.get(tag, 0)
            score, own_class = 0.0, no_class
            if inner_starts[node] - starts[node] > len(tag) + 2 and tag not in _OUTERMOST:
                start_tag = tree.start_tag(node)
                known = known_tags.get(start_tag)
                if known is None:
                    known = known_tags[start_tag] = self._read_start_tag(start_tag)
                named, score, own_class = known
                bits |= named
            depths[node] = depths[parent] + 1
            flags[node] = bits
            scores[node] = scores[parent].below(score) if score else scores[parent]
            look = (looks[parent], tag, own_class)
            looks[node] = known_looks.setdefault(look, len(known_looks) + 1)
        self._depths, self._scores, self._looks = depths, scores, looks
        return flags

    def _read_start_tag(self, start_tag: bytes) -> tuple[int, float, tuple[bytes, ...]]:
        """Return the bits of a start tag, what its class words say, and its class."""
        if b"=" not in start_tag:
            return 0, 0.0, ()
        found = _NAMES.findall(start_tag)
        if not found:
            return _hidden_bit(start_tag), 0.0, ()
        names_found = tuple(groups[1:] for groups in found)
        known = self._known_names.get(names_found)
        if known is None:
            known = self._known_names[names_found] = self._read_names(found)
        named, score = known
        return named | _hidden_bit(start_tag), score, _class_of(found)

    def _read_names(self, found: Sequence[tuple[bytes, ...]]) -> tuple[int, float]:
        """Return the bits of the class words of an element, and what they say of its text."""
        words = class_words(found)
        bits = 0
        for word in words:
            bits |= _CLASS_BIT.get(word, 0)
        weights = [self._class_weights.get(word, 0.0) for word in words]
        return bits, math.fsum(weights) / math.sqrt(len(weights)) if weights else 0.0

    def _around(self, flags: list[int]) -> Floats:
        nodes = self._around_first
        bits = np.array([flags[node] for node in nodes], dtype=np.int64)
        columns = (bits[:, None] >> np.arange(_BITS + 1)) & 1
        depths = np.log1p([self._depths[node] for node in nodes])
        each = chain.from_iterable(self._scores[node] for node in nodes)
        scores = np.fromiter(each, dtype=np.float64, count=4 * len(nodes)).reshape(-1, 4)
        return np.hstack([columns, depths[:, None], scores]).astype(np.float32)

    def _repeated(self) -> Floats:
        """How many elements look like the one each line stands in, and what they hold.

        Elements look alike that have the same tag and class names, and whose parents do.
        """
        looks = np.array([self._looks[c] for c in self._lines.containers], dtype=np.int64)
        alike = np.maximum(np.bincount(looks), 1)
        text = np.bincount(looks, self._lengths)
        linked = np.bincount(looks, self._linked) / np.maximum(text, 1)
        sentences = np.bincount(looks, self._sentences) / alike
        columns = [
            np.log(alike), np.log1p(text / alike), linked, np.log1p(sentences),
            text / max(1.0, float(self._lengths.sum())),
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
        prose = np.where((self._sentences > 0) & (self._weights > 40), self._lengths, 0)
        inner_lines = self._inside(np.ones(len(self._lines)))
        inner_prose = self._inside(prose)
        columns = []
        for holders in self._holders(chars.tolist(), total):
            at = np.array([holders[node] for node in self._around_first], dtype=np.int64)
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
            for node in self._elements:
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
        weights = (1 + 2 * self._sentences + np.minimum(self._weights / 100, 6)) * (
            1 - self._linked / np.maximum(self._lengths, 1)
        )
        scores: dict[int, float] = {}
        for row in np.flatnonzero(self._weights >= 25).tolist():
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
        depths = self._depths
        base = depths[best]
        return np.array([max(0, depths[c] - base) for c in self._lines.containers])

    def _sections(self) -> Floats:
        """What the heading above each line says of it."""
        tags = self._tree.tags
        rows: list[list[float]] = []
        distances: list[int] = []
        said = [0.0] * len(_SECTIONS)
        since = 0
        for row, (text, container) in enumerate(
            zip(self._lines.texts, self._lines.containers, strict=True)
        ):
            tag = tags[container]
            heading = int(tag[1]) if tag in HEADINGS else 0
            if heading or len(text) < _LONGEST_BARE_HEADING:
                found = _sections_named(text, heading > 0)
                if heading:
                    said, since = found, row
                elif found[0] or (found[1] and self._linked[row] == 0):
                    said = [max(a, b) for a, b in zip(said, found, strict=False)] + said[2:]
                    since = row
            rows.append([*said, float(heading)])
            distances.append(row - since)
        named = np.array(rows, dtype=np.float32).reshape(len(rows), len(_SECTIONS) + 1)
        return np.hstack([named, np.log1p(distances)[:, None]]).astype(np.float32)

    def _said(self, metadata: PageMetadata) -> Floats:
        """Which lines the page's own metadata repeats."""
        title = metadata.title.casefold()
        headline = metadata.headline.casefold()
        summary = metadata.description[:50]
        rows = []
        for text in self._lines.texts:
            start = text[:60]
            long = len(text) >= 25 or (len(text) > 9 and not text.isascii())
            folded = text.casefold() if len(text) < 300 else ""
            rows.append(
                (
                    float(long and start in metadata.data),
                    float(long and start in metadata.description),
                    float(len(text) > 3 and bool(folded) and folded in title),
                    float(len(folded) > 10 and len(title) > 10 and title in folded),
                    float(len(text) > 3 and bool(folded) and folded in headline),
                    float(len(summary) > 25 and summary in text),
                )
            )
        return np.array(rows, dtype=np.float32).reshape(len(rows), 6)

    def _window(self) -> Floats:
        """Text, links and sentences of the lines around each line."""
        kernel = np.ones(2 * _WINDOW + 1)

        def around(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.convolve(values, kernel, "full")[_WINDOW : _WINDOW + len(values)]

        text = np.maximum(around(self._lengths), 1)
        links = around(self._linked) / text
        sentences = around(self._sentences)
        return np.stack([np.log1p(text), links, np.log1p(sentences)], axis=1).astype(np.float32)

    def _page(self, own: Floats, kinds: Floats, flags: list[int], metadata: PageMetadata) -> Floats:
        """What the page as a whole is like; the same for all of its lines."""
        total = max(1.0, float(self._lengths.sum()))
        share = self._lengths / total
        times = Counter(self._tree.tags)
        counts = [times[tag] for tag in _COUNTED]
        bits = np.array([flags[node] for node in self._around_first], dtype=np.int64)
        classes = (bits[:, None] >> np.arange(len(_AROUND), _BITS)) & 1
        return np.concatenate(
            [
                [np.log1p(total), np.log1p(len(share)), float(self._linked.sum() / total)],
                share @ own[:, [2, 9, 14]], share @ kinds, np.log1p(counts), share @ classes,
                np.log1p(classes.sum(axis=0)), metadata.types,
            ]
        ).astype(np.float32)  # fmt: skip


_COUNTED = (
    "h1", "h2", "h3", "p", "li", "td", "img", "pre", "article", "time", "form", "button", "a",
)  # fmt: skip
_OUTERMOST = names("html body")
_LEAVES = names("p li td blockquote pre h1 h2 h3 h4 h5 h6 dd dt")


class _Scores(NamedTuple):
    """What the class names around a node say: their sum, least, most and innermost."""

    total: float
    least: float
    most: float
    innermost: float

    def below(self, score: float) -> _Scores:
        return _Scores(self.total + score, min(self.least, score), max(self.most, score), score)


_NO_SCORES = _Scores(0.0, 0.0, 0.0, 0.0)


def class_words(found: Sequence[tuple[bytes, ...]]) -> set[str]:
    """Return the words of the class, id, role and itemprop attributes of an element."""
    names_found = b" ".join(b" ".join(groups[1:]) for groups in found).decode("latin-1")
    return {word.lower() for word in _WORD.findall(names_found)}


def _hidden_bit(start_tag: bytes) -> int:
    named = b"idden" in start_tag or b"none" in start_tag
    return _HIDDEN_BIT if named and _UNSHOWN.search(start_tag) else 0


def _class_of(found: Sequence[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    return next((groups[1:] for groups in found if groups[0].lower() == b"class"), ())


def words_around(tree: PageTree, node: int) -> set[str]:
    """Return the class words of the elements around a node, for learning their weights."""
    words: set[str] = set()
    node = tree.parents[node]
    while node > 0:
        if tree.tags[node] not in ("html", "body"):
            words |= class_words(tuple(_NAMES.findall(tree.start_tag(node))))
        node = tree.parents[node]
    return words


def _occurrences(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _sections_named(text: str, heading: bool) -> list[float]:
    """Return which sections a line names, of the first two only if it is no heading."""
    if len(text) >= _LONGEST_HEADING:
        return [0.0] * (len(_SECTIONS) if heading else 2)
    # The first two patterns hold at the start of a line, but for the word "comments" at its end.
    comments, others = _SECTIONS[:2]
    is_comments = comments.match(text) or ("comment" in text.lower() and comments.search(text))
    found = [float(bool(is_comments)), float(bool(others.match(text)))]
    if heading:
        found += [float(bool(pattern.search(text))) for pattern in _SECTIONS[2:]]
    return found


def _names_time(text: str) -> bool:
    """Whether a line holds a year or a time of day."""
    return ("19" in text or "20" in text or ":" in text) and _YEAR.search(text) is not None


def _lines_at(places: list[int], starts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Mark the lines in which the places of a text lie."""
    marks = np.zeros(len(starts), dtype=np.float32)
    if places:
        marks[np.searchsorted(starts, places, side="right") - 1] = 1
    return marks


def _shifted(values: Floats, by: int) -> Floats:
    """Return the row `by` lines further on of each line; -1 beyond the page."""
    result = np.full_like(values, -1)
    if by > 0:
        result[:-by] = values[by:]
    else:
        result[-by:] = values[:by]
    return result


@cache
def _character_classes() -> NDArray[np.uint16]:
    """Return the classes of the characters up to U+FFFF as bits."""
    classes = np.zeros(0x10000, dtype=np.uint16)
    for characters, bit in (
        (".!?…", _STOP),
        (",;:、，；：", _COMMA),
        ("|»›©®→←·•/$€£¥￥", _SYMBOL),
        ("。！？…", _CJK_STOP),
        ("$€£¥￥₹", _MONEY),
        (" \n", _SPACE),
    ):
        for character in characters:
            classes[ord(character)] |= bit
    for code in range(0x700):
        character = chr(code)
        classes[code] |= (_DIGIT if character.isdigit() else 0) | (
            _UPPER if character.isupper() else 0
        )
    for first, last in ((0x3040, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7AF)):
        classes[first : last + 1] |= _CJK
    return classes
