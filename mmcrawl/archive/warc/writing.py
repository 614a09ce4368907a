"""Records of a WARC file, written with warcio."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha1, sha256
from io import BytesIO
from typing import Any, BinaryIO
from uuid import NAMESPACE_URL, uuid5

from warcio.warcwriter import WARCWriter

from mmcrawl import __version__
from mmcrawl.archive.model import Capture
from mmcrawl.archive.warc.cdxj import IndexedRecord
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
        indexed: Is told each record that can be replayed.

    Attributes:
        count: Records written, without the first.
    """

    def __init__(
        self,
        file: BinaryIO,
        *,
        gzip: bool,
        indexed: Callable[[IndexedRecord], None] = lambda record: None,
    ) -> None:
        self._out = _Counted(file)
        self._writer = WARCWriter(self._out, gzip=gzip, warc_version="1.1")
        self._indexed = indexed
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
        named = self._named("warcinfo", "", as_date(time), {})
        self._writer.write_record(self._record("warcinfo", "", content, named))

    def write_response(self, facts: Capture, body: bytes, turn: int | None) -> Written:
        """Write a response (WARC 1.1, section 6.3).

        Args:
            facts: All but the body.
            body: As stored.
            turn: The place in which the URL's visits were stored, where times do not tell.
        """
        self.write_info(facts.time)
        head, note = head_of(facts, len(body))
        uri, date, noted = _identity(facts.url, facts.time, turn, note)
        digest = "sha1:" + b32encode(sha1(body, usedforsecurity=False).digest()).decode()
        fields = self._named("response", uri, date, noted)
        named = {**fields, "WARC-Payload-Digest": digest}
        record = self._record("response", uri, body, named, http_headers=head)
        mime = _essence(facts.media_type) or "application/octet-stream"
        self._write(record, mime, facts.status)
        return Written(fields["WARC-Record-ID"], uri, date, digest, _digest_of(head, note))

    def write_resource(
        self, url: str, time: float, mime: str, content: BinaryIO, size: int
    ) -> Written:
        """Write bytes of which no head of HTTP is known (WARC 1.1, section 6.4).

        Args:
            url: Where they are from.
            time: When, in Unix seconds.
            mime: Their type, "" if it is not known.
            content: The bytes; they are not read into memory.
            size: Number of them.
        """
        self.write_info(time)
        uri, date, noted = _identity(url, time, None, {})
        fields = self._named("resource", uri, date, noted)
        mime = mime or "application/octet-stream"
        record = self._writer.create_warc_record(
            uri,
            "resource",
            payload=content,
            length=size,
            warc_content_type=mime,
            warc_headers_dict=fields,
        )
        self._write(record, _essence(mime), 200)
        digest = str(record.rec_headers.get_header("WARC-Payload-Digest"))
        return Written(fields["WARC-Record-ID"], uri, date, digest, b"")

    def write_same_resource(self, url: str, time: float, original: Written) -> None:
        """Write that a URL has the bytes of a resource written before.

        Args:
            url, time: As of a resource.
            original: Where they were written.
        """
        uri, date, noted = _identity(url, time, None, {})
        fields = self._named("revisit", uri, date, noted)
        record = self._writer.create_revisit_record(
            uri,
            original.digest,
            original.uri,
            original.date,
            warc_headers_dict={**fields, "WARC-Refers-To": original.id},
        )
        record.rec_headers.replace_header("WARC-Profile", _PROFILES + "identical-payload-digest")
        self._write(record, _REVISIT, 200)

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
            facts: Of the version that was found, but its body; and when.
            size: Of the body.
            original: Where it was written.
            turn: As for a response.
            not_modified: Whether the answer, a 304, said only that.
        """
        head, note = head_of(facts, size)
        # pywb does not look up an empty payload, nor the head with it.
        is_known = size > 0 and _digest_of(head, note) == original.head
        noted: dict[str, Any] = {} if is_known else {"status": 304} if not_modified else note
        uri, date, noted = _identity(facts.url, facts.time, turn, noted)
        record = self._writer.create_revisit_record(
            uri,
            original.digest,
            original.uri,
            original.date,
            http_headers=None if is_known else head,
            warc_headers_dict={
                **self._named("revisit", uri, date, noted),
                "WARC-Refers-To": original.id,
            },
        )
        profile = "server-not-modified" if not_modified else "identical-payload-digest"
        record.rec_headers.replace_header("WARC-Profile", _PROFILES + profile)
        self._write(record, _REVISIT, facts.status)

    def write_failure(
        self, url: str, time: float, status: int, original: Written, turn: int | None
    ) -> None:
        """Write the note of a visit that got no page (WARC 1.1, section 6.6).

        Other programs do not replay it; they would need an answer, which the archive does not have.

        Args:
            url, time: Of the visit.
            status: Of the answer, 0 if there was none.
            original: The version that the archive had then.
            turn: As for a response.
        """
        uri, date, noted = _identity(url, time, turn, {"status": status})
        content = f"status: {status}\r\n".encode()
        named = {**self._named("metadata", uri, date, noted), "WARC-Refers-To": original.id}
        kind = "application/warc-fields"
        self._write(self._record("metadata", uri, content, named, warc_content_type=kind))

    def _record(
        self, kind: str, uri: str, content: bytes, named: dict[str, str], **more: Any
    ) -> Any:
        return self._writer.create_warc_record(
            uri,
            kind,
            payload=BytesIO(content),
            length=len(content),
            warc_headers_dict=named,
            **more,
        )

    def _write(self, record: Any, mime: str = "", status: int = 0) -> None:
        """Write a record; one with a type can be replayed."""
        offset = self._out.size
        self._writer.write_record(record)
        self.count += 1
        if mime:
            uri, date, digest = (
                str(record.rec_headers.get_header(name))
                for name in ("WARC-Target-URI", "WARC-Date", "WARC-Payload-Digest")
            )
            length = self._out.size - offset
            self._indexed(IndexedRecord(uri, date, mime, status, digest, offset, length))

    def _named(self, kind: str, uri: str, date: str, note: dict[str, Any]) -> dict[str, str]:
        """Return the fields that a record begins with."""
        name = uuid5(NAMESPACE_URL, f"{self.count} {kind} {date} {uri}")
        return {"WARC-Record-ID": f"<urn:uuid:{name}>", "WARC-Date": date, **field_of(note)}


class _Counted:
    """Knows how much was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = 0

    def write(self, data: bytes) -> int:
        self.size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _essence(content_type: str) -> str:
    """Return a type without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def _digest_of(head: Head, note: dict[str, Any]) -> bytes:
    return sha256(bytes(head.to_bytes()) + field_of(note).get(ORIGINAL, "").encode()).digest()


def _identity(
    url: str, time: float, turn: int | None, note: dict[str, Any]
) -> tuple[str, str, dict[str, Any]]:
    """Return WARC-Target-URI and WARC-Date, and a note of what they do not say."""
    uri, date = uri_of(url), as_date(time)
    note = dict(note)
    if uri != url:
        note["url"] = url
    if as_time(date) != time:
        note["time"] = time
    if turn is not None:
        note["order"] = turn
    return uri, date, note
