"""Builds a document from a page: its chosen lines, in the elements that give their role.

The nodes are visited once, in order, with a stack of the open elements. There is no recursion: a
page may nest its elements a hundred thousand deep.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.beside import is_data_table
from mmcrawl.blocks.content.formulas import Formulas
from mmcrawl.blocks.content.parts import (
    SOFT_HYPHEN,
    Block,
    Break,
    Cell,
    CodeBlock,
    Document,
    Heading,
    Image,
    Inline,
    Items,
    Link,
    Paragraph,
    Quote,
    Run,
    Style,
    Styled,
    Table,
    nested,
    plain_text,
    stripped,
)
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import HEADINGS
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.urls import absolute_url

_STYLES: Mapping[str, Style] = {
    "b": "strong", "strong": "strong", "i": "emphasis", "em": "emphasis", "cite": "emphasis",
    "dfn": "emphasis", "var": "emphasis", "code": "code", "kbd": "code", "samp": "code",
    "tt": "code", "del": "deleted", "s": "deleted", "strike": "deleted", "sup": "superscript",
    "sub": "subscript",
}  # fmt: skip
_PARTS_OF_TABLES = frozenset({"tr", "td", "th"})  # which count without any text
_NOWHERE = ("javascript:", "about:", "data:", "blob:")
_DEEPEST = 24  # lists and quotes in each other; what stands deeper is in the last
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-source-|highlight-text-|brush:\s*|sourceCode\s+)"
    r"([\w+#-]+)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")
_PERMALINKS = ("¶", "#", "§", "🔗", "\uf0c1", "")
_TINY = 40  # pixels; icons and counters
_NO_PICTURE = re.compile(
    r"pixel|spacer|blank\.|1x1|avatar|logo|icon|emoji|spinner|loading|badge", re.I
)
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-original-src")


@dataclass(slots=True)
class _Open:
    """An element that is open: up to which node, and where what is in it goes."""

    after: int
    blocks: list[Block]
    items: Items | None = None
    table: Table | None = None
    cell: Cell | None = None
    term: bool = False


def page_document(
    tree: PageTree,
    measures: Measures,
    lines: PageLines,
    chosen: NDArray[np.bool_],
    *,
    title: str = "",
    url: str = "",
) -> Document:
    """Return the content of a page as a document.

    Args:
        chosen: Of each line, whether it is content.
        title: The headline; a heading that repeats it is left out of the blocks.
        url: Of the page; makes addresses absolute.
    """
    texts = _kept_texts(measures, lines, chosen)
    page = _Page(tree, lines, chosen, Formulas(tree), texts)
    return Document(title, _Reader(page, title, url).read())


def _kept_texts(measures: Measures, lines: PageLines, kept: NDArray[np.bool_]) -> bytearray:
    """Return of each node whether it is a run of text of a kept line."""
    texts = bytearray(len(measures.tree))
    for row in np.flatnonzero(kept).tolist():
        for node in range(lines.firsts[row], lines.afters[row]):
            texts[node] = measures.tree.tags[node] == TEXT and not measures.hidden[node]
    return texts


@dataclass(frozen=True, slots=True)
class _Page:
    """The source of a document."""

    tree: PageTree
    lines: PageLines
    kept: NDArray[np.bool_]
    formulas: Formulas
    texts: bytearray


class _Reader:
    def __init__(self, page: _Page, title: str, url: str) -> None:
        self._tree, self._lines, self._formulas = page.tree, page.lines, page.formulas
        self._texts, self._kept = page.texts, page.kept
        self._title, self._url = title.casefold(), url
        self._told = _running(page)
        self._addresses: dict[str, str] = {}
        self._blocks: list[Block] = []
        self._open = [_Open(len(page.tree), self._blocks)]
        self._inline: list[tuple[int, int]] = []  # open inline elements: node behind, node
        self._parts: dict[int, Styled | Link] = {}  # what they are, empty
        self._line: list[Run] = []
        self._line_in = -1
        self._after_space = True
        self._breaks = 0

    def read(self) -> list[Block]:
        """Go through the page."""
        tree, node = self._tree, 1
        while node < len(tree):
            while self._open[-1].after <= node:
                self._close()
            while self._inline and self._inline[-1][0] <= node:
                self._inline.pop()
            node = self._take(tree.tags[node], node)
        while self._open:
            self._close()
        return self._blocks

    def _take(self, tag: str, node: int) -> int:
        """Take a node; return the next one to look at."""
        after = self._tree.after[node]
        if node in self._formulas.after:
            self._take_formula(node)
            return self._formulas.after[node]
        if self._told[after] == self._told[node]:
            here = self._open[-1]
            if here.table is not None and here.cell is None and tag in _PARTS_OF_TABLES:
                self._take_table_part(tag, node, after, here.table)
            return after
        if tag == TEXT:
            self._take_text(node)
        elif tag == "pre" and self._is_code(node):
            self._take_code(node)
            return after
        elif tag == "br":
            self._take_break()
        elif tag in _STYLES:
            self._open_inline(node, Styled(_STYLES[tag]))
        elif tag == "a" and self._is_permalink(node, after):
            return after
        elif tag == "a":
            if address := self._address(self._tree.attributes(node).get("href", "")):
                self._open_inline(node, Link(address))
        elif tag == "img":
            self._take_image(node)
        elif after > node + 1:
            self._take_structure(tag, node, after)
        return node + 1

    def _close(self) -> None:
        """Close the innermost element; a list or table in which nothing was kept is left out."""
        self._end_line()
        closed = self._open.pop()
        if closed.items is not None:
            closed.items.items = [item for item in closed.items.items if item]
            empty: Block | None = None if closed.items.items else closed.items
        elif closed.table is not None and closed.cell is None:
            closed.table.leave_out_empty_rows()
            empty = None if closed.table.rows else closed.table
        else:
            empty = None
        if empty is not None:
            closed.blocks[:] = [block for block in closed.blocks if block is not empty]
        if closed.blocks and isinstance(closed.blocks[-1], Quote) and not closed.blocks[-1].blocks:
            closed.blocks.pop()

    # Elements that hold lines.

    def _take_structure(self, tag: str, node: int, after: int) -> None:
        here = self._open[-1]
        if here.cell is not None or len(self._open) > _DEEPEST:
            return
        if tag in ("ul", "ol"):
            self._end_line()
            start = self._tree.attributes(node).get("start", "")
            items = Items(tag == "ol", int(start) if start.isdecimal() and len(start) < 6 else 1)
            here.blocks.append(items)
            self._open.append(_Open(after, here.blocks, items=items))
        elif tag == "li" and here.items is not None:
            self._end_line()
            here.items.items.append([])
            self._open.append(_Open(after, here.items.items[-1]))
        elif tag == "blockquote":
            self._end_line()
            quote = Quote()
            here.blocks.append(quote)
            self._open.append(_Open(after, quote.blocks))
        elif tag == "dt":
            self._end_line()
            self._open.append(_Open(after, here.blocks, term=True))
        elif here.table is not None:
            self._take_table_part(tag, node, after, here.table)
        elif tag == "table" and is_data_table(self._tree, node):
            self._end_line()
            table = Table()
            here.blocks.append(table)
            self._open.append(_Open(after, here.blocks, table=table))

    def _take_table_part(self, tag: str, node: int, after: int, table: Table) -> None:
        self._end_line()
        if tag == "tr":
            table.rows.append([])
        elif tag in ("td", "th"):
            attributes = self._tree.attributes(node)
            columns, rows = (_span(attributes.get(name, "")) for name in ("colspan", "rowspan"))
            cell = Cell(tag == "th", columns, rows)
            if not table.rows:
                table.rows.append([])
            table.rows[-1].append(cell)
            self._open.append(_Open(after, [], table=table, cell=cell))

    def _is_code(self, node: int) -> bool:
        """Whether preformatted text is kept and is no page of its own."""
        tags = self._tree.tags[node + 1 : self._tree.after[node]]
        blocks = {"p", "table", "h1", "h2", "h3", "ul", "ol", "hr", "img"}.intersection(tags)
        return not blocks and any(self._texts[node : self._tree.after[node]])

    def _take_code(self, node: int) -> None:
        tree = self._tree
        code = tree.preformatted(range(node + 1, tree.after[node]))
        text = "\n".join(line.rstrip() for line in code.strip("\r\n").splitlines())
        cell = self._open[-1].cell
        self._end_line()
        if cell is not None:
            cell.inlines.append(Styled("code", [" ".join(text.split())]))
        else:
            self._open[-1].blocks.append(CodeBlock(self._language(node), text))

    def _language(self, node: int) -> str:
        """Return the language that the classes of an element or of those right around it name."""
        tree = self._tree
        inside = node + 1 if node + 1 < tree.after[node] and tree.tags[node + 1] == "code" else node
        for one in (inside, node, tree.parents[node], tree.parents[tree.parents[node]]):
            attributes = tree.attributes(one) if one > 0 and tree.tags[one] != TEXT else {}
            if attributes.get("data-lang"):
                return attributes["data-lang"]
            if found := _LANGUAGE.search(attributes.get("class", "")):
                return found[1].lower()
        return ""

    # Lines and what is in them.

    def _take_text(self, node: int) -> None:
        self._begin_line(node)
        text = _SPACE.sub(" ", self._tree.raw_text(node).replace(SOFT_HYPHEN, ""))
        if self._tree.apart[node] and not text.startswith(" "):
            text = f" {text}"
        if self._after_space:
            text = text.removeprefix(" ")
        if not text:
            return
        self._after_space = text.endswith(" ")
        parts = (self._parts[one] for _, one in self._inline)
        if any(isinstance(part, Styled) and part.style == "code" for part in parts):
            self._put(text)
        else:
            for piece in self._formulas.in_text(text):
                self._put(piece)

    def _take_break(self) -> None:
        self._breaks += 1
        if self._line and self._breaks == 1:
            self._put(Break())
            self._after_space = True

    def _is_permalink(self, node: int, after: int) -> bool:
        """Whether a link is the mark behind a heading that gives its address."""
        if self._tree.tags[self._lines.container_of[node]] not in HEADINGS:
            return False
        text = "".join(self._tree.text(inner) for inner in range(node, after))
        return text in _PERMALINKS and self._tree.attributes(node).get("href", "")[:1] == "#"

    def _take_formula(self, node: int) -> None:
        formula = self._formulas.of[node]
        if formula is not None and self._is_among_kept(node):
            self._begin_line(node)
            self._put(formula)
            self._after_space = False

    def _take_image(self, node: int) -> None:
        attributes = self._tree.attributes(node)
        source = next(filter(None, (attributes.get(name) for name in _LAZY)), "")
        source = source or attributes.get("src", "")
        sizes = (attributes.get("width", ""), attributes.get("height", ""))
        tiny = any(size.isdecimal() and int(size[:6]) < _TINY for size in sizes)
        if tiny or source.startswith("data:") or _NO_PICTURE.search(source):
            return
        address = self._address(source)
        if address and self._is_among_kept(node, both=True):
            self._begin_line(node)
            self._put(Image(address, " ".join(attributes.get("alt", "").split())))
            self._after_space = False

    def _is_among_kept(self, node: int, *, both: bool = False) -> bool:
        """Whether the line that began last or the next one is kept; with `both`, each of them."""
        row = bisect_right(self._lines.firsts, node) - 1
        here = row >= 0 and bool(self._kept[row])
        behind = row + 1 < len(self._kept) and bool(self._kept[row + 1])
        return (here and behind) if both else (here or behind)

    def _open_inline(self, node: int, part: Styled | Link) -> None:
        if len(self._inline) < _DEEPEST:
            self._parts[node] = part
            self._inline.append((self._tree.after[node], node))

    def _put(self, part: Inline) -> None:
        self._line.append((tuple(node for _, node in self._inline), part))

    def _begin_line(self, node: int) -> None:
        """Go on with the line that a node stands in, or begin it."""
        container = self._lines.container_of[node]
        if container != self._line_in or self._breaks > 1:
            self._end_line()
        self._line_in, self._breaks = container, 0

    def _end_line(self) -> None:
        runs, self._line = stripped(self._line), []
        self._after_space, self._breaks = True, 0
        if not runs:
            return
        inlines = nested(runs, self._parts)
        here, tag = self._open[-1], self._tree.tags[self._line_in]
        if here.cell is not None:
            here.cell.inlines += [Break(), *inlines] if here.cell.inlines else inlines
        elif here.table is not None:
            here.table.caption += inlines
        elif tag in HEADINGS:
            if plain_text(inlines).casefold() != self._title:
                here.blocks.append(Heading(int(tag[1]), inlines))
        elif here.items is not None:
            here.items.items.append([Paragraph(inlines)])
        else:
            here.blocks.append(Paragraph([Styled("strong", inlines)] if here.term else inlines))

    def _address(self, written: str) -> str:
        """Return the address of a link or picture, "" for one that leads nowhere else."""
        known = self._addresses.get(written)
        if known is None:
            known = self._addresses[written] = _joined(self._url, "".join(written.split()))
        return known


def _running(page: _Page) -> NDArray[np.int64]:
    """Return running sums of the nodes that something may be written for."""
    told = np.frombuffer(page.texts, dtype=np.uint8).astype(np.int64)
    told[list(page.formulas.after)] = 1
    for node, tag in enumerate(page.tree.tags):
        if tag in ("img", "br"):
            told[node] = 1
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(told)])


def _joined(url: str, address: str) -> str:
    if not address or address[0] == "#" or address.lower().startswith(_NOWHERE):
        return ""
    if address.startswith(("http://", "https://")):
        return address
    return absolute_url(url, address) or ""


def _span(written: str) -> int:
    return max(1, int(written)) if written.isdecimal() and len(written) < 4 else 1
