"""The blocks of a page among each other: where each stands, and what stands in it.

All that the rules for kinds ask about a block, answered from what is known of it and of the page.
Nothing is rendered: the *middle* is the element with most of the text, and *near* it
is what stands in the same article, or between the headline and the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.block_words import TopicWords, begins_with, holds
from mmcrawl.blocks.layout.features import PageFeatures, is_topic_page
from mmcrawl.blocks.layout.headlines import LONGEST_HEADING

LINK_TEXT_RATIO = 1.0
"""Characters of link text for each character of other text, below which a page is one of text."""

_HEADINGS_LOOKED_AT = 20
_RELATED = 0.5  # share of links that have a word of the topic
_AGREES = 0.7  # of a heading with the page's title
_LEAST_HEADLINE = 1.5
_LAST, _LONGEST_FOOT = 3, 400  # blocks, characters
_ALL_OF = re.compile(r"\s{0,99}(?:所有|全部|(?:all|alle|todas?|todos?)\b)\s*", re.IGNORECASE)
_FORWARD = re.compile(r"\s*\d\s*[;,]\s*url\s*=", re.IGNORECASE)  # in less than ten seconds
_LONGEST_FORWARD = 400  # characters
_BOX = 300  # characters outside of links
_BARS = frozenset({"side", "foot", "comments", "advertisement", "navigation"})


class PageBlocks:
    """Blocks by their index.

    Args:
        page: The page they are blocks of.
        blocks: Ranges of nodes, in order, not overlapping.

    Attributes:
        facts: What is known of each block by itself.
        areas: What each block's part of the page is for, see :class:`PageAreas`; "" if unnamed.
        chars, text_chars: Visible characters, and those of them outside of links.
        links: How many.
        levels: 0, or how deep a heading the block is: see :meth:`Headlines.level`.
        is_topic_page: Whether the page is there for its text.
        headline: Index of the block that is the page's headline, or -1.
        purpose: The blocks a page of tags, of partners, … is there for: all under such a headline.
    """

    def __init__(self, page: PageFeatures, blocks: Sequence[range]) -> None:
        self._page = page
        self._tree = tree = page.tree
        self._blocks = blocks
        areas, measures = page.areas, page.measures
        self.facts = [page.block(nodes) for nodes in blocks]
        self.areas = [areas.of(block.element) for block in self.facts]
        self.chars = [block.chars for block in self.facts]
        self.text_chars = [block.text_chars for block in self.facts]
        self.links = [block.links for block in self.facts]
        self.is_topic_page = is_topic_page(measures, LINK_TEXT_RATIO)
        self._name_foot()
        weights = measures.chars - measures.link_chars if self.is_topic_page else measures.chars
        middle = areas.middle(blocks, self.areas, weights)
        self._middle = range(middle, tree.after[middle])
        article = areas.article(middle)
        self._article = range(article, tree.after[article])
        self.levels = [block.heading_level for block in self.facts]
        self.headline = self._find_headline()
        headed = self._headed_content(middle)
        if headed:
            middle = headed
            self._middle = self._article = range(middle, tree.after[middle])
        self._reach_to_headline(middle)
        self.purpose = self._find_purpose()

    def __len__(self) -> int:
        return len(self._blocks)

    # ------------------------------------------------------------ where a block stands

    def is_middle(self, index: int) -> bool:
        """Whether a block stands in the middle of the page, or holds it."""
        block, middle = self._blocks[index], self._middle
        return block.start in middle or block.start < middle.start < block.stop

    def is_near(self, index: int) -> bool:
        """Whether a block stands in the middle or near it."""
        return self.is_middle(index) or self._blocks[index].start in self._article

    def is_before_middle(self, index: int) -> bool:
        """Whether a block stands before the middle."""
        return self._blocks[index].start < self._middle.start and not self.is_middle(index)

    def is_at_end(self, index: int) -> bool:
        """Whether a block stands behind the middle, or is one of the page's last three."""
        return self._blocks[index].start >= self._middle.stop or index >= len(self) - 3

    def is_in_content(self, index: int) -> bool:
        """Whether a block is near the middle, in what the page itself calls content."""
        return self.is_near(index) and self.areas[index] == "content"

    def around(self, index: int) -> int:
        """Return the element around a block: blocks of the same one are siblings."""
        return self._tree.parents[self.facts[index].element]

    # ------------------------------------------------------------ what stands in it

    def text(self, index: int) -> str:
        """Return the visible text of a block."""
        return self.facts[index].text

    def counts(self, name: str) -> NDArray[np.int64]:
        """Return how many elements of a sort (`mmcrawl.blocks.layout.COUNTED`) each holds."""
        elements = self._page.among(name, range(len(self._tree)))
        starts, stops = [one.start for one in self._blocks], [one.stop for one in self._blocks]
        return np.searchsorted(elements, stops) - np.searchsorted(elements, starts)

    def is_link_block(self, index: int) -> bool:
        """Whether links are most of a block, or of each short item of several."""
        return self.facts[index].is_links

    def share_of_words(self, kind: str, index: int) -> float:
        """Return the share of a block's links that are words of a list."""
        return self.facts[index].share_of_words(kind)

    def is_topical(self, index: int) -> bool:
        """Whether the links of a block have words of the page's title and headings."""
        return self.share_topical(index) >= _RELATED

    def share_topical(self, index: int) -> float:
        """Return the share of a block's links that have words of the page's title and headings."""
        return self._topic.share(self.facts[index].anchors)

    def agreement(self, index: int) -> float:
        """Return how much a block is what the page's title says, in [0, 1]."""
        return self._page.headlines.agreement(self.text(index))

    @property
    def url(self) -> str:
        """The page's, or ""."""
        return self._page.url

    def shape(self, index: int) -> tuple[str, str]:
        """Return tag and class of a block's element: those of a list are alike."""
        element = self.facts[index].element
        return self._tree.tags[element], self._tree.attributes(element).get("class", "")

    def tags_around(self, index: int) -> set[str]:
        """Return the tags of the block's element and of the three around it."""
        node, found = self.facts[index].element, set[str]()
        for _ in range(4):
            if node > 0:
                found.add(self._tree.tags[node])
                node = self._tree.parents[node]
        return found

    @cached_property
    def is_forwarding(self) -> bool:
        """Whether the page sends its reader on to another one by itself."""
        if sum(self.chars) > _LONGEST_FORWARD:
            return False
        found = map(self._tree.attributes, self._page.measures.nodes.get("meta", ()))
        return any(
            meta.get("http-equiv", "").lower() == "refresh"
            and _FORWARD.match(meta.get("content", "")) is not None
            for meta in found
        )

    def is_of_title(self, text: str) -> bool:
        """Whether a text is what the page's title says."""
        return self._page.headlines.agreement(text) >= _AGREES

    @cached_property
    def _topic(self) -> TopicWords:
        headings = (i for i, level in enumerate(self.levels) if level and self.is_near(i))
        texts = map(self.text, islice(headings, _HEADINGS_LOOKED_AT))
        return TopicWords([self._page.headlines.title, *texts])

    # ------------------------------------------------------------ headings

    def _find_headline(self) -> int:
        best, found = _LEAST_HEADLINE, -1
        for index, level in enumerate(self.levels):
            if not level or self._blocks[index].start >= self._middle.stop:
                continue
            if self.areas[index] not in ("", "content", "head") or self.facts[index].leads_to_front:
                continue
            score = {1: 2.0, 2: 1.0}.get(level, 0.5)
            score += 2 * self._page.headlines.agreement(self.text(index))
            score += 1.0 if self.is_near(index) else 0.0
            score -= 1.0 if self.is_link_block(index) else 0.0  # a site's name
            if score > best:
                best, found = score, index
        return found if found >= 0 else self._plain_headline()

    def _plain_headline(self) -> int:
        """Return the last block before the middle that is the page's title in plain type, or -1."""
        for index in range(len(self) - 1, -1, -1):
            short = 0 < self.chars[index] <= LONGEST_HEADING and not self.links[index]
            if not short or not self.is_before_middle(index):
                continue
            free = self.areas[index] in ("", "content", "head")
            if free and self._page.headlines.agreement(self.text(index)) >= _AGREES:
                return index
        return -1

    def _name_foot(self) -> None:
        """Name the foot of a page that no tag or class names, by its notice of rights."""
        for index in range(max(len(self) - _LAST, 1), len(self)):
            short = 0 < self.chars[index] <= _LONGEST_FOOT
            if short and not self.areas[index] and holds("copyright", self.text(index)):
                self.areas[index] = "foot"

    def _headed_content(self, middle: int) -> int:
        """Return the element named content that the headline stands in, if it is the middle; or 0.

        It is where the middle found is but a box beside it with a little text, or it and such a
        box: on a page that only offers a film, the box about the course has more text.
        """
        if self.headline < 0 or self.levels[self.headline] != 1 or not self.is_topic_page:
            return 0
        areas, chars, after = self._page.areas, self._page.chars, self._tree.after
        around = areas.article(self.facts[self.headline].element)
        within = around > self._article.start and after[around] <= self._article.stop
        heads_more = chars[after[around]] - chars[around] > self.chars[self.headline]
        if not (within and heads_more) or around <= middle < after[around]:
            return 0
        beside = areas.text_in(middle)
        if middle < around < after[middle]:
            beside -= areas.text_in(around)
        return around if beside < _BOX else 0

    def _reach_to_headline(self, middle: int) -> None:
        """Let the article reach from the headline, where that stands in no head, to its text."""
        if self.headline < 0 or self.areas[self.headline] == "head":
            return
        at, node = self._blocks[self.headline].start, middle
        while not node <= at < self._tree.after[node]:
            node = self._tree.parents[node]
        if node < self._article.start:
            self._article = range(node, self._tree.after[node])

    def _find_purpose(self) -> range:
        if self.headline < 0:
            return range(0)
        text = _ALL_OF.sub("", self.text(self.headline), count=1)
        if not (begins_with("noise", text) or begins_with("navigation", text)):
            return range(0)
        after = self.headline + 1
        while after < len(self) and self.areas[after] not in _BARS:
            after += 1
        return range(self.headline + 1, after)
