"""Crawls without the network: jobs over a store, to which a test reports pages."""

from collections.abc import Iterable
from typing import Any

from mmcrawl.crawl import CrawlJob, CrawlSetup, Reporter
from mmcrawl.frontier import Limits, SqliteStore, open_store
from mmcrawl.scoring import LinkSimilarity, TopicTest, default_parameters
from mmcrawl.topic import Topic, topic_from_keywords


def setup_of(
    topic: Topic, algo: str = "breadth", kinds: Iterable[str] = ("video",), **more: Any
) -> CrawlSetup:
    """Return what a crawl for a topic is made of; `more` are fields of it."""
    parameters = default_parameters(algo) | more.pop("parameters", {})
    fields = {"topics_by_host": {}, "threshold": 0.5, "limits": Limits()} | more
    kinds = frozenset(kinds)
    return CrawlSetup(algo=algo, parameters=parameters, topic=topic, kinds=kinds, **fields)


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
    reporter = Reporter(TopicTest(topic, set(media)), similarity, aliases or {}, limits.per_page)
    own = {name: more.pop(name) for name in ("links", "obey_nofollow", "rules") if name in more}
    if own.get("rules", True) is None:
        del own["rules"]
    own |= {"parameters": parameters or {}, "limits": limits, "seeds": tuple(seeds)}
    setup = setup_of(topic, algo, media, **own)
    return CrawlJob(opened, opened.job("test", {}), setup, reporter=reporter, **more)
