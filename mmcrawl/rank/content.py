"""How near pages are to a topic, for Topic-PageRank over a finished crawl."""

from collections.abc import Iterable

from mmcrawl.rank.records import ReadPage
from mmcrawl.text.url_words import url_text
from mmcrawl.topic.similarity import BooleanModel
from mmcrawl.topic.topic import Topic

OWN_KINDS = frozenset({"title", "topic", "related-links", "image", "small"})
"""Kinds of blocks that are the page's own."""


class TopicContent:
    """content(p) of (3.7) and (3.11): |D ∩ T| / |T| (Yang 2009, 4.1).

    D is what a page says itself: its title, the topics of its blocks, and the words of its URL.
    During a crawl the words of a link stand in for it (3.8); here every page has been read.
    Navigation, advertisements and notices of rights do not count: they are not the page's own.

    Args:
        topic: What is looked for.
    """

    def __init__(self, topic: Topic) -> None:
        self._model = BooleanModel(topic)

    def of(self, read: ReadPage) -> float:
        """Return the similarity of a page, in [0, 1]. Its blocks must have their topics."""
        topics = (block.topic for block in read.blocks if block.kind in OWN_KINDS and block.topic)
        return self.score(read.page.title, read.page.url, topics)

    def score(self, title: str, url: str, topics: Iterable[str]) -> float:
        """Return the same, given the topics of the blocks that are the page's own."""
        return self._model.score(title, url_text(url), *topics)
