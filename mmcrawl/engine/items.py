"""The items that flow through the item pipelines."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from mmcrawl.archive.model import Capture, StoredBlock
from mmcrawl.blocks.partitioners.base import DEFAULT_LEVEL, DEFAULT_METHOD
from mmcrawl.crawl.protocol import FetchedPage
from mmcrawl.frontier.findings import MediaPageRecord
from mmcrawl.page.html.tree import read_tree
from mmcrawl.page.model import MediaResource
from mmcrawl.text.media_kinds import KINDS

if TYPE_CHECKING:
    from mmcrawl.blocks.partition import Partition


@dataclass(frozen=True)
class BlockSource:
    """The source of the texts of a page's blocks, read on demand."""

    body: bytes = field(repr=False)  # of the page, as the blocks were cut from it
    encoding: str  # of the body

    @cached_property
    def page(self) -> "Partition":
        """The tree of the page, in no blocks."""
        from mmcrawl.blocks.partition import Partition  # slow to load

        tree = read_tree(self.body, encoding=self.encoding)
        return Partition(tree, (), method=DEFAULT_METHOD, level=DEFAULT_LEVEL)


@dataclass(frozen=True, slots=True)
class ItemBlock(StoredBlock):
    """A block of a page on its way through the pipelines."""

    source: BlockSource = field(repr=False, compare=False)  # the page that it was cut from

    @classmethod
    def of(cls, block: StoredBlock, source: BlockSource) -> Self:
        """Return a block of a page with its text."""
        return cls(
            block.start, block.end, block.kind, block.topic, block.level, block.path, block.digest,
            source,
        )  # fmt: skip

    @property
    def text(self) -> str:
        """The visible text of the block, white space collapsed."""
        from mmcrawl.blocks.partition import Block  # slow to load

        return Block(self.source.page, self.start, self.end, self.level, node=0).text


@dataclass(slots=True)
class PageItem(FetchedPage):
    """A fetched page on its way through the pipelines.

    Those before the media pipeline (900) see all pages, those after it the relevant ones, with a
    verdict. What a pipeline adds to `extra` becomes a column of the feeds.

    Attributes:
        page: the parsed page, shared by all that follows.
        http_status: status it came with.
        digest: `page_digest` of its body.
        verdict: what the topic test says of it; set by the media pipeline.
        extra: further columns of the page's row in the feeds, for pipelines to add: plain values
            (text, numbers, truth values, lists and dictionaries of them) by name.
        capture: what the server answered, for the archive.
        rendered: the page as a browser rendered it, for the archive; None if it was not rendered.
        link: number of the link that led to the page; None until the frontier has seen the item.
        blocks: the blocks of the page, each before those inside it;
            () for a sitemap or feed, None for a page that is not cut (MMCRAWL_BLOCKS=off, more than
            4 MB, or cutting failed). Set by the blocks pipeline.
        cut: the same as the process that read the page cut them.
        requisites: addresses of what it needs to be seen, if that is to be kept.
    """

    capture: Capture | None = field(default=None, repr=False)
    rendered: Capture | None = field(default=None, repr=False)
    blocks: tuple[ItemBlock, ...] | None = field(default=None, repr=False)
    cut: tuple[StoredBlock, ...] | None = field(default=None, repr=False)
    link: int | None = field(default=None, repr=False)
    requisites: tuple[str, ...] = field(default=(), repr=False)


@dataclass(slots=True)
class VisitItem:
    """A visit to a page of the archive, on its way there.

    Attributes:
        capture: what the server answered; None if it said that nothing changed, or nothing.
    """

    url: str  # as the archive has it
    time: float  # of the request, in Unix seconds
    status: int  # HTTP status, 0 if nobody answered
    capture: Capture | None = field(default=None, repr=False)
    outcome: str = ""  # `new` version or `unchanged`; set by the archive pipeline


@dataclass(slots=True)
class RequisiteItem(VisitItem):
    """What a page needs to be seen, on its way to the archive, behind which no pipeline sees it."""

    number: int = -1  # in the crawl's store
    named: tuple[str, ...] = ()  # addresses of what it needs itself


@dataclass(slots=True)
class NoPage:
    """A spider's answer for a response that is no page; its link ends in error with this reason."""

    reason: str


@dataclass(slots=True)
class MediaPageItem:
    """A relevant page as feeds write it, one row a page; no pipeline sees it.

    Attributes:
        words: topic words found on it, weightiest first.
        audio_count, video_count, … image_animation_count: number of media of each kind.
        media: a record for each medium, in the order of the page: its ``kind``, ``url``, ``text``
            (its own caption, "" if it has none), ``tag`` (where it was found) and ``others``
            (further addresses of the same medium).
        audio, video, … image_animation: addresses of the media of each kind.
    """

    url: str  # address of the page
    title: str
    topic_score: float  # what the topic test gave it, in [0, 1)
    words: list[str]
    audio_count: int
    video_count: int
    animation_count: int
    simulation_count: int
    document_count: int
    package_count: int
    image_animation_count: int
    status: int  # HTTP status
    visited_at: float  # Unix time of the visit
    media: list[dict[str, Any]] = field(default_factory=list)
    audio: list[str] = field(default_factory=list)
    video: list[str] = field(default_factory=list)
    animation: list[str] = field(default_factory=list)
    simulation: list[str] = field(default_factory=list)
    document: list[str] = field(default_factory=list)
    package: list[str] = field(default_factory=list)
    image_animation: list[str] = field(default_factory=list)

    @classmethod
    def from_record(cls, record: MediaPageRecord) -> "MediaPageItem":
        """Return the item of a stored media page."""
        urls = {
            kind.replace("-", "_"): [r.url for r in record.resources if r.kind == kind]
            for kind in KINDS
        }
        columns: dict[str, Any] = {f"{name}_count": len(found) for name, found in urls.items()}
        return cls(
            url=record.url,
            title=record.title,
            topic_score=round(record.topic_score, 4),
            words=list(record.words),
            status=record.status,
            visited_at=record.visited_at,
            media=[_medium(resource) for resource in record.resources],
            **columns | urls,
        )


def _medium(resource: MediaResource) -> dict[str, Any]:
    return {
        "kind": resource.kind,
        "url": resource.url,
        "text": resource.text,
        "tag": resource.tag,
        "others": list(resource.others),
    }
