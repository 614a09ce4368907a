"""Seed lists: one URL a line, with an optional topic of its own."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from w3lib.encoding import read_bom

from mmcrawl.errors import MmcrawlError, SeedError
from mmcrawl.page.html.encoding import BIG5, GB, UTF8, decode_page
from mmcrawl.page.urls import absolute_url
from mmcrawl.topic.loading import load_topic

# -- Text files that people write, with an entry a line and remarks -------------------------------

_MOST_PROBLEMS = 20
_TEXT_ENCODINGS = frozenset({UTF8, "utf-16-le", "utf-16-be", GB, BIG5})
_HEAD = 1_024  # bytes that tell a text from a film, before all of it is read

Entry = TypeVar("Entry")


def entries_of(path: Path, what: str, error: type[MmcrawlError]) -> Iterator[tuple[str, list[str]]]:
    """Yield where each entry of a file stands, as "FILE, line N: ", and its words.

    A word that begins with `#` begins a remark. The text is UTF-8, GBK, Big5, or, with a byte order
    mark, UTF-16.

    Raises:
        error: it cannot be read, or is no such text.
    """
    for number, line in enumerate(_text_of(path, what, error).splitlines(), 1):
        words = list(_without_remark(line.split()))
        if words:
            yield f"{path}, line {number}: ", words


def checked(
    entries: Iterable[tuple[str, list[str]]],
    what: str,
    error: type[MmcrawlError],
    make: Callable[[str, list[str]], Entry],
) -> list[Entry]:
    """Return the results for the words of each entry.

    Args:
        make: is given both; raises MmcrawlError or ValueError for what is wrong.

    Raises:
        error: some are wrong: the first 20 of them, and where they stand, a line each.
    """
    made, problems = [], []
    for where, words in entries:
        try:
            made.append(make(where, words))
        except (MmcrawlError, ValueError) as wrong:
            problems.append(f"{where}{wrong}")
    if len(problems) > _MOST_PROBLEMS:
        more = len(problems) - _MOST_PROBLEMS
        problems[_MOST_PROBLEMS:] = [f"{more} more {what} are wrong"]
    if problems:
        raise error("\n".join(problems))
    return made


def _text_of(path: Path, what: str, error: type[MmcrawlError]) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
            if not _is_binary(data):
                data += file.read()
    except OSError as cause:
        raise error(f"{what} {path} cannot be read: {cause.strerror}") from cause
    if _is_binary(data):
        raise error(f"{path} is no text; give a {what}, one entry a line")
    encoding, utf8 = decode_page(data, None)
    text = utf8.decode("utf-8", "replace")
    if encoding not in _TEXT_ENCODINGS or "\ufffd" in text:
        raise error(f"{what} {path} is not UTF-8, UTF-16 or GBK text; save it as UTF-8")
    return text


def _is_binary(data: bytes) -> bool:
    return b"\0" in data and read_bom(data)[0] is None


def _without_remark(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if word.startswith("#"):
            return
        yield word


# -- Seed lists: one URL a line, with an optional topic of its own --------------------------------

_CREDENTIALS = re.compile(r"(^|//)[^\s/:]*:\S*@")


@dataclass(frozen=True, slots=True)
class Seed:
    """An address to start from, and the topic its site is searched for ("" for the crawl's)."""

    url: str
    topic: str = ""


def read_seeds(text: str) -> list[Seed]:
    """Return the seeds that `text` names: a file, a URL, or several URLs separated by commas.

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
