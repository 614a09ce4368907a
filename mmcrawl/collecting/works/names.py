"""Names of media: what addresses of one work have in common, and names of files as titles."""

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from mmcrawl.page.media import ANY_FILE_PATTERN
from mmcrawl.page.urls import resource_key

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
    """Return what the addresses of one file or item have in common.

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
