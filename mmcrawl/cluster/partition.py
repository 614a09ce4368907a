"""The crawl of one partition of the web: a complete crawl that also learns of pages elsewhere."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mmcrawl.crawl.history import tell_elsewhere
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.reports import PageReport
from mmcrawl.frontier.findings import NearMiss
from mmcrawl.frontier.records import NewLink, PageRecord
from mmcrawl.scoring.base import CrawledPage
from mmcrawl.scoring.link_model import LinkModel


@dataclass(frozen=True, slots=True)
class PageElsewhere:
    """A page fetched in another partition, as this one hears of it; see `CrawledPage`."""

    url: str
    layer: int  # logical
    relevant: bool = False
    contains_media: bool = False
    topic_score: float = 0.0
    new_media: int = 0
    on_topic: bool = False


class PartitionJob(CrawlJob):
    """A partition's crawl; its owner begins it, little by little.

    The worker counts words for all its partitions, and rules are notes of the whole crawl.

    Args:
        link_model: what the partitions of a process learn into; None for a first one.
        learnt_links: how many ended links of this partition the model learnt from already.
        crawl: see `CrawlJob`.

    Attributes:
        near: pages with media a little below the threshold, until they are published.
    """

    def __init__(
        self, *args: Any, link_model: LinkModel | None, learnt_links: int, **crawl: Any
    ) -> None:
        super().__init__(*args, **crawl)
        self._learnt_links = learnt_links
        self.near: list[NearMiss] = []
        if link_model is not None:
            self.scorer.load_model(link_model)

    def _start(self) -> None: ...

    def _note_words(self, report: PageReport) -> None: ...

    def _remember(self) -> None: ...

    def _recall(self) -> Iterator[int]:
        yield from self._retell(self._learnt_links)

    def take_in(self, link: int, *report: Any) -> bool:
        relevant = super().take_in(link, *report)
        page = self.frontier.page(link)
        if page is not None and page[2] and not relevant:  # it holds media
            near = NearMiss(page[0], self.frontier.title(link), page[3])
            self.near += [near] if near.is_below(self._test.threshold) else []
        return relevant

    def receive(self, page: PageElsewhere, links: Sequence[NewLink]) -> None:
        """Add links found on a page of another partition; known ones are left alone."""
        record = PageRecord(
            page.url, "", "", "", page.contains_media, page.relevant, len(links), time.time(),
            topic_score=page.topic_score, new_media=page.new_media,
        )  # fmt: skip
        number = self.frontier.add_elsewhere(record, page.layer)
        found = self._intake.receive(links, number)
        if new := self.frontier.link_from(number, found):
            crawled = CrawledPage(
                number, page.url, page.relevant, page.contains_media, new,
                page.topic_score, page.new_media, page.on_topic,
            )  # fmt: skip
            self.frontier.apply(tell_elsewhere(self.scorer, crawled))

    def page_above(self, link: int) -> PageElsewhere | None:
        """Return what other partitions learn of the page of a link, or the page it was found on.

        None for a link that comes from no page.
        """
        at: int | None = link
        while at is not None and (page := self.frontier.page(at)) is None:
            at = self.frontier.known(at).parent
        if at is None or page is None:
            return None
        url, relevant, media, score, new_media = page
        layer, on_topic = self.frontier.known(at).logical_layer, self._test.on_topic(url, score)
        return PageElsewhere(url, layer, relevant, media, score, new_media, on_topic)
