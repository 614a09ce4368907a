"""Whether a crawl ended at its seeds: they gave neither a link nor a medium."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping

from mmcrawl.frontier.admission import REDIRECT
from mmcrawl.frontier.records import Status
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
    records = {link: frontier.record(link) for link in range(len(frontier))}
    if any(record.status is Status.WAITING for record in records.values()):
        return None
    known = {link: frontier.known(link) for link in records}
    parents = {link: one.parent for link, one in known.items()}
    lines = []
    for link, record in records.items():
        leads_on = record.error.startswith(REDIRECT)
        parent = parents[link]
        is_seed = parent is None or records[parent].error.startswith(REDIRECT)
        if not is_seed:
            if record.status is not Status.ERROR:
                return None
            continue
        if leads_on or record.error.startswith(_NO_LIST):
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


def _first(parents: Mapping[int, int | None], link: int) -> int:
    while (above := parents[link]) is not None:
        link = above
    return link


def _is_frame(tag_path: str) -> bool:
    tag = tag_path.rpartition(" ")[2].partition("#")[0].partition(".")[0]
    return tag in ("frame", "iframe")
