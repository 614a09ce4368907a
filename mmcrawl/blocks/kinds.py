"""The kind of each block of a page, by the rules of Wang & Zhu 2012, section 3, in readers' terms.

The place of a block counts first: in the middle of the page, near it (in the same article), or in a
bar, box or foot that tags, roles and classes name. Its contents come second: links or text, much or
little, and whose words. Its neighbours come last: a heading has the kind of what it heads.

Text that belongs to no kind of the paper takes the kind of its place: navigation at the head and
the sides, copyright at the foot. So does the line with author and date, which helps the site's
order, not the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmcrawl.blocks.layout.block_words import begins_with, lists_of
from mmcrawl.blocks.layout.features import LONGEST_HEADING, PageFeatures
from mmcrawl.blocks.page_blocks import PageBlocks
from mmcrawl.text.words import has_han

Judgement = tuple[str, float]
"""Kind and score."""

PAPER_KINDS = (
    "title",
    "topic",
    "related-links",
    "navigation",
    "advertisement",
    "copyright",
    "image",
    "noise-links",
    "small",
)
"""The kinds of the paper, which the rules tell apart."""

KINDS = (*PAPER_KINDS, "comments")
"""All kinds; the last one only the model of :mod:`mmcrawl.blocks.kind_model` tells."""

KEPT = frozenset({"title", "topic", "related-links", "image", "small"})
"""Kinds of what the page is there for."""

_OF_TEXT = KEPT - {"related-links"}
_SURE, _LIKELY, _GUESSED = 0.9, 0.7, 0.4
TOPIC_CHARS = 80
"""Characters of text that a topic block has; a Chinese one counts three times."""

HAN_FACTOR = 3
"""Latin characters that say what a Chinese one says."""

_LONGEST_NOTICE = 400
_BYLINE, _BYLINE_DISTANCE = 120, 4  # characters, blocks behind the headline
# Each alternative begins with one of a few characters, so others are skipped at once.
DATE = re.compile(
    r"\d{4}\s?[-/.年]\s?\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|(?:19|20)(?<=\b..)\d\d\b"
)
_NUMBER = re.compile(r"\d")  # of readers, of comments
_SENTENCE = re.compile(r"。|[.!?！？：:]\Z")
_ITEMS_OF_LIST = 3
_ALL_WORDS = 0.5  # share of links that are words of a list


def judge(blocks: PageBlocks) -> list[Judgement]:
    """Return kind and score of each block of a page."""
    found: list[Judgement] = []
    heading = ""
    for index, level in enumerate(blocks.levels):
        if level:
            heading = blocks.texts[index]
        elif index and blocks.areas[index] != blocks.areas[index - 1]:
            heading = ""
        found.append(_kind(blocks, index, heading))
    _settle_lists_in_text(blocks, found)
    _settle_headings(blocks, found)
    _settle_repeated(blocks, found)
    return found


# ---------------------------------------------------------------- one block


def _kind(blocks: PageBlocks, index: int, heading: str) -> Judgement:
    """Judge a block by itself, and by the heading above it."""
    named = _named_kind(blocks, index, heading)
    if named:
        return named
    if not blocks.chars[index]:
        return _wordless(blocks, index)
    if _leads_onward(blocks, index):
        return "related-links", _LIKELY
    if blocks.areas[index] in ("side", "foot", "head") and not _is_long_text(blocks, index):
        return _in_bar(blocks, index, heading)
    if blocks.is_links[index]:
        return _link_block(blocks, index, heading)
    return _text_block(blocks, index)


def _named_kind(blocks: PageBlocks, index: int, heading: str) -> Judgement | None:
    """Return the kind of a block if its tags, classes or words state it."""
    area = blocks.areas[index]
    if index == blocks.headline:
        return "title", _SURE
    if area == "advertisement":
        return "advertisement", _SURE
    if area in ("comments", "noise") and not _is_purpose(blocks, index, heading):
        return "noise-links", _SURE
    if _is_notice(blocks, index):
        return "copyright", _SURE
    if area in ("navigation", "meta") and not _is_long_text(blocks, index):
        return "navigation", _SURE
    is_cloud = area == "tags" and not blocks.is_near[index] and index not in blocks.purpose
    return ("noise-links", _LIKELY) if is_cloud else None


def _wordless(blocks: PageBlocks, index: int) -> Judgement:
    """Judge pictures, flash, icons and controls: a picture in the middle is no noise."""
    near = blocks.is_near[index]
    if blocks.counts("images")[index]:
        if near or not blocks.links[index]:
            return "image", _LIKELY if near else _GUESSED
        return "advertisement", _LIKELY
    if blocks.counts("flash")[index]:
        return ("topic", _GUESSED) if near else ("advertisement", _LIKELY)
    return ("navigation", _LIKELY) if blocks.links[index] else ("small", _GUESSED)


def _in_bar(blocks: PageBlocks, index: int, heading: str) -> Judgement:
    """Judge a block in a side bar, at the head or at the foot."""
    area, is_links = blocks.areas[index], blocks.is_links[index]
    if area == "foot" and not is_links:
        return "copyright", _GUESSED
    if begins_with("noise", heading) or blocks.share_of_words("noise", index) >= _ALL_WORDS:
        return "noise-links", _SURE
    if area == "side" and is_links:
        related = begins_with("related", heading)
        return ("related-links", _LIKELY) if related else ("noise-links", _GUESSED)
    return "navigation", _LIKELY


def _link_block(blocks: PageBlocks, index: int, heading: str) -> Judgement:
    """Judge links in the middle of the page, near it, or where nothing names a bar."""
    worded = _worded_links(blocks, index, heading)
    if worded:
        return worded
    if blocks.is_middle[index]:
        return "related-links", _LIKELY
    if blocks.is_before_middle[index]:
        return "navigation", _LIKELY
    if blocks.is_topical(index):
        return "related-links", _LIKELY
    is_list = blocks.is_near[index] and not blocks.is_topic_page
    is_list = is_list or blocks.is_in_content(index)
    return ("related-links" if is_list else "noise-links"), _GUESSED


def _worded_links(blocks: PageBlocks, index: int, heading: str) -> Judgement | None:
    """Return the kind of a block of links if its words, or those above it, state it."""
    text = blocks.texts[index]
    label = text.replace("：", ":").partition(":")[0]
    above = (heading, label)
    own = blocks.is_topic_page and blocks.is_near[index]
    own_tags = own and any("tags" in lists_of(words) for words in above)
    if not own_tags and any("navigation" in lists_of(words) for words in above):
        return "navigation", _SURE
    for kind, name in (("navigation", "navigation"), ("noise", "noise-links")):
        if blocks.share_of_words(kind, index) >= _ALL_WORDS:
            return name, _SURE
    if not _is_purpose(blocks, index, heading):
        if begins_with("noise", heading) or "noise" in blocks.begun[index]:
            return "noise-links", _SURE
        if _is_partner_list(blocks, index):
            return "noise-links", _LIKELY
    named = own_tags or blocks.areas[index] in ("related", "tags")
    if named or begins_with("related", heading) or "related" in blocks.begun[index]:
        return "related-links", _SURE
    return None


def _text_block(blocks: PageBlocks, index: int) -> Judgement:
    """Judge text by its place and length."""
    text = blocks.texts[index]
    if len(text) < LONGEST_HEADING and "advertisement" in blocks.begun[index]:
        return "advertisement", _LIKELY
    if is_byline(blocks, index) or blocks.is_forwarding:
        return "navigation", _LIKELY
    size = blocks.text_chars[index] * _weight(text)
    if blocks.is_near[index]:
        middle = blocks.is_middle[index]
        if size >= TOPIC_CHARS:
            return "topic", _SURE if middle else _LIKELY
        return "small", _LIKELY if middle else _GUESSED
    if size >= 2 * TOPIC_CHARS:
        # Beside an article, text with a link in it announces another one.
        elsewhere = blocks.is_topic_page and blocks.links[index] > 0
        return ("noise-links" if elsewhere else "topic"), _GUESSED
    return ("navigation" if blocks.is_before_middle[index] else "copyright"), _GUESSED


def _is_long_text(blocks: PageBlocks, index: int) -> bool:
    """Whether a block is text in the middle of the page, without links: no part of a bar."""
    if not blocks.is_middle[index] or blocks.links[index]:
        return False
    return blocks.text_chars[index] * _weight(blocks.texts[index]) >= 2 * TOPIC_CHARS


def _weight(text: str) -> int:
    return HAN_FACTOR if has_han(text) else 1


def _is_purpose(blocks: PageBlocks, index: int, heading: str) -> bool:
    """Whether links, whatever they are called, are what the page is there for."""
    return index in blocks.purpose or (bool(heading) and blocks.is_of_title(heading))


def _leads_onward(blocks: PageBlocks, index: int) -> bool:
    """Whether a block in the middle is the link to the page that the lines before it announce."""
    if not blocks.links[index] or not blocks.is_near[index]:
        return False
    return blocks.share_of_words("onward", index) >= _ALL_WORDS


def _is_partner_list(blocks: PageBlocks, index: int) -> bool:
    """Whether a block outside of the text is several links, all to other sites and topics."""
    in_text = blocks.is_topic_page and blocks.is_in_content(index)
    if in_text or blocks.is_middle[index] or blocks.links[index] < 2:
        return False
    return blocks.links_in.all_leave(index) and not blocks.is_topical(index)


def is_byline(blocks: PageBlocks, index: int) -> bool:
    """Whether a block is the line with author and date, a little behind the headline."""
    distance, text = index - blocks.headline, blocks.texts[index]
    if blocks.headline < 0 or not 0 < distance <= _BYLINE_DISTANCE or len(text) > _BYLINE:
        return False
    if _SENTENCE.search(text) or not blocks.holds("byline")[index]:
        return False
    return bool(DATE.search(text)) or (
        "byline" in blocks.begun[index] and bool(_NUMBER.search(text))
    )


def is_dated(blocks: PageBlocks, index: int) -> bool:
    """Whether a block is a short line with a date, without links."""
    text = blocks.texts[index]
    return not blocks.links[index] and len(text) <= _BYLINE and DATE.search(text) is not None


def _is_notice(blocks: PageBlocks, index: int) -> bool:
    """Whether a block is a notice of rights: few words, some of them telling, at the end."""
    if not 0 < blocks.chars[index] <= _LONGEST_NOTICE:
        return False
    at_end = blocks.areas[index] == "foot" or blocks.is_at_end(index)
    return at_end and blocks.holds("copyright")[index]


# ---------------------------------------------------------------- blocks among each other


def _settle_lists_in_text(blocks: PageBlocks, found: list[Judgement]) -> None:
    """Make a list of links, or a single link, part of a text that follows in the same element."""
    if not blocks.is_topic_page:
        return
    text_follows: set[int] = set()
    for index in range(len(found) - 1, -1, -1):
        if not blocks.is_middle[index]:
            continue
        around = blocks.around(index)
        if found[index][0] == "topic":
            text_follows.add(around)
        elif found[index] == ("related-links", _LIKELY) and (
            around in text_follows or _is_lone_link(blocks, index)
        ):
            found[index] = ("small", _LIKELY)


def _is_lone_link(blocks: PageBlocks, index: int) -> bool:
    """Whether a block is one link, and none of three in a row: a list cut into its items."""
    if blocks.links[index] != 1:
        return False
    first = index
    while first > max(index - 2, 0) and blocks.is_links[first - 1]:
        first -= 1
    after = index + 1
    while after < min(index + 3, len(blocks)) and blocks.is_links[after]:
        after += 1
    return after - first < _ITEMS_OF_LIST


def _settle_headings(blocks: PageBlocks, found: list[Judgement]) -> None:
    """Make each heading the title of the text behind it, or part of the links behind it."""
    following = -1
    for index in range(len(found) - 1, -1, -1):
        if index == blocks.headline:
            following = -1
            continue
        if blocks.levels[index] and (found[index][0] in KEPT or found[index][1] == _GUESSED):
            found[index] = _heading(blocks, index, following, found)
        if blocks.areas[index] != "meta" and blocks.chars[index]:
            following = index


def _heading(blocks: PageBlocks, index: int, following: int, found: list[Judgement]) -> Judgement:
    if following < 0:
        return found[index] if found[index][0] == "related-links" else ("small", _GUESSED)
    if found[following][0] in _OF_TEXT:
        return "title", _LIKELY
    if blocks.links[index] and found[following][0] not in KEPT and found[index][0] in KEPT:
        return found[index]  # a teaser's: what it leads to is no part of the bar below it
    if blocks.is_middle[index] == blocks.is_middle[following]:
        return found[following][0], _LIKELY
    return found[index]


def _settle_repeated(blocks: PageBlocks, found: list[Judgement]) -> None:
    """Make what is in a bar, too, part of the bars: layouts repeat boxes for narrow screens."""
    barred = {blocks.texts[i]: kind for i, kind in enumerate(found) if kind[0] not in KEPT}
    barred.pop("", None)
    for index, (name, _) in enumerate(found):
        free = index == blocks.headline or blocks.is_middle[index] or index in blocks.purpose
        if name in KEPT and not free and not blocks.is_in_content(index):
            found[index] = barred.get(blocks.texts[index], found[index])


class BlockKind(NamedTuple):
    """The kind of a block, and how surely it is of it, in (0, 1]."""

    name: str
    score: float


def block_kinds(page: PageFeatures, blocks: Sequence[range]) -> list[BlockKind]:
    """Return the kind of each block, given as ranges of nodes, in order and not overlapping."""
    return [BlockKind(*found) for found in judge(PageBlocks(page, blocks))]
