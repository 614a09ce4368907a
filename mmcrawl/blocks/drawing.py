"""Draws the blocks of a page over the page, as one HTML file that is safe to open.

The file has a legend, the list of the blocks, and a frame with a copy of the page in which every
block is outlined in the colour of its kind and described on hover. Nothing of the page can act, for
three reasons, each of which stops most attempts alone:

* the copy is rebuilt from the page's elements and text (:mod:`mmcrawl.blocks.safe_copy`): it has
  no scripts, no handlers, no addresses;
* the frame is sandboxed: no scripts, forms, pop-ups, downloads or refreshes;
* a content security policy forbids every request, also from the frame, which inherits it: what a
  style sheet asks for is not fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import groupby
from string import Template

from mmcrawl.blocks.kinds import KINDS
from mmcrawl.blocks.partition import Block, Partition
from mmcrawl.blocks.safe_copy import PICTURES, Wrapper, safe_copy, shown_nodes
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS, VOID
from mmcrawl.page.html.tree import PageTree
from mmcrawl.text.writing import printable

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
        page: The page with its blocks.
        elements: The elements that stand for blocks.
        wrappers: What is put around nodes where no element stands for the block.
        placed: The blocks that have a place in the copy.
    """

    page: Partition
    elements: dict[int, _Mark] = field(default_factory=dict)
    wrappers: dict[int, list[Wrapper]] = field(default_factory=dict)
    placed: set[Block] = field(default_factory=set)

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
