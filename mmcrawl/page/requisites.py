"""What a page needs to be displayed: style sheets and what they name, pictures and icons.

Scripts are not included, since replay does not run them; nor are frames, which are pages. The
addresses are those that replay rewrites (:mod:`mmcrawl.archive.rewriting`), found by the same
patterns.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.structured import Declared
from mmcrawl.page.urls import Resolver
from mmcrawl.text.patterns import linear

# Comments are matched so that nothing is found in them; strings but for those of @import likewise.
_ADDRESS = linear(
    rb"""/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)
    | (?P<import>@import\s++)(?P<string>"[^"\n]*+"|'[^'\n]*+')
    | \burl\(\s*+(?P<url>"[^"\n]*+"|'[^'\n]*+'|(?:[^\s"'()\\]++|\\.)++)\s*+\)
    | "(?:[^"\\\n]++|\\.)*+"? | '(?:[^'\\\n]++|\\.)*+'?""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|(\n)|(.))", re.IGNORECASE | re.DOTALL)
_CANDIDATE = re.compile(r"[\s,]*+(\S++)")
_DESCRIPTOR = linear(r"[^,(]*+(?:\([^)]*+\)?[^,(]*+)*+")

_SHEET = "stylesheet"
_ICONS = frozenset("icon apple-touch-icon apple-touch-icon-precomposed mask-icon".split())
_PRELOADED = frozenset("style font image".split())
_ATTRIBUTES = {
    "img": ("src", "lowsrc", "dynsrc"),
    "input": ("src",),  # of a button that is a picture; others have none
    "video": ("poster",),
    **dict.fromkeys(("image", "feimage", "use"), ("href", "xlink:href")),
    "object": ("data",),
    "embed": ("src",),
}
_PLUGGED = frozenset({"object", "embed"})  # pictures only if their type says so
_CANDIDATES = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}


def page_requisites(tree: PageTree, url: str) -> tuple[str, ...]:
    """Return the addresses of what a page needs to be seen, each once: style sheets come first.

    >>> from mmcrawl.page.html.tree import read_tree
    >>> page = b'<img src=a.png srcset="b.png 2x"><link rel=stylesheet href=/c.css><a href=d.htm>'
    >>> page_requisites(read_tree(page), "http://h.test/e/")
    ('http://h.test/c.css', 'http://h.test/e/a.png', 'http://h.test/e/b.png')
    """
    named = *_named_in_sheets(tree), *_named_by_elements(tree)
    return _absolute(named, Declared(tree).resolver(url), url)


def sheet_requisites(sheet: bytes, url: str) -> tuple[str, ...]:
    """Return the addresses that a style sheet names, each once: imports, fonts, pictures."""
    return _absolute(_named_in(sheet, "utf-8"), Resolver(url, "utf-8"), url)


def _absolute(references: Iterable[str], resolver: Resolver, url: str) -> tuple[str, ...]:
    """Return where references lead on the web, but to the document itself, as `#clip` does."""
    written = dict.fromkeys(one.strip() for one in references)
    found = (resolver.address(one) for one in written if one and one[0] != "#")
    own = url.partition("#")[0]
    return tuple(dict.fromkeys(u for u in found if u and u != own and u.startswith("http")))


def _named_in_sheets(tree: PageTree) -> Iterator[str]:
    for node in tree.elements("link", "style"):
        if tree.tags[node] == "style":
            yield from _named_in(tree.raw_content(node).encode("utf-8", "replace"), "utf-8")
        elif _SHEET in tree.attributes(node).get("rel", "").lower().split():
            yield tree.attributes(node).get("href", "")


def _named_by_elements(tree: PageTree) -> Iterator[str]:
    known = tree.elements("link", "source", *_ATTRIBUTES)
    for node in sorted({*known, *tree.mentioning(b"background", b"style")}):
        tag, attributes = tree.tags[node], tree.attributes(node)
        if tag == "link" and _is_shown(attributes):
            yield attributes.get("href", "")
        if tag not in _PLUGGED or attributes.get("type", "").lower().startswith("image/"):
            yield from (attributes[name] for name in _ATTRIBUTES.get(tag, ()) if name in attributes)
        if candidates := attributes.get(_CANDIDATES.get(tag, "")):
            yield from (address for address, _ in srcset_candidates(candidates))
        yield attributes.get("background", "")
        if "url(" in (style := attributes.get("style", "")).lower():
            yield from _named_in(style.encode("utf-8", "replace"), "utf-8")


def _is_shown(link: Mapping[str, str]) -> bool:
    """Whether the element names an icon, or what is preloaded to be shown."""
    relations = link.get("rel", "").lower().split()
    preloaded = "preload" in relations and link.get("as", "").lower() in _PRELOADED
    return preloaded or not _ICONS.isdisjoint(relations)


def srcset_candidates(text: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a ``srcset``, each with its descriptor."""
    place = 0
    while match := _CANDIDATE.match(text, place):
        place = match.end()
        address, descriptor = match[1].rstrip(","), ""
        if address == match[1] and (found := _DESCRIPTOR.match(text, place)):
            descriptor, place = found[0], found.end()
        yield address, descriptor


def rewrite_css(sheet: bytes, encoding: str, rewrite: Callable[[str], str | None]) -> bytes:
    """Return a style sheet with other addresses in ``url()`` and ``@import``.

    Args:
        sheet: As received, or the value of a ``style`` attribute.
        encoding: Python codec name; one in which ASCII is ASCII.
        rewrite: Returns what to write for an address, ASCII without double quotes and
            backslashes, or None to leave it.

    >>> rewrite_css(b"a{background:url( 'b.gif' )}", "utf-8", lambda url: "/r/" + url)
    b'a{background:url("/r/b.gif")}'
    """

    def replaced(match: re.Match[bytes]) -> bytes:
        address = _address_of(match, encoding)
        new = rewrite(address) if address is not None else None
        if new is None:
            return match[0]
        quoted = b'"' + new.encode("ascii", "replace") + b'"'
        return match["import"] + quoted if match["string"] else b"url(" + quoted + b")"

    return _ADDRESS.sub(replaced, sheet)


def _named_in(sheet: bytes, encoding: str) -> Iterator[str]:
    for match in _ADDRESS.finditer(sheet):
        if address := _address_of(match, encoding):
            yield address


def _address_of(match: re.Match[bytes], encoding: str) -> str | None:
    """Return the value of a string or bare address in a sheet; None for a comment or other text."""
    written = match["string"] or match["url"]
    if written is None:
        return None
    text = written.decode(encoding, "replace")
    if text[:1] in ('"', "'"):
        text = text[1:-1]
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    return match[3] or ""
