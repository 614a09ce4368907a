"""What files say of themselves: audio and video (ID3, MP4, Vorbis comments, Matroska, AVI, Flash
video, MPEG, RealMedia), and animations."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import isfinite
from typing import BinaryIO

from mmcrawl.collecting.swf import read_swf
from mmcrawl.collecting.swf.container import SIGNATURES
from mmcrawl.collecting.works.values import date_in, language_tag
from mmcrawl.errors import MediaError, StoreError

_LONGEST = 200
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

    Args:
        open_file: Opens a file by its digest; raises StoreError where it is not there.
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
