"""gdom: a page without its lists of links, forms, pictures and advertisements.

After S. Gupta, G. Kaiser, D. Neistadt and P. Grimm, "DOM-based Content Extraction of HTML
Documents", WWW 2003, and the program Crunch that came of it.
"""

from __future__ import annotations

import re

from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.runs import Run, content_runs, shown_nodes
from mmcrawl.page.building import TEXT
from mmcrawl.page.tree import PageTree
from mmcrawl.text.words import HAN

_REMOVED = frozenset(
    """
    img image map area input button select textarea label iframe frame object embed applet video
    audio canvas svg script style link meta
    """.split()
)
_REMOVED_UNLESS_MOST = frozenset("form noscript".split())
CELLS = "td th"
"""The elements whose links are counted against their words in the paper."""

BOXES = f"{CELLS} div section article aside main header footer nav"
"""The same on pages of today, which are laid out with boxes and not with tables."""

_ADVERTISER = re.compile(
    r"https?://(?:[\w-]+\.)*?(?:ads?\d*|adserver|adclick|banners?|doubleclick|googlesyndication|"
    r"adnxs|taboola|outbrain)\.",
    re.IGNORECASE,
)
_HAN_LETTER = re.compile(rf"[{HAN}]")
_LETTER = re.compile(rf"[^\W\d_{HAN}]")
_HAN_WORD = 2  # characters of a Chinese word


class Gdom:
    """Filters the tree of a page; what remains is its content.

    Scripts, pictures, forms and their controls, embedded things and links to advertisers go. (A
    form that holds most of the page's text, as those of ASP.NET do, stays.) So does, from the
    innermost on, every cell that has more than `link_text_ratio` links for each word outside of
    links, counting what is still there: the paper's list of links. Words are not counted but
    estimated, as letters by `word_length`; a Chinese word has two characters. Tables that are left
    empty are no content.

    Args:
        link_text_ratio: Links for each word that is not in a link; 0.25 is the paper's.
        containers: Names of the elements that are looked at as cells; :data:`CELLS` is the paper's.
        word_length: Letters of a word, the paper's 5.
        retain_links: Whether to give back the links with text that were removed, as the
            paper's program lists them at the end of the page, so that one can still get around.
    """

    def __init__(
        self,
        *,
        link_text_ratio: float = 0.25,
        containers: str = BOXES,
        word_length: float = 5.0,
        retain_links: bool = False,
    ) -> None:
        self.link_text_ratio = link_text_ratio
        self.word_length = word_length
        self.retain_links = retain_links
        self._containers = frozenset(containers.split())

    def __call__(self, tree: PageTree, measures: Measures) -> tuple[list[range], list[range]]:
        """Return the nodes of topic text, and those of related links."""
        runs = self._content(tree, measures)
        content = [run.nodes for run in runs if not run.owner]
        if not self.retain_links:
            return content, content
        lost = [run.nodes for run in runs if run.owner]
        links = (node for nodes in lost for node in nodes if tree.tags[node] == "a")
        texts = (node for node in links if measures.total(measures.chars, node))
        return content, content + [range(node, tree.after[node]) for node in texts]

    def _content(self, tree: PageTree, measures: Measures) -> list[Run]:
        """Return what a reader sees: of owner 0 what is left, of owner 1 what was removed."""
        removed = self._removed(tree, measures)
        for node in range(1, len(tree)):
            removed[node] = removed[node] or removed[tree.parents[node]]
        pieces = shown_nodes(tree, measures)
        return content_runs(tree, pieces, [removed[piece] for piece in pieces])

    def _removed(self, tree: PageTree, measures: Measures) -> list[bool]:
        """Return which nodes are removed by themselves, not by what they stand in."""
        tags, parents, hidden, in_link = tree.tags, tree.parents, measures.hidden, measures.in_link
        count = len(tree)
        removed = [False] * count
        links, words = [0] * count, [0.0] * count
        for node in range(count - 1, 0, -1):
            tag, parent = tags[node], parents[node]
            if tag == TEXT:
                if not hidden[node] and not in_link[node]:
                    words[parent] += self._words(tree.text(node))
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

    def _words(self, text: str) -> float:
        """Estimate how many words a text has."""
        letters, characters = len(_LETTER.findall(text)), len(_HAN_LETTER.findall(text))
        return letters / self.word_length + characters / _HAN_WORD

    def _is_list_of_links(self, tag: str, links: int, words: float) -> bool:
        return tag in self._containers and links > self.link_text_ratio * words


def _holds_most(tree: PageTree, measures: Measures, node: int) -> bool:
    return 2 * measures.total(measures.chars, node) > int(measures.chars[-1])


def _is_advertisement(tree: PageTree, node: int) -> bool:
    return _ADVERTISER.match(tree.attributes(node).get("href", "").strip()) is not None
