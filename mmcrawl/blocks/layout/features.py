"""What is known of a block by itself: where it is, what it holds, what its tags say.

Wang & Zhu 2012, section 2.2.2. Nothing is rendered: a page is taken to be :data:`PAGE_WIDTH` wide
and to be filled with its text from top to bottom, so that the place of a block is its place in the
order of the text. Widths are those that tables and boxes declare; the cells of a row stand side by
side.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from mmcrawl.blocks.layout.areas import PageAreas
from mmcrawl.blocks.layout.block_words import lists_of
from mmcrawl.blocks.layout.headlines import LONGEST_HEADING, Headlines
from mmcrawl.blocks.layout.lines import PageText
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.layout.sizes import PAGE_WIDTH
from mmcrawl.page.tree import PageTree
from mmcrawl.page.urls import absolute_url

WINDOW_HEIGHT = 768.0
"""Pixels of a page that a reader sees at once."""

CHARACTER_AREA = 200.0
"""Square pixels that a character takes, with its share of the space between lines."""

COUNTED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "links": frozenset("a area".split()),
        "anchors": frozenset("a".split()),
        "images": frozenset("img image".split()),
        "flash": frozenset("object embed applet".split()),
        "inputs": frozenset("input select textarea button".split()),
        "forms": frozenset("form".split()),
        "headings": frozenset("h1 h2 h3 h4 h5 h6".split()),
    }
)
"""Sorts of elements that are counted, with their tags."""

_PICTURE_HEIGHT = 60.0  # of one that declares no size
_LARGEST = 4000.0
_LINK_BLOCK = 0.5  # from this share of link text on
_LINK_BLOCK_OF_ITEMS = 0.3
_SHORT_ITEM = 20  # characters
_LINKS_OF_HEADING = 2
_LOOKED_AT = 50  # links of a block whose words are read
_LONGEST_ADDRESS = 300  # characters
_DEEP = 3  # folders

FEATURES = (
    "x",
    "y",
    "width",
    "height",
    "relative_x",
    "relative_y",
    "relative_width",
    "relative_height",
    "window_y",
    "window_height",
    "images",
    "image_area",
    "links",
    "text_chars",
    "link_chars",
    "inputs",
    "forms",
    "headings",
)
"""Names of the features: x and y are of the centre; lengths are pixels, shares of the page's width
and height, or shares of the height of a window."""

_LENGTH = re.compile(r"\s*(\d{1,5}(?:\.\d+)?)\s*(px|%|$)")
_FRONT = re.compile(r"/?(?:(?:index|default|home)\.\w{3,5})?", re.IGNORECASE)
_CSS_WIDTH = re.compile(r"(?:^|[;\s])width\s*:([^;]*)")


def is_topic_page(measures: Measures, link_text_ratio: float) -> bool:
    """Whether a page is there for its text, not for its links (section 2.2.3, step 4).

    Args:
        measures: Of the page.
        link_text_ratio: Characters of link text for each character of other text, below which it
            is a topic page.
    """
    link_chars = int(measures.link_chars[-1])
    return link_chars < link_text_ratio * (int(measures.chars[-1]) - link_chars)


class Lead(NamedTuple):
    """Where a link leads, and what its address looks like."""

    mail: bool = False
    fragment: bool = False
    script: bool = False
    front: bool = False
    elsewhere: bool = False
    deep: bool = False
    numbered: bool = False
    same_folder: bool = False


class PageFeatures:
    """What is known of a page, whichever way it is cut into blocks. What is not asked is not found.

    Args:
        tree, measures: The page.
        url: Of the page, or None.

    Attributes:
        url, host: "" if it is not known.
        chars, link_chars: As the page's :class:`Measures` have them.
    """

    def __init__(self, tree: PageTree, measures: Measures, url: str | None = None) -> None:
        self.tree = tree
        self.measures = measures
        self.url = url or ""
        self.host = host_of(url) if url else ""
        self.chars: list[int] = measures.chars.tolist()
        self.link_chars: list[int] = measures.link_chars.tolist()
        self._elements: dict[str, Sequence[int]] = {}
        self._places: dict[int, tuple[float, float]] = {0: (0.0, PAGE_WIDTH)}
        self._blocks: dict[tuple[int, int], BlockFacts] = {}
        self._leads: dict[int, Lead] = {}

    def block(self, nodes: range) -> BlockFacts:
        """Return what is known of a block; a block of several levels is looked at once."""
        key = nodes.start, nodes.stop
        known = self._blocks.get(key)
        if known is None:
            known = self._blocks[key] = BlockFacts(self, nodes)
        return known

    @cached_property
    def texts(self) -> PageText:
        """The visible text."""
        return PageText(self.tree, self.measures)

    @cached_property
    def areas(self) -> PageAreas:
        """What the parts of the page are for."""
        return PageAreas(self.tree, self.measures)

    @cached_property
    def headlines(self) -> Headlines:
        """What is a heading."""
        return Headlines(self.tree, self.measures)

    def among(self, name: str, nodes: range) -> Sequence[int]:
        """Return the elements of a sort (:data:`COUNTED`) that are among some nodes, in order."""
        elements = self._elements.get(name)
        if elements is None:
            elements = self._elements[name] = self.measures.elements(COUNTED[name])
        first = bisect_left(elements, nodes.start)
        return elements[first : bisect_left(elements, nodes.stop, first)]

    def lead(self, node: int) -> Lead:
        """Return where a link leads; each is looked at once."""
        known = self._leads.get(node)
        if known is None:
            href = self.tree.attributes(node).get("href", "").strip()[:_LONGEST_ADDRESS]
            known = self._leads[node] = _lead(href, self.url, self._parts)
        return known

    @cached_property
    def _parts(self) -> SplitResult | None:
        try:
            return urlsplit(self.url)
        except ValueError:
            return None

    def place(self, node: int) -> tuple[float, float]:
        """Return where an element begins, from the left, and how wide it is."""
        known, parents = self._places, self.tree.parents
        above: list[int] = []
        while node not in known:
            above.append(node)
            node = parents[node]
        for below in reversed(above):
            known[below] = self._place_in(below, known[node])
            node = below
        return known[node]

    def _place_in(self, node: int, around: tuple[float, float]) -> tuple[float, float]:
        left, width = around
        tag = self.tree.tags[node]
        if tag in ("td", "th"):
            if node not in self._places:
                self._place_cells(self.tree.parents[node], around)
            return self._places[node]
        if tag not in ("table", "div", "section", "main", "aside", "article"):
            return around
        own = self._declared_width(node, width)
        return (left, min(own, width)) if own else around

    def _place_cells(self, row: int, around: tuple[float, float]) -> None:
        """Put the cells of a row side by side, those without a declared width sharing the rest."""
        left, width = around
        cells = [i for i in self.tree.children(row) if self.tree.tags[i] in ("td", "th")]
        declared = [self._declared_width(cell, width) for cell in cells]
        rest = max(width - sum(declared), 0.0) / max(declared.count(0.0), 1)
        for cell, own in zip(cells, declared, strict=True):
            self._places[cell] = (left, own or rest)
            left += own or rest

    def _declared_width(self, node: int, around: float) -> float:
        attributes = self.tree.attributes(node)
        if found := _CSS_WIDTH.search(attributes.get("style", "").lower()):
            return pixels(found[1], around)
        return pixels(attributes.get("width", ""), around)


class BlockFacts:
    """What is known of one block of a page by itself.

    Attributes:
        nodes: Those of the page's tree.
        element: The element that the block is, or stands in.
        chars, text_chars, link_chars: Visible characters, those outside of links, those in them.
        links: How many.
        is_links: Whether links are most of it, or of each short item of several.
    """

    def __init__(self, page: PageFeatures, nodes: range) -> None:
        first, after = nodes.start, nodes.stop
        self._page = page
        self.nodes = nodes
        self.element = page.areas.element(nodes)
        self.chars = page.chars[after] - page.chars[first]
        self.link_chars = page.link_chars[after] - page.link_chars[first]
        self.text_chars = self.chars - self.link_chars
        self.links = links = self.count("links")
        has_items = links >= 2 and self.chars <= _SHORT_ITEM * links
        share = _LINK_BLOCK_OF_ITEMS if has_items else _LINK_BLOCK
        self.is_links = links > 0 and self.link_chars >= share * self.chars

    def count(self, name: str) -> int:
        """Return how many elements of a sort (:data:`COUNTED`) it holds."""
        return len(self._page.among(name, self.nodes))

    @cached_property
    def text(self) -> str:
        """The visible text."""
        return self._page.texts.of(self.nodes)

    @cached_property
    def anchors(self) -> list[str]:
        """The texts of the first links."""
        texts, stop = self._page.texts, self.nodes.stop
        return [texts.of_link(node, stop) for node in self._first_anchors]

    @cached_property
    def _lists(self) -> list[frozenset[str]]:
        return [lists_of(anchor) for anchor in self.anchors]

    def share_of_words(self, kind: str) -> float:
        """Return the share of the links that are words of a list."""
        return (
            sum(kind in lists for lists in self._lists) / len(self._lists) if self._lists else 0.0
        )

    @cached_property
    def leads(self) -> list[Lead]:
        """Where the first links lead."""
        return list(map(self._page.lead, self._first_anchors))

    @cached_property
    def all_leave(self) -> bool:
        """Whether all links lead to other sites; False if the page's is not known."""
        host = self._page.host
        attributes = self._page.tree.attributes
        hosts = (host_of(attributes(node).get("href", "")) for node in self._first_anchors)
        return bool(host) and all(one not in ("", host) for one in hosts)

    @cached_property
    def leads_to_front(self) -> bool:
        """Whether it is links to the site's front page, and the page another: the site's name."""
        url, leads = self._page.url, self.leads
        return bool(url and leads) and not _is_front(url) and all(one.front for one in leads)

    @cached_property
    def heading_level(self) -> int:
        """0, or how deep a heading it is: see :meth:`Headlines.level`."""
        if not 0 < self.chars <= LONGEST_HEADING or self.links > _LINKS_OF_HEADING:
            return 0
        return self._page.headlines.level(self.nodes)

    @property
    def features(self) -> Mapping[str, float]:
        """The features by name."""
        page = self._page
        left, width = page.place(self.element)
        width = max(width, 1.0)
        x = left + width / 2
        image_area = sum(map(self._image_area, page.among("images", self.nodes)))
        height = (self.chars * CHARACTER_AREA + image_area) / width
        before = page.chars[self.nodes.start] * CHARACTER_AREA / PAGE_WIDTH
        y = before + self.chars * CHARACTER_AREA / PAGE_WIDTH / 2
        page_height = max(float(page.chars[-1]) * CHARACTER_AREA / PAGE_WIDTH, 1.0)
        values = (
            x,
            y,
            width,
            height,
            x / PAGE_WIDTH,
            y / page_height,
            width / PAGE_WIDTH,
            min(height / page_height, 1.0),
            y / WINDOW_HEIGHT,
            height / WINDOW_HEIGHT,
            self.count("images"),
            image_area,
            self.links,
            self.text_chars,
            self.link_chars,
            self.count("inputs"),
            self.count("forms"),
            self.count("headings"),
        )
        return dict(zip(FEATURES, map(float, values), strict=True))

    def _image_area(self, node: int) -> float:
        attributes = self._page.tree.attributes(node)
        height = pixels(attributes.get("height", ""), PAGE_WIDTH) or _PICTURE_HEIGHT
        return height * (pixels(attributes.get("width", ""), PAGE_WIDTH) or height)

    @property
    def _first_anchors(self) -> Sequence[int]:
        return self._page.among("anchors", self.nodes)[:_LOOKED_AT]


