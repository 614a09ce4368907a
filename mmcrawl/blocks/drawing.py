"""Draws the blocks of a page over the page, as one HTML file that is safe to open.

The file has a legend, the list of the blocks, and a frame with a copy of the page in which every
block is outlined in the colour of its kind and described on hover. Nothing of the page can act, for
three reasons, each of which stops most attempts alone:

* the copy (:func:`safe_copy`) is written from the nodes of the page's tree, not cut out of its
  markup, by lists of what is allowed: elements that only lay out text, attributes that only
  describe their look; no scripts, no handlers, no addresses;
* the frame is sandboxed: no scripts, forms, pop-ups, downloads or refreshes;
* a content security policy forbids every request, also from the frame, which inherits it: what a
  style sheet of the page asks for with ``url()`` is not fetched. Show a copy only where that holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template

from mmcrawl.blocks.kinds import KINDS
from mmcrawl.blocks.partition import Block, Partition
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS, FORMATTING, VOID
from mmcrawl.page.html.tree import PageTree
from mmcrawl.text.writing import printable

PICTURES = frozenset(
    """
    img image svg math canvas video audio object applet embed iframe frame
    """.split()
)
"""Elements in whose place an empty box stands."""

_LEFT_OUT = frozenset(
    """
    script noscript template title base basefont link meta noframes noembed param source track map
    area keygen isindex datalist bgsound
    """.split()
)
_WITHOUT_END = frozenset("html body".split())  # what stands behind their end tags is theirs as well
_RENAMED = {"frameset": "div", "head": "", "xmp": "pre"}
_ELEMENTS = (
    BLOCK_TAGS
    | FORMATTING
    | frozenset(
        """
        acronym bdi bdo blink br button col colgroup data del dfn hr img input ins label legend
        listing mark meter optgroup option output picture progress q rb rp rt rtc ruby select style
        summary textarea time wbr
        """.split()
    )
) - frozenset("frameset frame head noframes iframe".split())
_CUSTOM = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_LOOKS = frozenset(
    """
    align alink alt bgcolor border bordercolor bottommargin cellpadding cellspacing char charoff
    checked class clear color cols colspan compact dir face frame headers height hidden hspace id
    lang leftmargin link marginheight marginwidth max media min nowrap noshade open placeholder
    reversed rightmargin rows rowspan rules scope selected size span start style text topmargin type
    valign value vlink vspace width wrap
    """.split()
)
_LENGTH = re.compile(r"\s*(\d{1,5}%?)")
# A transparent dot: keeps the room of a picture.
_DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="

KIND_COLOURS = {
    "title": "#c2185b",
    "topic": "#2e7d32",
    "related-links": "#1565c0",
    "navigation": "#7b1fa2",
    "advertisement": "#d32f2f",
    "copyright": "#795548",
    "image": "#00838f",
    "noise-links": "#b45309",
    "small": "#607d8b",
    "comments": "#6d6a00",
}
"""Colour of each kind, dark enough for white letters on it."""

_OTHER_COLOUR = "#444444"

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; " + (
    "form-action 'none'"
)
# In these an element of another kind would be moved out by the browser.
_STRICT = frozenset("table thead tbody tfoot tr colgroup select optgroup ul ol dl html".split())
_NOT_MARKED = (
    PICTURES | VOID | frozenset("a select option optgroup textarea style".split()) | {TEXT}
)
_LONGEST = 120
_LONGEST_PATH = 80


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An element around nodes that stand side by side."""

    after: int  # index of the first node behind them
    tag: str  # `span` or `div`
    attributes: str  # as they are written in the start tag; trusted


def shown_nodes(tree: PageTree) -> list[bool]:
    """Return of each node whether the copy shows it or a box in its place."""
    shown = [True] * len(tree)
    for node in range(1, len(tree)):
        parent = tree.parents[node]
        inside = shown[parent] and tree.tags[parent] not in PICTURES
        shown[node] = inside and tree.tags[node] not in _LEFT_OUT
    return shown


def safe_copy(
    tree: PageTree,
    attributes: Mapping[int, str] | None = None,
    wrappers: Mapping[int, Sequence[Wrapper]] | None = None,
) -> str:
    """Return the copy of a page, without doctype.

    Args:
        attributes: Of elements, what is added to their start tags; trusted.
        wrappers: Of nodes, the elements that begin before them, the outermost first.

    >>> from mmcrawl.page.html.tree import read_tree
    >>> safe_copy(read_tree(b'<p onclick=x() class=a>5 < 6<script>x()</script>'))
    '<p class="a">5 &lt; 6</p>'
    """
    attributes, wrappers = attributes or {}, wrappers or {}
    pieces: list[str] = []
    open_elements: list[tuple[int, str]] = []  # first node behind, end tag
    for node in _walk(tree):
        while open_elements and open_elements[-1][0] <= node:
            pieces.append(open_elements.pop()[1])
        for wrapper in wrappers.get(node, ()):
            pieces.append(f"<{wrapper.tag}{wrapper.attributes}>")
            open_elements.append((wrapper.after, f"</{wrapper.tag}>"))
        start, end = _copied(tree, node, attributes.get(node, ""))
        pieces.append(start)
        if end:
            open_elements.append((tree.after[node], end))
    pieces += (end for _, end in reversed(open_elements))
    return "".join(pieces)


