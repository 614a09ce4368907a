"""Where a browser goes from a page without a click: refreshes, and what scripts do at once.

Scripts are read for addresses and not executed: an address counts that stands as one text where
`location` is set, or what does the same is called. A move is certain if every browser makes it
within a minute: if nothing around it asks, and it waits for nothing but the page. Another, as one
for mobile phones, one of a page that finds itself in a frame, or one for browsers without scripts,
is a link at most.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from mmcrawl.page.looks import Attributes

_AT_ONCE = 60.0
"""Seconds; who is to read a page for longer than that is not moved."""
_MOST = 5
# What moves a page is short; libraries and data, which only might, are long.
_LONGEST_SCRIPT = 8_000
_LONGEST_SCRIPTS = 16_000
_LONGEST_HELP = 1_000  # of a script that moves nothing, but may call what another one has defined
_SCRIPT_TYPES = re.compile(r"|module|jscript|(?:text|application)/(?:x-)?(?:java|ecma)script[\d.]*")
_WORDS = "location", "navigate", "_self", "_top"
_STRING = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
_STRINGS = re.compile(_STRING)
_COMMENTS = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)|<!--", re.DOTALL)
# What a timer is given as a text is a script, too.
_TIMED_TEXT = re.compile(r"(\bset(?:Timeout|Interval)\s*\(\s*)([\"'])((?:(?!\2)[^\\\n])*)\2")
_MOVE = re.compile(
    r"(?<![\w$.])(?:(?:window|self|top|parent|document|this)\??\.)*"
    r"(?:location(?:\.href)?\s*=|location\??\.(?:replace|assign)\s*\(|navigate\s*\("
    r"|open\s*\((?=[^()]{0,300}['\"]_(?:self|top|parent)['\"]))"
    r"\s*(?P<quote>['\"])(?P<href>[^'\"<>\\\n]{1,2000})(?P=quote)(?!\s*[+.\[?])"
)
# What is before an open brace of code that every browser comes to by itself.
_FUNCTION = r"(?:function\b[^(]{0,99}\([^()]*\)|(?:\w+|\([^()]*\))\s*=>)\s*\Z"
_RUN_AT_ONCE = re.compile(
    rf"(?:(?:(?<![\w$])(?:\$|jQuery|set(?:Timeout|Interval))|\.ready|(?:^|[=!;,(+-])\s*)\(\s*"
    rf"|\bon(?:page)?load\s*=\s*|['\"](?:on)?(?:load|DOMContentLoaded)['\"]\s*,\s*){_FUNCTION}"
    r"|\A\s*(?:try\s*)?\Z"
)
_FUNCTION_HEAD = re.compile(r"(?:\bfunction\b|(\w+))\s*\([^()]*\)\s*\Z|=>\s*\Z")
_CONDITIONS = frozenset({"if", "for", "while", "switch", "catch", "with"})
_ASKS = re.compile(r"\b(?:if|else|case|default|for|while|catch|function)\b|\?|&&|\|\||=>")
_LATE = re.compile(r"[^{}]*\}\s*,\s*(\d{5,})")  # milliseconds
_BRACES = re.compile("[{}]")
_MOST_READ = 20  # places of a page where it may be moved
_MOST_CALLS, _CALLS_IN_CALLS = 5, 2
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
    """Where a browser goes, as it is written, and whether any does."""

    href: str
    is_certain: bool


class Moves:
    """What of a page may move a browser, noted while it is read."""

    def __init__(self) -> None:
        self._refreshes: list[Move] = []
        self._scripts: list[str] = []
        self._is_moved = False

    def refresh(self, content: str, *, is_certain: bool = True) -> None:
        """Take a refresh that the page or its answer asks for."""
        if (found := refresh_in(content)) is not None:
            seconds, href = found
            self._refreshes.append(Move(href, is_certain and seconds <= _AT_ONCE))

    def script(self, code: str, mime: str = "") -> None:
        """Take an inline script and its declared type."""
        if _SCRIPT_TYPES.fullmatch(mime) and len(code) <= _LONGEST_SCRIPT:
            # Of each script: words are found many times as fast as what they stand in.
            moves = any(word in code for word in _WORDS) and _MOVE.search(code) is not None
            if moves or len(code) <= _LONGEST_HELP:
                self._scripts.append(code)
            self._is_moved = self._is_moved or moves

    def event(self, attributes: Attributes) -> None:
        """Take what an element does when it is loaded."""
        self.script(attributes.get("onload", ""))

    def all(self) -> list[Move]:
        """Return the moves of the page, the first of each address."""
        made = [*self._refreshes]
        if self._is_moved:
            made += _in_scripts("\n;".join(self._scripts)[:_LONGEST_SCRIPTS])
        certain = {move.href for move in made if move.is_certain}
        hrefs = dict.fromkeys(move.href for move in made)
        return [Move(href, href in certain) for href in hrefs][:_MOST]


def _in_scripts(code: str) -> Iterator[Move]:
    """Yield the moves that the scripts of a page make, or may make."""
    code = _COMMENTS.sub(lambda found: found[1] or "", code)
    code = _TIMED_TEXT.sub(r"\1function(){\3}", code)
    # The same without what stands in texts, where braces and names mean nothing.
    bare = _STRINGS.sub(lambda text: f'"{"_" * (len(text[0]) - 2)}"', code)
    for found in islice(_MOVE.finditer(code), _MOST_READ):
        is_made = bare[found.start()] != "_" and _is_made(code, bare, found.start())
        if is_made is not False:
            yield Move(found["href"].strip(), is_made is True)


def _is_made(code: str, bare: str, at: int, calls: int = _CALLS_IN_CALLS) -> bool | None:
    """Whether every browser comes to a place of a script by itself, and soon; None for some."""
    opened = [0]  # behind each brace that is open there
    for brace in _BRACES.finditer(bare, 0, at):
        if brace[0] == "{":
            opened.append(brace.end())
        elif len(opened) > 1:
            opened.pop()
    runs = [_is_run(code, bare, place - 1, calls) for place in opened[1:]]
    if False in runs:
        return False
    late = _LATE.match(bare, at)
    is_late = late is not None and int(late[1][:9]) > 1_000 * _AT_ONCE
    asks = _ASKS.search(_statement(bare, bare, at)) or "return" in bare[opened[-1] : at]
    return None if asks or is_late or None in runs else True


def _is_run(code: str, bare: str, brace: int, calls: int) -> bool | None:
    """Whether what stands in braces is done by every browser; None for some, as behind an if."""
    head = _statement(code, bare, brace)
    if run := _RUN_AT_ONCE.search(head):
        return None if _ASKS.search(head, 0, run.start()) else True
    if not (function := _FUNCTION_HEAD.search(head)) or function[1] in _CONDITIONS:
        return None
    name = re.escape(function[1] or " ")
    called = re.finditer(
        rf"(?<!function )\b{name}\s*\(|(?:Timeout|Interval)\s*\(\s*{name}\b"
        rf"|\bonload\s*=\s*{name}\b|['\"]load['\"]\s*,\s*{name}\b",
        code,
    )
    places = [call.start() for call in islice(called, _MOST_CALLS if calls else 0)]
    found = [_is_made(code, bare, place, calls - 1) for place in places]
    return True if True in found else None if None in found else False


def _statement(code: str, bare: str, at: int) -> str:
    """Return the statement that goes on at a place, up to there."""
    return code[max(bare.rfind(mark, 0, at) for mark in ";{}") + 1 : at]


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
    """Return whether a page that refreshes to another has nothing of its own but perhaps a link.

    >>> only_leads_on(b"<p>We have moved <a href=b.htm>here"), only_leads_on(b"<video src=a.mp4>")
    (True, False)
    """
    if len(body) > _LONGEST_STUB or _CONTENT.search(body) or len(_LINK.findall(body)) > 1:
        return False
    return len(b" ".join(_TAG.sub(b" ", body).split())) <= _MOST_WORDS
