"""Seed lists: one URL a line, with an optional topic of its own."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from w3lib.url import safe_url_string

from mmcrawl.errors import SeedError

__all__ = ["Seed", "read_seeds"]

_CREDENTIALS = re.compile(r"(^|//)[^\s/:]*:\S*@")


@dataclass(frozen=True, slots=True)
class Seed:
    """An address to start from, and the topic its site is searched for ("" for the crawl's)."""

    url: str
    topic: str = ""


def read_seeds(text: str) -> list[Seed]:
    """Return the seeds that `text` names: a file, a URL, or several URLs parted by commas.

    In a file, a line holds a URL and, after white space, a topic if it is not that of the crawl;
    `#` at the start of a line or after white space begins a comment. `http://` may be left out.

    Raises:
        SeedError: no such file, an empty list, or a line that is no URL (named with its number).
    """
    path = None if "://" in text else Path(os.path.expanduser(text))
    if path is None:
        seeds = _listed(text)
    elif os.path.isfile(path):  # False for a name that is too long, where pathlib raises
        seeds = list(_read_file(path))
    elif "/" in text or path.suffix in {".txt", ".csv", ".lst"} or "." not in text:
        raise SeedError(f"there is no seed file {_shown(text)}; give a file, or URLs with http://")
    else:
        seeds = _listed(text)
    if not seeds:
        raise SeedError(f"{_shown(text)} names no seeds; write one URL a line")
    return list({seed.url: seed for seed in seeds}.values())


def _listed(text: str) -> list[Seed]:
    return [_seed(part, "seed ") for part in text.split(",") if part.strip()]


def _read_file(path: Path) -> Iterator[Seed]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise SeedError(f"seed file {path} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise SeedError(f"seed file {path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        words = list(_without_comment(line.split()))
        if not words:
            continue
        if len(words) > 2:
            raise SeedError(
                f"{path}, line {number}: {_shown(line.strip())!r} has more than a URL and a topic"
            )
        yield _seed(words[0], f"{path}, line {number}: ", *words[1:])


def _without_comment(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word.startswith("#"):
            return
        yield word


def _seed(url: str, where: str, topic: str = "") -> Seed:
    url = url.strip()
    try:
        whole = url if "://" in url else f"http://{url}"
        parts = urlsplit(whole)
        port = parts.port
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and port != 0
        host = parts.hostname or ""
    except ValueError:
        good, host, whole = False, "", url
    if not good or ("://" not in url and "." not in host and host != "localhost"):
        raise SeedError(f"{where}{_shown(url)!r} is no URL; write it as http://host/path")
    if "@" in parts.netloc:
        raise SeedError(
            f"{where}{parts.scheme}://{host}/: user name and password would be kept with every page"
            " and log line; leave them out and set HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN"
        )
    return Seed(safe_url_string(whole), topic)


def _shown(text: str) -> str:
    """Return a text without the user name and password of a URL in it."""
    return _CREDENTIALS.sub(r"\1", text)
