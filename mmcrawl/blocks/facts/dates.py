"""Dates as pages write them: ISO 8601, numbers, and with names of months, Chinese and others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache

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
