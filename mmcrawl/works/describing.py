"""From the pages of a crawl to its works."""

import mimetypes
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain

from mmcrawl.archive.archive import Archive
from mmcrawl.blocks.facts import PageFacts, page_facts
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.partition import Partition, partition
from mmcrawl.errors import StoreError
from mmcrawl.frontier.findings import MediaPageRecord
from mmcrawl.frontier.urls import host_of
from mmcrawl.media.index import MediaFile, State
from mmcrawl.page.model import MediaResource
from mmcrawl.page.structured import Declared
from mmcrawl.text.writing import xml_text
from mmcrawl.works.file_tags import FileTags
from mmcrawl.works.grouping import (
    Occurrence,
    OccurrenceReader,
    SiteTitles,
    choose_titles,
    group_occurrences,
    occurrences_of,
)
from mmcrawl.works.licences import (
    RESERVED,
    LicenceReader,
    best_first,
    declared_licences,
    licences_in_text,
)
from mmcrawl.works.model import Appearance, Evidence, Licence, Work, WorkFile
from mmcrawl.works.values import (
    is_file,
    is_hosted,
    language_of,
    level_of_texts,
    level_of_topic,
    title_of_file,
)

_MOST_RESOURCES = 100_000  # of a page

_MOST_PAGES = 20
_OF_PAGE = 3  # works on a page up to which what is said of the page may be said of each


_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class WorksPage:
    """What a page says of the works on it.

    Attributes:
        headline: What its text is headed by, or structured data and Open Graph call it; "" for
            none.
    """

    url: str
    title: str
    headline: str = ""
    language: str = ""  # BCP 47, "" if nothing tells
    level: str = ""  # one of `AUDIENCES`, "" if nothing tells
    licences: tuple[Licence, ...] = ()  # what is said of the whole page, all scores
    occurrences: tuple[Occurrence, ...] = ()
    facts: PageFacts = field(default_factory=PageFacts)

    @property
    def creator(self) -> str:
        """The creator, "" if unknown."""
        return "; ".join(self.facts.authors)[:_LONGEST_NAME]

    @property
    def date(self) -> str:
        """The day it was published, "" if nothing tells."""
        return self.facts.published.date.isoformat() if self.facts.published else ""


def read_works_page(page: Partition, url: str, resources: Iterable[MediaResource]) -> WorksPage:
    """Return what a page says of the works on it."""
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


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page with media."""

    record: MediaPageRecord
    facts: WorksPage
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of facts other than pages.

    Attributes:
        file_of: Returns the record of an address in the collection, None where there is none.
        tags_of: Reads the tags of a file by its digest; None where that is not possible.
    """

    file_of: Callable[[str], MediaFile | None] = lambda url: None
    tags_of: Callable[[str], FileTags] | None = None


def describe(pages: Iterable[FoundPage], sources: Sources) -> list[tuple[Work, tuple[str, ...]]]:
    """Return the works of some pages, each with the keys of its files; ids are of the first key."""
    return _Describer(list(pages), sources).works()


@dataclass(slots=True)
class _Group:
    """A work in the making."""

    keys: list[str]
    occurrences: list[tuple[FoundPage, Occurrence]] = field(default_factory=list)
    tags: FileTags = field(default_factory=FileTags)
    files: list[WorkFile] = field(default_factory=list)


