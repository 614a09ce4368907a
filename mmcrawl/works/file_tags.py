"""Metadata that files hold, read in a separate process, which may break.

A few kilobytes can unpack to gigabytes, or keep a parser busy for hours. So the process has limits
on memory and on time for each file; if it dies, that file has no tags, and the next file gets a new
process.
"""

import re
import sys
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import isfinite
from signal import ITIMER_VIRTUAL, setitimer
from typing import BinaryIO, Self

from mmcrawl.errors import MediaError, StoreError
from mmcrawl.media.files import open_files
from mmcrawl.media.swf import SIGNATURES, read_swf
from mmcrawl.page.html.tree import read_tree
from mmcrawl.page.structured import Declared
from mmcrawl.store.child_process import ChildProcess, Questions
from mmcrawl.works.values import date_in, language_tag

_MEMORY = 1 << 30  # bytes that the process may take
_SECONDS = 20.0  # of the processor, for a file
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


class TagReader:
    """Reads tags of files of a media store, as far as mutagen and pymediainfo are installed."""

    def __init__(self, store: str) -> None:
        self._store = store
        self._child: ChildProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.end()
            self._child = None

    def __call__(self, digest: str) -> FileTags:
        """Return the tags of a file."""
        try:
            self._child = self._child or ChildProcess(__name__)
            return FileTags(**self._child.ask((self._store, digest)))
        except (EOFError, OSError, ValueError):  # it has ended
            self.__exit__()
            return FileTags()


def serve() -> None:
    """In the other process: answer with the tags of files."""
    questions = Questions()
    if sys.platform != "win32":
        from resource import RLIMIT_AS, setrlimit

        setrlimit(RLIMIT_AS, (_MEMORY, _MEMORY))
    while True:
        (store, digest), _ = questions.next()
        if sys.platform != "win32":
            setitimer(ITIMER_VIRTUAL, _SECONDS)  # when it is over, the process ends
        try:
            with open_files(store).open(digest) as file:
                tags = tags_of(file)
        except (StoreError, OSError, MemoryError):  # gone since: it is described by its pages
            tags = FileTags()
        questions.answer(asdict(tags))


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
    from mutagen import File

    try:
        found = File(file, easy=True)
    except Exception:  # noqa: BLE001 - its parsers take what they read for granted
        return FileTags()
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
    """Return what a page of one file, as PhET's, says of itself in its head or a comment there."""
    title = Declared(read_tree(head, encoding="utf-8")).title
    text = head.decode("utf-8", "replace")
    licence, owner = _LICENSED.search(text), _OWNER.search(text)
    return FileTags(
        title=_line(title.strip(_DIRECTIONS)),
        creator=_line(owner[1]) if owner else "",
        copyright=_line(licence[1]) if licence else "",
    )
