"""The values that go into the archive and come out of it; points in time as messages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from math import isnan

from mmcrawl.page.headers import bounded

LARGEST_BODY = 512 << 20
"""Bytes of a body that an archive keeps; what is larger is refused."""

RENDERED = "rendered+"
"""What stands before the address of a page for how a browser made it of the page."""

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block of a version: a byte range of its body, and what it is.

    Attributes:
        start, end: Byte range.
        digest: First 16 hex digits of the SHA-256 of its bytes: equal for equal blocks of any
            versions.
    """

    start: int
    end: int
    kind: str  # one of `KINDS`, the paper's label; "" if it is no page
    topic: str  # what it is about, in a few words
    level: int  # 1 for a block of the page, n + 1 for one inside a block of level n
    path: str  # DOM path of the element it was cut from
    digest: str


@dataclass(frozen=True, slots=True)
class PageBlocks:
    """The blocks of a page, and how it was cut.

    Attributes:
        blocks: In order, each before those inside it; None if it could not be cut, so that it
            is not tried again before somebody asks for them.
    """

    method: str  # of `partition`, with its options if any
    level: int  # from 1
    blocks: tuple[StoredBlock, ...] | None
    encoding: str = ""  # Python codec name that it was read in; "" has the archive find it out


@dataclass(frozen=True, slots=True)
class Capture:
    """What a server answered at one time.

    Attributes:
        blocks: The blocks of the page, if it was cut already; None has the archive cut it. Those of
            another method or level than the archive wants are not taken.
    """

    url: str  # absolute URL, kept exactly as given
    body: bytes  # as received, without content encoding (gzip, …); at most `LARGEST_BODY` bytes
    time: float  # of the request, in Unix seconds (UTC)
    status: int = 200  # HTTP status
    headers: Headers = ()  # names and values in the order received; names may repeat
    reason: str = ""  # of the status line
    content_type: str = ""  # "" takes it from the headers
    blocks: PageBlocks | None = field(default=None, repr=False, compare=False)

    def header(self, name: str) -> str:
        """Return the first header of that name, case folded, or ""."""
        return first_header(self.headers, name)

    @property
    def media_type(self) -> str:
        """The declared content type: as given, else of the headers, else ""."""
        return bounded(self.content_type or self.header("content-type"))


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A visit that found nothing new, or nothing at all; its URL has a version."""

    url: str  # as stored
    time: float  # of the request, in Unix seconds
    status: int = 304  # HTTP status of the answer, 304 mostly; 0 if there was none


@dataclass(frozen=True, slots=True)
class Version:
    """A page at one time (Song et al. 2008, definition 6); :meth:`Archive.rebuild` gives its bytes.

    Attributes:
        status, reason, headers, content_type: As captured.
        method, level: How it was cut into blocks; "" and 0 if it is no page.
    """

    url: str  # as stored
    number: int  # from 1, in the order of storing: the name of the version within its URL
    time: float  # of the request, in Unix seconds
    status: int
    reason: str
    headers: Headers
    content_type: str
    digest: str  # SHA-256 of the body, 64 hex digits
    size: int  # of the body in bytes
    language: str  # as the page declares it, else its header, lower case (`zh-cn`), or ""
    encoding: str  # Python codec name its text is decoded with, "" if it is no page
    method: str
    level: int

    def header(self, name: str) -> str:
        """Return the first header of that name, case folded, or ""."""
        return first_header(self.headers, name)

    def capture(self, body: bytes = b"", *, time: float | None = None) -> Capture:
        """Return it as captured, with its body, at its own time or that of a later visit."""
        at = self.time if time is None else time
        return Capture(
            self.url, body, at, self.status, self.headers, self.reason, self.content_type
        )


def why_refused(visit: Capture | Unchanged) -> str:
    """Return why a visit cannot be kept for what it is; "" if it can."""
    if isinstance(visit, Capture) and len(visit.body) > LARGEST_BODY:
        return f"its body is larger than {LARGEST_BODY:,} bytes"
    return "" if is_text(visit.url) else "its URL has half of a character in it"


def is_text(url: str) -> bool:
    """Return whether a store can hold it: half of a surrogate pair is no character."""
    try:
        url.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Visit:
    """One request of a URL.

    Attributes:
        version: Number of the version that was found, new or as before; None if none is stored.
    """

    time: float  # in Unix seconds
    changed: bool  # whether a version was made of it
    version: int | None
    status: int  # HTTP status of the answer
    known: bool = False  # whether a visit before it, which was stored later, found that version too


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a capture came to.

    Attributes:
        version: The new version, or None when nothing had changed and only the visit was noted.
        noted: False for an :class:`Unchanged` visit whose URL has no version up to its time, so
            that there is nothing it could be noted of.
    """

    version: Version | None
    new_bytes: int = 0  # of the body of a new version
    noted: bool = True


