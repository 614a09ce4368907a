"""The elements and text runs of a page, with the bytes they occupy.

A parser that repairs a page and writes it out again never returns the source. Here the page is read
by a tokenizer whose tokens *are* ranges of the body, and the tree is built over them in the spirit
of the HTML standard: elements that end each other, void and raw elements, scopes that end tags do
not cross. What the standard would move elsewhere (text inside a table, content after ``</body>``)
stays where its bytes are.

The tree is a table of nodes in document order, kept in parallel arrays. A subtree is a range of
indices, so sums over subtrees are differences of running sums, "bottom-up" is a loop from the end,
and any depth of nesting works. Building takes time proportional to the body.

The tokenizer looks for ``<``, ``>``, quotes and letters. In nearly every encoding of the web these
bytes mean nothing else (the trail bytes of GBK, Big5 and Shift_JIS never equal them). In UTF-16
they take two bytes, and in ISO-2022 and HZ they occur inside characters: there, a view of the body
is read instead, in which each unit is one byte and everything outside ASCII is masked.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from html import unescape
from html.entities import html5
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mmcrawl.errors import BlockError
from mmcrawl.page.html.building import ROOT, TEXT, TreeBuilder, integers
from mmcrawl.page.html.encoding import codec_of, page_encoding
from mmcrawl.page.html.tags import FINISHED
from mmcrawl.text.patterns import linear

_LAST_SPACE = 0x3000
_SLICE_CHARACTERS = 1 << 18  # characters that are looked at at once
_SMALL = 1 << 17  # of all the texts of a page

_MASK = 0xFF
_ISO_2022 = re.compile(
    rb"\x0e[^\x0f\n]*+|\x1b(?:\$[@ABD(*]|\$\)(?!C)|\([^BJ]).*?(?=\x1b\([BJ]|\Z)", re.DOTALL
)
_HZ = re.compile(rb"~~|~\{.*?(?=~\}|\n|\Z)", re.DOTALL)
_UTF16 = {"utf-16": "<u2", "utf-16-le": "<u2", "utf-16-be": ">u2"}
_ATTRIBUTE = linear(
    r"""([^\s/>=]++)\s*+(?:=\s*+(?:"([^"]*+)"?+|'([^']*+)'?+|([^\s>]*+)))?+""", re.ASCII
)
_NAME = re.compile(r"^<[^\s/>]*+", re.ASCII)
_NO_ATTRIBUTES: Mapping[str, str] = {}
_CONTROLS = frozenset({"a", "button"})
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_REFERENCE = re.compile(r"&(?:#[0-9]++;?|#[xX][0-9a-fA-F]++;?|([a-zA-Z][a-zA-Z0-9]*+(?:;|(?!=))))")
_TAGS = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))|<[^>]*+>|(<.*)", re.DOTALL)
_ESCAPABLE = frozenset({"title", "textarea"})  # raw elements with character references
_LONGEST_PATH = 100  # steps
_KNOWN = 4_096  # start tags whose attributes are remembered: pages of a site share them
_LONGEST_KNOWN = 300  # bytes
_SLICE = 10_000  # runs of text


class Ink(NamedTuple):
    """The characters of some texts that are no white space."""

    points: NDArray[np.uint32]  # their code points
    places: NDArray[np.int32]  # where they are in all the texts, which a character parts
    runs: NDArray[np.int32]  # the text each is in
    blank: NDArray[np.bool_]  # of each character of the texts, whether it is white space to `split`


