"""bwap: the layout partition with levels of Song et al. 2008, section 2.1.

*Collecting and Storing Web Archive Based on Page Block*, Journal of Software 19(2). An element is a
block if the eleven rules say so, the outermost first (algorithm 1); then the content of each block
is partitioned again, level by level. What is in no block is the layout: head, scripts, styles,
and text that stands beside blocks.

As printed the rules are silent on much of today's HTML, and contradict the paper's own example in
one place. Decided here:

* Types (:data:`~mmcrawl.blocks.partitioners.bwap.TAG_TYPES`): text counts as a Format child;
  comments, white space, scripts and the like are no children. DIV, LI and any other Format element
  count as Schema once they hold an element that begins a line of its own. Headings are Schema.
* Rule 2: nothing is looked for inside Function elements, as a link or a button is one thing;
  FORM counts as Schema where it holds Schema elements, an A without href likewise.
* Rule 3: DIV, LI and the like, of text and links only, count as Schema where a sibling is Schema:
  what such siblings stand in is partitioned, and an item of one line must not be lost to that.
* Rule 4 makes way for the one child. Text, Format, or a link with text is no block that it could
  make way for, so that a paragraph of one run of text, or a headline that is a link, is not lost.
* Rule 5: estimated without a renderer, see :mod:`mmcrawl.blocks.layout.sizes`; the least sizes,
  which the paper does not print, let fall no more than separators and spacers, so that a few words
  more or less change no decision. Sizes that are declared count where both of them are.
* Rule 6: the colour is the background, of Schema children; another colour of a word is no border.
* Rule 7 as printed denies every TABLE of cells, the paper's C among them. A child that holds Format
  and Function only (rule 8) counts like one of them; the cells of rows that hold such count for
  the table, as in the paper, whose C has a TD for its first child. Behind a block rule 7 makes
  way for rule 10, by which the paper's CC and CR are blocks, whatever they hold; of what the paper
  has for layout, TABLE and its parts: DIVs count as such here only, and stay with rule 7.
* Rule 10: a table, row or cell around one that is laid out stands for that, so that stories,
  columns and bars in tables of one cell are siblings like those without.
* Rule 9: "satisfy" means rules 4, 7, 8 and 9; an element with one child satisfies as that does.
  Sizes and colours do not count here: other words deep inside change no block around them.
* The page itself (HTML, BODY, a fragment) is a block only if it holds no Schema element.
* A block that holds just one block is looked into until there are two at least; if there never
  are, it stays. So does one whose parts would leave more than a third of its pieces (runs of text,
  images, controls) to the layout: the paper leaves text beside blocks there, which is the failure
  with pages of mostly text that its table 1 reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from types import MappingProxyType

from mmcrawl.blocks.layout.sizes import CHARACTER_WIDTH, IMAGE_SIDE, LINE_HEIGHT, declared_size
from mmcrawl.blocks.partitioners.base import Cut, number
from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import PLAIN, look_of

LEAST_AREAS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("p", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"), 320.0)
)
"""Rule 5: square pixels that an element of a tag takes at least, two characters."""

OTHER_LEAST_AREA = 640.0
"""The same for all other tags."""

_PAGE = frozenset((f"{ROOT} html body").split())
_TABLE = frozenset("table tbody thead tfoot tr td th".split())
_WHITE = frozenset("white #fff #ffffff".split())

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


class BlockRules:
    """Tells which elements of a page are blocks; `min_size` is a factor on rule 5's areas."""

    def __init__(self, tree: PageTree, min_size: float = 1.0) -> None:
        self.tree = tree
        self.page = PageStructure(tree)
        self._min_size = min_size
        self._sized = frozenset(tree.mentioning(b"width", b"height"))
        self._coloured = frozenset(tree.mentioning(b"bgcolor", b"background"))
        self._backgrounds: dict[int, str] = {-1: ""}
        # The elements with a child that is laid out in another colour.
        self.bordered = frozenset(
            tree.parents[node]
            for node in self._coloured
            if self.page.types[node] == NodeType.SCHEMA
            and self.background(node) != self.background(tree.parents[node])
        )

    def is_block(self, node: int, follows_block: bool) -> bool:
        """Whether an element is a block, by the rules in order."""
        if self.tree.tags[node] in _PAGE:
            # The page itself is a block only where there is nothing to partition.
            return self.page.children[node] > 0 and not self.page.schema[node]
        for rule in RULES:
            verdict = rule(self, node, follows_block)
            if verdict is not None:
                return verdict
        return False  # Rule 11

    def is_too_small(self, node: int) -> bool:
        """Whether an element, as it declares or by estimate, is below the least size of its tag."""
        least = LEAST_AREAS.get(self.tree.tags[node], OTHER_LEAST_AREA) * self._min_size
        width, height = declared_size(self.tree, node) if node in self._sized else (0.0, 0.0)
        return (width * height if width and height else self.page.areas[node]) < least

    def background(self, node: int) -> str:
        """Return the colour behind an element, as it or the nearest one around it declares."""
        known, parents = self._backgrounds, self.tree.parents
        above: list[int] = []
        while node not in known:
            above.append(node)
            node = parents[node]
        colour = known[node]
        for below in reversed(above):
            colour = known[below] = self._own_background(below, colour)
        return colour

    def _own_background(self, node: int, around: str) -> str:
        tree = self.tree
        if node not in self._coloured:
            return around
        own = look_of(tree.tags[node], tree.attributes(node), PLAIN).background
        return ("" if own in _WHITE else own) if own else around


