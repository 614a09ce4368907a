"""The table of nodes of a page, built from its tokens in one pass.

Elements are put into the table as they begin, and are given their ends as they end, in the spirit
of the HTML standard: see :mod:`mmcrawl.page.tree`, whose table it is. What the loop over the
tokens notes down are numbers of tokens; the bytes they stand at are found for all of them at once.
"""

from __future__ import annotations

import sys
from array import array
from collections import defaultdict
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.page.tags import (
    CLOSED_BY,
    FORMATTING,
    HEAD_TAGS,
    HEADINGS,
    KNOWN,
    RAW,
    SCOPES,
    SPECIAL,
    VOID,
)
from mmcrawl.page.tokens import END_OF_RAW, NAME, START_TAG, windows

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


class Nodes(NamedTuple):
    """The columns of :class:`~mmcrawl.page.tree.PageTree`, a number for each node."""

    tags: list[str]
    parents: array[int]
    after: array[int]
    starts: array[int]
    inner_starts: array[int]
    inner_ends: array[int]
    ends: array[int]
    spaced: bytearray
    runs: NDArray[np.int32]
    link_ends: dict[int, int]


def integers(values: NDArray[Any]) -> array[int]:
    """Return numbers as an array that is quick to be read one by one."""
    result = array("q" if values.dtype.itemsize > 4 else "i")
    result.frombytes(np.ascontiguousarray(values).tobytes())
    return result