class _Describer:
    def __init__(self, pages: list[FoundPage], sources: Sources) -> None:
        self._pages, self._sources = pages, sources
        self._held: dict[str, MediaFile] = {}
        for page in pages:
            for occurrence in page.facts.occurrences:
                if occurrence.key not in self._held and (known := sources.file_of(occurrence.url)):
                    self._held[occurrence.key] = known
        self._sites = SiteTitles((host_of(p.record.url), p.facts.title) for p in pages)
        digests = {key: file.digest for key, file in self._held.items() if file.digest}
        found = group_occurrences([page.facts.occurrences for page in pages], digests)
        self._groups = [_Group(keys) for keys in found]
        of_key = {key: group for group in self._groups for key in group.keys}
        self._works_on: Counter[str] = Counter()
        for page in pages:
            shown = {id(of_key[occurrence.key]) for occurrence in page.facts.occurrences}
            self._works_on[page.record.url] = len(shown)
            for occurrence in page.facts.occurrences:
                of_key[occurrence.key].occurrences.append((page, occurrence))

    def works(self) -> list[tuple[Work, tuple[str, ...]]]:
        for group in self._groups:
            # A page of one work tells more of it than a list.
            group.occurrences.sort(key=lambda said: self._works_on[said[0].record.url])
            group.files = self._files(group)
        titles = choose_titles([self._title_candidates(group) for group in self._groups])
        return [
            (self._work(group, title, source), tuple(sorted(group.keys)))
            for group, (title, source) in zip(self._groups, titles, strict=True)
        ]

    def _files(self, group: _Group) -> list[WorkFile]:
        files: dict[str, WorkFile] = {}
        seen: set[str] = set()
        for _, occurrence in group.occurrences:
            if occurrence.key in files:
                continue
            held = self._held.get(occurrence.key)
            tags = FileTags()
            if held is not None and held.digest:
                if held.digest in seen:
                    continue  # equal bytes: one file
                seen.add(held.digest)
                tags = self._sources.tags_of(held.digest) if self._sources.tags_of else tags
                group.tags = group.tags if group.tags != FileTags() else tags
            files[occurrence.key] = WorkFile(
                url=occurrence.url,
                kind=occurrence.kind,
                mime=(held.content_type if held else "")
                or occurrence.mime
                or _mime(occurrence.url),
                size=(held.size if held else 0) or occurrence.size,
                duration=tags.duration or occurrence.duration,
                digest=held.digest if held else "",
                state=str(held.state) if held else "",
                reason=held.reason if held else "",
            )
        return sorted(
            files.values(),
            key=lambda one: (one.state != State.HELD, not is_file(one.url), -one.size),
        )

    def _title_candidates(self, group: _Group) -> list[tuple[str, str]]:
        found = list(chain.from_iterable(occurrence.titles for _, occurrence in group.occurrences))
        for page, _ in group.occurrences[:_MOST_PAGES]:
            host = host_of(page.record.url)
            for source, text in (("headline", page.facts.headline), ("page", page.facts.title)):
                found.append((source, self._sites.without_name(host, text)))
        held = [file for key in group.keys if (file := self._held.get(key))]
        found += [("page", self._sites.without_name(host_of(f.url), f.title)) for f in held]
        found.append(("tag", group.tags.title))
        found += [("file", title_of_file(file.url)) for file in group.files]
        return [(source, said) for source, text in found if (said := xml_text(text))]

    def _work(self, group: _Group, title: str, source: str) -> Work:
        occurrences = [occurrence for _, occurrence in group.occurrences]
        alone = [
            page.facts
            for page, _ in group.occurrences
            if self._works_on[page.record.url] <= _OF_PAGE
        ]
        pages = [page.facts for page, _ in group.occurrences]
        topic = _first(page.topic for page, _ in group.occurrences)
        return Work(
            id=sha256(min(group.keys).encode(errors="surrogatepass")).hexdigest()[:16],
            title=title or group.files[0].url,
            title_source=source,
            kind=_kind(group.files),
            files=tuple(group.files),
            pages=self._appearances(group),
            caption=_first(m.caption for m in occurrences)
            or _first(p.facts.description for p in alone)
            or _first(m.beside for m in occurrences if m.beside not in title),
            poster=_first(m.poster for m in occurrences) or _first(p.facts.image for p in alone),
            subtitles=tuple(dict.fromkeys(chain.from_iterable(m.subtitles for m in occurrences))),
            topic=topic,
            level=_first(p.level for p in pages) or level_of_topic(topic),
            languages=_languages(group, occurrences, pages),
            creator=_first(m.creator for m in occurrences)
            or group.tags.creator
            or _first(p.creator for p in alone),
            date=_first(m.date for m in occurrences)
            or _first(p.date for p in alone)
            or group.tags.date,
            licences=self._licences(group),
        )

    def _licences(self, group: _Group) -> tuple[Licence, ...]:
        beside = chain.from_iterable(occurrence.licences for _, occurrence in group.occurrences)
        # Of a player of another site, the foot of the page does not reserve the rights.
        of_pages = (
            licence
            for page, occurrence in group.occurrences
            for licence in page.facts.licences
            if licence.code != RESERVED or not is_hosted(occurrence.url)
        )
        in_file = (
            Licence(code, url, Evidence("tag", said, "medium"))
            for code, url, said in licences_in_text(group.tags.copyright)
        )
        return best_first([*in_file, *beside, *of_pages])

    def _appearances(self, group: _Group) -> tuple[Appearance, ...]:
        found: dict[str, Appearance] = {}
        for page, occurrence in group.occurrences:
            record = page.record
            known = found.get(record.url)
            if known is None or (occurrence.block and not known.block):
                found[record.url] = Appearance(
                    record.url, page.facts.title, occurrence.block, record.visited_at
                )
        return tuple(found.values())[:_MOST_PAGES]


