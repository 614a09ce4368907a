"""The head of a record: a capture's facts as fields of WARC and HTTP, and back; and its writer.

A body is stored decoded, so headers that describe its encoding would be wrong. They are written as
``X-Archive-Orig-NAME``, as pywb renames headers it disables, and every reader sees a head that fits
the body. Importing restores the original names.
"""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from hashlib import sha1
from io import BytesIO
from typing import Any, BinaryIO
from urllib.parse import quote, urlsplit
from uuid import NAMESPACE_URL, uuid5

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from mmcrawl import __version__
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

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_IDENTICAL = "identical-payload-digest"
_UNKNOWN = "application/octet-stream"
_SPECIFICATION = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class Head(StatusAndHeaders):  # type: ignore[misc]
    """A head of HTTP that is written in UTF-8, in which warcio reads it; warcio writes ASCII."""

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        """Return it as written."""
        return bytes(self.to_bytes(filter_func))


def head_of(capture: Capture, size: int) -> Head:
    """Return the head of a response with a body of so many bytes; the archive's type counts."""
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


@dataclass(frozen=True, slots=True)
class Written:
    """A response record, as others refer to it (WARC 1.1, sections 5.11 to 5.13)."""

    id: str
    uri: str
    date: str
    digest: str


class RecordWriter:
    """Writes records. The same calls write the same bytes: ids are derived from the contents."""

    def __init__(self, file: BinaryIO, *, gzip: bool) -> None:
        self._writer = WARCWriter(file, gzip=gzip, warc_version="1.1")
        self._has_info = False
        self.count = 0  # records written, without the first

    def write_info(self, time: float) -> None:
        """Write the ``warcinfo`` record, if there is none yet (WARC 1.1, section 6.2)."""
        if self._has_info:
            return
        self._has_info = True
        fields = {
            "software": f"mmcrawl/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": _SPECIFICATION,
        }
        content = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        record = self._record("warcinfo", self._fields("warcinfo", "", time), content)
        self._writer.write_record(record)

    def write_response(self, facts: Capture, body: bytes) -> Written:
        """Write a response (WARC 1.1, section 6.3); of `facts` the body is not looked at."""
        fields = self._fields("response", facts.url, facts.time)
        digest = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
        fields["WARC-Payload-Digest"] = f"sha1:{digest}"
        head = head_of(facts, len(body))
        return self._write(self._record("response", fields, body, http_headers=head))

    def write_resource(
        self, url: str, time: float, mime: str, content: BinaryIO, size: int
    ) -> Written:
        """Write bytes of which no head of HTTP is known (WARC 1.1, section 6.4)."""
        fields, mime = self._fields("resource", url, time), mime or _UNKNOWN
        record = self._record("resource", fields, content, length=size, warc_content_type=mime)
        return self._write(record)

    def write_same_resource(self, url: str, time: float, original: Written) -> None:
        """Write that a URL has the bytes of a resource written before."""
        self._revisit(self._fields("revisit", url, time), original)

    def write_revisit(
        self, facts: Capture, size: int, original: Written, *, not_modified: bool = False
    ) -> None:
        """Write a revisit: a visit that found a body written before (WARC 1.1, section 6.7).

        It has the head of its version, also where the server said only "not modified": readers
        would take that of the record it refers to, which may be of another address and status.
        """
        fields = self._fields("revisit", facts.url, facts.time)
        profile = "server-not-modified" if not_modified else _IDENTICAL
        self._revisit(fields, original, head_of(facts, size), profile)

    def write_failure(self, url: str, time: float, status: int, original: Written) -> None:
        """Write the note of a visit that got no page (WARC 1.1, section 6.6).

        Other programs do not replay it; they would need an answer, which the archive does not have.
        The status is 0 if there was none; `original` is the version that the archive had then.
        """
        fields = self._fields("metadata", url, time)
        fields["WARC-Refers-To"] = original.id
        content, kind = f"status: {status}\r\n".encode(), "application/warc-fields"
        self._write(self._record("metadata", fields, content, warc_content_type=kind))

    def _fields(self, kind: str, url: str, time: float) -> dict[str, str]:
        """Return the fields that a record begins with."""
        if kind != "warcinfo":
            self.write_info(time)
        uri, date = uri_of(url), as_date(time)
        name = uuid5(NAMESPACE_URL, f"{self.count} {kind} {date} {uri}")
        fields = {"WARC-Record-ID": f"<urn:uuid:{name}>", "WARC-Date": date}
        return {**fields, "WARC-Target-URI": uri} if uri else fields

    def _record(
        self, kind: str, fields: dict[str, str], content: bytes | BinaryIO, **more: Any
    ) -> Any:
        if isinstance(content, bytes):
            more["length"] = len(content)
            content = BytesIO(content)
        uri = fields.get("WARC-Target-URI", "")
        return self._writer.create_warc_record(
            uri, kind, payload=content, warc_headers_dict=fields, **more
        )

    def _revisit(
        self,
        fields: dict[str, str],
        original: Written,
        head: Head | None = None,
        profile: str = _IDENTICAL,
    ) -> None:
        record = self._writer.create_revisit_record(
            fields["WARC-Target-URI"],
            original.digest,
            original.uri,
            original.date,
            http_headers=head,
            warc_headers_dict={**fields, "WARC-Refers-To": original.id},
        )
        record.rec_headers.replace_header("WARC-Profile", _PROFILES + profile)
        self._write(record)

    def _write(self, record: Any) -> Written:
        self._writer.write_record(record)
        self.count += 1
        names = ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Payload-Digest")
        return Written(*(str(record.rec_headers.get(name)) for name in names))
