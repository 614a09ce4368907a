"""The record of an address whose bytes are to be kept."""

from dataclasses import dataclass
from enum import StrEnum

from mmcrawl.text.media_kinds import KINDS

PART = "part"
"""Kind of a file that another file needs."""

EVERY_KIND = (*KINDS, PART)


class State(StrEnum):
    """What has come of an address so far.

    Attributes:
        WAITING: it is to be fetched, perhaps once more.
        TAKEN: a process fetches it, until its lease runs out.
        HELD: its bytes are in the media store.
        FAILED: it could not be had, for the reason given.
        SKIPPED: it was left out, for the reason given: too large, a playlist, not wanted.
    """

    WAITING = "waiting"
    TAKEN = "taken"
    HELD = "held"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class MediaFile:
    """One address of a collection.

    Attributes:
        url: absolute, as the page, or the file that needs it, names it.
        kind: One of the kinds of media, as the crawl took it for; ``part`` for what
            another file needs.
        state: what has come of it.
        digest: SHA-256 of its bytes, 64 hexadecimal digits; "" while they are not held.
        size: bytes it has; of one that is not held, those announced, 0 where none were.
        content_type: MIME type, decided by its first bytes and by what the server said.
        etag, last_modified: the server's validators, as it sent them; "" for none.
        final_url: where redirects led to; "" where there were none.
        parent: address of the file that names it; "" where a page does.
        page: address of a page it stands on, or the file that needs it; "" if none is known.
        title: of the page that came in its place and plays it; "" where the file itself came.
        tries: how often it was begun.
        reason: why it is not held, or why it waits once more; a sentence without a full stop.
        added_at: Unix time at which it was noted.
        changed_at: Unix time at which its state changed last.
        owner: the process that has taken it; "" for none.
        lease_until: Unix time at which others may take it from its owner.
    """

    url: str
    kind: str
    state: State = State.WAITING
    digest: str = ""
    size: int = 0
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    final_url: str = ""
    parent: str = ""
    page: str = ""
    title: str = ""
    tries: int = 0
    reason: str = ""
    added_at: float = 0.0
    changed_at: float = 0.0
    owner: str = ""
    lease_until: float = 0.0
