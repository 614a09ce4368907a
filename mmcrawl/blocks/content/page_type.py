"""What a page is there for: its own text, the pages it leads to, or what it plays.

The first is the question of SEWM-2008's topic-page detection. In Wang & Zhu 2012, section 2.2.3,
step 4, link text by other text decides it; here, that of what stands in no bar, box or foot, and
what the links in the content itself are like.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.block_words import holds
from mmcrawl.blocks.layout.features import PageAreas
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.page_blocks import LINK_TEXT_RATIO
from mmcrawl.page.html.tree import PageTree
from mmcrawl.text.media_kinds import DEFAULT_KINDS
from mmcrawl.text.words import has_han

if TYPE_CHECKING:
    from mmcrawl.page.model import MediaResource

PAGE_TYPES = ("topic", "hub", "media")
"""A page with a text of its own; one that leads to other pages; one that shows or plays media."""

_BARS = frozenset({"advertisement", "comments", "noise", "navigation", "meta", "side", "foot"})
_LISTS = ("collection", "listing")
_SHOPS = (*_LISTS, "product")
_HAN_FACTOR = 3  # Latin characters that say what a Chinese one says
_LEAST_TEXT, _FEW_LINES = 300, 3  # a paragraph
_LONG_TEXT = 2000  # characters that a film or recording goes with, and not they with it
_MOSTLY_LINKS = 0.5
_LINKS_OF_A_LIST = 0.15  # share of its text, where the page's genre is a list
_TEASERS, _TEASER_SHARE = 5, 0.25  # lines that lead on, among those that tell where to
_LINKED_LINES = 0.75
_LISTED = 0.2  # probability of lists, from which on a page may be one
_BY_LINK = frozenset({"a", "area", "og", "schema"})
_OF_THE_LAYOUT = re.compile(r"banner|logo|loader|blank|background|add_to_home|alarm", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ContentLinks:
    """The number of links in the content lines of a page.

    Attributes:
        on_page: Characters of link text for each of other text, in no bar, box or foot of the page.
    """

    on_page: float = 0.0
    share: float = 0.0  # of link text in the text of the content
    lines: int = 0  # how many lines there are
    linked: int = 0  # lines with a link in them
    leading: int = 0  # lines that are mostly link

    @classmethod
    def of(
        cls, tree: PageTree, measures: Measures, lines: PageLines, chosen: NDArray[np.bool_]
    ) -> ContentLinks:
        """Count the links of a page whose content are the lines that are chosen."""
        chars = np.array([len(text) for text in lines.texts], dtype=np.int64)
        linked = measures.link_chars[lines.afters] - measures.link_chars[lines.firsts]
        areas = PageAreas(tree, measures)
        free = np.array([areas.of(node) not in _BARS for node in lines.containers], dtype=np.bool_)
        own, own_linked = chars[chosen], linked[chosen]
        return cls(
            on_page=float(linked[free].sum() / max(1, (chars - linked)[free].sum())),
            share=float(own_linked.sum() / max(1, own.sum())),
            lines=len(own),
            linked=int(np.count_nonzero(own_linked)),
            leading=int(np.count_nonzero(own_linked >= _MOSTLY_LINKS * own)),
        )


def page_type(
    tree: PageTree,
    url: str | None,
    *,
    title: str,
    paragraphs: Iterable[str],
    links: ContentLinks,
    genres: Mapping[str, float],
) -> str:
    """Return one of :data:`PAGE_TYPES`: what plays first, lists of links, then what is linked.

    `title` has the site's name.
    """
    if "frameset" in tree.tags:
        return "hub"
    from mmcrawl.page.parse import page_of  # the players it knows are slow to load

    size = sum(len(text) * (_HAN_FACTOR if has_han(text) else 1) for text in paragraphs)
    media = [
        item
        for item in page_of(tree, url or "http://page.invalid/").media
        if item.kind in DEFAULT_KINDS and not _OF_THE_LAYOUT.search(item.url)
    ]
    named = holds("media", title) or holds("media", url or "")
    if sum(genres[genre] for genre in _SHOPS) <= _MOSTLY_LINKS:
        playing = [item for item in media if item.tag not in _BY_LINK]
        if _is_for(playing, size, named):
            return "media"
    if _is_hub(size, links, sum(genres[genre] for genre in _LISTS)):
        return "hub"
    return "media" if _is_for(media, size, named) else "topic"


def _is_for(media: list[MediaResource], size: int, named: bool) -> bool:
    """Whether a page is there for its media: it says so, or has little to say besides."""
    return bool(media) and (named or size < _LONG_TEXT * len(media))


def _is_hub(size: int, links: ContentLinks, is_list: float) -> bool:
    """Whether a page is there for its links.

    It has not even a paragraph to say; or links are most of its text, or in nearly each of its
    lines; or it is made as lists are, with links; or it announces pages in a few words each.
    """
    if size < _LEAST_TEXT and links.lines <= _FEW_LINES:
        return True
    if links.on_page > LINK_TEXT_RATIO or links.share > _MOSTLY_LINKS:
        return True
    if links.lines >= _TEASERS and links.linked >= _LINKED_LINES * links.lines:
        return True
    if is_list > _MOSTLY_LINKS and links.share > _LINKS_OF_A_LIST:
        return True
    teasers = links.leading >= max(_TEASERS, _TEASER_SHARE * links.lines)
    return teasers and is_list > _LISTED
