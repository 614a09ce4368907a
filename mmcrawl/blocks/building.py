"""The table of nodes of a page, built from its tokens in one pass.

A tokenizer, one regular expression, finds the tags, raw elements and comments; what stands between
them is text. Elements are put into the table as they begin, and are given their ends as they end,
in the spirit of the HTML standard: see :mod:`mmcrawl.blocks.tree`, whose table it is.
"""

from __future__ import annotations

import re
from typing import Protocol

from mmcrawl.blocks.tags import (
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

TEXT = "#text"
"""Tag of a run of text."""

ROOT = "#page"
"""Tag of node 0, the whole body."""

# A start or end tag (a quote counts only behind "=", an unfinished tag reaches to the end of the
# page), a raw element with all it holds, a comment, a declaration. Possessive: never read twice.
# React writes <noscript><iframe /></noscript>: for a browser with scripts all of it is one text.
_ATTRIBUTES = rb"""(?:[^>=]++|=[\s]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"""
_TOKEN = re.compile(
    rb"<(?:"
    rb"((?i:" + b"|".join(sorted(tag.encode() for tag in RAW)) + rb"))(?=[\s/>])"
    rb"(?!(?<=(?i:iframe))[^>]*+>\s*+</(?i:noscript)[\s>])"
    rb"(" + _ATTRIBUTES + rb")([^<]*+(?:<(?!/(?i:\1)[\s/>])[^<]*+)*+)(?:</[^>]*+(?:>|\Z)|\Z)"
    rb"|(/?)([a-zA-Z][^\s/>]*+)(" + _ATTRIBUTES + rb")"
    rb"|!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|[!?/][^>]*+(?:>|\Z)"
    rb")",
    re.DOTALL,
)
_BLANK = b"\0 \t\n\v\f\r"
_LOOK_UP = 256  # open elements that an end tag, or an implied end, looks through
_TABLE_ONLY = frozenset({"table", "template"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})

# Start tags that need no look at the open elements while none of the named is open.
_QUICK = {
    **{
        tag: "p"
        for tag, (ended, _) in CLOSED_BY.items()
        if ended == {"p"} and tag not in HEADINGS | VOID
    },
    **dict.fromkeys(FORMATTING | {"button", "label", "ins", "del", "picture"}, ""),
    "a": "a",
    "li": "li",
}


class NodeTable(Protocol):
    """The lists that are filled, in parallel: as :class:`~mmcrawl.blocks.tree.PageTree` has them.

    Node 0 is in them before the others are added.
    """

    tags: list[str]
    parents: list[int]
    after: list[int]
    starts: list[int]
    inner_starts: list[int]
    inner_ends: list[int]
    ends: list[int]
    spaced: set[int]


class TreeBuilder:
    """Builds the table of nodes from the tokens of a page."""

    def __init__(self, tree: NodeTable) -> None:
        self._tree = tree
        self._stack = [0]  # indices of the open elements
        self._open: dict[str, int] = {}  # how many are open, by tag
        self._names: dict[bytes, str] = {}
        # End tags of elements that the end of a link closed: where on the stack, and in which node.
        self._to_ignore: dict[str, list[tuple[int, int]]] = {}
        self._space = False  # since the last run of text
        self._once = {"html": False, "head": False, "body": False}

    def read(self, markup: bytes, text_start: int = 0) -> None:
        """Read all tokens of the page, from behind a byte order mark on."""
        tree, stack, opened, names = self._tree, self._stack, self._open, self._names
        tags, after, inner_ends, ends = tree.tags, tree.after, tree.inner_ends, tree.ends
        for token in _TOKEN.finditer(markup):
            start, end = token.span()
            if start > text_start:
                self._text(markup, text_start, start)
            text_start = end
            group = token.lastindex
            if group != 6:
                if group is not None:
                    self._raw(token)
                continue
            slash, name = token.group(4, 5)
            tag = names.get(name) or self._name(name)
            if not slash:
                quick = _QUICK.get(tag)
                if quick is None or opened.get(quick) or opened.get("head"):
                    self._start_tag(tag, start, end, token[6])
                else:  # as _start_tag does it where nothing else is to be seen to
                    stack.append(self._add(tag, start, end, end, end))
                    opened[tag] = opened.get(tag, 0) + 1
            elif tags[stack[-1]] == tag and tag in _QUICK and not self._to_ignore:
                node = stack.pop()  # as _close_down_to does it for one element
                opened[tag] -= 1
                after[node] = len(tags)
                inner_ends[node] = start
                ends[node] = end
            else:
                self._end_tag(tag, start, end)
        if text_start < len(markup):
            self._text(markup, text_start, len(markup))
        self._close_down_to(1, len(markup), len(markup))
        after[0] = len(tags)

    def _name(self, name: bytes) -> str:
        tag = self._names[name] = name.decode("latin-1").lower()
        return tag

    def _add(self, tag: str, start: int, inner_start: int, inner_end: int, end: int) -> int:
        tree = self._tree
        tags = tree.tags
        node = len(tags)
        tags.append(tag)
        tree.parents.append(self._stack[-1])
        tree.after.append(node + 1)
        tree.starts.append(start)
        tree.inner_starts.append(inner_start)
        tree.inner_ends.append(inner_end)
        tree.ends.append(end)
        return node

    def _text(self, markup: bytes, start: int, end: int) -> None:
        run = markup[start:end]
        if run.isspace():
            self._space = True
            return
        if b"\0" in run and not run.strip(_BLANK):  # NUL is no character of a page
            self._space = self._space or len(run.strip(b"\0")) > 0
            return
        if self._tree.tags[self._stack[-1]] == "head":
            self._close_down_to(len(self._stack) - 1, start, start)
        node = self._add(TEXT, start, start, end, end)
        if self._space:
            self._tree.spaced.add(node)
            self._space = False

    def _raw(self, token: re.Match[bytes]) -> None:
        tag = self._name(token[1])
        start, end = token.span()
        self._before(tag, start)
        self._add(tag, start, token.start(3), token.end(3), end)

    def _start_tag(self, tag: str, start: int, end: int, attributes: bytes) -> None:
        if tag in self._once:
            if self._once[tag] or (tag == "head" and self._once["body"]):
                return
            self._once[tag] = True
        self._before(tag, start)
        node = self._add(tag, start, end, end, end)
        if tag in VOID or (attributes.endswith(b"/>") and tag not in KNOWN):
            return
        self._stack.append(node)
        self._open[tag] = self._open.get(tag, 0) + 1

    def _before(self, tag: str, start: int) -> None:
        """End what a start tag ends without saying so."""
        stack, opened = self._stack, self._open
        if opened.get("head") and tag not in HEAD_TAGS and tag != "head":
            self._end_implied(frozenset({"head"}), frozenset(), start)
        ends = CLOSED_BY.get(tag)
        if ends is not None and any(opened.get(ended) for ended in ends[0]):
            self._end_implied(*ends, start)
        if tag in HEADINGS:
            if self._tree.tags[stack[-1]] in HEADINGS:
                self._close_down_to(len(stack) - 1, start, start)
        elif tag == "a" and opened.get("a"):
            self._end_link(start, start)

    def _end_implied(self, ended: frozenset[str], beyond: frozenset[str], at: int) -> None:
        tags, stack = self._tree.tags, self._stack
        found = 0
        for position in range(len(stack) - 1, max(0, len(stack) - _LOOK_UP), -1):
            tag = tags[stack[position]]
            if tag in ended:
                found = position
            elif tag in beyond:
                break
        if found:
            self._close_down_to(found, at, at)

    def _end_tag(self, tag: str, start: int, end: int) -> None:
        if self._to_ignore and self._was_ended(tag):
            return
        tags, stack = self._tree.tags, self._stack
        if tags[stack[-1]] == tag and tag not in ("html", "body"):
            self._close_down_to(len(stack) - 1, start, end)
            return
        if tag in HEADINGS and tags[stack[-1]] in HEADINGS:
            self._close_down_to(len(stack) - 1, start, end)
            return
        if not self._open.get(tag) or tag in ("html", "body"):
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
        tags, stack = self._tree.tags, self._stack
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
        """End the open link, and with it what began inside of it and was not ended."""
        tags, stack = self._tree.tags, self._stack
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

    def _close_down_to(self, position: int, inner_end: int, end: int) -> None:
        """Close the elements from a position of the stack on; the first has its end tag."""
        tree, stack, opened = self._tree, self._stack, self._open
        after = len(tree.tags)
        while len(stack) > position:
            node = stack.pop()
            tag = tree.tags[node]
            opened[tag] -= 1
            tree.after[node] = after
            tree.inner_ends[node] = inner_end
            tree.ends[node] = end if len(stack) == position else inner_end


def _beyond(tag: str) -> frozenset[str]:
    if tag in FORMATTING:
        return SPECIAL
    if tag in ("table", "template", "svg"):
        return frozenset()
    if tag in ("td", "th", "tr", "tbody", "thead", "tfoot", "caption", "li"):
        return _TABLE_ONLY if tag != "li" else SCOPES | _LISTS
    return SCOPES
