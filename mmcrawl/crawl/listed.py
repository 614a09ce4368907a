"""When an address that only a sitemap or a feed names becomes a link of the crawl.

A sitemap names all pages of a site at once and says almost nothing about them. Mixed with other
links they do harm: every algorithm sees them as alike, so the crawl turns to them by chance, and
once they are links, what pages say of them later (anchor, place, title of the list) is lost. So
they wait in the store, and become links

* when a page links to them: they are ordinary links then, with what the list says added;
* a few at a time, when addresses of the same place (`place_of`) were fetched and were relevant more
  often than other pages; of addresses listed with media, some are tried;
* when nothing else waits.

Media that a list attributes to a page count as found in the list until that page is fetched and is
relevant; then they count as found on the page.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mmcrawl.frontier.admission import Admission
from mmcrawl.frontier.records import WaitingLink
from mmcrawl.frontier.sqlite import SqliteFrontier
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import hash64, host_of, shape, url_key
from mmcrawl.page.model import SAID_TO_HAVE_MEDIA, Link, MediaResource, Page
from mmcrawl.page.urls import resource_key

# -- Addresses that only a sitemap or a feed names: found, but no page links to them yet ----------
# They lie in a table of the store and cost no RAM, so that a site of millions of pages can be
# listed. A link on a page to one of them is a link like any other; what the list says of it is
# added. The others become links a few at a time, see `mmcrawl.crawl.listed`.

_FILE = re.compile(r"[^/.]+((?:\.\w{1,8})?/?)\Z")


@dataclass(frozen=True, slots=True)
class Listed:
    """An address as a list names it."""

    url: str
    words: str  # what the list says of it: title, kind of media, date; "" for nothing
    tag_path: str  # what names it, as `Link.tag_path`
    parent: int  # the link that the list is
    place: int  # `place_of` its address


@lru_cache(maxsize=16_384)
def place_of(url: str) -> int:
    """Return what addresses of a kind share, as a number: all but numbers and the last name.

    >>> place_of("http://h.test/2014/05/a-post/") == place_of("http://h.test/2019/11/another/")
    True
    """
    form = shape(url)
    return hash64(form if "?" in form else _FILE.sub(r"*\1", form))


class ListedAddresses:
    """The listed addresses of one job that are no links yet; durable with the next commit."""

    def __init__(self, store: SqliteStore, job: int) -> None:
        self._store, self._job = store, job
        row = store.db.execute("SELECT 1 FROM listed WHERE job = ? LIMIT 1", (job,)).fetchone()
        self._any = row is not None

    def __bool__(self) -> bool:
        """Return whether there may be some."""
        return self._any

    def keep(self, listed: Iterable[Listed]) -> int:
        """Add addresses, each once; return how many are new."""
        rows = (
            (self._job, url_key(self._job, one.url), one.url, one.words, one.tag_path, one.parent,
             one.place) for one in listed
        )  # fmt: skip
        with self._store.writing() as db:
            added = db.executemany(
                "INSERT OR IGNORE INTO listed (job, key, url, words, tag_path, parent, place)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            ).rowcount
        self._any = self._any or added > 0
        return int(added)

    def keep_media(self, links: Iterable[Link], list_url: str) -> None:
        """Keep the media that a list says the pages of its links show, each once a page."""
        rows = (
            (self._job, url_key(self._job, link.url), list_url, *_row(medium))
            for link in links
            for medium in link.media
        )
        with self._store.writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO listed_media (job, key, list, url, kind, tag, text, others)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def media(self, url: str) -> tuple[tuple[str, MediaResource], ...]:
        """Return the media that lists say a page shows, each with the address of the list."""
        rows = self._store.db.execute(
            "SELECT list, url, kind, tag, text, others FROM listed_media"
            " WHERE job = ? AND key = ? ORDER BY url",
            (self._job, url_key(self._job, url)),
        )
        return tuple(
            (found, MediaResource(medium, kind, tag, text, tuple(json.loads(others))))
            for found, medium, kind, tag, text, others in rows
        )

    def words(self, url: str) -> str:
        """Return what lists say of an address, "" for nothing."""
        if not self._any:
            return ""
        row = self._store.db.execute(
            "SELECT words FROM listed WHERE job = ? AND key = ?",
            (self._job, url_key(self._job, url)),
        ).fetchone()
        return str(row[0]) if row else ""

    def take(self, place: int, most: int) -> list[Listed]:
        """Remove and return the first addresses of a place."""
        return list(self._take("AND place = ?", (place,), most)) if self._any else []

    def take_first(self, most: int) -> list[Listed]:
        """Remove and return the first addresses of any place."""
        taken = list(self._take("", (), most)) if self._any else []
        self._any = bool(taken)
        return taken

    def followed(self, links: Sequence[int], settled: int) -> None:
        """Record that addresses became links, with ids in a row, after so many links had ended."""
        with self._store.writing() as db:
            row = (self._job, min(links), max(links), settled)
            db.execute("INSERT INTO followed (job, first, last, settled) VALUES (?, ?, ?, ?)", row)

    def _take(self, where: str, values: tuple[int, ...], most: int) -> Iterator[Listed]:
        with self._store.writing() as db:
            rows = db.execute(
                "SELECT id, url, words, tag_path, parent, place FROM listed"  # noqa: S608 - ours
                f" WHERE job = ? {where} ORDER BY id LIMIT ?",
                (self._job, *values, most),
            ).fetchall()
            db.executemany("DELETE FROM listed WHERE id = ?", [row[:1] for row in rows])
        for _, *values_of in rows:
            yield Listed(*values_of)


def _row(medium: MediaResource) -> tuple[str, str, str, str, str]:
    others = json.dumps(medium.others, ensure_ascii=False)
    return medium.url, medium.kind, medium.tag, medium.text, others


# -- When an address that only a sitemap or a feed names becomes a link of the crawl --------------

_ENOUGH = 4  # pages of a place before its rate counts
_AT_ONCE = 20  # more of a place than are fetched meanwhile, and no flood
_WHEN_EMPTY = 50


class ListedLinks:
    """The listed addresses of a crawl, and how the pages of their places turned out."""

    def __init__(self, store: SqliteStore, job: int) -> None:
        self._addresses = ListedAddresses(store, job)
        self._fetched: Counter[int] = Counter()
        self._relevant: Counter[int] = Counter()
        self._pages = self._found = 0
        self._last: set[int] = set()
        self._untried: set[int] = set()

    def keep(self, links: Iterable[Link], parent: int) -> None:
        """Add the addresses that the list at the link `parent` names."""
        promising: set[int] = set()

        def listed(link: Link) -> Listed:
            place = _place(link.url, link.tag_path)
            if _says_media(link.tag_path):
                promising.add(place)
            return Listed(link.url, link.anchor, link.tag_path, parent, place)

        self._addresses.keep(map(listed, links))
        self._untried |= {place for place in promising if self._fetched[place] < _ENOUGH}

    def keep_media(self, links: Iterable[Link], list_url: str) -> None:
        """Add the media that a list attributes to pages; see `with_media`."""
        self._addresses.keep_media(links, list_url)

    def media(self, *urls: str) -> dict[str, set[str]]:
        """Return the addresses of the media that lists say pages show, by the lists."""
        found: dict[str, set[str]] = {}
        for url in dict.fromkeys(urls):
            for list_url, medium in self._addresses.media(url):
                found.setdefault(list_url, set()).add(medium.url)
        return found

    def with_media(self, page: Page, urls: Iterable[str]) -> Page:
        """Return a page with the media that lists say its addresses show, redirects included."""
        said = {
            resource_key(medium.url): medium
            for url in dict.fromkeys(urls)
            for _, medium in self._addresses.media(url)
        }
        if not said:
            return page
        own = []
        for medium in page.media:
            same = [said.pop(resource_key(one), None) for one in (medium.url, *medium.others)]
            text = medium.text or next((one.text for one in same if one), "")
            own.append(replace(medium, text=text))
        return replace(page, media=(*own, *said.values()))

    def words(self, url: str) -> str:
        """Return what lists say of an address, "" for nothing."""
        return self._addresses.words(url)

    def crawled(self, url: str, tag_path: str, *, relevant: bool) -> None:
        """Count a fetched page."""
        self._last = self.recall(url, tag_path, relevant=relevant)

    def recall(self, url: str, tag_path: str, *, relevant: bool) -> set[int]:
        """Count a page fetched before the crawl was left; return its places, due later."""
        places = {place_of(url), _place(url, tag_path)}
        self._pages += 1
        self._found += relevant
        for place in places:
            self._fetched[place] += 1
            self._relevant[place] += relevant
        return places

    def revised(self, url: str, tag_path: str) -> None:
        """Record that a page counted as relevant is not."""
        self._found -= 1
        for place in {place_of(url), _place(url, tag_path)}:
            self._relevant[place] -= 1

    def followed(self, links: Sequence[int], settled: int) -> None:
        """Record that addresses became links; see `ListedAddresses.followed`."""
        self._addresses.followed(links, settled)

    def due(self, *, empty: bool) -> list[Listed]:
        """Remove and return the addresses that become links now; more if nothing else waits."""
        if not self._addresses:
            return []
        due: list[Listed] = []
        for place in sorted(self._untried | set(filter(self._is_good, self._last))):
            due += self._addresses.take(place, _AT_ONCE)
        self._last, self._untried = set(), set()
        if empty and not due:
            best = sorted(self._fetched, key=self._rate, reverse=True)[:_AT_ONCE]
            for place in best:
                due = due or self._addresses.take(place, _WHEN_EMPTY)
            due = due or self._addresses.take_first(_WHEN_EMPTY)
        return due

    def _is_good(self, place: int) -> bool:
        return (
            self._fetched[place] >= _ENOUGH
            and self._relevant[place] > 0
            and self._rate(place) >= self._found / self._pages
        )

    def _rate(self, place: int) -> float:
        return self._relevant[place] / self._fetched[place]


def _place(url: str, tag_path: str) -> int:
    """Return the place of a listed address: of those with media, as the list says, it is one."""
    return hash64(f"{tag_path} {host_of(url)}") if _says_media(tag_path) else place_of(url)


def _says_media(tag_path: str) -> bool:
    return tag_path in SAID_TO_HAVE_MEDIA


# -- Links of areas that brought little so far wait behind others until something is found there ---

_MOST = 10_000


class LinksBehind:
    """The links that fell behind, each by so many steps."""

    def __init__(self, frontier: SqliteFrontier, admission: Admission) -> None:
        self._frontier, self._admission = frontier, admission
        self._steps: dict[int, int] = {}

    def falls(self, link: WaitingLink) -> bool:
        """Put a link back behind others if its area has since brought less."""
        if link.request is not None or link.parent is None or link.priority > 0:
            return False  # what is to come early keeps its place
        steps = self._admission.steps_behind(link.url)
        if steps <= -link.priority:
            self._steps.pop(link.id, None)
            return False
        self._frontier.requeue(link.id, None, -steps)
        self._steps[link.id] = steps
        if len(self._steps) > _MOST:
            del self._steps[next(iter(self._steps))]
        return True

    def lift(self) -> None:
        """Bring forward the links in an area that has just yielded something."""
        for link, before in list(self._steps.items()):
            steps = self._admission.steps_behind(self._frontier.url(link))
            if steps < before:
                self._frontier.prioritise(link, -steps, instead_of=-before)
                self._steps[link] = steps
