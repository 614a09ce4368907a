"""Dates, durations, languages and levels of school, as pages write them."""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from mmcrawl.page.media import ANY_FILE_PATTERN, hosted_kind
from mmcrawl.page.urls import resource_key
from mmcrawl.text.words import HAN, unify

_EXTENSION = re.compile(rf"\.(?:{ANY_FILE_PATTERN})$", re.IGNORECASE)
# Players of one item under several addresses: domain, pattern whose group is the item's name.
_HOSTED = (
    ("youtube.com", r"/(?:watch/?\?(?:.{0,200}&)?v=|(?:embed|v|shorts|live|e)/)([\w-]{11})"),
    ("youtube-nocookie.com", r"/(?:embed|v)/([\w-]{11})"),
    ("youtu.be", r"/([\w-]{11})"),
    ("vimeo.com", r"/(?:video/|moogaloop\.swf\?(?:.{0,200}&)?clip_id=)?(\d+)"),
    ("dailymotion.com", r"/(?:embed/|swf/)?video/(\w+)"),
    ("bilibili.com", r"/(?:s/)?video/(av\d+|BV\w+)"),
    ("bilibili.com", r"/.{0,200}player\.html\?(?:.{0,200}&)?bvid=(BV\w+)"),
    ("bilibili.com", r"/.{0,200}player\.html\?(?:.{0,200}&)?aid=(\d+)"),
    ("youku.com", r"/(?:v_show/id_|embed/|player\.php/(?:\w+/\w+/)*sid/)([\w=]+?)(?:\.html|/|$)"),
    ("archive.org", r"/(?:embed|download|details)/([^/?#]+)/?(?=$|[?#])"),
)
_ITEMS = [(domain, re.compile(pattern)) for domain, pattern in _HOSTED]
_SAME_SITE = {"youtube-nocookie.com": "youtube.com", "youtu.be": "youtube.com"}
# What names a format or quality, at the end of a file's name.
_QUALITY = re.compile(
    r"(?:[-_. ](?:\d{2,4}k(?:b(?:ps)?)?|\d{3,4}p|\d{3,4}x\d{3,4}|64kb|vbr|hd|sd|hq|lq|low|high|mid"
    r"|med|small|large|mobile|ipod|iphone|web|512kb|h264|x264|mp4|mp3|ogg|ogv|webm|mpeg4)){1,9}$",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"(?:audio|video|index|default|movie|file|media|stream|play(?:er|list)?|track|sound|clip|untitled"
    r"|download|master|main|test|sample|\W|_|\d)*",
    re.IGNORECASE,
)
_WORD_BREAK = re.compile(r"[\s_+]+|(?<=\w)-(?=\w)|(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])\.(?=\w)")


# Addresses of services that count downloads and lead on to the file whose address follows.
_COUNTERS = re.compile(
    r"(?:https?://)?(?:www\.|dts\.)?(?:podtrac\.com/(?:pts/)?redirect\.\w+|chtbl\.com/track/\w+"
    r"|media\.blubrry\.com/\w+|pdst\.fm/e|pdcn\.co/e|mgln\.ai/e/\w+|op3\.dev/e)/(?=[\w-]+\.[\w.-]+/)"
)


_COUNTED = re.compile(r"_=\d+(?:\W|%\w\w)*")  # which player of a page asks, as WordPress adds it


@lru_cache(maxsize=16_384)
def work_key(url: str) -> str:
    """Return a key that the addresses of one file or item share.

    Beside :func:`resource_key`, ``www.`` and the ways to write a player's item are left out.

    >>> work_key("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=3") == \
        work_key("//youtu.be/dQw4w9WgXcQ")
    True
    """
    while counter := _COUNTERS.match(url):
        rest = url[counter.end() :]
        url = rest if rest.startswith(("http://", "https://")) else f"http://{rest}"
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("player.")
    except ValueError:
        return url
    rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
    for domain, pattern in _ITEMS:
        if host == domain or host.endswith(f".{domain}"):
            match = pattern.match(rest)
            if match is not None:
                site = _SAME_SITE.get(domain, domain)
                return f"{site}/{match[1].removeprefix('av')}"
    return resource_key(url).removeprefix("www.")


def is_file(url: str) -> bool:
    """Whether an address names a file of media, by its name."""
    return _EXTENSION.search(_path(url)) is not None


def is_hosted(url: str) -> bool:
    """Whether an address is an item on a host of films, sounds or simulations.

    >>> is_hosted("https://youtu.be/dQw4w9WgXcQ"), is_hosted("http://school.test/a.mp4")
    (True, False)
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return (
        hosted_kind(host, f"{parts.path}?{parts.query}" if parts.query else parts.path) is not None
    )


@lru_cache(maxsize=16_384)
def stem_of(url: str) -> tuple[str, str]:
    """Return directory, without scheme and ``www.``, and the name without format and quality.

    Of what is no file of media, both are "".

    >>> stem_of("http://www.h.test/a/L1_300k.mp4")
    ('h.test/a/', 'l1')
    """
    if not is_file(url):
        return "", ""
    key, _, query = work_key(url).partition("?")
    directory, _, name = key.rpartition("/")
    if query and not _COUNTED.fullmatch(query):
        directory = f"{directory}?{query}"  # what it asks for names the work: players, scripts
    name = _EXTENSION.sub("", unquote(name))
    return f"{directory}/", (_QUALITY.sub("", name) or name).lower()


def is_generic(stem: str) -> bool:
    """Whether a file's name says nothing of what is in it: ``video1``, ``index``, ``007``.

    >>> is_generic("track-07"), is_generic("newton-1")
    (True, False)
    """
    return _GENERIC.fullmatch(stem) is not None


def title_of_file(url: str) -> str:
    """Return the name of a file as people would write it; "" for what is no file.

    >>> title_of_file("http://h.test/a/Newtons_first-law.mp4")
    'Newtons first law'
    """
    if not is_file(url):
        return ""
    name = _EXTENSION.sub("", _path(url).rpartition("/")[2])
    if not re.search(r"[\s_-]", name):
        return name
    return " ".join(_WORD_BREAK.sub(" ", _QUALITY.sub("", name) or name).split())


def _path(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""


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
    """Return the date at the beginning of a text, as precise as given; "" for none.

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
    """Return a page's language, as declared (``zh-TW``) unless its text is in another."""
    tag, told = language_tag(declared), language_of_text(text)
    if tag and (not told or tag.partition("-")[0] == told):
        return tag
    return told or tag
