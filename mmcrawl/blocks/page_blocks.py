"""The blocks of a page in relation to each other: where each stands, what it holds and leads to.

Everything that the rules for kinds ask about a block, answered from the block and the page. Nothing
is rendered: the *middle* is the element with most of the text, and *near* it is what is in the
same article, or between the headline and the text. Features of links are computed once for each
link, and summed for each block.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.layout.block_words import (
    TopicWords,
    begins_with,
    holding,
    kinds_begun,
    lists_of,
)
from mmcrawl.blocks.layout.features import LONGEST_HEADING, PageFeatures, is_topic_page
from mmcrawl.blocks.layout.measures import Sums
from mmcrawl.page.urls import Resolver
from mmcrawl.text.words import unify

LINK_TEXT_RATIO = 1.0
"""Characters of link text for each character of other text, below which a page is one of text."""

READ = 2_000
"""Characters of a block whose words are looked at."""

_HEADINGS_LOOKED_AT = 20
_RELATED = 0.5  # share of links that have a word of the topic
_AGREES = 0.7  # of a heading with the page's title
_LEAST_HEADLINE = 1.5
_LAST, _LONGEST_FOOT = 3, 400  # blocks, characters
_ALL_OF = re.compile(r"\s{0,99}(?:所有|全部|(?:all|alle|todas?|todos?)\b)\s*", re.IGNORECASE)
_LINK_BLOCK = 0.5  # from this share of link text on
_LINK_BLOCK_OF_ITEMS, _SHORT_ITEM = 0.3, 20  # characters
_LINKS_OF_HEADING = 2
_FORWARD = re.compile(r"\s*\d\s*[;,]\s*url\s*=", re.IGNORECASE)  # in less than ten seconds
_LONGEST_FORWARD = 400  # characters
_BOX = 300  # characters outside of links
_BARS = frozenset({"side", "foot", "comments", "advertisement", "navigation"})

Floats = NDArray[Any]

_LOOKED_AT = 50  # links of a block
_LONGEST_ADDRESS = 300  # characters
_DEEP = 3  # folders
_PARTS = re.compile(r"(?:[a-zA-Z][\w+.-]*:)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.ASCII)
_DIGIT = re.compile(r"\d")
_FRONT = re.compile(r"/?(?:(?:index|default|home)\.\w{3,5})?", re.IGNORECASE)


class PageBlocks:
    """Blocks by their index.

    Args:
        blocks: Ranges of nodes, in order, not overlapping.

    Attributes:
        links_in: The links of the blocks.
        elements: The element that each block is, or stands in.
        texts: The visible text of each.
        areas: What each block's part of the page is for, see :class:`PageAreas`; "" if unnamed.
        chars, text_chars: Visible characters, and those of them outside of links.
        links: How many.
        is_links: Whether links are most of each, or of each short item of several.
        is_middle: Whether each is in the middle of the page, or holds it.
        is_near: Whether each is in the middle or near it.
        is_before_middle: Whether each stands before the middle.
        levels: 0, or how deep a heading the block is: see :meth:`Headlines.level`.
        is_topic_page: Whether the page is there for its text.
        headline: Index of the block that is the page's headline, or -1.
        purpose: The blocks a page of tags, of partners, … is there for: all under such a headline.
    """

    def __init__(self, page: PageFeatures, blocks: Sequence[range]) -> None:
        self._page = page
        self._tree = page.tree
        self._blocks = blocks
        self._starts = np.array([block.start for block in blocks], dtype=np.int64)
        self._stops = np.array([block.stop for block in blocks], dtype=np.int64)
        self._counts: dict[str, list[int]] = {}
        self._held_words: dict[str, list[bool]] = {}
        areas, measures = page.areas, page.measures
        self.links_in = BlockLinks(page, self._starts, self._stops)
        self.elements = list(map(areas.element, blocks))
        self.texts = list(map(page.texts.of, blocks))
        self.areas = list(map(areas.of, self.elements))
        self.chars = self._held(measures.chars)
        link_chars = self._held(measures.link_chars)
        self.text_chars = [all_ - own for all_, own in zip(self.chars, link_chars, strict=True)]
        self.links = self.counts("links")
        self.is_links = [
            links > 0 and in_links >= _share_of_links(chars, links) * chars
            for links, in_links, chars in zip(self.links, link_chars, self.chars, strict=True)
        ]
        self.is_topic_page = is_topic_page(measures, LINK_TEXT_RATIO)
        self._name_foot()
        weights = measures.chars - measures.link_chars if self.is_topic_page else measures.chars
        middle = areas.middle(blocks, self.areas, weights)
        article = areas.article(middle)
        self._find_places(middle, article)
        self.levels = list(map(self._level, range(len(blocks))))
        self.headline = self._find_headline()
        headed = self._headed_content(middle)
        if headed:
            middle = article = headed
        self._find_places(middle, self._reach_to_headline(middle, article))
        self.purpose = self._find_purpose()

    def _held(self, sums: Sums) -> list[int]:
        held: list[int] = (sums[self._stops] - sums[self._starts]).tolist()
        return held

    def _find_places(self, middle: int, article: int) -> None:
        """Find where each block stands, given the elements in the middle of the page and near."""
        starts, after = self._starts, self._tree.after
        self._middle, self._article = range(middle, after[middle]), range(article, after[article])
        is_middle = (starts < after[middle]) & ((starts >= middle) | (self._stops > middle))
        is_near = is_middle | ((starts >= article) & (starts < after[article]))
        self.is_middle: list[bool] = is_middle.tolist()
        self.is_near: list[bool] = is_near.tolist()
        self.is_before_middle: list[bool] = ((starts < middle) & ~is_middle).tolist()

    def _level(self, index: int) -> int:
        if not 0 < self.chars[index] <= LONGEST_HEADING or self.links[index] > _LINKS_OF_HEADING:
            return 0
        return self._page.headlines.level(self._blocks[index])

    def __len__(self) -> int:
        return len(self._blocks)

    # ------------------------------------------------------------ where a block stands

    def is_at_end(self, index: int) -> bool:
        """Whether a block stands behind the middle, or is one of the page's last three."""
        return self._blocks[index].start >= self._middle.stop or index >= len(self) - 3

    def is_in_content(self, index: int) -> bool:
        """Whether a block is near the middle, in what the page itself calls content."""
        return self.is_near[index] and self.areas[index] == "content"

    def around(self, index: int) -> int:
        """Return the element around a block: blocks of the same one are siblings."""
        return self._tree.parents[self.elements[index]]

    # ------------------------------------------------------------ what stands in it

    def counts(self, name: str) -> list[int]:
        """Return how many elements of a sort each holds (`blocks.layout.features.COUNTED`)."""
        known = self._counts.get(name)
        if known is None:
            places = np.searchsorted(self._page.all(name), np.stack((self._starts, self._stops)))
            known = self._counts[name] = (places[1] - places[0]).tolist()
        return known

    def share_of_words(self, kind: str, index: int) -> float:
        """Return the share of a block's links that are words of a list."""
        return self.links_in.shares_of_words(kind)[index]

    def is_topical(self, index: int) -> bool:
        """Whether the links of a block have words of the page's title and headings."""
        return self.shares_topical[index] >= _RELATED

    @cached_property
    def shares_topical(self) -> list[float]:
        """Of each block, the share of its links with words of the page's title and headings."""
        shared = list(map(self._topic.is_in, self.links_in.texts))
        shares: list[float] = self.links_in.shares(shared).tolist()
        return shares

    def agreement(self, index: int) -> float:
        """Return how much a block agrees with the page's title, in [0, 1]."""
        return self._page.headlines.agreement(self.texts[index])

    @property
    def url(self) -> str:
        """The page's, or ""."""
        return self._page.url

    def holds(self, kind: str) -> list[bool]:
        """Return whether each holds a word of the list of a kind in its first characters."""
        known = self._held_words.get(kind)
        if known is None:
            known = self._held_words[kind] = holding(kind, self.plain)
        return known

    @cached_property
    def begun(self) -> list[frozenset[str]]:
        """The kinds with a word of whose list each block begins."""
        return list(map(kinds_begun, self.texts))

    @cached_property
    def plain(self) -> list[str]:
        """The texts in one spelling, cut after :data:`READ` characters."""
        return [unify(text[:READ]) for text in self.texts]

    def shape(self, index: int) -> tuple[str, str]:
        """Return tag and class of a block's element: those of a list are alike."""
        element = self.elements[index]
        return self._tree.tags[element], self._tree.attributes(element).get("class", "")

    def stands_in(self, tags: Collection[str]) -> NDArray[np.bool_]:
        """Return whether each one's element, or one of three around it, has one of some tags."""
        wanted, parents = self._tree.having(tags), np.asarray(self._tree.parents)
        node = np.array(self.elements, dtype=np.int64)
        found = np.zeros(len(node), dtype=np.bool_)
        for _ in range(4):
            found |= wanted[node] & (node > 0)
            node = np.maximum(parents[node], 0)
        return found

    @cached_property
    def is_forwarding(self) -> bool:
        """Whether the page sends its reader on to another one by itself."""
        if sum(self.chars) > _LONGEST_FORWARD:
            return False
        found = map(self._tree.attributes, self._tree.elements("meta"))
        return any(
            meta.get("http-equiv", "").lower() == "refresh"
            and _FORWARD.match(meta.get("content", "")) is not None
            for meta in found
        )

    def is_of_title(self, text: str) -> bool:
        """Whether a text agrees with the page's title."""
        return self._page.headlines.agreement(text) >= _AGREES

    @cached_property
    def _topic(self) -> TopicWords:
        headings = (i for i, level in enumerate(self.levels) if level and self.is_near[i])
        texts = map(self.texts.__getitem__, islice(headings, _HEADINGS_LOOKED_AT))
        return TopicWords([self._page.headlines.title, *texts])

    # ------------------------------------------------------------ headings

    def _find_headline(self) -> int:
        best, found = _LEAST_HEADLINE, -1
        for index, level in enumerate(self.levels):
            if not level or self._blocks[index].start >= self._middle.stop:
                continue
            if self.areas[index] not in ("", "content", "head"):
                continue
            if self.links[index] and self.links_in.lead_to_front[index]:
                continue
            score = {1: 2.0, 2: 1.0}.get(level, 0.5)
            score += 2 * self._page.headlines.agreement(self.texts[index])
            score += 1.0 if self.is_near[index] else 0.0
            score -= 1.0 if self.is_links[index] else 0.0  # a site's name
            if score > best:
                best, found = score, index
        return found if found >= 0 else self._plain_headline()

    def _plain_headline(self) -> int:
        """Return the last block before the middle that is the page's title in plain type, or -1."""
        for index in range(len(self) - 1, -1, -1):
            short = 0 < self.chars[index] <= LONGEST_HEADING and not self.links[index]
            if not short or not self.is_before_middle[index]:
                continue
            free = self.areas[index] in ("", "content", "head")
            if free and self._page.headlines.agreement(self.texts[index]) >= _AGREES:
                return index
        return -1

    def _name_foot(self) -> None:
        """Name the foot of a page that no tag or class names, by its notice of rights."""
        for index in range(max(len(self) - _LAST, 1), len(self)):
            short = 0 < self.chars[index] <= _LONGEST_FOOT
            if short and not self.areas[index] and self.holds("copyright")[index]:
                self.areas[index] = "foot"

    def _headed_content(self, middle: int) -> int:
        """Return the element named content that the headline stands in, if it is the middle; or 0.

        It is where the middle found is but a box beside it with a little text, or it and such a
        box: on a page that only offers a film, the box about the course has more text.
        """
        if self.headline < 0 or self.levels[self.headline] != 1 or not self.is_topic_page:
            return 0
        areas, chars, after = self._page.areas, self._page.chars, self._tree.after
        around = areas.article(self.elements[self.headline])
        within = around > self._article.start and after[around] <= self._article.stop
        heads_more = chars[after[around]] - chars[around] > self.chars[self.headline]
        if not (within and heads_more) or around <= middle < after[around]:
            return 0
        beside = areas.text_in(middle)
        if middle < around < after[middle]:
            beside -= areas.text_in(around)
        return around if beside < _BOX else 0

    def _reach_to_headline(self, middle: int, article: int) -> int:
        """Return the article, from the headline on, where that is in no head, to its text."""
        if self.headline < 0 or self.areas[self.headline] == "head":
            return article
        at, node = self._blocks[self.headline].start, middle
        while not node <= at < self._tree.after[node]:
            node = self._tree.parents[node]
        return min(node, article)

    def _find_purpose(self) -> range:
        if self.headline < 0:
            return range(0)
        text = _ALL_OF.sub("", self.texts[self.headline], count=1)
        if not (begins_with("noise", text) or begins_with("navigation", text)):
            return range(0)
        after = self.headline + 1
        while after < len(self) and self.areas[after] not in _BARS:
            after += 1
        return range(self.headline + 1, after)


