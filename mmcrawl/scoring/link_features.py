"""What is known of a link before it is fetched, as a fixed number of hashed features."""

import re
from collections.abc import Iterator
from itertools import accumulate, islice
from urllib.parse import urlsplit
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mmcrawl.frontier.records import KnownLink

BITS = 20
"""Features are numbers in [1, 2**BITS)."""

WIDTH = 32
"""Features of a link; the last ones are 0, which is none, where there are fewer."""

_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[a-z]{2,}|[\u3400-\u9fff]{1,2}")
_MOST_DIRECTORIES = 4
_MOST_WORDS = 6
_MOST_CLICKS = 12
_FIT_STEPS = 8


def directory_of(url: str) -> str:
    """Return the directory of an address; what one script makes is a directory of its own.

    >>> directory_of("http://h/a/b.htm"), directory_of("http://h/a/show.asp?id=3")
    ('http://h/a', 'http://h/a/show.asp')
    """
    path, query, _ = url.partition("?")
    return path if query else path.rpartition("/")[0]


def feature(text: str) -> int:
    """Return the number of a feature."""
    return crc32(text.encode()) % ((1 << BITS) - 1) + 1


def fit_features() -> dict[int, float]:
    """Return the features that tell how well a link's words fit the topic, with that fit."""
    return {feature(f"content {step}"): step / _FIT_STEPS for step in range(_FIT_STEPS + 1)}


def link_features(link: KnownLink, found_on: str) -> NDArray[np.uint32]:
    """Return the features of a link: where it leads, where it was found, and its words.

    Args:
        link: what the frontier knows of it.
        found_on: what the page it was found on turned out to be, in a word; "" for a seed.
    """
    texts = (*_where_found(link, found_on), *_where_to(link.url), *_words(link))
    hashed = [feature(text) for text in texts[:WIDTH]]
    features = np.zeros(WIDTH, dtype=np.uint32)
    features[: len(hashed)] = hashed
    return features


def _where_found(link: KnownLink, found_on: str) -> Iterator[str]:
    yield f"clicks {min(link.logical_layer, _MOST_CLICKS)}"
    yield f"found on {found_on}"
    yield f"page {link.parent}"
    yield f"list {link.parent} {link.group_title}"
    yield f"title {link.group_title}"


def _where_to(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    host, (*directories, file) = parts.netloc, parts.path.split("/")[1:] or [""]
    yield f"host {host}"
    yield f"layer {host} {len(directories)}"
    for path in islice(accumulate([host, *directories], "{}/{}".format), 1, _MOST_DIRECTORIES + 1):
        yield f"in {path}"
    shape = _NUMBER.sub("0", parts.path)
    names = "&".join(sorted(pair.partition("=")[0] for pair in parts.query.split("&")))
    yield f"shape {host}{shape}?{names}"
    yield f"beside {host}{shape.rpartition('/')[0].rpartition('/')[0]} {len(directories)}"
    if parts.query:
        yield f"script {host}{parts.path}?{names}"
    yield f"file {_NUMBER.sub('0', file)}"
    yield f"kind {file.rpartition('.')[2] if '.' in file else ''} {bool(parts.query)}"


def _words(link: KnownLink) -> Iterator[str]:
    anchor = link.anchor.lower()
    yield f"content {round(link.content * _FIT_STEPS)}"
    yield f"anchor {anchor[:40]}"
    for word in islice(dict.fromkeys(_WORD.findall(anchor)), _MOST_WORDS):
        yield f"anchor word {word}"
    address = link.url.lower().partition("//")[2].partition("/")[2]
    for word in [*dict.fromkeys(_WORD.findall(address))][-_MOST_WORDS:]:
        yield f"address word {word}"
