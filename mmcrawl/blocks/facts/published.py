"""When a page was published and changed: the surest place that gives a possible date."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mmcrawl.blocks.facts.dates import Dated, date_in_address, dates_in, read_date
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.page.structured import Declared, Marked

PUBLISHED_METAS = (
    "article:published_time article:published og:article:published_time og:published_time "
    "og:pubdate datepublished date_published publish_date publishdate publish-date publishedat "
    "published_time published-date published_at pubdate pub_date publication_date "
    "publication-date parsely-pub-date sailthru.date cxenseparse:recs:publishtime "
    "citation_publication_date citation_online_date citation_date dc.date.issued "
    "dcterms.issued dc.date.created dcterms.created prism.publicationdate "
    "rnews:datepublished weibo:article:create_at bytedance:published_time apub:time "
    "vr:published_time article.published originalpublicationdate datecreated created "
    "dateupdate article:created article_date_original release_date last-publication "
    "firstpublishedtime blogger:published"
).split()
_VAGUE_METAS = "dc.date dcterms.date dc.terms.date date ms.date timestamp".split()
MODIFIED_METAS = (
    "article:modified_time article:modified og:updated_time og:modified_time datemodified "
    "date_modified modified lastmod last-modified last_modified dc.date.modified dcterms.modified "
    "dc.modified weibo:article:update_at bytedance:updated_time updated_time revision_date "
    "article:updated cxenseparse:recs:articlemodified"
).split()
_PUBLISHED_NAMES = re.compile(
    r"publi[sc]|posted|pubdate|entry-?date|post-?date|article-?date|dateline|created|dt-published|"
    r"date-?time|news-?date|release"
)
_MODIFIED_NAMES = re.compile(r"updated|modified|lastmod|edited|revised")
_ADDRESS = "url"
_ANY_DATE = re.compile(r"(?<![a-z])dat(?:e|um)(?!-?picker)")
_IN_SCRIPT = re.compile(
    rb"(?:date_?published|publi(?:shed|cation|sh)_?(?:at|date|time|on)|created_?at)"
    rb"(?:\\?[\"']|&quot;)?\s*[:=]\s*(?:\\?[\"']|&quot;)?(?:[A-Za-z]{3,9} \d{1,2}, )?"
    rb"(\d{4}-\d\d-\d\d(?:T[\d:]{5,8}(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?)",
    re.IGNORECASE,
)
_DATE_NAMES = ("date", "time", "publi", "posted", "byline", "meta", "info", "source")
_ELSEWHERE = re.compile(
    r"comment|related|sidebar|widget|footer|recent|popular|copyright|event|countdown|recommend|"
    r"teaser|card|thumb|trending|latest"
)
_UPDATED = re.compile(
    r"updat|modif|edited|revis|aktualisiert|geändert|mis à jour|actualizad|aggiornat|zaktualizow|"
    r"обновлен|更新|修改|修订",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"publi|posted|date|written|erstellt|veröffentlicht|am \d|发布|發布|时间|時間|日期|发表|發表|"
    r"来源|опубликован|dodan|publicad|pubblicat|yayın|\bon\b|\bby\b",
    re.IGNORECASE,
)
_LONGEST_LINE = 160
_NEAR = 150  # nodes from the headline
_BEFORE, _BEHIND = 6, 12  # lines around the headline
_LONGEST_BARE = 40
_BARE = 60  # characters of a line that a date may stand in without a word that tells


class DateReader:
    """Reads the dates of one page.

    Args:
        said, lines: The page.
        headline: Row of its headline among the lines, -1 for none.
        url: Of the page, "" if it has none.
        month_first: What ``03/04/2019`` is.
    """

    def __init__(
        self, said: Declared, lines: PageLines, headline: int, url: str, *, month_first: bool
    ) -> None:
        self._said, self._lines = said, lines
        self._headline, self._url = headline, url
        self._month_first = month_first

    def published(self) -> Dated | None:
        """Return when the page was published, None where nothing tells.

        A day in the address is that of the page's own time zone, where others are often in UTC; the
        time of day is that of the first other place that gives the same day.
        """
        places = self._published()
        first = next(places, None)
        if first is None or first.source != _ADDRESS:
            return first
        second = next(places, None)
        return second if second is not None and second.date == first.date else first

    def modified(self) -> Dated | None:
        """Return when the page was last changed, None where nothing tells."""
        return next(self._modified(), None)

    def _published(self) -> Iterator[Dated]:
        yield from self._in_address()
        yield from self._in_graph("datePublished", "dateCreated")
        yield from self._in_metas(PUBLISHED_METAS)
        yield from self._in_properties("datepublished", "datecreated")
        yield from self._in_elements(_PUBLISHED_NAMES, within=_NEAR)
        yield from self._in_near_lines()
        yield from self._in_elements(_PUBLISHED_NAMES)
        yield from self._in_metas(_VAGUE_METAS)
        yield from self._in_telling_lines()
        yield from self._in_graph("uploadDate")
        yield from self._in_times()
        yield from self._in_elements(_ANY_DATE)
        yield from self._in_scripts()
        yield from self._in_bare_lines()

    def _modified(self) -> Iterator[Dated]:
        yield from self._in_graph("dateModified")
        yield from self._in_metas(MODIFIED_METAS)
        yield from self._in_properties("datemodified")
        yield from self._in_elements(_MODIFIED_NAMES)
        yield from self._in_updated_lines()

    def _dated(self, written: str, source: str) -> Iterator[Dated]:
        value = read_date(written, month_first=self._month_first)
        if value:
            yield Dated(value, source, " ".join(written.split())[:100])

    def _in_graph(self, *names: str) -> Iterator[Dated]:
        for things in (self._said.of_page, self._said.others):
            for name in names:
                for written in (text for one in things for text in one.texts(name.lower())):
                    yield from self._dated(written, f"json-ld {name}")
        for name in names:
            for written in self._said.texts_in_broken(name):
                yield from self._dated(written, f"json-ld {name}")

    def _in_metas(self, names: list[str]) -> Iterator[Dated]:
        for name in names:
            for content in self._said.meta(name):
                yield from self._dated(content, f"meta {name}")

    def _in_properties(self, *names: str) -> Iterator[Dated]:
        for name in names:
            for one in self._said.properties:
                if name in one.name.split() and not self._is_elsewhere(one.node):
                    yield from self._dated(one.text, f"microdata {name}")

    def _in_address(self) -> Iterator[Dated]:
        value, written = date_in_address(self._url)
        if value:
            yield Dated(value, _ADDRESS, written)

    def _in_elements(self, names: re.Pattern[str], *, within: int | None = None) -> Iterator[Dated]:
        """Elements whose class says what they are, those nearest to the headline first."""
        found = [
            one
            for one in self._said.named(*_DATE_NAMES)
            if one.text and names.search(one.name) and not self._is_elsewhere(one.node)
        ]
        for one in self._nearest(found, within):
            if names is _MODIFIED_NAMES or not _UPDATED.search(one.text):
                yield from self._dated(one.text, f"element {one.name.strip()[:60]}")

    def _in_times(self) -> Iterator[Dated]:
        for one in self._nearest(self._said.times):
            if not self._is_elsewhere(one.node):
                yield from self._dated(one.text, "time")

    def _nearest(self, found: list[Marked], within: int | None = None) -> list[Marked]:
        """Return elements by their distance from the headline; those behind it count as nearer."""
        if self._headline < 0:
            return found
        place = self._lines.firsts[self._headline]

        def distance(one: Marked) -> int:
            return one.node - place if one.node >= place else 3 * (place - one.node)

        near = [one for one in found if within is None or distance(one) <= within]
        return sorted(near, key=distance)

    def _is_elsewhere(self, node: int) -> bool:
        """Whether an element stands in what is not the article, by the names around it."""
        tree = self._said.tree
        for _ in range(12):
            if node <= 0:
                return False
            if tree.tags[node] in ("footer", "aside", "nav"):
                return True
            if tree.tags[node] in ("article", "main", "body", "header"):
                return False
            attributes = tree.attributes(node)
            name = f"{attributes.get('class', '')} {attributes.get('id', '')}".lower()
            if len(name) < 200 and _ELSEWHERE.search(name):
                return True
            node = tree.parents[node]
        return False

    def _near_lines(self) -> Iterator[str]:
        """Yield short lines around the headline, those behind it first."""
        texts, at = self._lines.texts, max(self._headline, 0)
        rows = [
            *range(at, min(at + _BEHIND, len(texts))),
            *range(at - 1, max(at - _BEFORE, 0) - 1, -1),
        ]
        yield from (
            texts[row] for row in rows if row < len(texts) and len(texts[row]) <= _LONGEST_LINE
        )

    def _in_near_lines(self) -> Iterator[Dated]:
        for text in self._near_lines():
            if not _UPDATED.search(text) and (len(text) <= _BARE or _TELLS.search(text)):
                for value in dates_in(text, month_first=self._month_first):
                    yield Dated(value, "text", text[:100])

    def _in_telling_lines(self) -> Iterator[Dated]:
        for text in self._lines.texts:
            if len(text) <= _LONGEST_LINE and _TELLS.search(text) and not _UPDATED.search(text):
                for value in dates_in(text, month_first=self._month_first):
                    yield Dated(value, "text", text[:100])

    def _in_scripts(self) -> Iterator[Dated]:
        """The data given to scripts that draw the page."""
        body = self._said.tree.body
        if (b"ublish" in body or b"reated" in body) and (found := _IN_SCRIPT.search(body)):
            yield from self._dated(found[1].decode("ascii"), "script")

    def _in_bare_lines(self) -> Iterator[Dated]:
        for text in self._lines.texts[max(self._headline, 0) :]:
            if len(text) <= _LONGEST_BARE and not _UPDATED.search(text):
                for value in dates_in(text, month_first=self._month_first):
                    yield Dated(value, "text", text)

    def _in_updated_lines(self) -> Iterator[Dated]:
        for text in self._lines.texts:
            if len(text) <= _LONGEST_LINE and (found := _UPDATED.search(text)):
                for value in dates_in(text[found.start() :], month_first=self._month_first):
                    yield Dated(value, "text", text[:100])
