"""What files say of themselves: audio and video (ID3, MP4, Vorbis comments), and animations."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import isfinite
from typing import BinaryIO

from mmcrawl.collecting.swf import read_swf
from mmcrawl.collecting.swf.container import SIGNATURES
from mmcrawl.collecting.works.languages import language_tag
from mmcrawl.collecting.works.values import date_in
from mmcrawl.errors import MediaError, StoreError

_LONGEST = 200


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

    What cannot be read has no tags; nor have, where mutagen is not installed, audio and video.

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
    head = file.read(3)
    file.seek(0)
    if head in SIGNATURES:
        return _tags_of_animation(file)
    if find_spec("mutagen") is None:
        return FileTags()
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
        return " ".join(str(values[0]).split())[:_LONGEST]

    length = float(getattr(found.info, "length", 0.0) or 0.0)
    return FileTags(
        title=first("title"),
        creator=first("artist") or first("albumartist"),
        date=date_in(first("date")),
        language=language_tag(first("language")),
        copyright=first("copyright"),
        duration=round(length, 3) if isfinite(length) and length > 0 else 0.0,
    )


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
