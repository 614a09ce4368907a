"""The features of a link before it is fetched: a fixed number of hashes.

The first features name what the link shares with others (`UNITS`): its directory, its place on the
page, its anchor, … How pages of the same unit turned out is the best evidence about a link. The
other features serve a model that learns words and details.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from urllib.parse import urlsplit
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mmcrawl.frontier.records import KnownLink
from mmcrawl.text.media_kinds import DEFAULT_KINDS, is_paging, names_media

BITS = 20
"""Features are numbers in [1, 2**BITS)."""

WIDTH = 40
"""Features of a link; the last ones are 0, which is none, where there are fewer."""

UNITS = (
    "host", "directory", "above", "shape", "path", "page", "list", "place", "anchor", "title",
    "clicks", "form", "found on, path", "way", "found on",
)  # fmt: skip
"""What a link shares with others, in the order of its first features."""

FLAGS = (
    "seed", "media words", "paging", "numbered", "on a media page", "beside a media page",
    "deeper directory",
)  # fmt: skip
"""What a link is by itself: bits, the first is the lowest."""

_NUMBER = re.compile(r"\d+")
_DEEPER_DIRECTORY = re.compile(r"/[^/]+/(?:(?:index|default)\.[a-z]{3,5})?$", re.I)
_LETTERS = re.compile(r"[a-z]+")
_NUMBERED = re.compile(r"(?<![a-z])(?:page|paged|p|start|offset|pg)[/=_-]?\d", re.I)
_WORD = re.compile(r"[a-z]{2,}|[\u3400-\u9fff]{1,2}")
_MOST_DIRECTORIES = 4
_MOST_WORDS = 6
_FIT_STEPS = 8
_LONGEST_ANCHOR = 40


@dataclass(frozen=True, slots=True)
class Origin:
    """The page a link was found on.

    Attributes:
        url: its address; "" for a seed.
        outcome: what it turned out to be, in a word.
        relevant, has_media: whether it is relevant, or holds media at least.
    """

    url: str = ""
    outcome: str = ""
    relevant: bool = False
    has_media: bool = False

    @property
    def folder(self) -> str:
        """Directory of its address, without the host."""
        return urlsplit(self.url).path.rpartition("/")[0]


def directory_of(url: str) -> str:
    """Return the directory of an address; what one script makes is a directory of its own.

    >>> directory_of("http://h/a/b.htm"), directory_of("http://h/a/show.asp?id=3")
    ('http://h/a', 'http://h/a/show.asp')
    """
    path, query, _ = url.partition("?")
    return path if query else path.rpartition("/")[0]


def feature(text: str) -> int:
    """Return the number of a feature."""
    return crc32(text.encode("utf-8", "replace")) % ((1 << BITS) - 1) + 1


def fit_features() -> dict[int, float]:
    """Return the features that tell how well a link's words fit the topic, with that fit."""
    return {feature(f"content {step}"): step / _FIT_STEPS for step in range(_FIT_STEPS + 1)}


def link_flags(link: KnownLink, origin: Origin, kinds: Collection[str] = DEFAULT_KINDS) -> int:
    """Return the flags of a link, the bits of `FLAGS`; `kinds` are the wanted media."""
    address = link.url.partition("//")[2].partition("/")[2]
    flags = (
        link.parent is None,
        names_media(link.anchor, kinds),
        is_paging(link.anchor),
        _NUMBERED.search(address) is not None,
        origin.relevant,
        origin.has_media,
        _DEEPER_DIRECTORY.search(address.partition("?")[0]) is not None,
    )
    return sum(flag << bit for bit, flag in enumerate(flags))


def link_features(link: KnownLink, origin: Origin) -> NDArray[np.uint32]:
    """Return the features of a link: what it shares with others, where it leads, and its words.

    Args:
        link: what the frontier knows of it.
        origin: the page it was found on.
    """
    address = _Address(link.url)
    units = zip(UNITS, _units(link, address, origin), strict=True)
    texts = [f"{name} {unit}" for name, unit in units]
    texts += islice((*_where_to(link, address), *_words(link)), WIDTH - len(texts))
    features = np.zeros(WIDTH, dtype=np.uint32)
    features[: len(texts)] = [feature(text) for text in texts]
    return features


class _Address:
    """The parts of an address; in `shape` and `file_shape` all numbers are 0."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.host, self.path, self.query = parts.netloc, parts.path, parts.query
        *self.directories, self.file = parts.path.split("/")[1:] or [""]
        self.shape = _NUMBER.sub("0", parts.path)
        self.file_shape = self.shape.rpartition("/")[2]
        self.ending = self.file.rpartition(".")[2] if "." in self.file else ""
        pairs = parts.query.split("&")
        self.names = "&".join(sorted(pair.partition("=")[0] for pair in pairs))


def _units(link: KnownLink, address: _Address, origin: Origin) -> Sequence[str]:
    host, path, directory = address.host, link.tag_path, directory_of(link.url)
    form = _LETTERS.sub("a", address.file_shape.lower())
    return (
        host,
        directory,
        directory.rpartition("/")[0],
        f"{host}{address.shape}?{address.names}",
        f"{host} {path}",
        origin.url,
        f"{origin.url} {path}",
        f"{host} {origin.folder} {path}",
        _NUMBER.sub("0", link.anchor.lower())[:_LONGEST_ANCHOR],
        link.group_title,
        f"{host} {link.logical_layer}",
        f"{host} {len(address.directories)} {address.ending} {address.names} {form}",
        f"{host} {origin.outcome} {path}",
        f"{host} {origin.folder} {directory}",
        f"{host} {origin.outcome}",
    )


def _where_to(link: KnownLink, address: _Address) -> Iterator[str]:
    folders = [address.host, *address.directories]
    yield f"content {round(link.content * _FIT_STEPS)}"
    yield f"list {link.parent} {link.group_title}"
    for path in islice(accumulate(folders, "{}/{}".format), 1, _MOST_DIRECTORIES + 1):
        yield f"in {path}"
    above = address.shape.rpartition("/")[0].rpartition("/")[0]
    yield f"beside {address.host}{above} {len(address.directories)}"
    if address.query:
        yield f"script {address.host}{address.path}?{address.names}"
    yield f"file {address.file_shape}"
    yield f"kind {address.ending} {bool(address.query)}"


def _words(link: KnownLink) -> Iterator[str]:
    for word in islice(dict.fromkeys(_WORD.findall(link.anchor.lower())), _MOST_WORDS):
        yield f"anchor word {word}"
    address = link.url.lower().partition("//")[2].partition("/")[2]
    for word in [*dict.fromkeys(_WORD.findall(address))][-_MOST_WORDS:]:
        yield f"address word {word}"
