"""Reads the HTTP response in a record of a WARC file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from warcio.statusandheaders import StatusAndHeadersParser

from mmcrawl.archive.model import LARGEST_BODY, Capture, Headers
from mmcrawl.archive.warc.heads import DOUBT, NO_PLACE, as_sent, as_time
from mmcrawl.archive.warc.payload import CodingError, DamagedError, body_of, dechunked, is_digest_of
from mmcrawl.archive.warc.records import BadRecordError, Record, record_at
from mmcrawl.frontier.urls import url_key

_FAILED = re.compile(rb"status: ([0-9]{1,3})\r\n")  # of the note of a visit that got no page
_HEAD = 1 << 20  # room for a head, beside the largest body
_INTERIM = frozenset({"100", "102", "103"})
_STATUS = re.compile("[1-9][0-9]{0,2}")


class Message(NamedTuple):
    """An answer of HTTP as it is in a record."""

    record: Record
    status: int  # 0 where it has no head
    reason: str
    headers: Headers
    payload: bytes  # what follows the head, in the codings that the headers name
    certain: bool | None  # its bytes have the digest that the record gives; None if it gives none


@dataclass(frozen=True, slots=True)
class Answer:
    """What a record says that tells of a visit: a response, a revisit, or a note of our own."""

    record: Record
    capture: Capture  # the body of a revisit is elsewhere
    has_head: bool  # a revisit may do without
    finds_nothing: bool  # nothing had changed, or the visit failed
    doubts: tuple[str, ...]  # what is wrong with it, though it can be used
    is_other: bool  # its bytes are not those of its digest; its capture is marked by a header


def message_at(path: Path, offset: int) -> Message:
    """Read a response, a resource or a revisit; a BadRecordError if it is none, or damaged."""
    record = record_at(path, offset, LARGEST_BODY + _HEAD)
    block = record.begin
    # That of a revisit is not looked at: wget writes that of an empty block, whatever it holds.
    digest = record.field("WARC-Block-Digest") if record.has_body else ""
    certain = is_digest_of(digest, block) if digest else None
    if record.kind == "revisit" and not block:
        return Message(record, 0, "", (), b"", certain)
    if record.kind == "metadata":
        failed = _FAILED.fullmatch(block)
        if failed is None:
            raise BadRecordError("it is no note of a visit")
        return Message(record, int(failed[1]), "", (), b"", certain)
    if record.kind == "resource":  # it has no head, but a type
        kind = (("Content-Type", record.field("Content-Type")),)
        return Message(record, 200, "OK", kind, block, certain)
    return Message(record, *head_in(block), certain)


def answer_at(path: Path, offset: int) -> Answer:
    """Read a response, a resource, a revisit, or the note of a visit that got no page.

    Raises:
        BadRecordError: it is damaged, or none of these.
    """
    message = message_at(path, offset)
    record, headers, body, is_other = message.record, message.headers, b"", False
    doubts = [record.doubt] if record.doubt else []
    url, time = record.field("WARC-Target-URI"), as_time(record.field("WARC-Date"))
    if not url or time is None:
        raise BadRecordError(NO_PLACE)
    try:
        url.encode()
        url_key(0, url)
    except ValueError as error:
        raise BadRecordError(f"its WARC-Target-URI is no URL ({error})") from error
    if record.has_body:
        if truncated := record.field("WARC-Truncated"):  # a revisit is, that is its point
            doubts.append(f"the capture is truncated ({truncated})")
        body = _body(message, doubts)
        wrong, is_other = digest_doubts(message, body)
        doubts += wrong
        headers += ((DOUBT, wrong[0]),) if is_other else ()
    # A profile (WARC 1.1, section 6.7.3) or a response 304 means "not modified".
    profile = record.field("WARC-Profile").rstrip("/")
    is_unmodified = record.kind == "revisit" and profile.endswith("server-not-modified")
    has_head = record.kind != "metadata" and bool(message.status)
    status = 304 if is_unmodified else message.status
    finds_nothing = record.kind == "metadata" or is_unmodified
    finds_nothing |= record.kind == "response" and status == 304
    capture = Capture(url, body, time, status, as_sent(headers), message.reason)
    return Answer(record, capture, has_head, finds_nothing, tuple(doubts), is_other)


def head_in(block: bytes, spare: int = 3) -> tuple[int, str, Headers, bytes]:
    """Return status, reason and headers of an answer, and the payload.

    Up to `spare` interim answers before it are left out; a BadRecordError if there is none.
    """
    stream = BytesIO(block)
    try:
        head = StatusAndHeadersParser(["HTTP/"], verify=False).parse(stream)
    except (EOFError, ValueError) as error:
        raise BadRecordError("it has no HTTP headers") from error
    code, _, reason = head.statusline.partition(" ")
    if not head.protocol.upper().startswith("HTTP/") or not _STATUS.fullmatch(code):
        raise BadRecordError("it has no HTTP status line")
    headers = tuple((str(name), str(value).strip()) for name, value in head.headers)
    payload = block[stream.tell() :]
    if code in _INTERIM and spare and payload[:5].upper() == b"HTTP/":
        return head_in(payload, spare - 1)  # the answer itself
    return int(code), reason.strip(), headers, payload


def _body(message: Message, doubts: list[str]) -> bytes:
    try:
        body = body_of(message.payload, message.headers)
    except DamagedError as error:
        body = error.unpacked or message.payload
        doubts.append(f"{error}: what could be unpacked is kept" if error.unpacked else str(error))
    except CodingError as error:
        raise BadRecordError(str(error)) from error
    if len(body) > LARGEST_BODY:
        raise BadRecordError(f"its body has {len(body):,} bytes; up to {LARGEST_BODY:,} are kept")
    return body


def digest_doubts(message: Message, body: bytes) -> tuple[list[str], bool]:
    """Return what speaks against the digests of a record, and whether its bytes are others.

    Programs take that of a payload before the transfer coding is undone, after, or after all
    codings are (WARC 1.1, section 5.9, means the second), so any of these is right. One of block
    and payload that is right vouches for the bytes: some programs wrote wrong digests of blocks.
    """
    digest, payload = message.record.field("WARC-Payload-Digest"), message.payload
    rights = [is_digest_of(digest, one) for one in (payload, body)] if digest else []
    is_right = any(rights) or (bool(digest) and is_digest_of(digest, dechunked(payload)))
    if message.certain is False:
        block = message.record.field("WARC-Block-Digest")
        wrong = f"its bytes are not those of its digest {block}"
        return [f"{wrong}, though its payload is" if is_right else wrong], not is_right
    if not digest or is_right:
        return [], False
    if None in rights:
        return [f"the algorithm of its digest {digest} is not known"], False
    wrong = f"its payload is not that of its digest {digest}"
    return [f"{wrong}, though its block is" if message.certain else wrong], not message.certain
