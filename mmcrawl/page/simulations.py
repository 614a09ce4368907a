"""Simulations without an address of their own: Java applets, and pages that are simulations.

A page is one if a script on it starts a program used for courseware (GeoGebra, Desmos, JSXGraph,
H5P, Unity, Adobe Animate …); or if it draws on a canvas, has controls, and its title or headings
say so. A canvas alone proves nothing: charts, backgrounds and captchas use one too.
"""

import re

from mmcrawl.page.looks import Attributes
from mmcrawl.page.media import is_banner
from mmcrawl.text.link_words import names_kind
from mmcrawl.text.media_kinds import SIMULATION

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
        """Return whether the page is a simulation.

        Args:
            title, headings: Of the page.
        """
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
