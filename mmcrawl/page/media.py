"""What counts as media, and of which kind: by extension, by MIME type, by the host of an address.

Names tell little about the kind ``image-animation``, since most GIF and WebP pictures stand still.
By name only ``.apng`` is one; others count where the page says so
(`MediaElements.picture_that_moves`), and a collection decides by the fetched bytes
(`mmcrawl.media.magic`).

The table `hosts.tsv` separates items on hosts of films, sounds, simulations and documents from the
channels, searches and home pages there, by their paths. Programs that anyone may run on a host of
their own (H5P, PeerTube, Panopto) are recognised by their paths alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from email.message import Message
from functools import cache
from importlib.resources import files
from urllib.parse import unquote, urlsplit

from mmcrawl.text.media_kinds import (
    ANIMATION,
    AUDIO,
    DOCUMENT,
    IMAGE_ANIMATION,
    PACKAGE,
    SIMULATION,
    VIDEO,
)

# kind -> (extensions, MIME types besides "audio/*" and "video/*")
_TABLE = {
    AUDIO: (
        "mp3 flac wav wma mid midi rm ram ra au aac m4a ogg oga opus aif aiff",
        "application/ogg application/vnd.rn-realmedia application/x-pn-realaudio",
    ),
    VIDEO: (
        "avi mpeg mpg mpe rmvb wmv mov qt asf vob dat m1v m2v divx mp4 m4v flv webm ogv 3gp m3u8"
        " mpd",
        "application/vnd.apple.mpegurl application/x-mpegurl application/vnd.rn-realmedia-vbr "
        "application/vnd.ms-asf application/x-mplayer2 application/mp4 application/dash+xml "
        "audio/mpegurl audio/x-mpegurl",
    ),
    ANIMATION: (
        "swf dcr",
        "application/x-shockwave-flash application/futuresplash application/x-director",
    ),
    SIMULATION: (
        "ggb ggt h5p jnlp cdf nlogo nlogo3d sb2 sb3 pde unity3d wrl x3d",
        "application/vnd.geogebra.file application/vnd.geogebra.tool application/h5p "
        "application/x-java-applet application/x-java-jnlp-file application/vnd.unity "
        "application/x-java-bean application/vnd.wolfram.cdf application/cdf model/vrml",
    ),
    DOCUMENT: (
        "ppt pptx pps ppsx pdf doc docx dps wps odp odt",
        "application/pdf application/vnd.ms-powerpoint application/msword "
        "application/vnd.openxmlformats-officedocument.presentationml.presentation "
        "application/vnd.openxmlformats-officedocument.presentationml.slideshow "
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document "
        "application/vnd.oasis.opendocument.presentation application/vnd.oasis.opendocument.text "
        "application/vnd.ms-works application/kswps application/ksdps",
    ),
    PACKAGE: (
        "zip rar 7z exe msi iso imscc",
        "application/zip application/x-zip-compressed application/vnd.rar "
        "application/x-rar-compressed application/x-rar application/x-7z-compressed "
        "application/x-msdownload application/vnd.microsoft.portable-executable "
        "application/x-iso9660-image application/x-msi application/vnd.ims.imsccv1p1 "
        "application/vnd.ims.imsccv1p2 application/vnd.ims.imsccv1p3",
    ),
    IMAGE_ANIMATION: ("apng", "image/apng"),
}
PLAYED = frozenset({AUDIO, VIDEO, ANIMATION})
"""Kinds of the files that players play, and whose names count wherever a script holds them."""
SHOWN = PLAYED | {SIMULATION, IMAGE_ANIMATION}
"""Kinds of what a page shows, so that a script that names a file of them is likely to show it."""

_EXTENSIONS = {ext: kind for kind, (exts, _) in _TABLE.items() for ext in exts.split()}
_MIME_TYPES = {mime: kind for kind, (_, mimes) in _TABLE.items() for mime in mimes.split()}
# In types a server gives when it does not know, or means to have it saved: the extension decides.
_VAGUE = ("octet-stream", "download", "unknown", "text/plain", "application/binary", "*/*")
_NO_MEDIA = ("image/", "text/", "font/")

_ANY = "*"  # programs that stand on many hosts
_MAY_BE_ANYWHERE = re.compile(
    r"panopto|/videos/|/w/|kaltura|embedIframeJs|entry_?id|mediasite|paella|theodul|/play\?|h5p|hvp"
    r"|/sims/|_simulation\.",
    re.IGNORECASE,
)
# In a frame, what an address on a host that no table has says of itself: it plays …
_PLAYS = re.compile(
    r"video|tube|mediathe|(?<![a-z])vods?(?![a-z])|player(?!s?[/.]?(?:id|stats))|podcast|(?<![a-z])audio|radio"
    r"|(?<![a-z])(?:media|tv|film|movie|clip|episode|stream)s?(?![a-z])",
    re.IGNORECASE,
)
# … it is made to stand in other pages …
_STANDS_IN_PAGES = re.compile(r"embed|iframe|player|external", re.IGNORECASE)
# … it names something …
_NAMES_AN_ITEM = re.compile(
    r"[/=_.:-](?=[\w-]{0,99}\d)[\w-]{5}|[/=][\da-zA-Z-]{8,}(?:[/?&]|$)|=\d+"
)
# … and it is nothing else that pages have in frames.
_NO_PLAYER = re.compile(
    r"(?<![a-z])(?:ads?|adserver|adsystem|maps?|captcha|chat|comments?|calendar|forms?|survey|poll"
    r"|login|likes?|share|follow|tweets?|timeline|post|weather|widgets?/(?:map|weather|chat)|social"
    r"|stats?|analytics|consent|cookie|signup|newsletter|subscribe|banners?|pixel|sync|quiz|donate"
    r"|checkout|pay)(?![a-z])|doubleclick|googlesyndication|advert|disqus|recaptcha|livechat",
    re.IGNORECASE,
)
_LONGEST_EMBED = 2_000
_SOUNDS = re.compile(r"podcast|audio|radio|music|sound", re.IGNORECASE)


def _pattern(kinds: Iterable[str]) -> str:
    names = (ext for ext, kind in _EXTENSIONS.items() if kind in kinds)
    return "|".join(sorted(names, key=len, reverse=True))


EXTENSION_PATTERN = _pattern(SHOWN - {SIMULATION}) + "|ggb|h5p"
"""Extensions that count in scripts; those of the others stand there for much else."""
FILE_PATTERN = _pattern((DOCUMENT, PACKAGE))
"""Extensions that count where a script leads to a file, as a link does."""

ANY_FILE_PATTERN = _pattern(_TABLE)
"""Extensions of all kinds."""

# Of the last part of a path: with "/" in the text the time would be quadratic.
_MEDIA_FILE = re.compile(rf"[^\\]\.({ANY_FILE_PATTERN})\s*(?:;.*)?$", re.IGNORECASE | re.DOTALL)
# What MediaWiki calls its pages about files, in the languages of its largest wikis (its
# languages/messages/Messages*.php, NS_FILE); no file is called so.
_FILE_PAGE = re.compile(
    r"(?:file|image|datei|bild|fichier|archivo|imagen|ficheiro|arquivo|imagem|immagine|bestand"
    r"|afbeelding|plik|grafika|soubor|súbor|fil|tiedosto|kuva|fájl|kép|fișier|imagine|dosya|resim"
    r"|датотека|файл|изображение|зображення|αρχείο|εικόνα|קובץ|תמונה|ملف|صورة|پرونده|تصویر|चित्र"
    r"|ไฟล์|ภาพ|tập[_ ]tin|hình|berkas|gambar|文件|檔案|档案|图像|圖像|ファイル|画像|파일|그림):",
    re.IGNORECASE,
)
_MENTIONS_MEDIA = re.compile(rf"\.(?:{ANY_FILE_PATTERN})\b", re.IGNORECASE)
_LONGEST_VALUE = 8_192
_BANNER_RATIO = 3
# A name of nothing but such words, in any number: "spinning_top.swf" is an animation.
_FRAME_WORDS = "banner|bottom|btn|button|foot(?:er)?|head(?:er)?|logo|menu|nav(?:i|igation)?|top"
_FRAME_NAME = re.compile(
    rf"(?:(?:{_FRAME_WORDS}|bar|flash|home|index|left|main|page|right|site|sub)[\W\d_]*)*", re.I
)
_FRAME_WORD = re.compile(_FRAME_WORDS, re.IGNORECASE)
_SIZE_IN_NAME = re.compile(r"(?<!\d)(\d{2,4})[x×](\d{2,4})(?!\d)", re.IGNORECASE)
_LONGEST_FRAME_NAME = 40
_PLAYER_NAME = re.compile(r"player|vcastr|expressinstall", re.IGNORECASE)


def media_kind(url: str, mime: str | None = None) -> str | None:
    """Return the kind of media, one of `mmcrawl.text.media_kinds.KINDS`, or None when it is none.

    Args:
        url: Absolute or relative; its path decides, without regard to case or percent-encoding.
        mime: A declared media type. It has precedence over the extension unless it is one that
            servers give to anything (``application/octet-stream``, ``application/force-download``,
            ``text/plain``).

    >>> media_kind("http://h.test/a/Lesson%201.MP3?v=2")
    'audio'
    >>> media_kind("http://h.test/play.asp?file=a.mp3") is None
    True
    >>> media_kind("http://h.test/get.php?id=3", "application/x-shockwave-flash")
    'animation'
    """
    if mime:
        mime = mime.partition(";")[0].strip().lower()
        if known := _MIME_TYPES.get(mime):
            return known
        family = mime.partition("/")[0]
        if family in (AUDIO, VIDEO):
            return family
        if mime and not any(word in mime for word in _VAGUE):
            return None
    if not _MENTIONS_MEDIA.search(url) and "%" not in url:
        return None
    return _kind_by_extension(url)


def _kind_by_extension(url: str) -> str | None:
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    name = unquote(path).rpartition("/")[2]
    if is_page_of_file(name):
        return None
    match = _MEDIA_FILE.search(name)
    # "www.abc.net.au" without its scheme is a host name, not a file.
    if match is None or name.lower().startswith("www."):
        return None
    return _EXTENSIONS[match[1].lower()]


def is_page_of_file(name: str) -> bool:
    """Whether a name is that of a wiki's page about a file, not of the file.

    >>> is_page_of_file("File:Lever.webm"), is_page_of_file("wiki:lever.webm")
    (True, False)
    """
    return ":" in name and _FILE_PAGE.match(name) is not None


def is_of_no_media(mime: str | None) -> bool:
    """Whether a declared type is known to be of no kind of media.

    >>> is_of_no_media("image/jpeg"), is_of_no_media("video/mp4"), is_of_no_media("x/y")
    (True, False, False)
    """
    mime = (mime or "").partition(";")[0].strip().lower()
    return mime.startswith(_NO_MEDIA) and mime not in _VAGUE and mime not in _MIME_TYPES


def media_in_values(query: str, kinds: Collection[str] = PLAYED) -> Iterator[str]:
    """Yield the media file names among the values of a query string or a player's variables.

    Args:
        kinds: Only files of these; a player's skin is a package, too.

    Values are split at ``&`` and at the first ``=``, then percent-decoded; those of over 8,192
    characters are data and no names.

    >>> list(media_in_values("skin=a.zip&file=http%3A//h.test/a.mp3&autostart=1"))
    ['http://h.test/a.mp3']
    """
    for pair in query.split("&"):
        _, equals, value = pair.partition("=")
        value = value if equals else pair
        if len(value) > _LONGEST_VALUE:
            continue
        value = unquote(value).strip()
        if value and media_kind(value) in kinds:
            yield value


def is_banner(width: str, height: str) -> bool:
    """Whether an element of this size, in pixels, has the shape of a banner: 3:1 or more.

    >>> is_banner("1000", "105px"), is_banner("550", "400"), is_banner("100%", "90")
    (True, False, False)
    """
    sides = [side.strip().lower().removesuffix("px") for side in (width, height)]
    if not all(side.isdecimal() and len(side) < 6 for side in sides):
        return False
    return int(sides[0]) >= _BANNER_RATIO * int(sides[1]) > 0


def is_frame_of_a_site(url: str) -> bool:
    """Whether the name of an animation says that it is a banner, a menu or a logo.

    >>> is_frame_of_a_site("http://h.test/img/top-flash2.swf")
    True
    >>> is_frame_of_a_site("http://h.test/738x178.swf")
    True
    >>> is_frame_of_a_site("http://h.test/spinning-top.swf")
    False
    """
    name = _stem(url)
    size = _SIZE_IN_NAME.search(name)
    if size is not None and is_banner(size[1], size[2]):
        return True
    if len(name) > _LONGEST_FRAME_NAME or not _FRAME_WORD.search(name):
        return False
    return _FRAME_NAME.fullmatch(name) is not None


def is_player(url: str) -> bool:
    """Whether a Flash file is a program that plays others, by its name.

    >>> is_player("http://h.test/flvplayer.swf?file=a.flv"), is_player("http://h.test/lever.swf")
    (True, False)
    """
    return _PLAYER_NAME.search(_stem(url)) is not None


def _stem(url: str) -> str:
    name = unquote(url.partition("?")[0]).rpartition("/")[2]
    return name.rpartition(".")[0] or name


@cache
def _domains() -> Mapping[str, list[tuple[str, str]]]:
    """Return the table's entry for each domain: a pattern, and the kind of its items."""
    found: dict[str, list[tuple[str, str]]] = {}
    table = files(__package__).joinpath("hosts.tsv")  # also in an egg that stays packed
    for line in table.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, domain, path = line.split("\t")
            found.setdefault(domain, []).append((path, kind))
    return found


