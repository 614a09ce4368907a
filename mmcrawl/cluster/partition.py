"""The crawl of one partition of the web: a complete crawl that also learns of pages elsewhere.

Links that it finds for another partition travel in a message, with the page they were found on.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from math import inf
from typing import Any

from mmcrawl.cluster.packing import packed, unpacked
from mmcrawl.crawl.history import tell_elsewhere, why_silent
from mmcrawl.crawl.job import CrawlJob
from mmcrawl.crawl.protocol import PageReport
from mmcrawl.frontier.findings import NearMiss
from mmcrawl.frontier.records import NewLink, PageRecord
from mmcrawl.scoring.base import CrawledPage
from mmcrawl.scoring.link_model import LinkModel
from mmcrawl.store.plain_values import PlainForm

_MOST_SHOWN = 50  # reasons of errors, and patterns
_SHIFT = 32


@dataclass(frozen=True, slots=True)
class PageElsewhere:
    """A page fetched in another partition, as a message describes it; see `CrawledPage`."""

    url: str
    layer: int  # logical
    relevant: bool = False
    contains_media: bool = False
    topic_score: float = 0.0
    new_media: int = 0
    on_topic: bool = False


LinksOfPage = tuple[PageElsewhere | None, tuple[NewLink, ...]]
"""Links for a partition, and the page that they were found on; None for links from no page."""
_FORM = PlainForm[tuple[LinksOfPage, ...]](tuple[LinksOfPage, ...])


def encode_message(links: Iterable[LinksOfPage]) -> bytes:
    """Return the links of some pages as bytes."""
    return packed(json.dumps(_FORM.write(tuple(links)), separators=(",", ":")).encode())


def decode_message(data: bytes) -> tuple[LinksOfPage, ...]:
    """Return what `encode_message` wrote.

    Raises:
        ValueError: it did not write this.
    """
    try:
        return _FORM.read(json.loads(unpacked(data)))
    except RecursionError as error:
        raise ValueError(f"it cannot be read: {error}") from error


class PartitionJob(CrawlJob):
    """A partition's crawl, and where it stands; its owner begins it, little by little.

    The worker counts words for all its partitions, and rules are notes of the whole crawl.

    Args:
        link_model: what the partitions of a process learn into, if the algorithm has any.
        learnt_links: how many ended links of this partition the model learnt from already.
        crawl: see `CrawlJob`.

    Attributes:
        epoch: in which its owner has it.
        rests_until: nothing is fetched before, by the monotonic clock.
        under_way: links that are being fetched.
        granted: pages that may be fetched in all, if the crawl has a budget; -1 if its owner does
            not know what a former one was granted.
        wanted_at: when its best link was last among the best ones, by the monotonic clock.
        near: pages with media a little below the threshold, until they are published.
        taken_in: messages that were processed, until that is written.
        reported: how many links had ended at the last report.
        written: how many at the one before, which the shared store has.
        stated: how many links are busy and left alone, as the lease says.
    """

    def __init__(
        self, *args: Any, link_model: LinkModel | None, learnt_links: int, **crawl: Any
    ) -> None:
        super().__init__(*args, **crawl)
        self.findings.changed = set()
        self._learnt_links = learnt_links
        self.epoch, self.granted, self.rests_until, self.wanted_at = 0, 0, -inf, -inf
        self.under_way: set[int] = set()
        self.near: list[NearMiss] = []
        self.taken_in: list[str] = []
        self.stated, self.reported, self.written = (0, 0), 0, 0
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

    # -- links from and for other partitions ----------------------------------------------------

    def receive(self, message: bytes) -> None:
        """Add links found on pages of another partition; known ones are left alone.

        Raises:
            ValueError: it is no message.
        """
        for page, links in decode_message(message):
            if page is None:
                self.add(links)
            else:
                self._receive(page, links)

    def _receive(self, page: PageElsewhere, links: Sequence[NewLink]) -> None:
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

    def take_outgoing(self) -> Iterator[tuple[NewLink, PageElsewhere | None]]:
        """Remove and yield links for other partitions, each with the page it was found on."""
        pages: dict[int | None, PageElsewhere | None] = {None: None}
        for link, parent in self.frontier.outgoing:
            if parent is not None and parent not in pages:
                pages[parent] = self._page_above(parent)
            yield link, pages[parent]
        self.frontier.outgoing.clear()

    def _page_above(self, link: int) -> PageElsewhere | None:
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

    # -- where it stands ------------------------------------------------------------------------

    @property
    def used(self) -> int:
        """How many pages of its budget are used, those that are being fetched included."""
        return self.pages + len(self.under_way)

    def standing(self, *, left_alone: bool) -> tuple[int, int]:
        """Return how many links are busy, and how many are left alone with all that wait."""
        busy = self.ready + len(self.under_way)
        return (0, busy) if left_alone else (busy, 0)

    def state(self, contents: Mapping[int, str], *, is_last: bool) -> dict[str, Any]:
        """Return what its lease says, as of the last `stated`.

        Args:
            contents: what pages without links and media consist of, by their links in the worker.
            is_last: whether the worker leaves.
        """
        busy, alone = self.stated
        facts: dict[str, Any] = {"totals": self.totals().as_plain()}
        if self.moved_seeds.hosts:
            facts["moved"] = self.moved_seeds.hosts
        if is_last or not busy:
            facts["errors"] = dict(self.error_reasons().most_common(_MOST_SHOWN))
            facts["patterns"] = [astuple(one) for one in self.patterns()[:_MOST_SHOWN]]
        if not busy:
            own = {
                own_number(link): text
                for link, text in contents.items()
                if partition_of(link) == self.job.number
            }
            facts["silent"] = silent = why_silent(self.frontier, own)
            facts["has_found"] = silent is None
        return {"busy": busy, "alone": alone, "pages": self.pages, "facts": json.dumps(facts)}


def numbered(partition: int, link: int) -> int:
    """Return the number that a link of a partition has in the worker."""
    return partition << _SHIFT | link


def partition_of(link: int) -> int:
    """Return the partition that a link belongs to."""
    return link >> _SHIFT


def own_number(link: int) -> int:
    """Return the number that a link has in its partition."""
    return link & ((1 << _SHIFT) - 1)
