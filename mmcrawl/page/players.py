"""References to media in elements that play them, in meta tags and in arguments of scripts.

Simulations may have no address of their own: Java applets, and pages that are simulations. A page
is one if a script on it starts a program used for courseware (GeoGebra, Desmos, JSXGraph, H5P,
Unity, Adobe Animate …); or if it draws on a canvas, has controls, and its title or headings say so.
A canvas alone proves nothing: charts, backgrounds and captchas use one too.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from mmcrawl.page.described import Described, described_in, described_media
from mmcrawl.page.looks import Attributes
from mmcrawl.page.media import is_banner, kind_of_address, media_in_values, media_kind
from mmcrawl.page.references import Reference
from mmcrawl.text.media_kinds import (
    ANIMATION,
    AUDIO,
    IMAGE_ANIMATION,
    SIMULATION,
    VIDEO,
    names_kind,
)

Closer = Callable[[], object]

# <object classid="clsid:…">: what the ActiveX control plays when the file name does not tell.
_CLASS_KINDS = {
    "d27cdb6e": ANIMATION,  # Shockwave Flash
    "166b1bca": ANIMATION,  # Shockwave Director
    "6bf52a52": VIDEO,  # Windows Media Player 7 and later
    "22d6f312": VIDEO,  # Windows Media Player 6
    "05589fa1": VIDEO,  # ActiveMovie
    "cfcdaa03": VIDEO,  # RealPlayer
    "02bf25d5": VIDEO,  # QuickTime
    "8ad9c840": SIMULATION,  # Java
    "cafeefac": SIMULATION,
}
_FILE_PARAMETERS = frozenset(
    """
    movie src url filename file source media video audio mp3 flv soundfile fileurl
    """.split()
)
_GRAPH_KINDS = {"og:video": VIDEO, "og:audio": AUDIO}
_GRAPH_URLS = frozenset({"", "url", "secure_url"})
# Where pages that load frames and players late keep the address, besides data-src.
_LATE = re.compile(
    r"data-(?:[\w-]*-)?(?:src|original|url|href)|data-(?:iframe|frame|embed|video|audio|lazy)"
)
_NOT_LATE = re.compile(r"poster|thumb|image|img|bg|background|srcset|share")
_VARIABLES = re.compile(r"\w+=")  # of a player that a script writes
_BACKGROUND = frozenset({"autoplay", "loop", "muted"})


_READ_TYPES = ("text/html", "application/xhtml", "application/xspf", "application/smil")
_READ_NAME = re.compile(
    r"\.(?:x?html?|m3u|pls|asx|w[amv]x|xspf|smil?|wpl)(?:[?#]|\Z)", re.IGNORECASE
)

# Calls that start such a program; what it shows stands on the page itself, or in a file that is
# told to it and counts instead.
_COURSEWARE = re.compile(
    r"\bGGBApplet\s*\(|\bDesmos\.(?:\w*Calculator\w*|Geometry)\s*\(|\bJSXGraph\.initBoard\s*\("
    r"|\bH5PStandalone\b|\bH5PIntegration\s*=|\bCindyJS\s*\(|\bcreateCindy\b"
    r"|\bcreateUnityInstance\s*\("
    r"|\bUnityLoader\.instantiate\s*\(|\$3Dmol\.createViewer|\bJmol\.getApplet|\bNGL\.Stage\s*\("
    r"|\bAdobeAn\.getComposition\s*\(|\bnew\s+lib\.Stage\s*\(|\bEJSS_\w+\.\w+\("
)
_PROGRAMS = """
    GGBApplet Desmos. JSXGraph.initBoard H5PStandalone H5PIntegration CindyJS createCindy
    createUnityInstance UnityLoader.instantiate $3Dmol.createViewer Jmol.getApplet NGL.Stage
    AdobeAn.getComposition lib.Stage EJSS_
