"""What users say of an archive: where it is, and points in time."""

from datetime import UTC, datetime

from pydantic import Field, field_validator, model_validator

from mmcrawl.archive.uris import archive_beside, as_archive_uri
from mmcrawl.crawling.arguments import DEFAULT_STORE, SpiderParams, checked_store, checked_web

_COMPACT = {4: "%Y", 6: "%Y%m", 8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


def as_time(text: str) -> float:
    """Return a point in time as Unix seconds; what names no zone is UTC.

    Args:
        text: ``2024-05-17``, ``2024-05-17 08:30:00``, with ``T`` and a zone if wished, the digits
            of a Memento (``20240517083000``), ``now``, or ``@`` and Unix seconds.

    Raises:
        ValueError: it is none of these.

    >>> as_time("2024-05-17") == as_time("20240517000000") == as_time("@1715904000")
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
        if text.isascii() and text.isdigit() and len(text) in _COMPACT:
            found = datetime.strptime(text, _COMPACT[len(text)])
        else:
            found = datetime.fromisoformat(text.removesuffix(" UTC"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"{text!r} is no time; give one as 2024-05-17, 2024-05-17T08:30:00+08:00 or @1715934600"
        ) from None


class ArchiveParams(SpiderParams):
    """Which archive is meant: `archive`, or the one that belongs to the crawl in `store`."""

    store: str = Field("", description="store of the crawl whose archive it is")
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

    limit: int = Field(0, ge=0, description="most pages to visit, 0 for all that are due")
    at: str = Field("", description="visit what is due at this time, instead of now")
    web: str = Field("", description="stored web to visit instead of the network")

    @field_validator("at")
    @classmethod
    def _a_time(cls, text: str) -> str:
        if text:
            as_time(text)
        return text

    @field_validator("web")
    @classmethod
    def _existing_web(cls, text: str) -> str:
        return checked_web(text)

    @property
    def due_at(self) -> float | None:
        """Unix seconds for which it is asked what is due, None for now."""
        return as_time(self.at) if self.at else None
