"""What is kept of a version beside its bytes and its row, and the version made of it again.

A visit that found the same again came with headers of its own, of which few differ: a date, a
cookie. Its *head* is compressed with the facts of the version as dictionary: some 50 bytes, and
nothing where no header differs.
"""

from __future__ import annotations

import json
from typing import Any

from mmcrawl.archive.backend import VersionRow
from mmcrawl.archive.format.frames import compressed, decompressed_like
from mmcrawl.archive.format.manifest import Entry
from mmcrawl.archive.format.pages import PageFacts, facts_of_page
from mmcrawl.archive.model import Capture, Version
from mmcrawl.errors import StoreError

__all__ = ["as_version", "cut_by", "is_read_alike", "written_facts", "written_head"]

_HEAD_LEVEL = 9  # of zstd
_LARGEST_HEAD = 16 << 20


def written_facts(capture: Capture, page: PageFacts, method: str, level: int) -> bytes:
    """Return what an entry keeps of a capture, in the order that :func:`as_version` reads it."""
    facts = [
        capture.reason,
        capture.content_type,
        page.language,
        page.encoding,
        method if page.is_page else "",
        level if page.is_page else 0,
        [list(header) for header in capture.headers],
    ]
    return _written(facts)


def written_head(capture: Capture, facts: bytes) -> bytes:
    """Return what is kept of a capture that found a version again, b"" if it came with the same.

    Args:
        capture: Its body is that of the version.
        facts: Of the version, as :func:`written_facts` wrote them.
    """
    head = [capture.reason, capture.content_type, [list(header) for header in capture.headers]]
    if head == _head_of(_read(facts)):
        return b""
    return compressed(_written(head), _HEAD_LEVEL, checksum=True, like=facts)


def is_read_alike(capture: Capture, facts: bytes) -> bool:
    """Return whether a capture is to be read as the version with the same body was.

    It is not if its headers declare another type, or another encoding and the body none. Headers
    that declare no type, as those of many a revisit record, say nothing against it.
    """
    _, content_type, _, encoding, method, _, headers = _read(facts)
    before = Capture("", b"", 0, headers=_as_headers(headers), content_type=content_type)
    if capture.media_type in ("", before.media_type):
        return True
    page = facts_of_page(capture)
    return (_type_of(capture), page.encoding, page.is_page) == (
        _type_of(before),
        encoding,
        bool(method),
    )


def as_version(url: str, row: VersionRow, entry: Entry, head: bytes | None = None) -> Version:
    """Make a version of its row and its entry.

    Args:
        url: As stored.
        row, entry: Its own.
        head: Of a visit that found it again; what that came with is put in place of what it was
            captured with.
    """
    facts = _read(entry.facts)
    _, _, language, encoding, method, level, _ = facts
    reason, content_type, headers = _read_head(head, entry.facts) if head else _head_of(facts)
    return Version(
        url=url,
        number=row.number,
        time=row.time,
        status=row.status,
        reason=reason,
        headers=_as_headers(headers),
        content_type=content_type,
        digest=row.digest.hex(),
        size=row.size,
        language=language,
        encoding=encoding,
        method=method,
        level=level,
    )


def cut_by(entry: Entry) -> tuple[str, int]:
    """Return the method and level of a version; "" and 0 if it is no page."""
    facts = _read(entry.facts)
    return facts[4], facts[5]


def _head_of(facts: list[Any]) -> list[Any]:
    return [facts[0], facts[1], facts[6]]


def _read_head(head: bytes, facts: bytes) -> list[Any]:
    return _read(decompressed_like(head, facts, _LARGEST_HEAD))


def _as_headers(headers: list[Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in headers)


def _type_of(capture: Capture) -> str:
    return capture.media_type.partition(";")[0].strip().lower()


def _written(facts: list[Any]) -> bytes:
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _read(written: bytes) -> list[Any]:
    try:
        facts: list[Any] = json.loads(written.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise StoreError(f"a manifest is damaged ({error})") from error
    return facts
