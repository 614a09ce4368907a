"""Arguments that several spiders share: the archive, its place, points in time, collecting
media.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from mmcrawl.errors import WebError, did_you_mean
from mmcrawl.media.index import State
from mmcrawl.media.sizes import ALL, Budget, as_size, as_sizes
from mmcrawl.store.uris import archive_beside, as_archive_uri, file_uri, is_server
from mmcrawl.text.media_kinds import CHINESE, KINDS, kind_named
from mmcrawl.text.media_kinds import KINDS as MEDIA_KINDS

DEFAULT_STORE = "sqlite:///crawl.db"


class SpiderParams(BaseModel):
    """Arguments of a spider that takes no others than these."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_arguments(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Leave out the `_job` that scrapyd gives every spider; refuse what there is not."""
        given = {name: value for name, value in arguments.items() if name != "_job"}
        for name in given.keys() - cls.model_fields:
            known = cls.model_fields
            hint = f"there are {', '.join(known)}{did_you_mean(name, known)}"
            raise ValueError(f"there is no argument {name!r}; {hint}")
        return given


def checked_store(uri: str) -> str:
    """Return the URI of a store in its full form; ValueError for one of no known kind.

    >>> checked_store("crawl.db")
    'sqlite:///crawl.db'
    """
    if uri == ":memory:":
        return "memory:"
    if uri in {"", "memory:"} or is_server(uri):
        return uri
    return file_uri(uri)


def checked_kinds(text: str) -> str:
    """Return media kinds as they are kept, or ``all``; ValueError for an unknown one."""
    return ALL if text.strip() == ALL else ",".join(parse_kinds(text))


def checked_web(text: str) -> str:
    """Return the name of a stored web; ValueError if there is none."""
    if text not in {"", "demo"}:
        from mmcrawl.replay.opening import WHAT_IT_CAN_BE, check_web

        try:
            check_web(text)
        except WebError as error:
            raise ValueError(str(error).removesuffix(f": {WHAT_IT_CAN_BE}.").rstrip(".")) from error
    return text


def readable(read: Callable[[str], object]) -> AfterValidator:
    """Return what checks that a text, if there is one, can be read; the argument stays the text."""

    def check(text: str) -> str:
        if text:
            read(text)
        return text

    return AfterValidator(check)


StoreName = Annotated[str, AfterValidator(checked_store)]
WebName = Annotated[str, AfterValidator(checked_web)]


def parse_kinds(text: str) -> list[str]:
    """Return the media kinds that `text` names, in English or Chinese; ValueError for an unknown.

    Args:
        text: Names, separated by commas (also ， and 、).

    >>> parse_kinds("swf, video"), parse_kinds("视频、仿真")
    (['video', 'animation'], ['video', 'simulation'])
    """
    kinds = {kind_named(name) for name in re.split("[,，、]", text)}
    return [kind for kind in MEDIA_KINDS if kind in kinds]


def explain(error: ValidationError) -> list[str]:
    """Return a sentence for each wrong argument: its name, what was wrong, what it may be."""
    return [_sentence(dict(details)) for details in error.errors()]


def _kinds_in_words() -> str:
    return ", ".join(f"{kind} ({CHINESE[kind]})" for kind in MEDIA_KINDS)


_WHOLE = "it may be a whole number from 0"
_MAY_BE: dict[str, Callable[[], str]] = {
    "discover": lambda: "it may be sitemap, feeds, oembed, cdx, separated by commas, or none",
    "expand": lambda: "it may be all, on-topic, or score:S with S from 0 to 1",
    "links": lambda: "it may be all or related",
    "media": lambda: f"it may be any of {_kinds_in_words()}, separated by commas",
    "store": lambda: "it may be sqlite:///FILE, memory: or mongodb://HOST/DATABASE",
    "archive": lambda: "it may be sqlite:///FILE, mongodb://HOST/DATABASE or none",
    "download": lambda: f"it may be any of {_kinds_in_words()}, separated by commas, or all",
    "kinds": lambda: f"it may be any of {_kinds_in_words()}, separated by commas, or all",
    "again": lambda: "it may be failed or held",
    "requisites": lambda: "it may be yes or no",
    "render": lambda: "it may be playwright or playwright-all",
    "seeds": lambda: "they may be a seed file, a URL, or URLs separated by commas",
    "sites": lambda: "it may be hosts, domains or anywhere",
    "job": lambda: "it may hold letters, digits, dots, dashes and underscores",
    "web": lambda: (
        "it may be demo, a folder with one folder per host, or a .warc or .warc.gz file,"
        " sim:NAME=VALUE,… or portal:WEB;WEB;…"
    ),
    "workers": lambda: "it may be auto, or a whole number from 1 to 64",
    **dict.fromkeys(
        ("limit", "max_pages", "max_layer", "max_depth", "max_rendered"), lambda: _WHOLE
    ),
}


def _sentence(details: dict[str, Any]) -> str:
    cause = details.get("ctx", {}).get("error")
    name = str(details["loc"][0]) if details["loc"] else ""
    if cause is not None and not name:
        return str(cause)
    message = str(cause) if cause is not None else f"{details['input']!r} is not allowed"
    hint = _MAY_BE.get(name)
    return f"{name}: {message}" + (f"; {hint()}" if hint else "")


# -- What users say of an archive, where it is, and points in time; and of collecting media -------

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
    """Return the beginning or the end of a year, a month or a day."""
    begin = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    if not end:
        return begin.timestamp()
    after = begin + timedelta(days=1 if day else 31 if month else 366)
    if not day:  # the first day of the month or year that this is in
        after = after.replace(day=1) if month else after.replace(month=1, day=1)
    return (after - timedelta(milliseconds=1)).timestamp()


class ArchiveParams(SpiderParams):
    """The archive of a command: `archive`, or the one that belongs to the crawl in `store`."""

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

    limit: int = Field(0, ge=0, description="maximum pages to visit; 0 for all that are due")
    at: Annotated[str, readable(as_time)] = Field(
        "", description="visit pages due at this time instead of now"
    )
    due: str = Field("", description="all, or the URL of one page, now (default: what is due)")
    web: WebName = Field("", description="stored web instead of the network")

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
        "", description="maximum size, in all and per kind: 20GB, or 20GB,video:15GB"
    )
    max_file: _Size = Field("", description="maximum size of a file, as 2GB")
    hosted: _Size = Field(
        "",
        description="maximum size of what yt-dlp fetches from other sites' players, as 5GB"
        " (default: nothing)",
    )
    disk_left: _Size = Field("1GB", description="disk space to leave free")
    again: Literal["", "failed", "held"] = Field(
        "", description="fetch again what failed, or what is held"
    )
    web: WebName = Field("", description="stored web instead of the network (default: the crawl's)")

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
