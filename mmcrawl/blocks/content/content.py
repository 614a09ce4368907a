"""What a page says: its headline, its main text in paragraphs, the links that go with it.

The lines of the page are given probabilities of being content
(:mod:`mmcrawl.blocks.content.model`); of all choices of lines, the one with the greatest expected
F1 is taken, so that a page on which little is certain still gives its best part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.beside import completed
from mmcrawl.blocks.content.line_features import LineFeatures
from mmcrawl.blocks.content.metadata import (
    PageMetadata,
    as_read,
    comments_of,
    page_headline,
    page_metadata,
)
from mmcrawl.blocks.content.model import GENRES, content_model
from mmcrawl.blocks.content.page_type import ContentLinks, page_type
from mmcrawl.blocks.content.parts import SOFT_HYPHEN
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.merging import merge_blocks
from mmcrawl.blocks.partition import BlockLink, Partition
from mmcrawl.blocks.partitioners.base import Cut
from mmcrawl.blocks.partitioners.registry import make_partitioner
from mmcrawl.errors import BlockError
from mmcrawl.page.html.encoding import text_of_utf_32
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree, read_tree

if TYPE_CHECKING:
    from mmcrawl.blocks.content.parts import Document
    from mmcrawl.blocks.facts import PageFacts

Favor = Literal["precision", "recall"]
"""What a choice of lines is to be best in, where both cannot be had."""

Form = Literal["md", "txt", "json"]
"""Formats that the content of a page is written in."""

_BETA: dict[Favor | None, float] = {"precision": 0.5, None: 1.0, "recall": 2.0}
_SURELY = 0.5  # probability of a genre
_ARTICLE, _FORUM = GENRES.index("article"), GENRES.index("forum")
SHIFT_OF_ARTICLES = -0.5  # added to log-odds: best on whole sources that no model had seen
_LEAST_SHIFTED = 100  # words: what has fewer has no tail
_LEAST_FORUM = 0.1  # from here on, what readers write is the page's content
_BELOW_A_TEXT = 0.15  # of their probability that comments keep elsewhere
_LEAST_EXPECTED = 10.0  # words of content below which a page of unlikely lines has none
_LEAST_LIKELY = 0.9  # words of content to be expected of likely lines: "Loading…" is one of .7
_CARDS = [GENRES.index(genre) for genre in ("forum", "product")]
_LONGEST_REPEATED = 60  # characters; of a longer line, what stands far behind is a copy
_FAR = 100  # lines: a refrain or a clause comes again sooner


@dataclass(frozen=True, eq=False)
class PageContent:
    """The content of a page.

    Attributes:
        title: The headline; where the page has none, its title without the site's name; else "".
        paragraphs: The main text, in order.
        genres: The probability of each of :data:`mmcrawl.blocks.content.model.GENRES`.
    """

    title: str
    paragraphs: tuple[str, ...]
    genres: dict[str, float]
    _tree: PageTree = field(repr=False)
    _measures: Measures = field(repr=False)
    _metadata: PageMetadata = field(repr=False)
    _lines: PageLines = field(repr=False)
    _chosen: NDArray[np.bool_] = field(repr=False)
    _in_comments: NDArray[np.bool_] = field(repr=False)
    _url: str | None = field(repr=False)

    @property
    def text(self) -> str:
        """The main text, a blank line between two paragraphs."""
        return "\n\n".join(self.paragraphs)

    @cached_property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The places of its lines: (start, end) in bytes, in order; of text and UTF-32 as UTF-8."""
        tree, lines = self._tree, self._lines
        return tuple(
            (tree.starts[lines.firsts[row]], tree.ends[lines.afters[row] - 1])
            for row in np.flatnonzero(self._chosen).tolist()
        )

    @cached_property
    def comments(self) -> tuple[str, ...]:
        """Readers' comments below the text, a paragraph each; empty if these are the text."""
        return comments_of(
            self._tree, self._measures, self._lines, self._in_comments & ~self._chosen
        )

    @cached_property
    def facts(self) -> PageFacts:
        """Authors, dates, site, language, licence, as the page gives them."""
        # Here and below: what many do not ask for is loaded when it is.
        from mmcrawl.blocks.facts import page_facts
        from mmcrawl.page.structured import Declared

        said = Declared(self._tree)
        return page_facts(said, self._lines, title=self.title, url=self._url or "")

    @cached_property
    def document(self) -> Document:
        """The main text with headings, lists, tables, code, links, images, formulas, and price."""
        from mmcrawl.blocks.content.beside import beside_text
        from mmcrawl.blocks.content.document import page_document

        is_product = self.genres["product"] > _SURELY
        shown = beside_text(
            self._tree,
            self._measures,
            self._lines,
            self._chosen,
            posts=self.genres["forum"] > _SURELY,
            price=self.facts.price if is_product else None,
        )
        return page_document(
            self._tree,
            self._measures,
            self._lines,
            shown,
            title=self.title,
            url=self._url or self.facts.canonical,
        )

    def write(self, form: Form) -> str:
        """Return the content as ``md`` (Markdown), ``txt`` or ``json``; else a BlockError."""
        from mmcrawl.blocks.content import writing

        match form:
            case "md":
                return writing.markdown(self.document)
            case "txt":
                return writing.plain(self.document)
            case "json":
                return writing.as_json(self.record())
            case _:
                raise BlockError(f"no format {form!r}: give one of {', '.join(get_args(Form))}")

    def record(self) -> dict[str, Any]:
        """Return all that is known of the page as plain dictionaries and lists."""
        from mmcrawl.blocks.content.writing import content_record

        return content_record(
            self.document, self.facts, text=self.text, comments=self.comments, url=self._url
        )

    @cached_property
    def related_links(self) -> tuple[BlockLink, ...]:
        """The links of the blocks that lead on from the text (Wang & Zhu 2012, section 3)."""
        cut = make_partitioner("spcola")
        cuts: list[Cut] = cut(self._tree, 1)
        page = Partition(self._tree, cuts, method="spcola", level=1, url=self._url)
        blocks = merge_blocks(page).related_links
        return tuple(link for block in blocks for link in block.links)

    @cached_property
    def page_type(self) -> str:
        """One of :data:`PAGE_TYPES`."""
        return page_type(
            self._tree,
            self._url,
            title=self._metadata.title,
            paragraphs=self.paragraphs,
            links=ContentLinks.of(self._tree, self._measures, self._lines, self._chosen),
            genres=self.genres,
        )


