"""What the demo web is made of: its parameters, pages, their links and media, and their designs."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from mmcrawl.page.urls import joined_url
from mmcrawl.replay.demo.texts import Lesson


@dataclass(frozen=True, slots=True)
class DemoConfig:
    """The few numbers that make one demo web differ from another.

    The same numbers give the same bytes, on every machine.
    """

    seed: int = 2009
    """Chooses texts, links and which pages hold media."""

    size: float = 1.0
    """Factor of the number of pages in every directory; > 0. 1 gives some 460 pages."""

    media_share: float = 0.8
    """Share of pages that hold media in the directories kept for it, 0..1."""

    stray_share: float = 0.06
    """Share of pages that hold media in the other directories on the topic, 0..1.

    The closer to `media_share`, the less does knowing a directory help.
    """

    tunnel: int = 3
    """Pages off the topic between the front page and the directory of videos, 0..8."""

    def __post_init__(self) -> None:
        shares = (self.media_share, self.stray_share)
        if not all(0 <= share <= 1 for share in shares):
            raise ValueError("media_share and stray_share lie between 0 and 1")
        if not 0 < self.size < float("inf"):
            raise ValueError("size is a factor greater than 0")
        if not 0 <= self.tunnel <= 8:
            raise ValueError("tunnel lies between 0 and 8")


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Group:
    """Links that stand together under a short title."""

    title: str
    links: tuple[Link, ...]


def links_of(root: str, *pairs: tuple[str, str]) -> tuple[Link, ...]:
    """Links from pairs of address, as seen from `root`, and anchor."""
    return tuple(Link(joined_url(root, address), anchor) for address, anchor in pairs)


@dataclass(frozen=True, slots=True)
class Medium:
    """A media file on a page; `form` tells how the page refers to it, see `embedding`."""

    form: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Style:
    """What pages of one part of a site have in common."""

    dress: str  # the layout: table, div or html5
    language: str
    site: str
    nav: tuple[Link, ...]
    charset: str = "utf-8"  # what the bytes are in
    declared: str = "utf-8"  # what the page says they are in
    banner_swf: str = ""  # the path of an animation above every page


@dataclass(frozen=True, slots=True)
class Page:
    """A page before it is written out.

    It speaks of `lesson`, or else of the subject `prose`; of nothing if it has neither.
    """

    url: str
    title: str
    style: Style
    lesson: Lesson | None = None
    prose: str = ""
    keywords: tuple[str, ...] = ()  # of a page that is about no lesson
    sentences: int = 8
    groups: tuple[Group, ...] = ()
    media: tuple[Medium, ...] = ()
    relevant: bool = False
    session: str = ""  # the name of the session id its own directory's links carry
    robots: str = ""
    extra: str = ""  # HTML put below the text as it is
    frames: tuple[Link, ...] = ()  # makes it a frameset

    def reference(self, url: str) -> str:
        """How this page writes a link: short on old pages, with the host only to other hosts."""
        here, there = urlsplit(self.url), urlsplit(url)
        if here.netloc != there.netloc:
            return url
        path = there.path + (f"?{there.query}" if there.query else "")
        directory = here.path.rpartition("/")[0] + "/"
        short = path.removeprefix(directory)
        if self.style.dress == "table" and short and "/" not in short:
            return short
        return path
