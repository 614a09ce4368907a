"""The columns of the link database as programs get them (InterLink; paper 2009, table 5-4)."""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from mmcrawl.crawling.parts import CrawlParts
from mmcrawl.frontier.records import HELD, LinkRecord, Status
from mmcrawl.topic.similarity import BooleanModel

COLUMNS: Mapping[str, str] = {
    "id": "ID",
    "url": "URL",
    "status": "Status",
    "url_words": "URLFanyi",
    "anchor": "Anchor",
    "title": "Title",
    "keywords": "Keywords",
    "description": "Description",
    "content_intro": "FileContentIntroduce",
    "anchor_path": "AnchorPath",
    "url_path": "URLPath",
    "internal_urls": "InternalURLs",
    "path_score": "PathScore",
    "total_path_score": "TotalPathScore",
    "contains_media": "Contain_or_not",
    "content_score": "ContentScore",
    "structure_score": "linkStructureScore",
    "link_ratio": "LinkRatio",
    "links_on_page": "Hyper_Links",
    "logical_layer": "L_Layer",
    "physical_layer": "P_Layer",
    "is_checked": "IsChecked",
    "visited_at": "VisitedTime",
    "error": "ErrorMessage",
    "state": "",
    "place": "",
    "score": "",
    "words_score": "",
    "relevant": "",
    "group_title": "",
    "block": "",
    "priority": "",
}
"""Names of columns, with those of the paper; "" where it has none."""


def content_model(parts: CrawlParts) -> Callable[[LinkRecord], float]:
    """Return what gives ContentScore: how much of the topic stands in a link's `content_intro`.

    By the boolean model (4.1), unscaled. Of a page all its fields are known, of a link that was not
    fetched its anchor and the words of its address.
    """
    model = BooleanModel(parts.whole_topic)
    return lambda record: model.score(record.content_intro)


def rows(
    records: Iterator[LinkRecord], content: Callable[[LinkRecord], float] | None
) -> Iterator[dict[str, Any]]:
    """Yield `COLUMNS` of links as plain values.

    Args:
        records: the links.
        content: gives ContentScore; None where the topic is not known any more.
    """
    for record in records:
        own = {
            "content_score": content(record) if content else None,
            "is_checked": record.status is Status.CRAWLED,
            "visited_at": _date(record.visited_at),
            "score": None if record.score == HELD else record.score,
        }
        yield {name: own[name] if name in own else getattr(record, name) for name in COLUMNS}


def _date(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")
