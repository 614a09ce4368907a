"""The elements and text runs of a page with the bytes they stand on.

A parser that repairs a page and writes it out again never gives the source back. Here the page is
read by a tokenizer whose tokens *are* ranges of the body, and the tree is built over them in the
spirit of the HTML standard: elements that end each other, void and raw elements, scopes that end
tags do not reach across. What the standard would move elsewhere (text inside of a table, content
after ``</body>``) stays where its bytes are.

The tree is a table of nodes in document order, kept in parallel lists. A subtree is a run of
indices, so that sums over subtrees are differences of running sums, "bottom-up" is a loop from the
end, and no depth of nesting is too deep. Building takes time proportional to the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

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
from mmcrawl.blocks.view import codec_name, markup_view
from mmcrawl.page.encoding import page_encoding

__all__ = ["ROOT", "TEXT", "PageTree", "read_tree"]

TEXT = "#text"
"""Tag of a run of text."""

ROOT = "#page"
"""Tag of node 0, the whole body."""

# A start or end tag (a quote counts only behind "=", an unfinished tag reaches to the end of the
# page), a raw element with all it holds, a comment, a declaration. Possessive: never read twice.
_ATTRIBUTES = rb"""(?:[^>=]++|=[\s]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)"""
_TOKEN = re.compile(
    rb"<(?:"
    rb"((?i:" + b"|".join(sorted(tag.encode() for tag in RAW)) + rb"))(?=[\s/>])"
    rb"(" + _ATTRIBUTES + rb")([^<]*+(?:<(?!/(?i:\1)[\s/>])[^<]*+)*+)(?:</[^>]*+(?:>|\Z)|\Z)"
    rb"|(/?)([a-zA-Z][^\s/>]*+)(" + _ATTRIBUTES + rb")"
    rb"|!--(?:-?>|.*?(?:--!?>|\Z))"
    rb"|[!?/][^>]*+(?:>|\Z)"
    rb")",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    rb"""([^\s/>=][^\s/>=]*+)\s*+(?:=\s*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^\s>]*+)))?+"""
)
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_NAME = re.compile(rb"<[^\s/>]*+")
_BLANK = b"\0 \t\n\v\f\r"
_LONGEST_PATH = 100  # steps
_LOOK_UP = 256  # open elements that an end tag, or an implied end, looks through


class PageTree:
    """Elements and runs of text of one page; node 0 is the whole body.

    Text of white space only, comments and declarations are no nodes. Byte offsets are those of
    the body as received.

    Attributes:
        body: The page as received.
        encoding: Python codec name its text is decoded with.
        tags: Of each node: lower-case tag name, :data:`TEXT` or :data:`ROOT`.
        parents: Index of the parent; -1 for node 0.
        after: Index of the first node behind the node's subtree.
        starts, ends: Byte range of the node with its tags.
        inner_starts, inner_ends: Byte range between its tags.
        spaced: The runs of text that white space of its own precedes, as in ``<b>a</b> <b>b</b>``.
    """

    def __init__(self, body: bytes, encoding: str) -> None:
        self.body = body
        self.encoding = encoding
        view = markup_view(body, encoding)
        self._markup = view.markup
        self._unit = view.unit
        size = len(view.markup)
        self.tags: list[str] = [ROOT]
        self.parents: list[int] = [-1]
        self.after: list[int] = [0]
        self.starts: list[int] = [0]
        self.inner_starts: list[int] = [0]
        self.inner_ends: list[int] = [size]
        self.ends: list[int] = [size]
        self.spaced: set[int] = set()
        mark = next((mark for mark in _BYTE_ORDER_MARKS if body.startswith(mark)), b"")
        _Builder(self).read(view.markup, len(mark) // view.unit)
        if view.unit > 1:
            for offsets in (self.starts, self.inner_starts, self.inner_ends, self.ends):
                offsets[:] = [offset * view.unit for offset in offsets]
            self.ends[0] = self.inner_ends[0] = len(body)
        self._texts: dict[int, str] = {}
        self._steps: dict[int, str] = {}  # of the paths asked for
        self._attributes: dict[int, Mapping[str, str]] = {}

    def __len__(self) -> int:
        return len(self.tags)

    def children(self, node: int) -> Iterator[int]:
        """Yield the children of a node in order."""
        after, end = self.after, self.after[node]
        child = node + 1
        while child < end:
            yield child
            child = after[child]

    def text(self, node: int) -> str:
        """Return the text of a run, white space collapsed; "" for an element."""
        known = self._texts.get(node)
        if known is None:
            known = self._texts[node] = " ".join(self.raw_text(node).split())
        return known

    def raw_text(self, node: int) -> str:
        """Return the text of a run with its white space; "" for an element."""
        if self.tags[node] != TEXT:
            return ""
        return self._decoded(self.starts[node], self.ends[node])

    def raw_content(self, node: int) -> str:
        """Return what stands between the tags of a raw element (script, style, title, …)."""
        return self._decoded(self.inner_starts[node], self.inner_ends[node])

    def start_tag(self, node: int) -> bytes:
        """Return the start tag of an element as written (in UTF-16, its ASCII letters)."""
        unit = self._unit
        return self._markup[self.starts[node] // unit : self.inner_starts[node] // unit]

    def attributes(self, node: int) -> Mapping[str, str]:
        """Return the attributes of an element; of one given twice, the first counts."""
        known = self._attributes.get(node)
        if known is None:
            known = self._attributes[node] = self._read_attributes(node)
        return known

    def path(self, node: int) -> str:
        """Return the DOM path of a node, as ``html/body/div[2]/p``; "" for node 0.

        Of one that stands deeper than a hundred elements, the last hundred steps, as ``…/div/p``.
        """
        steps: list[str] = []
        while node > 0 and len(steps) < _LONGEST_PATH:
            if node not in self._steps:
                self._name_children(self.parents[node])
            steps.append(self._steps[node])
            node = self.parents[node]
        if node > 0:
            steps.append("…")
        return "/".join(reversed(steps))

    def _name_children(self, node: int) -> None:
        seen: dict[str, int] = {}
        for child in self.children(node):
            name = "text()" if self.tags[child] == TEXT else self.tags[child]
            count = seen[name] = seen.get(name, 0) + 1
            self._steps[child] = f"{name}[{count}]" if count > 1 else name

    def _decoded(self, start: int, end: int) -> str:
        text = self.body[start:end].decode(self.encoding, "replace")
        if "&" in text:
            text = unescape(text)
        return text.replace("\x00", "").replace("\ufeff", "")

    def _read_attributes(self, node: int) -> Mapping[str, str]:
        if node == 0 or self.tags[node] == TEXT:
            return {}
        unit = self._unit
        start, end = self.starts[node] // unit, self.inner_starts[node] // unit
        name = _NAME.match(self._markup, start)
        found: dict[str, str] = {}
        if name is None:
            return found
        for match in _ATTRIBUTE.finditer(self._markup, name.end(), end):
            key = match[1].decode("latin-1").lower()
            if key not in found:
                found[key] = self._value(match)
        return found

    def _value(self, match: re.Match[bytes]) -> str:
        group = match.lastindex or 1
        if group == 1:
            return ""
        start, end = match.span(group)
        return self._decoded(start * self._unit, end * self._unit)


class _Builder:
    """Builds the table of nodes from the tokens of a page."""

    def __init__(self, tree: PageTree) -> None:
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

_TABLE_ONLY = frozenset({"table", "template"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})


def read_tree(
    body: bytes, *, encoding: str | None = None, content_type: str | None = None
) -> PageTree:
    """Read a page; never raises, whatever the bytes.

    Args:
        body: As received, without content encoding (gzip, …).
        encoding: Python codec name, where it is known; else it is found out.
        content_type: The ``Content-Type`` header, if any, which may name it.

    Raises:
        BlockError: no codec has the name that is given as `encoding`.
    """
    return PageTree(
        body, codec_name(encoding, body) if encoding else page_encoding(body, content_type)
    )