def page_content(
    body: bytes | str,
    url: str | None = None,
    *,
    favor: Favor | None = None,
    encoding: str | None = None,
    content_type: str | None = None,
) -> PageContent:
    """Read the content of a page; never fails for what the bytes are.

    Args:
        body: The page as received, without content encoding (gzip, …); or its text.
        url: Of the page; helps to tell related links from others, and to find the date.
        favor: "precision" leaves out what is doubtful, "recall" takes it in.
        encoding: Python codec name of the body, where it is known; else it is found out. A text has
            none.
        content_type: The ``Content-Type`` header, if any, which may name it.

    Raises:
        BlockError: no codec has the name that is given as `encoding`, or `favor` is another word.

    >>> page_content(b"<title>Levers</title><p>A lever is a rigid bar on a pivot.").text
    'A lever is a rigid bar on a pivot.'
    """
    if encoding is None and isinstance(body, bytes):
        body = text_of_utf_32(body) or body
    if isinstance(body, str):
        body, encoding = body.encode("utf-8", "replace"), "utf-8"
    return content_of(
        read_tree(body, encoding=encoding, content_type=content_type), url, favor=favor
    )


def content_of(
    tree: PageTree, url: str | None = None, *, favor: Favor | None = None
) -> PageContent:
    """Read the content of a parsed page, see :func:`page_content`; a BlockError for `favor`."""
    if favor not in _BETA:
        raise BlockError(f"favor={favor!r}: give one of {', '.join(get_args(Favor))}, or None")
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    metadata = page_metadata(tree)
    if not len(lines):
        genres = dict.fromkeys(GENRES, 0.0)
        none = np.zeros(0, dtype=np.bool_)
        return PageContent(
            metadata.title, (), genres, tree, measures, metadata, lines, none, none, url
        )
    return _content(tree, measures, lines, metadata, url, beta=_BETA[favor])


