"""What workers share of what they learnt: how rare words are, and what links promise.

* ``learnt``: ``JOB/WORKER``; ``token``, a new random one with each change, and ``bytes``.

A worker publishes all that it learnt itself, in place of what it published before, whenever that
has grown by half. A crawl knows the sum of these documents, those of dead workers included. No
worker waits for another: one that has not heard from the others for a while only orders its links
a little differently.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from mmcrawl.cluster.packing import decoded, encoded
from mmcrawl.cluster.store import SharedStore
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.setup import CrawlSetup
from mmcrawl.frontier.findings import PatternRecord
from mmcrawl.scoring.base import NoLinks
from mmcrawl.scoring.link_model import Contribution
from mmcrawl.scoring.similarity import LinkSimilarity
from mmcrawl.store.plain_values import PlainForm

logger = logging.getLogger(__name__)

_MOST_BYTES = 14 << 20  # a document may have 16 MB
_FEWEST, _GROWTH = 50, 1.5  # pages, and times the pages, after which it is told again
_MOST_WORDS = 200_000


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a worker has learnt."""

    pages: int = 0  # that it was learnt from
    words: Mapping[str, int] = field(default_factory=dict)  # how many of these hold each word
    largest: tuple[float, ...] = ()  # similarities, by which others are scaled
    link_model: bytes = b""  # of links, a `Contribution`; none if the algorithm shares none
    learnt_links: tuple[tuple[int, int], ...] = ()  # of each partition, ended by then
    merged: tuple[str, ...] = ()  # workers whose contribution this one holds as its own
    patterns: tuple[PatternRecord, ...] = ()  # of the sites of its partitions

    @property
    def contribution(self) -> Contribution:
        """Its contribution to the model of links."""
        return Contribution.decode(self.link_model) if self.link_model else Contribution.none()

    def encode(self) -> bytes:
        """Return it as bytes."""
        return encoded(_FORM, self)

    @classmethod
    def decode(cls, data: bytes) -> Learnt:
        """Return what `encode` wrote.

        Raises:
            ValueError: it did not write this.
        """
        learnt = decoded(_FORM, data)
        learnt.contribution  # noqa: B018 - it is read
        return learnt


_FORM = PlainForm[Learnt](Learnt)


def learnt_patterns(documents: SharedStore) -> list[PatternRecord]:
    """Return the patterns that workers have told, the most general first."""
    best: dict[str, PatternRecord] = {}
    for name in documents.names("learnt"):
        row = documents.one("learnt", name) or {"bytes": b""}  # one by one: they may be large
        with suppress(ValueError):  # the crawl continues without it
            for pattern in Learnt.decode(row["bytes"]).patterns:
                known = best.get(pattern.pattern)
                if known is None or pattern.hits + pattern.misses > known.hits + known.misses:
                    best[pattern.pattern] = pattern
    return sorted(best.values(), key=lambda pattern: (-pattern.urls, pattern.pattern))


class LearntStore:
    """The store of what workers have learnt.

    Args:
        documents: of the job.
        name: of this worker.

    Attributes:
        learnt_links: so many links of each partition had ended when somebody learnt from it last.
    """

    def __init__(self, documents: SharedStore, name: str) -> None:
        self._documents = documents
        self._name = name
        self._tokens: dict[str, str] = {}
        self._merged: set[str] = set()
        self.token = ""  # of what it told last, "" if that is nothing
        self.learnt_links: dict[int, int] = {}
        self.has_begun = False  # what was told before this worker came is known

    def publish(self, learnt: Learnt) -> None:
        """Publish what this worker has learnt; what it has merged need not be published again."""
        token = secrets.token_hex(4)
        row = {"token": token, "bytes": learnt.encode()}
        if len(row["bytes"]) > _MOST_BYTES:
            logger.warning(
                "What this worker learnt is too large to share; the others continue without it"
            )
            return
        self._documents.put("learnt", self._name, row)
        self.token = token
        self._documents.delete("learnt", learnt.merged)

    def hear(self, tokens: Mapping[str, str]) -> dict[str, Learnt]:
        """Return what others have newly learnt, by their names.

        Args:
            tokens: of others, as their heartbeats tell.
        """
        if self.has_begun:
            new = [name for name, token in tokens.items() if token != self._tokens.get(name, "")]
        else:
            new = self._documents.names("learnt")
        self.has_begun = True
        heard = {}
        for name in new:
            row = self._documents.one("learnt", name)  # one by one: they may be large
            if row is None:
                continue
            token = str(row.get("token", ""))
            if token == self._tokens.get(name):  # its worker died before a heartbeat named it
                continue
            self._tokens[name] = token
            try:
                learnt = Learnt.decode(row["bytes"])
            except ValueError:  # the crawl continues without it
                continue
            self._merged.update(learnt.merged)
            heard[name] = learnt
            for partition, settled in learnt.learnt_links:
                self.learnt_links[partition] = max(settled, self.learnt_links.get(partition, 0))
        for name in self._merged | {self._name}:
            heard.pop(name, None)
        return heard


