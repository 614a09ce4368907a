"""`topic-centric-pagerank`: pages pass more of their rank to links on topic (TCPageRank).

A comparator, as published: structure alone orders; content enters by the shares.
"""

from typing import Any, ClassVar

import numpy.typing as npt

from mmcrawl.scoring.base import LinkSource, LinkText
from mmcrawl.scoring.graph.link_graph import Ids, Numbers, shares_within
from mmcrawl.scoring.graph.pagerank import PageRank
from mmcrawl.scoring.similarity import LinkSimilarity

__all__ = ["TopicCentricPageRank"]


class TopicCentricPageRank(PageRank):
    """Order links by TC(p) = (1−d)/N + d Σ_{T→p} TC(T) · content(p) / Σ_{i ∈ out(T)} content(i).

    content is (3.8), from the words of the link, which a link keeps once it is fetched. A page none
    of whose links is on topic shares evenly.

    Args:
        source: where links are looked up by id.
        similarity: how well a link's words fit the topic.
        d: damping, in (0, 1).
        growth: share by which the graph grows between two batches, from 0 (exact, slow).
    """

    name: ClassVar[str] = "topic-centric-pagerank"

    def __init__(
        self,
        source: LinkSource,
        similarity: LinkSimilarity,
        *,
        d: float = 0.85,
        growth: float = 0.05,
    ) -> None:
        super().__init__(source, similarity, d=d, growth=growth)
        self._needs_content = True
        self._similarity = similarity

    def content(self, text: LinkText) -> float:
        """Return the content score of a link (3.8)."""
        return self._similarity.topicrank(text)

    def shares(self, targets: npt.NDArray[Any], starts: Ids) -> Numbers:
        """Return each link's share of content; the arguments are those of `PageRank.shares`."""
        return shares_within(self._content.values[targets], starts)
