"""What users say of collecting media: of which crawl, which ones, and how much."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from mmcrawl.collecting.model import State
from mmcrawl.collecting.sizes import ALL, Budget, as_size, as_sizes
from mmcrawl.crawling.arguments import (
    DEFAULT_STORE,
    SpiderParams,
    WebName,
    checked_kinds,
    checked_store,
    readable,
)
from mmcrawl.text.media_kinds import KINDS

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