class TreeBuilder:
    """Builds the table of nodes from the tokens of a page.

    Args:
        markup: The page.
        start: Where its text begins, behind a byte order mark.
        unit: Bytes of the body for each byte of the markup.
    """

    def __init__(self, markup: bytes, start: int = 0, unit: int = 1) -> None:
        self._markup = markup
        self._start = start
        self._unit = unit
        self._nul = b"\0" in markup
        # Of each node: its tag, its parent, the number of its token.
        self._tags = [ROOT]
        self._parents = array("i", [-1])
        self._numbers = array("i", [0])
        # Of each element that ends behind its start tag: the node, the first node behind it, and
        # twice the number of the token that ends it, plus one if that is its own end tag.
        self._closed = array("i")
        self._closed_after = array("i")
        self._closed_by = array("i")
        self._raws: list[tuple[int, int, int]] = []  # nodes, where what they hold starts and ends
        self._texts = array("i")
        self._spaced = array("i")
        self._lengths = array("i")  # of the tokens
        self._stack = [0]  # indices of the open elements
        self._open = defaultdict[str, int](int, {ROOT: 1})  # how many are open, by tag
        # End tags of elements that the end of a link closed: where on the stack, and in which node.
        self._to_ignore: dict[str, list[tuple[int, int]]] = {}
        self._cut_link = 0  # the last link that the end of a paragraph ended
        self._link_ends: dict[int, int] = {}
        self._space = False  # since the last run of text
        self._once = {"html": False, "head": False, "body": False}

    def nodes(self) -> Nodes:
        """Read the page."""
        for tokens in windows(self._markup, self._start):
            first = len(self._lengths)
            self._lengths.extend(map(len, tokens))
            self._read(tokens, first)
        self._close_down_to(1, len(self._lengths), own=False)
        return self._columns()

    def _columns(self) -> Nodes:
        """Find where the nodes stand, of the tokens they begin and end with."""
        kind = np.int32 if len(self._markup) * self._unit < 1 << 31 else np.int64
        offsets = np.zeros(len(self._lengths) + 1, dtype=kind)
        np.cumsum(np.frombuffer(self._lengths, dtype=np.int32), out=offsets[1:])
        offsets = (offsets + self._start) * self._unit
        numbers = np.frombuffer(self._numbers, dtype=np.int32)
        after = np.arange(1, len(numbers) + 1, dtype=np.int32)
        starts = offsets[numbers]
        ends = offsets[numbers + 1] if len(offsets) > 1 else starts.copy()
        runs = np.frombuffer(self._texts, dtype=np.int32)
        inner_starts = ends.copy()
        inner_starts[runs] = starts[runs]
        inner_ends = ends.copy()
        closed = np.frombuffer(self._closed, dtype=np.int32)
        after[closed] = np.frombuffer(self._closed_after, dtype=np.int32)
        by = np.frombuffer(self._closed_by, dtype=np.int32)
        inner_ends[closed] = offsets[by >> 1]
        ends[closed] = offsets[(by >> 1) + (by & 1)]
        for node, inner_start, inner_end in self._raws:
            inner_starts[node] = starts[node] + inner_start * self._unit
            inner_ends[node] = starts[node] + inner_end * self._unit
        # The page as a whole.
        after[0], starts[0], inner_starts[0] = len(numbers), 0, 0
        inner_ends[0] = ends[0] = len(self._markup) * self._unit
        spaced = np.zeros(len(numbers), dtype=np.uint8)
        spaced[np.frombuffer(self._spaced, dtype=np.int32)] = 1
        return Nodes(
            self._tags,
            self._parents,
            integers(after),
            integers(starts),
            integers(inner_starts),
            integers(inner_ends),
            integers(ends),
            bytearray(spaced.tobytes()),
            runs,
            self._link_ends,
        )

    def _read(self, tokens: list[bytes], first: int) -> None:
        """Put tokens into the table, of which the first has a number."""
        tags, parents, numbers, stack = self._tags, self._parents, self._numbers, self._stack
        opened, known, to_ignore = self._open, dict[bytes, _Kind](), self._to_ignore
        texts = self._texts
        closed, closed_after, closed_by = self._closed, self._closed_after, self._closed_by
        in_head, nul = opened["head"], self._nul
        for number, token in enumerate(tokens, first):
            if token[0] != _LESS:
                if token.isspace():
                    self._space = True
                elif in_head or (nul and b"\0" in token):
                    self._text(token, number)
                    in_head = opened["head"]
                else:
                    if self._space:  # as _text does it where nothing else is to be seen to
                        self._spaced.append(len(tags))
                        self._space = False
                    texts.append(len(tags))
                    parents.append(stack[-1])
                    tags.append(TEXT)
                    numbers.append(number)
                continue
            key = token if len(token) < _LONGEST_KNOWN else token.split(None, 1)[0]
            found = known.get(key)
            if found is None:
                found = known[key] = _kind(key) if len(key) < _LONGEST_KEY else _kind_of(key)
            kind, tag, quick = found
            if (
                kind == _START
                and not in_head
                and (not opened[quick] or tags[stack[-1]] in _CHILD_OF.get(tag, _NOTHING))
            ):
                stack.append(len(tags))  # as _start_tag does it where nothing else is to be seen to
                parents.append(stack[-2])
                tags.append(tag)
                numbers.append(number)
                opened[tag] += 1
            elif kind == _END and tags[stack[-1]] == tag and not to_ignore:
                closed.append(stack.pop())  # as _close_down_to does it for one element
                closed_after.append(len(tags))
                closed_by.append(2 * number + 1)
                opened[tag] -= 1
            elif kind == _VOID and (not in_head or tag in HEAD_TAGS):
                parents.append(stack[-1])
                tags.append(tag)
                numbers.append(number)
            elif kind == _TEXT:
                self._text(token, number)
                in_head = opened["head"]
            elif tag:
                self._tag(token, tag, number)
                in_head = opened["head"]

    def _tag(self, token: bytes, tag: str, number: int) -> None:
        if token[1] == _SLASH:
            self._end_tag(tag, number)
        elif tag in RAW and len(token) > len(tag) + 1:
            self._raw(token, tag, number)
        else:
            self._start_tag(token, tag, number)

    def _add(self, tag: str, number: int) -> int:
        node = len(self._tags)
        self._tags.append(tag)
        self._parents.append(self._stack[-1])
        self._numbers.append(number)
        return node

    def _text(self, token: bytes, number: int) -> None:
        if b"\0" in token and not token.strip(_BLANK):  # NUL is no character of a page
            self._space = self._space or len(token.strip(b"\0")) > 0
            return
        if self._tags[self._stack[-1]] == "head":
            self._close_down_to(len(self._stack) - 1, number, own=False)
        node = self._add(TEXT, number)
        self._texts.append(node)
        if self._space:
            self._spaced.append(node)
            self._space = False

    def _raw(self, token: bytes, tag: str, number: int) -> None:
        self._before(tag, number)
        start_tag = START_TAG.match(token)
        inner_start = start_tag.end() if start_tag else len(token)
        end_tag = END_OF_RAW[tag].search(token, inner_start)
        inner_end = end_tag.start() if end_tag else len(token)
        self._raws.append((self._add(tag, number), inner_start, inner_end))

    def _start_tag(self, token: bytes, tag: str, number: int) -> None:
        if tag in self._once:
            if self._once[tag] or (tag == "head" and self._once["body"]):
                return
            self._once[tag] = True
        self._before(tag, number)
        node = self._add(tag, number)
        if tag in VOID or (token.endswith(b"/>") and tag not in KNOWN):
            return
        self._stack.append(node)
        self._open[tag] += 1

    def _before(self, tag: str, number: int) -> None:
        """End what a start tag ends without saying so."""
        stack, opened = self._stack, self._open
        if opened.get("head") and tag not in HEAD_TAGS and tag != "head":
            self._end_implied(frozenset({"head"}), frozenset(), number)
        ends = CLOSED_BY.get(tag)
        if ends is not None and any(opened.get(ended) for ended in ends[0]):
            links = opened["a"]
            self._end_implied(*ends, number)
            if opened["a"] < links and "p" in ends[0]:
                self._cut_link = next(n for n in reversed(self._closed) if self._tags[n] == "a")
        if tag in HEADINGS:
            if self._tags[stack[-1]] in HEADINGS:
                self._close_down_to(len(stack) - 1, number, own=False)
        elif tag == "a" and opened.get("a"):
            self._end_link(number, own=False)

    def _end_implied(self, ended: frozenset[str], beyond: frozenset[str], number: int) -> None:
        tags, stack = self._tags, self._stack
        found = 0
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            tag = tags[stack[position]]
            if tag in ended:
                found = position
            elif tag in beyond:
                break
        if found:
            self._close_down_to(found, number, own=False)

    def _end_tag(self, tag: str, number: int) -> None:
        if self._to_ignore and self._was_ended(tag):
            return
        tags, stack = self._tags, self._stack
        if tags[stack[-1]] == tag and tag not in ("html", "body"):
            self._close_down_to(len(stack) - 1, number, own=True)
            return
        if tag in HEADINGS and tags[stack[-1]] in HEADINGS:
            self._close_down_to(len(stack) - 1, number, own=True)
            return
        if not self._open.get(tag) or tag in ("html", "body"):
            if tag == "a" and self._cut_link and "a" not in tags[self._cut_link + 1 :]:
                self._link_ends[self._cut_link] = len(tags)
            self._cut_link = 0 if tag == "a" else self._cut_link
            return
        if tag == "a":
            self._end_link(number, own=True)
            return
        position = self._position(tag)
        if position:
            self._close_down_to(position, number, own=True)

    def _position(self, tag: str) -> int:
        """Return where on the stack the element stands that an end tag ends, or 0."""
        beyond = _beyond(tag)
        tags, stack = self._tags, self._stack
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

    def _end_link(self, number: int, *, own: bool) -> None:
        """End the open link, and with it what began inside of it and was not ended."""
        tags, stack = self._tags, self._stack
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            tag = tags[stack[position]]
            if tag == "a":
                around = (position - 1, stack[position - 1])
                for node in stack[position + 1 :]:
                    if tags[node] in SPECIAL:
                        self._to_ignore.setdefault(tags[node], []).append(around)
                self._close_down_to(position, number, own=own)
                return
            if tag in SCOPES:
                return

    def _close_down_to(self, position: int, number: int, *, own: bool) -> None:
        """Close the elements from a position of the stack on, at a token.

        Args:
            position: On the stack.
            number: Of the token.
            own: Whether it is the end tag of the first of them.
        """
        tags, stack = self._tags, self._stack
        after = len(tags)
        while len(stack) > position:
            node = stack.pop()
            self._open[tags[node]] -= 1
            self._closed.append(node)
            self._closed_after.append(after)
            self._closed_by.append(2 * number + (own and len(stack) == position))


def _kind_of(key: bytes) -> _Kind:
    """Return what a token is that begins so."""
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
