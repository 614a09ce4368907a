"""A work: plain values, which all exporters read."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

AUDIENCES = (
    "kindergarten",
    "primary",
    "lower-secondary",
    "upper-secondary",
    "vocational",
    "university",
)
"""Levels of school, youngest first."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a licence is believed.

    Attributes:
        source: How it is said: ``rel-license``, ``link``, ``badge``, ``json-ld``, ``microdata``,
            ``meta``, ``text``, or ``editor``.
        said: The address or text that says it, at most 200 characters.
        scope: ``medium`` where it stands beside the medium or in its description, ``page`` where it
            is said of the whole page.
        block: Kind of the block it is in, "" if that is not known.
    """

    source: str
    said: str
    scope: str = "page"
    page: str = ""
    block: str = ""


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a work.

    Attributes:
        code: As SPDX writes it: ``CC-BY-NC-SA-4.0``, ``CC0-1.0``; without a version if none is
            named; ``CC`` for Creative Commons without more; ``PDM-1.0`` for the public domain;
            ``all-rights-reserved`` where that is said.
        url: Of its text, "" if it has none.
        evidence: Why it is believed.
        score: How surely it is meant for the work, in (0, 1].
    """

    code: str
    url: str
    evidence: Evidence
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class Subtitles:
    """A file of subtitles: its address, language (BCP 47, "" if not said) and label."""

    url: str
    language: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class WorkFile:
    """A file of a work: a format or mirror of it, or the player that shows it.

    Attributes:
        mime: Its type, "" if it is not known.
        size: Bytes, 0 if it is not known.
        duration: Seconds, 0 if it is not known.
        digest: SHA-256 of its bytes, "" while they are not held.
        state: What came of it when it was collected, as `mmcrawl.media.index.State`; "" if
            nobody tried.
        reason: Why it is not held, "" if it is.
    """

    url: str
    kind: str
    mime: str = ""
    size: int = 0
    duration: float = 0.0
    digest: str = ""
    state: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Appearance:
    """A page that shows the work: its address and title, the kind of block, and Unix time."""

    url: str
    title: str = ""
    block: str = ""
    time: float = 0.0


@dataclass(frozen=True, slots=True)
class Work:
    """A work.

    Attributes:
        id: 16 hexadecimal digits; stays the same when it is described again.
        title_source: Where that is from, see `mmcrawl.works.grouping`.
        files: Best first: held ones, then files, then players.
        pages: Where it was found, best first.
        caption: What is written beside it, or describes it; "" for nothing.
        poster: Address of a picture of it, "" for none.
        topic: Of the crawl, "" for none.
        level: One of `AUDIENCES`, "" where nothing tells.
        languages: BCP 47, those of the work first; empty where nothing tells.
        creator: Who made it, "" if nobody is named.
        date: When it was published: ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``; "" if not said.
        licences: Best evidence first; empty where nothing is said.
        corrected: Names of the fields that an editor has corrected.
        changed_at: Unix time at which anything of it changed last; 0 if it is not kept.
        tags, note, rating: What is said of it in the collection it is taken from, see
            `mmcrawl.works.collections`.
    """

    id: str
    title: str
    title_source: str
    kind: str
    files: tuple[WorkFile, ...]
    pages: tuple[Appearance, ...] = ()
    caption: str = ""
    poster: str = ""
    subtitles: tuple[Subtitles, ...] = ()
    topic: str = ""
    level: str = ""
    languages: tuple[str, ...] = ()
    creator: str = ""
    date: str = ""
    licences: tuple[Licence, ...] = ()
    corrected: tuple[str, ...] = ()
    changed_at: float = 0.0
    tags: tuple[str, ...] = ()
    note: str = ""
    rating: int = 0

    @property
    def licence(self) -> Licence | None:
        """The licence with the best evidence, None if nothing is said."""
        return self.licences[0] if self.licences else None

    @property
    def duration(self) -> float:
        """Seconds, 0 if it is not known."""
        return max((file.duration for file in self.files), default=0.0)

    def as_plain(self) -> dict[str, Any]:
        """Return it as JSON can say it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Return the work that `as_plain` wrote."""
        licences = (
            Licence(**one | {"evidence": Evidence(**one["evidence"])}) for one in plain["licences"]
        )
        made = {
            "files": tuple(WorkFile(**one) for one in plain["files"]),
            "pages": tuple(Appearance(**one) for one in plain["pages"]),
            "subtitles": tuple(Subtitles(**one) for one in plain["subtitles"]),
            "licences": tuple(licences),
            "languages": tuple(plain["languages"]),
            "corrected": tuple(plain["corrected"]),
            "tags": tuple(plain.get("tags", ())),
        }
        return cls(**{**plain, **made})
