"""What is kept of a version beside its bytes and its row, and the version made of it again."""

from __future__ import annotations

import json
from typing import Any

from mmcrawl.archive.backend import VersionRow
from mmcrawl.archive.manifest import Entry
from mmcrawl.archive.model import Capture, Version
from mmcrawl.archive.pages import PageFacts
from mmcrawl.errors import StoreError

__all__ = ["as_version", "cut_by", "written_facts"]


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
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def as_version(url: str, row: VersionRow, entry: Entry) -> Version:
    """Make a version of its row and its entry."""
    reason, content_type, language, encoding, method, level, headers = _read_facts(entry)
    return Version(
        url=url,
        number=row.number,
        time=row.time,
        status=row.status,
        reason=reason,
        headers=tuple((name, value) for name, value in headers),
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
    facts = _read_facts(entry)
    return facts[4], facts[5]


def _read_facts(entry: Entry) -> list[Any]:
    try:
        facts: list[Any] = json.loads(entry.facts.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise StoreError(f"a manifest is damaged ({error})") from error
    return facts
