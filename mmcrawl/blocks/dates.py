"""Dates as pages write them: ISO 8601, numbers, names of months; and when a page
was published and changed: the surest place that gives a possible date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache

from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.page.structured import Declared, Marked

EARLIEST = date(1990, 1, 1)
"""No page is older; a date before is that of something else, or a mistake."""

_AHEAD = timedelta(days=1)  # time zones, and clocks that are fast

# Of each month, how its name begins in languages of the web, without what the others begin with.
_MONTHS = (
    "jan ene gen sty янв січ oca ιαν",
    "feb fév fev lut фев лют şub ubat φεβ",
    "mar mär maa mrt марта март бер μαρ",
    "apr avr abr kwi апр кві nis απρ",
    "may mai mag maj mei мая май трав μαΐ μαι",
    "jun juin giu cze июн черв haz ιουν",
    "jul juil lug lip июл лип tem ιουλ",
    "aug aoû aou ago sie авг серп agu ağu αυγ",
    "sep set wrz сен вер eyl σεπ",
    "oct okt out ott paź paz окт жов eki οκτ",
    "nov lis ноя лист kas νοε",
    "dec dez déc dic gru дек груд des ara δεκ",
)
_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
          "bst": 1, "cet": 1, "cest": 2, "ist": 5.5, "jst": 9, "kst": 9, "msk": 3}  # fmt: skip
_CLOCK = (
    r"(?:(?:T|[\s,|·•@–-]|&nbsp;|at\b|um\b|à\b|klo\b|kl\.|o\b|г\.|[上下中]午|星期.){0,40}"
    r"(?P<hour>\d{1,2})[:.h时點点](?P<minute>\d\d)(?!\d)(?:[:.分](?P<second>\d\d))?(?:[.,]\d+)?"
    r"\s{0,20}(?P<half>[ap]\.?m\b\.?)?\s{0,20}"
    r"(?P<zone>Z\b|(?:UTC|GMT)?[+-]\d\d:?\d\d\b|UTC|GMT|[ECMP][SD]T\b|BST|CES?T\b|IST|JST|KST|MSK)?)?"
)
_PATTERNS = tuple(
    re.compile(pattern + _CLOCK, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s?[-/.]\s?(?P<month>\d{1,2})\s?[-/.]\s?(?P<day>\d{1,2})"
        r"(?=\D|$)",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)\s{0,20}[年년]\s{0,20}(?P<month>\d{1,2})\s{0,20}[月월]\s{0,20}(?P<day>\d{1,2})"
        r"\s{0,20}[日号號일]?",
        r"(?<![\d.,])(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º|ª)?[\s-]{0,20}(?:de\s|of\s)?\s{0,20}"
        r"(?P<name>[^\W\d_]{3,12})\.?,?[\s-]{0,20}(?:del?\s)?\s{0,20}(?P<year>(?:19|20)\d\d)(?!\d)",
        r"(?<!\d)(?P<year>(?:19|20)\d\d)[\s,-]{1,20}(?P<name>[^\W\d_]{3,12})\.?[\s-]{1,20}(?P<day>\d{1,2})(?!\d)",
        r"\b(?P<name>[^\W\d_]{3,12})\.?\s{0,20}(?P<day>\d{1,2})(?:st|nd|rd|th)?\s{0,20}[,.]?\s{0,20}"
        r"(?P<year>(?:19|20)\d\d)(?!\d)",
        r"(?<![\d./-])(?P<first>\d{1,2})\s?(?P<sign>[-/.|])\s?(?P<second_number>\d{1,2})\s?(?P=sign)"
        r"\s?(?P<year>(?:19|20)\d\d)(?!\d)",
    )
)
_COMPACT = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)(?:T?(\d{6})|\D|$)"
)
_UNIX = re.compile(r"\s*(1[0-9]{9})(?:\d{3})?\s*")
_IN_ADDRESS = (
    re.compile(
        r"[/_-](?P<year>(?:19|20)\d\d)[/_-](?P<month>[01]?\d)[/_-](?P<day>[0-3]?\d)(?=[/_.-]|$)"
    ),
    re.compile(
        r"[/_-](?P<year>(?:19|20)\d\d)[/_-]?(?P<month>[01]\d)[/_-]?(?P<day>[0-3]\d)(?=[/_.-]|$)"
    ),
)
_MONTH_FIRST = frozenset({"us", "ph"})
_DAY_FIRST_DOMAINS = frozenset("uk au nz ie in za".split())

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


@dataclass(frozen=True, slots=True)
class Dated:
    """A date that a page gives.

    Attributes:
        value: ISO 8601, as precise as the page is: ``2019-05-06`` or ``2019-05-06T10:11:00+08:00``.
        source: Where it was read, as ``json-ld datePublished`` or ``meta article:published_time``.
        written: As it stands there.
    """

    value: str
    source: str
    written: str

    @property
    def date(self) -> date:
        """The day, in the page's own time zone."""
        return date.fromisoformat(self.value[:10])


