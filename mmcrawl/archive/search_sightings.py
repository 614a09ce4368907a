"""Which blocks were seen on which pages, and from when until when.

Most blocks stay the same over hundreds of versions of a page. A *run* says that a block stood on a
page in some consecutive versions: (page, block, kind, first version, last version). A version
counts as seen from its own time until the last visit that found it unchanged.

Segments are only ever added to: a later segment continues the pages of an earlier one, and may
*reset* a page, which makes all void that earlier ones say of it. Joining them in order gives what
is true now; the same function does it when an index is read and when segments are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmcrawl.archive.search_codec import (
    DAMAGED,
    Ints,
    as_ints,
    decoded,
    encoded,
    pack_columns,
    read_json,
    unpack_columns,
    write_json,
)
from mmcrawl.errors import StoreError

__all__ = ["NONE", "Names", "Sightings", "joined", "read_sightings", "resolved", "write_sightings"]

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
            encoded(seen.first[order] - starts[run_url]),
            encoded((seen.last - seen.first)[order]),
        )
    )


def read_sightings(frame: bytes) -> Sightings:
    """Return what :func:`write_sightings` wrote.

    Raises:
        StoreError: it is damaged.
    """
    columns = unpack_columns(frame)
    if len(columns) != 13:
        raise StoreError(DAMAGED.format("sightings are cut off"))
    urls, languages, kinds = read_json(columns[0])
    versions, runs = decoded(columns[3]), decoded(columns[8])
    url = np.repeat(np.arange(len(urls)), versions)
    run_url = np.repeat(np.arange(len(urls)), runs)
    first = decoded(columns[11]) + (np.cumsum(versions) - versions)[run_url]
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
        first=first,
        last=first + decoded(columns[12]),
        kinds=kinds,
    )


def _summed(delta: Ints, counts: Ints) -> Ints:
    """Return running sums of differences, begun anew for each page."""
    sums = np.cumsum(delta)
    starts = np.cumsum(counts) - counts
    base: Ints = np.concatenate(([0], sums))[starts]
    return np.asarray(sums - np.repeat(base, counts))


def joined(parts: Sequence[Sightings], *, from_the_first: bool) -> Sightings:
    """Join what segments say, in their order.

    Args:
        parts: Of neighbouring segments.
        from_the_first: Whether no segment is before them: then nothing is left to be reset, and
            pages without versions go.
    """
    urls = sorted(set().union(*(part.urls for part in parts)))
    number = {url: index for index, url in enumerate(urls)}
    page = [as_ints([number[url] for url in part.urls]) for part in parts]
    valid = _valid(parts, page, len(urls))
    reset = np.zeros(len(urls), dtype=bool)
    for part, pages in zip(parts, page, strict=True):
        reset[pages[part.reset]] = True
    versions, rows = _joined_versions(parts, page, valid)
    before = _continued(list(zip(parts, page, valid, rows, strict=True)), versions, len(urls))
    runs = _joined_runs(parts, valid, rows, versions)
    result = Sightings(urls, reset, before, **versions, **runs)
    return _settled(result) if from_the_first else result


def _valid(parts: Sequence[Sightings], page: Sequence[Ints], pages: int) -> list[Flags]:
    """Return for each part which of its pages no later one resets."""
    voided = np.zeros(pages, dtype=bool)
    valid: list[Flags] = []
    for part, own in zip(reversed(parts), reversed(page), strict=True):
        valid.append(~voided[own])
        voided[own[part.reset]] = True
    return valid[::-1]


def _joined_versions(
    parts: Sequence[Sightings], page: Sequence[Ints], valid: Sequence[Flags]
) -> tuple[dict[str, Any], list[Ints]]:
    """Return the columns of all valid versions, and the new row of each part's rows (-1: void)."""
    languages = Names()
    renumbered = [languages.renumbered(part.languages) for part in parts]
    kept = np.concatenate([ok[part.url] for part, ok in zip(parts, valid, strict=True)])
    url = np.concatenate([own[part.url] for part, own in zip(parts, page, strict=True)])
    order = np.flatnonzero(kept)
    order = order[np.argsort(url[order], kind="stable")]
    row = np.full(len(kept), -1, dtype=np.int64)
    row[order] = np.arange(len(order))
    ends = np.cumsum([len(part.url) for part in parts])
    language = [names[part.language] for part, names in zip(parts, renumbered, strict=True)]
    columns = {
        "url": url[order],
        "number": np.concatenate([part.number for part in parts])[order],
        "time": np.concatenate([part.time for part in parts])[order],
        "until": np.concatenate([part.until for part in parts])[order],
        "language": np.concatenate(language)[order],
        "languages": languages.names,
    }
    return columns, np.split(row, ends[:-1])


