"""When an element is a block: the eleven rules of Song et al. 2008, section 2.1.

What the rules leave open, and how it is decided here, is told in :mod:`mmcrawl.blocks.bwap`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from mmcrawl.blocks.page_structure import NodeType, PageStructure
from mmcrawl.blocks.sizes import declared_size, start_tag_has
from mmcrawl.blocks.tree import ROOT, PageTree
from mmcrawl.page.looks import PLAIN, look_of
from mmcrawl.page.names import names

__all__ = ["LEAST_AREAS", "OTHER_LEAST_AREA", "RULES", "BlockRules"]

LEAST_AREAS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(("p", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"), 320.0)
)
"""Rule 5: square pixels that an element of a tag takes at least, two characters."""

OTHER_LEAST_AREA = 640.0
"""The same for all other tags."""

_PAGE = names(f"{ROOT} html body")
_COLOURED = (b"bgcolor", b"background")
_WHITE = names("white #fff #ffffff")


class BlockRules:
    """Tells which elements of a page are blocks.

    Args:
        tree: The page.
        min_size: Factor on the least areas of rule 5.
    """

    def __init__(self, tree: PageTree, min_size: float = 1.0) -> None:
        self.tree = tree
        self.page = PageStructure(tree)
        self._min_size = min_size
        self._backgrounds: dict[int, str] = {-1: ""}

    def is_block(self, node: int, follows_block: bool) -> bool:
        """Whether an element is a block, by the rules in order.

        Args:
            node: An element.
            follows_block: Whether the sibling before it is a block.
        """
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
        width, height = declared_size(self.tree, node)
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
        if not start_tag_has(tree, node, _COLOURED):
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
    if not rules.page.schema[node]:
        return None
    for child in rules.tree.children(node):
        if (
            rules.page.types[child] == NodeType.SCHEMA
            and start_tag_has(rules.tree, child, _COLOURED)
            and rules.background(child) != rules.background(node)
        ):
            return False
    return None


def _rule_7(rules: BlockRules, node: int, follows_block: bool) -> bool | None:
    """Schema without a Format or Function child, or a child that holds nothing else: no block."""
    return (
        False
        if rules.page.schema[node] == rules.page.children[node] and not rules.page.simple[node]
        else None
    )


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
