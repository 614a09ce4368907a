"""The parts of a parsed page: plain values, made once and shared by everything that follows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from mmcrawl.page.urls import physical_layer

MOVE = "move"
"""Tag of a link that a browser follows without a click; its tag path has one for each in a row."""

FEED, OEMBED, HREFLANG = "feed", "oembed", "hreflang"
"""What a page names beside itself: a feed or a list of feeds, what is embedded of it, and itself in
another language."""

LISTED = "listed"
"""Tag of a link in a sitemap or a feed."""
IN_SITEMAP, IN_VIDEO_SITEMAP, IN_INDEX = "urlset url", "urlset url video", "sitemapindex sitemap"
IN_FEED, IN_FEED_WITH_MEDIA = "feed entry link", "feed entry enclosure"
IN_OPML, IN_CDX, IN_HREFLANG = "opml outline", "cdx line", "link hreflang"
LISTED_PATHS = (
    IN_SITEMAP, IN_VIDEO_SITEMAP, IN_INDEX, IN_FEED, IN_FEED_WITH_MEDIA, IN_OPML, IN_CDX,
    IN_HREFLANG,
)  # fmt: skip
"""Their tag paths: what names them."""
SAID_TO_HAVE_MEDIA = frozenset({IN_VIDEO_SITEMAP, IN_FEED_WITH_MEDIA})
"""Those of links whose pages have media, as the list says."""
IN_PLAYLIST, SHOWN_PLAYLIST = "playlist entry", "playlist"
"""Tag paths of links to playlists: that a playlist names, and that a page shows as a medium."""

# Words of an address or an anchor that promise a file rather than a page.
_PROMISE = re.compile(
    r"(?<![a-z])(?:down(?:load)?s?|dl|get_?file|file|attach(?:ment)?|play(?:er)?|stream|media|audio"
    r"|video|movie|mp3|mp4|flash|swf|sound|song|track|listen|watch)(?![a-z])"
    r"|下载|下載|播放|试听|試聽|收听|收聽|观看|觀看|点播|點播|视频|視頻|音频|音頻|录音|錄音|动画|動畫",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"\.(?:php\d?|aspx?|ashx|jspx?|cgi|do|action|pl|cfm)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A reference to another page.

    Attributes:
        url: Absolute, http or https, without fragment, safe for a request; not canonicalised.
        anchor: The visible text, else the title or alt of the element or of its image;
            whitespace collapsed, at most 200 characters.
        tag: ``a``, ``area``, ``link``, ``frame``, ``iframe``, ``object``, ``embed``, or
            ``script`` for a literal URL in a ``javascript:`` call, an event attribute or a jump
            menu; ``move`` where a browser goes without a click; ``listed`` for what a sitemap or
            a feed names.
        group: Index into :attr:`Page.groups`, or -1 for a link that is in none (a frame).
        nofollow: Whether every occurrence says ``rel`` nofollow, ugc or sponsored.
        tag_path: The innermost elements it is in and its own, outermost first, separated by
            spaces: ``div#side ul.menu li a``, numbers in names written as 0; at most 8 of them.
        block: Kind of the block it is in (see `mmcrawl.blocks.KINDS`); "" where the page was
            not cut into blocks.
    """

    url: str
    anchor: str
    tag: str
    group: int = -1
    nofollow: bool = False
    tag_path: str = ""
    block: str = ""
    media: tuple[MediaResource, ...] = ()

    def in_block(self, kind: str) -> Link:
        """Return the link as one in a block of a kind."""
        # Of each link of each page: `dataclasses.replace` takes three times as long.
        own = (self.url, self.anchor, self.tag, self.group, self.nofollow, self.tag_path)
        return Link(*own, kind, self.media)

    @property
    def is_listed(self) -> bool:
        """Whether a list of addresses names this URL, no page a person reads."""
        return self.tag == LISTED

    @property
    def is_move(self) -> bool:
        """Whether a browser follows it without a click."""
        return self.tag == MOVE

    @property
    def from_script(self) -> bool:
        """Whether only a script call names this URL; such a link has low weight."""
        return self.tag == "script"


@dataclass(frozen=True, slots=True)
class LinkGroup:
    """A run of links in one table, list, section or division (主题团)."""

    title: str  # the text that names the run (主题团标题), "" when none does
    size: int  # how many of the page's links are in the run


