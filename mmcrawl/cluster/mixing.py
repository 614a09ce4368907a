"""What a worker has learnt, and what others have, as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mmcrawl.cluster.learnt import Learnt
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.parts import CrawlParts
from mmcrawl.scoring.base import NoLinks
from mmcrawl.scoring.link_model import Contribution
from mmcrawl.scoring.similarity import LinkSimilarity

_FEWEST, _GROWTH = 50, 1.5  # pages, and times the pages, after which it is told anew

_MOST_WORDS = 200_000


class Mixture:
    """The sum of what the workers of a crawl have learnt.

    Args:
        crawl: what the crawl is made of.
        similarity: knows how rare words are.
        siblings: among so many parts memory is divided.

    Attributes:
        link_model: of links, which the parts learn into; None for algorithms that share none.
    """

    def __init__(self, crawl: CrawlParts, similarity: LinkSimilarity, siblings: int) -> None:
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
        """Take over what others learnt, in place of what they told before.

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
            self.link_model.merge(learnt.link_model or Contribution.none())

    def _replace(self, name: str, learnt: Learnt) -> None:
        old = self._heard.get(name, Learnt())
        self._similarity.add(-old.pages, {word: -count for word, count in old.words.items()})
        self._heard[name] = learnt
        if self.link_model is not None:
            self.link_model.hear({name: learnt.link_model or Contribution.none()})

    def told(self, jobs: Mapping[int, CrawlJob], settled: Mapping[int, int]) -> Learnt:
        """Return what this worker has learnt, and the patterns.

        Args:
            jobs: the crawls of its parts.
            settled: how many links of each part had ended, of those it has learnt from.
        """
        self._told_at = self._own.pages
        return replace(
            self._own,
            words=dict(self._words),
            largest=self._similarity.largest,
            link_model=None if self.link_model is None else self.link_model.contribution(),
            learnt_links=dict(settled),
            patterns=tuple(one for job in jobs.values() for one in job.scorer.patterns()),
        )
