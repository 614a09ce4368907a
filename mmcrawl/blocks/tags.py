"""What is known of HTML's elements: which are void, which raw, which end which."""

from __future__ import annotations

from mmcrawl.page.names import names

VOID = names(
    "area base basefont bgsound br col embed frame hr img input isindex keygen link meta param "
    "source track wbr"
)
RAW = names("script style textarea title xmp iframe noembed")
"""Elements whose content is text up to their end tag."""

HEAD_TAGS = names("base basefont bgsound link meta noscript script style template title")
HEADINGS = names("h1 h2 h3 h4 h5 h6")
HIDDEN = names(
    "head script style noframes noembed iframe template object applet svg math "
    "select option datalist textarea title canvas audio video map"
)
"""Elements whose text is not read as text of the page (for noscript, see the measures)."""

FORMATTING = names(
    "a abbr b big cite code em font i kbd nobr s samp small span strike strong sub sup tt u var"
)
_BLOCKS_THAT_END_A_PARAGRAPH = (
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr main menu nav ol p pre search section summary "
    "table ul"
)
BLOCK_TAGS = names(
    _BLOCKS_THAT_END_A_PARAGRAPH
    + " li dt dd caption tr td th thead tbody tfoot body html head frameset frame noframes iframe "
    "marquee legend option optgroup select textarea"
)
"""Elements that begin a line of their own."""

SPECIAL = BLOCK_TAGS | names("button object applet template noscript svg math title")
"""Elements that an end tag of an inline element does not reach across."""

SCOPES = names("table td th caption object applet marquee template html svg")
"""Elements that most end tags do not reach across (HTML, "has an element in scope")."""

_TABLE = names("table template html")
_LIST = SCOPES | names("ul ol menu dir")
_CELL = names("td th")
_ROW = names("tr td th")
_ROW_GROUP = names("thead tbody tfoot tr td th caption colgroup")

# Start tag: (the open elements it ends, the elements it does not look beyond).
CLOSED_BY: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    **{tag: (names("p"), SCOPES | names("button")) for tag in _BLOCKS_THAT_END_A_PARAGRAPH.split()},
    "li": (names("li"), _LIST),
    "dt": (names("dt dd"), SCOPES | names("dl")),
    "dd": (names("dt dd"), SCOPES | names("dl")),
    "option": (names("option"), SCOPES | names("select datalist optgroup")),
    "optgroup": (names("option optgroup"), SCOPES | names("select")),
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
    | names(
        "acronym audio bdi bdo blink button colgroup data del dfn img ins label legend meter "
        "output picture progress q rp rt ruby slot time"
    )
)
"""HTML's own elements: ``/>`` does not end them."""