""".split()
_ENGINES = re.compile(
    r"(?:^|[/.-])(?:p5|q5|three(?:\.module)?|babylon|phaser|matter|box2d(?:web)?|planck|pixi|cannon"
    r"|paper|konva|fabric|processing|createjs|easeljs|jsxgraph(?:core)?)[\w.-]*\.js",
    re.IGNORECASE,
)
_CHARTS = re.compile(
    r"(?:^|[/.-])(?:charts?|echarts|highcharts|chartist|apexcharts|amcharts|plotly|particles|captcha"
    r"|qrcode|wordcloud|signature|confetti|snow)[\w.-]*\.js",
    re.IGNORECASE,
)
_SMALLEST = 200  # pixels of a canvas
# Applets of the 1990s that are buttons, lines of news, counters and weather of the page.
_DECORATION = re.compile(
    r"fphover|fprotate|hover|button|tick|scroll|marquee|banner|menu|navi|navbar|navtext|counter|clock"
    r"|lake|snow|firework|nervous|rotat|fade|typewrit|billboard|slideshow|animtext|textanim|teletype|news"
    r"|chat|search|dbgrid|calendar|login|password",
    re.IGNORECASE,
)


@dataclass
class _Object:
    """An open `<object>`, with its references, and the program of an applet."""

    kind: str | None
    attributes: Attributes
    references: list[Reference]
    variables: str = ""
    applet: dict[str, str] = field(default_factory=dict)


class _Player(NamedTuple):
    """An open `<audio>`, `<video>`; without kind for `<picture>` and for a background."""

    kind: str | None
    medium: int


class MediaElements:
    """Collects what embedded players show; methods return what to do when the element ends."""

    def __init__(self, references: list[Reference]) -> None:
        self._references = references
        self._objects: list[_Object] = []
        self._players: list[_Player] = []
        self._last_medium = 0
        self._declared: dict[str, tuple[int, set[str]]] = {}
        self._card = ""

    @property
    def open_medium(self) -> int:
        """The medium of the player that is open, 0 if none is: what stands in it is a fallback."""
        player = self._players[-1] if self._players else None
        return player.medium if player is not None and player.kind else 0

    def _new_medium(self) -> int:
        self._last_medium += 1
        return self._last_medium

    def embed(self, tag: str, attributes: Attributes) -> None:
        variables = attributes.get("flashvars", "")
        if "java" in attributes.get("type", "").lower():
            self.applet("applet", attributes)
            return
        source = _source_of(attributes)
        is_page = _is_read(source or "", attributes)
        for reference in self._add(source, tag, attributes, may_be_page=is_page, is_player=True):
            reference.variables = variables
        self._add_variables(variables, tag, attributes)

    def object(self, tag: str, attributes: Attributes) -> Closer:
        class_id = attributes.get("classid", "").lower().removeprefix("clsid:").strip("{ ")
        kind = _CLASS_KINDS.get(class_id[:8]) or media_kind("", attributes.get("type"))
        opened = _Object(kind, attributes, [])
        if class_id.startswith("java:"):
            opened.kind = SIMULATION
            opened.applet["code"] = attributes["classid"].partition(":")[2].strip()
        data = attributes.get("data")
        is_page = not class_id and _is_read(data or "", attributes)
        opened.references += self._add(
            data, tag, attributes, kind=kind, may_be_page=is_page, is_player=True
        )
        self._objects.append(opened)
        return self._close_object

    def _close_object(self) -> None:
        closed = self._objects.pop()
        for reference in closed.references:
            reference.variables = closed.variables
        if closed.kind == SIMULATION and closed.applet and not closed.references:
            self.applet("object", {**closed.attributes, **closed.applet})

    def applet(self, tag: str, attributes: Attributes) -> None:
        shown = {name: value for name, value in attributes.items() if name != "type"}
        self._add(applet_address(attributes), tag, shown, kind=SIMULATION, only_kind=True)

    def background_sound(self, tag: str, attributes: Attributes) -> None:
        self._add(attributes.get("src"), tag, attributes, kind=AUDIO, only_kind=True)

    def picture_that_moves(self, tag: str, attributes: Attributes) -> None:
        """Add an image whose name or words say that it moves, or that has a film beside it."""
        self._add(attributes.get("dynsrc"), "img", attributes, kind=VIDEO)
        source = _source_of(attributes) or ""
        path = source.partition("?")[0].lower()
        if path.endswith(".apng") or (
            path.endswith((".gif", ".webp")) and names_kind(_text_of(attributes), IMAGE_ANIMATION)
        ):
            self._add(source, "img", attributes, kind=IMAGE_ANIMATION, only_kind=True)

    def data(self, tag: str, attributes: Attributes) -> list[Reference]:
        """Add media that attributes describe for scripts; return the references."""
        found: list[Reference] = []
        shown = {name: value for name, value in attributes.items() if name != "type"}
        for described in described_in(tag, attributes):
            found += self._add_described(described, "data", shown)
        return found

    def param(self, tag: str, attributes: Attributes) -> None:
        if not self._objects:
            return
        parent = self._objects[-1]
        name = attributes.get("name", "").strip().lower()
        value = attributes.get("value", "")
        if name == "flashvars":
            parent.variables = value
            self._add_variables(value, "object", {"title": _text_of(parent.attributes)})
        elif name in ("code", "archive", "codebase") and parent.kind == SIMULATION:
            parent.applet[name] = value
        elif name in _FILE_PARAMETERS:
            shown = {key: value for key, value in parent.attributes.items() if key != "type"}
            parent.references += self._add(value, "object", shown, kind=parent.kind, is_player=True)

    def player(self, tag: str, attributes: Attributes) -> Closer:
        if _is_background(attributes):
            return self.picture(tag, attributes)
        self._players.append(_Player(tag, self._new_medium()))
        self._add_played(_source_of(attributes), tag, attributes)
        return self._players.pop

    def picture(self, tag: str, attributes: Attributes) -> Closer:
        self._players.append(_Player(None, 0))
        return self._players.pop

    def source(self, tag: str, attributes: Attributes) -> None:
        if not self._players or self._players[-1].kind is not None:
            self._add_played(_source_of(attributes), tag, attributes)

    def _add_played(self, href: str | None, tag: str, attributes: Attributes) -> None:
        kind = self._players[-1].kind if self._players else None
        # One container format for sound and film: the element tells which.
        either = bool(href) and str(href).lower().endswith(".ogg")
        only = kind == AUDIO or (kind == VIDEO and either)
        self._add(href, tag, attributes, kind=kind, only_kind=only)

    def frame(self, tag: str, attributes: Attributes) -> None:
        player = tag == "iframe"
        self._add(_source_of(attributes), tag, attributes, may_be_page=True, is_player=player)

    def meta(self, name: str, content: str) -> None:
        """Take an address of Open Graph or a player card; one that comes again begins a medium."""
        vocabulary, _, rest = name.partition(":")
        if vocabulary == "og":
            family, _, detail = rest.partition(":")
            kind = _GRAPH_KINDS.get(f"og:{family}")
            if kind and detail in _GRAPH_URLS:
                self._add(
                    content, "og", {}, kind=kind, medium=self._declared_medium(family, detail)
                )
        elif rest == "player:stream":
            medium = self._declared_medium("twitter", "stream")
            self._add(content, "twitter", {}, kind=VIDEO, medium=medium)
            self._add_card(medium)
        elif rest == "player":
            self._card = content
            if "twitter" in self._declared:
                self._add_card(self._declared["twitter"][0])
            elif kind_of_address(content):
                self._add(content, "twitter", {}, medium=self._declared_medium("twitter", ""))

    def _declared_medium(self, family: str, detail: str) -> int:
        medium, seen = self._declared.get(family, (0, {detail}))
        if detail in seen:
            medium, seen = self._new_medium(), set()
            self._declared[family] = medium, seen
        seen.add(detail)
        return medium

    def _add_card(self, medium: int) -> None:
        """Record the page that plays the stream of a player card."""
        if self._card:
            self._add(self._card, "twitter", {}, kind=VIDEO, medium=medium)
        self._card = ""

    def declared(self, described: Described) -> None:
        """Add a medium that structured data describe."""
        self._add_described(described, "schema", {})

    def script(self, code: str) -> None:
        """Read the text of an inline script."""
        for described in described_media(code):
            if _VARIABLES.match(described.addresses[0]):
                for address in described.addresses:
                    self._add_variables(address, "script", {})
            else:
                self._add_described(described, "script", {})

    def script_file(self, address: str) -> None:
        """Read the address of a script: for some hosts it names what to play."""
        if kind_of_address(address):
            self._add(address, "script", {})

    def _add_described(
        self, described: Described, tag: str, attributes: Attributes
    ) -> list[Reference]:
        found: list[Reference] = []
        medium = self.open_medium or (self._new_medium() if len(described.addresses) > 1 else 0)
        player = tag != "schema"
        for address in described.addresses:
            found += self._add(
                address, tag, attributes, kind=described.kind, medium=medium, is_player=player
            )
        for reference in found:
            reference.text = described.title or reference.text
        return found

    def _add_variables(self, variables: str, tag: str, attributes: Attributes) -> None:
        for value in media_in_values(variables):
            self._add(value, tag, attributes)

    def _add(
        self,
        href: str | None,
        tag: str,
        attributes: Attributes,
        *,
        kind: str | None = None,
        only_kind: bool = False,
        may_be_page: bool = False,
        is_player: bool = False,
        medium: int = 0,
    ) -> list[Reference]:
        """Record a reference; return it, or nothing if it is none."""
        # "#" and "?" are what scripts put in later, or nothing.
        if href is None or not href.partition("#")[0].strip("? \t\r\n"):
            return []
        reference = Reference(
            href,
            tag,
            _text_of(attributes),
            mime=attributes.get("type"),
            kind=kind,
            only_kind=only_kind,
            may_be_page=may_be_page,
            is_player=is_player,
            is_banner=is_banner(attributes.get("width", ""), attributes.get("height", "")),
            medium=medium or self.open_medium,
        )
        self._references.append(reference)
        return [reference]


def _is_read(source: str, attributes: Attributes) -> bool:
    """Whether what is embedded is a page or a playlist: by its type, by its name without one."""
    kind = attributes.get("type", "").strip().lower()
    return kind.startswith(_READ_TYPES) if kind else bool(_READ_NAME.search(source))


def _is_background(attributes: Attributes) -> bool:
    """Whether a video moves without end and sound, and cannot be stopped; nothing names it."""
    return (
        attributes.keys() >= _BACKGROUND
        and "controls" not in attributes
        and not _text_of(attributes)
    )


def _source_of(attributes: Attributes) -> str | None:
    """Return the address of what an element shows, also of what it shows later; None for none."""
    source = attributes.get("src", "").strip()
    if source and not source[:11].lower().startswith(("about:", "javascript:", "data:")):
        return source
    for name, value in attributes.items():
        if value and _LATE.fullmatch(name) and not _NOT_LATE.search(name):
            return value
    return None


def _text_of(attributes: Attributes) -> str:
    for name in ("title", "alt", "aria-label", "standby"):
        if text := attributes.get(name):
            return " ".join(text.split())[:200]
    return ""


class SimulationSigns:
    """Evidence that a page is itself a simulation; each method records a sign."""

    def __init__(self) -> None:
        self._courseware = self._engine = self._canvas = self._chart = self._control = False

    def canvas(self, attributes: Attributes) -> None:
        sides = [attributes.get(name, "").removesuffix("px") for name in ("width", "height")]
        small = any(side.isdecimal() and int(side[:6]) < _SMALLEST for side in sides)
        if not small and not is_banner(*sides):
            self._canvas = True

    def script_file(self, address: str) -> None:
        path = address.partition("?")[0]
        self._engine = self._engine or _ENGINES.search(path) is not None
        self._chart = self._chart or _CHARTS.search(path) is not None

    def code(self, text: str) -> None:
        # Words are found many times as fast as what they are in.
        if not self._courseware and any(word in text for word in _PROGRAMS):
            self._courseware = _COURSEWARE.search(text) is not None

    def input(self, attributes: Attributes) -> None:
        self._control = self._control or attributes.get("type", "").lower() == "range"

    def say_so(self, title: str, headings: str) -> bool:
        """Return whether the page is a simulation."""
        if self._courseware:
            return True
        if self._chart or not (self._canvas or self._engine):
            return False
        named = names_kind(f"{title}\n{headings[:500]}", SIMULATION)
        return named and (self._control or (self._canvas and self._engine))


def applet_address(attributes: Attributes) -> str:
    """Return the address of an applet's program, "" for one that is part of the page's frame.

    >>> applet_address({"code": "Wave.class", "codebase": "java"})
    'java/Wave.class'
    >>> applet_address({"code": "Ticker"})
    ''
    """
    code = attributes.get("code", "").strip()
    name = attributes.get("archive", "").partition(",")[0].strip() or code
    name = name or attributes.get("object", "").strip()
    size = (attributes.get("width", ""), attributes.get("height", ""))
    if not name or _DECORATION.search(code or name) or is_banner(*size):
        return ""
    if "." not in name.rpartition("/")[2] or (
        name == code and not code.endswith((".class", ".jar"))
    ):
        name = f"{name.replace('.', '/')}.class"
    base = attributes.get("codebase", "").strip()
    return f"{base.rstrip('/')}/{name}" if base not in ("", ".", "./") else name
