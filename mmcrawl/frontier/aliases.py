"""URL aliases that may lead to one page: `http` and `https`, with and without `www.`, an index
file, a trailing slash, other case.

On some sites half of all links are aliases. Which of these differences are meaningless is learnt
for each host, from pages fetched under two addresses. A link that may be an alias of another is
fetched after all others. It is not fetched at all once the other page has been fetched and pages
under addresses with that difference were equal on its host.

Meaningless query parameters (where a reader came from, which menu is folded out) are learnt too,
but only from fetched pages, and links with them keep their place until then. A parameter counts as
meaningless only if it left several *different* pages unchanged: a script that fails returns one
page for all addresses. Random ids in the paths of a site are learnt in the same way. A fetched page
with a query costs about a kilobyte of RAM.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from urllib.parse import urlsplit

from mmcrawl.frontier.reading import LinkTable
from mmcrawl.frontier.urls import RANDOM_ID, canonical, hash64

BEHIND = -1
"""Priority of a link that may be an alias."""

ALIAS = "another address of a page that was fetched"
"""Why a link is not fetched."""

_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php\d?|aspx?|jsp|cgi|shtml)\Z", re.I)
_ENOUGH = 2  # pairs: one may be the same by chance, as two empty pages are
_SURE = 0.9
_MOST = 16  # aliases of one page that are compared: a site can spell a path in thousands of ways
_MOST_PARAMETERS = 8  # of an address with more, all are left out, and none alone
# Of so many links that differ in parameters only, one is fetched all the same; of ever more the
# more often it brought nothing: a page may name a hundred addresses with new ids.
_ASKED_AGAIN = 16

Kind = tuple[bool, ...] | str
"""Whether two addresses differ in scheme, `www.`, index file, slash at the end, case; or the names
of the parameters in which they do."""


def _parts(url: str) -> tuple[str, str, bool, bool, bool, bool]:
    """Return host and rest in the form that aliases share, and four of their differences."""
    scheme, host, path, query, _ = urlsplit(canonical(url))
    plain = host.removeprefix("www.")
    short = _INDEX.sub("/", path)
    rest = f"{short.rstrip('/')}?{query}"
    return plain, rest, scheme == "https", plain != host, short != path, short.endswith("/")


def _difference(one: str, other: str) -> tuple[str, Kind]:
    """Return the host of two aliases, and the differences of their addresses."""
    host, rest, *marks = _parts(one)
    _, other_rest, *other_marks = _parts(other)
    differences = (a != b for a, b in zip(marks, other_marks, strict=True))
    return host, (*differences, rest != other_rest)


@lru_cache(maxsize=16_384)  # a link is looked up, and added
def alias_key(url: str) -> int:
    """Return a number that is equal for addresses that may lead to one page."""
    host, rest, *_ = _parts(url)
    return hash64(f"{host}{rest.lower()}")


def _without_parameters(url: str) -> Iterator[tuple[str, str]]:
    """Yield the names of parameters, one by one and all, and an address without them.

    >>> list(_without_parameters("http://h.test/a?x=1&y=2"))[1:]
    [('y', 'http://h.test/a?x=1'), ('x&y', 'http://h.test/a')]
    """
    page, _, query = canonical(url).partition("?")
    pairs = [(pair.partition("=")[0], pair) for pair in query.split("&")]
    names = list(dict.fromkeys(name for name, _ in pairs))
    for name in names if 1 < len(names) <= _MOST_PARAMETERS else ():
        yield name, f"{page}?{'&'.join(pair for other, pair in pairs if other != name)}"
    yield "&".join(names), page


def _varieties(url: str) -> Iterator[tuple[tuple[str, str], str, int]]:
    """Yield host and parameter names ("/" of path ids), the address without, and a key of both."""
    page, _, query = canonical(url).partition("?")
    fewer = list(_without_parameters(url)) if query else []
    if RANDOM_ID.search(page):
        fewer.append(("/", f"{RANDOM_ID.sub('', page)}?{query}"))
    for names, rest in fewer:
        yield (_parts(url)[0], names), rest, hash64(f"{names} {rest}")


class Aliases:
    """The aliases among a crawl's addresses, by link numbers; the first stands for all."""

    def __init__(self, links: LinkTable) -> None:
        self._links = links
        self._pairs: defaultdict[tuple[str, Kind], list[int]] = defaultdict(lambda: [0, 0])
        self._varied: dict[int, int] = {}
        self._seen: set[int] = set()
        self._unvaried: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for key in links.fetched_alike():
            for one, other in combinations(links.alike(key, _MOST), 2):
                self._compare(one, other)

    def known(self, urls: Iterable[str]) -> list[bool]:
        """Return for each new address whether it may be an alias, also of an earlier one here."""
        keys = [alias_key(url) for url in urls]
        known = self._links.known_alias_keys(keys)
        answers = []
        for key in keys:
            answers.append(key in known)
            known.add(key)
        return answers

    def crawled(self, link: int, url: str) -> None:
        """Learn from a page that was fetched."""
        group = self._links.alike(alias_key(url), _MOST)
        for alias in group if link in group else ():
            if alias != link:
                self._compare(alias, link)
        self.learn_parameters(link, url)

    def learn_parameters(self, link: int, url: str) -> None:
        """Learn from a fetched page which parameters matter; call it in the order of fetching."""
        varieties = list(_varieties(url))
        digest = self._links.digest(link) if varieties else None
        for where, rest, key in varieties if digest else ():
            for other in self._fetched(rest, key, link):
                self._pairs[where][other == digest] += 1
                if other == digest and len(self._unvaried[where]) < _ENOUGH:
                    self._unvaried[where].add(other)
            self._varied.setdefault(key, link)
        self._seen.add(link)

    def left(self, link: int, url: str) -> list[int]:
        """Return the aliases of a link that led to no page: each may be the address of one."""
        aliases = (alias for alias in self._links.alike(alias_key(url), _MOST) if alias != link)
        return [alias for alias in aliases if self._links.digest(alias) is None]

    def was_fetched(self, link: int, url: str) -> bool:
        """Return whether the page of a link is known to have been fetched under another address."""
        return any(
            self._mean_nothing(*_difference(self._links.url(alias), url))
            for alias in self._links.alike(alias_key(url), _MOST)
            if alias != link and self._links.digest(alias) is not None
        ) or self._differs_in_parameters(link, url)

    def _differs_in_parameters(self, link: int, url: str) -> bool:
        """Return whether a page was fetched that differs only in meaningless parameters."""
        return any(
            link % self._period(where) > 0 and self._fetched(rest, key, link)
            for where, rest, key in (_varieties(url) if self._unvaried else ())
            if len(self._unvaried.get(where, ())) == _ENOUGH and self._mean_nothing(*where)
        )

    def _period(self, where: tuple[str, str]) -> int:
        """Return n: of links that differ in some parameters, every n-th is fetched all the same."""
        return max(_ASKED_AGAIN, 1 << self._pairs[where][True].bit_length())

    def _fetched(self, rest: str, key: int, link: int) -> list[int]:
        """Return the digests of pages at an address without parameters, and with others."""
        pages = self._seen.intersection({self._links.lookup(rest), self._varied.get(key)}) - {link}
        digests = (self._links.digest(page) for page in pages)
        return [digest for digest in digests if digest]

    def _compare(self, one: int, other: int) -> None:
        """Count two pages that may be aliases as the same, or as different."""
        digests = self._links.digest(one), self._links.digest(other)
        if all(digests):  # 0 if it was not taken
            difference = _difference(self._links.url(one), self._links.url(other))
            self._pairs[difference][digests[0] == digests[1]] += 1

    def _mean_nothing(self, host: str, kind: Kind) -> bool:
        """Return whether pages of a host are the same under addresses that differ so."""
        others, same = self._pairs.get((host, kind), (0, 0))
        return same >= _ENOUGH and same >= _SURE * (same + others)
