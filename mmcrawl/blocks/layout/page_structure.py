"""The role of each element in the layout of its page, and what its children are.

The node types of Song et al. 2008, section 2.1, and the numbers that its rules need: counted in one
loop over the nodes from the last to the first, including the recursion of rule 9.
:mod:`mmcrawl.blocks.partitioners.bwap` lists what the paper leaves open and how it is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from mmcrawl.blocks.layout.sizes import CHARACTER_WIDTH, IMAGE_SIDE, LINE_HEIGHT
from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tree import PageTree


class NodeType(IntEnum):
    """The paper's ``node.type``; NONE is for text and for what takes no room on the page."""

    NONE = 0
    SCHEMA = 1
    FORMAT = 2
    FUNCTION = 3


TAG_TYPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # Lays out the page. The paper names TABLE TD TR HR P; then what it leaves open; then
        # today's sections.
        "schema": frozenset(
            """
            table td tr hr p th tbody thead tfoot caption ul ol dl dir menu blockquote pre address
            fieldset h1 h2 h3 h4 h5 h6 html body frameset section article main aside header footer
            nav search hgroup figure details dialog
            """.split()
        ),
        # Sets off text, on lines of its own; Schema once it holds an element that does so too.
        "format": frozenset(
            """
            div li dt dd center legend marquee xmp listing plaintext figcaption summary
            """.split()
        ),
        # Does something to what it holds. FORM is Schema once it holds a Schema element (ASP.NET
        # pages stand in one); so is A, if it has no href: an anchor that nothing ended.
        "function": frozenset("form a label".split()),
        # Shows something that is no text, whatever it holds.
        "function shown": frozenset(
            """
            img image input select textarea object embed applet iframe frame video audio canvas svg
            math button meter progress isindex
            """.split()
        ),
        # Takes no room.
        "none": frozenset(
            """
            head title meta link base script style template noframes noembed param source track map
            area datalist col colgroup br wbr noscript
            """.split()
        ),
    }
)
"""Types of tags. All other tags are Format too (B BIG EM FONT I STRONG U SPAN …, unknown ones), but
begin no line of their own; like DIV, they count as Schema once they hold an element that does.
NOSCRIPT takes no room, unless it holds most of what there is to be seen."""

_ROWS = frozenset("tr tbody thead tfoot".split())
_BYTE_AREA = int(CHARACTER_WIDTH * LINE_HEIGHT)
_IMAGE_AREA = int(IMAGE_SIDE * IMAGE_SIDE)

# The loop relies on this order: types up to _LINES begin a line of their own.
_TEXT, _SCHEMA, _LINES, _INLINE, _FUNCTION, _SHOWN, _NONE = range(7)
_KINDS: Mapping[str, int] = {
    TEXT: _TEXT,
    ROOT: _SCHEMA,
    **dict.fromkeys(TAG_TYPES["schema"], _SCHEMA),
    **dict.fromkeys(TAG_TYPES["format"], _LINES),
    **dict.fromkeys(TAG_TYPES["function"], _FUNCTION),
    **dict.fromkeys(TAG_TYPES["function shown"], _SHOWN),
    **dict.fromkeys(TAG_TYPES["none"], _NONE),
}


class PageStructure:
    """Types and children of the elements of a page.

    Only children that take room count: text that is not white space, images and controls, and
    elements that hold such.

    Attributes:
        tree: The page.
        types: Of each node: its :class:`NodeType`.
        children: Number of children that take room.
        schema: Those of type Schema.
        wording: Those that are text, Format, a link with wording in it, or a link or control drawn
            around whole boxes (a card).
        simple: Schema children with Format and Function children only (rule 8); those in a row
            count for the table as well.
        regular: Whether rule 8 or 9 holds for the element, and for all Schema elements in it.
        pieces: Runs of text, images and controls inside.
        areas: Square pixels that these take, estimated.
    """

    def __init__(self, tree: PageTree) -> None:
        self.tree = tree
        if self._count(_NONE) > self.areas[0]:
            self._count(_LINES)

    def _count(self, noscript: int) -> int:
        """Count all from the last node to the first; return the area of noscript elements."""
        tree = self.tree
        count = len(tree) + 1  # parents[0] is -1: the last entry of each list is of no node
        self.types = types = [NodeType.NONE] * count
        self.children = children = [0] * count
        self.schema = [0] * count
        self.wording = wording = [0] * count
        self.simple = [0] * count
        self.regular = [True] * count
        self.pieces = pieces = [0] * count
        self.areas = areas = [0] * count
        self._lines = [False] * count  # holds an element that begins a line of its own
        tags, parents, starts, ends = tree.tags, tree.parents, tree.starts, tree.ends
        kinds = {**_KINDS, "noscript": noscript}
        function = NodeType.FUNCTION
        left_out = 0
        for node in range(len(tree) - 1, -1, -1):
            kind, parent = kinds.get(tags[node], _INLINE), parents[node]
            if kind == _TEXT:
                children[parent] += 1
                wording[parent] += 1
                pieces[parent] += 1
                areas[parent] += _BYTE_AREA * (ends[node] - starts[node])
            elif kind == _SHOWN:
                children[parent] += 1
                pieces[parent] += 1
                areas[parent] += _IMAGE_AREA
                types[node] = function
            elif kind == _NONE:
                if tags[node] == "noscript":
                    left_out += areas[node]
            elif children[node]:
                self._count_element(node, kind, parent)
        return left_out

    def _count_element(self, node: int, kind: int, parent: int) -> None:
        """Find the type of an element with children, and count it for its parent."""
        self.children[parent] += 1
        self.pieces[parent] += self.pieces[node]
        self.areas[parent] += self.areas[node]
        lines = self._lines[node]
        if kind <= _LINES or lines:
            self._lines[parent] = True
        if kind == _SCHEMA or (lines and (kind != _FUNCTION or self._is_laid_out(node))):
            self.types[node] = NodeType.SCHEMA
            self._count_schema(node, parent)
        elif kind == _FUNCTION:
            self.types[node] = NodeType.FUNCTION
            said = lines or (self.wording[node] and self.tree.tags[node] == "a")
            self.wording[parent] += bool(said)
        else:
            self.types[node] = NodeType.FORMAT
            self.wording[parent] += 1

    def _count_schema(self, node: int, parent: int) -> None:
        schema, simple, regular = self.schema, self.simple, self.regular
        schema[parent] += 1
        if not schema[node]:
            simple[parent] += 1
            return
        children = self.children[node]
        if children > 1 and schema[node] == children and not simple[node]:
            regular[node] = False
        if not regular[node]:
            regular[parent] = False
        if simple[node] and self.tree.tags[node] in _ROWS:
            simple[parent] += 1

    def is_line_beside_boxes(self, node: int) -> bool:
        """Whether a Format element begins a line of its own, in one that holds Schema as well."""
        tree = self.tree
        return _KINDS.get(tree.tags[node]) == _LINES and self.schema[tree.parents[node]] > 0

    def _is_laid_out(self, node: int) -> bool:
        """Whether a form or link that holds boxes counts as Schema."""
        if not self.schema[node] or self.tree.tags[node] == "label":
            return False
        return "href" not in self.tree.attributes(node)