def leaves(blocks: Sequence[StoredBlock]) -> list[StoredBlock]:
    """Return the blocks, ordered as in a version, that have none inside them."""
    levels = [*(block.level for block in blocks[1:]), 0]
    return [block for block, behind in zip(blocks, levels, strict=False) if behind <= block.level]


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is not as it should be.

    Attributes:
        url, version: What it touches; "" and None if nothing that can be named.
    """

    what: str  # one sentence that names what is damaged
    url: str = ""
    version: int | None = None
    repaired: bool = False  # whether it was made good


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check examined and found.

    Attributes:
        urls, versions, segments: How many were examined; versions were rebuilt and compared with
            their digests.
        orphans: What an interrupted write left behind, or one that continues now in another
            process; harmless.
        completed: Orphans that the repair completed: records without a row, and URLs whose last
            visits were not noted.
        known: What an earlier repair could not make good, a sentence each; no fault any more.
    """

    urls: int
    versions: int
    segments: int
    faults: tuple[Fault, ...]  # what was found, damaged segments and then the versions they touch
    orphans: int = 0
    removed: int = 0  # orphans that the repair removed
    completed: int = 0
    known: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong, or nothing any more."""
        return all(fault.repaired for fault in self.faults)


@dataclass(frozen=True, slots=True)
class HostStats:
    """URLs, versions and bytes (of bodies, as received) of one host."""

    urls: int
    versions: int
    raw_bytes: int


@dataclass(frozen=True, slots=True)
class ArchiveStats:
    """Numbers of a whole archive.

    Attributes:
        urls, versions: Stored.
        blocks, layouts: Of all versions whose blocks are kept, nested ones included.
        distinct_blocks, distinct_layouts: Different ones of them.
        unsegmented: Pages whose blocks are cut whenever they are asked for, until
            :meth:`Archive.pack` keeps them: not counted before.
    """

    urls: int
    versions: int
    visits: int  # requests noted, those that found a new version included
    blocks: int
    distinct_blocks: int
    layouts: int
    distinct_layouts: int
    unsegmented: int
    raw_bytes: int  # of all bodies, as received
    kept_bytes: int  # of the bodies that segments hold, before compression: equal ones once each
    stored_bytes: int  # that the archive takes, index and metadata included
    hosts: dict[str, HostStats]  # by host name

    @property
    def ratio(self) -> float:
        """Raw bytes for each stored byte."""
        return self.raw_bytes / self.stored_bytes if self.stored_bytes else 0.0


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge removed: versions, visits, and bytes given back."""

    versions: int
    visits: int
    freed_bytes: int


def first_header(headers: Headers, name: str) -> str:
    """Return the first header of a name, case folded, or ""."""
    name = name.lower()
    return next((value for key, value in headers if key.lower() == name), "")


def as_unix_time(time: datetime | float) -> float:
    """Return Unix seconds; a datetime without a zone is UTC; a ValueError for NaN."""
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


def as_date(time: float | None) -> str | None:
    """Return a time as ``2024-05-17T08:30:00.000Z``; None for any, and outside the calendar."""
    if time is None:
        return None
    try:
        text = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, OSError, ValueError):
        return None
    return text.replace("+00:00", "Z")


def digest_of(content: bytes) -> str:
    """Return the digest of a block."""
    return sha256(content).hexdigest()[:16]