def _rule_1(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """No children, or all of size 0: no block."""
    return False if not rules.page.children[node] else None


def _rule_2(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Function: no block."""
    return False if rules.page.types[node] == NodeType.FUNCTION else None


def _rule_3(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Format: no block; unless it is a line of its own beside Schema, which is partitioned."""
    if rules.page.types[node] != NodeType.FORMAT or rules.page.is_line_beside_boxes(node):
        return None
    return False


def _rule_4(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Only one child: no block; unless that is wording, which is not partitioned."""
    return False if rules.page.children[node] == 1 and not rules.page.wording[node] else None


def _rule_5(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Smaller than the least size of its tag: no block."""
    return False if rules.is_too_small(node) else None


def _rule_6(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Another colour than that of a child that is laid out: no block."""
    return False if node in rules.bordered else None


def _rule_7(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Schema without a Format or Function child, or a child of such only: no block (or rule 10)."""
    page = rules.page
    denied = page.schema[node] == page.children[node] and not page.simple[node]
    follows_block = follows_block and rules.tree.tags[node] in _TABLE
    return False if denied and not follows_block else None


def _rule_8(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Schema with Format and Function children only: a block."""
    return True if not rules.page.schema[node] else None


def _rule_9(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Schema whose Schema children all satisfy rule 8 or rule 9: a block."""
    return True if rules.page.schema[node] and rules.page.regular[node] else None


def _rule_10(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """The previous sibling is a block: a block."""
    return True if follows_block else None


Rule = Callable[[BlockRules, int, bool], bool | None]

RULES: tuple[Rule, ...] = (
    _rule_1,
    _rule_2,
    _rule_3,
    _rule_4,
    _rule_5,
    _rule_6,
    _rule_7,
    _rule_8,
    _rule_9,
    _rule_10,
)
"""Rules 1 to 10, in the order in which they are asked: yes, no, or None for the next one. Rule 11,
no block, is what is left."""


_MAX_DEPTH = 512
_KEPT = 2 / 3


class Bwap:
    """Cuts a page into blocks by its layout, level by level.

    Args:
        max_depth: *MaxDepth* of algorithm 1, at least 1: elements that stand deeper in the
            document than this are not looked at. The paper gives no figure; browsers end at 512.
        min_size: Factor on the least size of each tag (rule 5), at least 0; with 0 none is too
            small. The paper gives no figures.

    Raises:
        ValueError: an option is not what it should be.
    """

    def __init__(self, *, max_depth: int | str = _MAX_DEPTH, min_size: float | str = 1.0) -> None:
        self.max_depth = number("max_depth", max_depth, int, 1)
        self.min_size = number("min_size", min_size, float, 0)

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the blocks of level 1 with those of level 2 inside, and so on; linear in the
        nodes.
        """
        rules = BlockRules(tree, self.min_size)
        top = self._extract(rules, [(0, 0)])
        parts: dict[int, list[tuple[int, int]]] = {}
        leaves = top
        for _ in range(1, level):
            split = {block: self._parts(rules, block, depth) for block, depth in leaves}
            parts.update(split)
            leaves = [part for found in split.values() for part in found]
            if not leaves:
                break
        return _cuts(tree, [block for block, _ in top], parts)

    def _extract(self, rules: BlockRules, waiting: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the outermost blocks in order, with depths, among elements and inside (algorithm
        1).

        `waiting` has the elements with their depths, the last one first.
        """
        page, tags, parents = rules.page, rules.tree.tags, rules.tree.parents
        last: dict[int, bool] = {}  # by parent: whether the last child looked at is a block
        stands_in: dict[int, int] = {}  # of an only child: the parent of what stands for it
        found = []
        while waiting:
            node, depth = waiting.pop()
            kind = page.types[node]
            if kind == NodeType.NONE or depth > self.max_depth:
                continue
            parent = stands_in.pop(node, parents[node])
            if rules.is_block(node, last.get(parent, False)):
                last[parent] = True
                found.append((node, depth))
                continue
            inside = list(rules.tree.children(node)) if kind == NodeType.SCHEMA else []
            is_alone = page.children[node] == page.schema[node] == 1
            if inside and is_alone and tags[node] in _TABLE:
                stands_in.update(dict.fromkeys(inside, parent))
            else:
                last[parent] = False
            waiting += [(child, depth + 1) for child in reversed(inside)]
        return found

    def _parts(self, rules: BlockRules, block: int, depth: int) -> list[tuple[int, int]]:
        """Return the blocks that a block's content is partitioned into; none if it stays."""
        found = [(block, depth)]
        while len(found) == 1:
            inner, depth = found[0]
            if not rules.page.schema[inner]:
                return []
            inside = [(child, depth + 1) for child in rules.tree.children(inner)]
            found = self._extract(rules, inside[::-1])
        kept = sum(rules.page.pieces[part] for part, _ in found)
        return found if kept >= _KEPT * rules.page.pieces[block] else []


def _cuts(tree: PageTree, top: list[int], parts: dict[int, list[tuple[int, int]]]) -> list[Cut]:
    """Make cuts of blocks, those inside others first."""
    cuts: dict[int, Cut] = {}
    for block in [*reversed([part for found in parts.values() for part, _ in found]), *top]:
        inside = tuple(cuts[part] for part, _ in parts.get(block, ()))
        cuts[block] = Cut(block, tree.starts[block], tree.ends[block], inside)
    return [cuts[block] for block in top]


class NodeType(IntEnum):
    """The paper's ``node.type``; NONE is for text and for what takes no room on the page."""

    NONE = 0
    SCHEMA = 1
    FORMAT = 2
    FUNCTION = 3


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
