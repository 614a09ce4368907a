"""Seed lists: one URL a line, with an optional topic of its own."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from mmcrawl.crawl.list_files import checked, entries_of
from mmcrawl.errors import SeedError
from mmcrawl.page.urls import absolute_url
from mmcrawl.topic.loading import load_topic

_CREDENTIALS = re.compile(r"(^|//)[^\s/:]*:\S*@")


@dataclass(frozen=True, slots=True)
class Seed:
    """An address to start from, and the topic its site is searched for ("" for the crawl's)."""

    url: str
    topic: str = ""


def read_seeds(text: str) -> list[Seed]:
    """Return the seeds that `text` names: a file, a URL, or several URLs parted by commas.

    In a file, a line holds a URL and, after white space, a topic if it is not that of the crawl;
    `#` at the start of a line or after white space begins a comment. `http://` may be left out. It
    is UTF-8, GBK, Big5, or, with a byte order mark, UTF-16.

    Raises:
        SeedError: no such file, no text, an empty list, or lines that are wrong: the first 20 of
            them with their numbers, a line each.
    """
    path = None if "://" in text else Path(os.path.expanduser(text))
    if path is None:
        seeds = _listed(text)
    elif os.path.isfile(path):  # False for a name that is too long, where pathlib raises
        entries = entries_of(path, "seed file", SeedError)
        seeds = checked(entries, f"lines of {path}", SeedError, _seed)
    elif os.path.isdir(path):
        raise SeedError(f"{text} is a folder; give a seed file, or URLs with http://")
    elif "/" in text or path.suffix in {".txt", ".csv", ".lst"} or "." not in text:
        raise SeedError(f"there is no seed file {_shown(text)}; give a file, or URLs with http://")
    else:
        seeds = _listed(text)
    if not seeds:
        raise SeedError(f"{_shown(text)} names no seeds; write one URL a line")
    return list({seed.url: seed for seed in seeds}.values())


def _listed(text: str) -> list[Seed]:
    parts = (part.strip() for part in text.split(",") if part.strip())
    return checked((("seed ", [part]) for part in parts), "seeds", SeedError, _seed)


def _seed(_: str, words: list[str]) -> Seed:
    url, topic = words[0], "".join(words[1:2])
    if len(words) > 2:
        raise SeedError(f"{_shown(' '.join(words))!r} has more than a URL and a topic")
    try:
        whole = url if "://" in url else f"http://{url}"
        parts = urlsplit(whole)
        port = parts.port
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0
        host = parts.hostname or ""
    except ValueError:
        good, host, whole = False, "", url
    if not good or ("://" not in url and "." not in host and host != "localhost"):
        raise SeedError(f"{_shown(url)!r} is no URL; write it as http://host/path")
    if "@" in parts.netloc:
        raise SeedError(
            f"{parts.scheme}://{host}/: user name and password would be kept with every page"
            " and log line; leave them out and set HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN"
        )
    if topic:
        load_topic(topic)
    address = absolute_url("", whole)
    if address is None:
        raise SeedError(
            f"{_shown(url)!r} names a host that browsers refuse; a host is a name of letters,"
            " digits and hyphens with dots between, or an IP address"
        )
    bare = not (parts.path or parts.query or parts.fragment)
    return Seed(address.removesuffix("/") if bare else address, topic)


def _shown(text: str) -> str:
    """Return a text without the user name and password of a URL in it."""
    return _CREDENTIALS.sub(r"\1", text)
