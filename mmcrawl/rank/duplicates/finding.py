"""Pages that say the same, or nearly: by their main content, on one site or on several.

What counts is what :func:`mmcrawl.blocks.page_content` takes a page to say: a new menu, other
advertisements or another site around it make no other page of it.
:mod:`mmcrawl.rank.duplicates.results` keeps results beside the archive, and gives them back by URL,
for `scrapy archive search --collapse`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import as_unix_time
from mmcrawl.blocks.content.content import page_content
from mmcrawl.errors import RankError
from mmcrawl.frontier.addresses import host_of
from mmcrawl.rank.duplicates.results import FoundDuplicates, Group
from mmcrawl.rank.duplicates.similar import (
    LEAST_TOKENS,
    Ids,
    Sketch,
    digest,
    groups_of,
    sketch,
    tokens_of,
)
from mmcrawl.rank.page_bodies import over_bodies
from mmcrawl.rank.reading import Progress, Reading
from mmcrawl.rank.records import Body

_LEAST_EXACT = 4  # tokens; "page not found" is no content


class Compared(NamedTuple):
    """What a page is compared by."""

    digest: bytes
    sketch: Sketch | None


def compared_by(body: Body) -> Compared:
    """Return what a page is compared by: nothing, if it says nothing."""
    content = page_content(body.body, url=body.url, encoding=body.encoding or None)
    tokens = tokens_of(content.text)
    if len(tokens) < _LEAST_EXACT:
        return Compared(b"", None)
    return Compared(digest(tokens), sketch(tokens) if len(tokens) >= LEAST_TOKENS else None)


def find_duplicates(
    archive: Archive,
    *,
    near: float = 0.8,
    at: datetime | float | None = None,
    progress: Progress | None = None,
) -> FoundDuplicates:
    """Compare the pages of an archive with each other.

    Args:
        archive: Open.
        near: Share of runs of four words (or Chinese characters) that two pages have in common,
            above 0, from which on they are alike; 1 for those that say the same.
        at: The archive as of then, in Unix seconds; by default the newest versions.
        progress: Called with ``listing`` and ``reading``.

    Raises:
        RankError: `near` is out of its range.
        StoreError: the archive fails.
    """
    if not 0 < near <= 1:
        raise RankError(f"near must be above 0 and at most 1, not {near:g}")
    counts, started = archive.counts(), time.time()
    reading = Reading(archive, at=at, topics=False, progress=progress)
    urls: list[str] = []
    versions: list[int] = []
    digests: list[bytes] = []
    sketches: list[Sketch | None] = []
    for url, number, page in over_bodies(compared_by, archive, reading):
        if page.digest:
            urls.append(url)
            versions.append(number)
            digests.append(page.digest)
            sketches.append(page.sketch)
    groups = groups_of(digests, sketches, near)
    return FoundDuplicates(
        near=near,
        computed=started,
        at=as_unix_time(at) if at is not None else None,
        archive_urls=counts["urls"],
        archive_versions=counts["versions"],
        pages=len(urls),
        groups=tuple(_groups(urls, versions, digests, groups)),
        unreadable=tuple(reading.unreadable),
    )


def _groups(
    urls: Sequence[str], versions: Sequence[int], digests: Sequence[bytes], group: Ids
) -> Iterator[Group]:
    """Yield the groups of two or more, the largest first, of equal ones in order of the archive."""
    order = np.argsort(group, kind="stable")
    ends = np.flatnonzero(np.diff(group[order])) + 1
    found = [members.tolist() for members in np.split(order, ends) if len(members) > 1]
    for members in sorted(found, key=lambda members: (-len(members), members[0])):
        yield Group(
            urls=tuple(urls[page] for page in members),
            versions=tuple(versions[page] for page in members),
            exact=len({digests[page] for page in members}) == 1,
            hosts=len({host_of(urls[page]) for page in members}),
        )
