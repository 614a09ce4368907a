"""What is known of HTML's elements: which are void, which raw, which end which."""

from __future__ import annotations

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
