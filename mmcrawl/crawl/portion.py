"""A crawl as a part of a larger one: what makes it one, and what it is told of the others."""

from collections.abc import Callable
from dataclasses import dataclass

from mmcrawl.frontier.admission import Sites
from mmcrawl.scoring.knowledge import Knowledge


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """What makes a crawl a part of a larger one, which is divided by hosts.

    Attributes:
        sites: of the whole crawl.
        elsewhere: tells of an address whether it belongs to another part.
        siblings: among so many parts of a process memory is divided.
        knowledge: what the parts of a process learn into; None for a first one.
        taught: of so many links of this part that had ended it was learnt already.
    """

    sites: Sites
    elsewhere: Callable[[str], bool]
    siblings: int
    knowledge: Knowledge | None = None
    taught: int = 0


@dataclass(frozen=True, slots=True)
class PageElsewhere:
    """What a part of a crawl is told of a page that another part fetched.

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
