"""A crawl of one partition of the web: what it knows of the others."""

from collections.abc import Callable
from dataclasses import dataclass

from mmcrawl.frontier.admission import Sites
from mmcrawl.scoring.link_model import LinkModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """What makes a crawl a part of a larger one, which is divided by hosts.

    Attributes:
        sites: of the whole crawl.
        elsewhere: tells of an address whether it belongs to another part.
        siblings: among so many parts of a process memory is divided.
        link_model: what the parts of a process learn into; None for a first one.
        learnt_links: how many ended links of this partition the model learnt from already.
    """

    sites: Sites
    elsewhere: Callable[[str], bool]
    siblings: int
    link_model: LinkModel | None = None
    learnt_links: int = 0


@dataclass(frozen=True, slots=True)
class PageElsewhere:
    """A page fetched in another partition, as this one hears of it.

    Attributes:
        url: its address.
        layer: its logical layer.
        relevant, contains_media, topic_score, new_media, on_topic: see `CrawledPage`.
    """

    url: str
    layer: int
    relevant: bool = False
    contains_media: bool = False
    topic_score: float = 0.0
    new_media: int = 0
    on_topic: bool = False