class RunTexts:
    """The texts of the runs of a page: `joined` by NUL, which is in none of them."""

    def __init__(self, joined: str, count: int) -> None:
        self._joined = joined
        self._count = count
        self._ink: Ink | None = None

    @cached_property
    def starts(self) -> NDArray[np.int32]:
        """The position of each text in the string, and the end of the last."""
        starts = np.zeros(self._count + 1, dtype=np.int32)
        if self._count:
            points = _points(self._joined)
            starts[1:-1] = np.flatnonzero(points == 0) + 1
            starts[-1] = len(points) + 1
        return starts

    @cached_property
    def _bounds(self) -> memoryview:  # quicker to be read one by one
        return self.starts.data

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, run: int) -> str:
        return self._joined[self._bounds[run] : self._bounds[run + 1] - 1]

    def joined(self, first: int, after: int, most: int) -> str:
        """Return the texts from one to another, a space between two, cut after some characters."""
        start = self.starts[first]
        text = self._joined[start : min(self.starts[after] - 1, start + most)]
        return text.replace("\0", " ")

    def __iter__(self) -> Iterator[str]:
        return iter(self._joined.split("\0") if len(self) else ())

    def ink(self, runs: range) -> Ink:
        """Return the characters of some texts, in a row, that are no white space."""
        if len(self._joined) < _SMALL:  # looked at more than once
            if self._ink is None:
                self._ink = self._find_ink(range(len(self)))
            return self._ink
        return self._find_ink(runs)

    def _find_ink(self, runs: range) -> Ink:
        begin, end = self.starts[runs.start], self.starts[runs.stop]
        points = _points(self._joined[begin:end])
        blank = _spaces()[np.minimum(points, _LAST_SPACE + 1)]
        places = np.flatnonzero(~(blank | (points == 0))).astype(np.int32)
        sizes = np.diff(self.starts[runs.start : runs.stop + 1])
        numbers = np.repeat(np.arange(runs.start, runs.stop, dtype=np.int32), sizes)
        return Ink(points[places], places, numbers[places], blank)

    def slices(self, bounds: NDArray[np.integer] | None = None) -> Iterator[range]:
        """Yield ranges of texts, a slice of characters each, separated at `bounds` if given."""
        first = 0
        while first < len(self):
            after = (
                int(
                    np.searchsorted(
                        self.starts, self.starts[first] + _SLICE_CHARACTERS, side="right"
                    )
                )
                - 1
            )
            after = max(after, first + 1)
            if bounds is not None:
                place = np.searchsorted(bounds, after)
                after = int(bounds[place]) if place < len(bounds) else len(self)
            after = min(after, len(self))
            yield range(first, after)
            first = after

    def lengths(self) -> NDArray[np.int64]:
        """Return how many characters each text has, white space collapsed."""
        lengths = np.zeros(len(self), dtype=np.int64)
        for these in self.slices():
            _, places, runs, _ = self.ink(these)
            runs = runs - these.start
            separated = (np.diff(places) > 1) & (runs[1:] == runs[:-1])
            lengths[these.start : these.stop] = np.bincount(
                runs, minlength=len(these)
            ) + np.bincount(runs[1:][separated], minlength=len(these))
        return lengths


def _points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


