"""Crawls without the network: jobs over a store, to which a test reports pages."""

from collections.abc import Iterable
from typing import Any

from mmcrawl.crawl import CrawlJob, Reporter
from mmcrawl.frontier import Limits, SqliteStore, open_store
from mmcrawl.scoring import LinkSimilarity, TopicTest, make_scorer
from mmcrawl.topic import topic_from_keywords


def job_of(
    store: SqliteStore | str = "memory:",
    algo: str = "breadth",
    seeds: Iterable[str] = ("http://h.test/",),
    limits: Limits | None = None,
    *,
    media: Iterable[str] = ("video",),
    aliases: dict[str, str] | None = None,
    parameters: dict[str, Any] | None = None,
    similarity: LinkSimilarity | None = None,
    **more: Any,
) -> CrawlJob:
    """Begin a crawl for optics, or take it up again."""
    topic, limits = topic_from_keywords("optics, lens"), limits or Limits()
    similarity = similarity or LinkSimilarity(topic)
    opened = open_store(store) if isinstance(store, str) else store
    return CrawlJob(
        opened,
        opened.job("test", {}),
        reporter=Reporter(TopicTest(topic, set(media)), similarity, aliases or {}, limits.per_page),
        make_scorer=lambda source: make_scorer(algo, source, similarity, **(parameters or {})),
        limits=limits,
        seeds=tuple(seeds),
        **more,
    )
