"""The head of a record: a capture's facts as fields of WARC and HTTP, and back.

A body is stored without its codings, so headers that speak of codings would lie beside it. They
are written as ``X-Archive-Orig-NAME``, as pywb names what it puts out of force, and every reader
sees a head that fits its body. What a head cannot say as it was captured (these headers, a header
that is not one line, a time finer than nanoseconds, …) stands as it was in one more named field of
the record, :data:`ORIGINAL`, which other programs skip (WARC 1.1, section 5.1: unknown fields are
ignored). It is written only where something differs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from warcio.statusandheaders import StatusAndHeaders

from mmcrawl.archive.model import Capture

ORIGINAL = "Mmcrawl-Original"
DOUBT = "X-Archive-Doubt"
"""Name of a header that says what speaks against a capture that was taken in all the same."""
NO_PLACE = "it has no WARC-Target-URI, or no WARC-Date that can be read"
SET_ASIDE = "X-Archive-Orig-"

_CODINGS = frozenset({"content-encoding", "transfer-encoding"})
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_URI_SAFE = "!#$%&'()*+,-./:;=?@[]_~"
_MOST = 1 << 62  # that stores take for a number
_DATE = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d\d?)"
    r"(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


class Head(StatusAndHeaders):  # type: ignore[misc]
    """A head of HTTP that is written in UTF-8, in which warcio reads it; warcio writes ASCII."""

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        """Return it as written."""
        return bytes(self.to_bytes(filter_func))


def head_of(capture: Capture, size: int) -> tuple[Head, dict[str, Any]]:
    """Return the head of a response, and what it does not say as captured.

    Args:
        capture: Its body is not looked at.
        size: Of the body in bytes.
    """
    note: dict[str, Any] = {}
    reason = _one_line(capture.reason)
    if reason != capture.reason:
        note["reason"] = capture.reason
    status = capture.status if 100 <= capture.status <= 999 else 500
    # A response 304 of another program is taken for a visit, not for a version.
    if status != capture.status or status == 304:
        note["status"] = capture.status
    if capture.content_type:
        note["type"] = capture.content_type
    headers = [_written(name, value, size) for name, value in capture.headers]
    differing = {
        str(index): [name, value]
        for index, (name, value) in enumerate(capture.headers)
        if headers[index] != (name, value)
    }
    if differing:
        note["headers"] = differing
    return Head(f"{status} {reason}", headers, protocol="HTTP/1.1"), note


def _written(name: str, value: str, size: int) -> tuple[str, str]:
    folded = name.lower()
    if folded in _CODINGS or (folded == "content-length" and value != str(size)):
        name = SET_ASIDE + name
    if not _TOKEN.fullmatch(name):
        name = SET_ASIDE + (re.sub(r"[^0-9A-Za-z]+", "-", name).strip("-") or "Header")
    return name, _one_line(value)


def _one_line(text: str) -> str:
    return _UNSAFE.sub("?", text).strip()


def is_http(url: str) -> bool:
    """Return whether a URL is of HTTP: records of others have no head (WARC 1.1, section 6.3)."""
    return url.partition(":")[0].lower() in ("http", "https") and ":" in url


def uri_of(url: str) -> str:
    """Return a URL as WARC-Target-URI, in ASCII (RFC 3986).

    >>> uri_of("HTTP://e.com/a b")
    'http://e.com/a%20b'
    """
    scheme, colon, rest = url.partition(":")
    return f"{scheme.lower()}{colon}{quote(rest, safe=_URI_SAFE, errors='surrogatepass')}"


def as_date(time: float) -> str:
    """Return a time as WARC-Date, to the nanosecond (WARC 1.1, section 5.4).

    >>> as_date(1700000000.25)
    '2023-11-14T22:13:20.25Z'
    >>> as_date(1700000000)
    '2023-11-14T22:13:20Z'
    """
    exact = Fraction(min(max(time, _EARLIEST), _LATEST))
    seconds, nanoseconds = divmod(round(exact * 10**9), 10**9)
    text = datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    return text + (f".{nanoseconds:09}".rstrip("0") if nanoseconds else "") + "Z"


_EARLIEST = datetime(1, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()


def as_time(date: str) -> float | None:
    """Return a WARC-Date in Unix seconds, its fraction included; None if it is none.

    A date may end after the year, the month, the day or the minute (WARC 1.1, section 5.4). Two
    things that the standard does not have were written all the same: a time zone, and by ClueWeb09
    the day of the year for that of the month. A space may stand for the T.

    >>> as_time("2023-11-14T22:13:20.25Z")
    1700000000.25
    >>> as_time("2008-10-294T05:21:46-0700") == as_time("2008-10-20T12:21:46Z")
    True
    """
    match = _DATE.fullmatch(date.strip())
    if match is None:
        return None
    year, month, day, clock, second, fraction, zone = match.groups("")
    month, day = month or "01", day or "01"
    days, form = (day, "%j") if len(day) == 3 else (f"{month}-{day}", "%m-%d")
    text = f"{year}-{days} {clock or '00:00'} {zone or 'Z'}"
    try:
        whole = datetime.strptime(text, f"%Y-{form} %H:%M %z")
        seconds = int(whole.timestamp()) + int(second or 0)
    except (ValueError, OverflowError):
        return None
    if whole.month != int(month) or int(second or 0) > 60:
        return None
    # One decimal number, rounded once: adding a fraction would round twice.
    scale = 10 ** len(fraction[:18])
    return float(Fraction(seconds * scale + int(fraction[:18] or 0), scale))


def field_of(note: Mapping[str, Any]) -> dict[str, str]:
    """Return the field :data:`ORIGINAL` of a record, no field if there is nothing to note."""
    return {ORIGINAL: json.dumps(note, separators=(",", ":"))} if note else {}


def note_of(field: str, uri: str) -> dict[str, Any]:
    """Read the field :data:`ORIGINAL` of a record.

    Args:
        field: It, or "".
        uri: WARC-Target-URI of the record.

    Raises:
        ValueError, TypeError: it is damaged, or of another URL.
    """
    try:
        note = json.loads(field) if field else {}
    except RecursionError as error:
        raise ValueError("too deep") from error
    kinds = {"url": str, "reason": str, "type": str, "status": int, "order": int, "headers": dict}
    if not isinstance(note, dict):
        raise TypeError("no object")
    for key, value in note.items():
        if key == "time":
            note[key] = float(value)
        elif not isinstance(value, kinds.get(key, object)):
            raise TypeError(key)
        if isinstance(note[key], int | float) and not abs(note[key]) < _MOST:
            raise ValueError(key)
    if "url" in note and uri_of(note["url"]) != uri:
        raise ValueError("url")
    return note


def restored(capture: Capture, note: Mapping[str, Any]) -> Capture:
    """Return a capture as it was before :func:`head_of`.

    Raises:
        ValueError, LookupError: the note is of another head.
    """
    headers = list(capture.headers)
    for index, (name, value) in note.get("headers", {}).items():
        headers[int(index)] = (str(name), str(value))
    return replace(
        capture,
        url=note.get("url", capture.url),
        time=note.get("time", capture.time),
        status=note.get("status", capture.status),
        reason=note.get("reason", capture.reason),
        content_type=note.get("type", capture.content_type),
        headers=tuple(headers),
    )
