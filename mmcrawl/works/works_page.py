"""All that a page tells of the works on it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import isfinite
from typing import BinaryIO

from mmcrawl.blocks.facts.facts import PageFacts, page_facts
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.errors import MediaError, StoreError
from mmcrawl.media.swf.container import SIGNATURES
from mmcrawl.media.swf.reading import read_swf
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared
from mmcrawl.page.tree import read_tree
from mmcrawl.works.licences import LicenceReader, declared_licences
from mmcrawl.works.model import Licence
from mmcrawl.works.occurrences import Occurrence, OccurrenceReader
from mmcrawl.works.values import date_in, language_of, language_tag, level_of_texts

_LONGEST = 200
_HEAD = 1 << 16
_BEFORE_MARKUP = b"\xef\xbb\xbf \t\r\n"
_LICENSED = re.compile(
    r"\bthis (?:file|simulation) is licensed under (?:the |a )?([^\n<]{1,200})", re.IGNORECASE
)
_OWNER = re.compile(r"^\s{0,9}copyright (?:\(c\) |© )?[\d –-]{4,15},? ([^\n<]{1,200})", re.I | re.M)
_DIRECTIONS = (
    "\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069"  # marks of bidirectional text
)
_CONTAINER = re.compile(rb"\x1aE\xdf\xa3|RIFF.{4}AVI |FLV\x01|\0\0\x01\xba|\.RMF", re.DOTALL)
"""Begin of a format that mutagen does not read. MediaInfo is given no others: of some it would open
what they refer to."""


@dataclass(frozen=True, slots=True)
class FileTags:
    """Title, creator, date (ISO), language, and seconds; "" and 0 for what is not said."""

    title: str = ""
    creator: str = ""
    date: str = ""
    language: str = ""
    copyright: str = ""
    duration: float = 0.0


def reader_of_tags(open_file: Callable[[str], BinaryIO]) -> Callable[[str], FileTags]:
    """Return what reads the tags of a file by its digest.

    What cannot be read has no tags; nor have, where mutagen (for Matroska, AVI and the like:
    pymediainfo) is not installed, audio and video.
    """

    def read(digest: str) -> FileTags:
        try:
            with open_file(digest) as file:
                return tags_of(file)
        except (StoreError, OSError):  # gone since: it is described by its pages
            return FileTags()

    return read


def tags_of(file: BinaryIO) -> FileTags:
    """Return the tags of an open file; none of one that is damaged or of another format."""
    head = file.read(12)
    file.seek(0)
    if head[:3] in SIGNATURES:
        return _tags_of_animation(file)
    if head.lstrip(_BEFORE_MARKUP)[:1] == b"<":
        return _tags_of_simulation(file.read(_HEAD))
    if _CONTAINER.match(head):
        return FileTags() if find_spec("pymediainfo") is None else _tags_by_mediainfo(file)
    return FileTags() if find_spec("mutagen") is None else _tags_by_mutagen(file)


def _tags_by_mutagen(file: BinaryIO) -> FileTags:
    from mutagen import File, MutagenError

    try:
        found = File(file, easy=True)
    except (MutagenError, ValueError, IndexError, KeyError, OverflowError, TypeError):
        return FileTags()  # its parsers take what they read for granted
    if found is None:
        return FileTags()
    tags = found.tags or {}

    def first(name: str) -> str:
        try:
            values = tags.get(name) or [""]
        except (KeyError, ValueError):  # names that a format does not have
            return ""
        return _line(values[0])

    return FileTags(
        title=first("title"),
        creator=first("artist") or first("albumartist"),
        date=date_in(first("date")),
        language=language_tag(first("language")),
        copyright=first("copyright"),
        duration=_seconds(getattr(found.info, "length", 0)),
    )


def _tags_by_mediainfo(file: BinaryIO) -> FileTags:
    from pymediainfo import MediaInfo

    try:
        tracks = MediaInfo.parse(file).general_tracks
    except (OSError, RuntimeError, SyntaxError):  # its library; what it says of itself is no XML
        return FileTags()
    said = tracks[0].to_data() if tracks else {}
    return FileTags(
        title=_line(said.get("title", "")),
        creator=_line(said.get("performer") or said.get("director", "")),
        date=date_in(str(said.get("recorded_date", ""))),
        copyright=_line(said.get("copyright", "")),
        duration=_seconds((said.get("duration") or 0) / 1_000),
    )


def _line(text: object) -> str:
    return " ".join(str(text).split())[:_LONGEST]


def _seconds(length: object) -> float:
    try:
        seconds = float(length or 0)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
    return round(seconds, 3) if isfinite(seconds) and seconds > 0 else 0.0


def _tags_of_animation(file: BinaryIO) -> FileTags:
    try:
        facts = read_swf(file)
    except MediaError:
        return FileTags()
    return FileTags(
        title=facts.title[:_LONGEST],
        creator=facts.creator[:_LONGEST],
        date=date_in(facts.date),
        language=language_tag(facts.language),
        duration=round(facts.seconds, 3),
    )


def _tags_of_simulation(head: bytes) -> FileTags:
    """Return what a page of one file, as PhET's are, says in its head or in a comment there.

    Only what is said of the file itself counts: it holds programs of others with their licences.
    """
    title = Declared(read_tree(head, encoding="utf-8")).title
    text = head.decode("utf-8", "replace")
    licence, owner = _LICENSED.search(text), _OWNER.search(text)
    return FileTags(
        title=_line(title.strip(_DIRECTIONS)),
        creator=_line(owner[1]) if owner else "",
        copyright=_line(licence[1]) if licence else "",
    )


_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class WorksPage:
    """What a page tells of the works on it.

    Attributes:
        headline: What its text is headed by, or structured data and Open Graph call it; "" for
            none.
        language: BCP 47, "" if nothing tells.
        level: One of `AUDIENCES`, "" if nothing tells.
        licences: What is said of the whole page, all scores.
    """

    url: str
    title: str
    headline: str = ""
    language: str = ""
    level: str = ""
    licences: tuple[Licence, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
    facts: PageFacts = field(default_factory=PageFacts)

    @property
    def creator(self) -> str:
        """Who made it, "" if nothing tells."""
        return "; ".join(self.facts.authors)[:_LONGEST_NAME]

    @property
    def date(self) -> str:
        """The day it was published, "" if nothing tells."""
        return self.facts.published.date.isoformat() if self.facts.published else ""


def read_works_page(page: Partition, url: str, resources: Iterable[MediaResource]) -> WorksPage:
    """Return what a page tells of the works on it."""
    lines, said = PageLines.of(page.tree, page.measures), Declared(page.tree)
    licences = LicenceReader(page, lines, url)
    occurrences = OccurrenceReader(page, lines, url, licences).read(resources, said.things)
    headline = _headline(page, said)
    facts = page_facts(said, lines, title=headline, url=url)
    outer = [thing for thing, around in said.things if not around]
    stated = [thing.text("educationallevel", "typicalagerange") for thing in outer]
    keywords = [*said.meta("keywords")][:1]
    return WorksPage(
        url=url,
        title=said.title,
        headline=headline,
        language=language_of(facts.language, " ".join(lines.texts)),
        level=level_of_texts([*filter(None, stated), headline, said.title, *keywords]),
        licences=(*declared_licences(outer, said, url), *licences.of_page()),
        occurrences=tuple(occurrences),
        facts=facts,
    )


def _headline(page: Partition, said: Declared) -> str:
    declared = [thing.text("headline") for thing in said.of_page]
    declared += [*said.meta("og:title", "dc.title")]
    if headline := next(filter(None, declared), ""):
        return headline
    tree = page.tree
    first = next((node for node, tag in enumerate(tree.tags) if tag == "h1"), 0)
    if first:
        return page.facts.texts.of(range(first, tree.after[first]))[:200]
    return next((block.text[:200] for block in page.blocks if block.kind == "title"), "")
