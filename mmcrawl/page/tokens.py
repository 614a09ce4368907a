"""The tokens of a page: tags, raw elements, comments and the text between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmcrawl.page.tags import RAW
from mmcrawl.text.patterns import linear

# A start or end tag (a quote counts only behind "=", an unfinished tag reaches to the end of the
# page), a raw element with all it holds, a comment, a declaration, a run of text: every byte of a
# page is in one of them. Possessive: never read twice.
_ATTRIBUTES = (
    rb"""(?:[^>=]++|=[\s]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s>"'][^\s>]*+)?+)*+(?:>|\Z)"""
)
# React writes <noscript><iframe /></noscript>: for a browser with scripts all of it is one text.
_NO_IFRAME = rb"(?![^>]*+>\s*+</(?i:noscript)[\s>])"
_RAW_ELEMENT = b"|".join(
    rb"%(name)b(?=[\s/>])%(but)b%(attributes)b"
    rb"[^<]*+(?:<(?!/%(name)b[\s/>])[^<]*+)*+(?:</[^>]*+(?:>|\Z)|\Z)"
    % {
        b"name": b"(?i:%b)" % tag.encode(),
        b"attributes": _ATTRIBUTES,
        b"but": _NO_IFRAME if tag == "iframe" else b"",
    }
    for tag in sorted(RAW)
)
_RAW_INITIALS = "".join(sorted({tag[0] for tag in RAW})).encode()
TOKEN = linear(
    rb"<(?:/[a-zA-Z][^\s/>]*+" + _ATTRIBUTES +
    rb"|(?=[%b%b])(?:%b)" % (_RAW_INITIALS, _RAW_INITIALS.upper(), _RAW_ELEMENT) +
    rb"|[a-zA-Z][^\s/>]*+" + _ATTRIBUTES +
    rb"|!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|[!?/][^>]*+(?:>|\Z))"
    rb"|(?:[^<]++|<(?![a-zA-Z!?/]))++",
    re.DOTALL,
)  # fmt: skip
NAME = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)")
START_TAG = linear(rb"<[a-zA-Z][^\s/>]*+" + _ATTRIBUTES)
FINISHED = linear(
    rb"""<[a-zA-Z][^\s/>]*+(?:[^>=]++|=[\s]*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+|(?=>)))*+>"""
)
"""A start tag that does not go on to the end of the page, where browsers drop it."""
END_OF_RAW = {tag: re.compile(rb"</(?i:%b)(?=[\s/>])" % tag.encode()) for tag in sorted(RAW)}
_WINDOW = 1 << 18  # bytes whose tokens are in memory at once


def windows(markup: bytes, start: int) -> Iterator[list[bytes]]:
    """Yield the tokens of a page, those of a window at a time.

    The token that a window ends in may be longer: it is read again, from the next one.
    """
    size = _WINDOW
    while start < len(markup):
        end = start + size
        tokens = TOKEN.findall(markup, start, end)
        if end < len(markup):
            end -= len(tokens.pop())
            size = _WINDOW if tokens else 2 * size
        start = min(end, len(markup)) if tokens else start
        if tokens:
            yield tokens
