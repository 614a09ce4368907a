"""gdom: a page without its lists of links, forms, pictures and advertisements.

After S. Gupta, G. Kaiser, D. Neistadt and P. Grimm, "DOM-based Content Extraction of HTML
Documents", WWW 2003, and the program Crunch that came of it.
"""

from __future__ import annotations

import re

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import Run, content_runs, shown_nodes
from mmcrawl.blocks.partitioners.base import Cut, number
from mmcrawl.blocks.tree import PageTree
from mmcrawl.text.scripts import HAN

_REMOVED = frozenset(
    """
    img image map area input button select textarea label iframe frame object embed applet video
    audio canvas svg script style link meta
    """.split()
)
_REMOVED_UNLESS_MOST = frozenset("form noscript".split())
_CONTAINERS = frozenset(
    """
    td th table ul ol dl dir menu div p blockquote center section article aside main header footer
    nav
    """.split()
)
"""The elements whose links are counted against their words. The paper names table cells, Crunch
adds lists and DIV, and here today's sections are with them."""

_ADVERTISER = re.compile(
    r"https?://(?:[\w-]+\.)*?(?:ads?\d*|adserver|adclick|banners?|doubleclick|googlesyndication|"
    r"adnxs|taboola|outbrain)\.",
    re.IGNORECASE,
)
_WORD = re.compile(rf"[{HAN}]{{1,2}}|[^\W_{HAN}]+")


class Gdom:
    """Filters the tree of a page; what remains is its content.

    Scripts, pictures, forms and their controls, embedded things and links to advertisers go. (A
    form that holds most of the page's text, as those of ASP.NET do, stays.) So does, from the
    innermost on, every cell, list or division that has more than `link_text_ratio` links
    for each word outside of links, counting what is still there. Words are runs of letters, and two
    characters of Chinese.

    Content is the blocks, in as few pieces as lie together; what was removed is layout.

    Args:
        link_text_ratio: Links for each word that is not in a link; 0.25 is Crunch's own.

    Raises:
        ValueError: the ratio is no number, or negative.
    """

    def __init__(self, *, link_text_ratio: float | str = 0.25) -> None:
        self.link_text_ratio = number("link_text_ratio", link_text_ratio, float, 0)

    def __call__(self, tree: PageTree, level: int) -> list[Cut]:
        """Return what is left of a page; there are no levels."""
        return [Cut(run.node, run.start, run.end) for run in self._content(tree, Measures(tree))]

    def kept(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links: what is left, for both."""
        nodes = [run.nodes for run in self._content(tree, measures)]
        return nodes, nodes

    def _content(self, tree: PageTree, measures: Measures) -> list[Run]:
        removed = self._removed(tree, measures)
        for node in range(1, len(tree)):
            removed[node] = removed[node] or removed[tree.parents[node]]
        pieces = shown_nodes(tree, measures)
        runs = content_runs(tree, pieces, [removed[piece] for piece in pieces])
        return [run for run in runs if not run.owner]

    def _removed(self, tree: PageTree, measures: Measures) -> list[bool]:
        """Return which nodes are removed by themselves, not by what they stand in."""
        tags, parents, hidden, in_link = tree.tags, tree.parents, measures.hidden, measures.in_link
        count = len(tree)
        removed = [False] * count
        links, words = [0] * count, [0] * count
        for node in range(count - 1, 0, -1):
            tag, parent = tags[node], parents[node]
            if tag == TEXT:
                if not hidden[node] and not in_link[node]:
                    words[parent] += sum(1 for _ in _WORD.finditer(tree.text(node)))
                continue
            if tag == "a" and not hidden[node]:
                links[node] += 1
            removed[node] = (
                self._is_list_of_links(tag, links[node], words[node])
                or tag in _REMOVED
                or (tag in _REMOVED_UNLESS_MOST and not _holds_most(tree, measures, node))
                or (tag == "a" and _is_advertisement(tree, node))
            )
            if not removed[node]:
                links[parent] += links[node]
                words[parent] += words[node]
        return removed

    def _is_list_of_links(self, tag: str, links: int, words: int) -> bool:
        return tag in _CONTAINERS and links > self.link_text_ratio * words


def _holds_most(tree: PageTree, measures: Measures, node: int) -> bool:
    return 2 * measures.total(measures.chars, node) > int(measures.chars[-1])


def _is_advertisement(tree: PageTree, node: int) -> bool:
    return _ADVERTISER.match(tree.attributes(node).get("href", "").strip()) is not None