@cache
def _items_of(domain: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(path, re.IGNORECASE), kind) for path, kind in _domains()[domain])


def hosted_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of the item that an address names, or None.

    Args:
        host: In lower case, without port.
        path_and_query: From the first slash on.

    >>> hosted_kind("www.youtube.com", "/watch?v=dQw4w9WgXcQ")
    'video'
    >>> hosted_kind("www.youtube.com", "/user/mit") is None
    True
    >>> hosted_kind("h.test", "/h5p/embed/612")
    'simulation'
    """
    domain, known = host, _domains()
    while "." in domain:
        for item, kind in _items_of(domain) if domain in known else ():
            if item.match(path_and_query):
                return kind
        domain = domain.partition(".")[2]
    if _MAY_BE_ANYWHERE.search(path_and_query):
        found = (kind for item, kind in _items_of(_ANY) if item.match(path_and_query))
        return next(found, None)
    return None


def embedded_kind(host: str, path_and_query: str) -> str | None:
    """Return the kind of media that a frame from another host plays, by its address, or None.

    Args:
        host: In lower case, without port; in no table.
        path_and_query: From the first slash on.

    >>> embedded_kind("tube.school.test", "/embed/video/4f2a91")
    'video'
    >>> embedded_kind("maps.school.test", "/embed?pb=12345678") is None
    True
    """
    address = (host + path_and_query)[:_LONGEST_EMBED]
    if not (_STANDS_IN_PAGES.search(address) and _PLAYS.search(address)):
        return None
    if _NO_PLAYER.search(address) or not _NAMES_AN_ITEM.search(path_and_query[:_LONGEST_EMBED]):
        return None
    return AUDIO if _SOUNDS.search(address) else VIDEO


def kind_of_address(address: str) -> str | None:
    """Return the kind of the medium that an address names by its file name or its host, or None."""
    if kind := media_kind(address):
        return kind
    if not address.startswith(("http://", "https://", "//")):
        return None
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    return hosted_kind(host, f"{parts.path}?{parts.query}" if parts.query else parts.path)


def kind_by_headers(url: str, content_type: str, disposition: str) -> str | None:
    """Return the media kind that the headers of an answer name, None if they name none.

    Args:
        disposition: the header ``Content-Disposition``, whose file name decides where the type
            says nothing.
    """
    return media_kind(name_in(disposition) or url, content_type)


def name_in(disposition: str) -> str:
    """Return the file name that a header ``Content-Disposition`` gives, "" for none.

    >>> name_in("attachment; filename=lever.mp4")
    'lever.mp4'
    """
    header = Message()
    header["Content-Disposition"] = disposition
    try:
        return header.get_filename() or ""
    except ValueError:  # filename*=undefined''a: what it says to be encoded in cannot be decoded
        return ""
