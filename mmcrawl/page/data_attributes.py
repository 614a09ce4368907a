"""Media that stand in attributes of elements that are no players by themselves.

Scripts read them: ``data-video-url``, ``data-mp3``, the sources in ``data-setup``, the number of a
film in ``data-youtube-id``.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from mmcrawl.page.described import Described, described_media, kind_of_address
from mmcrawl.page.looks import Attributes
from mmcrawl.text.media_kinds import AUDIO, IMAGE_ANIMATION, VIDEO

_LONGEST = 100_000
_LONGEST_ADDRESS = 2_000
# Addresses of what decorates, names or shares a medium rather than being one.
_NO_MEDIUM = re.compile(
    r"share|thumb|poster|image|img|picture|srcset|background|(?:^|-)bg(?:-|$)|jarallax|vide-|cover"
    r"|icon|clipboard|caption|subtitle|track(?:ing|er)|analytics|avatar|logo|preview"
)
_YOUTUBE, _VIMEO = "https://www.youtube.com/embed/", "https://player.vimeo.com/video/"
_BILIBILI = "https://player.bilibili.com/player.html?bvid="
# Who shows it, what an item's number looks like, and its address.
_HOSTS = (
    ("youtube", re.compile(r"[\w-]{11}"), _YOUTUBE),
    ("vimeo", re.compile(r"\d{5,12}"), _VIMEO),
    ("bilibili", re.compile(r"BV\w{10}"), _BILIBILI),
    ("youku", re.compile(r"X\w{8,}={0,2}"), "https://player.youku.com/embed/"),
    ("polyv", re.compile(r"\w{32}_\w"), "https://player.polyv.net/videos/player.html?vid="),
    ("mux", re.compile(r"\w{30,60}"), "https://player.mux.com/"),
    ("wistia", re.compile(r"[a-z\d]{10}"), "https://fast.wistia.net/embed/iframe/"),
    ("dailymotion", re.compile(r"[kx][a-z\d]{5,18}"), "https://www.dailymotion.com/embed/video/"),
)
_NUMBER = re.compile(
    r"(?:data-)?(?:plyr-)?(?:youtube|yt|vimeo|bilibili|youku|polyv)?-?"
    r"(?:video|embed|media|playback)?-?(?:id|vid|code|embed|bvid)?"
)
_FILM_NUMBERS = ("videoid", "video-id")
_WISTIA = re.compile(r"(?:^|\s)wistia_async_(\w{10})\b")
_MOVING = {"data-gif": "", "data-gifffer": "", "rel:animated_src": "", "data-animated-src": ""}
_METING = {
    "netease": "https://music.163.com/song?id=",
    "tencent": "https://y.qq.com/n/ryqq/songDetail/",
    "kugou": "https://www.kugou.com/song/",
}


def described_in(tag: str, attributes: Attributes) -> Iterator[Described]:
    """Yield the media that an element's attributes describe.

    Args:
        tag: Its name, lower case.
        attributes: As written.

    >>> [d.addresses for d in described_in("li", {"data-mp3": "a.mp3", "data-id": "7"})]
    [('a.mp3',)]
    >>> [d.addresses for d in described_in("ruffle-embed", {"src": "q.swf"})]
    [('q.swf',)]
    >>> [d.addresses for d in described_in("div", {"data-vimeo-id": "19231868"})]
    [('https://player.vimeo.com/video/19231868',)]
    """
    plain: list[str] = []
    # A custom element has a dash in its name, and any attributes.
    is_custom = "-" in tag and not _NO_MEDIUM.search(tag)
    for name, written in attributes.items():
        may_be_medium = is_custom or name.startswith("data-")
        if not may_be_medium or len(written) > _LONGEST or _is_no_medium(name):
            continue
        value = written.strip(" \t\r\n'")  # a string, where a script reads it
        if value.startswith(("{", "[")):
            yield from described_media(value, hosts=True)
        elif len(value) <= _LONGEST_ADDRESS and kind_of_address(value):
            plain.append(value)
    plain.sort(key=lambda one: kind_of_address(one) or "")
    for _, same in groupby(plain, key=kind_of_address):
        yield Described(tuple(same))
    yield from _moving_pictures(attributes)
    yield from _numbered(tag, attributes)


# The names of attributes are few: the same ones stand on all pages of a site.
@lru_cache(maxsize=1024)
def _is_no_medium(name: str) -> bool:
    return _NO_MEDIUM.search(name) is not None


@lru_cache(maxsize=1024)
def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None


def _moving_pictures(attributes: Attributes) -> Iterator[Described]:
    """Yield pictures that a script sets in motion; their name tells only that they are pictures."""
    for name in _MOVING:
        if value := attributes.get(name, "").strip():
            yield Described((value,), attributes.get(f"{name}-alt", ""), IMAGE_ANIMATION)


def _numbered(tag: str, attributes: Attributes) -> Iterator[Described]:
    """Yield films and songs that are named by their numbers on a host."""
    classes = attributes.get("class", "")
    if wistia := _WISTIA.search(classes):
        yield Described((f"https://fast.wistia.net/embed/iframe/{wistia[1]}",), kind=VIDEO)
    if account := attributes.get("data-account", ""):
        yield from _brightcove(account, attributes)
    elif tag == "meting-js" or "meting" in classes:
        yield from _song(attributes)
    else:
        yield from _film(tag, classes, attributes)


def _film(tag: str, classes: str, attributes: Attributes) -> Iterator[Described]:
    numbers = [
        (name, value)
        for name, written in attributes.items()
        if _is_number(name) and len(value := written.strip()) <= 60
        if name.startswith("data-") or ("-" in tag and name != "id") or name in _FILM_NUMBERS
    ]
    if not numbers:
        return
    said = [f"{tag} {classes.lower()}"]
    said += [
        f"{name} {value.lower() if len(value) < 20 else ''}"
        for name, value in attributes.items()
        if name.startswith("data-") and ("provider" in name or "type" in name or "source" in name)
    ]
    for name, value in numbers:
        about = " ".join([name.replace("-yt-", "-youtube-"), *said])
        for host, number, address in _HOSTS:
            if host in about and number.fullmatch(value):
                yield Described((address + value,), kind=VIDEO)
                return


def _brightcove(account: str, attributes: Attributes) -> Iterator[Described]:
    if video := attributes.get("data-video-id", "").strip():
        player = attributes.get("data-player", "default")
        embed = attributes.get("data-embed", "default")
        address = f"https://players.brightcove.net/{account}/{player}_{embed}/index.html"
        yield Described((f"{address}?videoId={video}",), kind=VIDEO)


def _song(attributes: Attributes) -> Iterator[Described]:
    def said(name: str) -> str:
        return attributes.get(name) or attributes.get(f"data-{name}", "")

    address = _METING.get(said("server"))
    if address and said("type") == "song" and re.fullmatch(r"\w{1,20}", said("id")):
        yield Described((address + said("id"),), said("name"), AUDIO)
