"""Which blocks were seen on which pages, and from when until when.

Most blocks stay the same over hundreds of versions of a page. A *run* says that a block stood on a
page in some consecutive versions: (page, block, kind, media, first
version, last version). A version
counts as seen from its own time until the last visit that found it unchanged.

Segments are only ever added to: a later segment continues the pages of an earlier one, and may
*reset* a page, which makes all void that earlier ones say of it. Joining them in order
(:mod:`mmcrawl.archive.search_joining`) gives what is true now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import (
    DamagedError,
    Ints,
    as_ints,
    decoded,
    encoded,
    pack_columns,
    read_json,
    unpack_columns,
    write_json,
)

__all__ = ["NONE", "Flags", "Floats", "Names", "Sightings", "read_sightings", "write_sightings"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NONE = float("-inf")
"""As a time: there is none."""


class Names:
    """Numbers for a few names, in the order they are met."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def number(self, name: str) -> int:
        """Return the number of a name, a new one if it has none."""
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def renumbered(self, other: Sequence[str]) -> Ints:
        """Return our number for each of another's names."""
        return as_ints([self.number(name) for name in other])


@dataclass(frozen=True, eq=False)
class Sightings:
    """Pages, their versions and the runs of blocks on them, in parallel arrays.

    Attributes:
        urls: Of the pages, in order.
        reset: Of each page, whether what earlier segments say of it is void.
        before: Of each page, until when its last version in earlier segments was seen, or NONE.
        url: Of each version, its page; ascending.
        number, time: Of each version; times ascend within a page.
        until: Of each version, when it was last seen.
        language: Of each version, an index into `languages`.
        document: Of each run, the id of the block.
        kind: Of each run, an index into `kinds`.
        media: Of each run, the kinds of media in the block and behind it: bit n stands for the
            n-th of :data:`mmcrawl.archive.search_query.MEDIA`.
        first, last: Of each run, its first and last version: rows of the arrays above, of one page.
            Runs are in the order of pages.
    """

    urls: Sequence[str]
    reset: Flags
    before: Floats
    url: Ints
    number: Ints
    time: Floats
    until: Floats
    language: Ints
    languages: Sequence[str]
    document: Ints
    kind: Ints
    media: Ints
    first: Ints
    last: Ints
    kinds: Sequence[str]


def write_sightings(seen: Sightings) -> bytes:
    """Return sightings as stored."""
    pages = len(seen.urls)
    run_url = seen.url[seen.first]
    order = np.lexsort((seen.first, seen.document, run_url))
    run_url, document = run_url[order], seen.document[order]
    starts = np.searchsorted(seen.url, np.arange(pages))
    delta = np.diff(document, prepend=0)
    new_page = np.flatnonzero(np.diff(run_url, prepend=-1))
    delta[new_page] = document[new_page]
    return pack_columns(
        (
            write_json([list(seen.urls), list(seen.languages), list(seen.kinds)]),
            seen.reset.astype(np.uint8).tobytes(),
            seen.before.tobytes(),
            encoded(np.bincount(seen.url, minlength=pages)),
            encoded(seen.number),
            seen.time.tobytes(),
            seen.until.tobytes(),
            encoded(seen.language),
            encoded(np.bincount(run_url, minlength=pages)),
            encoded(delta),
            encoded(seen.kind[order]),
            encoded(seen.media[order]),
            encoded(seen.first[order] - starts[run_url]),
            encoded((seen.last - seen.first)[order]),
        )
    )


def read_sightings(frame: bytes) -> Sightings:
    """Return what :func:`write_sightings` wrote.

    Raises:
        DamagedError: it is.
    """
    columns = unpack_columns(frame)
    if len(columns) != 14:
        raise DamagedError("sightings are cut off")
    urls, languages, kinds = read_json(columns[0])
    versions, runs = decoded(columns[3]), decoded(columns[8])
    url = np.repeat(np.arange(len(urls)), versions)
    run_url = np.repeat(np.arange(len(urls)), runs)
    first = decoded(columns[12]) + (np.cumsum(versions) - versions)[run_url]
    return Sightings(
        urls=urls,
        reset=np.frombuffer(columns[1], dtype=np.uint8).astype(bool),
        before=np.frombuffer(columns[2], dtype=np.float64),
        url=url,
        number=decoded(columns[4]),
        time=np.frombuffer(columns[5], dtype=np.float64),
        until=np.frombuffer(columns[6], dtype=np.float64),
        language=decoded(columns[7]),
        languages=languages,
        document=_summed(decoded(columns[9]), runs),
        kind=decoded(columns[10]),
        media=decoded(columns[11]),
        first=first,
        last=first + decoded(columns[13]),
        kinds=kinds,
    )


def _summed(delta: Ints, counts: Ints) -> Ints:
    """Return running sums of differences, begun anew for each page."""
    sums = np.cumsum(delta)
    starts = np.cumsum(counts) - counts
    base: Ints = np.concatenate(([0], sums))[starts]
    return np.asarray(sums - np.repeat(base, counts))
