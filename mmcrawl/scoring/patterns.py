"""URL distance, URL patterns, and how a site's are learnt (Yang 2009, sections 4.3.3 to 4.3.7).

A URL is a host, a row of directories (the file name counts as the last one) and a set of query
pairs. Pages of one kind on one site differ in little of it; what they share is their pattern.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from mmcrawl.frontier.findings import PatternRecord

ANY = "*"
"""The placeholder in a pattern for a part that differs. A URL's own `*` is escaped as `%2A`."""

_EXEMPLARS = 32  # of a cluster: a new URL is compared with no more
_MOST_CLUSTERS = 256  # of a site: they bound the work for each URL


@dataclass(frozen=True, slots=True)
class UrlParts:
    """A URL cut up: `http://h/a/b.php?x=1` is h, (a, b.php), ((x, 1),)."""

    host: str
    directories: tuple[str, ...]
    query: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16_384)
def url_parts(url: str, *, slash: bool = True) -> UrlParts:
    """Cut up a URL; what cannot be read as one becomes a single directory of no host.

    Args:
        url: absolute.
        slash: keep a slash at the end apart: what follows it is a last part, which is empty.

    >>> url_parts("http://h.test/subject/show.php?id=102")
    UrlParts(host='h.test', directories=('subject', 'show.php'), query=(('id', '102'),))
    """
    try:
        parts = urlsplit(url.replace("*", "%2A"))
    except ValueError:
        return UrlParts("", (url,), ())
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    query = tuple(sorted((key, value) for key, _, value in pairs))
    path = parts.path if slash else parts.path.removesuffix("/")
    return UrlParts(parts.netloc.lower(), tuple(path.split("/")[1:]) or ("",), query)


def query_keys(url: UrlParts) -> tuple[str, ...]:
    """Return the keys of the query, sorted."""
    return tuple(key for key, _ in url.query)


def _path_distance(a: Sequence[str], b: Sequence[str]) -> int:
    """dPath = 4k + 2(n − m) (4.4); `*` equals anything."""
    unequal = sum(x != y and ANY not in (x, y) for x, y in zip(a, b, strict=False))
    return 4 * unequal + 2 * abs(len(a) - len(b))


def distance(a: UrlParts, b: UrlParts) -> int | None:
    """Return the distance of two URLs of one host (4.3), None for different hosts.

    >>> distance(url_parts("http://h/a/1.htm"), url_parts("http://h/a/2.htm"))
    4
    >>> distance(url_parts("http://h/c.php?id=1"), url_parts("http://h/c.php?id=2"))
    1
    """
    if a.host != b.host:
        return None
    return (_path_distance(a.directories, b.directories) + 1) * (1 + (a.query != b.query)) - 1


@dataclass(frozen=True, slots=True)
class Pattern:
    """The common form of several URLs of one host.

    Attributes:
        host: the host they share.
        directories: equal ones as they are, `*` for those that differ.
        query: pairs they share; the value is `*` where only the key is common.
        longer: some URLs had further directories; the pattern matches any number of them.
    """

    host: str
    directories: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    longer: bool = False

    def __str__(self) -> str:
        path = "/".join(self.directories) + ("/**" if self.longer else "")
        query = "&".join(f"{key}={value}" for key, value in self.query)
        return f"http://{self.host}/{path}" + (f"?{query}" if query else "")

    def matches(self, url: UrlParts) -> bool:
        """Return whether a URL has this form. Linear in the length of the URL."""
        if self.host != url.host or len(url.directories) < len(self.directories):
            return False
        if not self.longer and len(url.directories) > len(self.directories):
            return False
        own = zip(self.directories, url.directories, strict=False)
        return all(mine in (ANY, theirs) for mine, theirs in own) and self._same_query(url)

    def distance(self, url: UrlParts) -> int | None:
        """Return the distance of a URL to this pattern, 0 where it matches, None on other hosts."""
        if self.host != url.host:
            return None
        directories: Sequence[str] = url.directories
        if self.longer:
            directories = directories[: max(len(self.directories), 1)]
        path = _path_distance(self.directories, directories)
        return (path + 1) * (1 + (not self._same_query(url))) - 1

    def _same_query(self, url: UrlParts) -> bool:
        if len(self.query) != len(url.query):
            return False
        pairs = zip(self.query, url.query, strict=True)
        return all(k == key and v in (ANY, value) for (k, v), (key, value) in pairs)


def generalise(urls: Sequence[UrlParts], *, spans: bool = False) -> Pattern:
    """Return the pattern of some URLs (4.3.6): equal parts stay, others become `*`.

    Args:
        urls: of one host, with the same query keys.
        spans: a `*` at the end of the path stands for all that lies below.

    >>> str(generalise([url_parts("http://h/xy/1.htm"), url_parts("http://h/xy/2.htm")]))
    'http://h/xy/*'

    Raises:
        ValueError: no URLs, or URLs of several hosts or with different query keys.
    """
    if len({(url.host, query_keys(url)) for url in urls}) != 1:
        raise ValueError("a pattern needs URLs of one host with the same query keys")
    shortest = min(len(url.directories) for url in urls)
    directories = tuple(
        column[0] if len(set(column)) == 1 else ANY
        for column in zip(*(url.directories[:shortest] for url in urls), strict=True)
    )
    query = tuple(
        pairs[0] if len(set(pairs)) == 1 else (pairs[0][0], ANY)
        for pairs in zip(*(url.query for url in urls), strict=True)
    )
    longer = any(len(url.directories) > shortest for url in urls)
    longer = longer or (spans and directories[-1] == ANY)
    return Pattern(urls[0].host, directories, query, longer)


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

    def record(self) -> PatternRecord:
        """Return its record for the store of the crawl."""
        misses = self.crawled - self.relevant
        return PatternRecord(self.pattern.host, str(self.pattern), self.urls, self.relevant, misses)


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
        spans: a `*` at the end of a path stands for all that lies below.
        learnt: the patterns so far, retired ones included; their indices do not change.
    """

    near: int
    m: int
    spans: bool = False
    learnt: list[LearntPattern] = field(default_factory=list)
    _media_pages: dict[UrlParts, None] = field(default_factory=dict)
    _clusters: list[_Cluster] = field(default_factory=list)

    def add(self, url: UrlParts) -> bool:
        """Add a media page; return whether a pattern was learnt from it.

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
        """Forget media pages that turned out to be none, and learn again from the rest.

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
        if cluster.learnt is None:
            if cluster.size <= self.m:
                return
            pattern = generalise(cluster.exemplars, spans=self.spans)
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