def _content(
    tree: PageTree,
    measures: Measures,
    lines: PageLines,
    metadata: PageMetadata,
    url: str | None,
    *,
    beta: float,
) -> PageContent:
    judged = _Judged.of(tree, measures, lines, metadata)
    best = best_lines(judged.probabilities, judged.words, beta)
    # Cards of goods and quoted posts stand twice near each other as well.
    far = 0 if judged.genres[_CARDS].sum() > _SURELY else _FAR
    chosen = completed(tree, measures, lines, _without_copies(best, lines, far))
    return PageContent(
        title=as_read(page_headline(tree, lines, judged.prose, metadata)),
        paragraphs=_paragraphs(tree, lines, chosen),
        genres=dict(zip(GENRES, judged.genres.tolist(), strict=True)),
        _tree=tree,
        _measures=measures,
        _metadata=metadata,
        _lines=lines,
        _chosen=chosen,
        _in_comments=judged.in_comments,
        _url=url,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The verdict of the model on a page, without its features.

    Attributes:
        in_comments: Of each line, whether it stands among comments that are not the page's content.
    """

    probabilities: NDArray[np.float32]  # of each line, that it is content
    words: NDArray[np.float64]  # of each line, about how many it has
    in_comments: NDArray[np.bool_]
    genres: NDArray[np.float32]  # the probability of each genre
    prose: int  # the element that holds most of the prose, an index into the tree

    @classmethod
    def of(
        cls, tree: PageTree, measures: Measures, lines: PageLines, metadata: PageMetadata
    ) -> _Judged:
        model = content_model()
        features = LineFeatures(tree, measures, lines, metadata, model.start_tags)
        genres = model.genres(features)
        shift = SHIFT_OF_ARTICLES * genres[_ARTICLE] * (features.words.sum() >= _LEAST_SHIFTED)
        probabilities = model.probabilities(features, float(shift))
        in_comments = features.in_comments
        if genres[_FORUM] >= _LEAST_FORUM:
            in_comments = np.zeros_like(in_comments)
        else:
            probabilities = np.where(in_comments, _BELOW_A_TEXT * probabilities, probabilities)
        return cls(probabilities, features.words, in_comments, genres, features.best)


def best_lines(
    probabilities: NDArray[np.float32], words: NDArray[np.float64], beta: float = 1.0
) -> NDArray[np.bool_]:
    """Choose the lines whose F-measure may be expected to be greatest.

    Where no line is likely, or one word alone not surely, and all of them give a few words at most,
    the page has no content: a menu, a notice.

    Args:
        probabilities: Of each line, that it is content.
        words: Of each line, how many it has.
        beta: How many times as much recall counts as precision does.
    """
    chosen = np.zeros(len(words), dtype=np.bool_)
    expected = probabilities * words
    likely = expected[probabilities >= 0.5].sum()
    if expected.sum() >= _LEAST_EXPECTED or likely >= _LEAST_LIKELY:
        chosen[likeliest(probabilities, words, beta)] = True
    return chosen


def likeliest(
    probabilities: NDArray[np.floating], words: NDArray[np.float64], beta: float = 1.0
) -> NDArray[np.int64]:
    """Return the rows of the likeliest lines, as many as make the expected F-measure greatest.

    Of the k likeliest lines, (1 + β²)·Σp·w over the chosen / (Σw over the chosen + β²·Σp·w over
    all) is the ratio of expectations that F_β is made of; the best k is taken.
    """
    expected = probabilities * words
    order = np.argsort(-probabilities, kind="stable")
    # The factor 1 + β² is the same for all k.
    measure = np.cumsum(expected[order]) / (np.cumsum(words[order]) + beta**2 * expected.sum())
    return order[: int(np.argmax(measure)) + 1]


def _without_copies(chosen: NDArray[np.bool_], lines: PageLines, far: int) -> NDArray[np.bool_]:
    """Leave out long lines that stand more than `far` lines behind where they last stood."""
    last: dict[str, int] = {}
    for row in np.flatnonzero(chosen).tolist():
        text = lines.texts[row]
        if len(text) > _LONGEST_REPEATED:
            chosen[row] = row - last.get(text, row) <= far
            if chosen[row]:
                last[text] = row
    return chosen


def _paragraphs(tree: PageTree, lines: PageLines, chosen: NDArray[np.bool_]) -> tuple[str, ...]:
    """Join lines that a single ``<br>`` parts, and items of one list."""
    paragraphs: list[str] = []
    before = -1
    for row in np.flatnonzero(chosen).tolist():
        text = _line_text(tree, lines, row)
        same = row == before + 1 and lines.breaks[row] == 1
        if paragraphs and same and lines.containers[row] == lines.containers[before]:
            paragraphs[-1] += "\n" + text
        else:
            paragraphs.append(text)
        before = row
    return tuple(paragraphs)


def _line_text(tree: PageTree, lines: PageLines, row: int) -> str:
    """The text of a line as it is read; of preformatted text, with its white space."""
    tag = tree.tags[lines.containers[row]]
    if tag != "pre":
        text = lines.texts[row].replace(SOFT_HYPHEN, "")
        return as_read(text) if tag in HEADINGS else text
    raw = tree.preformatted(range(lines.firsts[row], lines.afters[row]))
    return "\n".join(line.rstrip() for line in raw.strip("\r\n").splitlines())
