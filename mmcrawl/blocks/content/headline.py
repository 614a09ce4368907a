"""The headline of a page: a heading that its title or its metadata repeats, or what is left."""

from __future__ import annotations

import re

from mmcrawl.blocks.content.metadata import PageMetadata
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.rendering.parts import SOFT_HYPHEN
from mmcrawl.blocks.tree import PageTree

_SEPARATOR = re.compile(r"\s{1,99}[|·•»:—–-]\s+|[_|｜]|\s{0,99}--\s*")
_LONGEST = 300  # characters of a headline
_PERMALINK = " ¶\uf0c1"


def page_headline(tree: PageTree, lines: PageLines, prose: int, metadata: PageMetadata) -> str:
    """Return the headline of a page, "" if nothing is one.

    A main heading that the page's title repeats; else the last main heading before the prose, or
    the first; else the heading that metadata gives; else the title without the site's name.

    Args:
        tree, lines: The page.
        prose: The element that holds most of the prose, an index into the tree.
        metadata: Of the page.
    """
    title = " ".join(metadata.title.split())
    main = [
        (first, text)
        for first, container, text in zip(lines.firsts, lines.containers, lines.texts, strict=True)
        if tree.tags[container] == "h1" and len(text) <= _LONGEST
    ]
    for _, text in main:
        if len(text) > 3 and _in(text, title):
            return text
    if main:
        before = [text for first, text in main if first < tree.after[prose]]
        return before[-1] if before else main[0][1]
    lower = [
        text
        for container, text in zip(lines.containers, lines.texts, strict=True)
        if tree.tags[container] in ("h2", "h3") and len(text) > 3
    ]
    given = metadata.headline
    if not given:
        return next((text for text in lower if _in(text, title)), _without_site(title))
    for text in lower:  # metadata may give it with the site's name
        if _in(text, given) and _SEPARATOR.match(given, len(text)):
            return text
    return given


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