def month_comes_first(language: str, host: str = "") -> bool:
    """Whether ``03/04/2019`` is a day of March, by the page's language and host.

    >>> month_comes_first("en-us"), month_comes_first("en-gb"), month_comes_first("de")
    (True, False, False)
    """
    tongue, _, region = language.lower().replace("_", "-").partition("-")
    if region:
        return region[-2:] in _MONTH_FIRST
    return tongue in ("en", "") and host.rpartition(".")[2] not in _DAY_FIRST_DOMAINS


def dates_in(text: str, *, month_first: bool = False) -> Iterator[str]:
    """Yield the dates in a text, in ISO 8601, those that could be none left out.

    >>> list(dates_in("Posted on 6 May 2019, 10:11 — 更新：2019年5月7日"))
    ['2019-05-07', '2019-05-06T10:11:00']
    """
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            value = _value(found, month_first)
            if value:
                yield value


def read_date(text: str, *, month_first: bool = False) -> str:
    """Return the date that a value of an attribute or of structured data is, "" for none.

    >>> read_date("2019-05-06T10:11:12.000Z"), read_date("1557137472"), read_date("soon")
    ('2019-05-06T10:11:12+00:00', '2019-05-06T10:11:12+00:00', '')
    """
    if found := _UNIX.fullmatch(text):
        moment = datetime.fromtimestamp(int(found[1]), UTC)
        return moment.isoformat() if _possible(moment.date()) else ""
    value = next(dates_in(text[:200], month_first=month_first), "")
    if not value and (found := _COMPACT.match(text.strip())):
        value = _value(found, month_first)
    return value


def date_in_address(url: str) -> tuple[str, str]:
    """Return the day that an address names, and what of the address it is; "" for none.

    >>> date_in_address("http://h.test/news/2019/05/06/levers.html")
    ('2019-05-06', '2019/05/06')
    """
    path = url.partition("://")[2].partition("?")[0]
    for pattern in _IN_ADDRESS:
        for found in pattern.finditer(path):
            if value := _value(found, month_first=False):
                return value, found[0].strip("/_-")
    return "", ""


def _value(found: re.Match[str], month_first: bool) -> str:
    groups = found.groupdict()
    year = int(groups["year"])
    if groups.get("first"):
        day, month = int(groups["first"]), int(groups["second_number"])
        if (month_first and day <= 12) or month > 12:
            day, month = month, day
    else:
        named = groups.get("name")
        month = _month(named) if named else int(groups["month"])
        day = int(groups["day"])
    try:
        on = date(year, month, day)
    except ValueError:
        return ""
    if not _possible(on):
        return ""
    return on.isoformat() + _time(groups) if groups.get("hour") else on.isoformat()


def _possible(on: date) -> bool:
    return EARLIEST <= on <= datetime.now(UTC).date() + _AHEAD


def _time(groups: dict[str, str | None]) -> str:
    """Return the time of day behind a date, "" for none that there is."""
    hour, minute = int(groups["hour"] or 0), int(groups["minute"] or 0)
    second = min(int(groups["second"] or 0), 59)
    half = (groups["half"] or "").lower()
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    if hour > 23 or minute > 59:
        return ""
    return f"T{hour:02}:{minute:02}:{second:02}{_zone((groups['zone'] or '').lower())}"


def _zone(written: str) -> str:
    if not written:
        return ""
    if written in _ZONES:
        return datetime.now(timezone(timedelta(hours=_ZONES[written]))).isoformat()[-6:]
    shift = written.removeprefix("utc").removeprefix("gmt").replace(":", "")
    if shift in ("", "z"):
        return "+00:00"
    return f"{shift[:3]}:{shift[3:]}" if int(shift[1:3]) < 15 and int(shift[3:]) < 60 else ""


@cache
def _month_of() -> dict[str, int]:
    return {name: i for i, names in enumerate(_MONTHS, 1) for name in names.split()}


def _month(name: str) -> int:
    """Return the number of a month, 0 for a word that is none."""
    known = _month_of()
    folded = name.lower()
    for length in (5, 4, 3):
        if number := known.get(folded[:length]):
            return number
    return 0


class DateReader:
    """Reads the dates of one page with its headline in row `headline`, -1 for none."""

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