def _first(values: Iterable[str]) -> str:
    """Return the first that is not empty; JSON of pages may hold what no document can."""
    return next(filter(None, map(xml_text, values)), "")


def _kind(files: Sequence[WorkFile]) -> str:
    """Return what most files are; players, that are said to be video, count where there is none."""
    kinds: Mapping[str, int] = Counter(one.kind for one in files if is_file(one.url)) or Counter(
        one.kind for one in files
    )
    order = ("simulation", "video", "animation", "audio")
    return max(kinds, key=lambda kind: (kinds[kind], -order.index(kind) if kind in order else -9))


def _languages(
    group: _Group, occurrences: Iterable[Occurrence], pages: Iterable[WorksPage]
) -> tuple[str, ...]:
    """Return what is said of the work itself, or else the languages of its pages."""
    own = [occurrence.language for occurrence in occurrences] + [group.tags.language]
    found = dict.fromkeys(filter(None, own)) or dict.fromkeys(
        filter(None, (page.language for page in pages))
    )
    return tuple(found)[:5]


def _mime(url: str) -> str:
    if not is_file(url):
        return ""
    return mimetypes.guess_type(url.partition("?")[0])[0] or ""


def found_pages(
    records: Iterable[tuple[str, MediaPageRecord]],
    archive: Archive | None,
    *,
    problem: Callable[[str], None] = lambda text: None,
) -> Iterator[FoundPage]:
    """Yield the pages of a crawl with what they say of their works.

    A page that is not in the archive, or cannot be read there, is described by what the crawl noted
    of it: its title, and the texts of its links.

    Args:
        records: The media pages of the crawl, best first, each with the crawl's topic.
        problem: Is told what could not be read, a sentence each.
    """
    for topic, record in records:
        facts = None
        if archive is not None:
            try:
                facts = _archived_facts(record, archive)
            except StoreError as error:
                problem(str(error))
        yield FoundPage(record, facts or _noted_facts(record), topic)


def _archived_facts(record: MediaPageRecord, archive: Archive) -> WorksPage | None:
    version = archive.get(record.url)
    if not version.method:
        return None
    body = archive.rebuild(version).body
    page = partition(
        body,
        method=version.method,
        level=version.level or 1,
        encoding=version.encoding or None,
        url=record.url,
    )
    return read_works_page(page, record.url, record.resources[:_MOST_RESOURCES])


def _noted_facts(record: MediaPageRecord) -> WorksPage:
    occurrences = occurrences_of(record.resources[:_MOST_RESOURCES])
    return WorksPage(record.url, record.title, occurrences=tuple(occurrences.values()))