def host_of(url: str) -> str:
    """Return the host that a URL names, or ""."""
    try:
        return urlsplit(url.strip()).hostname or ""
    except ValueError:
        return ""


def _lead(href: str, url: str, here: SplitResult | None) -> Lead:
    if href.startswith("#"):
        return Lead(fragment=True)
    if href[:11].lower() == "javascript:":
        return Lead(script=True)
    target = absolute_url(url, href) or ""
    mail, front = href.startswith("mailto:"), _is_front(target)
    try:
        there = urlsplit(unquote(target or href))
    except ValueError:
        return Lead(mail, front=front)
    if here is None:
        return Lead(mail, front=front)
    last = there.path.rstrip("/").rpartition("/")[2]
    return Lead(
        mail,
        front=front,
        elsewhere=bool(here.netloc) and there.netloc != here.netloc,
        deep=sum(map(bool, there.path.split("/"))) >= _DEEP,
        numbered=sum(map(str.isdigit, there.path + there.query)) >= 4 or last.count("-") >= 3,
        same_folder=there.netloc == here.netloc
        and bool(here.path)
        and here.path.rpartition("/")[0] == there.path.rpartition("/")[0],
    )


def _is_front(url: str) -> bool:
    """Whether an address is that of a site's front page."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.netloc) and not parts.query and _FRONT.fullmatch(parts.path) is not None


def pixels(length: str, around: float) -> float:
    """Return a length as declared, in pixels; 0 where it declares none that is understood.

    >>> pixels("25%", 800.0), pixels("30px", 800.0), pixels("2em", 800.0)
    (200.0, 30.0, 0.0)
    """
    match = _LENGTH.match(length)
    if match is None:
        return 0.0
    number = float(match[1])
    return number * around / 100 if match[2] == "%" else min(number, _LARGEST)
