"""Points in time, as callers give them and as messages show them."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan

__all__ = ["as_text", "as_unix_time"]


def as_unix_time(time: datetime | float) -> float:
    """Return Unix seconds; a datetime without a zone is taken as UTC.

    Raises:
        ValueError: it is no number (NaN).
    """
    if isinstance(time, datetime):
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).timestamp()
    if isnan(time):
        raise ValueError("NaN is no time; give Unix seconds or a datetime")
    return float(time)


def as_text(time: float | None) -> str:
    """Return a time as ``2024-05-17 08:30:00 UTC``; the number where no calendar has it."""
    if time is None:
        return "any time"
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return str(time)
