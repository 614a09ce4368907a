"""Builds the table of nodes of a page from its tokens, in one pass.

Elements are added when they begin and receive their ends when they end, in the spirit of the HTML
standard: see :mod:`mmcrawl.page.html.tree`, whose table it is.
"""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from mmcrawl.page.html.tags import (
    CLOSED_BY,
    END_OF_RAW,
    FORMATTING,
    HEAD_TAGS,
    HEADINGS,
    KNOWN,
    NAME,
    RAW,
    SCOPES,
    SPECIAL,
    START_TAG,
    VOID,
    windows,
)

TEXT = "#text"
"""Tag of a run of text."""

ROOT = "#page"
"""Tag of node 0, the whole body."""

_LESS, _SLASH = b"</"
_BLANK = b"\0 \t\n\v\f\r"
_LOOK_UP = 256  # open elements that an end tag, or an implied end, looks through
_NOTHING: frozenset[str] = frozenset()
_TABLE_ONLY = frozenset({"table", "template"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})

_SEEN_TO = HEADINGS | RAW | VOID | CLOSED_BY.keys() | {"html", "head", "body"}
# The elements whose child another is without a look at the open elements.
_CHILD_OF = {
    "dd": frozenset({"dl"}),
    "dt": frozenset({"dl"}),
    "li": _LISTS,
    "option": frozenset({"optgroup", "select"}),
    "td": frozenset({"tr"}),
    "th": frozenset({"tr"}),
    "tr": frozenset({"table", "tbody", "tfoot", "thead"}),
}
# Start tags that need no such look while none of the named is open; the root always is.
_QUICK = {
    **{
        tag: "p"
        for tag, (ended, _) in CLOSED_BY.items()
        if ended == {"p"} and tag not in HEADINGS | VOID
    },
    **dict.fromkeys(KNOWN - _SEEN_TO, ""),
    **dict.fromkeys(_CHILD_OF, ROOT),
    "a": "a",
    "li": "li",
}
_QUICK_VOID = VOID - CLOSED_BY.keys()
_LONGEST_KNOWN = 10  # bytes of a tag that is looked up whole
_LONGEST_KEY = 20  # bytes of what is remembered from page to page

_START, _END, _VOID, _OTHER, _TEXT = range(5)


# What a token is, its tag, and the element that must not be open for it to be taken quickly.
_Kind = tuple[int, str, str]
_NO_TAG: _Kind = (_OTHER, "", "")
_STRAY: _Kind = (_TEXT, "", "")  # "<" that begins no tag


def integers(values: NDArray[Any]) -> array[int]:
    """Return numbers as an array that is quick to be read one by one."""
    return array("q" if values.dtype.itemsize > 4 else "i", values.tobytes())