@cache
def _spaces() -> NDArray[np.bool_]:
    return np.array([chr(code).isspace() for code in range(_LAST_SPACE + 2)], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class MarkupView:
    """A view of a body for the tokenizer, and the way back to its bytes."""

    markup: bytes  # the bytes to tokenize
    unit: int = 1  # bytes of the body for each byte of `markup`


def markup_view(body: bytes, encoding: str) -> MarkupView:
    """Return the view of a body in an encoding (a Python codec name)."""
    if encoding in _UTF16:
        kind = ">u2" if body.startswith(b"\xfe\xff") else _UTF16[encoding]
        units = np.frombuffer(body, dtype=kind, count=len(body) // 2)
        return MarkupView(np.where(units < 128, units, _MASK).astype(np.uint8).tobytes(), 2)
    if encoding.startswith("iso2022"):
        return MarkupView(_masked(_ISO_2022, body))
    if encoding == "hz":
        return MarkupView(_masked(_HZ, body))
    return MarkupView(body)


def codec_name(name: str, body: bytes) -> str:
    """Return the Python name of an encoding; of UTF-16, with the order that a mark gives.

    Raises:
        BlockError: browsers know no such encoding.

    >>> codec_name("UTF16", "\ufeff<p>".encode("utf-16-be"))
    'utf-16-be'
    """
    known = codec_of(name)
    if known is None:
        raise BlockError(f"unknown encoding {name!r}: give one that browsers know, as gb18030")
    if known.startswith("utf-16"):
        if body.startswith(codecs.BOM_UTF16_BE):
            return "utf-16-be"
        if known == "utf-16" or body.startswith(codecs.BOM_UTF16_LE):
            return "utf-16-le"
    return known


def _masked(runs: re.Pattern[bytes], body: bytes) -> bytes:
    return runs.sub(lambda run: bytes((_MASK,)) * len(run[0]), body)


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
        spaced: Of each node, 1 for a run of text that white space of its own precedes, as in
            ``<b>a</b> <b>b</b>``, else 0.
        runs: The runs of text, in order.
        link_ends: Of links that a block inside them took out of their paragraph, and so ended,
            the node behind their end tag: to browsers all between is link.
    """

    def __init__(self, body: bytes, encoding: str) -> None:
        self.body = body
        self.encoding = encoding
        view = markup_view(body, encoding)
        self._markup = view.markup
        self._unit = view.unit
        mark = next((mark for mark in _BYTE_ORDER_MARKS if body.startswith(mark)), b"")
        nodes = TreeBuilder(view.markup, len(mark) // view.unit, view.unit)
        nodes.read()
        self.tags, self.parents, self.after = nodes.tags, nodes.parents, nodes.after
        self.starts, self.inner_starts = nodes.starts, nodes.inner_starts
        self.inner_ends, self.ends = nodes.inner_ends, nodes.ends
        self.ends[0] = self.inner_ends[0] = len(body)
        self._runs, self.link_ends = nodes.texts, nodes.link_ends
        self.runs: NDArray[np.int32] = np.asarray(nodes.texts, dtype=np.int32)
        self.spaced = bytearray(len(self.tags))
        for node in nodes.spaced:
            self.spaced[node] = 1
        self._steps: dict[int, str] = {}  # of the paths asked for
        self._attributes: dict[int, Mapping[str, str]] = {}  # of the elements asked for

    @cached_property
    def _names(self) -> Mapping[str, int]:
        return {tag: number for number, tag in enumerate(dict.fromkeys(self.tags))}

    @cached_property
    def _name_numbers(self) -> NDArray[np.int32]:
        return np.fromiter(map(self._names.__getitem__, self.tags), np.int32, len(self.tags))

    @cached_property
    def apart(self) -> bytearray:
        """Of each node, 1 for a run of text drawn apart from the one before, else 0.

        It is spaced, or begins a link or button right behind another: menus often lack spaces.
        """
        inside = self.innermost(self.having(_CONTROLS))[self.runs]
        apart = (inside[:-1] > 0) & (inside[1:] > 0) & (inside[1:] != inside[:-1])
        marked = bytearray(self.spaced)
        np.frombuffer(marked, dtype=np.bool_)[self.runs[1:][apart]] = True
        return marked

    @property
    def is_cut_off(self) -> bool:
        """Whether the page ends within its last start tag, which browsers drop."""
        return self.tags[-1] not in (TEXT, ROOT) and not FINISHED.match(self.start_tag(-1))

    def elements(self, *tags: str) -> list[int]:
        """Return the elements of some tags, in order."""
        if self._names.keys().isdisjoint(tags):
            return []
        found: list[int] = np.flatnonzero(self.having(tags)).tolist()
        return found

    def having(self, tags: Collection[str]) -> NDArray[np.bool_]:
        """Return of each node whether it has one of some tags."""
        if self._names.keys().isdisjoint(tags):
            return np.zeros(len(self), dtype=np.bool_)
        return np.array([tag in tags for tag in self._names], dtype=np.bool_)[self._name_numbers]

    def mapped(self, numbers: Mapping[str, int], others: int) -> NDArray[np.int8]:
        """Return of each node the small number that its tag has, or that of all others."""
        each = [numbers.get(tag, others) for tag in self._names]
        return np.array(each, dtype=np.int8)[self._name_numbers]

    def counts(self, tags: Iterable[str]) -> list[int]:
        """Return how many nodes have each of some tags."""
        counts = dict(zip(self._names, np.bincount(self._name_numbers).tolist(), strict=True))
        return [counts.get(tag, 0) for tag in tags]

    def innermost(self, marked: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return of each node the innermost marked one that it is, or that is around it; else 0."""
        up = np.array(self.parents, dtype=np.int32)
        up[0] = 0
        np.copyto(up, np.arange(len(up), dtype=np.int32), where=marked)
        while True:  # each step goes twice as far up as the one before
            further = up.take(up)
            if np.array_equal(further, up):
                return up
            up = further

    def inside(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return of each node whether it is a marked one or stands in one."""
        ended = np.bincount(np.asarray(self.after)[marked], minlength=len(self) + 1)[:-1]
        inside: NDArray[np.bool_] = np.cumsum(marked - ended) > 0
        return inside

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
        return " ".join(self.raw_text(node).split())

    def raw_text(self, node: int) -> str:
        """Return the text of a run with its white space; "" for an element."""
        return self.texts[bisect_left(self._runs, node)] if self.tags[node] == TEXT else ""

    def texts_in(self, node: int, most: int) -> str:
        """Return the text of an element with its white space, cut after some characters."""
        first, after = (bisect_left(self._runs, place) for place in (node, self.after[node]))
        return self.texts.joined(first, after, most)

    def preformatted(self, nodes: range) -> str:
        """Return the text of nodes in a row as in ``<pre>``, with white space that is no node."""
        pieces: list[str] = []
        place = self.starts[nodes.start] if len(nodes) else 0
        for node in nodes:
            pieces.append(self._white_space(place, self.starts[node]))
            if self.tags[node] == TEXT:
                pieces.append(self.raw_text(node))
            elif self.tags[node] == "br":
                pieces.append("\n")
            is_text = self.tags[node] == TEXT
            place = self.ends[node] if is_text else max(place, self.inner_starts[node])
        return "".join(pieces)

    def _white_space(self, start: int, end: int) -> str:
        """Return the white space that stands between the tags of a part of the body."""
        if start >= end:
            return ""
        between = _TAGS.sub(r"\1", self.body[start:end].decode(self.encoding, "replace"))
        return between if between.isspace() else ""

    def raw_content(self, node: int) -> str:
        """Return the text of a raw element (script, style, title, …)."""
        start, end = self.inner_starts[node], self.inner_ends[node]
        return self._decoded(start, end, escaped=self.tags[node] in _ESCAPABLE)

    def start_tag(self, node: int) -> bytes:
        """Return the start tag of an element as written (in UTF-16, its ASCII letters)."""
        unit = self._unit
        return self._markup[self.starts[node] // unit : self.inner_starts[node] // unit]

    def start_tags(self, nodes: NDArray[np.integer]) -> Iterator[bytes]:
        """Yield the start tags of some elements: see :meth:`start_tag`."""
        starts = np.asarray(self.starts)[nodes] // self._unit
        ends = np.asarray(self.inner_starts)[nodes] // self._unit
        for start, end in zip(integers(starts), integers(ends), strict=True):
            yield self._markup[start:end]

    def mentioning(self, *words: bytes) -> list[int]:
        """Return the elements in whose start tags one of some words (lower case, ASCII) stands."""
        markup, starts, unit = self._lowered, self.starts, self._unit
        found: set[int] = set()
        for word in words:
            place = markup.find(word)
            while place >= 0:
                node = bisect_right(starts, place * unit) - 1
                behind = self.inner_starts[node]
                if place * unit < behind:
                    found.add(node)
                elif node + 1 < len(starts):  # in a text, a script, an end tag
                    behind = starts[node + 1]
                else:
                    break
                place = markup.find(word, behind // unit)
        return sorted(found)

    @cached_property
    def _lowered(self) -> bytes:
        return self._markup.lower()

    def attributes(self, node: int) -> Mapping[str, str]:
        """Return the attributes of an element; of one given twice, the first counts."""
        found = self._attributes.get(node)
        if found is None:
            start, end, name = self.starts[node], self.inner_starts[node], len(self.tags[node])
            if end - start < name + 3:  # as <p>
                return _NO_ATTRIBUTES
            if self._markup is not self.body:
                found = self._read_masked(node)
            else:
                read = _known_attributes if end - start < _LONGEST_KNOWN else _attributes
                found = read(self.body[start:end], name + 1, self.encoding)
            self._attributes[node] = found
        return found

    def path(self, node: int) -> str:
        """Return the DOM path of a node, as ``html/body/div[2]/p``, or its last hundred steps."""
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

    @cached_property
    def texts(self) -> RunTexts:
        """The texts of the runs, with their white space."""
        body, starts, ends = self.body, self.starts, self.ends
        runs = integers(self.runs)
        slices = (runs[first : first + _SLICE] for first in range(0, len(runs), _SLICE))
        text = b"\0".join(
            [b"\0".join([body[starts[node] : ends[node]] for node in these]) for these in slices]
        )
        if self._markup is body and b"\x1b" not in text:
            decoded = text.decode(self.encoding, "replace")
            # A broken character may take the NUL behind it along, and a run have one of its own.
            if "\ufffd" not in decoded and decoded.count("\0") == len(runs) - 1:
                return RunTexts(unescape(decoded).replace("\ufeff", ""), len(runs))
        texts = [self._decoded(starts[node], ends[node]) for node in runs]
        return RunTexts("\0".join(texts), len(runs))

    def _decoded(self, start: int, end: int, *, escaped: bool = True) -> str:
        text = self._text(start, end)
        return unescape(text) if escaped and "&" in text else text

    def _text(self, start: int, end: int) -> str:
        written = self.body[start:end]
        if self.encoding == "iso2022_kr":  # says once for a whole page what its shifts lead to
            written = b"\x1b$)C" + written
        return _clean(written.decode(self.encoding, "replace"))

    def _read_masked(self, node: int) -> Mapping[str, str]:
        """Read attributes of which no name and no quote is masked, each value by itself."""
        found: dict[str, str] = {}
        start, written = self.starts[node], self.start_tag(node).decode("latin-1")
        for match in _ATTRIBUTE.finditer(written, len(self.tags[node]) + 1):
            first, last = match.span(max(2, match.lastindex or 0))
            value = self._text(start + first * self._unit, start + last * self._unit)
            found.setdefault(match[1].lower(), _unescape_value(value))
        return found


def _attributes(written: bytes, start: int, encoding: str) -> Mapping[str, str]:
    """Return the attributes of a start tag, in which they begin somewhere."""
    tag = _clean(written.decode(encoding, "replace"))
    is_plain = len(tag) == len(written)  # a byte a character
    tag = tag[start:] if is_plain else _NAME.sub("", tag, count=1)
    written_so = _ATTRIBUTE.findall(tag)
    found = {name.lower(): double or single or bare for name, double, single, bare in written_so}
    if len(found) < len(written_so):
        found = {}
        for name, double, single, bare in written_so:
            found.setdefault(name.lower(), double or single or bare)
    return {n: _unescape_value(v) for n, v in found.items()} if "&" in tag else found


_known_attributes = lru_cache(maxsize=_KNOWN)(_attributes)


def _clean(text: str) -> str:
    return text.replace("\x00", "").replace("\ufeff", "")


def _unescape_value(text: str) -> str:
    """Resolve character references as HTML has it in attributes: ``?a=1&region=2`` has none.

    >>> _unescape_value("?a=1&amp;b&region=2&copy;&reg")
    '?a=1&b&region=2©®'
    """
    return _REFERENCE.sub(_resolved, text) if "&" in text else text


def _resolved(reference: re.Match[str]) -> str:
    name = reference[1]
    return unescape(reference[0]) if name is None else html5.get(name, reference[0])


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
