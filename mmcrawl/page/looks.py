"""Declared type size and colour: how a text looks, as far as it is known without rendering."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

Attributes = Mapping[str, str]


class Look(NamedTuple):
    """The look of a text.

    Attributes:
        background: Of the text's cell or block, likewise.
    """

    size: float = 16.0  # in CSS pixels
    colour: str = ""  # as declared, lower case; "" when nothing declares one
    background: str = ""


class Declarations(NamedTuple):
    """The look that declarations give a text; None for what they do not mention.

    Attributes:
        size: (Factor on the size around, CSS pixels); what counts is the one that is not 0.
        colour, background: Lower case; "" is that of the text around.
    """

    size: tuple[float, float] | None = None
    colour: str | None = None
    background: str | None = None
    weight: str | None = None  # of the type, as declared

    def overridden_by(self, later: Declarations) -> Declarations:
        """Return the result of these declarations followed by others."""
        if NOTHING in (self, later):
            return later if self == NOTHING else self
        pairs = zip(self, later, strict=True)
        return Declarations._make(old if new is None else new for old, new in pairs)


NOTHING = Declarations()
PLAIN = Look()
STYLED_TAGS = frozenset("h1 h2 h3 h4 h5 h6 font big small".split())
STYLED_ATTRIBUTES = frozenset({"style", "bgcolor"})

# A heading counts as larger than what it is inside, also h4 to h6, whose size by default is not.
_HEADINGS = {"h1": 2.0, "h2": 1.5, "h3": 1.17, "h4": 1.1, "h5": 1.08, "h6": 1.06}
_FONT_SIZES = (10.0, 10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)  # <font size=0..7>
_KEYWORDS = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
}
_UNITS = {"px": 1.0, "": 1.0, "pt": 4 / 3, "pc": 16.0, "rem": 16.0}
_RELATIVE_UNITS = {"em": 1.0, "%": 0.01}
_LARGER = 1.2
_DECLARATION = re.compile(
    r"(?:^|;)\s*(font-size|font-weight|font|color|background-color|background)\s*:([^;]*)"
)
_WEIGHT = re.compile(r"(?:bold|bolder|normal|lighter|[1-9]00)\b")
_LONGEST_VALUE = 200  # characters
_LONGEST_KNOWN = 500  # characters of a style that is remembered
_LENGTH = re.compile(
    r"(?<![\w#.])(\d{1,4}(?:\.\d{1,4})?|\.\d{1,4})\s?(px|pt|pc|rem|em|%)?(?![\w-])"
)
_FONT_SIZE = re.compile(r"\s*([+-]?)(\d)")


def look_of(
    tag: str, attributes: Attributes, around: Look, declared: Declarations | None = None
) -> Look:
    """Return the look of text directly inside an element, given that around it.

    Its ``size``, ``color``, ``bgcolor`` are read, and its ``style`` unless `declared` is given.
    """
    size, colour, background = around
    if tag == "font":
        size = _font_size(attributes.get("size", ""), size)
        colour = _colour(attributes.get("color", "")) or colour
    elif tag == "big":
        size *= _LARGER
    elif tag == "small":
        size /= _LARGER
    elif tag in _HEADINGS:
        size *= _HEADINGS[tag]
    background = _colour(attributes.get("bgcolor", "")) or background
    if declared is None:
        declared = declarations(attributes.get("style", ""))
    factor, absolute = declared.size or (0.0, 0.0)
    size = absolute or around.size * factor if factor or absolute else size
    return Look(size, declared.colour or colour, declared.background or background)


def declarations(style: str) -> Declarations:
    """Return what a ``style``, or the body of a rule, declares: of each property the last one.

    >>> declarations("font: bold 12px serif; color: red; COLOR: Navy")
    Declarations(size=(0.0, 12.0), colour='navy', background=None, weight='bold')
    """
    if not style:
        return NOTHING
    return _read_short(style) if len(style) <= _LONGEST_KNOWN else _read(style)


def _font_size(value: str, around: float) -> float:
    match = _FONT_SIZE.match(value)
    if match is None:
        return around
    step = int(match[2])
    if not match[1]:
        return _FONT_SIZES[min(step, 7)]
    return around * _LARGER ** (step if match[1] == "+" else -step)


def _read(style: str) -> Declarations:
    size: tuple[float, float] | None = None
    colour: str | None = None
    background: str | None = None
    weight: str | None = None
    for name, value in _DECLARATION.findall(style.lower()):
        if name == "color":
            colour = _colour(value)
        elif name.startswith("background"):
            background = "" if "url(" in value else _colour(value)
        elif name == "font-weight":
            weight = _first(_WEIGHT.match(value.strip())) or weight
        else:
            size = _css_size(value)
            if name == "font":
                weight = _first(_WEIGHT.search(value)) or weight
    return Declarations(size, colour, background, weight)


_read_short = lru_cache(maxsize=2048)(_read)


def _first(match: re.Match[str] | None) -> str | None:
    return match[0] if match else None


def _css_size(value: str) -> tuple[float, float]:
    if match := _LENGTH.search(value):
        number, unit = float(match[1]), match[2] or ""
        if unit in _RELATIVE_UNITS:
            return number * _RELATIVE_UNITS[unit], 0.0
        return 0.0, number * _UNITS[unit]
    for word in value.split():
        if word in ("larger", "smaller"):
            return (_LARGER if word == "larger" else 1 / _LARGER), 0.0
        if word in _KEYWORDS:
            return 0.0, _KEYWORDS[word]
    return 0.0, 0.0


def _colour(value: str) -> str:
    colour = value.strip()[:_LONGEST_VALUE].replace("!important", "").strip().lower()
    return "" if colour in ("inherit", "transparent", "none", "initial") else colour
