"""Media described by scripts, attributes and schema.org: which addresses belong to one medium.

Nothing is executed. Strings are taken with the braces, brackets and keys around them, as far as
these match: ``sources: [{file: "a.webm"}, {file: "a.mp4"}]`` is one medium with two addresses,
``playlist: [{file: "a.mp4"}, {file: "b.mp4"}]`` are two. Attributes of elements that are not
players hold the same for scripts (``data-setup``), or an address (``data-mp3``), or the id of a
film on a host (``data-youtube-id``).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

import re2

from mmcrawl.page.looks import Attributes
from mmcrawl.page.media import kind_of_address
from mmcrawl.page.scripts.literals import flash_movies, media_literals, media_matches
from mmcrawl.page.structured import Declared, Thing
from mmcrawl.text.media_kinds import AUDIO, DOCUMENT, IMAGE_ANIMATION, SIMULATION, VIDEO
from mmcrawl.text.patterns import linear

_TOKEN = linear(
    r""""((?:[^"\\\r\n]|\\.)*+)"|'((?:[^'\\\r\n]|\\.)*+)'"""
    r"""|([A-Za-z_$][\w$]*+)|([\[\]{}():,;])"""
)
_NAME, _MARK = 3, 4  # groups
_ADDRESS = linear(
    r""""((?:http|\\?/\\?/)(?:[^"\\\r\n]|\\.)*+)"|'((?:http|\\?/\\?/)(?:[^'\\\r\n]|\\.)*+)'"""
)
_OPENING, _CLOSING = frozenset("[{("), {"]": "[", "}": "{", ")": "("}
_DEEPEST = 200  # containers
_LONGEST_TITLE = 200
# Keys under which the formats or qualities of one medium stand in an object …
_FORMATS = frozenset(
    """
    mp3 mp4 m4a m4v oga ogg ogv opus wav webm webma webmv flv fla rtmp rtmpv rtmpa m3u8 m3u8a hls
    dash mpd aac flac src url file source video audio path hd sd fhd uhd ld od hq lq high low
    """.split()
)
_QUALITY = re.compile(r"\d{3,4}p?")
# … and those of a list of them.
_ONE_MEDIUM = frozenset(
    """
    sources source src srcs levels quality qualities definition definitions renditions formats
    streams bitrates multisources videosources
    """.split()
)
_TITLES = frozenset("title name caption videotitle songname".split())
# Under these, an address of a host is what is played; elsewhere it may be to share or to follow.
_PLAYS = frozenset(
    """
    src file source video url videourl video_url youtube_url vimeo_url hosted_url embedurl
    embed_url contenturl
    """.split()
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
# What the number of an item looks like on a host, and its address.
_ITEMS = {
    "youtube": (r"[\w-]{11}", "https://www.youtube.com/embed/"),
    "vimeo": (r"\d{5,12}", "https://player.vimeo.com/video/"),
    "bilibili": (r"BV\w{10}", "https://player.bilibili.com/player.html?bvid="),
    "youku": (r"X\w{8,}={0,2}", "https://player.youku.com/embed/"),
    "polyv": (r"\w{32}_\w", "https://player.polyv.net/videos/player.html?vid="),
    "mux": (r"\w{30,60}", "https://player.mux.com/"),
    "wistia": (r"[a-z\d]{10}", "https://fast.wistia.net/embed/iframe/"),
    "dailymotion": (r"[kx][a-z\d]{5,18}", "https://www.dailymotion.com/embed/video/"),
}
_QUOTED, _MAY_BE_QUOTED = """["']""", """["']?"""
_IN_VIMEO = r"Vimeo\.Player\([^;]{0,200}?\bid"
_IN_TENCENT = r"\w{11}", "https://v.qq.com/txp/iframe/player.html?vid="
_IN_GEOGEBRA = r"\w{5,12}", "https://www.geogebra.org/m/"
# Of scripts that call a player: (what must be there, pattern of an item, its address, its kind)
_CALLS = tuple(
    (sign, re.compile(rf"""\b{key}["']?\s*:\s*{quote}({item[0]}){quote}"""), item[1], kind)
    for sign, key, quote, item, kind in (
        ("YT.Player", "videoId", _QUOTED, _ITEMS["youtube"], VIDEO),
        ("Vimeo.Player", _IN_VIMEO, _MAY_BE_QUOTED, _ITEMS["vimeo"], VIDEO),
        ("polyvPlayer", "vid", _QUOTED, _ITEMS["polyv"], VIDEO),
        ("YKU.Player", "vid", _QUOTED, _ITEMS["youku"], VIDEO),
        ("Txplayer", "vid", _QUOTED, _IN_TENCENT, VIDEO),
        ("GGBApplet", "material_id", _QUOTED, _IN_GEOGEBRA, SIMULATION),
    )
)

# Of schema.org.
_SCHEMA_KINDS = {
    "videoobject": VIDEO,
    "audioobject": AUDIO,
    "presentationdigitaldocument": DOCUMENT,
}
_ANY_KIND = "mediaobject"  # the address tells of what kind it is
_NAMED = re2.compile(rb"(?i)(?:video|audio|media)object|presentationdigitaldocument")
_MOST = 20  # addresses of a medium

# Of attributes.
_LONGEST = 100_000
_LONGEST_ADDRESS = 2_000
_LONGEST_NAME = 100  # of an attribute that names anything
# Addresses of what decorates, names or shares a medium rather than being one.
_NO_MEDIUM = re.compile(
    r"share|thumb|poster|image|img|picture|srcset|background|(?:^|-)bg(?:-|$)|jarallax|vide-|cover"
    r"|icon|clipboard|caption|subtitle|track(?:ing|er)|analytics|avatar|logo|preview"
)
_HOSTS = [(host, re.compile(item), address) for host, (item, address) in _ITEMS.items()]
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


@dataclass(frozen=True, slots=True)
class Described:
    """A medium, as a script or an attribute describes it."""

    addresses: tuple[str, ...]  # as written, at least one
    title: str = ""  # what it is called there, "" if nothing says
    kind: str | None = None  # what it is where its address does not tell


@dataclass(slots=True)
class _FoundMedium:
    """A medium being collected: its surroundings may name it, or join it to others."""

    key: str
    addresses: list[str]
    title: str = ""

    @property
    def kind(self) -> str:
        return kind_of_address(self.addresses[0]) or ""

    @property
    def stem(self) -> str:
        return self.addresses[0].partition("?")[0].rpartition(".")[0]


@dataclass(slots=True)
class _Container:
    """An open list, object or call: its key, and its contents."""

    opening: str
    key: str
    at: str = ""
    title: str = ""
    media: list[_FoundMedium] = field(default_factory=list)


def described_media(code: str, *, hosts: bool = False) -> Iterator[Described]:
    """Yield the media that code names, in the order of their first addresses.

    Args:
        code: A script, or JSON.
        hosts: Whether items of media hosts count under any key, as in the data of a player.

    >>> one, two = described_media('p({list: [{file: "a.mp4", title: "A"}, {file: "b.mp4"}]})')
    >>> one.addresses, one.title, two.addresses
    (('a.mp4',), 'A', ('b.mp4',))
    """
    for movie in flash_movies(code):
        yield Described((movie,))
    for sign, pattern, address, kind in _CALLS:
        if sign in code:
            for name in dict.fromkeys(pattern.findall(code)):
                yield Described((address + name,), kind=kind)
    matches = list(media_matches(code))
    is_told = hosts or "sources" in code or "playlist" in code
    if not matches and not (is_told and _names_medium(code)):
        return
    found = _CodeReader(code, matches, hosts=hosts).read()
    order = {address: place for place, (_, address) in enumerate(matches)}
    found.sort(key=lambda one: order.get(one.addresses[0], -1))
    for one in found:
        yield Described(tuple(one.addresses), one.title)


def _names_medium(code: str) -> bool:
    """Whether a string is the address of a medium; most code is rejected without reading it."""
    addresses = (one or other for one, other in _ADDRESS.findall(code))
    return any(kind_of_address(address.replace("\\/", "/")) for address in addresses)


class _CodeReader:
    """Reads code once, token by token."""

    def __init__(self, code: str, matches: list[tuple[int, str]], *, hosts: bool) -> None:
        self._code, self._matches, self._hosts = code, matches, hosts
        self._next = 0
        self._open = [_Container("", "")]
        self._last = ""

    def read(self) -> list[_FoundMedium]:
        for token in _TOKEN.finditer(self._code):
            group = token.lastindex or 0
            if group == _MARK:
                self._take_mark(token[group])
            elif group == _NAME:
                self._last = token[group]
            else:
                self._take_string(token[group], token.start(), token.end())
        while len(self._open) > 1:
            self._close()
        top = self._open[0]
        # What stands in no string that ends, and so in nothing.
        rest = [_FoundMedium("", [address]) for _, address in self._matches[self._next :]]
        return _joined_formats(top.media + rest)

    def _take_mark(self, mark: str) -> None:
        here = self._open[-1]
        if mark in _OPENING:
            key = here.at or self._last
            self._last = ""
            if len(self._open) < _DEEPEST:
                self._open.append(_Container(mark, key.lower()))
        elif mark == ":":
            here.at, self._last = self._last, ""
        elif mark in ",;":
            here.at = self._last = ""
        else:
            # A bracket that closes none is one of a regular expression, or of a stray quote.
            wanted = _CLOSING[mark]
            if any(container.opening == wanted for container in self._open[-3:]):
                while self._open[-1].opening != wanted:
                    self._close()
                self._close()

    def _take_string(self, text: str, start: int, end: int) -> None:
        here = self._open[-1]
        key = (here.at or self._last).lower()
        named = False
        while self._next < len(self._matches) and self._matches[self._next][0] < end:
            place, address = self._matches[self._next]
            self._next += 1
            here.media.append(_FoundMedium(key if place >= start else "", [address]))
            named = True
        if not named and self._is_played(text, key):
            here.media.append(_FoundMedium(key, [text.replace("\\/", "/")]))
        elif key in _TITLES and here.at and not here.title:
            here.title = " ".join(_unescaped(text).split())[:_LONGEST_TITLE]
        self._last = text

    def _is_played(self, text: str, key: str) -> bool:
        if not (key in _PLAYS or self._hosts):
            return False
        address = text.replace("\\/", "/")
        return address.startswith(("http", "//")) and kind_of_address(address) is not None

    def _close(self) -> None:
        closed, here = self._open.pop(), self._open[-1]
        media = closed.media
        if closed.opening == "[" and _is_one_medium(closed):
            media = _joined(media)
        elif closed.opening == "{":
            media = _joined_formats(media)
            if len(media) == 1 and closed.title:
                media[0].title = media[0].title or closed.title
        for one in media:
            one.key = closed.key if closed.opening != "[" else "[]"
        here.media += media
        self._last = ""
        here.at = "" if closed.opening == "(" else here.at


def _is_one_medium(closed: _Container) -> bool:
    if closed.key in _ONE_MEDIUM:
        return True
    # CKplayer's list of lists: address, type, name of the quality.
    return closed.key == "video" and all(one.key == "[]" for one in closed.media)


def _joined(media: list[_FoundMedium]) -> list[_FoundMedium]:
    """Return media with those of one kind made one."""
    kinds: dict[str, _FoundMedium] = {}
    for one in media:
        known = kinds.setdefault(one.kind, one)
        if known is not one:
            known.addresses += one.addresses
            known.title = known.title or one.title
    return list(kinds.values())


def _joined_formats(media: list[_FoundMedium]) -> list[_FoundMedium]:
    """Return media with those made one that are formats of one by their keys or their names."""
    if len(media) < 2:
        return media
    kept: list[_FoundMedium] = []
    known: dict[tuple[str, str], _FoundMedium] = {}
    for one in media:
        is_format = one.key in _FORMATS or _QUALITY.fullmatch(one.key)
        marks = [(one.kind, one.stem)] + [(one.kind, "")] * bool(is_format)
        same = next((known[mark] for mark in marks if mark in known), None)
        if same is None:
            kept.append(one)
        else:
            same.addresses += one.addresses
            same.title = same.title or one.title
        for mark in marks:
            known.setdefault(mark, same or one)
    return kept


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], text)


