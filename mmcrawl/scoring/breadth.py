"""`breadth`: the generic search, first in, first out. The baseline of every comparison."""

from collections.abc import Iterable
from typing import ClassVar

from mmcrawl.frontier.records import LinkScores
from mmcrawl.scoring.base import CrawledPage, LinkSource, Scorer
from mmcrawl.scoring.similarity import LinkSimilarity


class Breadth(Scorer):
    """Breadth-first search: all scores are equal, so links come in the order of discovery."""

    name: ClassVar[str] = "breadth"

    def __init__(self, source: LinkSource, similarity: LinkSimilarity) -> None:
        """Neither is needed; all algorithms are made alike."""

    def added(self, links: Iterable[int]) -> LinkScores:
        """Queue the links."""
        ids = list(links)
        return LinkScores(ids, [0.0] * len(ids), [0.0] * len(ids))

    def crawled(self, page: CrawledPage) -> LinkScores:
        """Queue the links of the page."""
        return self.added(page.links)
