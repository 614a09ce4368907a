"""An archive into another one, of any kind of store: every visit, in the order it was stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mmcrawl.archive.archive import Archive
from mmcrawl.archive.model import Capture, PageBlocks, Unchanged, Version, as_text
from mmcrawl.archive.warc.exporting import Event, history_of
from mmcrawl.errors import StoreError

_MOST_AT_ONCE = 200  # visits
_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class ArchiveCopy:
    """What copying came to."""

    urls: int  # what the target holds of what the source holds
    versions: int
    visits: int
    copied: int  # visits that were written now; the others were there
    problems: tuple[str, ...]  # what could not be copied, a sentence each


def copy_archive(
    source: Archive,
    target: Archive,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> ArchiveCopy:
    """Copy all visits of an archive, with their versions, bodies, headers and blocks.

    It can be broken off and done again: what the target holds is not written twice. Versions keep
    their numbers, unless some were purged. At the end the versions of each URL are compared.

    Args:
        source: Opened to read.
        target: Where to; it holds nothing, or what an earlier copy of the source wrote.
        progress: Is told how many URLs are done, and how many there are.

    Raises:
        StoreError: the target holds something else of a URL, or one of them fails.
    """
    total = source.counts()["urls"]
    urls = versions = visits = copied = 0
    problems: list[str] = []
    for done, url in enumerate(source.urls(), start=1):
        try:
            events = history_of(source, url, problems.append)
        except StoreError as error:
            problems.append(f"{error}; this URL is left out")
            continue
        there = _there(target, url, events)
        copied += _copy(source, target, events[there:], problems)
        found, wanted = _digests(target.versions(url)), _digests(source.versions(url, _told))
        if missing := wanted - found:
            problems.append(f"{missing.total()} versions of {url} are not in the copy")
        urls += bool(found)
        versions += found.total()
        visits += len(target.visits(url)) if found else 0
        progress(done, total)
    return ArchiveCopy(urls, versions, visits, copied, tuple(problems))


def _there(target: Archive, url: str, events: Sequence[Event]) -> int:
    """Return how many of some visits a target holds, which are the first of them.

    Raises:
        StoreError: it holds others.
    """
    if not target.known([url]):  # it may hold another spelling
        return 0
    held = Counter(
        (visit.time, visit.status, version.digest) for visit, version in target.found(url)
    )
    count = held.total()
    if held >= Counter(map(_mark, events)):
        return len(events)  # what was copied before it was damaged is more
    if held != Counter(map(_mark, events[:count])):
        raise StoreError(
            f"the archive that is copied to holds other visits of {url}; name one that is empty,"
            " or that an earlier copy began"
        )
    return count


def _told(what: str) -> None:
    """Say nothing of a version that cannot be read: its history has."""


def _mark(event: Event) -> tuple[float, int, str]:
    return event.time, event.status, event.version.digest


def _copy(source: Archive, target: Archive, events: Sequence[Event], problems: list[str]) -> int:
    """Write visits; return how many."""
    body_of = lru_cache(maxsize=1)(lambda version: source.rebuild(version).body)
    blocks_of = lru_cache(maxsize=1)(lambda version: _blocks(source, version))

    def visit_of(event: Event) -> Capture | Unchanged:
        version = event.version
        if not event.has_page or event.status != version.status:
            return Unchanged(version.url, event.time, event.status)
        capture = version.capture(body_of(version), time=event.time)
        if not version.method:
            return capture
        return Capture(
            capture.url,
            capture.body,
            capture.time,
            capture.status,
            capture.headers,
            capture.reason,
            capture.content_type,
            blocks_of(version),
        )

    copied = 0
    for group in _groups(events):
        visits = []
        for event in group:
            try:
                visits.append(visit_of(event))
            except StoreError as error:
                problems.append(f"{error}; the visit of {as_text(event.time)} is left out")
        version = group[0].version
        levels = [version.level or None] * len(visits)
        target.store_many(visits, method=version.method or None, levels=levels)
        copied += len(visits)
    return copied


def _groups(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Yield visits that are stored in one commit: cut in the same way, and not too many."""
    group: list[Event] = []
    size = 0
    for event in events:
        version = event.version
        is_like = not group or (version.method, version.level) == (
            group[0].version.method,
            group[0].version.level,
        )
        if group and (not is_like or len(group) >= _MOST_AT_ONCE or size > _MOST_BYTES):
            yield group
            group, size = [], 0
        group.append(event)
        size += version.size
    if group:
        yield group


def _blocks(source: Archive, version: Version) -> PageBlocks:
    kept = source.page(version).kept
    blocks = None if kept is None else tuple(kept)
    return PageBlocks(version.method, version.level, blocks, version.encoding)


def _digests(versions: Sequence[Version]) -> Counter[tuple[float, str]]:
    return Counter((version.time, version.digest) for version in versions)
