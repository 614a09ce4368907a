"""URL distance and URL patterns (Yang 2009, sections 4.3.3 to 4.3.6).

A URL is a host, a row of directories (the file name counts as the last one) and a set of query
pairs. Pages of one kind on one site differ in little of it; what they share is their pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

__all__ = ["ANY", "Pattern", "UrlParts", "distance", "generalise", "query_keys", "url_parts"]

ANY = "*"
"""What stands in a pattern for a part that differs. A URL's own `*` is kept escaped as `%2A`."""


@dataclass(frozen=True, slots=True)
class UrlParts:
    """A URL cut up: `http://h/a/b.php?x=1` is h, (a, b.php), ((x, 1),)."""

    host: str
    directories: tuple[str, ...]
    query: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16_384)
def url_parts(url: str) -> UrlParts:
    """Cut up a URL; what cannot be read as one becomes a single directory of no host.

    >>> url_parts("http://h.test/subject/show.php?id=102")
    UrlParts(host='h.test', directories=('subject', 'show.php'), query=(('id', '102'),))
    """
    try:
        parts = urlsplit(url.replace("*", "%2A"))
    except ValueError:
        return UrlParts("", (url,), ())
    pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
    query = tuple(sorted((key, value) for key, _, value in pairs))
    return UrlParts(parts.netloc.lower(), tuple(parts.path.split("/")[1:]) or ("",), query)


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
        """Tell whether a URL has this form. Linear in the length of the URL."""
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


def generalise(urls: Sequence[UrlParts]) -> Pattern:
    """Return the pattern of some URLs (4.3.6): equal parts stay, others become `*`.

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
    return Pattern(urls[0].host, directories, query, longer)
