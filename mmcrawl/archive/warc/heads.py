"""The head of a record: a capture's facts as fields of WARC and HTTP, and back.

A body is stored decoded, so headers that describe its encoding would be wrong. They are written as
``X-Archive-Orig-NAME``, as pywb renames headers it disables, and every reader sees a head that fits
the body. Importing restores the original names.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import quote, urlsplit

from warcio.statusandheaders import StatusAndHeaders

from mmcrawl.archive.model import Capture, Headers

DOUBT = "X-Archive-Doubt"
"""Name of a header that says what speaks against a capture that was taken in all the same."""
NO_PLACE = "it has no WARC-Target-URI, or no WARC-Date that can be read"

_SET_ASIDE = "X-Archive-Orig-"
_CODINGS = ("content-encoding", "transfer-encoding")
_NO_TOKEN = re.compile(r"[^!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_URI_SAFE = "!#$%&'()*+,-./:;=?@[]_~"
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


def head_of(capture: Capture, size: int) -> Head:
    """Return the head of a response whose body has so many bytes.

    A type that the archive was given in place of the header's is the header.
    """
    headers = [
        (_SET_ASIDE * _is_outdated(name, value, size) + _one_line(name), _one_line(value))
        for name, value in capture.headers
    ]
    if capture.content_type and capture.content_type != capture.header("content-type"):
        headers = [one for one in headers if one[0].lower() != "content-type"]
        headers.append(("Content-Type", _one_line(capture.content_type)))
    headers = [(_NO_TOKEN.sub("-", name) or "Header", value) for name, value in headers]
    return Head(f"{capture.status} {_one_line(capture.reason)}", headers, protocol="HTTP/1.1")


def _is_outdated(name: str, value: str, size: int) -> bool:
    name = name.lower()
    return name in _CODINGS or (name == "content-length" and value != str(size))


def as_sent(headers: Headers) -> Headers:
    """Return headers under the names that they came with, before :func:`head_of`."""
    aside = tuple((_SET_ASIDE + name).lower() for name in (*_CODINGS, "content-length"))
    return tuple(
        (name[len(_SET_ASIDE) :] if name.lower() in aside else name, value)
        for name, value in headers
    )


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


def sort_key(url: str) -> str:
    """Return the key that CDX files are sorted by: the host from behind, then the path.

    Parameters are in order, so that a player that asks with them turned round finds the record.

    >>> sort_key("https://www.Physics.h.test:8080/A?b=1")
    'test,h,physics:8080)/a?b=1'
    >>> sort_key("http://h.test/?z=1&a=2")
    'test,h)/?a=2&z=1'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", f":{parts.port}" if parts.port else ""
    except ValueError:
        return url.lower()
    reversed_host = ",".join(reversed(host.removeprefix("www.").split(".")))
    query = "&".join(sorted(parts.query.split("&")))
    return f"{reversed_host}{port}){parts.path or '/'}{'?' if query else ''}{query}".lower()


def as_date(time: float) -> str:
    """Return a time as WARC-Date, to the nanosecond (WARC 1.1, section 5.4).

    >>> as_date(1700000000.25)
    '2023-11-14T22:13:20.25Z'
    >>> as_date(1700000000)
    '2023-11-14T22:13:20Z'
    """
    seconds, nanoseconds = divmod(round(Fraction(time) * 10**9), 10**9)
    text = datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
    return text + (f".{nanoseconds:09}".rstrip("0") if nanoseconds else "") + "Z"


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
