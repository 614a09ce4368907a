"""Dates, durations and levels of school, as pages write them."""

import re
from collections.abc import Iterable
from datetime import date

from mmcrawl.text.scripts import unify

_DATE = re.compile(r"(?<!\d)(\d{4})(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?)?(?!\d)")
_ISO_DURATION = re.compile(
    r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,6})(?:\.\d+)?S)?)?"
)
_CLOCK = re.compile(
    r"(?:duration|length|running time|runtime|时长|長度|片长|时间长度)\s{0,9}[:：]?\s{0,9}"
    r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?![\d:])",
    re.IGNORECASE,
)
_FIRST, _LAST = 1900, 2100
_LONGEST = 7 * 86_400  # seconds of a work


def date_in(text: str) -> str:
    """Return the date at the beginning of a text, as far as it is given; "" for none.

    >>> date_in("2012-3-04T10:00:00Z"), date_in("2012年3月"), date_in("2012"), date_in("12/3/04")
    ('2012-03-04', '2012-03', '2012', '')
    """
    match = _DATE.match(text.strip())
    if match is None or not _FIRST <= int(match[1]) < _LAST:
        return ""
    year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return ""
    return "-".join([f"{year}", *(f"{part:02}" for part in (month, day) if part)])


def date_of_url(url: str) -> str:
    """Return the date that the path of an address has.

    >>> date_of_url("http://h.test/blog/2012/03/04/levers.html")
    '2012-03-04'
    """
    match = re.search(r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?!\d)", url)
    return date_in("-".join(match.groups())) if match else ""


def seconds_in(text: str) -> float:
    """Return a duration in seconds: ISO 8601, or ``Duration: 1:02:03``; 0 for none.

    >>> seconds_in("PT1H2M3S"), seconds_in("时长：12:30"), seconds_in("at 12:30")
    (3723.0, 750.0, 0.0)
    """
    match = _ISO_DURATION.fullmatch(text.strip())
    if match is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        total = 86_400 * days + 3_600 * hours + 60 * minutes + seconds
    elif clock := _CLOCK.search(text):
        hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        total = 3_600 * hours + 60 * minutes + seconds
    else:
        return 0.0
    return float(total) if total <= _LONGEST else 0.0


# -- levels of school -----------------------------------------------------------------------------

_WORDS = {
    "kindergarten": r"kindergarten|pre-?school|幼儿园|幼儿|学前",
    "primary": r"primary school|elementary school|grades? k?-?[1-5](?!\d)|key stage [12]|小学"
    r"|[一二三四五六]年级",
    "lower-secondary": r"middle school|junior high|grades? [678](?!\d)|key stage 3|初中|初[一二三]"
    r"|[七八九]年级|国中",
    "upper-secondary": r"high school|senior high|secondary school|sixth form|gcse|a-levels?"
    r"|grades? (?:9|1[0-2])(?!\d)|高中|高[一二三](?![0-9\w])|高考",
    "vocational": r"vocational|中职|高职|职业学校|中专|技校",
    "university": r"universit|undergraduate|postgraduate|graduate course|大学|本科|研究生|高等教育"
    r"|高校",
}
_PATTERNS = {level: re.compile(rf"(?<![a-z])(?:{words})") for level, words in _WORDS.items()}
_OF_TOPICS = {"primary": "primary", "junior": "lower-secondary", "senior": "upper-secondary"}


def level_of_topic(topic: str) -> str:
    """Return the level that the name of a topic says.

    >>> level_of_topic("physics-senior")
    'upper-secondary'
    """
    return _OF_TOPICS.get(topic.rpartition("-")[2], "") or level_of_texts([topic])


def level_of_texts(texts: Iterable[str]) -> str:
    """Return the one level of school that some texts name, best evidence first.

    The first text that names any decides; one that names several says nothing.

    >>> level_of_texts(["Levers", "高中物理: 杠杆"]), level_of_texts(["小学、初中课件"])
    ('upper-secondary', '')
    """
    for text in texts:
        plain = unify(text)
        named = [level for level, pattern in _PATTERNS.items() if pattern.search(plain)]
        if "lower-secondary" in named and "junior high school" in plain:
            named = [level for level in named if level != "upper-secondary"]
        if named:
            return named[0] if len(named) == 1 else ""
    return ""
