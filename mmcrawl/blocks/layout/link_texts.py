"""What the links of a page say."""

from __future__ import annotations

from bisect import bisect_left

from mmcrawl.blocks.layout.lines import is_break
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import TEXT, PageTree

__all__ = ["LONGEST_LINK_TEXT", "LinkTexts"]

LONGEST_LINK_TEXT = 300
"""Characters that are read of a link's text."""


class LinkTexts:
    """The visible texts of links, white space collapsed, joined as lines are.

    Links may stand in each other, as when a table parts them. Each is read as far as
    :data:`LONGEST_LINK_TEXT`, from a list of the page's visible runs that is made once: all the
    links of a page take time proportional to the page.

    Args:
        tree, measures: The page.
    """

    def __init__(self, tree: PageTree, measures: Measures) -> None:
        self._tree = tree
        self._hidden = measures.hidden
        self._runs: list[int] = []
        self._texts: list[str] = []  # of each run, with a space before it where there is one
        self._read_runs()

    def of(self, link: int, stop: int) -> str:
        """Return the text of a link as far as it stands before the node `stop`."""
        position = bisect_left(self._runs, link + 1)
        end = bisect_left(self._runs, min(self._tree.after[link], stop), position)
        pieces: list[str] = []
        chars = 0
        while position < end and chars <= LONGEST_LINK_TEXT:
            pieces.append(self._texts[position])
            chars += len(pieces[-1])
            position += 1
        return "".join(pieces).strip()[:LONGEST_LINK_TEXT].rstrip()

    def _read_runs(self) -> None:
        tree = self._tree
        before, space = -1, False
        for node, tag in enumerate(tree.tags):
            if tag != TEXT or self._hidden[node]:
                continue
            raw = tree.raw_text(node)
            space = space or node in tree.spaced or raw[:1].isspace()
            space = space or (before >= 0 and is_break(tree, before, node))
            if text := tree.text(node):
                self._runs.append(node)
                self._texts.append(f" {text}" if space else text)
                space = False
            space = space or raw[-1:].isspace()
            before = node
