"""Which pages and files the demo web has; nothing of them is written out yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

import mmcrawl.replay.demo.neighbours as others
import mmcrawl.replay.demo.physics as physics_site
import mmcrawl.replay.demo.wuli as wuli_site
from mmcrawl.replay.demo.config import DemoConfig
from mmcrawl.replay.demo.embedding import HOSTED
from mmcrawl.replay.demo.model import Page
from mmcrawl.replay.demo.sections import attachment
from mmcrawl.replay.web import page_key

__all__ = ["HOSTS", "ROBOTS", "Key", "Plan", "key_of", "plan"]

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
    """The pages by host and path, in the order they were made, and the files beside them."""

    pages: Mapping[Key, Page]
    files: frozenset[Key]


def plan(config: DemoConfig) -> Plan:
    """Lay out the web that `config` describes."""
    made = chain(wuli_site.pages(config), physics_site.pages(config), others.pages(config))
    pages = {key_of(page.url): page for page in made}
    files = {(host, path) for host in HOSTS for path in FIXTURES}
    for page in pages.values():
        files.update(key_of(item.url) for item in page.media if item.form not in HOSTED)
    for section in (*wuli_site.sections(config), *physics_site.sections(config)):
        if section.attached:
            listed = (page.url for page in pages.values() if page.url.startswith(section.base))
            files.update(key_of(attachment(section, url)) for url in listed)
    return Plan(MappingProxyType(pages), frozenset(files))


def key_of(url: str) -> Key:
    """The key of a URL that the demo web made itself."""
    key = page_key(url)
    if key is None:
        raise ValueError(f"{url} is no URL of the demo web")
    return key
