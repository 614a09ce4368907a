"""What a page says of itself: title, description, structured data (schema.org, Open Graph).

Title or metadata repeat the headline; below it may stand what readers wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmcrawl.blocks.content.parts import SOFT_HYPHEN
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.page.html.tags import BLOCK_TAGS, HEADINGS
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.structured import Declared
from mmcrawl.text.words import has_han

_TYPE = re.compile(r'"@type"\s*:\s*"([A-Za-z]{3,40})"')
_TYPE_GROUPS = (
    "article newsarticle blogposting reportagenewsarticle opinionnewsarticle "
    "analysisnewsarticle liveblogposting report",
    "discussionforumposting qapage question comment",
    "product productgroup book vehicle",
    "itemlist collectionpage searchresultspage offercatalog",
    "faqpage",
    "techarticle howto apireference",
    "organization localbusiness service website webpage",
    "recipe",
    "course event movie person",
)
_GROUP_OF = {name: i for i, group in enumerate(_TYPE_GROUPS) for name in group.split()}
_HEADLINES = ("og:title", "twitter:title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description")
_OG_TYPES = ("article", "product", "website")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\(.)", re.DOTALL)
_LONGEST_DATA = 300_000

_SEPARATOR = re.compile(r"\s{1,99}[|·•»:—–-]\s+|[_|｜ㅣ]|\s{0,99}--\s*")
_HOME = re.compile(r"(?:https?:)?(?://[^/?#]+)?(?:/|\./)?(?:index\.\w{3,5})?", re.IGNORECASE)
_LONGEST = 300  # characters of a headline
_AROUND_LINKS = (BLOCK_TAGS - HEADINGS) | {"a"}
_PERMALINK = " ¶\uf0c1"
_CONTROLS = HEADINGS | {"button", "label", "legend", "form", "textarea", "time"}
_LEAST_WORDS = 4  # "Reply", "3 days ago" and most names have fewer
_LEAST_HAN = 6
_MOST_LINKED = 0.5


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """A page's own words about itself.

    Attributes:
        types: Which groups of schema.org and Open Graph types it names: 1.0 or 0.0 each.
    """

    title: str  # of the head, white space collapsed
    headline: str  # as structured data and Open Graph give it, "" when none does
    description: str  # meta and Open Graph descriptions
    data: str  # the text of its JSON-LD, escapes resolved
    types: tuple[float, ...]


def page_metadata(tree: PageTree) -> PageMetadata:
    """Read the metadata of a page."""
    said = Declared(tree)
    headlines = (content for name, content in said.metas if name in _HEADLINES)
    descriptions = [content for name, content in said.metas if name in _DESCRIPTIONS]
    text = "\n".join(script[:_LONGEST_DATA] for _, script in said.scripts)
    named = {_GROUP_OF.get(name.lower()) for name in _TYPE.findall(text)}
    types = [float(i in named) for i in range(len(_TYPE_GROUPS))]
    *_, og_type = "", *map(str.lower, said.meta("og:type"))
    types += [float(name in og_type) for name in _OG_TYPES]
    return PageMetadata(
        title=said.title,
        headline=next(headlines, ""),
        description="\n".join(descriptions),
        data=_unescaped(text),
        types=(*types, float(bool(text)), float(bool(descriptions))),
    )


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return {"n": " ", "t": " ", "r": ""}.get(escape[2], escape[2])


def page_headline(tree: PageTree, lines: PageLines, prose: int, metadata: PageMetadata) -> str:
    """Return the headline of a page, "" if nothing is one.

    The longest main heading that the page's title repeats; else the last main heading before the
    prose, or the first, of those that share half of their words with the title if any does; else
    the heading that metadata gives; else the title without the site's name. A heading that leads to
    the start page names the site.

    Args:
        prose: The element that holds most of the prose, an index into the tree.
    """
    title = " ".join(metadata.title.split())
    headings = [
        (first, tree.tags[container], text)
        for first, container, text in zip(lines.firsts, lines.containers, lines.texts, strict=True)
        if tree.tags[container] in ("h1", "h2", "h3") and not _leads_home(tree, first)
    ]
    main = [(first, text) for first, tag, text in headings if tag == "h1" and len(text) <= _LONGEST]
    in_title = [text for _, text in main if len(text) > 3 and _in(text, title)]
    if in_title:
        return max(in_title, key=len)
    if main:
        words = _words(f"{title} {metadata.headline}")
        like = [one for one in main if 2 * len(words & (own := _words(one[1]))) >= len(own) > 0]
        before = [text for first, text in like or main if first < tree.after[prose]]
        return before[-1] if before else (like or main)[0][1]
    given = "" if metadata.headline == title else metadata.headline
    for _, tag, text in headings:
        # Metadata may give it with the site's name.
        if (
            tag != "h1"
            and len(text) > 3
            and _in(text, given or title)
            and (not given or _SEPARATOR.match(given, len(text)))
        ):
            return text
    return given or _without_site(title)


def _leads_home(tree: PageTree, node: int) -> bool:
    """Whether a text is the link to the start page of its site."""
    while node > 0 and tree.tags[node] not in _AROUND_LINKS:
        node = tree.parents[node]
    href = tree.attributes(node).get("href") if tree.tags[node] == "a" else None
    return bool(href and _HOME.fullmatch(href))


def _words(text: str) -> set[str]:
    """Return the words that tell: short ones are articles and the like."""
    return set(re.findall(r"\w{4,}", text.casefold()))


def _in(text: str, title: str) -> bool:
    return text.casefold() in title.casefold()


def as_read(headline: str) -> str:
    """Return a headline as it is read: without the mark of a link to it."""
    return headline.replace(SOFT_HYPHEN, "").rstrip(_PERMALINK) or headline


def _without_site(title: str) -> str:
    """Return the longest part of a title between its separators."""
    parts = [part.strip() for part in _SEPARATOR.split(title) if part.strip()]
    if len(parts) < 2:
        return title
    longest = max(parts, key=len)
    return longest if len(longest) * 2 > len(title) or len(parts[0]) < 4 else parts[0]


def comments_of(
    tree: PageTree, measures: Measures, lines: PageLines, among: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return the paragraphs of comments among some lines that are no part of the text."""
    found: dict[str, None] = {}
    for row in np.flatnonzero(among).tolist():
        text, container = lines.texts[row], lines.containers[row]
        words = len(text) // _LEAST_HAN * _LEAST_WORDS if has_han(text) else text.count(" ") + 1
        if (
            words < _LEAST_WORDS
            or tree.tags[container] in _CONTROLS
            or tree.tags[tree.parents[container]] == "form"
        ):
            continue
        first, after = lines.firsts[row], lines.afters[row]
        if measures.link_chars[after] - measures.link_chars[first] <= _MOST_LINKED * len(text):
            found[text] = None
    return tuple(found)
