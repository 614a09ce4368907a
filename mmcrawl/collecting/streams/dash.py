"""Manifests of MPEG-DASH, ISO/IEC 23009-1, of recordings in one period."""

import re
from collections.abc import Iterator
from itertools import islice
from math import ceil
from typing import Any

from lxml import etree

from mmcrawl.collecting.streams.model import (
    MOST_PIECES,
    Fits,
    Piece,
    Track,
    address,
    left_out,
)
from mmcrawl.errors import MediaError

_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?")
_NAME = re.compile(r"\$(RepresentationID|Number|Bandwidth|Time|)(?:%0(\d{1,2})d)?\$")
_BYTES = re.compile(r"(\d{1,18})-(\d{1,18})")
_DAMAGED = (etree.XMLSyntaxError, ValueError, TypeError, LookupError, ArithmeticError)
_ADDRESSING = ("SegmentTemplate", "SegmentList", "SegmentBase")


def read_dash(data: bytes, base: str, fits: Fits) -> list[Track]:
    """Read a manifest; return the tracks of its best quality there is room for.

    Args:
        data: the manifest.
        base: its address.
        fits: asked for the bytes of the qualities, the best first; the last is taken in any case.

    Returns:
        The pictures, with or without sound, and the sound, if it is not with them.

    Raises:
        MediaError: it cannot be read or collected: it is live, encrypted, or of several recordings.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        manifest = etree.fromstring(data, parser)
        return _tracks(manifest, base, fits)
    except _DAMAGED as error:
        raise MediaError("it is a playlist that is damaged") from error


def _tracks(manifest: Any, base: str, fits: Fits) -> list[Track]:
    if manifest.get("type", "static") != "static":
        raise left_out("that has no end: it is sent live")
    periods = _children(manifest, "Period")
    if len(periods) != 1:
        raise left_out("of several recordings, which cannot be joined" if periods else "of none")
    period = periods[0]
    whole = manifest.get("mediaPresentationDuration")
    seconds = _seconds(period.get("duration") or whole or "")
    pictures = _qualities(period, "video")
    sounds = _qualities(period, "audio")
    [sound] = sounds[:1] or [None]
    chosen = [sound]
    for picture in pictures:
        chosen = [picture, sound]
        bits = sum(int(each.get("bandwidth", 0)) for each in chosen if each is not None)
        if fits(int(bits * seconds / 8)):
            break
    tracks = [
        Track(tuple(_pieces(each, manifest, base, seconds)), seconds, each in pictures)
        for each in chosen
        if each is not None
    ]
    if not tracks:
        raise MediaError("it is a playlist that names nothing")
    return tracks


def _qualities(period: Any, kind: str) -> list[Any]:
    """Return the representations of the first set of a kind, best first."""
    for group in _children(period, "AdaptationSet"):
        found = [each for each in _children(group, "Representation") if _is(each, group, kind)]
        if not found:
            continue
        if any(_children(each, "ContentProtection") for each in (group, *found)):
            raise left_out("whose pieces are protected (DRM)")
        return sorted(
            found, key=lambda each: (int(each.get("height", 0)), int(each.get("bandwidth", 0)))
        )[::-1]
    return []


def _is(representation: Any, group: Any, kind: str) -> bool:
    for element in (representation, group):
        for name in ("contentType", "mimeType"):
            if said := element.get(name):
                return str(said).startswith(kind)
    return False


def _pieces(representation: Any, manifest: Any, base: str, seconds: float) -> Iterator[Piece]:
    chain = [*reversed([*representation.iterancestors()]), representation]
    for element in chain:
        for each in _children(element, "BaseURL")[:1]:
            base = address(base, (each.text or "").strip())
    for how in reversed(_ADDRESSING):
        found = [each for element in chain for each in _children(element, how)]
        if not found or (how == "SegmentBase"):
            continue
        said = {name: value for each in found for name, value in each.attrib.items()}
        pieces = (
            _by_template(representation, found, said, base, seconds)
            if how == "SegmentTemplate"
            else _by_list(found, base)
        )
        few = [*islice(pieces, MOST_PIECES + 1)]
        if len(few) > MOST_PIECES:
            raise MediaError(f"it is a playlist of more than {MOST_PIECES:,} pieces")
        yield from few
        return
    yield Piece(base)


def _by_template(
    representation: Any, found: list[Any], said: dict[str, str], base: str, seconds: float
) -> Iterator[Piece]:
    def named(pattern: str, number: int = 0, time: int = 0) -> str:
        values = {
            "RepresentationID": representation.get("id", ""),
            "Bandwidth": representation.get("bandwidth", ""),
            "Number": number,
            "Time": time,
        }

        def value(match: re.Match[str]) -> str:
            text = str(values[match[1]]) if match[1] else "$"
            return text.zfill(int(match[2])) if match[2] else text

        return address(base, _NAME.sub(value, pattern))

    if "initialization" in said:
        yield Piece(named(said["initialization"]), is_head=True)
    for number, time in enumerate(_times(found, said, seconds), int(said.get("startNumber", 1))):
        yield Piece(named(said["media"], number, time))


def _times(found: list[Any], said: dict[str, str], seconds: float) -> Iterator[int]:
    """Yield when each piece begins, in units of the time scale."""
    scale = int(said.get("timescale", 1))
    end = int(seconds * scale) + int(said.get("presentationTimeOffset", 0))
    lines = [line for each in found for line in _children(each, "SegmentTimeline")]
    if not lines:
        length = int(said["duration"]) if "duration" in said else 0
        if length <= 0:
            raise ValueError("pieces have a length")
        for number in range(ceil(seconds * scale / length)):
            yield number * length
        return
    time = 0
    steps = _children(lines[-1], "S")
    for place, step in enumerate(steps):
        time, length = int(step.get("t", time)), int(step.get("d"))
        again = int(step.get("r", 0))
        if length <= 0:
            raise ValueError("pieces have a length")
        if again < 0:
            until = int(steps[place + 1].get("t", end)) if place + 1 < len(steps) else end
            again = max(ceil((until - time) / length), 1) - 1
        for _ in range(again + 1):
            yield time
            time += length


def _by_list(found: list[Any], base: str) -> Iterator[Piece]:
    for head in [head for each in found for head in _children(each, "Initialization")][-1:]:
        yield Piece(
            address(base, head.get("sourceURL") or base), *_bytes(head.get("range")), is_head=True
        )
    for piece in _children(found[-1], "SegmentURL"):
        yield Piece(address(base, piece.get("media") or base), *_bytes(piece.get("mediaRange")))


def _bytes(text: str | None) -> tuple[int, int | None]:
    match = _BYTES.fullmatch(text or "")
    return (int(match[1]), max(int(match[2]) - int(match[1]) + 1, 0)) if match else (0, None)


def _children(element: Any, name: str) -> list[Any]:
    """Return the children of a name, whatever the name space: there are wrong ones about."""
    return [
        each
        for each in element
        if isinstance(each.tag, str) and etree.QName(each).localname == name
    ]


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None:
        return 0.0
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