@dataclass(frozen=True, slots=True)
class MediaResource:
    """A medium that the page shows or links to: one record for each that a person sees.

    Attributes:
        url: Absolute. Besides http and https it may be a streaming or ftp URL; that of the page for
            a simulation that is drawn on it.
        kind: One of :data:`mmcrawl.text.media_kinds.KINDS`.
        tag: Where it was found: ``a``, ``area``, ``applet``, ``audio``, ``bgsound``, ``embed``,
            ``iframe``, ``img``, ``object``, ``source``, ``video``; ``og``, ``twitter``, ``schema``
            for what the page declares, ``data`` for an attribute that a script reads, ``script``;
            ``enclosure``, ``sitemap`` or ``playlist`` where a feed, a sitemap or a playlist that
            the page links to says that it has it.
        text: Its own words: the anchor, alt or title text, the caption of the figure around it, or
            what the data that describe it call it.
        others: Further addresses of the same medium: other formats and qualities, its player.
    """

    url: str
    kind: str
    tag: str
    text: str = ""
    others: tuple[str, ...] = ()

    @property
    def is_listed(self) -> bool:
        """Whether it is an entry of a feed or a sitemap, which may be of many subjects."""
        return self.tag in ("enclosure", "sitemap")


@dataclass(frozen=True, slots=True)
class Linking:
    """The link whose response turned out to be a medium."""

    anchor: str = ""  # of the link, "" for none
    urls: tuple[str, ...] = ()  # the addresses that led to it, the one on the linking page first
    url: str = ""  # of the linking page, "" for none: a seed, or what only a list names
    title: str = ""
    score: float = 0.0  # its topic score, in [0, 1); of a seed, what its having been named is worth
    is_elsewhere: bool = False  # another process keeps what was found on that page


@dataclass(frozen=True, slots=True)
class Page:
    """One page, parsed.

    Attributes:
        url: As given to the parser.
        encoding: The Python codec name the body was decoded with; ``utf-8`` for one in UTF-32,
            which is no encoding of the web.
        title, keywords, description: Of the head, whitespace collapsed; at most 2,000 characters
            of each. Keywords are also the tags of posts (``rel=tag``) and those of JSON-LD.
        language: As declared, lower case (``zh-cn``), or "".
        links: Where a browser goes without a click, then those in document order; each URL once,
            without links to the page itself. The first
            occurrence that has an anchor text gives anchor and group.
        groups: The groups that hold at least one of the links.
        media: In document order, each resource once.
        text: The visible text that is neither link text nor script; at most 100,000 characters.
        headings: The text of h1 to h3.
        nofollow, noindex: What the page's robots declaration asks.
        named: What its head and its links name beside it: what it is (:data:`FEED`,
            :data:`OEMBED`, :data:`HREFLANG`) and its address; each once.
        led_by: Of an answer that is a medium itself, what led to it; None for a page.
    """

    url: str
    encoding: str = "utf-8"
    title: str = ""
    keywords: str = ""
    description: str = ""
    language: str = ""
    links: tuple[Link, ...] = ()
    groups: tuple[LinkGroup, ...] = ()
    media: tuple[MediaResource, ...] = ()
    text: str = ""
    headings: str = ""
    nofollow: bool = False
    noindex: bool = False
    named: tuple[tuple[str, str], ...] = ()
    led_by: Linking | None = None

    @property
    def is_listing(self) -> bool:
        """Whether it is a sitemap or a feed: its links are listed ones."""
        return bool(self.links) and self.links[0].is_listed

    @property
    def physical_layer(self) -> int:
        """Number of directories in the URL's path, plus one."""
        return physical_layer(self.url)


def may_be_media(link: Link) -> bool:
    """Return whether a link's address hides what it leads to, and its words promise audio or video.

    It has a query, or a script's name; a word such as "download", "play" or 试听 is in the
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


def with_dynamic_media(page: Page, kinds: dict[str, str]) -> Page:
    """Return the page with links turned into media, by the kinds of their URLs."""
    media = tuple(
        MediaResource(link.url, kinds[link.url], link.tag, link.anchor)
        for link in page.links
        if link.url in kinds
    )
    links = tuple(link for link in page.links if link.url not in kinds)
    return replace(page, links=links, media=page.media + media)
