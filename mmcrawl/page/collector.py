"""One walk over the tree of a page: its references, and what it says of itself.

The walk visits the nodes in document order. It reads attributes only of elements whose tag has a
meaning here, or whose start tag mentions an attribute that counts on any element.
"""

import re
from collections import defaultdict
from collections.abc import Callable

import numpy as np

from mmcrawl.page.described import Described, declared_media
from mmcrawl.page.groups import CONTAINERS, RUN_BREAKS, TITLE_TAGS, GroupTracker, Line, TagPaths
from mmcrawl.page.html.building import TEXT
from mmcrawl.page.looks import PLAIN, STYLED_ATTRIBUTES, STYLED_TAGS, Attributes, look_of
from mmcrawl.page.media import media_kind
from mmcrawl.page.model import FEED, HREFLANG, OEMBED
from mmcrawl.page.players import Closer, MediaElements, SimulationSigns
from mmcrawl.page.references import CAPTIONED, LONGEST_CAPTION, Captions, Reference
from mmcrawl.page.scripts.literals import looks_like_url, page_literals
from mmcrawl.page.scripts.moves import Moves
from mmcrawl.page.structured import Declared, meta_of
from mmcrawl.text.media_kinds import AUDIO, VIDEO

LONGEST_ANCHOR = LONGEST_CAPTION

_BLOCKS = (
    CONTAINERS
    | TITLE_TAGS
    | frozenset(
        """
        address audio blockquote body br caption center dd details dialog figcaption figure form
        frameset hr html iframe li object option optgroup p pre select tbody td tfoot thead title tr
        video
        """.split()
    )
)
_HEADINGS = frozenset({"h1", "h2", "h3"})
_MUTED = ("noscript", "svg", "template")
_NOTED_ATTRIBUTES = STYLED_ATTRIBUTES | {"onclick", "onload"}
# What begins the names of attributes that tell scripts what to play.
_DATA = re.compile("^(?:data-|video-?id|rel:animated|server)", re.MULTILINE)
# In the start tags of all that have one of either.
_COUNTS = (
    b"style", b"bgcolor", b"onclick", b"onload", b"data-", b"video-id", b"videoid", b"rel:animated",
    b"server", b"wistia_async_",
)  # fmt: skip
_NO_ATTRIBUTES: Attributes = {}
_WISTIA = "wistia_async_"
# Boxes of Facebook and Google, which are given the page that they are about.
_PLUGIN = re.compile(r"(?<!\S)(?:fb|g)-")
_NOT_FOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
_RELATIONS = frozenset("next prev previous first last start contents chapter section".split())
_FILE_RELATIONS = frozenset({"alternate", "enclosure", "preload"})  # if their type is of media
_OF_FEED = re.compile(r"application/(?:(?:rss|atom)\+xml|feed\+json)|text/x-opml")
_OWN_RELATIONS = frozenset({"canonical", "stylesheet"})
_MEDIA_RELATIONS = ("video_src", VIDEO), ("audio_src", AUDIO), ("video", VIDEO), ("audio", AUDIO)
# An onclick on these is for something inside them; their text is no anchor.
_WIDE = frozenset("body div form html table tbody".split())


class _OpenLink:
    """An element whose text is the anchor of the references it makes."""

    __slots__ = ("fallback", "pieces", "references")

    def __init__(self, references: list[Reference], fallback: str) -> None:
        self.references = references
        self.fallback = fallback
        self.pieces: list[str] = []


