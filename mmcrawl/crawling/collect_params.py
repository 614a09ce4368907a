"""What users say of collecting media: of which crawl, which ones, and how much."""

from typing import Literal

from pydantic import Field, field_validator

from mmcrawl.collecting.model import State
from mmcrawl.collecting.sizes import ALL, Budget, as_size, as_sizes
from mmcrawl.crawling.arguments import (
    DEFAULT_STORE,
    SpiderParams,
    checked_kinds,
    checked_store,
    checked_web,
)
from mmcrawl.text.media_kinds import KINDS

_AGAIN = (State.FAILED, State.HELD)


class CollectParams(SpiderParams):
    """Arguments of `scrapy crawl collect`, each given as `-a NAME=VALUE`."""

    store: str = Field(
        "", description=f"store of the crawl whose media are collected (default: {DEFAULT_STORE})"
    )
    job: str = Field("", description="only the media of this crawl (default: of all in the store)")
    kinds: str = Field(ALL, description=f"{', '.join(KINDS)}, separated by commas, or {ALL}")
    max_media: str = Field(
        "", description="maximum in all, and of a kind: 20GB, or 20GB,video:15GB"
    )
    max_file: str = Field("", description="largest file, as 2GB")
    hosted: str = Field(
        "",
        description="maximum that yt-dlp fetches from players of other sites (YouTube …), as 5GB"
        " (default: none of them)",
    )
    disk_left: str = Field("1GB", description="disk space to leave free")
    again: Literal["", "failed", "held"] = Field(
        "", description="fetch again what failed, or what is held"
    )
    web: str = Field(
        "", description="stored web to fetch from instead of the network (default: the crawl's)"
    )

    @field_validator("store")
    @classmethod
    def _known_store(cls, uri: str) -> str:
        if uri in {"memory:", ":memory:"}:
            raise ValueError("a crawl in memory has no media that could be fetched afterwards")
        return checked_store(uri)

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, text: str) -> str:
        return checked_kinds(text)

    @field_validator("max_media")
    @classmethod
    def _sizes(cls, text: str) -> str:
        as_sizes(text)
        return text

    @field_validator("max_file", "hosted", "disk_left")
    @classmethod
    def _size(cls, text: str) -> str:
        if text:
            as_size(text)
        return text

    @field_validator("web")
    @classmethod
    def _existing_web(cls, text: str) -> str:
        return checked_web(text)

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
