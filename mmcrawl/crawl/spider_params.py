"""What users say of an archive, where it is, and points in time; and of collecting media."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from mmcrawl.archive.uris import archive_beside, as_archive_uri
from mmcrawl.crawl.arguments import (
    DEFAULT_STORE,
    SpiderParams,
    WebName,
    checked_kinds,
    checked_store,
    readable,
)
from mmcrawl.media.index import State
from mmcrawl.media.sizes import ALL, Budget, as_size, as_sizes
from mmcrawl.text.media_kinds import KINDS

_COMPACT = {12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_PERIOD = re.compile(r"(\d{4})(?:-?(\d\d)(?:-?(\d\d))?)?", re.ASCII)


def as_time(text: str, *, end: bool = False) -> float:
    """Return a point in time as Unix seconds; what names no zone is UTC.

    Args:
        text: ``2024-05-17``, ``2024-05-17 08:30:00``, with ``T`` and a zone if wished, the digits
            of a Memento (``20240517083000``), ``now``, or ``@`` and Unix seconds. A day, a month
            (``2024-05``) and a year stand for their beginning.
        end: Whether they stand for their end instead, a millisecond before the next one.

    Raises:
        ValueError: it is none of these.

    >>> as_time("2024-05-17") == as_time("20240517000000") == as_time("@1715904000")
    True
    >>> as_time("2024-05", end=True) == as_time("2024-05-31T23:59:59.999")
    True
    """
    text = text.strip()
    try:
        if text == "now":
            return datetime.now(UTC).timestamp()
        if text.startswith("@"):
            time = float(text[1:])
            datetime.fromtimestamp(time, UTC)
            return time
        if period := _PERIOD.fullmatch(text):
            return _bound(*(int(part) if part else None for part in period.groups()), end=end)
        if text.isascii() and text.isdigit() and len(text) in _COMPACT:
            found = datetime.strptime(text, _COMPACT[len(text)])
        else:
            found = datetime.fromisoformat(text.removesuffix(" UTC"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is no time; give one as 2024-05-17, 2024-05-17T08:30:00+08:00 or @1715934600"
        ) from None


def _bound(year: int | None, month: int | None, day: int | None, *, end: bool) -> float:
    """Return when a year, a month or a day begins, or when it ends."""
    begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    if not end:
        return begin.timestamp()
    after = begin + timedelta(days=1 if day else 31 if month else 366)
    if not day:  # the first day of the month or year that this is in
        after = after.replace(day=1) if month else after.replace(month=1, day=1)
    return (after - timedelta(milliseconds=1)).timestamp()


class ArchiveParams(SpiderParams):
    """Which archive is meant: `archive`, or the one that belongs to the crawl in `store`."""

    store: str = Field("", description="store of the crawl that the archive belongs to")
    archive: str = Field("", description="the archive itself: sqlite:///FILE or mongodb://…")

    @field_validator("store")
    @classmethod
    def _known_store(cls, uri: str) -> str:
        return as_archive_uri(uri) or "" if uri.startswith("mongodb") else checked_store(uri)

    @field_validator("archive")
    @classmethod
    def _known_archive(cls, text: str) -> str:
        return as_archive_uri(text) or ""

    @model_validator(mode="after")
    def _complete(self) -> "ArchiveParams":
        if self.archive_uri is None:
            raise ValueError("a store in memory has no archive; give -a archive=sqlite:///FILE")
        return self

    @property
    def archive_uri(self) -> str | None:
        """URI of the archive."""
        return self.archive or archive_beside(self.store or DEFAULT_STORE)


class RevisitParams(ArchiveParams):
    """Arguments of `scrapy crawl revisit`, each given as `-a NAME=VALUE`."""

    limit: int = Field(0, ge=0, description="maximum of pages to visit; 0 for all that are due")
    at: Annotated[str, readable(as_time)] = Field(
        "", description="visit what is due at this time instead of now"
    )
    due: str = Field(
        "", description="all: every page now; URL: only this one, now (default: what is due)"
    )
    web: WebName = Field("", description="stored web to visit instead of the network")

    @field_validator("due")
    @classmethod
    def _all_or_a_url(cls, text: str) -> str:
        if text not in ("", ALL) and not text.startswith(("http://", "https://")):
            raise ValueError(f"{text!r} is not understood; it may be all, or the URL of a page")
        return text

    @property
    def due_at(self) -> float | None:
        """Unix seconds for which it is asked what is due, None for now."""
        return as_time(self.at, end=True) if self.at else None


# -- of collecting media --------------------------------------------------------------------------


_AGAIN = (State.FAILED, State.HELD)
_Size = Annotated[str, readable(as_size)]


class CollectParams(SpiderParams):
    """Arguments of `scrapy crawl collect`, each given as `-a NAME=VALUE`."""

    store: str = Field(
        "", description=f"store of the crawl whose media are collected (default: {DEFAULT_STORE})"
    )
    job: str = Field("", description="only the media of this crawl (default: of all in the store)")
    kinds: Annotated[str, AfterValidator(checked_kinds)] = Field(
        ALL, description=f"{', '.join(KINDS)}, separated by commas, or {ALL}"
    )
    max_media: Annotated[str, readable(as_sizes)] = Field(
        "", description="maximum in all, and of a kind: 20GB, or 20GB,video:15GB"
    )
    max_file: _Size = Field("", description="largest file, as 2GB")
    hosted: _Size = Field(
        "",
        description="maximum that yt-dlp fetches from players of other sites (YouTube …), as 5GB"
        " (default: none of them)",
    )
    disk_left: _Size = Field("1GB", description="disk space to leave free")
    again: Literal["", "failed", "held"] = Field(
        "", description="fetch again what failed, or what is held"
    )
    web: WebName = Field(
        "", description="stored web to fetch from instead of the network (default: the crawl's)"
    )

    @field_validator("store")
    @classmethod
    def _known_store(cls, uri: str) -> str:
        if uri in {"memory:", ":memory:"}:
            raise ValueError("a crawl in memory has no media that could be fetched afterwards")
        return checked_store(uri)

    @property
    def store_uri(self) -> str:
        """Where the crawl is kept."""
        return self.store or DEFAULT_STORE

    @property
    def wanted(self) -> tuple[str, ...]:
        """The kinds that are wanted."""
        return KINDS if self.kinds == ALL else tuple(self.kinds.split(","))

    @property
    def states_again(self) -> tuple[State, ...]:
        """States of addresses that are fetched once more."""
        return tuple(state for state in _AGAIN if state == self.again)

    def budget(self) -> Budget:
        """Return how much may be kept."""
        return Budget(
            as_size(self.max_file) if self.max_file else 0,
            as_sizes(self.max_media),
            as_size(self.disk_left) if self.disk_left else 0,
        )
