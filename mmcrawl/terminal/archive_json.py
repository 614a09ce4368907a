"""What the archive holds, as JSON that programs read."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from mmcrawl.archive.model import ArchiveStats, CheckReport, Difference, StoredBlock, Version, Visit
from mmcrawl.archive.revisits import Due


def as_json(record: Any) -> str:
    """Return a record as one line."""
    return json.dumps(record, ensure_ascii=False)


def url_record(url: str, visits: Sequence[Visit]) -> dict[str, Any]:
    """Return a URL of a list."""
    return {
        "url": url,
        "versions": sum(visit.changed for visit in visits),
        "visits": len(visits),
        "first_visit": _date(visits[0].time) if visits else None,
        "last_visit": _date(visits[-1].time) if visits else None,
    }


def version_record(
    version: Version, blocks: Sequence[StoredBlock] | None = None, visits: int | None = None
) -> dict[str, Any]:
    """Return a version, with its blocks or the number of its visits if they are given."""
    record = asdict(version) | {"date": _date(version.time)}
    record["headers"] = [list(header) for header in version.headers]
    if visits is not None:
        record["visits"] = visits
    if blocks is not None:
        record["blocks"] = [asdict(block) for block in blocks]
    return record


def difference_record(difference: Difference) -> dict[str, Any]:
    """Return a difference."""
    return {
        "old": version_record(difference.old),
        "new": version_record(difference.new),
        "same": difference.same,
        "layout_changed": difference.layout_changed,
        "blocks": [asdict(block) | {"kind": block.kind} for block in difference.blocks],
    }


def due_record(due: Due) -> dict[str, Any]:
    """Return a visit that is due."""
    return {
        "url": due.url,
        "last_visit": _date(due.last_visit),
        "next_visit": _date(due.next_visit),
        "changes_per_day": due.rate,
        "why": due.why,
    }


def stats_record(stats: ArchiveStats) -> dict[str, Any]:
    """Return the numbers of an archive."""
    return asdict(stats) | {"ratio": round(stats.ratio, 3)}


def check_record(report: CheckReport) -> dict[str, Any]:
    """Return what a check found."""
    return asdict(report) | {"clean": report.clean}


def _date(time: float) -> str | None:
    try:
        text = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, OSError, ValueError):
        return None
    return text.replace("+00:00", "Z")