def _continued(
    parts: Sequence[tuple[Sightings, Ints, Flags, Ints]], versions: dict[str, Any], pages: int
) -> Floats:
    """Note how long the last version of an earlier part was seen.

    Returns:
        Of each page, what is said of a version that is in none of these parts.
    """
    before = np.full(pages, NONE)
    last = np.full(pages, -1, dtype=np.int64)
    until = versions["until"]
    for part, own, ok, row in parts:
        told = np.flatnonzero(ok & (part.before > NONE))
        here = told[last[own[told]] >= 0]
        np.maximum.at(until, last[own[here]], part.before[here])
        earlier = told[last[own[told]] < 0]
        np.maximum.at(before, own[earlier], part.before[earlier])
        kept = np.flatnonzero(row >= 0)
        last[own[part.url[kept]]] = row[kept]  # of several of a page, the last stays
    return before


def _joined_runs(
    parts: Sequence[Sightings],
    valid: Sequence[Flags],
    rows: Sequence[Ints],
    versions: dict[str, Any],
) -> dict[str, Any]:
    kinds = Names()
    renumbered = [kinds.renumbered(part.kinds) for part in parts]
    kept = [ok[part.url[part.first]] for part, ok in zip(parts, valid, strict=True)]
    zipped = list(zip(parts, kept, rows, renumbered, strict=True))
    first = np.concatenate([row[part.first[ok]] for part, ok, row, _ in zipped])
    last = np.concatenate([row[part.last[ok]] for part, ok, row, _ in zipped])
    document = np.concatenate([part.document[ok] for part, ok, _, _ in zipped])
    kind = np.concatenate([names[part.kind[ok]] for part, ok, _, names in zipped])
    url, language = versions["url"][first], versions["language"][first]
    order = np.lexsort((first, kind, document, url))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (url, document, kind, language):
        same &= column[order[1:]] == column[order[:-1]]
    same &= first[order[1:]] == last[order[:-1]] + 1
    starts = np.flatnonzero(np.concatenate(([True], ~same)))[: len(order)]
    ends = np.append(starts[1:], len(order)) - 1
    return {
        "document": document[order[starts]],
        "kind": kind[order[starts]],
        "first": first[order[starts]],
        "last": last[order[ends]] if len(order) else last,
        "kinds": kinds.names,
    }


def _settled(seen: Sightings) -> Sightings:
    """Return what no earlier segment needs to be told."""
    told = replace(seen, reset=np.zeros(len(seen.urls), dtype=bool))
    told = replace(told, before=np.full(len(seen.urls), NONE))
    return _only(told, np.bincount(seen.url, minlength=len(seen.urls)) > 0)


def resolved(parts: Sequence[Sightings]) -> list[Sightings]:
    """Carry out what resets say: nothing void is left, and nothing is left to be reset.

    Args:
        parts: Of all segments. Those that need no change are returned as they are.
    """
    voided: set[str] = set()
    results = []
    for part in reversed(parts):
        kept = np.array([url not in voided for url in part.urls], dtype=bool)
        voided.update(
            url for url, reset in zip(part.urls, part.reset.tolist(), strict=True) if reset
        )
        if kept.all() and not part.reset.any():
            results.append(part)
            continue
        has = np.bincount(part.url, minlength=len(part.urls)) > 0
        kept &= has | (part.before > NONE)
        results.append(_only(replace(part, reset=np.zeros(len(kept), dtype=bool)), kept))
    return results[::-1]


def _only(seen: Sightings, kept: Flags) -> Sightings:
    """Return some of the pages, with their versions and runs."""
    page, version = np.cumsum(kept) - 1, kept[seen.url]
    row, run = np.cumsum(version) - 1, version[seen.first]
    return replace(
        seen,
        urls=[url for url, keep in zip(seen.urls, kept.tolist(), strict=True) if keep],
        reset=seen.reset[kept],
        before=seen.before[kept],
        url=page[seen.url[version]],
        number=seen.number[version],
        time=seen.time[version],
        until=seen.until[version],
        language=seen.language[version],
        document=seen.document[run],
        kind=seen.kind[run],
        first=row[seen.first[run]],
        last=row[seen.last[run]],
    )
