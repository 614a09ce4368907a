"""All that a page tells of the works on it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mmcrawl.blocks.facts.facts import PageFacts, page_facts
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.collecting.works.licences import LicenceReader, declared_licences
from mmcrawl.collecting.works.mentions import Mention, MentionReader
from mmcrawl.collecting.works.model import Licence
from mmcrawl.collecting.works.values import language_of, level_of_texts
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class WorksPage:
    """What a page tells of the works on it.

    Attributes:
        url: Its address.
        title: Of its head.
        headline: What its text is headed by, or structured data and Open Graph call it; "" for
            none.
        language: BCP 47, "" if nothing tells.
        level: One of `AUDIENCES`, "" if nothing tells.
        licences: What is said of the whole page, all scores.
        mentions: Its media.
        facts: What else it says of itself.
    """

    url: str
    title: str
    headline: str = ""
    language: str = ""
    level: str = ""
    licences: tuple[Licence, ...] = ()
    mentions: tuple[Mention, ...] = ()
    facts: PageFacts = field(default_factory=PageFacts)

    @property
    def creator(self) -> str:
        """Who made it, "" if nothing tells."""
        return "; ".join(self.facts.authors)[:_LONGEST_NAME]

    @property
    def date(self) -> str:
        """The day it was published, "" if nothing tells."""
        return self.facts.published.date.isoformat() if self.facts.published else ""


def read_works_page(page: Partition, url: str, resources: Iterable[MediaResource]) -> WorksPage:
    """Return what a page tells of the works on it.

    Args:
        page: In blocks.
        url: Its address.
        resources: The media that are wanted of it.
    """
    lines, said = PageLines.of(page.tree, page.measures), Declared(page.tree)
    licences = LicenceReader(page, lines, url)
    mentions = MentionReader(page, lines, url, licences).read(resources, said.things)
    headline = _headline(page, said)
    facts = page_facts(said, lines, title=headline, url=url)
    outer = [thing for thing, around in said.things if not around]
    stated = [thing.text("educationallevel", "typicalagerange") for thing in outer]
    keywords = [content for _, content in said.meta("keywords")][:1]
    return WorksPage(
        url=url,
        title=said.title,
        headline=headline,
        language=language_of(facts.language, " ".join(lines.texts)),
        level=level_of_texts([*filter(None, stated), headline, said.title, *keywords]),
        licences=(*declared_licences(outer, said, url), *licences.of_page()),
        mentions=tuple(mentions),
        facts=facts,
    )


def _headline(page: Partition, said: Declared) -> str:
    declared = [thing.text("headline") for thing in said.of_page]
    declared += [content for _, content in said.meta("og:title", "dc.title")]
    if headline := next(filter(None, declared), ""):
        return headline
    tree = page.tree
    first = next((node for node, tag in enumerate(tree.tags) if tag == "h1"), 0)
    if first:
        return page.facts.texts.of(range(first, tree.after[first]))[:200]
    return next((block.text[:200] for block in page.blocks if block.kind == "title"), "")
