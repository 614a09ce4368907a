"""Whether a crawl ended at its seeds: they gave neither a link nor a medium."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from mmcrawl.frontier.admission import REDIRECT
from mmcrawl.frontier.records import LinkRecord, Status
from mmcrawl.frontier.sqlite import SqliteFrontier

logger = logging.getLogger(__name__)

_MOST_LINKS = 1_000  # of a crawl that knows more it is not asked
_NO_LIST = "no sitemap or feed: "


def why_silent(frontier: SqliteFrontier, contents: Mapping[int, str]) -> list[str] | None:
    """Return of each seed why it gave nothing, a line each; None if any gave a link or a medium.

    Links that were found but may not be followed do not count: the user set those bounds.

    Args:
        frontier: of a crawl that has nothing left to fetch.
        contents: what pages without links and media consist of, by their links.
    """
    if len(frontier) > _MOST_LINKS:
        return None
    known = {link: frontier.known(link) for link in range(len(frontier))}
    parents = {link: one.parent for link, one in known.items()}
    record_of = cache(frontier.record)
    for link in reversed(known):  # the last ones are seldom seeds, and tell at once
        status, parent = record_of(link).status, parents[link]
        if status is Status.WAITING:
            return None
        if not (status is Status.ERROR or parent is None or _leads_on(record_of(parent))):
            return None
    records = {link: record_of(link) for link in known}
    lines = []
    for link, record in records.items():
        parent = parents[link]
        if parent is not None and not _leads_on(records[parent]):
            continue
        if _leads_on(record) or record.error.startswith(_NO_LIST):
            continue
        # Without a place on the page they are not of it: robots.txt, asked for sitemaps.
        below = [one for one, above in parents.items() if above == link and known[one].tag_path]
        if not all(_is_frame(known[one].tag_path) for one in below):
            return None
        if record.contains_media or (record.links_on_page and not below):
            return None
        first = _first(parents, link)
        seed = records[first].url + (f", which leads to {record.url}" if first != link else "")
        if record.error:
            lines.append(f"{seed}: {record.error}")
        elif below:
            reasons = Counter(records[one].error for one in below).most_common(3)
            told = ", ".join(f"{reason} ({count})" for reason, count in reasons)
            lines.append(f"{seed}: frames of which none could be fetched: {told}")
        else:
            lines.append(f"{seed}: {contents.get(link, 'neither a link nor a medium')}")
    return lines


def name_silent(lines: Iterable[str]) -> None:
    """Say of each seed why it gave nothing."""
    for line in lines:
        logger.error("Nothing was found at the seed %s", line)


def _leads_on(record: LinkRecord) -> bool:
    return record.error.startswith(REDIRECT)


def _first(parents: Mapping[int, int | None], link: int) -> int:
    while (above := parents[link]) is not None:
        link = above
    return link


def _is_frame(tag_path: str) -> bool:
    tag = tag_path.rpartition(" ")[2].partition("#")[0].partition(".")[0]
    return tag in ("frame", "iframe")
