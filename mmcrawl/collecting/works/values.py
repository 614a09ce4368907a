"""Dates, durations, languages and levels of school, as pages write them."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date

from mmcrawl.text.words import HAN, unify

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
_LEVEL_WORDS = {
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
_LEVELS = {level: re.compile(rf"(?<![a-z])(?:{words})") for level, words in _LEVEL_WORDS.items()}
_OF_TOPICS = {"primary": "primary", "junior": "lower-secondary", "senior": "upper-secondary"}
_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|\d{3}))?(?![a-z])", re.I)
_READ = 20_000  # characters
_LEAST = 40  # letters that tell a language
_SHARE = 0.3  # of a script's characters among the letters
_CHINESE = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")
_OTHER_SCRIPTS = {
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
_COMMON_WORDS = {
    "en": "the and of to is that with this for are was you",
    "de": "der die und das ist nicht ein mit auf für von sich",
    "fr": "le les et des est une que pour dans pas vous sur",
    "es": "el los las que es una con por para del como más",
    "pt": "que não uma com para os as do da você mais são",
    "it": "il di che è non una per con del della sono gli",
    "nl": "de het een van en dat niet zijn voor met ook",
}
_LEAST_WORDS = 8


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
        named = [level for level, pattern in _LEVELS.items() if pattern.search(plain)]
        if "lower-secondary" in named and "junior high school" in plain:
            named = [level for level in named if level != "upper-secondary"]
        if named:
            return named[0] if len(named) == 1 else ""
    return ""


_KANA, _HANGUL = re.compile("[\u3041-\u30ff]"), re.compile("[\uac00-\ud7a3]")


def language_tag(text: str) -> str:
    """Return a declared language as BCP 47 writes it; "" if it is none.

    >>> language_tag("zh_cn"), language_tag("EN"), language_tag("zh-hant-TW"), language_tag("auto")
    ('zh-CN', 'en', 'zh-Hant-TW', '')
    """
    match = _TAG.fullmatch(text.strip().partition(",")[0])
    if match is None:
        return ""
    parts = (match[1].lower(), (match[2] or "").title(), (match[3] or "").upper())
    return "-".join(filter(None, parts))


def language_of_text(text: str) -> str:
    """Return the language that a text is in, without its region; "" where too little tells."""
    text = text[:_READ]
    letters = len(_LETTER.findall(text))
    if letters < _LEAST:
        return ""
    han, kana = len(_CHINESE.findall(text)), len(_KANA.findall(text))
    if kana > 0.1 * letters:
        return "ja"
    if len(_HANGUL.findall(text)) > _SHARE * letters:
        return "ko"
    if han > _SHARE * letters:
        return "zh"
    for language, script in _OTHER_SCRIPTS.items():
        if len(script.findall(text)) > _SHARE * letters:
            return language
    words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
    counts = {
        language: sum(words[word] for word in common.split())
        for language, common in _COMMON_WORDS.items()
    }
    best, second = sorted(counts, key=lambda one: -counts[one])[:2]
    clear = counts[best] >= _LEAST_WORDS and counts[best] > 1.5 * counts[second]
    return best if clear else ""


def language_of(declared: str, text: str) -> str:
    """Return the language of a page: the declared one, unless its text is in another.

    Themes declare English whatever is written with them: text wins, but where it agrees the
    declaration says more (``zh-TW``).
    """
    tag, told = language_tag(declared), language_of_text(text)
    if tag and (not told or tag.partition("-")[0] == told):
        return tag
    return told or tag
