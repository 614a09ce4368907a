"""What a crawl is made of, apart from its store: built from a user's arguments, or from a stored
job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from mmcrawl.crawl.protocol import Reporter
from mmcrawl.errors import StoreError
from mmcrawl.frontier.admission import Limits
from mmcrawl.frontier.ranking import ALL
from mmcrawl.frontier.urls import host_of
from mmcrawl.scoring.base import LinkSource, Scorer
from mmcrawl.scoring.pinned_rules import PinnedRules
from mmcrawl.scoring.registry import default_parameters, make_scorer
from mmcrawl.scoring.relevance import TopicTest
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.topic.loading import as_one, load_topic, topic_of
from mmcrawl.topic.topic import Topic

SEEDS = "seeds_in_order"
"""Argument of a shared job: a log can be read again only with its seeds in their order."""
_LIMIT = "limits."


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSetup:
    """Everything needed to open a crawl on a store."""

    algo: str  # name of the algorithm
    parameters: Mapping[str, Any]  # of the algorithm
    topic: Topic | None  # what is looked for on all sites; None if every seed brings its own
    topics_by_host: Mapping[str, Topic]  # what is looked for on some hosts
    kinds: frozenset[str]  # of media that are wanted
    threshold: float  # of the topic test
    limits: Limits  # which links may be followed
    seeds: Sequence[str]  # addresses, in order
    aliases: Mapping[str, str] = field(default_factory=dict)  # other names of hosts
    obey_nofollow: bool = True  # leave links alone that a page asks not to follow
    links: str = ALL  # which are to be followed, by their blocks
    rules: PinnedRules = field(default_factory=PinnedRules)  # for addresses

    @classmethod
    def told(cls, arguments: Mapping[str, Any], aliases: Mapping[str, str]) -> Self:
        """Return the setup of a crawl from the arguments in its store.

        Those of a crawl on SQLite tell nothing of settings; these have their defaults then. Rules
        for addresses are not among them.

        Args:
            aliases: of its stored web.

        Raises:
            MmcrawlError: a topic or the algorithm is not there any more, or the arguments are none.
        """
        try:
            return cls._told(arguments, aliases)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise StoreError(
                f"the arguments that the store keeps of the job cannot be read ({error!r}); is it"
                " of another version of mmcrawl?"
            ) from error

    @classmethod
    def _told(cls, arguments: Mapping[str, Any], aliases: Mapping[str, str]) -> Self:
        algo = arguments["algo"]
        limits = {f.name: arguments.get(_LIMIT + f.name, f.default) for f in fields(Limits)}
        limits |= {name: arguments[name] for name in ("sites", "max_layer", "max_depth")}
        known = default_parameters(algo)
        return cls(
            algo=algo,
            parameters={name: arguments[name] for name in known if name in arguments},
            topic=topic_of(arguments["topic"], arguments["keywords"]),
            topics_by_host={
                host_of(url): load_topic(name) for url, name in arguments["seeds"] if name
            },
            kinds=frozenset(arguments["media"].split(",")),
            threshold=arguments.get("threshold", 0.5),
            limits=Limits(**limits),
            seeds=arguments.get(SEEDS, [url for url, _ in arguments["seeds"]]),
            aliases=aliases,
            obey_nofollow=arguments.get("obey_nofollow", True),
            links=arguments.get("links", ALL),
        )

    def settings(self) -> dict[str, Any]:
        """Return, as plain data, what `told` needs besides the arguments of the crawl."""
        return {
            SEEDS: list(self.seeds),
            **{_LIMIT + f.name: getattr(self.limits, f.name) for f in fields(Limits)},
            "threshold": self.threshold,
            "obey_nofollow": self.obey_nofollow,
            "links": self.links,
        }

    @property
    def whole_topic(self) -> Topic:
        """All topics of the crawl as one, with the words for the wanted kinds of media."""
        topics = [*([self.topic] if self.topic else []), *self.topics_by_host.values()]
        return as_one(topics).wanting(self.kinds)

    def reporter(self) -> Reporter:
        """Return a reporter of pages."""
        test = TopicTest(
            self.topic or self.whole_topic,
            self.kinds,
            self.threshold,
            topics_by_host=self.topics_by_host,
        )
        similarity = LinkSimilarity(self.whole_topic)
        return Reporter(test, similarity, self.aliases, self.limits.per_page)

    def scorer(self, source: LinkSource, similarity: LinkSimilarity) -> Scorer:
        """Return a new scorer."""
        return make_scorer(self.algo, source, similarity, **self.parameters)
