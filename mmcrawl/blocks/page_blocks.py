"""The blocks of a page among each other: where each stands, and what stands in it.

All that the rules for kinds ask about a block, answered from the tree, the measures and the areas
of the page. Nothing is rendered: the *middle* is the element with most of the text, and *near* it
is what stands in the same article, or between the headline and the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice
from urllib.parse import urljoin, urlsplit

from mmcrawl.blocks.building import TEXT
from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.block_words import TopicWords, begins_with, holds, is_all
from mmcrawl.blocks.layout.features import BlockFeatures, is_topic_page
from mmcrawl.blocks.layout.headlines import LONGEST_HEADING, Headlines
from mmcrawl.blocks.layout.lines import LinkTexts, joined_text
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import PageTree

LINK_TEXT_RATIO = 1.0
"""Characters of link text for each character of other text, below which a page is one of text."""

_LINK_BLOCK = 0.5  # from this share of link text on
_LINK_BLOCK_OF_ITEMS = 0.3
_SHORT_ITEM = 20  # characters
_LINKS_OF_HEADING = 2
_LOOKED_AT = 50  # links of a block whose words are read
_HEADINGS_LOOKED_AT = 20
_RELATED = 0.5  # share of links that have a word of the topic
_AGREES = 0.7  # of a heading with the page's title
_LEAST_HEADLINE = 1.5
_LAST, _LONGEST_FOOT = 3, 400  # blocks, characters
_ALL_OF = re.compile(r"\s*(?:所有|全部|(?:all|alle|todas?|todos?)\b)\s*", re.IGNORECASE)
_FORWARD = re.compile(r"\s*\d\s*[;,]\s*url\s*=", re.IGNORECASE)  # in less than ten seconds
_LONGEST_FORWARD = 400  # characters
_FRONT = re.compile(r"/?(?:(?:index|default|home)\.\w{3,5})?", re.IGNORECASE)
_BOX = 300  # characters outside of links
_BARS = frozenset({"side", "foot", "comments", "advertisement", "navigation"})


class PageBlocks:
    """Blocks by their index.

    Args:
        tree, measures: The page.
        blocks: Ranges of nodes, in order, not overlapping.
        url: Of the page, or None.

    Attributes:
        features: Spatial and content features of all blocks.
        areas: What each block's part of the page is for, see :class:`PageAreas`; "" if unnamed.
        chars, text_chars: Visible characters, and those of them outside of links.
        links, images: How many.
        levels: 0, or how deep a heading the block is: see :meth:`Headlines.level`.
        is_topic_page: Whether the page is there for its text.
        headline: Index of the block that is the page's headline, or -1.
        purpose: The blocks a page of tags, of partners, … is there for: all under such a headline.
    """

    def __init__(
        self, tree: PageTree, measures: Measures, blocks: Sequence[range], url: str | None
    ) -> None:
        self._tree = tree
        self._measures = measures
        self._hidden = measures.hidden
        self._chars = measures.chars
        self._blocks = blocks
        self._url = url or ""
        self._host = _host_of(url) if url else ""
        self._texts: dict[int, str] = {}
        areas = PageAreas(tree, measures)
        self.features = BlockFeatures(tree, measures, blocks, areas)
        self.areas = [areas.of(element) for element in self.features.elements]
        self.text_chars: list[int] = self.features.text_chars.tolist()
        self._link_chars: list[int] = self.features.link_chars.tolist()
        self.chars = [t + k for t, k in zip(self.text_chars, self._link_chars, strict=True)]
        self.links: list[int] = self.features.links.tolist()
        self.images: list[int] = self.features.images.tolist()
        self.is_topic_page = is_topic_page(measures, LINK_TEXT_RATIO)
        self._name_foot()
        weights = measures.chars - measures.link_chars if self.is_topic_page else measures.chars
        middle = areas.middle(blocks, self.areas, weights)
        self._middle = range(middle, tree.after[middle])
        article = areas.article(middle)
        self._article = range(article, tree.after[article])
        self._headlines = Headlines(tree, measures)
        self.levels = [self._level(index) for index in range(len(blocks))]
        self.headline = self._find_headline()
        headed = self._headed_content(areas, middle)
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
        return self._tree.parents[self.features.elements[index]]

    # ------------------------------------------------------------ what stands in it

    def text(self, index: int) -> str:
        """Return the visible text of a block."""
        known = self._texts.get(index)
        if known is None:
            tree, hidden = self._tree, self._hidden
            runs = (i for i in self._blocks[index] if tree.tags[i] == TEXT and not hidden[i])
            known = self._texts[index] = joined_text(tree, runs)
        return known

    def is_link_block(self, index: int) -> bool:
        """Whether links are most of a block, or of each short item of several."""
        links, chars = self.links[index], self.chars[index]
        share = _LINK_BLOCK if links < 2 or chars > _SHORT_ITEM * links else _LINK_BLOCK_OF_ITEMS
        return links > 0 and self._link_chars[index] >= share * chars

    def anchors(self, index: int) -> list[str]:
        """Return the texts of the first links of a block."""
        stop = self._blocks[index].stop
        return [self._link_texts.of(node, stop) for node in self._link_nodes(index)]

    def share_of_words(self, kind: str, index: int) -> float:
        """Return the share of a block's links that are words of a list."""
        anchors = self.anchors(index)
        return sum(is_all(kind, anchor) for anchor in anchors) / len(anchors) if anchors else 0.0

    def is_topical(self, index: int) -> bool:
        """Whether the links of a block have words of the page's title and headings."""
        return self._topic.share(self.anchors(index)) >= _RELATED

    def all_leave(self, index: int) -> bool:
        """Whether all links of a block lead to other sites; False if the page's is not known."""
        if not self._host:
            return False
        attributes = map(self._tree.attributes, self._link_nodes(index))
        hosts = [_host_of(found.get("href", "")) for found in attributes]
        return all(host not in ("", self._host) for host in hosts)

    @cached_property
    def is_forwarding(self) -> bool:
        """Whether the page sends its reader on to another one by itself."""
        if sum(self.chars) > _LONGEST_FORWARD:
            return False
        tags, attributes = self._tree.tags, self._tree.attributes
        found = (attributes(node) for node, tag in enumerate(tags) if tag == "meta")
        return any(
            meta.get("http-equiv", "").lower() == "refresh"
            and _FORWARD.match(meta.get("content", "")) is not None
            for meta in found
        )

    def is_of_title(self, text: str) -> bool:
        """Whether a text is what the page's title says."""
        return self._headlines.agreement(text) >= _AGREES

    def _link_nodes(self, index: int) -> Iterator[int]:
        tags = self._tree.tags
        return islice((node for node in self._blocks[index] if tags[node] == "a"), _LOOKED_AT)

    @cached_property
    def _link_texts(self) -> LinkTexts:
        return LinkTexts(self._tree, self._measures)

    @cached_property
    def _topic(self) -> TopicWords:
        headings = (i for i, level in enumerate(self.levels) if level and self.is_near(i))
        texts = map(self.text, islice(headings, _HEADINGS_LOOKED_AT))
        return TopicWords([self._headlines.title, *texts])

    # ------------------------------------------------------------ headings

    def _level(self, index: int) -> int:
        if not 0 < self.chars[index] <= LONGEST_HEADING or self.links[index] > _LINKS_OF_HEADING:
            return 0
        return self._headlines.level(self._blocks[index])

    def _find_headline(self) -> int:
        best, found = _LEAST_HEADLINE, -1
        for index, level in enumerate(self.levels):
            if not level or self._blocks[index].start >= self._middle.stop:
                continue
            if self.areas[index] not in ("", "content", "head") or self._leads_to_front(index):
                continue
            score = {1: 2.0, 2: 1.0}.get(level, 0.5)
            score += 2 * self._headlines.agreement(self.text(index))
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
            if free and self._headlines.agreement(self.text(index)) >= _AGREES:
                return index
        return -1

    def _leads_to_front(self, index: int) -> bool:
        """Whether a block is a link to the site's front page, and the page another: its name."""
        if not self._url or _is_front(self._url):
            return False
        hrefs = [self._tree.attributes(node).get("href", "") for node in self._link_nodes(index)]
        return bool(hrefs) and all(_is_front(urljoin(self._url, href)) for href in hrefs)

    def _name_foot(self) -> None:
        """Name the foot of a page that no tag or class names, by its notice of rights."""
        for index in range(max(len(self) - _LAST, 1), len(self)):
            short = 0 < self.chars[index] <= _LONGEST_FOOT
            if short and not self.areas[index] and holds("copyright", self.text(index)):
                self.areas[index] = "foot"

    def _headed_content(self, areas: PageAreas, middle: int) -> int:
        """Return the element named content that the headline stands in, if it is the middle; or 0.

        It is where the middle found is but a box beside it with a little text, or it and such a
        box: on a page that only offers a film, the box about the course has more text.
        """
        if self.headline < 0 or self.levels[self.headline] != 1 or not self.is_topic_page:
            return 0
        around, after = areas.article(self.features.elements[self.headline]), self._tree.after
        within = around > self._article.start and after[around] <= self._article.stop
        heads_more = self._chars[after[around]] - self._chars[around] > self.chars[self.headline]
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


def _is_front(url: str) -> bool:
    """Whether an address is that of a site's front page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.netloc) and not parts.query and _FRONT.fullmatch(parts.path) is not None


def _host_of(url: str) -> str:
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""
