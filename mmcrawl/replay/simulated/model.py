"""What a simulated web is made of: pages, their links and media, and how they look."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from mmcrawl.replay.simulated.texts import Lesson


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Group:
    """Links that stand together under a short title."""

    title: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Medium:
    """A media file on a page; `form` tells how the page refers to it, see `markup`."""

    form: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class Style:
    """What pages of one part of a site have in common."""

    design: str  # table, div or html5
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
    extra: str = ""  # HTML put below the text as it is

    def reference(self, url: str) -> str:
        """How this page writes a link: short on old pages, with the host only to other hosts."""
        here, there = urlsplit(self.url), urlsplit(url)
        if here.netloc != there.netloc:
            return url
        path = there.path + (f"?{there.query}" if there.query else "")
        directory = here.path.rpartition("/")[0] + "/"
        short = path.removeprefix(directory)
        if self.style.design == "table" and short and "/" not in short:
            return short
        return path
