"""Where a crawl stands, in numbers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Totals"]


@dataclass(frozen=True, slots=True)
class Totals:
    """Where a crawl stands.

    Attributes:
        pages: pages crawled, earlier runs of the job included.
        media_pages: relevant pages found.
        media: distinct resources by kind.
        harvest_rate: share of relevant pages among the last 500, in [0, 1].
        waiting: links that may be fetched.
        held: links that wait for a pattern or for their site to be guided.
        patterns: learnt patterns.
        errors: links that could not be had.
        refused: links that were not followed, by reason.
    """

    pages: int = 0
    media_pages: int = 0
    media: Mapping[str, int] = field(default_factory=dict)
    harvest_rate: float = 0.0
    waiting: int = 0
    held: int = 0
    patterns: int = 0
    errors: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        """Return the numbers as plain data, for `Totals(**plain)`."""
        return asdict(self)
