"""The demo web: a small internet about school physics that is generated as it is asked for.

Its plan says which pages and files it has, before any of them is written out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from urllib.parse import urlsplit

import mmcrawl.replay.demo.neighbours as others
import mmcrawl.replay.demo.physics as physics_site
import mmcrawl.replay.demo.wuli as wuli_site
from mmcrawl.replay.demo import app_site
from mmcrawl.replay.demo.designs.choice import respond
from mmcrawl.replay.demo.files import file_at
from mmcrawl.replay.demo.markup import HOSTED
from mmcrawl.replay.demo.model import DemoConfig, Page
from mmcrawl.replay.demo.sections import attachment
from mmcrawl.replay.demo.traps import answer_trap, with_sessions, without_session
from mmcrawl.replay.media_types import content_type
from mmcrawl.replay.web import (
    StoredResponse,
    StoredWeb,
    answer,
    for_method,
    host_of,
    moved,
    moved_to_host,
    not_found,
    page_key,
    split_url,
)

Key = tuple[str, str]

HOSTS = (wuli_site.HOST, physics_site.HOST, others.SHOP, others.MUSIC)
ROBOTS = {wuli_site.HOST: wuli_site.ROBOTS, physics_site.HOST: physics_site.ROBOTS}
FIXTURES = (
    "/style.css",
    "/images/logo.gif",
    "/images/ditu.gif",
    "/js/swfobject.js",
    wuli_site.BANNER,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The pages by host and path, in the order they were made, and the titles of other files."""

    pages: Mapping[Key, Page]
    files: Mapping[Key, str]


def plan(config: DemoConfig) -> Plan:
    """Lay out the web that `config` describes."""
    made = chain(wuli_site.pages(config), physics_site.pages(config), others.pages(config))
    pages = {key_of(page.url): page for page in made}
    files = {(host, path): "" for host in HOSTS for path in FIXTURES}
    files.update(((wuli_site.HOST, path), title) for path, title in wuli_site.PARTS.items())
    for page in pages.values():
        own = (item for item in page.media if item.form not in HOSTED)
        files.update((key_of(item.url), item.title) for item in own)
    for section in (*wuli_site.sections(config), *physics_site.sections(config)):
        if section.attached:
            listed = (page.url for page in pages.values() if page.url.startswith(section.base))
            files.update((key_of(attachment(section, url)), "") for url in listed)
    return Plan(MappingProxyType(pages), MappingProxyType(files))


def key_of(url: str) -> Key:
    """The key of a URL that the demo web made itself."""
    key = page_key(url)
    if key is None:
        raise ValueError(f"{url} is no URL of the demo web")
    return key


ALIASES = MappingProxyType({f"www.{host}": host for host in HOSTS})


class DemoWeb(StoredWeb):
    """Four sites: a Chinese and an English one about physics, a shop and a music weekly; and,
    for those who know its address, one that only a browser can read.

    The same configuration gives the same bytes. What to visit is planned on first use; pages are
    written when they are asked for and not kept.

    Args:
        config: What differs between one demo web and another.
    """

    def __init__(self, config: DemoConfig | None = None) -> None:
        self._config = config or DemoConfig()

    def get(self, url: str, method: str = "GET") -> StoredResponse | None:
        parts = split_url(url)
        if parts is None:
            return None
        host = host_of(parts)
        if host == app_site.HOST:
            return for_method(app_site.respond(parts.path or "/"), method)
        if host in ALIASES:
            return for_method(moved_to_host(parts, ALIASES[host]), method)
        key = page_key(without_session(url))
        if host not in HOSTS or key is None:
            return None
        return for_method(self._answer(url, key), method)

    def start_urls(self) -> tuple[str, ...]:
        """The front pages of the two sites about physics."""
        return tuple(f"http://{host}/" for host in HOSTS[:2])

    def aliases(self) -> Mapping[str, str]:
        return ALIASES

    def page_urls(self) -> tuple[str, ...]:
        """Every page that has an address of its own.

        Pages without end (the calendar) and session ids are not in it; directories that robots.txt
        forbids are.
        """
        return tuple(page.url for page in self._plan.pages.values())

    def relevant_urls(self) -> frozenset[str]:
        """The truth: pages about senior physics that hold audio, video or animations of their own.

        The animation above every page of one part of a site counts for none of them, and what
        robots.txt forbids is not in it.
        """
        return frozenset(page.url for page in self._plan.pages.values() if page.relevant)

    @cached_property
    def _plan(self) -> Plan:
        return plan(self._config)

    def _answer(self, url: str, key: tuple[str, str]) -> StoredResponse:
        host, path = key
        page = self._plan.pages.get(key)
        if page:
            return respond(with_sessions(page, url, self._config), self._config.seed)
        trap = answer_trap(key, self._config)
        if trap:
            return trap
        if path == "/robots.txt" and host in ROBOTS:
            return answer(200, "text/plain", ROBOTS[host].encode())
        if key in self._plan.files:
            return answer(200, content_type(path), file_at(path, self._plan.files[key]))
        if (host, path + "/") in self._plan.pages:
            return moved(urlsplit(url)._replace(path=path + "/", fragment="").geturl())
        return not_found()
