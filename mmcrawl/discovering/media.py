"""Media of the pages that a list names: they wait with the link until its page is fetched."""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice

from mmcrawl.page.model import Link, MediaResource
from mmcrawl.page.urls import resource_key

_LONGEST = 200
_MOST_MEDIA = 2_000  # of a list; those of its pages have no such bound
_SECONDS = re.compile(r"(\d{1,6})(?:\.\d+)?")


def caption(title: str, duration: str, date: str) -> str:
    """Return what is said of a medium in one line.

    Args:
        title: its own, or that of its page.
        duration: in seconds, or as hours, minutes and seconds.
        date: as 2024-05-01.

    >>> caption("Lenses", "723", "2024-05-01")
    'Lenses, 12:03, 2024-05-01'
    """
    if seconds := _SECONDS.fullmatch(duration):
        minutes, rest = divmod(int(seconds[1]), 60)
        hours, minutes = divmod(minutes, 60)
        duration = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    ending = ", ".join(filter(None, (duration[:20], date)))
    return ", ".join(filter(None, (title[: _LONGEST - len(ending) - 2], ending)))


def merged(media: Iterable[tuple[MediaResource, ...]]) -> tuple[MediaResource, ...]:
    """Return media once each.

    Args:
        media: each as one that has the addresses of those behind it as further ones.
    """
    found: dict[str, MediaResource] = {}
    for first, *others in filter(None, media):
        addresses = dict.fromkeys(one.url for one in others)
        addresses.pop(first.url, None)
        one = replace(first, others=tuple(addresses))
        found.setdefault(resource_key(first.url), one)
    return tuple(found.values())


def media_of(links: Iterable[Link], own: Iterable[MediaResource] = ()) -> tuple[MediaResource, ...]:
    """Return the media of a list as long as the pages they are on were not fetched.

    Args:
        links: of the list.
        own: media of entries that name no page.
    """
    media = chain(own, chain.from_iterable(link.media for link in links))
    known = {resource_key(one.url): one for one in islice(media, _MOST_MEDIA)}
    return tuple(known.values())
