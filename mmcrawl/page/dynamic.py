"""Links that may be media though their address does not tell: ``download.php?id=3``."""

import re
from dataclasses import replace
from email.message import Message
from urllib.parse import urlsplit

from mmcrawl.page.media import media_kind
from mmcrawl.page.model import Link, MediaResource, Page

# Words of an address or an anchor that promise a file rather than a page.
_PROMISE = re.compile(
    r"(?<![a-z])(?:down(?:load)?s?|dl|get_?file|file|attach(?:ment)?|play(?:er)?|stream|media|audio"
    r"|video|movie|mp3|mp4|flash|swf|sound|song|track|listen|watch)(?![a-z])"
    r"|下载|下載|播放|试听|試聽|收听|收聽|观看|觀看|点播|點播|视频|視頻|音频|音頻|录音|錄音|动画|動畫",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|ashx|jspx?|cgi|do|action|pl|cfm)$", re.IGNORECASE)


def may_be_media(link: Link) -> bool:
    """Return whether a link's address hides what it leads to, and its words promise audio or video.

    It has a query, or a script's name; a word such as "download", "play" or 试听 stands in the
    address or the anchor.

    >>> may_be_media(Link("http://h.test/download.php?id=3", "Lesson 3", "a"))
    True
    >>> may_be_media(Link("http://h.test/news.php?id=3", "News", "a"))
    False
    """
    if link.tag not in {"a", "area"}:
        return False
    parts = urlsplit(link.url)
    if not parts.query and not _SCRIPT.search(parts.path):
        return False
    return promises_media(link.anchor, link.url)


def promises_media(anchor: str, *urls: str) -> bool:
    """Return whether the words of a link, or of addresses it leads to, promise audio or video."""
    places = (urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl() for url in urls)
    return bool(_PROMISE.search(" ".join((*places, anchor))))


def kind_by_headers(url: str, content_type: str, disposition: str) -> str | None:
    """Return the media kind that the headers of an answer name, None if they name none.

    Args:
        url: what was asked for.
        content_type: the header ``Content-Type``.
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


def with_dynamic_media(page: Page, kinds: dict[str, str]) -> Page:
    """Return the page with some of its links turned into media.

    Args:
        page: a parsed page.
        kinds: for the URLs of links that are media, of which kind.
    """
    media = tuple(
        MediaResource(link.url, kinds[link.url], link.tag, link.anchor)
        for link in page.links
        if link.url in kinds
    )
    links = tuple(link for link in page.links if link.url not in kinds)
    return replace(page, links=links, media=page.media + media)