def _walk(tree: PageTree) -> Iterator[int]:
    """Yield the nodes to copy, in order; elements that are left out are skipped as a whole."""
    node = 1
    while node < len(tree):
        tag = tree.tags[node]
        if tag not in _LEFT_OUT:
            yield node
        node = tree.after[node] if tag in _LEFT_OUT or tag in PICTURES else node + 1


def _copied(tree: PageTree, node: int, added: str) -> tuple[str, str]:
    """Return the markup of a node at its beginning, and at its end."""
    tag = tree.tags[node]
    if tag == TEXT:
        space = " " if tree.apart[node] else ""
        return space + escape(tree.raw_text(node)), ""
    if tag in PICTURES:
        return _box(tag, tree.attributes(node)), ""
    name = _RENAMED.get(tag, tag if tag in _ELEMENTS or _CUSTOM.fullmatch(tag) else "span")
    if not name:
        return "", ""
    link = ' href="#" inert' if tag == "a" and _is_line(tree, node) else ""
    start = f"<{name}{_looks(tree.attributes(node))}{link}{added}>"
    if tag == "style":
        return (
            ("", "")
            if _in_control(tree, node)
            else (f"{start}{_style_sheet(tree, node)}</style>", "")
        )
    if tag in ("textarea", "xmp"):
        return f"{start}{escape(tree.raw_content(node))}</{name}>", ""
    return start, "" if tag in VOID or tag in _WITHOUT_END else f"</{name}>"


def _in_control(tree: PageTree, node: int) -> bool:
    """Whether a style sheet is in a list of choices, which browsers read differently."""
    around = tree.tags[tree.parents[node]]
    return around in ("select", "option", "optgroup", "datalist")


def _is_line(tree: PageTree, node: int) -> bool:
    """Whether a link looks like a line, so that what is in it need not be pointed at."""
    inside = range(node + 1, tree.after[node])
    return "href" in tree.attributes(node) and not any(tree.tags[n] in BLOCK_TAGS for n in inside)


def _looks(given: Mapping[str, str]) -> str:
    """Return the attributes of an element that only say how it looks."""
    return "".join(f' {name}="{escape(value)}"' for name, value in given.items() if name in _LOOKS)


def _box(tag: str, given: Mapping[str, str]) -> str:
    """Return an empty box as large as a picture, or its name if its size is not declared."""
    sizes = {name: _LENGTH.match(given.get(name, "")) for name in ("width", "height")}
    kept = "".join(f' {name}="{size[1]}"' for name, size in sizes.items() if size)
    label = escape(given.get("alt", "") if tag in ("img", "image") else tag)
    if kept:
        looks = {name: value for name, value in given.items() if name in ("class", "id", "align")}
        return f'<img{_looks(looks)} alt="{label}" src="{_DOT}"{kept} data-mm-picture>'
    return f"<span data-mm-picture>{label}</span>" if label else ""


def _style_sheet(tree: PageTree, node: int) -> str:
    content = tree.body[tree.inner_starts[node] : tree.inner_ends[node]]
    # "</" is no part of CSS but for texts, where the backslash is not seen.
    return content.decode(tree.encoding, "replace").replace("\0", "").replace("</", "<\\/")


def draw(page: Partition) -> str:
    """Return the HTML file in which the blocks of a page are drawn over it.

    >>> from mmcrawl.blocks import partition
    >>> "<iframe sandbox" in draw(partition(b"<p>Levers", method="quark"))
    True
    """
    marks = _Marks(page)
    overlay = files("mmcrawl.blocks").joinpath("overlay.css").read_text(encoding="utf-8")
    copy = safe_copy(page.tree, marks.attributes(), marks.wrappers)
    frame = (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"'
        f' content="{_POLICY}"><style>{_kind_rules("data-mm-kind")}{overlay}</style>{copy}'
    )
    template = files("mmcrawl.blocks").joinpath("drawing.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        policy=_POLICY,
        colours=_kind_rules("data-kind"),
        name=_safe(page.url or "page"),
        summary=_safe(summary(page)),
        legend="".join(_legend(page)),
        blocks="".join(_entry(n, b, b in marks.placed) for n, b in enumerate(page, 1)),
        frame=escape(frame),
    )


def short_path(path: str) -> str:
    """Return a DOM path, or the end of one that is long."""
    if len(path) <= _LONGEST_PATH:
        return path
    return "…/" + path[-_LONGEST_PATH:].partition("/")[2]


