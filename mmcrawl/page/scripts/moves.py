"""Where a browser goes from a page without a click: refreshes, and what scripts do at once.

A move is certain if every browser makes it within a minute. Other moves (for mobile phones, for a
page inside a frame, for browsers without scripts) count as links at most.

Scripts run in QuickJS, in a process of their own (:mod:`.sandbox`), which may die. Their browser is
``browser.js``; it knows of the page what the question says. No script is fetched: what another file
would define is unknown. So a page is visited by readers who differ in what it may ask for, and a
move is certain if the first two make it.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from os import getpid
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mmcrawl.page.html.building import ROOT, TEXT
from mmcrawl.page.html.tags import RAW
from mmcrawl.page.html.tree import PageTree
from mmcrawl.page.looks import Attributes
from mmcrawl.store.child_process import ChildProcess

_AT_ONCE = 60.0
"""Seconds; who is to read a page for longer than that is not moved."""
_MOST = 5
# What moves a page is short; libraries and data, which only might, are long.
_LONGEST_SCRIPT = 8_000
_LONGEST_SCRIPTS = 16_000
_LONGEST_HELP = 1_000  # of a script without a sign, which may say what others use
_SCRIPT_TYPES = re.compile(r"|module|jscript|(?:text|application)/(?:x-)?(?:java|ecma)script[\d.]*")
# What moves a browser, or hides what does. That `location` is read is not enough.
_SIGN = re.compile(
    r"\blocation(?:['\"]\])?\s*\??(?:=[^=]|\[|\.\s*(?:replace|assign)\b"
    r"|\.\s*(?:href|search|pathname|host(?:name)?|protocol)\s*=[^=])"
    r"|=\s{0,9}(?:\w{1,20}\.){0,2}location\s*[;,]|\(\s*['\"]?\w{0,9}\.?location['\"]?\s*[),]"
    r"|\.\s*(?:(?:submit|requestSubmit|click)\s*\(\s*\)|dispatchEvent\s*\()|\.\s*trigger\s*\(\s*['\"](?:click|submit)"
    r"|\bnavigate\s*\(|\beval\s*\((?!\s*function)|\bopen\s*\([^()]{0,300}_(?:self|top|parent)"
    r"|\bhistory\.(?:replace|push)State\b|http-?equiv",
    re.IGNORECASE,
)
_WORDS = "location .submit .requestSubmit .click .trigger navigate eval _self _top _parent".split()

_SANDBOX = "mmcrawl.page.scripts.sandbox"
_LARGEST = 1 << 18  # bytes of a page whose elements scripts are shown
_LONGEST_TEXT = 2_000  # of an element

_WORDS += ["dispatchEvent", "quiv", "history"]
# As HTML has it: seconds, then perhaps the address, in quotes or not.
_REFRESH = re.compile(
    r"\s*+(?P<seconds>\d{1,9})?[\d.]*+(?:\s*+[;,]\s*+|\s++)(?:url\s*+=\s*+)?(?P<url>[^\s].*)",
    re.IGNORECASE | re.DOTALL,
)


_LONGEST_STUB = 4_000
_MOST_WORDS = 300  # characters of text
_TAG = re.compile(
    rb"<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL
)
_CONTENT = re.compile(rb"<(?:area|i?frame|audio|video|object|embed|applet|form)\b", re.IGNORECASE)
_LINK = re.compile(rb"<a\b", re.IGNORECASE)


class Move(NamedTuple):
    """The target of a move as written, and whether every browser makes it."""

    href: str
    is_certain: bool


class Moves:
    """Everything on a page that may move a browser, collected while it is read."""

    def __init__(self) -> None:
        self._refreshes: list[Move] = []
        self._scripts: list[str] = []
        self._events: list[str] = []
        self._is_moved = False

    def refresh(self, content: str, *, is_certain: bool = True) -> None:
        """Add a refresh requested by the page or its headers."""
        if (found := refresh_in(content)) is not None:
            seconds, href = found
            self._refreshes.append(Move(href, is_certain and seconds <= _AT_ONCE))

    def script(self, code: str, mime: str) -> None:
        """Add an inline script and its declared type."""
        if _SCRIPT_TYPES.fullmatch(mime) and len(code) <= _LONGEST_SCRIPT:
            moves = _may_move(code)
            if moves or len(code) <= _LONGEST_HELP:
                self._scripts.append(code)
            self._is_moved = self._is_moved or moves

    def event(self, attributes: Attributes) -> None:
        """Add the load handler of an element."""
        if (code := attributes.get("onload")) and len(code) <= _LONGEST_SCRIPT:
            self._events.append(code)
            self._is_moved = self._is_moved or _may_move(code)

    def all(self, tree: PageTree, url: str) -> list[Move]:
        """Return the moves of the page, the first of each address."""
        made = [*self._refreshes]
        if self._is_moved:
            found = run_scripts(tree, url, self._short_enough())
            made += [Move(href, certain) for href, certain in found.moves]
            made += _written_refreshes("".join(found.written))
        certain = {move.href for move in made if move.is_certain}
        hrefs = dict.fromkeys(move.href for move in made)
        return [Move(href, href in certain) for href in hrefs][:_MOST]

    def _short_enough(self) -> list[str]:
        """Return the scripts, without those behind so many, then the load handlers."""
        lengths = accumulate(map(len, self._scripts))
        scripts = zip(self._scripts, lengths, strict=True)
        return [code for code, end in scripts if end <= _LONGEST_SCRIPTS] + self._events


def _written_refreshes(html: str) -> Iterator[Move]:
    """Yield the refreshes that scripts have written into the page."""
    tree = PageTree(html.encode("utf-8", "replace"), "utf-8")
    for attributes in map(tree.attributes, tree.elements("meta")):
        is_refresh = attributes.get("http-equiv", "").lower() == "refresh"
        if is_refresh and (found := refresh_in(attributes.get("content", ""))) is not None:
            yield Move(found[1], found[0] <= _AT_ONCE)


def _may_move(code: str) -> bool:
    # Of each script: words are found twenty times as fast as what they are in.
    return any(word in code for word in _WORDS) and _SIGN.search(code) is not None


def refresh_in(content: str) -> tuple[float, str] | None:
    """Return seconds and address of a refresh, None for one that only loads the page again.

    >>> refresh_in("0; URL='a.htm'"), refresh_in("300;a.htm"), refresh_in("5")
    ((0.0, 'a.htm'), (300.0, 'a.htm'), None)
    """
    match = _REFRESH.fullmatch(content[:_LONGEST_SCRIPT])
    if match is None:
        return None
    href = match["url"].strip()
    if href[:1] in ("'", '"'):
        href = href[1:].partition(href[0])[0].strip()
    return (float(match["seconds"] or 0), href) if href else None


def only_leads_on(body: bytes) -> bool:
    """Return whether a page that refreshes to another holds nothing else but perhaps a link.

    >>> only_leads_on(b"<p>We have moved <a href=b.htm>here"), only_leads_on(b"<video src=a.mp4>")
    (True, False)
    """
    if len(body) > _LONGEST_STUB or _CONTENT.search(body) or len(_LINK.findall(body)) > 1:
        return False
    return len(b" ".join(_TAG.sub(b" ", body).split())) <= _MOST_WORDS


class Found(NamedTuple):
    """What the scripts of a page did."""

    moves: list[tuple[str, bool]]  # addresses where they lead, and whether for certain
    written: list[str]  # HTML that they put into the page


def run_scripts(tree: PageTree, url: str, scripts: list[str]) -> Found:
    """Run the scripts of a page, in order; nothing is found if their process dies."""
    elements = _elements(tree)
    page = {
        "href": url,
        "parts": _url_parts(url),
        "ids": [attributes["id"] for _, attributes, _, _ in elements if attributes.get("id")],
        "elements": json.dumps(elements),
    }
    visits = _engine(getpid()).ask([page, scripts])
    at_once = [{href for href, is_at_once in visit.moves if is_at_once} for visit in visits[:2]]
    certain = set.intersection(*at_once) if visits else set()
    hrefs = dict.fromkeys(href for visit in visits for href, _ in visit.moves)
    html = dict.fromkeys(text for visit in visits for text in visit.written)
    return Found([(href, href in certain) for href in hrefs], list(html))


class _Engine:
    """The process, started with the first page and again after its death."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._lock = Lock()

    def ask(self, question: object) -> list[Found]:
        """Return what scripts did, visit by visit, with moves that are made within a minute."""
        with self._lock:
            try:
                self._child = self._child or ChildProcess(_SANDBOX)
                return [_found(*json.loads(visit)) for visit in self._child.ask(question)]
            except (EOFError, OSError, RecursionError, TypeError, ValueError):
                # It has ended, or scripts say what they have found: it may be anything.
                if self._child is not None:
                    self._child.end()
                self._child = None
                return []


