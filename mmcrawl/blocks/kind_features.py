"""What the model of kinds reads of each block of a page: numbers, most of them between 0 and 1.

A block is told by where it stands, by what it holds, by the words of its own text, of its links and
of the heading above it, and by what stands right before and behind it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from functools import lru_cache
from itertools import accumulate
from math import log1p
from typing import NamedTuple, cast
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.kinds import HAN_FACTOR
from mmcrawl.blocks.layout.block_words import AREAS, begins_with, holds
from mmcrawl.blocks.layout.features import BlockFacts
from mmcrawl.blocks.layout.headlines import LONGEST_HEADING
from mmcrawl.blocks.page_blocks import PageBlocks
from mmcrawl.page.urls import absolute_url
from mmcrawl.text.words import HAN, has_han

Floats = NDArray[np.float32]

_BEGINS = ("advertisement", "byline", "comments", "more", "navigation", "noise", "related", "tags")
_SINCE = ("comments", "more", "noise", "copyright")
_HOLDS = ("byline", "comments", "copyright")
_LINK_WORDS = ("navigation", "noise", "onward", "tags")
_COUNTED = ("images", "flash", "inputs", "forms", "headings")
_PLACES = (
    "index",
    "from_end",
    "before",
    "behind",
    "is_middle",
    "is_near",
    "is_before",
    "is_in_content",
)
_HEADLINE = ("is_headline", "has_headline", "after_headline", "behind_headline", "agreement")
_SIZES = (
    "chars",
    "text_chars",
    "links",
    "link_share",
    "anchor_chars",
    "is_links",
    "is_empty",
    "han",
)
_WORDS = ("sentences", "digits", "capitals", "has_date", "has_time", "questions", "words")
_LINKS = ("topical", "said", "most_said")
_ADDRESSES = (
    "leave",
    "leads_to_front",
    "fragments",
    "scripts",
    "deep",
    "numbered",
    "same_folder",
    "long_anchors",
    "mail",
)
_AROUND = ("siblings", "alike", "repeated", "in_list", "in_table", "in_paragraph")
_PAGE = ("page_is_text", "page_blocks", "page_links", "page_text")
_SHORT = (
    "text_chars",
    "links",
    "link_share",
    "is_middle",
    "heading",
    "sentences",
    "has_date",
    "is_empty",
)
_OFFSETS = (-2, -1, 1, 2)

_OWN = (
    *_PLACES,
    *_HEADLINE,
    *_SIZES,
    *_WORDS,
    *_LINKS,
    *_ADDRESSES,
    *_AROUND,
    "heading",
    *(f"level_{level}" for level in (1, 2, 3, 4, 7)),
    *(f"count_{name}" for name in _COUNTED),
    *(f"area_{area or 'none'}" for area in ("", *AREAS)),
    *(f"begins_{kind}" for kind in _BEGINS),
    *(f"holds_{kind}" for kind in _HOLDS),
    *(f"links_{kind}" for kind in _LINK_WORDS),
    *(f"under_{kind}" for kind in _BEGINS),
    "under_distance",
    *(f"since_{kind}" for kind in _SINCE),
)
FEATURES = (
    *_OWN,
    *_PAGE,
    *(f"{name}{offset:+d}" for offset in _OFFSETS for name in _SHORT),
)
"""Names of the columns."""

_AREAS = ("", *AREAS)
_NO_HEADING = (0.0,) * len(_BEGINS)
_COLUMN = {name: number for number, name in enumerate(_OWN)}
_SENTENCE = re.compile(r"[.!?。！？…](?=\s|[\"'”’」』]|\Z)|[。！？]")
_DATE = re.compile(
    r"\d{4}\s?[-/.年]\s?\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\b(?:19|20)\d\d\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|\bago\b|[天时分]前",
    re.IGNORECASE,
)
_TIME = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?[ap]\.?m\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_AREAS_OF = {"comments": "comments", "more": "related", "noise": "noise", "copyright": "foot"}
_FADING = 0.9  # of what was announced, a block
_LONG_WORD = re.compile(rf"[^\W\d_{HAN}]{{4,64}}")
_HAN_RUN = re.compile(rf"[{HAN}]+")
_ANCHORS = 12  # links of a block whose terms are looked for
_LONGEST_READ = 20_000  # characters
_READ = 2000  # characters of a block
_LONG_ANCHOR = 25  # characters
_DEEP = 3


class _Alone(NamedTuple):
    """The numbers of a block that do not depend on what stands around it."""

    size: tuple[float, ...]
    words: tuple[float, ...]
    addresses: tuple[float, ...]
    tags: tuple[float, ...]
    level: tuple[float, ...]
    counts: tuple[float, ...]
    begins: tuple[float, ...]
    holds: tuple[float, ...]
    link_words: tuple[float, ...]
    announces: tuple[bool, ...]  # what a few words may be the heading of, see _SINCE


def kind_features(blocks: PageBlocks) -> Floats:
    """Return the numbers of each block, in the order of :data:`FEATURES`."""
    count = len(blocks)
    own = np.zeros((count, len(_OWN)), dtype=np.float32)
    texts = Counter(blocks.text(index) for index in range(count))
    around = Counter(blocks.around(index) for index in range(count))
    shapes = [blocks.shape(index) for index in range(count)]
    alike = Counter(shapes)
    terms = _terms_said(blocks)
    totals = [0, *accumulate(blocks.text_chars)]
    since = [0.0] * len(_SINCE)
    under, heading = _NO_HEADING, -1
    for index in range(count):
        alone = _alone(blocks, index)
        area, level = blocks.areas[index], blocks.levels[index]
        since = [
            1.0 if announced or area == _AREAS_OF[kind] else _FADING * value
            for kind, announced, value in zip(_SINCE, alone.announces, since, strict=True)
        ]
        if index and not level and area != blocks.areas[index - 1]:
            under, heading = _NO_HEADING, -1
        own[index] = (
            *_place(blocks, index, totals),
            *_headline(blocks, index),
            *alone.size,
            *alone.words,
            *_links(blocks, index, terms),
            *alone.addresses,
            log1p(around[blocks.around(index)]),
            log1p(alike[shapes[index]]),
            texts[blocks.text(index)] > 1 and blocks.chars[index] > 0,
            *alone.tags,
            *alone.level,
            *alone.counts,
            *(area == one for one in _AREAS),
            *alone.begins,
            *alone.holds,
            *alone.link_words,
            *under,
            log1p(index - heading) if heading >= 0 else 0.0,
            *since,
        )
        if level:
            under, heading = alone.begins, index
    page = (
        blocks.is_topic_page,
        log1p(count),
        log1p(sum(blocks.links)),
        log1p(sum(blocks.text_chars)),
    )
    short = own[:, [_COLUMN[name] for name in _SHORT]]
    return np.hstack(
        [
            own,
            np.tile(np.array(page, dtype=np.float32), (count, 1)),
            *(_shifted(short, offset) for offset in _OFFSETS),
        ]
    )


def _shifted(values: Floats, offset: int) -> Floats:
    result = np.zeros_like(values)
    if offset < 0:
        result[-offset:] = values[:offset]
    else:
        result[:-offset] = values[offset:]
    return result


def _alone(blocks: PageBlocks, index: int) -> _Alone:
    """Return the numbers of a block by itself; those of a block of several levels are kept."""
    facts = blocks.facts[index]
    if facts.numbers is None:
        text, level = blocks.text(index), blocks.levels[index]
        facts.numbers = _Alone(
            size=_size(blocks, index),
            words=_words(text[:_READ]),
            addresses=_addresses(facts, blocks.url),
            tags=_tags(blocks, index),
            level=(level > 0, level == 1, level == 2, level == 3, 4 <= level <= 6, level == 7),
            counts=tuple(log1p(facts.count(name)) for name in _COUNTED),
            begins=tuple(begins_with(kind, text) for kind in _BEGINS),
            holds=tuple(holds(kind, text[:_READ]) for kind in _HOLDS),
            link_words=tuple(facts.share_of_words(kind) for kind in _LINK_WORDS),
            announces=tuple(
                facts.chars < LONGEST_HEADING and begins_with(kind, text) for kind in _SINCE
            ),
        )
    return cast(_Alone, facts.numbers)


def _place(blocks: PageBlocks, index: int, totals: Sequence[int]) -> tuple[float, ...]:
    count, whole = len(blocks), max(totals[-1], 1)
    return (
        index / count,
        log1p(count - 1 - index),
        totals[index] / whole,
        1 - totals[index + 1] / whole,
        blocks.is_middle(index),
        blocks.is_near(index),
        blocks.is_before_middle(index),
        blocks.is_in_content(index),
    )


def _headline(blocks: PageBlocks, index: int) -> tuple[float, ...]:
    distance = index - blocks.headline if blocks.headline >= 0 else 0
    agrees = blocks.agreement(index) if 0 < blocks.chars[index] < 300 else 0.0
    return (
        index == blocks.headline,
        blocks.headline >= 0,
        log1p(distance) if distance > 0 else 0.0,
        log1p(-distance) if distance < 0 else 0.0,
        agrees,
    )


def _size(blocks: PageBlocks, index: int) -> tuple[float, ...]:
    text, links, chars = blocks.text(index), blocks.links[index], blocks.chars[index]
    han = has_han(text)
    weight = HAN_FACTOR if han else 1
    link_chars = chars - blocks.text_chars[index]
    return (
        log1p(chars * weight),
        log1p(blocks.text_chars[index] * weight),
        log1p(links),
        link_chars / chars if chars else float(links > 0),
        log1p(weight * link_chars / links) if links else 0.0,
        blocks.is_link_block(index),
        not chars,
        han,
    )


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[float, ...]:
    size = max(len(text), 1)
    capitals = sum(map(str.isupper, text))
    return (
        log1p(sum(1 for _ in _SENTENCE.finditer(text))),
        sum(map(str.isdigit, text)) / size,
        capitals / size,
        _DATE.search(text) is not None,
        _TIME.search(text) is not None,
        log1p(text.count("?") + text.count("？")),
        log1p(sum(1 for _ in _WORD.finditer(text))),
    )


def _links(blocks: PageBlocks, index: int, terms: Set[str]) -> tuple[float, float, float]:
    """Return how much the texts of links say of what the page says."""
    if not blocks.links[index]:
        return 0.0, 0.0, 0.0
    said = [_share_said(anchor, terms) for anchor in blocks.facts[index].anchors[:_ANCHORS]]
    if not said:
        return blocks.share_topical(index), 0.0, 0.0
    return blocks.share_topical(index), sum(said) / len(said), max(said)


def _addresses(facts: BlockFacts, url: str) -> tuple[float, ...]:
    """Return where the links of a block lead, as shares of them, and how long their texts are."""
    if not facts.links:
        return (0.0,) * len(_ADDRESSES)
    hrefs, anchors = facts.hrefs, facts.anchors
    count = max(len(hrefs), 1)
    shapes = [_address(href.strip()[:300], url) for href in hrefs]
    leave, *others = (sum(shape[part] for shape in shapes) / count for part in range(6))
    long = (len(text) * (HAN_FACTOR if has_han(text) else 1) > _LONG_ANCHOR for text in anchors)
    return (
        leave,
        facts.leads_to_front,
        *others,
        sum(long) / count,
        sum(href.startswith("mailto:") for href in hrefs) / count,
    )


def _terms_said(blocks: PageBlocks) -> Set[str]:
    """Return the terms of the text near the middle of the page, its links left out."""
    found: set[str] = set()
    for index in range(len(blocks)):
        if blocks.is_near(index) and not blocks.is_link_block(index):
            found.update(_terms(blocks.text(index)[:_LONGEST_READ]))
    return found


@lru_cache(maxsize=4096)
def _terms(text: str) -> Set[str]:
    found = set(_LONG_WORD.findall(text.lower()))
    for run in _HAN_RUN.findall(text):
        found.update(run[i : i + 2] for i in range(len(run) - 1))
    return found


def _share_said(anchor: str, terms: Set[str]) -> float:
    """Return the share of the terms of a link's text that the page's text has, of two at least."""
    own = _terms(anchor)
    return len(own & terms) / len(own) if len(own) > 1 else 0.0


@lru_cache(maxsize=4096)
def _address(href: str, url: str) -> tuple[bool, bool, bool, bool, bool, bool]:
    """Return whether an address leaves the site, and what it looks like."""
    if href.startswith("#"):
        return False, True, False, False, False, False
    if href[:11].lower() == "javascript:":
        return False, False, True, False, False, False
    try:
        here, there = urlsplit(url), urlsplit(unquote(absolute_url(url, href) or href))
    except ValueError:
        return False, False, False, False, False, False
    folders = [part for part in there.path.split("/") if part]
    last = folders[-1] if folders else ""
    return (
        bool(here.netloc) and there.netloc != here.netloc,
        False,
        False,
        len(folders) >= _DEEP,
        sum(map(str.isdigit, there.path + there.query)) >= 4 or last.count("-") >= 3,
        there.netloc == here.netloc
        and bool(here.path)
        and here.path.rpartition("/")[0] == there.path.rpartition("/")[0],
    )


def _tags(blocks: PageBlocks, index: int) -> tuple[float, ...]:
    tags = blocks.tags_around(index)
    return (
        not tags.isdisjoint(("li", "ul", "ol", "dl")),
        not tags.isdisjoint(("td", "th")),
        "p" in tags,
    )
