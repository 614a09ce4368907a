"""All that a page tells of the works on it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition
from mmcrawl.collecting.works.licences import LicenceReader, declared_licences
from mmcrawl.collecting.works.mentions import Mention, MentionReader
from mmcrawl.collecting.works.model import Licence
from mmcrawl.collecting.works.structured import Item, meta_tags, structured_items
from mmcrawl.collecting.works.values import date_in, date_of_url, language_of, level_of_texts
from mmcrawl.page.model import MediaResource

_PAGES = frozenset(
    "article newsarticle blogposting webpage itempage creativework course learningresource"
    " podcastepisode episode videoobject audioobject techarticle".split()
)
_AUTHORS = ("author", "dc.creator", "dcterms.creator", "article:author")
_DATES = (
    "article:published_time",
    "dc.date",
    "dcterms.created",
    "dcterms.issued",
    "datepublished",
    "pubdate",
    "date",
)
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page tells.

    Attributes:
        url: Its address.
        title: Of its head.
        headline: What its text is headed by, or structured data and Open Graph call it; "" for
            none.
        description: As declared.
        language: BCP 47, "" if nothing tells.
        creator, date: As declared, "" if not.
        picture: Address of the picture that Open Graph names.
        level: One of `AUDIENCES`, "" if nothing tells.
        licences: What is said of the whole page, all scores.
        mentions: Its media.
    """

    url: str
    title: str
    headline: str = ""
    description: str = ""
    language: str = ""
    creator: str = ""
    date: str = ""
    picture: str = ""
    level: str = ""
    licences: tuple[Licence, ...] = ()
    mentions: tuple[Mention, ...] = ()


def facts_of_page(page: Partition, url: str, resources: Iterable[MediaResource]) -> PageFacts:
    """Return what a page tells of the works on it.

    Args:
        page: In blocks.
        url: Its address.
        resources: The media that are wanted of it.
    """
    return _Reader(page, url).facts(resources)


class _Reader:
    def __init__(self, page: Partition, url: str) -> None:
        self._page, self._url = page, url
        self._tree = page.tree
        self._lines = PageLines.of(page.tree, page.measures)
        self._items = structured_items(page.tree)
        self._metas = meta_tags(page.tree)

    def facts(self, resources: Iterable[MediaResource]) -> PageFacts:
        licences = LicenceReader(self._page, self._lines, self._url)
        reader = MentionReader(self._page, self._lines, self._url, licences)
        title, headline = self._title, self._headline
        outer = [item for item, around in self._items if not around]
        declared = declared_licences(outer, self._metas, self._url)
        keywords = self._meta("keywords")
        stated = [item.text("educationallevel", "typicalagerange") for item in outer]
        return PageFacts(
            url=self._url,
            title=title,
            headline=headline,
            description=self._of_page("description")
            or self._meta("og:description", "description", "dc.description"),
            language=language_of(self._declared_language, " ".join(self._lines.texts)),
            creator=self._creator[:_LONGEST_NAME],
            date=self._date,
            picture=self._meta("og:image", "og:image:url", "twitter:image"),
            level=level_of_texts([*filter(None, stated), headline, title, keywords]),
            licences=(*declared, *licences.of_page()),
            mentions=tuple(reader.read(resources, self._items)),
        )

    @cached_property
    def _pages(self) -> list[Item]:
        return [one for one, _ in self._items if not one.types.isdisjoint(_PAGES)]

    def _of_page(self, *names: str) -> str:
        return next(filter(None, (item.text(*names) for item in self._pages)), "")

    def _meta(self, *names: str) -> str:
        return next((self._metas[name][0] for name in names if self._metas.get(name)), "")

    @property
    def _title(self) -> str:
        titles = (n for n, tag in enumerate(self._tree.tags) if tag == "title")
        texts = (" ".join(self._tree.raw_content(node).split()) for node in titles)
        return next(filter(None, texts), "")

    @property
    def _headline(self) -> str:
        if said := self._of_page("headline") or self._meta("og:title", "dc.title"):
            return said
        heads = [block for block in self._page.blocks if block.kind == "title"]
        first = next((node for node, tag in enumerate(self._tree.tags) if tag == "h1"), 0)
        if first:
            return self._page.facts.texts.of(range(first, self._tree.after[first]))[:200]
        return heads[0].text[:200] if heads else ""

    @property
    def _declared_language(self) -> str:
        for node, tag in enumerate(self._tree.tags):
            if tag in ("html", "body"):
                attributes = self._tree.attributes(node)
                if said := attributes.get("lang") or attributes.get("xml:lang"):
                    return said
        return self._meta("content-language", "dc.language", "og:locale")

    @property
    def _creator(self) -> str:
        if said := self._of_page("author", "creator") or self._meta(*_AUTHORS):
            return "" if said.startswith(("http://", "https://")) else said
        for node in self._tree.mentioning(b"author"):
            attributes = self._tree.attributes(node)
            if self._tree.tags[node] == "a" and "author" in attributes.get("rel", "").split():
                return self._page.facts.texts.of_link(node, self._tree.after[node])
        return ""

    @property
    def _date(self) -> str:
        said = self._of_page("datepublished", "uploaddate", "datecreated") or self._meta(*_DATES)
        return date_in(said) or date_of_url(self._url)