def _found(moves: Any, written: Any) -> Found:
    return Found([(str(href), bool(at_once)) for href, at_once in moves], [*map(str, written)])


@cache
def _engine(process: int) -> _Engine:  # a process that was forked has one of its own
    return _Engine()


def _url_parts(url: str) -> dict[str, str]:
    """Return the parts of an address by their names in `location`."""
    parts = urlsplit(url)
    return {
        "protocol": f"{parts.scheme}:", "host": parts.netloc,
        "origin": f"{parts.scheme}://{parts.netloc}", "hostname": parts.hostname or "",
        "port": str(parts.port or ""), "pathname": parts.path or "/",
        "search": f"?{parts.query}" if parts.query else "",
        "hash": f"#{parts.fragment}" if parts.fragment else "",
    }  # fmt: skip


def _elements(tree: PageTree) -> list[list[Any]]:
    """Return tag, attributes, place of the parent and text of each element of a page."""
    places: dict[int, int] = {}
    made: list[list[Any]] = []
    for node, tag in enumerate(tree.tags):
        if tree.starts[node] >= _LARGEST:
            break
        place = places.get(tree.parents[node], -1)
        if tag == TEXT:
            if place >= 0 and len(made[place][3]) < _LONGEST_TEXT:
                made[place][3] += tree.raw_text(node)
        elif tag != ROOT:
            places[node] = len(made)
            text = tree.raw_content(node)[:_LONGEST_TEXT] if tag in RAW else ""
            made.append([tag, dict(tree.attributes(node)), place, text])
    return made
