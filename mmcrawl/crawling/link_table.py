"""The columns of the link database as programs get them (InterLink; paper 2009, table 5-4)."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mmcrawl.archive.model import as_date
from mmcrawl.crawling.parts import CrawlParts
from mmcrawl.frontier.records import HELD, LinkRecord, Status
from mmcrawl.topic.similarity import BooleanModel


class Column(NamedTuple):
    """A column: what the paper calls it, "" if it has none like it, and what it holds."""

    paper: str
    what: str


COLUMNS: Mapping[str, Column] = {
    "id": Column("ID", "number of the link, from 0, in the order in which links were found"),
    "url": Column("URL", "address as fetched"),
    "status": Column("Status", "W waiting, R running, C crawled, E error"),
    "url_words": Column("URLFanyi", "words of the address, translated"),
    "anchor": Column("Anchor", "text of the link it was first found by"),
    "title": Column("Title", "title of the page"),
    "keywords": Column("Keywords", "keywords the page declares"),
    "description": Column("Description", "description the page declares"),
    "content_intro": Column(
        "FileContentIntroduce", "url_words, anchor, title, keywords and description together"
    ),
    "anchor_path": Column("AnchorPath", "all anchors from the seed to it"),
    "url_path": Column("URLPath", "all addresses from the seed to it"),
    "internal_urls": Column("InternalURLs", "addresses of the accepted links on the page"),
    "path_score": Column("PathScore", "relevant pages reached through it, itself included"),
    "total_path_score": Column("TotalPathScore", "pages reached through it, itself included"),
    "contains_media": Column("Contain_or_not", "whether the page has media of the wanted kinds"),
    "content_score": Column(
        "ContentScore", "share of the topic's concepts that stand in content_intro (4.1)"
    ),
    "structure_score": Column(
        "linkStructureScore", "the algorithm's score of its place among links"
    ),
    "link_ratio": Column("LinkRatio", "path_score / total_path_score"),
    "links_on_page": Column("Hyper_Links", "number of links on the page"),
    "logical_layer": Column("L_Layer", "clicks from the seed; a seed has 1"),
    "physical_layer": Column("P_Layer", "directories in the address; the root has 1"),
    "is_checked": Column("IsChecked", "whether it was crawled"),
    "visited_at": Column("VisitedTime", "time of the visit, UTC"),
    "error": Column("ErrorMessage", "why there is no page: an error, a redirect, a trap"),
    "state": Column("", "status in a word: waiting, held, running, fetched, error"),
    "place": Column("", "it was the n-th page of the crawl"),
    "score": Column(
        "", "at fetching time; of a waiting link, now; empty while the algorithm holds it"
    ),
    "words_score": Column("", "the algorithm's score of its words when it was found"),
    "relevant": Column("", "whether the page holds media of the wanted kinds and is on topic"),
    "group_title": Column("", "title of the group of links it stands in"),
    "block": Column("", "kind of the block it stands in"),
    "priority": Column("", "comes before the score; -1: it may be another address of a known page"),
}
"""The columns by name."""


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
            "visited_at": as_date(record.visited_at),
            "score": None if record.score == HELD else record.score,
        }
        yield {name: own[name] if name in own else getattr(record, name) for name in COLUMNS}
