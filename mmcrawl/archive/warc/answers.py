"""What a record of a WARC file says: an answer of HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from warcio.statusandheaders import StatusAndHeadersParser

from mmcrawl.archive.model import Capture, Headers
from mmcrawl.archive.warc.heads import ORIGINAL, as_time, note_of, restored
from mmcrawl.archive.warc.payload import LARGEST, CodingError, body_of, dechunked, is_digest_of
from mmcrawl.archive.warc.records import BadRecordError, Record, record_at

__all__ = ["Answer", "answer_at"]

_NOT_MODIFIED = "server-not-modified"
_HEAD = 1 << 20  # room for a head, beside the largest body


@dataclass(frozen=True, slots=True)
class Answer:
    """A record of type ``response`` or ``revisit`` that was read.

    Attributes:
        record: It.
        capture: What it says; the body of a revisit is elsewhere.
        has_head: Whether it has a head of HTTP: a revisit may do without.
        note: Its field :data:`~mmcrawl.archive.warc.heads.ORIGINAL`.
        doubts: What is wrong with it, though it can be used.
    """

    record: Record
    capture: Capture
    has_head: bool
    note: dict[str, Any]
    doubts: tuple[str, ...]

    @property
    def is_not_modified(self) -> bool:
        """Whether it says that nothing had changed, and no more (WARC 1.1, section 6.7.3)."""
        if self.record.kind == "revisit":
            return self.record.field("WARC-Profile").rstrip("/").endswith(_NOT_MODIFIED)
        return self.capture.status == 304 and "status" not in self.note


def answer_at(path: Path, offset: int) -> Answer:
    """Read a response or a revisit.

    Raises:
        BadRecordError: it is damaged, or no answer of HTTP.
    """
    record, block = record_at(path, offset, LARGEST + _HEAD)
    doubts: list[str] = []
    note = _note(record, doubts)
    url, time = record.field("WARC-Target-URI"), as_time(record.field("WARC-Date"))
    if not url or time is None:
        raise BadRecordError("it has no WARC-Target-URI or no WARC-Date")
    certain = _is_certain(record, block)
    if record.loose:
        doubts.append("no blank lines follow it: its Content-Length may be wrong")
    truncated = record.field("WARC-Truncated")
    if truncated and record.kind == "response":  # a revisit is, that is its point
        doubts.append(f"the capture is truncated ({truncated})")
    capture = Capture(url, b"", time, status=304)
    if block or record.kind == "response":
        status, reason, headers, payload = _head(block)
        body = b""
        if record.kind == "response":
            body = _body(payload, headers)
            doubts += _digest_doubts(record, payload, body, certain=certain)
        capture = Capture(url, body, time, status, headers, reason)
    try:
        capture = restored(capture, note)
    except (ValueError, TypeError, LookupError):
        doubts.append(f"its field {ORIGINAL} does not fit it")
        note = {}
    return Answer(record, capture, bool(block), note, tuple(doubts))


def _note(record: Record, doubts: list[str]) -> dict[str, Any]:
    try:
        return note_of(record.field(ORIGINAL))
    except (ValueError, TypeError):
        doubts.append(f"its field {ORIGINAL} cannot be read")
        return {}


def _is_certain(record: Record, block: bytes) -> bool:
    """Whether a block has the digest of its record; False if none is given, or not known.

    The one of a revisit is not looked at: wget writes that of an empty block, whatever it holds.

    Raises:
        BadRecordError: it has another.
    """
    digest = record.field("WARC-Block-Digest") if record.kind == "response" else ""
    right = is_digest_of(digest, block) if digest else None
    if right is False:
        raise BadRecordError(f"its bytes are not those of its digest {digest}")
    return bool(right)


def _head(block: bytes) -> tuple[int, str, Headers, bytes]:
    """Return status, reason and headers of an answer, and the payload."""
    stream = BytesIO(block)
    try:
        head = StatusAndHeadersParser(["HTTP/"], verify=False).parse(stream)
    except (EOFError, ValueError) as error:
        raise BadRecordError("it has no head of HTTP") from error
    code, _, reason = head.statusline.partition(" ")
    if not head.protocol.upper().startswith("HTTP/") or not (code.isascii() and code.isdecimal()):
        raise BadRecordError("it has no status line of HTTP")
    headers = tuple((str(name), str(value)) for name, value in head.headers)
    return int(code), reason.strip(), headers, block[stream.tell() :]


def _body(payload: bytes, headers: Headers) -> bytes:
    try:
        body = body_of(payload, headers)
    except CodingError as error:
        raise BadRecordError(str(error)) from error
    if len(body) > LARGEST:
        raise BadRecordError(f"its body has {len(body)} bytes, more than are kept")
    return body


def _digest_doubts(record: Record, payload: bytes, body: bytes, *, certain: bool) -> list[str]:
    """Compare a payload with its digest.

    Programs take it before the transfer coding is undone, after, or after all codings are (WARC
    1.1, section 5.9, means the second), so any of these is right.

    Raises:
        BadRecordError: it is wrong, and nothing else vouches for the bytes.
    """
    digest = record.field("WARC-Payload-Digest")
    if not digest:
        return []
    for content in (payload, body):
        if (right := is_digest_of(digest, content)) is not False:
            return [] if right else [f"the algorithm of its digest {digest} is not known"]
    if is_digest_of(digest, dechunked(payload)):
        return []
    wrong = f"its payload is not that of its digest {digest}"
    if not certain:
        raise BadRecordError(wrong)
    return [f"{wrong}, though its block is"]
