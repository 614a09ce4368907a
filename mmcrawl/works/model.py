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
        scope: ``medium`` where it stands beside the medium or in its description, ``page`` where it
            is said of the whole page.
    """

    source: str
    said: str  # the address or text that says it, at most 200 characters
    scope: str = "page"
    page: str = ""
    block: str = ""  # kind of the block it is in, "" if that is not known


@dataclass(frozen=True, slots=True)
class Licence:
    """The licence of a work.

    Attributes:
        code: As SPDX writes it: ``CC-BY-NC-SA-4.0``, ``CC0-1.0``; without a version if none is
            named; ``CC`` for Creative Commons without more; ``PDM-1.0`` for the public domain;
            ``all-rights-reserved`` where that is said.
    """

    code: str
    url: str  # of its text, "" if it has none
    evidence: Evidence  # why it is believed
    score: float = 1.0  # how surely it is meant for the work, in (0, 1]


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
        state: What came of it when it was collected, as `mmcrawl.media.index.State`; "" if
            nobody tried.
    """

    url: str
    kind: str
    mime: str = ""  # its type, "" if it is not known
    size: int = 0  # bytes, 0 if it is not known
    duration: float = 0.0  # seconds, 0 if it is not known
    digest: str = ""  # SHA-256 of its bytes, "" while they are not held
    state: str = ""
    reason: str = ""  # why it is not held, "" if it is


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
        tags, note, rating: What is said of it in the collection it is taken from, see
            `mmcrawl.works.collections`.
    """

    id: str  # 16 hexadecimal digits; stays the same when it is described again
    title: str
    title_source: str  # where that is from, see `mmcrawl.works.grouping`
    kind: str
    files: tuple[WorkFile, ...]  # best first: held ones, then files, then players
    pages: tuple[Appearance, ...] = ()  # where it was found, best first
    caption: str = ""  # what is written beside it, or describes it; "" for nothing
    poster: str = ""  # address of a picture of it, "" for none
    subtitles: tuple[Subtitles, ...] = ()
    topic: str = ""  # of the crawl, "" for none
    level: str = ""  # one of `AUDIENCES`, "" where nothing tells
    languages: tuple[str, ...] = ()  # BCP 47, those of the work first; empty where nothing tells
    creator: str = ""  # who made it, "" if nobody is named
    date: str = ""  # when it was published: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; "" if not said
    licences: tuple[Licence, ...] = ()  # best evidence first; empty where nothing is said
    corrected: tuple[str, ...] = ()  # names of the fields that an editor has corrected
    changed_at: float = 0.0  # Unix time at which anything of it changed last; 0 if it is not kept
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