class PageCollector:
    """Collects what a page says and refers to; read one tree, or several in turn.

    Attributes:
        references: In document order.
        relations: What the head names as next page, previous page, contents and the like.
        named: What it names beside the page, as :attr:`Page.named` has it, but as written.
        text, headings: Pieces to be joined.
        captions: Names references by the text around them.
        media: Notes players and media files among the references.
        moves: Notes what moves a browser.
        fallbacks: Pages within the page: for browsers without plug-ins, which a crawler is, and
            documents that are written into frames.
    """

    def __init__(self) -> None:
        self.references: list[Reference] = []
        self.relations: list[Reference] = []
        self.named: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.headings: list[str] = []
        self.fallbacks: list[str] = []
        self._groups = GroupTracker()
        self.media = MediaElements(self.references)
        self.moves = Moves()
        # What is to be done where elements end: the first node behind each, innermost last.
        self._closers: list[tuple[int, Closer]] = []
        self._looks = [PLAIN]
        self._line: list[str] = []
        self._line_look = PLAIN
        self._line_has_links = False
        self._links: list[_OpenLink] = []
        self.simulation = SimulationSigns()
        self.captions = Captions(self.references)
        self._declared: defaultdict[int, list[Described]] = defaultdict(list)
        self._jump_menu = False
        self._in_title = self._in_heading = self._muted = 0

    def read(self, said: Declared) -> None:
        """Walk over a page, given what it declares."""
        tree = self._tree = said.tree
        self._paths = TagPaths(tree)
        closers, after, link_ends = self._closers, tree.after, tree.link_ends
        texts = iter(tree.texts)
        self._declared = defaultdict(list)
        for node, described in declared_media(said):
            self._declared[node].append(described)
        counting = {*tree.mentioning(*_COUNTS), *self._declared}
        # Where a line of text ends: a block begins or has ended there.
        breaks = np.append(tree.having(_BLOCKS), False)
        breaks[np.asarray(after)[breaks[:-1]]] = True
        tags = tree.tags[:-1] if tree.is_cut_off else tree.tags
        for node, (tag, spaced, is_break) in enumerate(zip(tags, tree.spaced, breaks.tobytes())):  # noqa: B905
            if is_break:
                self._end_line()
            while closers and closers[-1][0] <= node:
                closers.pop()[1]()
            if tag == TEXT:
                self._take_text(f" {next(texts)}" if spaced else next(texts))
                continue
            opener, is_read = _ELEMENTS.get(tag, _UNKNOWN)
            counts = node in counting or "-" in tag
            if opener or counts:
                self._node, self._after = node, link_ends.get(node) or after[node]
                self._open_element(tag, opener, is_read, counts)
        if breaks[-1]:
            self._end_line()
        while closers:
            closers.pop()[1]()

    def _open_element(self, tag: str, opener: "Opener | None", is_read: bool, counts: bool) -> None:
        attributes = self._tree.attributes(self._node) if counts or is_read else _NO_ATTRIBUTES
        if counts:
            self._note_attributes(tag, attributes)
        if opener is not None and (closer := opener(self, tag, attributes)) is not None:
            self._when_closed(closer)

    def _take_text(self, text: str) -> None:
        self.captions.data(text)
        if self._links:
            self._links[-1].pieces.append(text)
            if text[:1] == " ":
                self.text.append(" ")
            if self._muted or not (self._in_title or self._in_heading):
                return
        elif self._muted:
            return
        else:
            self.text.append(text)
        if self._in_heading:
            self.headings.append(text)
        self.captions.figure_data(text)
        if not self._line:
            if text.isspace():
                return
            self._line_look = self._looks[-1]
        self._line.append(text)

    # -- blocks, lines and looks

    def _when_closed(self, closer: Closer) -> None:
        closers, after = self._closers, self._after
        if not closers or closers[-1][0] >= after:
            closers.append((after, closer))
            return
        place = len(closers)
        while place and closers[place - 1][0] < after:  # a link that ends before it
            place -= 1
        closers.insert(place, (after, closer))

    def _open_container(self, tag: str, attributes: Attributes) -> Closer:
        self._groups.open_container(tag, self._looks[-1])
        return self._groups.close_container

    def _open_title(self, tag: str, attributes: Attributes) -> Closer:
        if tag in RUN_BREAKS:
            self._groups.break_run()
        if tag in STYLED_TAGS:
            self._open_styled(tag, attributes)
        if tag in _HEADINGS:
            self._in_heading += 1
            self._when_closed(self._close_heading)
        self._in_title += 1
        return self._close_title

    def _close_title(self) -> None:
        self._in_title -= 1

    def _close_heading(self) -> None:
        self._in_heading -= 1
        self.headings.append(" ")

    def _end_line(self) -> None:
        if not (self._line or self._links or self._line_has_links):
            return
        if self._links:
            self._links[-1].pieces.append(" ")
        if self._line:
            self.text.append(" ")
            alone = not self._line_has_links or self._in_title > 0
            self._groups.add_line(self._line_so_far(alone) if alone else None)
            self._line = []
        self._line_has_links = False

    def _line_so_far(self, alone: bool) -> Line | None:
        return Line.of(" ".join("".join(self._line).split()), self._line_look, alone)

    def _note_attributes(self, tag: str, attributes: Attributes) -> None:
        """Handle attributes that count on any element, before those that count for its tag."""
        for described in self._declared.get(self._node, ()):
            self.media.declared(described)
        if not _NOTED_ATTRIBUTES.isdisjoint(attributes):
            self._note_events(tag, attributes)
        if attributes and ("-" in tag or _tells_scripts(attributes)):
            self._note_data(tag, attributes)

    def _note_events(self, tag: str, attributes: Attributes) -> None:
        if tag not in STYLED_TAGS and not STYLED_ATTRIBUTES.isdisjoint(attributes):
            self._open_styled(tag, attributes)
        if "onclick" in attributes and tag not in ("a", "area"):
            self._open_clickable(tag, attributes)
        if "onload" in attributes:
            self.moves.event(attributes)

    def _note_data(self, tag: str, attributes: Attributes) -> None:
        references = self.media.data(tag, attributes)
        if references and tag in CAPTIONED:
            self._when_closed(self.captions.open_for(references))
        page = attributes.get("data-href", "")
        is_link = "href" not in attributes and not _PLUGIN.search(attributes.get("class", ""))
        if page and is_link and looks_like_url(page, navigates=True):
            link = [Reference(page, "script", may_be_page=True)]
            if tag in _WIDE:
                self._add_references(link)
            else:
                self._when_closed(self._open_references(link, attributes))

    def _take_relation(self, tag: str, attributes: Attributes) -> None:
        """Handle the next or previous page, or a medium that more than its address tells."""
        href, relations = attributes.get("href", ""), attributes.get("rel", "").lower().split()
        if href.strip() and _OWN_RELATIONS.isdisjoint(relations):
            if names_feed(said := attributes.get("type", "").lower()):
                self.named.append((FEED, href))
            elif "json+oembed" in said:
                self.named.append((OEMBED, href))
            elif "hreflang" in attributes:
                self.named.append((HREFLANG, href))
        if not _RELATIONS.isdisjoint(relations):
            self.relations.append(Reference(href, tag, may_be_page=True))
            return
        if "preload" in relations:
            relations.append(attributes.get("as", "").lower())
        kind = next((k for name, k in _MEDIA_RELATIONS if name in relations), None)
        mime = attributes.get("type")
        is_file = not _FILE_RELATIONS.isdisjoint(relations) and media_kind("", mime) is not None
        if href.strip() and (kind or is_file):
            text = attributes.get("title", "")
            self.relations.append(Reference(href, tag, text, mime=mime, kind=kind, is_player=True))

    def _open_styled(self, tag: str, attributes: Attributes) -> None:
        self._looks.append(look_of(tag, attributes, self._looks[-1]))
        self._when_closed(self._looks.pop)

    def _open_muted(self, tag: str, attributes: Attributes) -> Closer:
        self._muted += 1
        return self._unmute

    def _unmute(self) -> None:
        self._muted -= 1

    # -- links

    def _open_link(self, tag: str, attributes: Attributes) -> Closer | None:
        references = []
        href = attributes.get("href", attributes.get("xlink:href"))  # of SVG
        if href is not None:
            references = self._href_references(href, tag, attributes)
        if "onclick" in attributes:
            references += _script_references(attributes["onclick"])
        if not references:
            return None
        if "rel" in attributes and not _NOT_FOLLOWED.isdisjoint(attributes["rel"].lower().split()):
            for reference in references:
                reference.nofollow = True
        return self._open_references(references, attributes)

    def _href_references(self, href: str, tag: str, attributes: Attributes) -> list[Reference]:
        if href.lstrip()[:11].lower() == "javascript:":
            return _script_references(href)
        name = attributes.get("download", "")
        mime = attributes.get("type")
        return [Reference(href, tag, may_be_page=True, mime=mime, file_name=name)]

    def _open_clickable(self, tag: str, attributes: Attributes) -> None:
        references = _script_references(attributes["onclick"])
        if tag in _WIDE:
            self._add_references(references)
        elif references:
            self._when_closed(self._open_references(references, attributes))

    def _open_references(self, references: list[Reference], attributes: Attributes) -> Closer:
        self._add_references(references)
        fallback = attributes.get("title") or attributes.get("alt") or attributes.get("value") or ""
        self._links.append(_OpenLink(references, fallback))
        return self._close_link

    def _add_references(self, references: list[Reference]) -> None:
        if not references:
            return
        if self._line and not self._line_has_links and not self._in_title:
            self._groups.add_line(self._line_so_far(alone=False))
            self._line = []
            self.text.append(" ")
        self._line_has_links = True
        run = self._groups.add_link(self._looks[-1], self._in_title > 0)
        path = self._paths.of(self._node)
        medium = self.media.open_medium
        for reference in references:
            reference.run, reference.tag_path, reference.medium = run, path, medium
        self.references += references

    def _close_link(self) -> None:
        link = self._links.pop()
        text = " ".join("".join(link.pieces).split()) or " ".join(link.fallback.split())
        for reference in link.references:
            reference.text = text[:LONGEST_ANCHOR]

    def _take_image(self, tag: str, attributes: Attributes) -> None:
        if self._links and not self._links[-1].fallback:
            self._links[-1].fallback = attributes.get("alt") or attributes.get("title") or ""
        self.media.picture_that_moves(tag, attributes)

    def _take_frame(self, tag: str, attributes: Attributes) -> None:
        before = len(self.references)
        if document := attributes.get("srcdoc", "").strip():
            self.fallbacks.append(document)  # it is shown in place of the address
        else:
            self.media.frame(tag, attributes)
        for reference in self.references[before:]:
            reference.tag_path = self._paths.of(self._node)

    def _open_select(self, tag: str, attributes: Attributes) -> Closer:
        self._jump_menu = "onchange" in attributes
        self._muted += 1
        return self._close_select

    def _close_select(self) -> None:
        self._jump_menu = False
        self._muted -= 1

    def _open_option(self, tag: str, attributes: Attributes) -> Closer | None:
        if not self._jump_menu:
            return None
        value = self._tree.attributes(self._node).get("value")
        if not value or not looks_like_url(value, navigates=True):
            return None
        return self._open_references([Reference(value, "script", may_be_page=True)], {})

    # -- meta tags, raw text

    def _take_meta(self, tag: str, attributes: Attributes) -> None:
        for name, content in meta_of(attributes):
            if name.startswith(("og:", "twitter:player")):
                self.media.meta(name, content)
            elif name == "refresh" and "http-equiv" in attributes:
                self.moves.refresh(content, is_certain=not self._muted)

    def _take_script(self, tag: str, attributes: Attributes) -> None:
        # For browsers before 2018.
        declared = "nomodule" if "nomodule" in attributes else attributes.get("type", "")
        kind = declared.partition(";")[0].strip().lower()
        if address := attributes.get("src", "").strip():
            self.simulation.script_file(address)
            self.media.script_file(address)
        if code := self._tree.raw_content(self._node):
            if kind != "application/ld+json":
                self.media.script(code)
            self.simulation.code(code)
            self.moves.script(code, kind)

    def _take_fallback(self, tag: str, attributes: Attributes) -> None:
        self.fallbacks.append(self._tree.raw_content(self._node))

    def _take_example(self, tag: str, attributes: Attributes) -> None:
        self._take_text(self._tree.raw_content(self._node))


