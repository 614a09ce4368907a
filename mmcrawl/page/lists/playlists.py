"""Playlists of old players that name media: M3U, PLS, ASX, RAM, XSPF, SMIL and the like.

A response is recognised by its beginning, or by name or type if it is text. HLS and DASH manifests
do not count: they name the pieces of one medium.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from mmcrawl.errors import ListingError
from mmcrawl.page.html.encoding import decode_page
from mmcrawl.page.lists.listings import caption, merged
from mmcrawl.page.lists.xml_entries import Entry, xml_entries
from mmcrawl.page.model import IN_PLAYLIST, Link, MediaResource, Page
from mmcrawl.page.urls import Resolver, absolute_url
from mmcrawl.text.media_kinds import AUDIO, VIDEO
from mmcrawl.text.patterns import linear

_MOST = 10_000  # entries
_NAME = re.compile(r"\.(?:m3u|pls|wax|xspf|ram|rpm|b4s|asx|w[mv]x|wpl|smil?|qtl)\Z", re.IGNORECASE)
_FILMS = re.compile(r"\.(?:asx|w[mv]x|wpl|smil?|qtl)\b|\bvideo/|<(?:asx|smil)\b", re.IGNORECASE)
_TYPES = re.compile(
    r"(?:audio|video|application)/(?:x-)?(?:(?:vnd\.apple\.)?mpegurl|scpls|pls\+xml|xspf\+xml"
    r"|ms-(?:asf|asx|wax|wvx|wmx)|vnd\.ms-(?:asf|wpl)|mplayer2|pn-realaudio(?:-plugin)?"
    r"|smil(?:\+xml)?|quicktime-?media-?link)\Z"
)
_BEGIN = linear(
    rb"#EXTM3U|\[(?:playlist|reference)\]"
    rb"|(?:<[?!][^<>]*+>\s*+)*+<(?:asx|smil|winampxml|playlist\s[^<>]{0,500}?xspf)\b",
    re.IGNORECASE,
)
_IS_OTHER = re.compile(
    rb"^#EXT-X-|[\0-\x08\x0e-\x1a\x1c-\x1f]|<(?:!doctype\s+html|html|script|table|div|form|h1|mpd)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NO_MEDIUM = re.compile(r"\.(?:[sx]?html?|txt|css|jpe?g|gif|png|xml)(?:\?|\Z)", re.IGNORECASE)
_FILE = re.compile(r"\Afile:(?!/)", re.IGNORECASE)  # RealPlayer: in the folder of the playlist
_ADDRESS = re.compile(r"\S*[./?:]\S*")
_ENTRIES = frozenset("entry entryref track audio video media animation embed".split())
_NAMED = _ENTRIES | {"ref", "location"}
_PLACES = ("href", "src", "playstring")
_SAID = linear(r"#EXTINF:\s*+(-?[\d.]++)(?:[^\",]++|\"[^\"]*+\")*+,(.*)", re.IGNORECASE)
_NUMBERED = re.compile(r"(file|ref|title|length)(\d{1,6})\s*=(.*)", re.IGNORECASE)
_CLOCK = re.compile(r"(?:00?:)?0?(\d+(?::\d\d?)*)(?:\.\d+)?s?")


class _Entry(NamedTuple):
    addresses: list[str]
    title: str = ""
    duration: str = ""
    kind: str | None = None
    is_list: bool = False


def may_be_playlist(url: str, declared: str = "") -> bool:
    """Return whether an answer may be a playlist, by its address or its media type."""
    said = declared.partition(";")[0].strip().lower()
    return bool(_NAME.search(url.partition("?")[0]) or _TYPES.match(said))


def is_playlist(head: bytes, url: str, declared: str) -> bool:
    """Return whether an answer is a playlist, by its first kilobyte too."""
    head = head[:1024].removeprefix(b"\xef\xbb\xbf")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = head.decode("utf-16", "replace").encode("utf-8", "replace")
    head = head.lstrip()
    is_text = bool(head) and not _IS_OTHER.search(head)
    return is_text and (may_be_playlist(url, declared) or _BEGIN.match(head) is not None)


def read_playlist(body: bytes, url: str, declared: str = "", anchor: str = "") -> Page:
    """Return a playlist as a page: its media, and as links the playlists it names.

    Entries without a title take `anchor`, of the link to it. A ListingError if it names nothing.
    """
    encoding, utf8 = decode_page(body, declared)
    text = utf8.decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
    path, resolve = url.partition("?")[0], Resolver(url, "utf-8")
    films = _FILMS.search(f"{path} {declared} {text[:200]}") and not path.endswith(".wax")
    media: list[tuple[MediaResource, ...]] = []
    links: dict[str, Link] = {}
    for entry in islice(_of_xml(body) if text.startswith("<") else _of_lines(text), _MOST):
        title = " ".join(entry.title.split()) or anchor
        named = []
        for written in entry.addresses:
            target = resolve(_FILE.sub("", written.strip()) or "#")
            if target is None or target.url == url or _NO_MEDIUM.search(target.url):
                continue
            kind = target.hosted or target.media or entry.kind
            if entry.is_list or may_be_playlist(target.url):
                links[target.url] = Link(target.url, title[:200], "a", tag_path=IN_PLAYLIST)
            elif kind or _ADDRESS.fullmatch(written.strip()):
                kind = kind or (VIDEO if films else AUDIO)
                words = caption(title, entry.duration, "")
                named.append(MediaResource(target.url, kind, "playlist", words))
        media.append(tuple(named))
    if not links and not any(media):
        raise ListingError("the playlist names no media")
    return Page(url, encoding, media=merged(media), links=tuple(links.values()))


def _of_lines(text: str) -> Iterator[_Entry]:
    """Yield the entries of M3U, RAM and PLS, and of ASX as it was before XML."""
    numbered: dict[str, dict[str, str]] = {}
    duration = title = ""
    for line in map(str.strip, text.partition("\n--stop--")[0].splitlines()):
        if field := _NUMBERED.match(line):
            numbered.setdefault(field[2], {})[field[1].lower()] = field[3]
        elif said := _SAID.match(line):
            duration, title = said.groups()
        elif line and not line.startswith("#") and not text.startswith("["):
            yield _Entry([line.removeprefix("ASF ")], title, _clock(duration))
            duration = title = ""
    for one in numbered.values():
        address = one.get("file") or one.get("ref", "")
        yield _Entry([address], one.get("title", ""), _clock(one.get("length", "")))


def _of_xml(body: bytes) -> Iterator[_Entry]:
    """Yield the entries of ASX, XSPF, SMIL and lists of Windows Media Player and Winamp."""
    base = ""
    for entry in xml_entries(body, _ENTRIES, _NAMED | {"base", "meta"}):
        said = entry.attributes
        if entry.name == "base" or said.get("name", "").lower() == "base":
            base = said.get("href") or said.get("content", "")
        named = [one for one in (entry, *entry.walk()) if one.name in _NAMED]
        written = [one.attributes.get(name) for one in named for name in _PLACES]
        written += [one.text for one in named if one.name == "location"]
        urls = [(absolute_url(base, one) if base else None) or one for one in written if one]
        title = entry.first("title", "name") or said.get("title") or said.get("alt", "")
        kind = {"audio": AUDIO, "video": VIDEO}.get(entry.name)
        yield _Entry(urls, title, _duration(entry), kind, entry.name == "entryref")


def _duration(entry: Entry) -> str:
    """Return the duration of an entry: XSPF and Winamp write milliseconds."""
    said = entry.first("duration", "length")[:12]
    values = (one.attributes.get("value", "") for one in entry.all("duration"))
    written = str(int(said) // 1_000) if said.isdecimal() else next(values, "")
    return _clock(written or entry.attributes.get("dur", ""))


def _clock(written: str) -> str:
    """Return seconds, or hours, minutes and seconds, as `caption` has them; "" for none."""
    clock = _CLOCK.fullmatch(written.strip())
    return clock[1] if clock and clock[1].strip("0:") else ""
