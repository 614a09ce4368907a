"""Learning the URL patterns of one site from its media pages (Yang 2009, sections 4.3.6, 4.3.7)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mmcrawl.scoring.patterns import Pattern, UrlParts, distance, generalise, query_keys

__all__ = ["LearntPattern", "SitePatterns"]

_EXEMPLARS = 32
_MOST_CLUSTERS = 256


@dataclass(slots=True)
class LearntPattern:
    """A pattern and how it has done.

    Attributes:
        pattern: the form.
        urls: media pages it generalises, 0 for a pattern that is retired.
        crawled: pages of this form fetched, those it was learnt from included.
        relevant: how many of these were media pages.
        founders: the media pages it was first learnt from.
    """

    pattern: Pattern
    urls: int
    crawled: int
    relevant: int
    founders: frozenset[UrlParts] = frozenset()

    @property
    def rate(self) -> float:
        """Share of media pages to expect among URLs of this form, in (0, 1) (Laplace's rule)."""
        return (self.relevant + 1) / (self.crawled + 2)


@dataclass(slots=True)
class _Cluster:
    """URLs of which any two are near each other; the first few stand for all."""

    exemplars: list[UrlParts]
    size: int = 1
    learnt: LearntPattern | None = None

    def takes(self, url: UrlParts, near: int) -> bool:
        if self.learnt is not None:
            return self.learnt.pattern.matches(url)
        if query_keys(url) != query_keys(self.exemplars[0]):
            return False
        gaps = (distance(url, other) for other in self.exemplars)
        return all(gap is not None and gap < near for gap in gaps)

    def add(self, url: UrlParts) -> None:
        self.size += 1
        if len(self.exemplars) < _EXEMPLARS:
            self.exemplars.append(url)


@dataclass(slots=True)
class SitePatterns:
    """The media pages of a site in clusters, and the patterns learnt from them.

    Attributes:
        near: URLs belong together whose distance is below this.
        m: a cluster of more than `m` URLs yields a pattern.
        learnt: the patterns so far, retired ones included; their indices do not change.
    """

    near: int
    m: int
    learnt: list[LearntPattern] = field(default_factory=list)
    _media_pages: dict[UrlParts, None] = field(default_factory=dict)
    _clusters: list[_Cluster] = field(default_factory=list)

    def add(self, url: UrlParts) -> bool:
        """Take in a media page; tell whether a pattern was learnt from it.

        The URL joins every cluster it is near to: `/a/1` may turn out to belong with `/a/2` as well
        as with `/b/1`.
        """
        if url in self._media_pages:
            return False
        self._media_pages[url] = None
        known = sum(learnt.urls > 0 for learnt in self.learnt)
        homes = [cluster for cluster in self._clusters if cluster.takes(url, self.near)]
        for cluster in homes:
            cluster.add(url)
            self._learn_from(cluster)
        if not homes:
            self._clusters.append(_Cluster([url]))
            self._forget_stale_clusters()
        return sum(learnt.urls > 0 for learnt in self.learnt) > known

    def remove(self, urls: Iterable[UrlParts]) -> None:
        """Forget media pages that turned out to be none, and learn anew from the rest.

        A pattern that is not learnt again is retired: it keeps its index and matches nothing.
        """
        gone = frozenset(urls)
        kept = [url for url in self._media_pages if url not in gone]
        self._media_pages, self._clusters = {}, []
        for learnt in self.learnt:
            learnt.urls = 0
            learnt.relevant -= len(learnt.founders & gone)
            learnt.founders -= gone
        for url in kept:
            self.add(url)

    def best(self, url: UrlParts) -> int | None:
        """Return the index of the matching pattern that generalises most URLs, None without one."""
        matching = [
            i for i, learnt in enumerate(self.learnt) if learnt.urls and learnt.pattern.matches(url)
        ]
        return max(matching, key=lambda i: (self.learnt[i].urls, -i), default=None)

    def distance(self, url: UrlParts) -> int | None:
        """Return the distance to the nearest pattern, None where none was learnt."""
        gaps = [learnt.pattern.distance(url) for learnt in self.learnt if learnt.urls]
        return min((gap for gap in gaps if gap is not None), default=None)

    def _learn_from(self, cluster: _Cluster) -> None:
        if cluster.learnt is not None:
            cluster.learnt.urls = max(cluster.learnt.urls, cluster.size)
        elif cluster.size > self.m:
            pattern = generalise(cluster.exemplars)
            cluster.learnt = next((old for old in self.learnt if old.pattern == pattern), None)
            if cluster.learnt is None:
                founders = frozenset(cluster.exemplars)
                cluster.learnt = LearntPattern(pattern, 0, cluster.size, cluster.size, founders)
                self.learnt.append(cluster.learnt)
            cluster.learnt.urls = max(cluster.learnt.urls, cluster.size)

    def _forget_stale_clusters(self) -> None:
        """Keep the work per URL bounded on sites whose media pages have nothing in common."""
        if len(self._clusters) > _MOST_CLUSTERS:
            for position, cluster in enumerate(self._clusters):
                if cluster.learnt is None:
                    del self._clusters[position]
                    return
