"""Writes records of a WARC file with warcio."""

from __future__ import annotations

from base64 import b32encode
from dataclasses import dataclass
from hashlib import sha1
from io import BytesIO
from typing import Any, BinaryIO
from uuid import NAMESPACE_URL, uuid5

from warcio.warcwriter import WARCWriter

from mmcrawl import __version__
from mmcrawl.archive.model import Capture
from mmcrawl.archive.warc.heads import Head, as_date, head_of, uri_of

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_IDENTICAL = "identical-payload-digest"
_UNKNOWN = "application/octet-stream"
_SPECIFICATION = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


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
