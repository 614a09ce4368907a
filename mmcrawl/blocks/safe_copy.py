"""A copy of a page that shows what it looks like and does nothing else.

The copy is written from the page's tree by lists of what is allowed: elements that only lay out
text, attributes that only describe their look. Scripts, frames, targets of forms, addresses of any
kind and everything else by which a page could act have no way into it, however the page hides them:
the copy is made from nodes, not cut out of the page's markup.

Style sheets inside the page are kept for its look; they may ask for other files with ``url()``.
Show a copy only where a content security policy forbids that, as
:func:`mmcrawl.blocks.drawing.draw` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from mmcrawl.page.html.building import TEXT
from mmcrawl.page.html.tags import BLOCK_TAGS, FORMATTING, VOID
from mmcrawl.page.html.tree import PageTree

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


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An element around nodes that stand side by side.

    Attributes:
        after: Index of the first node behind them.
        tag: ``span`` or ``div``.
        attributes: As they are written in the start tag; trusted.
    """

    after: int
    tag: str
    attributes: str


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
        tree: The page.
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
    """Whether an element is a link that looks like one and need not be pointed into.

    Its copy cannot be followed; neither can what is in it be pointed at.
    """
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