def _share_of_links(chars: int, links: int) -> float:
    return _LINK_BLOCK_OF_ITEMS if links >= 2 and chars <= _SHORT_ITEM * links else _LINK_BLOCK


class Lead(NamedTuple):
    """The target of a link, and the shape of its address."""

    elsewhere: bool = False
    front: bool = False
    fragment: bool = False
    script: bool = False
    deep: bool = False
    numbered: bool = False
    same_folder: bool = False
    mail: bool = False


class BlockLinks:
    """The first links of each block, one after the other.

    Args:
        starts, stops: First node of each block, and the node behind it; in order, not overlapping.

    Attributes:
        counts: How many links of each block are looked at.
        bounds: Where those of each begin among all, and what is behind the last.
        texts: Of each link, as far as it is in its block.
    """

    def __init__(
        self, page: PageFeatures, starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> None:
        self._page = page
        links = np.array(page.all("anchors"), dtype=np.int64)
        firsts = np.searchsorted(links, starts)
        self.counts = np.minimum(np.searchsorted(links, stops) - firsts, _LOOKED_AT)
        self.bounds = np.append(0, np.cumsum(self.counts))
        self._bounds: list[int] = self.bounds.tolist()
        self.places = np.arange(self._bounds[-1]) - np.repeat(self.bounds[:-1], self.counts)
        self._nodes: list[int] = links[np.repeat(firsts, self.counts) + self.places].tolist()
        ends = np.repeat(stops, self.counts).tolist()
        self.texts = list(map(page.texts.of_link, self._nodes, ends))
        self._words: dict[str, list[float]] = {}

    def shares(self, values: Sequence[Any] | Floats) -> Floats:
        """Return the mean over the links of each block, of numbers or rows of them; 0 of none."""
        each = np.asarray(values, dtype=np.float64)
        sums = np.zeros((len(each) + 1, *each.shape[1:]))
        np.cumsum(each, axis=0, out=sums[1:])
        held = sums[self.bounds[1:]] - sums[self.bounds[:-1]]
        shares: Floats = held / np.maximum(self.counts, 1).reshape(-1, *[1] * (each.ndim - 1))
        return shares

    @cached_property
    def _lists(self) -> list[frozenset[str]]:
        return list(map(lists_of, self.texts))

    def shares_of_words(self, kind: str) -> list[float]:
        """Return the share of the links of each block that are words of a list."""
        known = self._words.get(kind)
        if known is None:
            marks = [kind in lists for lists in self._lists]
            known = self._words[kind] = self.shares(marks).tolist()
        return known

    @cached_property
    def _hrefs(self) -> list[str]:
        attributes = self._page.tree.attributes
        return [attributes(node).get("href", "").strip()[:_LONGEST_ADDRESS] for node in self._nodes]

    @cached_property
    def leading(self) -> dict[str, Floats]:
        """Of each block, the share of its links that lead where :class:`Lead` says, by name."""
        here, resolve = _address(self._page.url), Resolver(self._page.url, self._page.tree.encoding)
        known = {href: _lead(href, here, resolve) for href in dict.fromkeys(self._hrefs)}
        rows = np.array([known[href] for href in self._hrefs]).reshape(-1, len(Lead._fields))
        return dict(zip(Lead._fields, self.shares(rows).T, strict=True))

    @cached_property
    def lead_to_front(self) -> list[bool]:
        """Whether each block is links to the site's front page, and the page another: its name."""
        if not self._page.url or _address(self._page.url).front:
            return [False] * len(self.counts)
        marks: list[bool] = (self.leading["front"] == 1).tolist()
        return marks

    def all_leave(self, index: int) -> bool:
        """Whether the links of a block lead to other sites; False if the page's is not known."""
        lead = self.leading
        return bool(lead["elsewhere"][index] - lead["mail"][index] == 1)


class _Shape(NamedTuple):
    """The shape of an address; the folder ends in a slash, and is "" without a path."""

    host: str
    folder: str
    front: bool
    deep: bool
    numbered: bool


@lru_cache(maxsize=8_192)  # those of menus stand on all pages of a site
def _address(url: str) -> _Shape:
    host, path, query = _PARTS.match(url).groups("")  # type: ignore[union-attr] # it always does
    last = path.rstrip("/").rpartition("/")[2]
    return _Shape(
        host,
        f"{path.rpartition('/')[0]}/" if path else "",
        bool(host) and not query and _FRONT.fullmatch(path) is not None,
        len(list(filter(None, path.split("/")))) >= _DEEP,
        len(_DIGIT.findall(path + query)) >= 4 or last.count("-") >= 3,
    )


def _lead(href: str, here: _Shape, resolve: Resolver) -> Lead:
    if href.startswith("#"):
        return Lead(fragment=True)
    if href[:11].lower() == "javascript:":
        return Lead(script=True)
    there = _address(unquote(resolve.address(href) or href))
    return Lead(
        elsewhere=here.host not in ("", there.host),
        front=there.front,
        deep=there.deep,
        numbered=there.numbered,
        same_folder=there.host == here.host and here.folder == there.folder != "",
        mail=href.startswith("mailto:"),
    )