def declared_media(said: Declared) -> Iterator[tuple[int, Described]]:
    """Yield the media that a page describes, each with its element and its name.

    The name may be that of what has it. Scripts of JSON-LD that are no JSON are searched for
    literal file names instead; their kind is None.
    """
    # Most pages describe no medium, and reading all that they describe takes a tenth of the walk.
    tree = said.tree
    if not tree.encoding.startswith("utf-16") and not _NAMED.search(tree.body):
        return
    for thing, around in said.things:
        if medium := _medium_of(thing, around):
            yield thing.node, medium
    for node, script in said.broken:
        for literal in media_literals(script):
            yield node, Described((literal,))


def _medium_of(thing: Thing, around: tuple[Thing, ...]) -> Described | None:
    kind = next(
        (_SCHEMA_KINDS[name] for name in sorted(thing.types) if name in _SCHEMA_KINDS), None
    )
    if kind is None and _ANY_KIND not in thing.types:
        return None
    # The file before its player.
    found = [
        address
        for address in thing.texts("contenturl", "embedurl")[:_MOST]
        if len(address.split()) == 1 and (kind or kind_of_address(address))
    ]
    names = (one.text("name", "headline") for one in (thing, *reversed(around)))
    name = next(filter(None, names), "")[:_LONGEST_TITLE]
    return Described(tuple(found), name, kind) if found else None


def described_in(tag: str, attributes: Attributes) -> Iterator[Described]:
    """Yield the media that an element's attributes describe.

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
        may_be_medium = may_be_medium and len(name) <= _LONGEST_NAME
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
        yield Described((_ITEMS["wistia"][1] + wistia[1],), kind=VIDEO)
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
        if len(name) <= _LONGEST_NAME and _is_number(name) and len(value := written.strip()) <= 60
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