def names_feed(mime: str) -> bool:
    """Whether a type is one of feeds, or of lists of feeds."""
    return _OF_FEED.search(mime) is not None


def _tells_scripts(attributes: Attributes) -> bool:
    """Whether an element may say by its attributes what scripts are to play."""
    # Of each element: names are compared in one step, which any() would take several for.
    if _DATA.search("\n".join(attributes)):
        return True
    return _WISTIA in attributes.get("class", "")


def _script_references(code: str) -> list[Reference]:
    return [Reference(literal, "script", may_be_page=True) for literal in page_literals(code)]


Opener = Callable[[PageCollector, str, Attributes], Closer | None]


def _media(open_element: Callable[[MediaElements, str, Attributes], Closer | None]) -> Opener:
    return lambda page, tag, attributes: open_element(page.media, tag, attributes)


# What to do when an element starts. It may return what to do when the element ends.
_OPENERS: dict[str, Opener] = {
    **dict.fromkeys(CONTAINERS, PageCollector._open_container),
    **dict.fromkeys(TITLE_TAGS, PageCollector._open_title),
    **dict.fromkeys(("font", "big", "small"), PageCollector._open_styled),
    **dict.fromkeys(_MUTED, PageCollector._open_muted),
    "a": PageCollector._open_link,
    "applet": _media(MediaElements.applet),
    "area": PageCollector._open_link,
    "audio": _media(MediaElements.player),
    "bgsound": _media(MediaElements.background_sound),
    "canvas": lambda page, _, attributes: page.simulation.canvas(attributes),
    "embed": _media(MediaElements.embed),
    "figcaption": lambda page, *_: page.captions.open_figure_caption(),
    "figure": lambda page, *_: page.captions.open_figure(),
    "frame": PageCollector._take_frame,
    "iframe": PageCollector._take_frame,
    "img": PageCollector._take_image,
    "link": PageCollector._take_relation,
    "input": lambda page, _, attributes: page.simulation.input(attributes),
    "meta": PageCollector._take_meta,
    "noembed": PageCollector._take_fallback,
    "object": _media(MediaElements.object),
    "oembed": lambda page, _, said: page.media.frame("iframe", {"src": said.get("url", "")}),
    "option": PageCollector._open_option,
    "param": _media(MediaElements.param),
    "picture": _media(MediaElements.picture),
    "script": PageCollector._take_script,
    "select": PageCollector._open_select,
    "source": _media(MediaElements.source),
    "video": _media(MediaElements.player),
    "xmp": PageCollector._take_example,
}
# Elements whose openers read no attributes but those that count on any element.
_UNREAD = CONTAINERS | TITLE_TAGS.union(
    _MUTED, ("big", "figcaption", "figure", "noembed", "option", "small", "xmp")
)
# By tag: its opener, and whether that reads attributes.
_ELEMENTS = {tag: (opener, tag not in _UNREAD) for tag, opener in _OPENERS.items()}
_UNKNOWN: tuple[Opener | None, bool] = None, False
