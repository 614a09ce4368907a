"""From arguments and settings to an open crawl."""

from typing import Protocol

from mmcrawl.errors import SeedError
from mmcrawl.frontier import Limits, open_store
from mmcrawl.job import CrawlJob
from mmcrawl.params import FocusedParams
from mmcrawl.replay import StoredWeb
from mmcrawl.scoring import LinkSimilarity, TopicTest, make_scorer

__all__ = ["SettingsLike", "make_job"]


class SettingsLike(Protocol):
    """The part of Scrapy's settings that is asked here."""

    def getint(self, name: str, default: int = 0) -> int:
        """Return a whole number."""

    def getfloat(self, name: str, default: float = 0.0) -> float:
        """Return a number."""

    def getbool(self, name: str, default: bool = False) -> bool:
        """Return a truth value."""


def make_job(args: FocusedParams, settings: SettingsLike, web: StoredWeb | None) -> CrawlJob:
    """Open the job that `args` describe, a new one or one that goes on.

    Args:
        args: the checked spider arguments.
        settings: see `mmcrawl.settings` for the names with MMCRAWL_.
        web: the stored web that is crawled, None for the network.

    Raises:
        MmcrawlError: the store cannot be used, the job was begun with other arguments, or there are
            no seeds.
    """
    seeds = [seed.url for seed in args.seed_list] or list(web.start_urls() if web else ())
    if not seeds:
        raise SeedError("no seeds: give -a seeds=FILE or URL")
    threshold = settings.getfloat("MMCRAWL_TOPIC_THRESHOLD", 0.5)
    test = TopicTest(
        args.own_topic or args.whole_topic,
        args.kinds,
        threshold,
        topics_by_host=args.topics_by_host,
    )
    similarity = LinkSimilarity(args.whole_topic.wanting(args.kinds))
    store = open_store(args.store_uri)
    try:
        return CrawlJob(
            store,
            store.job(args.job_name, args.identity()),
            test=test,
            similarity=similarity,
            make_scorer=lambda source: make_scorer(
                args.algo, source, similarity, **args.parameters
            ),
            limits=_limits(args, settings, replayed=web is not None),
            seeds=seeds,
            aliases=web.aliases() if web else None,
            obey_nofollow=settings.getbool("ROBOTSTXT_OBEY"),
        )
    except BaseException:
        store.close()
        raise


def _limits(args: FocusedParams, settings: SettingsLike, *, replayed: bool) -> Limits:
    return Limits(
        sites=args.sites,
        max_layer=args.max_layer,
        max_depth=args.max_depth,
        url_length=settings.getint("URLLENGTH_LIMIT", 2083),
        per_host=settings.getint("MMCRAWL_PAGES_PER_HOST"),
        per_shape=settings.getint("MMCRAWL_BARREN_PAGES_PER_SHAPE", 200),
        private=replayed or settings.getbool("MMCRAWL_PRIVATE_NETWORKS"),
    )