@dataclass(slots=True)
class _Mark:
    """The label of an element: the blocks it represents, the innermost last."""

    numbers: list[int]
    block: Block

    def attributes(self) -> str:
        block, number = self.block, " ".join(map(str, self.numbers))
        label = f"{number} · {block.kind} {block.score:.2f} · level {block.level} · "
        label = _safe(label) + " " + _safe(block.topic, _LONGEST)
        leaf = "" if block.children else " data-mm-leaf"
        return (
            f' data-mm="{label}" data-mm-number="{number}" data-mm-level="{block.level}"'
            f' data-mm-kind="{_safe(block.kind)}"{leaf} tabindex="0"'
        )


@dataclass(slots=True)
class _Marks:
    """Where the blocks of a page are marked in its copy.

    Attributes:
        wrappers: What is put around nodes where no element stands for the block.
    """

    page: Partition  # the page with its blocks
    elements: dict[int, _Mark] = field(default_factory=dict)  # the elements that stand for blocks
    wrappers: dict[int, list[Wrapper]] = field(default_factory=dict)
    placed: set[Block] = field(default_factory=set)  # the blocks that have a place in the copy

    def __post_init__(self) -> None:
        shown = shown_nodes(self.page.tree)
        for number, block in enumerate(self.page, 1):
            for run in _runs(self.page.tree, block.nodes, shown):
                self._place(number, block, run)
                self.placed.add(block)

    def attributes(self) -> dict[int, str]:
        return {node: mark.attributes() for node, mark in self.elements.items()}

    def _place(self, number: int, block: Block, run: list[int]) -> None:
        tree = self.page.tree
        parent = tree.parents[run[0]]
        if len(run) == 1 and tree.tags[run[0]] not in _NOT_MARKED:
            self._mark(run[0], number, block)
        elif parent and _is_whole(tree, parent, run) and tree.tags[parent] not in _NOT_MARKED:
            self._mark(parent, number, block)
        elif tree.tags[parent] in _STRICT and len(run) > 1:
            for node in run:
                self._place(number, block, [node])
        else:
            tag = "div" if any(tree.tags[node] in BLOCK_TAGS for node in run) else "span"
            wrapper = Wrapper(tree.after[run[-1]], tag, _Mark([number], block).attributes())
            self.wrappers.setdefault(run[0], []).append(wrapper)

    def _mark(self, node: int, number: int, block: Block) -> None:
        mark = self.elements.setdefault(node, _Mark([], block))
        mark.numbers.append(number)
        mark.block = block


def _runs(tree: PageTree, nodes: range, shown: list[bool]) -> Iterator[list[int]]:
    """Yield the largest shown nodes that lie whole inside a block, by their parents."""
    whole = []
    node = nodes.start
    while node < nodes.stop:
        if not shown[node] or tree.after[node] <= nodes.stop:
            if shown[node] and tree.tags[node] not in ("head", "style"):
                whole.append(node)
            node = tree.after[node]
        else:
            node += 1
    for _, run in groupby(whole, key=tree.parents.__getitem__):
        yield list(run)


def _is_whole(tree: PageTree, parent: int, run: list[int]) -> bool:
    return run[0] == parent + 1 and tree.after[run[-1]] == tree.after[parent]


def _kind_rules(attribute: str) -> str:
    rules = [f"[{attribute}]{{--kind:{_OTHER_COLOUR}}}"]
    rules += [f'[{attribute}="{kind}"]{{--kind:{c}}}' for kind, c in KIND_COLOURS.items()]
    return "".join(rules)


def summary(page: Partition) -> str:
    """Return a line about how a page was cut and the result."""
    count = len(list(page))
    inner = f", {len(page.blocks)} innermost" if len(page.blocks) < count else ""
    layout = sum(map(len, page.layout))
    return (
        f"{page.method}, level {page.level}: {count} block{'' if count == 1 else 's'}{inner};"
        f" {len(page.body):,} bytes, {layout:,} layout; {page.encoding}"
    )


def _legend(page: Partition) -> Iterator[str]:
    counts = dict.fromkeys(KINDS, 0)
    for block in page.blocks:
        counts[block.kind] = counts.get(block.kind, 0) + 1
    for kind, count in counts.items():
        yield f'<li data-kind="{_safe(kind)}"><b>{_safe(kind)}</b> {count}</li>\n'


def _entry(number: int, block: Block, placed: bool) -> str:
    hidden = "" if placed else " <i>not visible</i>"
    return (
        f'<li data-kind="{_safe(block.kind)}" style="--level:{min(block.level, 9)}">'
        f"<b>{number} {_safe(block.kind)}</b> {block.score:.2f}{hidden}"
        f" <bdi>{_safe(block.topic, _LONGEST)}</bdi>"
        f"<small>{block.start}–{block.end} ({block.end - block.start:,} bytes),"
        f" level {block.level}, <bdi>{_safe(short_path(block.path))}</bdi></small></li>\n"
    )


def _safe(text: str, longest: int | None = None) -> str:
    return escape(printable(text, longest))
