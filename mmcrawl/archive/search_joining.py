"""Joining what segments say of pages, in the order they were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mmcrawl.archive.search_codec import Ints, as_ints
from mmcrawl.archive.search_sightings import NONE, Flags, Floats, Names, Sightings

__all__ = ["joined", "resolved"]


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
    media = np.concatenate([part.media[ok] for part, ok, _, _ in zipped])
    url, language = versions["url"][first], versions["language"][first]
    order = np.lexsort((first, media, kind, document, url))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (url, document, kind, media, language):
        same &= column[order[1:]] == column[order[:-1]]
    same &= first[order[1:]] == last[order[:-1]] + 1
    starts = np.flatnonzero(np.concatenate(([True], ~same)))[: len(order)]
    ends = np.append(starts[1:], len(order)) - 1
    return {
        "document": document[order[starts]],
        "kind": kind[order[starts]],
        "media": media[order[starts]],
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
        media=seen.media[run],
        first=row[seen.first[run]],
        last=row[seen.last[run]],
    )
