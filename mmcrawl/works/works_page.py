"""All that a page tells of the works on it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mmcrawl.blocks.facts.facts import PageFacts, page_facts
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared
from mmcrawl.works.licences import LicenceReader, declared_licences
from mmcrawl.works.model import Licence
from mmcrawl.works.occurrences import Occurrence, OccurrenceReader
from mmcrawl.works.values import language_of, level_of_texts

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class WorksPage:
    """What a page tells of the works on it.

    Attributes:
        headline: What its text is headed by, or structured data and Open Graph call it; "" for
            none.
        language: BCP 47, "" if nothing tells.
        level: One of `AUDIENCES`, "" if nothing tells.
        licences: What is said of the whole page, all scores.
    """

    url: str
    title: str
    headline: str = ""
    language: str = ""
    level: str = ""
    licences: tuple[Licence, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
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
    """Return what a page tells of the works on it."""
    lines, said = PageLines.of(page.tree, page.measures), Declared(page.tree)
    licences = LicenceReader(page, lines, url)
    occurrences = OccurrenceReader(page, lines, url, licences).read(resources, said.things)
    headline = _headline(page, said)
    facts = page_facts(said, lines, title=headline, url=url)
    outer = [thing for thing, around in said.things if not around]
    stated = [thing.text("educationallevel", "typicalagerange") for thing in outer]
    keywords = [*said.meta("keywords")][:1]
    return WorksPage(
        url=url,
        title=said.title,
        headline=headline,
        language=language_of(facts.language, " ".join(lines.texts)),
        level=level_of_texts([*filter(None, stated), headline, said.title, *keywords]),
        licences=(*declared_licences(outer, said, url), *licences.of_page()),
        occurrences=tuple(occurrences),
        facts=facts,
    )


def _headline(page: Partition, said: Declared) -> str:
    declared = [thing.text("headline") for thing in said.of_page]
    declared += [*said.meta("og:title", "dc.title")]
    if headline := next(filter(None, declared), ""):
        return headline
    tree = page.tree
    first = next((node for node, tag in enumerate(tree.tags) if tag == "h1"), 0)
    if first:
        return page.facts.texts.of(range(first, tree.after[first]))[:200]
    return next((block.text[:200] for block in page.blocks if block.kind == "title"), "")
