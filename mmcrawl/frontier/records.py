"""The values passed between frontier, scoring and crawl."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

HELD = float("-inf")
"""Score of a waiting link that must not be fetched until a later score lets it go."""


class Status(StrEnum):
    """Where a link is in its life (paper 2009, table 5-4)."""

    WAITING = "W"
    RUNNING = "R"
    CRAWLED = "C"
    ERROR = "E"


@dataclass(frozen=True, slots=True)
class NewLink:
    """A link as it was discovered, before it is known whether the frontier has it already.

    Attributes:
        request: a request serialised by the caller, for links that need more than their URL.
        refused: why it cannot be fetched, though it was asked for: it is recorded in error. "" for
            one that can.
    """

    url: str  # absolute address, fetched as it stands
    anchor: str = ""  # text of the link
    group_title: str = ""  # title of the link group it is in, "" for none
    url_words: str = ""  # words of the URL in the topic's language, separated by spaces
    logical_layer: int = 1  # clicks from the seed; a seed has 1
    physical_layer: int = 1  # directories in the path; `http://h/` has 1
    content_score: float = 0.0  # what its own words say, in [0, 1]
    priority: int = 0  # scrapy's request priority; comes before the score
    request: bytes | None = None
    filtered: bool = True  # false keeps the link out of duplicate detection
    extra: bytes = b""  # what besides the URL tells this link apart (method and body of a POST)
    block: str = ""  # kind of the block it is in, "" if that is not known
    tag_path: str = ""  # elements it is in on its page, see `Link`; "" for a seed
    refused: str = ""


@dataclass(frozen=True, slots=True)
class LinkScores:
    """Scores of some links: of new ones, and of waiting ones whose score changed.

    `score` orders the frontier (higher first, in [0, 1000), or `HELD`); `structure` is kept for the
    record. All three have one entry a link.
    """

    ids: Sequence[int]
    score: Sequence[float]
    structure: Sequence[float]


@dataclass(frozen=True, slots=True)
class KnownLink:
    """What scoring asks of a link.

    `content` is the score its own words got when it was found; `parent` is the page it was first
    found on, None for a seed.
    """

    url: str
    content: float
    physical_layer: int
    parent: int | None
    logical_layer: int = 1
    anchor: str = ""
    group_title: str = ""
    tag_path: str = ""


@dataclass(frozen=True, slots=True)
class WaitingLink:
    """What the crawl needs of a link to fetch it."""

    id: int
    url: str
    parent: int | None
    logical_layer: int
    priority: int
    request: bytes | None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """What is remembered of a crawled page besides its link record.

    `digest` tells pages of the same bytes (`page_digest`), 0 if it was not taken; `topic_score` is
    what the topic test gave the page, in [0, 1]; `new_media` is the number of its media that no
    relevant page before it showed, 0 if it is not relevant itself.
    """

    url: str
    title: str
    keywords: str
    description: str
    contains_media: bool
    relevant: bool
    links_on_page: int
    visited_at: float
    digest: int = 0
    topic_score: float = 0.0
    new_media: int = 0


_STATES = {
    Status.WAITING: "waiting",
    Status.RUNNING: "running",
    Status.CRAWLED: "fetched",
    Status.ERROR: "error",
}


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """One row of the link database (InterLink; paper 2009, table 5-4), derived fields included.

    Attributes:
        score, structure_score: as they were when it was fetched; of a waiting link, as they are.
        path_score, total_path_score: relevant pages, and pages, reached through this one, itself
            included.
    """

    id: int
    url: str
    status: Status
    place: int | None  # it was the n-th page to be fetched, from 1; None if it is no page (yet)
    url_words: str
    anchor: str
    group_title: str
    title: str
    keywords: str
    description: str
    anchor_path: tuple[str, ...]
    url_path: tuple[str, ...]
    internal_urls: tuple[str, ...]
    path_score: int
    total_path_score: int
    contains_media: bool
    relevant: bool
    score: float
    priority: int  # comes before the score where a link waits
    words_score: float  # the algorithm's score of the link's own words when it was found, in [0, 1]
    structure_score: float
    links_on_page: int
    logical_layer: int
    physical_layer: int
    visited_at: float | None
    error: str
    block: str = ""
    held: bool = False  # it waits and must not be fetched for now

    @property
    def state(self) -> str:
        """Its status in a word; `held` for a link that waits and must not be fetched for now."""
        return "held" if self.held else _STATES[self.status]

    @property
    def content_intro(self) -> str:
        """All words known of the page: URL words, anchor, title, keywords, description."""
        parts = (self.url_words, self.anchor, self.title, self.keywords, self.description)
        return " ".join(part for part in parts if part)

    @property
    def link_ratio(self) -> float:
        """Share of relevant pages among the pages reached through this one, in [0, 1]."""
        return self.path_score / self.total_path_score if self.total_path_score else 0.0
