"""The entries of an XML file one after the other, each as a small tree: no more is held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mmcrawl.page.xml_events import END, START, Event, as_utf8, xml_events

_MOST_ELEMENTS = 2_000  # of an entry
_LONGEST_TEXT = 1 << 20  # characters of an entry


@dataclass(slots=True)
class Entry:
    """An element with what stands in it, bounded.

    Attributes:
        name, prefix, attributes: As of `Event`.
        children: In order.
        pieces: Its own text.
        source: The file as UTF-8.
        begin, end: Where its content begins and ends there.
        cut: Whether the file ends before it does.
    """

    name: str
    prefix: str
    attributes: dict[str, str]
    source: bytes = field(repr=False)
    begin: int
    end: int = 0
    children: list[Entry] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    cut: bool = False

    @property
    def text(self) -> str:
        """Its own text, whitespace collapsed; "" of one that the file's end cuts."""
        return "" if self.cut else " ".join("".join(self.pieces).split())

    @property
    def content(self) -> bytes:
        """What it holds as written, in UTF-8."""
        return self.source[self.begin : self.end]

    def walk(self) -> Iterator[Entry]:
        """Yield all that stands in it, in order."""
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
        body: The file as received.
        names: Of entries, in lower case. None stands in another.
        beside: Names of other elements that are yielded where they stand in none.

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
                opened.append(_entry(event, source))
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


def _entry(event: Event, source: bytes) -> Entry:
    return Entry(event.name, event.prefix, event.attributes, source, event.to)
