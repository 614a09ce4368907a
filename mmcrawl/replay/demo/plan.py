"""Which pages and files the demo web has; nothing of them is written out yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from mmcrawl.replay.demo import neighbours, physics, wuli
from mmcrawl.replay.demo.config import DemoConfig
from mmcrawl.replay.demo.embedding import HOSTED
from mmcrawl.replay.demo.model import Page
from mmcrawl.replay.demo.sections import attachment
from mmcrawl.replay.web import page_key

__all__ = ["HOSTS", "ROBOTS", "Key", "Plan", "key_of", "plan"]

Key = tuple[str, str]

HOSTS = (wuli.HOST, physics.HOST, neighbours.SHOP, neighbours.MUSIC)
ROBOTS = {wuli.HOST: wuli.ROBOTS, physics.HOST: physics.ROBOTS}
FIXTURES = ("/style.css", "/images/logo.gif", "/images/ditu.gif", "/js/swfobject.js", wuli.BANNER)


@dataclass(frozen=True, slots=True)
class Plan:
    """The pages by host and path, in the order they were made, and the files beside them."""

    pages: Mapping[Key, Page]
    files: frozenset[Key]


def plan(config: DemoConfig) -> Plan:
    """Lay out the web that `config` describes."""
    made = chain(wuli.pages(config), physics.pages(config), neighbours.pages(config))
    pages = {key_of(page.url): page for page in made}
    files = {(host, path) for host in HOSTS for path in FIXTURES}
    for page in pages.values():
        files.update(key_of(item.url) for item in page.media if item.form not in HOSTED)
    for section in (*wuli.sections(config), *physics.sections(config)):
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
