"""Reads faulty XML as a stream: a fault costs only the entry it is in.

XML parsers stop at the first fault, and those that recover close and nest elements in ways that
spoil what follows: after a bare ``&`` libxml2 loses references, and an unclosed element absorbs all
entries after it. Sitemaps, feeds, lists of feeds and playlists are lists of entries, so this reader
trusts single tags and nothing that spans many of them:

* a start tag of an entry closes the previous entry, an end tag closes what is open inside its
  element, and an end tag that matches nothing is skipped;
* a tag ends where the next begins; of a broken tag the readable attributes count;
* ``&`` is text where no reference follows; HTML's entities are known, others stay as written, even
  if the file declares them;
* a comment or CDATA section that holds the start of another was not closed: its marker is text;
* prefixes need no declaration; control characters are dropped.

Entries are returned one by one, each as a small tree; nothing else is held. Nothing outside the
file is read. Time is linear in its size.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from html.entities import html5
from typing import NamedTuple

from mmcrawl.page.html.encoding import decode_page
from mmcrawl.text.patterns import linear
from mmcrawl.text.writing import xml_text

_DECLARED = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")
_WIDE = re.compile(
    "utf-?(?:16|32)|ucs", re.IGNORECASE
)  # what can be read as bytes is none of these
# Never beyond the next tag, so that no byte is read twice. A "<" in a value may only be text.
_TAG = linear(
    rb"<(?P<end>/?)(?P<name>[A-Za-z_\x80-\xff][\w.:\x80-\xff-]*+)"
    rb"""(?P<rest>(?:[^<>"']++|"(?:[^"<]++|<(?![A-Za-z_/!?]))*+"|'(?:[^'<]++|<(?![A-Za-z_/!?]))*+')*+)>"""
)
_BROKEN_TAG = linear(
    rb"<(?P<end>/?)(?P<name>[A-Za-z_\x80-\xff][\w.:\x80-\xff-]*+)(?P<rest>[^<>]*+)>?"
)
_ATTRIBUTE = linear(
    rb"""(?<![^\s="'/<>])([^\s="'/<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++))"""
)
_REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(\w{1,32}));", re.ASCII)
_DOCTYPE = linear(rb"<!DOCTYPE[^\[<>]{0,2000}+(?:\[|>)", re.IGNORECASE)
_DECLARATION = linear(rb"<![^<>]*+>?")
_SECTIONS = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"))
_LONGEST_SUBSET = 64 * 1024
_LONGEST_INSTRUCTION = 4 * 1024
_MOST_NAMES = 1_000  # that are remembered
_MOST_ELEMENTS = 2_000  # of an entry
_LONGEST_TEXT = 1 << 20  # characters of an entry
_DEEPEST = 64  # open elements that are known of; deeper ones are read as if they stood beside

START, TEXT, END = "start", "text", "end"


class Event(NamedTuple):
    """The next piece of a file.

    Attributes:
        attributes: By name in lower case without prefix; of two of one name the one without prefix
            counts. Those with the prefix ``xml`` keep it.
        at: Where it begins in the bytes that `as_utf8` returns; of an end where its tag begins.
        to: Where it ends there.
    """

    kind: str  # `START`, `TEXT` or `END`. Each start has its end
    name: str = ""  # of an element, in lower case, without prefix
    prefix: str = ""  # of its name as written, in lower case, "" for none
    attributes: dict[str, str] = {}  # noqa: RUF012 - none is changed
    text: str = ""  # decoded, references replaced; not collapsed
    at: int = 0
    to: int = 0
    whole: bool = True  # of an end: whether a tag says so; not the end of the file


def as_utf8(body: bytes) -> bytes:
    """Return an XML file as UTF-8, decoded as its byte order mark, declaration and bytes say.

    >>> as_utf8('<?xml version="1.0" encoding="utf-16"?><a/>'.encode("utf-16-le"))[-4:]
    b'<a/>'
    """
    declared = _DECLARED.search(body[:4096])
    label = declared[1].decode("ascii") if declared else ""
    return decode_page(body, f"text/xml; charset={label}" if not _WIDE.match(label) else None)[1]


def xml_events(utf8: bytes, entries: frozenset[str] = frozenset()) -> Iterator[Event]:
    """Yield the pieces of a file from `as_utf8`; `entries` do not stand in one another."""
    opened: list[tuple[str, str]] = []
    for event in _Reading(utf8).events():
        if event.kind == TEXT:
            yield event
            continue
        closed = 0
        if event.kind == END:
            closed = 1 if opened and opened[-1][0] == event.name else _height(opened, {event.name})
        elif event.name in entries:
            closed = _height(opened, entries)
        for _ in range(closed):
            yield Event(END, *opened.pop(), {}, "", event.at, event.to)
        if event.kind == START:
            yield event
            if event.whole and len(opened) < _DEEPEST:
                opened.append((event.name, event.prefix))
            else:
                yield Event(END, event.name, event.prefix, at=event.to, to=event.to)
    end = len(utf8)
    for name, prefix in reversed(opened):
        yield Event(END, name, prefix, at=end, to=end, whole=False)


def _height(opened: list[tuple[str, str]], names: Set[str]) -> int:
    """Return how many elements are to be closed so that the innermost of some names is."""
    for count, (name, _) in enumerate(reversed(opened), start=1):
        if name in names:
            return count
    return 0


class _Reading:
    """One pass over a file: tags, text, and what is neither."""

    def __init__(self, utf8: bytes) -> None:
        self._utf8 = utf8
        self._names: dict[bytes, tuple[str, str]] = {}
        self._ends: dict[bytes, int] = {}

    def events(self) -> Iterator[Event]:
        """Yield starts, ends and text as they are written; `whole` of a start: it stays open."""
        utf8, begin, at = self._utf8, 0, 0
        while (at := utf8.find(b"<", at)) >= 0:
            tag = _TAG.match(utf8, at) or _BROKEN_TAG.match(utf8, at)
            section = None if tag else self._other(at)
            if tag is None and section is None:
                at += 1  # it is text
                continue
            if begin < at and (text := self._text(begin, at)):
                yield text
            if tag is not None:
                begin = at = tag.end()
                yield self._of_tag(tag)
            elif section is not None:
                first, last, begin = section
                at = begin
                if first < last:
                    content = xml_text(utf8[first:last].decode("utf-8", "replace"))
                    yield Event(TEXT, text=content, at=first, to=last)
        if text := self._text(begin, len(utf8)):
            yield text

    def _of_tag(self, tag: re.Match[bytes]) -> Event:
        is_end, written, rest = tag.groups()
        known = self._names.get(written)
        if known is None:
            prefix, _, name = written.decode("utf-8", "replace").lower().rpartition(":")
            known = name, prefix
            if len(self._names) < _MOST_NAMES:
                self._names[written] = known
        at, to = tag.span()
        if is_end:
            return Event(END, *known, {}, "", at, to)
        attributes = self._attributes(rest) if b"=" in rest else {}
        return Event(START, *known, attributes, "", at, to, not rest.endswith(b"/"))

    def _attributes(self, rest: bytes) -> dict[str, str]:
        attributes: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(rest):
            prefix, _, local = name.decode("utf-8", "replace").lower().rpartition(":")
            value = self._replaced(next(filter(None, values), b""))
            if prefix == "xml":
                local = f"xml:{local}"
            if prefix and prefix != "xml":
                attributes.setdefault(local, value)
            else:
                attributes[local] = value
        return attributes

    def _text(self, at: int, to: int) -> Event | None:
        written = self._utf8[at:to]
        return (
            None if written.isspace() else Event(TEXT, "", "", {}, self._replaced(written), at, to)
        )

    def _replaced(self, written: bytes) -> str:
        text = written.decode("utf-8", "replace")
        return xml_text(_REFERENCE.sub(_referred, text) if "&" in text else text)

    def _other(self, at: int) -> tuple[int, int, int] | None:
        """Return from, to and next position of a "<" that begins no tag; None if it is text."""
        utf8 = self._utf8
        for marker, end in _SECTIONS:
            if utf8.startswith(marker, at):
                first = at + len(marker)
                last = self._next(end, first)
                if last < 0 or utf8.find(marker, first, last) >= 0:
                    return first, first, first
                is_text = marker.endswith(b"[")
                return (first if is_text else last), last, last + len(end)
        after = self._after_declaration(at)
        return None if after is None else (after, after, after)

    def _after_declaration(self, at: int) -> int | None:
        """Return where an instruction or a declaration ends; None where none begins."""
        if self._utf8.startswith(b"<?", at):
            for end in (b"?>", b">"):
                last = self._next(end, at)
                if at <= last < at + _LONGEST_INSTRUCTION:
                    return last + len(end)
            return None
        if doctype := _DOCTYPE.match(self._utf8, at):
            at = doctype.end()
            last = self._next(b"]>", at) if doctype[0].endswith(b"[") else -1
            return last + 2 if at <= last < at + _LONGEST_SUBSET else at
        declaration = _DECLARATION.match(self._utf8, at)
        return None if declaration is None else declaration.end()

    def _next(self, marker: bytes, at: int) -> int:
        """Return where a marker comes next, -1 for nowhere; what was searched is not again."""
        found = self._ends.get(marker, at - 1)
        if found == -1 and marker in self._ends:
            return -1
        if found < at:
            found = self._ends[marker] = self._utf8.find(marker, at)
        return found


def _referred(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name:
        return html5.get(f"{name};", reference[0])
    number = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(number) if number <= sys.maxunicode else ""


@dataclass(slots=True)
class Entry:
    """An element with its contents, of bounded size.

    Attributes:
        name, prefix, attributes: As of `Event`.
        begin, end: Where its content begins and ends there.
    """

    name: str
    prefix: str
    attributes: dict[str, str]
    source: bytes = field(repr=False)  # the file as UTF-8
    begin: int
    end: int = 0
    children: list[Entry] = field(default_factory=list)  # in order
    pieces: list[str] = field(default_factory=list)  # its own text
    cut: bool = False  # whether the file ends before it does

    @property
    def text(self) -> str:
        """Its own text, whitespace collapsed; "" of one that the file's end cuts."""
        return "" if self.cut else " ".join("".join(self.pieces).split())

    @property
    def content(self) -> bytes:
        """Its contents as written, in UTF-8."""
        return self.source[self.begin : self.end]

    def walk(self) -> Iterator[Entry]:
        """Yield all that is in it, in order."""
        for child in self.children:
            yield child
            yield from child.walk()

    def all(self, *names: str) -> Iterator[Entry]:
        """Yield the elements of some names in it, at any depth."""
        return (one for one in self.walk() if one.name in names)

    def first(self, *names: str) -> str:
        """Return the first text of one of some names, in their order; "" for none."""
        for name in names:
            for one in self.all(name):
                if text := one.text:
                    return text
        return ""


def xml_entries(
    body: bytes, names: frozenset[str], beside: frozenset[str] = frozenset()
) -> Iterator[Entry]:
    """Yield the entries of a file, whatever stands around them; never raises.

    Args:
        names: Of entries, in lower case. None stands in another.
        beside: Names of other elements that are yielded where they are in none.

    >>> body = b"<list><x>no<e><a>1 & 2</a><e><a>3"
    >>> [(entry.first("a"), len(entry.children)) for entry in xml_entries(body, frozenset("e"))]
    [('1 & 2', 1), ('', 1)]
    """
    source = as_utf8(body)
    outermost = names | beside
    opened: list[Entry] = []
    spare = count = 0
    for event in xml_events(source, names):
        if event.kind == START:
            if opened or event.name in outermost:
                count = count + 1 if opened else 1
                spare = spare if opened else _LONGEST_TEXT
                opened.append(Entry(event.name, event.prefix, event.attributes, source, event.to))
                if len(opened) > 1 and count <= _MOST_ELEMENTS:
                    opened[-2].children.append(opened[-1])
        elif not opened:
            continue
        elif event.kind == END:
            ended = opened.pop()
            ended.end, ended.cut = event.at, not event.whole
            if not opened:
                yield ended
        elif spare > 0:
            opened[-1].pieces.append(event.text[:spare])
            spare -= len(event.text)
