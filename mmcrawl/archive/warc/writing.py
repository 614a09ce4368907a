"""Records of a WARC file, written with warcio."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha1, sha256
from io import BytesIO
from types import MappingProxyType
from typing import Any, BinaryIO
from uuid import NAMESPACE_URL, uuid5

from warcio.warcwriter import WARCWriter

from mmcrawl import __version__
from mmcrawl.archive.model import Capture
from mmcrawl.archive.warc.cdxj import Index
from mmcrawl.archive.warc.heads import (
    ORIGINAL,
    Head,
    as_date,
    as_time,
    field_of,
    head_of,
    uri_of,
)

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_IDENTICAL = "identical-payload-digest"
_UNKNOWN = "application/octet-stream"
_REVISIT = "warc/revisit"  # as indexes name the type of revisits
_SPECIFICATION = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


@dataclass(frozen=True, slots=True)
class Written:
    """A response record, as others refer to it (WARC 1.1, sections 5.11 to 5.13).

    Attributes:
        id: WARC-Record-ID.
        uri: WARC-Target-URI.
        date: WARC-Date.
        digest: WARC-Payload-Digest.
        head: Digest of the head as written, and of what it does not say as captured.
    """

    id: str
    uri: str
    date: str
    digest: str
    head: bytes


class RecordWriter:
    """Writes records. The same calls write the same bytes: ids are made of what is written.

    Args:
        file: Open for writing, at its begin.
        gzip: Whether records are compressed, one by one.
        index: Lists each record that can be replayed.

    Attributes:
        count: Records written, without the first.
    """

    def __init__(self, file: BinaryIO, *, gzip: bool, index: Index | None = None) -> None:
        self._file = file
        self._writer = WARCWriter(file, gzip=gzip, warc_version="1.1")
        self._index = index
        self._has_info = False
        self.count = 0

    def write_info(self, time: float) -> None:
        """Write the ``warcinfo`` record, if there is none yet (WARC 1.1, section 6.2).

        Args:
            time: Its date. That of the first capture makes equal exports equal.
        """
        if self._has_info:
            return
        self._has_info = True
        fields = {
            "software": f"mmcrawl/{__version__}",
            "format": "WARC File Format 1.1",
            "conformsTo": _SPECIFICATION,
        }
        content = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        self._writer.write_record(
            self._record("warcinfo", self._fields("warcinfo", "", time), content)
        )

    def write_response(self, facts: Capture, body: bytes, turn: int | None) -> Written:
        """Write a response (WARC 1.1, section 6.3).

        Args:
            facts: All but the body.
            body: As stored.
            turn: The place in which the URL's visits were stored, where times do not tell.
        """
        head, note = head_of(facts, len(body))
        fields = self._fields("response", facts.url, facts.time, note, turn)
        digest = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
        fields["WARC-Payload-Digest"] = f"sha1:{digest}"
        record = self._record("response", fields, body, http_headers=head)
        mime = _essence(facts.media_type) or _UNKNOWN
        return self._write(record, mime, facts.status, _digest_of(head, note))

    def write_resource(
        self, url: str, time: float, mime: str, content: BinaryIO, size: int
    ) -> Written:
        """Write bytes of which no head of HTTP is known (WARC 1.1, section 6.4).

        Args:
            url, time, mime: Where they are from, when, and of what type; "" if it is not known.
            content, size: The bytes, which are not read into memory, and how many they are.
        """
        fields = self._fields("resource", url, time)
        mime = mime or _UNKNOWN
        record = self._record("resource", fields, content, length=size, warc_content_type=mime)
        return self._write(record, _essence(mime))

    def write_same_resource(self, url: str, time: float, original: Written) -> None:
        """Write that a URL has the bytes of a resource written before."""
        self._revisit(self._fields("revisit", url, time), original)

    def write_revisit(
        self,
        facts: Capture,
        size: int,
        original: Written,
        turn: int | None,
        *,
        not_modified: bool = False,
    ) -> None:
        """Write a revisit: a visit that found a body written before (WARC 1.1, section 6.7).

        Readers replay it with its head; without one, with that of the record it refers to. So the
        head of the version is left out if it is that one. Of a visit that was told "not modified"
        the archive keeps no head: such a record has the one that holds on.

        Args:
            facts, size: Of the version that was found, at the time of the visit, and of its body.
            original: Where that was written.
            turn: As for a response.
            not_modified: Whether the answer, a 304, said only that.
        """
        head, note = head_of(facts, size)
        # pywb does not look up an empty payload, nor the head with it.
        is_known = size > 0 and _digest_of(head, note) == original.head
        noted: dict[str, Any] = {} if is_known else {"status": 304} if not_modified else note
        fields = self._fields("revisit", facts.url, facts.time, noted, turn)
        profile = "server-not-modified" if not_modified else _IDENTICAL
        self._revisit(fields, original, None if is_known else head, profile, facts.status)

    def write_failure(
        self, url: str, time: float, status: int, original: Written, turn: int | None
    ) -> None:
        """Write the note of a visit that got no page (WARC 1.1, section 6.6).

        Other programs do not replay it; they would need an answer, which the archive does not have.
        The status is 0 if there was none; `original` is the version that the archive had then.
        """
        fields = self._fields("metadata", url, time, {"status": status}, turn)
        fields["WARC-Refers-To"] = original.id
        content, kind = f"status: {status}\r\n".encode(), "application/warc-fields"
        self._write(self._record("metadata", fields, content, warc_content_type=kind))

    def _fields(
        self,
        kind: str,
        url: str,
        time: float,
        note: Mapping[str, Any] = MappingProxyType({}),
        turn: int | None = None,
    ) -> dict[str, str]:
        """Return the fields that a record begins with, with a note of what they do not say."""
        if kind != "warcinfo":
            self.write_info(time)
        uri, date = uri_of(url), as_date(time)
        noted = dict(note)
        if uri != url:
            noted["url"] = url
        if as_time(date) != time and url:
            noted["time"] = time
        if turn is not None:
            noted["order"] = turn
        name = uuid5(NAMESPACE_URL, f"{self.count} {kind} {date} {uri}")
        fields = {"WARC-Record-ID": f"<urn:uuid:{name}>", "WARC-Date": date, **field_of(noted)}
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
        status: int = 200,
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
        self._write(record, _REVISIT, status)

    def _write(self, record: Any, mime: str = "", status: int = 200, head: bytes = b"") -> Written:
        """Write a record; one with a type can be replayed."""
        offset = self._file.tell()
        self._writer.write_record(record)
        self.count += 1
        fields = record.rec_headers
        if mime and self._index is not None:
            self._index.add(fields, mime, status, offset, self._file.tell() - offset)
        name, uri, date, digest = (
            str(fields.get(name))
            for name in ("WARC-Record-ID", "WARC-Target-URI", "WARC-Date", "WARC-Payload-Digest")
        )
        return Written(name, uri, date, digest, head)


def _essence(content_type: str) -> str:
    """Return a type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _digest_of(head: Head, note: dict[str, Any]) -> bytes:
    return sha256(bytes(head.to_bytes()) + field_of(note).get(ORIGINAL, "").encode()).digest()
