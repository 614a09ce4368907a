"""How each algorithm looks in every figure: told apart by colour-blind eyes, and in black print."""

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["INK", "ORACLE", "Style", "styles_for"]

INK = "#1b1c1d"
"""Text, axes and the oracle; where a page is dark, figures in it turn it to the page's own ink."""

# Okabe and Ito's colours, without the yellow that vanishes on white.
_BLUE, _ORANGE, _GREEN, _PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_AMBER, _SKY, _GREY = "#E69F00", "#56B4E9", "#808488"

_SOLID: tuple[float, ...] = ()
_DASHED, _DOTTED = (5.0, 2.0), (1.0, 1.6)
_DASH_DOT, _LONG = (6.0, 1.8, 1.2, 1.8), (9.0, 2.5)


@dataclass(frozen=True, slots=True)
class Style:
    """Colour, dashes (lengths on and off in line widths, empty for none) and width of a line."""

    colour: str
    dashes: tuple[float, ...]
    width: float = 1.8


ORACLE = Style(INK, (1.0, 1.0), 1.1)

_KNOWN = {
    "breadth": Style(_GREY, _SOLID),
    "urlrule": Style(_BLUE, _SOLID, 2.2),
    "learned": Style(_ORANGE, _SOLID, 2.2),
    "topicrank": Style(_GREEN, _SOLID),
    "shark-improved": Style(_PINK, _SOLID),
    "shark": Style(_PINK, _DASHED),
    "fish": Style(_AMBER, _SOLID),
    "pagerank": Style(_SKY, _SOLID),
    "weighted-pagerank": Style(_SKY, _DASHED),
    "topic-centric-pagerank": Style(_GREEN, _DASHED),
    "hits": Style(_AMBER, _DASHED),
}
_FREE = tuple(
    Style(colour, dashes)
    for dashes in (_DOTTED, _DASH_DOT, _LONG)
    for colour in (_BLUE, _ORANGE, _GREEN, _PINK, _AMBER, _SKY, _GREY)
)


def styles_for(labels: Iterable[str]) -> dict[str, Style]:
    """Return a style for every label: the algorithm's own, or a free one, always the same."""
    styles = {}
    free = iter(_FREE * 4)
    for label in labels:
        styles[label] = _KNOWN[label] if label in _KNOWN else next(free)
    return styles
