"""spcola: a page cut by its tags, as far as content, look and size of the parts differ.

After W. Wang and J. Zhu 2012, 数字图书馆 Web 学术资源信息的分块采集研究, section 2.2.3.
"""

from __future__ import annotations

from bisect import bisect_right

from mmcrawl.blocks.base import Cut
from mmcrawl.blocks.features import is_topic_page
from mmcrawl.blocks.measures import Measures
from mmcrawl.blocks.runs import content_runs, shown_nodes
from mmcrawl.blocks.sizes import node_sizes
from mmcrawl.blocks.spcola_rules import SPLIT_TAGS, ElementRules
from mmcrawl.blocks.styles import Sheets
from mmcrawl.blocks.tree import PageTree

__all__ = ["Spcola"]


class Spcola:
    """Cuts a page at an ordered list of tags until no block holds any of them.

    The paper's list is TABLE and DIV, TR, P, HR, UL, DIR, DL; TD is not in it, for its cells would
    be too small. Counted with DIV are today's sections (``section``, ``article``, ``main``,
    ``aside``, ``header``, ``footer``, ``nav``, …) and ``form``; with P the headings and ``pre``;
    with UL ``ol`` and ``menu``. Each tag has its turn on the blocks that the former ones left.
    Since the rules of :class:`~mmcrawl.blocks.spcola_rules.ElementRules`, which keep an element
    whole, look at that element alone, the blocks left in the end do not depend on the order, and
    they are found in one walk over the page.

    What stands between two elements that were split off, loose text above all, is a block too, so
    that nothing visible is in no block. A link is not split, whatever it holds. Elements that carry
    no layout (``font``, ``span``, …), and what no reader sees, neither part blocks nor make any.
    There are no levels.

    Args:
        min_width, min_height: Pixels; an element narrower and lower is not split (rule 2).
        link_text_ratio: Characters of link text for each character of other text, below which a
            page is there for its text, not for its links (step 4). On a page of links, text with
            links in it is not merged by rule 1: its links are told apart.
        styles: Linked style sheets, as far as the caller has them: texts, or texts by href.

    Raises:
        ValueError: a number is none, or negative.
    """

    def __init__(
        self,
        *,
        min_width: float | str = 100.0,
        min_height: float | str = 30.0,
        link_text_ratio: float | str = 1.0,
        styles: Sheets = (),
    ) -> None:
        self._min_width = _number("min_width", min_width)
        self._min_height = _number("min_height", min_height)
        self._link_text_ratio = _number("link_text_ratio", link_text_ratio)
        self._styles = styles

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return the blocks of a page, without levels."""
        measures = Measures(tree)
        rules = ElementRules(
            tree,
            measures,
            node_sizes(tree, measures),
            min_width=self._min_width,
            min_height=self._min_height,
            merges_links=is_topic_page(measures, self._link_text_ratio),
            sheets=self._styles,
        )
        return _cuts(tree, measures, _boundaries(tree, rules))


def _boundaries(tree: PageTree, rules: ElementRules) -> list[int]:
    """Return the nodes before which a block may begin, in order."""
    found = {1, len(tree)}
    tags, after = tree.tags, tree.after
    node = 1
    while node < len(tree):
        if tags[node] in SPLIT_TAGS:
            found |= {node, after[node]}
            node = after[node] if rules.is_whole(node) else node + 1
        elif tags[node] == "a" and rules.is_link_around_blocks(node):
            found |= {node, after[node]}
            node = after[node]
        else:
            node += 1
    return sorted(found)


def _cuts(tree: PageTree, measures: Measures, boundaries: list[int]) -> list[Cut]:
    """Make a cut of all that is shown between two boundaries."""
    pieces = shown_nodes(tree, measures)
    places = [bisect_right(boundaries, piece) for piece in pieces]
    runs = content_runs(tree, pieces, places)
    return [Cut(run.node, run.start, run.end) for run in runs if run.end > run.start]


def _number(name: str, value: float | str) -> float:
    try:
        number = float(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a number, not {value!r}") from error
    if not number >= 0:
        raise ValueError(f"{name} must not be negative, and {value} is")
    return number
