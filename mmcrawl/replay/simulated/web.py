"""The simulated web: what it answers, and what of it is relevant."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from urllib.parse import urlsplit

from mmcrawl.replay.simulated.config import SimulationConfig
from mmcrawl.replay.simulated.designs import ENDINGS, respond
from mmcrawl.replay.simulated.layout import BANNER, Directory, Page, Site, lay_out, number_of_month
from mmcrawl.replay.simulated.pages import PageMaker, list_url, month_url, number_in, tunnel_url
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    content_type,
    for_method,
    host_of,
    moved,
    moved_to_host,
    not_found,
    page_key,
    split_url,
)

FIXTURES = frozenset({"/style.css", "/images/logo.gif", "/js/swfobject.js", BANNER})
TUNNEL_NAME = re.compile(r"zhuanti([0-9]{1,9})-([0-9]{1,9})\.htm")
MONTH_NAME = re.compile(r"calendar\.asp\?month=([0-9]{1,2})&year=([0-9]{4})")
MEDIA_NAME = re.compile(rf"[a-z0-9-]+\.({'|'.join(sorted(set(ENDINGS.values())))})")


_FIRST_BYTES = {
    "swf": b"FWS\x08",
    "mp3": b"ID3\x03",
    "mp4": b"\0\0\0\x18ftypisom",
    "wmv": b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",
    "rmvb": b".RMF\x00\x00",
    "gif": b"GIF89a\x01\x00\x01\x00",
    "css": b"body { margin: 0 }\n/* ",
    "js": b"var swfobject = {};\n// ",
}


class SimulatedWeb(StoredWeb):
    """Any number of school sites in Chinese and English, of which some pages are about physics.

    A site has a front page, directories in up to three levels with lists that lead to their pages,
    a calendar, two redirects, links to other sites and dead links. Of the directories some are
    about physics, with animations, recordings and films or with few of them, the others about other
    subjects, among them games and music with media of their own. Many links lead to few pages, and
    few pages have many links.

    The layout is made on first use; pages are written when they are asked for and not kept.

    Args:
        config: What differs between one simulated web and another.
    """

    def __init__(self, config: SimulationConfig | None = None) -> None:
        self._config = config or SimulationConfig()

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        host = host_of(parts)
        site = self._sites_by_host.get(host.removeprefix("www."))
        key = page_key(url)
        if site is None or key is None:
            return None
        if host != site.host:
            return for_method(moved_to_host(parts, site.host), method)
        return for_method(self._answer(site, key[1]), method)

    def start_urls(self) -> tuple[str, ...]:
        """The front pages of all sites."""
        return tuple(site.root for site in self._sites)

    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType({f"www.{site.host}": site.host for site in self._sites})

    def page_urls(self) -> Iterator[str]:
        """Every page, `SimulationConfig.pages` of them."""
        for site in self._sites:
            yield site.root
            yield from (month_url(site, number) for number in range(site.months))
            for directory in site.directories:
                yield from (list_url(directory, n + 1) for n in range(directory.lists))
                if directory.is_hidden:
                    yield from (tunnel_url(directory, n + 1) for n in range(self._config.tunnel))
                yield from (self._make.item(directory, n + 1).url for n in range(directory.items))

    def relevant_urls(self) -> frozenset[str]:
        """The truth: pages about senior physics that hold audio, video or animations of their own.

        The animation above every page of some sites counts for none of them.
        """
        return frozenset(
            found.url
            for site in self._sites
            for directory in site.directories
            for found in (self._make.item(directory, n + 1) for n in range(directory.items))
            if found.relevant
        )

    @cached_property
    def _sites(self) -> tuple[Site, ...]:
        return lay_out(self._config)

    @cached_property
    def _sites_by_host(self) -> dict[str, Site]:
        return {site.host: site for site in self._sites}

    @cached_property
    def _make(self) -> PageMaker:
        return PageMaker(self._sites, self._config)

    def _answer(self, site: Site, path: str) -> StoredResponse:
        page = self._page(site, path)
        if page:
            return respond(page, self._config.seed)
        if path in FIXTURES or self._is_medium(site, path):
            return answer(200, content_type(path), _file(path))
        if path == "/index.asp":
            return moved(site.root)
        if path == "/old/":
            return moved(site.directories[0].url)
        if path + "/" in site.by_path:
            return moved(site.by_path[path + "/"].url)
        return not_found()

    def _page(self, site: Site, path: str) -> Page | None:
        """The page at a path; a name that only looks like one of this web's gives None."""
        if path == "/":
            return self._make.front(site)
        file, mark, query = path.partition("?")
        above, _, name = file.rpartition("/")
        name += mark + query
        return (
            self._tunnel_page(site, path, name)
            or self._directory_page(site, site.by_path.get(above + "/"), path, name)
            or (self._month_page(site, name) if not above else None)
        )

    def _tunnel_page(self, site: Site, path: str, name: str) -> Page | None:
        found = TUNNEL_NAME.fullmatch(name)
        number, step = (int(found[1]), int(found[2])) if found else (-1, 0)
        if not 0 <= number < len(site.directories) or not 1 <= step <= self._config.tunnel:
            return None
        directory = site.directories[number]
        if not directory.is_hidden or _path(tunnel_url(directory, step)) != path:
            return None
        return self._make.tunnel(site, directory, step)

    def _directory_page(
        self, site: Site, directory: Directory | None, path: str, name: str
    ) -> Page | None:
        if directory is None:
            return None
        if not name:
            return self._make.list(site, directory, 1)
        number = number_in(name)
        if 1 < number <= directory.lists and name == directory.listing.format(n=number):
            return self._make.list(site, directory, number)
        if 1 <= number <= directory.items:
            page = self._make.article(site, directory, number)
            return page if _path(page.url) == path else None
        return None

    def _month_page(self, site: Site, name: str) -> Page | None:
        found = MONTH_NAME.fullmatch(name)
        if not found:
            return None
        number = number_of_month(int(found[2]), int(found[1]))
        if 0 <= number < site.months and month_url(site, number) == site.root + name:
            return self._make.month(site, number)
        return None

    def _is_medium(self, site: Site, path: str) -> bool:
        above, _, name = path.rpartition("/")
        directory = site.by_path.get(above + "/")
        number = number_in(name) if directory and MEDIA_NAME.fullmatch(name) else 0
        if directory is None or not 1 <= number <= directory.items:
            return False
        medium = self._make.item(directory, number).medium
        return medium is not None and medium.url == f"http://{site.host}{path}"


def _file(path: str) -> bytes:
    """A file that begins as a real one does, and has nothing in it; no two are the same."""
    return _FIRST_BYTES[path.rpartition(".")[2]] + path.encode()


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")