class Mixture:
    """The sum of what the workers of a crawl have learnt.

    Args:
        crawl: what the crawl is made of.
        similarity: knows how rare words are.
        siblings: among so many partitions memory is divided.

    Attributes:
        link_model: of links, which the partitions learn into; None for algorithms that share none.
    """

    def __init__(self, crawl: CrawlSetup, similarity: LinkSimilarity, siblings: int) -> None:
        self._similarity = similarity
        self.link_model = crawl.scorer(NoLinks(), similarity).link_model
        if self.link_model is not None:
            self.link_model.begin_sharing(siblings)
        self._own = Learnt()
        self._words: Counter[str] = Counter()
        self._told_at = 0
        self._heard: dict[str, Learnt] = {}

    def count(self, words: Iterable[str]) -> None:
        """Count a page of this worker by its words, which the similarity has counted."""
        self._words.update(set(words))
        if len(self._words) > _MOST_WORDS:  # the rarest are forgotten, as by the similarity
            self._words = Counter(dict(self._words.most_common(_MOST_WORDS * 9 // 10)))
        self._own = replace(self._own, pages=self._own.pages + 1)

    @property
    def is_due(self) -> bool:
        """Whether enough was learnt since it was told last."""
        return self._own.pages >= max(self._told_at * _GROWTH, self._told_at + _FEWEST)

    def hear(self, news: Mapping[str, Learnt], *, as_own: bool) -> None:
        """Merge what others have learnt, replacing what they published before.

        Args:
            news: by their names.
            as_own: tell it on as this worker's: those that learnt it are no more.
        """
        merged = {name for learnt in news.values() for name in learnt.merged}
        # What others have merged comes with what they tell.
        heard = {name: Learnt() for name in merged & self._heard.keys()} | dict(news)
        for name, learnt in heard.items():
            self._similarity.add(learnt.pages, learnt.words, learnt.largest)
            if as_own:
                self._merge(name, learnt)
            else:
                self._replace(name, learnt)
        self._told_at = max(self._told_at, self._own.pages)

    def _merge(self, name: str, learnt: Learnt) -> None:
        self._words.update(learnt.words)
        pages, merged = self._own.pages + learnt.pages, (*self._own.merged, name)
        self._own = replace(self._own, pages=pages, merged=merged)
        if self.link_model is not None:
            self.link_model.merge(learnt.contribution)

    def _replace(self, name: str, learnt: Learnt) -> None:
        old = self._heard.get(name, Learnt())
        self._similarity.add(-old.pages, {word: -count for word, count in old.words.items()})
        self._heard[name] = learnt
        if self.link_model is not None:
            self.link_model.hear({name: learnt.contribution})

    def told(self, jobs: Mapping[int, CrawlJob], settled: Mapping[int, int]) -> Learnt:
        """Return what this worker has learnt, and the patterns.

        Args:
            jobs: the crawls of its partitions.
            settled: how many links of each partition had ended, of those it has learnt from.
        """
        self._told_at = self._own.pages
        return replace(
            self._own,
            words=dict(self._words),
            largest=self._similarity.largest,
            link_model=b"" if self.link_model is None else self.link_model.contribution().encode(),
            learnt_links=tuple(settled.items()),
            patterns=tuple(one for job in jobs.values() for one in job.scorer.patterns()),
        )
