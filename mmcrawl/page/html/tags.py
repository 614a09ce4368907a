"""HTML's elements (which are void, which raw, which end which) and the tokens of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmcrawl.text.patterns import linear

VOID = frozenset(
    """
    area base basefont bgsound br col embed frame hr img input isindex keygen link meta param source
    track wbr
    """.split()
)
RAW = frozenset("script style textarea title xmp iframe noembed".split())
"""Elements whose content is text up to their end tag."""

HEAD_TAGS = frozenset(
    """
    base basefont bgsound link meta noscript script style template title
    """.split()
)
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
HIDDEN = frozenset(
    """
    head script style noframes noembed iframe template object applet svg math select option datalist
    textarea title canvas audio video map
    """.split()
)
"""Elements whose text is not read as text of the page (for noscript, see the measures)."""

FORMATTING = frozenset(
    """
    a abbr b big cite code em font i kbd nobr s samp small span strike strong sub sup tt u var
    """.split()
)
_BLOCKS_THAT_END_A_PARAGRAPH = """
    address article aside blockquote center details dialog dir div dl fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary
    table ul
"""
BLOCK_TAGS = frozenset(
    f"""
    {_BLOCKS_THAT_END_A_PARAGRAPH} li dt dd caption tr td th thead tbody tfoot body html head
    frameset frame noframes iframe marquee legend option optgroup select textarea
    """.split()
)
"""Elements that begin a line of their own."""

SPECIAL = BLOCK_TAGS | frozenset("button object applet template noscript svg math title".split())
"""Elements that an end tag of an inline element does not reach across."""

SCOPES = frozenset("table td th caption object applet marquee template html".split())
"""Elements that most end tags do not reach across (HTML, "has an element in scope")."""

_TABLE = frozenset("table template html".split())
_LIST = SCOPES | frozenset("ul ol menu dir".split())
_CELL = frozenset("td th".split())
_ROW = frozenset("tr td th".split())
_ROW_GROUP = frozenset("thead tbody tfoot tr td th caption colgroup".split())

# Start tag: (the open elements it ends, the elements it does not look beyond).
CLOSED_BY: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    **{
        tag: (frozenset("p".split()), SCOPES | frozenset("button".split()))
        for tag in _BLOCKS_THAT_END_A_PARAGRAPH.split()
    },
    "li": (frozenset("li".split()), _LIST),
    "dt": (frozenset("dt dd".split()), SCOPES | frozenset("dl".split())),
    "dd": (frozenset("dt dd".split()), SCOPES | frozenset("dl".split())),
    "option": (frozenset("option".split()), SCOPES | frozenset("select datalist optgroup".split())),
    "optgroup": (frozenset("option optgroup".split()), SCOPES | frozenset("select".split())),
    "td": (_CELL, _TABLE),
    "th": (_CELL, _TABLE),
    "tr": (_ROW, _TABLE),
    "thead": (_ROW_GROUP, _TABLE),
    "tbody": (_ROW_GROUP, _TABLE),
    "tfoot": (_ROW_GROUP, _TABLE),
}

KNOWN = (
    BLOCK_TAGS
    | FORMATTING
    | VOID
    | RAW
    | HIDDEN
    | frozenset(
        """
        acronym audio bdi bdo blink button colgroup data del dfn img ins label legend meter output
        picture progress q rp rt ruby slot time
        """.split()
    )
)
"""HTML's own elements: ``/>`` does not end them."""

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
    """Yield the tokens of a page by windows; one cut by the end is read again in the next."""
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
