"""When an address that only a sitemap or a feed names becomes a link of the crawl.

A sitemap names all pages of a site at once and says next to nothing of them. As links among others
they are harmful: they are alike to every algorithm, so that the crawl turns to them by chance; and
as they are known then, what pages say of them later (anchor, place, title of the list) is lost. So
they wait in the store, and become links

* when a page links to them: then they are ordinary links, with what the list says of them added;
* a few at a time, when addresses of their place (`place_of`) were fetched, and held what is looked
  for more often than other pages did; of addresses with media, as the list says, some are tried;
* when nothing else waits.

Media that a list says a page shows are the list's until that page is fetched and is relevant; then
they are the page's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from mmcrawl.frontier.addresses import host_of
from mmcrawl.frontier.listed import Listed, ListedAddresses, place_of
from mmcrawl.frontier.store import SqliteStore
from mmcrawl.frontier.urls import hash64
from mmcrawl.page.model import SAID_TO_HAVE_MEDIA, Link, Page
from mmcrawl.page.urls import resource_key

_ENOUGH = 4  # pages of a place before its rate counts
_AT_ONCE = 20  # more of a place than are fetched meanwhile, and no flood
_WHEN_EMPTY = 50


class ListedLinks:
    """The listed addresses of a crawl, and how the pages of their places turned out.

    Args:
        store, job: where they are kept.
    """

    def __init__(self, store: SqliteStore, job: int) -> None:
        self._addresses = ListedAddresses(store, job)
        self._fetched: Counter[int] = Counter()
        self._relevant: Counter[int] = Counter()
        self._pages = self._found = 0
        self._last: set[int] = set()
        self._untried: set[int] = set()

    def keep(self, links: Iterable[Link], parent: int) -> None:
        """Take in what the list that is the link `parent` names."""
        promising: set[int] = set()

        def listed(link: Link) -> Listed:
            place = _place(link.url, link.tag_path)
            if _says_media(link.tag_path):
                promising.add(place)
            return Listed(link.url, link.anchor, link.tag_path, parent, place)

        self._addresses.keep(map(listed, links))
        self._untried |= {place for place in promising if self._fetched[place] < _ENOUGH}

    def keep_media(self, links: Iterable[Link], list_url: str) -> None:
        """Take in what a list says that pages show; see `with_media`."""
        self._addresses.keep_media(links, list_url)

    def media(self, *urls: str) -> dict[str, set[str]]:
        """Return the addresses of the media that lists say pages show, by the lists."""
        found: dict[str, set[str]] = {}
        for url in dict.fromkeys(urls):
            for list_url, medium in self._addresses.media(url):
                found.setdefault(list_url, set()).add(medium.url)
        return found

    def with_media(self, page: Page, urls: Iterable[str]) -> Page:
        """Return a page with the media that lists say it shows.

        Args:
            page: fetched.
            urls: its addresses, those that were asked for and led to it included.
        """
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
        """Count a fetched page.

        Args:
            url: its address.
            tag_path: where its link stands.
            relevant: whether it holds what is looked for.
        """
        self._last = self.recall(url, tag_path, relevant=relevant)

    def recall(self, url: str, tag_path: str, *, relevant: bool) -> set[int]:
        """Count a page that was fetched before the crawl was left; return its places.

        What was due after it became links then.
        """
        places = {place_of(url), _place(url, tag_path)}
        self._pages += 1
        self._found += relevant
        for place in places:
            self._fetched[place] += 1
            self._relevant[place] += relevant
        return places

    def revised(self, url: str, tag_path: str) -> None:
        """Note that a page counted as relevant is not."""
        self._found -= 1
        for place in {place_of(url), _place(url, tag_path)}:
            self._relevant[place] -= 1

    def followed(self, links: Sequence[int], settled: int) -> None:
        """Note that addresses became links; see `ListedAddresses.followed`."""
        self._addresses.followed(links, settled)

    def due(self, *, empty: bool) -> list[Listed]:
        """Take out the addresses that are to become links now.

        Args:
            empty: nothing else waits.
        """
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
