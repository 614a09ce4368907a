"""The references of a page as written there, and the media they belong to.

There is one record for each medium that a person sees. Addresses belong to one medium if they are
the same file (:func:`mmcrawl.page.urls.resource_key`), if the page gives them as its formats or
qualities (the sources of one player, the ``sources`` of one item of a playlist, ``contentUrl`` and
``embedUrl``), or if the page shows one medium of a kind and declares one, or declares one in
several vocabularies.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from mmcrawl.page.groups import LinkRun, Mergeable
from mmcrawl.page.media import (
    PLAYED,
    embedded_kind,
    is_frame_of_a_site,
    is_of_no_media,
    is_player,
    media_in_values,
    media_kind,
)
from mmcrawl.page.model import MediaResource
from mmcrawl.page.urls import Resolver, Target, resource_key
from mmcrawl.text.media_kinds import ANIMATION, DOCUMENT, IMAGE_ANIMATION, names_kind

LONGEST_CAPTION = 200
# Elements whose text is a caption of the media that their attributes name.
CAPTIONED = frozenset(
    "a b button dd dt em h1 h2 h3 h4 h5 h6 i label li p span strong summary td th".split()
)

_LINK_TAGS = frozenset({"a", "area", "frame"})
_DECLARED = frozenset({"og", "twitter", "schema", "link"})
_SHOWN = "shown"
_IN_FRAMES = PLAYED | {DOCUMENT}
_PICTURES = (".gif", ".webp")
_FILE_NAME = re.compile(r"[^/\\?:]{0,150}[^\s/\\?:]\.\w{2,6}")
_PROGRAM = re.compile(r"\?|\.(?:php\d?|aspx?|ashx|jspx?|cgi|do|action|pl|cfm)$", re.IGNORECASE)


@dataclass(slots=True)
class Reference:
    """One reference in the source, to a page or to a media file.

    Attributes:
        kind: What it is when neither URL nor type tells: ``<video src="stream?id=3">``.
        medium: What the references to other addresses of one medium have in common; 0 for none.
    """

    href: str  # as written
    tag: str  # as in `Link` and `MediaResource`
    text: str = ""  # the words that come with it
    run: LinkRun | None = None  # the run of links it is in
    nofollow: bool = False  # whether its `rel` asks not to follow it
    mime: str | None = None  # declared type, if any
    file_name: str = ""  # under which a link asks to save what it leads to
    kind: str | None = None
    only_kind: bool = False  # whether `kind` holds whatever the URL says: all in `<audio>` is audio
    may_be_page: bool = False  # whether it is a link to follow when it is no media file
    is_player: bool = False  # whether a file name in a query value is what it plays
    tag_path: str = ""  # as in `Link`
    variables: str = ""  # what is handed to a Flash movie besides its query
    is_banner: bool = False  # whether its element is much wider than high
    medium: int = 0
    is_page: bool = False  # whether the page itself is meant: a simulation that is drawn on it


Resolved = tuple[Reference, Target]


class Captions:
    """Collects the text of open elements, for references that have none."""

    def __init__(self, references: list[Reference]) -> None:
        self._references = references
        self._labels: list[tuple[list[str], list[Reference]]] = []
        self._figures: list[int] = []
        self._figure_text: list[str] | None = None

    def data(self, text: str) -> None:
        """Add text of the page."""
        for pieces, _ in self._labels:
            pieces.append(text)

    def figure_data(self, text: str) -> None:
        """Add text outside links."""
        if self._figure_text is not None:
            self._figure_text.append(text)

    def open_for(self, references: list[Reference]) -> Callable[[], None]:
        """Begin to collect the caption of some references; return a function that ends it."""
        self._labels.append(([], references))
        return self._close

    def _close(self) -> None:
        pieces, references = self._labels.pop()
        _name(references, collapsed(pieces))

    def open_figure(self) -> Callable[[], None]:
        self._figures.append(len(self._references))
        return self._close_figure

    def open_figure_caption(self) -> None:
        if self._figures:
            self._figure_text = []

    def _close_figure(self) -> None:
        start = self._figures.pop()
        if self._figure_text is None:
            return
        caption, self._figure_text = collapsed(self._figure_text), None
        _name(self._references[start:], caption)


def collapsed(pieces: list[str]) -> str:
    """Return pieces of text as one line of at most `LONGEST_CAPTION` characters."""
    return " ".join("".join(pieces).split())[:LONGEST_CAPTION]


def _name(references: list[Reference], text: str) -> None:
    for reference in references:
        reference.text = reference.text or text


def media_resources(
    references: Iterable[Resolved], resolve: Resolver, page_url: str, page_host: str
) -> tuple[MediaResource, ...]:
    """Return what the page plays or links to as a media file, each medium once.

    The first text that any reference to a medium has is the medium's. The page itself is none but
    where it is a simulation, nor is Flash that frames a page: banners, menus, players of others.
    """
    candidates = [
        (reference, target)
        for reference, target in references
        if target.media
        or target.hosted
        or reference.tag not in _LINK_TAGS
        or _is_moving_picture(reference, target)
        or said_kind(reference, target)
    ]
    if not candidates:
        return ()
    media = _Media()
    own_key = resource_key(page_url)
    banners = {target.url for reference, target in candidates if reference.is_banner}
    for reference, target in candidates:
        for url, kind in _media_of(reference, target, resolve, page_host, banners):
            key = resource_key(url)
            if key != own_key or (reference.is_page and not media.shows(kind)):
                media.add(reference, url, key, kind)
    media.join_declared()
    return media.resources()


class _Medium(Mergeable):
    """A medium with what the page has said of it so far.

    Attributes:
        urls: By their keys, in document order.
        sources: What names it: vocabularies of declarations, `_SHOWN`, or "" for links.
        first: The first address at which it is shown, or "".
    """

    __slots__ = ("first", "kind", "number", "sources", "tag", "text", "urls")

    def __init__(self, number: int, kind: str, tag: str) -> None:
        self.number, self.kind, self.tag, self.text, self.first = number, kind, tag, "", ""
        self.merged = None
        self.urls: dict[str, str] = {}
        self.sources: set[str] = set()

    def add(self, reference: Reference, url: str, key: str, *, is_fallback: bool) -> None:
        self.urls.setdefault(key, url)
        # A link inside a player says "download"; it does not say of what.
        if not (is_fallback or self.text):
            self.text = reference.text
        source = _source(reference)
        self.sources.add(source)
        if source == _SHOWN and not self.first:
            self.first = url
            self.tag = reference.tag

    def join(self, other: _Medium) -> None:
        other.merged = self
        for key, url in other.urls.items():
            self.urls.setdefault(key, url)
        if not self.first and other.first:
            self.first, self.tag = other.first, other.tag
        self.text = self.text or other.text
        self.sources |= other.sources

    def resource(self) -> MediaResource:
        urls = list(self.urls.values())
        files = (url for url in urls if media_kind(url))
        first = self.first or (next(files, urls[0]) if self.sources & _DECLARED else urls[0])
        others = tuple(url for url in urls if url != first)
        return MediaResource(first, self.kind, self.tag, self.text, others)


class _Media:
    """The media of one page."""

    def __init__(self) -> None:
        self._all: list[_Medium] = []
        self._by_key: dict[str, _Medium] = {}
        self._by_group: dict[int, _Medium] = {}

    def add(self, reference: Reference, url: str, key: str, kind: str) -> None:
        known = self._known(self._by_key.get(key))
        same = self._known(self._by_group.get(reference.medium))
        is_fallback = reference.medium != 0 and reference.tag in _LINK_TAGS
        if same is not None and is_fallback and same.kind != kind:
            same = None
        if known is not None and same is not None and known is not same:
            known = _joined([known, same])
        medium = known or same
        if medium is None:
            medium = _Medium(len(self._all), kind, reference.tag)
            self._all.append(medium)
        medium.add(reference, url, key, is_fallback=is_fallback)
        self._by_key[key] = medium
        if reference.medium:
            self._by_group.setdefault(reference.medium, medium)

    def shows(self, kind: str) -> bool:
        """Whether a medium of a kind is shown so far."""
        return any(one.kind == kind and _SHOWN in one.sources for one in self._all)

    def join_declared(self) -> None:
        """Join what is shown with what is declared, where there is one of each."""
        by_kind: dict[str, list[_Medium]] = defaultdict(list)
        for one in self._all:
            if one.merged is None and one.sources != {""}:
                by_kind[one.kind].append(one)
        for named in by_kind.values():
            counts = Counter(source for one in named for source in one.sources if source)
            if len(named) > 1 and max(counts.values()) == 1 and counts.keys() & _DECLARED:
                _joined(named)

    def resources(self) -> tuple[MediaResource, ...]:
        return tuple(medium.resource() for medium in self._all if medium.merged is None)

    @staticmethod
    def _known(medium: _Medium | None) -> _Medium | None:
        return None if medium is None else medium.final()


def _joined(media: list[_Medium]) -> _Medium:
    """Merge media into the first of them; return it."""
    first, *others = sorted(media, key=lambda medium: medium.number)
    for other in others:
        first.join(other)
    return first


def _source(reference: Reference) -> str:
    if reference.tag in _DECLARED:
        return reference.tag
    return "" if reference.tag in _LINK_TAGS else _SHOWN


def _media_of(
    reference: Reference, target: Target, resolve: Resolver, page_host: str, banners: set[str]
) -> Iterator[tuple[str, str]]:
    kind = kind_of_reference(reference, target, page_host)
    inner: list[tuple[str, str]] = []
    if reference.is_player and "?" in target.url:
        kinds = _IN_FRAMES if reference.tag == "iframe" else PLAYED
        values = media_in_values(target.url.partition("?")[2], kinds)
        found = (resolve(value) for value in values)
        inner = [(one.url, one.media) for one in found if one is not None and one.media]
    if kind is not None and not (kind == ANIMATION and _is_frame(reference, target, banners)):
        yield target.url, kind
    yield from inner


def _is_frame(reference: Reference, target: Target, banners: set[str]) -> bool:
    """Whether Flash on a page is a banner, a menu, or a player that tells what it plays, if any."""
    if reference.tag in _LINK_TAGS or target.hosted:
        return False
    if is_player(target.url):
        told = (target.url.partition("?")[2], reference.variables)
        variables = "&".join(filter(None, told))
        return not variables or any(media_in_values(variables))
    return target.url in banners or is_frame_of_a_site(target.url)


def _is_moving_picture(reference: Reference, target: Target) -> bool:
    """Whether a link leads to a picture of which its words say that it moves."""
    path = target.url.partition("?")[0].lower()
    return path.endswith(_PICTURES) and names_kind(reference.text, IMAGE_ANIMATION)


def said_kind(reference: Reference, target: Target) -> str | None:
    """Return the kind of medium that a link, not its address, says: by download name or type.

    An anchor that is a file name counts where the address is that of a program.
    """
    if reference.tag not in ("a", "area") or target.media or not target.is_page:
        return None
    if kind := (reference.file_name and media_kind(reference.file_name)):
        return kind
    if reference.mime and (kind := media_kind("", reference.mime)):
        return kind
    is_name = "." in reference.text and _FILE_NAME.fullmatch(reference.text)
    return media_kind(reference.text) if is_name and _PROGRAM.search(target.url) else None


def kind_of_reference(reference: Reference, target: Target, page_host: str) -> str | None:
    """Return the kind of the medium that a reference leads to, None if it leads to none."""
    kind = None if is_of_no_media(reference.mime) else reference.kind
    if reference.only_kind and kind:
        return kind
    if target.hosted and not _is_navigation(reference, target, page_host):
        return target.hosted
    if reference.tag == "iframe" and not target.media and target.host != page_host:
        told = embedded_kind(target.host, target.url.partition(target.host)[2])
        if told is not None:
            return told
    if reference.may_be_page:
        if target.media is None and _is_moving_picture(reference, target):
            return IMAGE_ANIMATION
        return target.media or said_kind(reference, target)
    return target.media or media_kind("", reference.mime) or kind


def _is_navigation(reference: Reference, target: Target, page_host: str) -> bool:
    """On a media host itself the links between its items are its navigation."""
    return reference.tag != "iframe" and reference.may_be_page and target.host == page_host