class TreeBuilder:
    """Builds the table of nodes from the tokens of a page.

    Args:
        start: Where its text begins, behind a byte order mark.
        unit: Bytes of the body for each byte of the markup.
    """

    def __init__(self, markup: bytes, start: int = 0, unit: int = 1) -> None:
        kind = "i" if len(markup) * unit < 1 << 31 else "q"
        self._markup = markup
        self._place = start
        self._unit = unit
        self._nul = b"\0" in markup
        self.tags = [ROOT]
        self.parents, self.after = array("i", [-1]), array("i", [1])
        self.starts, self.inner_starts = array(kind, [0]), array(kind, [0])
        self.inner_ends, self.ends = array(kind, [0]), array(kind, [0])
        self.texts = array("i")
        self.spaced: list[int] = []
        self._stack = [0]  # indices of the open elements
        self._open = defaultdict[str, int](int, {ROOT: 1})  # how many are open, by tag
        # End tags of elements that the end of a link closed: where on the stack, and in which node.
        self._to_ignore: dict[str, list[tuple[int, int]]] = {}
        self._last_link = 0  # that was ended by more than its own end tag
        self._cut_link = 0  # the last link that the end of a paragraph ended
        self.link_ends: dict[int, int] = {}
        self._space = False  # since the last run of text
        self._once = {"html": False, "head": False, "body": False}

    def read(self) -> None:
        """Read the page."""
        for tokens in windows(self._markup, self._place):
            self._read(tokens)
        self._close_down_to(0, self._place, self._place)
        if self._unit > 1:
            for places in (self.starts, self.inner_starts, self.inner_ends, self.ends):
                places[:] = array(places.typecode, (self._unit * place for place in places))

    def _read(self, tokens: list[bytes]) -> None:  # noqa: PLR0912, PLR0915 (a call a token is dear)
        """Add tokens to the table."""
        tags, parents, after, stack = self.tags, self.parents, self.after, self._stack
        starts, inner_starts = self.starts, self.inner_starts
        inner_ends, ends, texts = self.inner_ends, self.ends, self.texts
        opened, known, to_ignore = self._open, dict[bytes, _Kind](), self._to_ignore
        in_head, nul, end = opened["head"], self._nul, self._place
        for token in tokens:
            start, size = end, len(token)
            end += size
            if token[0] != _LESS:
                if token.isspace():
                    self._space = True
                    continue
                if in_head or (nul and b"\0" in token):
                    self._text(token, start)
                    in_head = opened["head"]
                    continue
                if self._space:  # as _text does it where nothing else is to be seen to
                    self.spaced.append(len(tags))
                    self._space = False
                texts.append(len(tags))
                kind, tag, inner_start = _TEXT, TEXT, start
            else:
                key = token if size < _LONGEST_KNOWN else token.split(None, 1)[0]
                found = known.get(key)
                if found is None:
                    found = known[key] = _kind(key) if len(key) < _LONGEST_KEY else _kind_of(key)
                kind, tag, quick = found
                if kind == _END and tags[stack[-1]] == tag and not to_ignore:
                    node = stack.pop()  # as _close_down_to does it for one element
                    after[node] = len(tags)
                    inner_ends[node] = start
                    ends[node] = end
                    opened[tag] -= 1
                    continue
                if kind == _START:
                    is_quick = not in_head and (
                        not opened[quick] or tags[stack[-1]] in _CHILD_OF.get(tag, _NOTHING)
                    )
                else:
                    is_quick = kind == _VOID and (not in_head or tag in HEAD_TAGS)
                if not is_quick:
                    if kind == _TEXT:
                        self._text(token, start)
                    elif tag:
                        self._tag(token, tag, start)
                    in_head = opened["head"]
                    continue
                inner_start = end
            node = len(tags)  # as _add does it
            parents.append(stack[-1])
            tags.append(tag)
            after.append(node + 1)
            starts.append(start)
            inner_starts.append(inner_start)
            inner_ends.append(end)
            ends.append(end)
            if kind == _START:
                stack.append(node)
                opened[tag] += 1
        self._place = end

    def _tag(self, token: bytes, tag: str, start: int) -> None:
        if token[1] == _SLASH:
            self._end_tag(tag, start, start + len(token))
        elif tag in RAW and len(token) > len(tag) + 1:
            self._raw(token, tag, start)
        else:
            self._start_tag(token, tag, start)

    def _add(self, tag: str, start: int, inner_start: int, inner_end: int, end: int) -> int:
        node = len(self.tags)
        self.tags.append(tag)
        self.parents.append(self._stack[-1])
        self.after.append(node + 1)
        self.starts.append(start)
        self.inner_starts.append(inner_start)
        self.inner_ends.append(inner_end)
        self.ends.append(end)
        return node

    def _text(self, token: bytes, start: int) -> None:
        if b"\0" in token and not token.strip(_BLANK):  # NUL is no character of a page
            self._space = self._space or len(token.strip(b"\0")) > 0
            return
        if self.tags[self._stack[-1]] == "head":
            self._close_down_to(len(self._stack) - 1, start, start)
        node = self._add(TEXT, start, start, start + len(token), start + len(token))
        self.texts.append(node)
        if self._space:
            self.spaced.append(node)
            self._space = False

    def _raw(self, token: bytes, tag: str, start: int) -> None:
        self._before(tag, start)
        start_tag = START_TAG.match(token)
        inner_start = start_tag.end() if start_tag else len(token)
        end_tag = END_OF_RAW[tag].search(token, inner_start)
        inner_end = end_tag.start() if end_tag else len(token)
        self._add(tag, start, start + inner_start, start + inner_end, start + len(token))

    def _start_tag(self, token: bytes, tag: str, start: int) -> None:
        if tag in self._once:
            if self._once[tag] or (tag == "head" and self._once["body"]):
                return
            self._once[tag] = True
        self._before(tag, start)
        end = start + len(token)
        node = self._add(tag, start, end, end, end)
        if tag in VOID or (token.endswith(b"/>") and tag not in KNOWN):
            return
        self._stack.append(node)
        self._open[tag] += 1

    def _before(self, tag: str, start: int) -> None:
        """End the elements that a start tag ends implicitly."""
        stack, opened = self._stack, self._open
        if opened.get("head") and tag not in HEAD_TAGS and tag != "head":
            self._end_implied(frozenset({"head"}), frozenset(), start)
        ends = CLOSED_BY.get(tag)
        if ends is not None and any(opened.get(ended) for ended in ends[0]):
            links = opened["a"]
            self._end_implied(*ends, start)
            if opened["a"] < links and "p" in ends[0]:
                self._cut_link = self._last_link
        if tag in HEADINGS:
            if self.tags[stack[-1]] in HEADINGS:
                self._close_down_to(len(stack) - 1, start, start)
        elif tag == "a" and opened.get("a"):
            self._end_link(start, start)

    def _end_implied(self, ended: frozenset[str], beyond: frozenset[str], start: int) -> None:
        tags, stack = self.tags, self._stack
        found = 0
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            tag = tags[stack[position]]
            if tag in ended:
                found = position
            elif tag in beyond:
                break
        if found:
            self._close_down_to(found, start, start)

    def _end_tag(self, tag: str, start: int, end: int) -> None:
        if self._to_ignore and self._was_ended(tag):
            return
        tags, stack = self.tags, self._stack
        if tags[stack[-1]] == tag and tag not in ("html", "body"):
            self._close_down_to(len(stack) - 1, start, end)
            return
        if tag in HEADINGS and tags[stack[-1]] in HEADINGS:
            self._close_down_to(len(stack) - 1, start, end)
            return
        if not self._open.get(tag) or tag in ("html", "body"):
            if tag == "a" and self._cut_link and "a" not in tags[self._cut_link + 1 :]:
                self.link_ends[self._cut_link] = len(tags)
            self._cut_link = 0 if tag == "a" else self._cut_link
            return
        if tag == "a":
            self._end_link(start, end)
            return
        position = self._position(tag)
        if position:
            self._close_down_to(position, start, end)

    def _position(self, tag: str) -> int:
        """Return where on the stack the element stands that an end tag ends, or 0."""
        beyond = _beyond(tag)
        tags, stack = self.tags, self._stack
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            found = tags[stack[position]]
            if found == tag:
                return position
            if found in beyond:
                return 0
        return 0

    def _was_ended(self, tag: str) -> bool:
        """Whether an end tag is that of an element which the end of a link closed before."""
        stack, waiting = self._stack, self._to_ignore.get(tag)
        while waiting:
            position, around = waiting[-1]
            if position < len(stack) and stack[position] == around:
                if self._position(tag) > position:
                    return False  # of another one, begun since
                waiting.pop()
                return True
            waiting.pop()
        return False

    def _end_link(self, start: int, end: int) -> None:
        """End the open link, and the open elements inside it."""
        tags, stack = self.tags, self._stack
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            tag = tags[stack[position]]
            if tag == "a":
                around = (position - 1, stack[position - 1])
                for node in stack[position + 1 :]:
                    if tags[node] in SPECIAL:
                        self._to_ignore.setdefault(tags[node], []).append(around)
                self._close_down_to(position, start, end)
                return
            if tag in SCOPES:
                return

    def _close_down_to(self, position: int, start: int, end: int) -> None:
        """Close elements from a position of the stack on at `start`, the first at `end`."""
        tags, stack = self.tags, self._stack
        while len(stack) > position:
            node = stack.pop()
            self._open[tags[node]] -= 1
            self.after[node] = len(tags)
            self.inner_ends[node] = start
            self.ends[node] = end if len(stack) == position else start
            if tags[node] == "a":
                self._last_link = node


def _kind_of(key: bytes) -> _Kind:
    """Return the kind of a token, by its beginning."""
    name = NAME.match(key)
    if name is None:
        return _NO_TAG if key[1:2] in (b"!", b"?", b"/") else _STRAY
    tag = sys.intern(name[2].decode("latin-1").lower())
    if name[1]:
        return (_OTHER if tag in ("html", "head", "body") else _END), tag, ""
    if tag in _QUICK:
        return _START, tag, _QUICK[tag]
    return (_VOID if tag in _QUICK_VOID else _OTHER), tag, ""


_kind = lru_cache(maxsize=1024)(_kind_of)


def _beyond(tag: str) -> frozenset[str]:
    if tag in FORMATTING:
        return SPECIAL
    if tag in ("table", "template", "svg"):
        return frozenset()
    if tag in ("td", "th", "tr", "tbody", "thead", "tfoot", "caption", "li"):
        return _TABLE_ONLY if tag != "li" else SCOPES | _LISTS
    return SCOPES
